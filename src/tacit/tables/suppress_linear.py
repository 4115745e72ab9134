"""Suppression by cheapest movements, improved and proven on the whole table."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from tacit.context import Context
from tacit.data.status import Flags
from tacit.registry import register
from tacit.tables._problem import Problem
from tacit.tables._repair import suppress
from tacit.tables._suppression import Suppression


@register
class SuppressLinear(Suppression):
    """Hide the cells that cheapest flows need, unsafe cell by unsafe cell.

    For each unsafe cell and direction a linear program moves the cell as far as it must and pays for
    each cell that has to move with it; those cells are hidden:
    minimise sum of c_i |d_i| / min(range_i, need) subject to M d = 0, d_p = need, where cells that are
    hidden already are free. Each such movement is kept as a certificate. Then cells are published
    again, dearest first, wherever all movements through them can go another way for less, and parts
    of the pattern are laid anew. A heuristic: the pattern is always safe, proven on the full table,
    and not always the cheapest (``history[-1].details``: first_price, price, spared, laid_anew).

    References
    ----------
    Fischetti and Salazar-Gonzalez (2001), Solving the cell suppression problem on tabular data with
    linear constraints, Management Science 47(7), 1008-1027.
    """

    kind: Literal["suppress_linear"] = "suppress_linear"
    clean: bool = Field(
        True, description="after the first pattern, publish cells again where other ways cost less"
    )
    tries: Annotated[int, Field(ge=0)] = Field(
        100, description="how often, after that, a part of the pattern is taken up and laid anew"
    )
    time_limit: Annotated[float, Field(gt=0)] | None = Field(
        None, description="seconds for that search; the best safe pattern so far is kept"
    )

    def _pattern(self, problem: Problem, ctx: Context) -> Flags:
        pattern, facts = suppress(
            problem,
            ctx,
            cleaned=self.clean,
            tries=self.tries,
            limit_seconds=self.time_limit,
        )
        ctx.note(**facts)
        return pattern
