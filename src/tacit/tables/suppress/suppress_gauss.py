"""Suppression by Gaussian elimination, with or without interval protection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Flags
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders, has_whole_counts
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible
from tacit.registry import register
from tacit.tables.suppress.open_sums import claim_open_sums
from tacit.tables.suppress.problem import Problem
from tacit.tables.suppress.propose_gauss import Choice, choose_hidden_cells
from tacit.tables.suppress.propose_modular import repair_proposal
from tacit.tables.suppress.repair import repair
from tacit.tables.suppress.suppression import Suppression, claimed_guard, finish


@register
class SuppressGauss(Suppression):
    """Publish cells in order of their value, unless an unsafe cell would become deducible.

    Let every cell be a vector over the ground cells. A candidate x is published when no unsafe cell u
    lies in span(published, x), and no target t of a pair in span(published, x, known): the only
    respondent of a cell can take it away. Ranks are taken exactly over a prime field. The pattern is
    minimal: no hidden cell could be published alone. It is a heuristic for the price, and has no bound.

    References
    ----------
    Langsrud (2024), Secondary cell suppression by Gaussian elimination: an algorithm suitable for
    handling issues with zeros and singletons, Privacy in Statistical Databases 2024, LNCS 14915.
    """

    kind: Literal["suppress_gauss"] = "suppress_gauss"
    repaired: ClassVar[bool] = True
    intervals: bool = Field(
        default=True,
        description="reach the protection levels too; else unsafe cells are only not deducible exactly",
    )
    clean_work: Annotated[float, Field(ge=0)] = Field(
        default=1.0,
        description="work for publishing again what the levels do not need, as a multiple of the usual; "
        "0: none. Not counted in seconds, so that every machine gives the same pattern",
    )

    def _pattern(self, problem: Problem, ctx: Context) -> Flags:
        return repair_proposal(
            problem, self._choose(problem, ctx).hidden, ctx, work=self.clean_work
        )

    def _choose(self, problem: Problem, ctx: Context) -> Choice:
        choice = choose_hidden_cells(problem, ctx)
        ctx.note(
            coordinates=choice.unknowns,
            combinations=choice.mixed,
            answer="heuristic, without a bound",
        )
        return choice

    def _apply(self, table: Table, ctx: Context) -> Table:
        if self.intervals:
            return super()._apply(table, ctx)
        problem = self._problem(without_levels(table))
        choice = self._choose(problem, ctx)
        refuse_lost(table, choice)
        # A count at its least cannot fall: what the relations leave free, the bounds may still tie.
        tied = problem.whole or len(choice.tied)
        pattern = repair(problem, choice.hidden, ctx) if tied else choice.hidden

        def propose(bare: Problem, quiet: Context) -> Flags:
            return choose_hidden_cells(bare, quiet).hidden

        return finish(table, problem, pattern, ctx, propose)

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        if self.intervals:
            yield from super()._claims(table, result)
            return
        yield from claim_open_sums(table, result)
        yield Claim(
            "not-deducible",
            claimed_guard(table, singletons=self.singletons),
            "all unsafe cells",
            result.names or ("equations",),
            (
                *describe_outsiders(result),
                "an attacker who can place a hidden value in a narrow interval learns nothing by it",
            ),
        )


def without_levels(table: Table) -> Table:
    """Return a table whose levels ask for nothing; without bounds either, unless it counts: a count may lie at its least."""
    zero, endless = np.zeros(len(table)), np.full(len(table), np.inf)
    bare = table.with_(lower_level=zero, upper_level=zero, sliding_level=zero)
    return bare if has_whole_counts(table) else bare.with_(lower=-endless, upper=endless)


def refuse_lost(table: Table, choice: Choice) -> None:
    """Raise when unsafe cells follow from cells that are published in any case."""
    if len(choice.lost):
        names = "; ".join(table.describe_cell(int(c)) for c in choice.lost[:10])
        raise Infeasible(
            f"{len(choice.lost):,} unsafe cells follow from cells that are empty or must be published, "
            f"whatever is hidden: {names}. Free cells that must be published, or recode the table."
        )
