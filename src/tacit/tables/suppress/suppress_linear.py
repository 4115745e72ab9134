"""Suppression by cheapest movements, improved and proven on the whole table."""

from __future__ import annotations

import time
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tacit.arrays import Flags
from tacit.context import Context
from tacit.registry import register
from tacit.tables.suppress.problem import Problem
from tacit.tables.suppress.propose_gauss import choose_hidden_cells
from tacit.tables.suppress.repair import clean, repair, suppress
from tacit.tables.suppress.suppression import Suppression
from tacit.time_limits import is_past, seconds_left


@register
class SuppressLinear(Suppression):
    """Hide the cells that cheapest flows need, unsafe cell by unsafe cell.

    For each unsafe cell and direction a linear program moves the cell as far as it must and pays for
    each cell that has to move with it; those cells are hidden:
    minimise sum of c_i |d_i| / min(range_i, need) subject to M d = 0, d_p = need, where cells that are
    hidden already are free. Each such movement is kept as a certificate. Then cells are published
    again, most expensive first, wherever all movements through them can go another way for less, and parts
    of the pattern are re-inserted. Where Gaussian elimination, repaired, gives a cheaper start, that pattern
    is cleaned in the same way, and the cheaper of the two is taken. A heuristic: the pattern is always safe, proven on the full table,
    and not always the cheapest (``history[-1].details``: first_price, price, republished, reinserted).
    Unless a time limit is given, all searches end after counted work, and every machine finds the same pattern.

    References
    ----------
    Fischetti and Salazar-Gonzalez (2001), Solving the cell suppression problem on tabular data with
    linear constraints, Management Science 47(7), 1008-1027.
    """

    kind: Literal["suppress_linear"] = "suppress_linear"
    repaired: ClassVar[bool] = True
    clean: bool = Field(
        default=True,
        description="after the first pattern, publish cells again where other ways cost less",
    )
    tries: Annotated[int, Field(ge=0)] = Field(
        default=100,
        description="how often, after that, a part of the pattern is removed and re-inserted",
    )
    time_limit: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="seconds for these searches together; the best safe pattern so far is kept",
    )

    def _pattern(self, problem: Problem, ctx: Context) -> Flags:
        end = None if self.time_limit is None else time.monotonic() + self.time_limit
        pattern, facts = suppress(
            problem,
            ctx,
            cleaned=self.clean,
            tries=self.tries,
            limit_seconds=self.time_limit,
        )
        ctx.note(**facts)
        if not self.clean:
            return pattern
        other = from_elimination(problem, ctx, facts["first_price"], end)
        if other is not None and problem.price(other) < problem.price(pattern):
            ctx.note(start="elimination")
            return other
        return pattern


def from_elimination(
    problem: Problem, ctx: Context, first_price: float, end: float | None
) -> Flags | None:
    """Return the safe pattern that starts from Gaussian elimination, where it promises to be cheaper.

    It is cleaned only when, before cleaning, it costs less than the first pattern by movements did; when time is up by
    then, it is left out.
    """
    if is_past(end):
        return None
    choice = choose_hidden_cells(problem, ctx)
    if len(choice.lost) or problem.price(choice.hidden) >= first_price:
        return None
    safe = repair(problem, choice.hidden | problem.start, ctx)
    if problem.price(safe) >= first_price:
        return None
    return clean(problem, safe, ctx, limit_seconds=None if end is None else seconds_left(end))
