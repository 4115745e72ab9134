"""Suppression with a proven optimum."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tacit.arrays import Flags
from tacit.context import Context
from tacit.data.cells.cell_names import Mask, match_masks
from tacit.data.table import Table
from tacit.errors import Approximate, require
from tacit.registry import register
from tacit.solve.scip import has_scip
from tacit.tables.suppress.problem import Problem
from tacit.tables.suppress.propose_exact import solve_exact
from tacit.tables.suppress.suppression import Suppression

#: Prices this near to each other are the same.
SAME = 1e-9


@register
class SuppressExact(Suppression):
    """Hide the cheapest set of cells that protects every unsafe cell, and prove that it is cheapest.

    minimise sum of w_i x_i over binary x, such that an attacker who knows all published cells and the
    bounds lower <= y <= upper of hidden ones finds for every unsafe cell an interval that reaches its
    levels. Each level is a family of linear inequalities in x, found one by one from the duals of the
    attacker's linear program. When time runs out the best safe pattern is returned, with the gap to
    the bound that has been proven (``history[-1].details``: price, bound, gap, proven).

    References
    ----------
    Fischetti and Salazar-Gonzalez (2001), Solving the cell suppression problem on tabular data with
    linear constraints, Management Science 47(7), 1008-1027.
    """

    kind: Literal["suppress_exact"] = "suppress_exact"

    #: The pattern stays optimal when singletons far from a cell have to be guarded as well.
    solves_again: ClassVar[bool] = True

    time_limit: Annotated[float, Field(gt=0)] = Field(
        default=60.0,
        description="seconds after which the best safe pattern is returned with its gap",
    )
    gap: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.0, description="relative gap at which a pattern counts as good enough"
    )
    engine: Literal["auto", "highs", "scip"] = Field(
        default="auto", description="highs: a loop of cuts; scip: branch and cut (extra 'exact')"
    )
    allowed: tuple[Mask, ...] | None = Field(
        default=None,
        description="only cells that match one of these masks (dimension to codes) may be hidden",
    )

    def _problem(self, table: Table) -> Problem:
        problem = super()._problem(table)
        if self.allowed is None:
            return problem
        closed = ~match_masks(table, self.allowed, "allowed") & ~problem.start
        return replace(problem, fixed=problem.fixed | closed)

    def _apply(self, table: Table, ctx: Context) -> Table:
        result = super()._apply(table, ctx)
        if ctx.details["repaired"]:
            # Gap and proof are those of the pattern that is published, with what the repair has added.
            price, bound = float(ctx.details["price"]), float(ctx.details["bound"])
            gap = max(0.0, price - bound) / price if price > 0 else 0.0
            ctx.note(gap=gap, proven=bool(ctx.details["proven"]) and gap <= max(self.gap, SAME))
        return result

    def _pattern(self, problem: Problem, ctx: Context) -> Flags:
        if self.engine == "scip" and not has_scip():
            raise require("pyscipopt", "exact", "engine='scip'")
        ctx.tick("searching for the cheapest pattern", 0.1)
        found = solve_exact(
            problem,
            time_limit=self.time_limit,
            gap=self.gap,
            should_stop=ctx.should_stop,
            engine=self.engine,
        )
        ctx.tick("searching for the cheapest pattern", 0.9)
        ctx.note(
            bound=found.bound,
            gap=found.gap,
            proven=found.proven,
            cuts=found.cuts,
            engine=found.engine,
        )
        if not found.proven:
            warnings.warn(
                f"the search stopped after {found.seconds:.0f} s: the pattern is safe, and at most "
                f"{100 * found.gap:.1f} % more expensive than the cheapest. Raise time_limit to go on.",
                Approximate,
                stacklevel=2,
            )
        return found.pattern
