"""Suppression of two-way tables by cheapest paths in their network."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from tacit.arrays import Flags
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import InputError, SdcError, SolverError
from tacit.registry import register
from tacit.tables.suppress.problem import Problem
from tacit.tables.suppress.propose_network import BOTH_WAYS, Circulations, not_a_network
from tacit.tables.suppress.repair import repair
from tacit.tables.suppress.suppression import Suppression, finish, hide_for_differences


@register
class SuppressNetwork(Suppression):
    """Hide the cells on cheapest cycles through each unsafe cell of a two-way table.

    A two-way table with one hierarchy at most is a network: sums are nodes, cells are arcs, and what
    an attacker cannot rule out is a circulation d with -(a - lb) <= d <= ub - a on hidden cells. For
    every unsafe cell and direction cheapest paths (Dijkstra; hidden arcs cost nothing) close the arc
    to a cycle until d reaches the level. Each need is then routed again, given all others, and cells
    that no circulation needs are published. The circulations are kept: together they prove the
    pattern. It is a heuristic; no bound on its price is given.

    References
    ----------
    Castro (2003), Network flows heuristics for complementary cell suppression: an empirical
    evaluation and extensions, Inference Control in Statistical Databases, LNCS 2316, 59-73.
    Kelly, Golden and Assad (1992), Cell suppression: disclosure protection for sensitive tabular
    data, Networks 22, 397-417.
    """

    kind: Literal["suppress_network"] = "suppress_network"
    solves_again: ClassVar[bool] = True
    repaired: ClassVar[bool] = True
    passes: Annotated[int, Field(ge=0)] = Field(
        default=3, description="clean-ups: needs routed again, cells published that none needs"
    )

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: the table must be a network."""
        found = super()._faults(data)
        reason = not_a_network(data)
        if reason:
            found.append(InputError(f"{self.kind} {reason}; suppress_linear takes every table"))
        return found

    def _apply(self, table: Table, ctx: Context) -> Table:
        problem = self._problem(table)
        if not problem.primary.any():
            return hide_for_differences(table, problem, ctx)
        problem, _, pattern = self._settled(problem, ctx)
        return finish(table, problem, pattern, ctx, self._pattern)

    def _pattern(self, problem: Problem, ctx: Context) -> Flags:
        found = Circulations(problem)
        found.meet_all(ctx)
        first = problem.price(found.pattern)
        spared = 0
        for _ in range(self.passes):
            before = problem.price(found.pattern)
            found.improve(ctx)
            spared += found.publish_secondary(ctx, exchange=problem.n <= BOTH_WAYS)
            if problem.price(found.pattern) >= before:
                break
        saved = first - problem.price(found.pattern)
        if found.faults():
            raise SolverError(
                f"suppress_network: {found.faults():,} movements do not hold; the table's scales are "
                "too far apart"
            )
        pattern = found.pattern
        # Levels that paths cannot reach are beyond every pattern: the repair names them.
        proven = repair(problem, pattern, ctx) if found.unmet else pattern
        ctx.note(
            movements=len(found.found),
            saved=saved,
            republished=int(spared),
            repaired=int((proven & ~pattern).sum()),
        )
        return proven
