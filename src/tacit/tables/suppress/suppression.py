"""What the suppression engines share: costs, singletons, the repair and the proof at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Flags
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders
from tacit.context import Context
from tacit.data.table import Table
from tacit.spec import Method, Where
from tacit.tables.attack.exactness import deducing_pairs
from tacit.tables.suppress.differences import claim_differences, protect_differences
from tacit.tables.suppress.problem import Problem, leave_out_targets, problem_of
from tacit.tables.suppress.repair import repair
from tacit.tables.suppress.respondents import (
    claim_sums,
    claimed_guard,
    note_price,
    protect_sums,
    spared_cells,
)
from tacit.tables.suppress.whole_numbers import protect_whole_numbers

#: How often a pattern is mended for respondents who can deduce a cell through several relations.
ROUNDS = 10


class Suppression(Method[Table]):
    """Base of the suppression engines: ``_pattern`` proposes, the attacker disposes.

    Whatever an engine proposes is audited on the full table; what it leaves exposed is repaired by
    the linear-programming heuristic and counted in ``history[-1].details``.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    techniques: ClassVar[tuple[str, ...]] = ("cell suppression",)
    #: An engine that is asked again when respondents far from a cell turn out to be able to deduce it.
    solves_again: ClassVar[bool] = False
    #: An engine whose proposals have been made safe by :func:`repair` already.
    repaired: ClassVar[bool] = False

    cost: Literal["value", "unit", "frequency", "log", "weight"] = Field(
        default="value",
        description="what hiding a cell costs: its value, 1, its contributors, log(1 + value)",
    )
    power: Annotated[float, Field(ge=0)] = Field(
        default=1.0, description="exponent of the cost; 0 takes log(1 + cost)"
    )
    singletons: bool = Field(
        default=True, description="protect unsafe cells from the only respondent of another cell"
    )

    def _pattern(self, problem: Problem, ctx: Context) -> Flags:
        raise NotImplementedError

    def _problem(self, table: Table) -> Problem:
        return problem_of(
            table,
            cost=self.cost,
            power=self.power,
            singletons=self.singletons,
            spared=spared_cells(table),
        )

    def _apply(self, table: Table, ctx: Context) -> Table:
        problem = self._problem(table)
        if not problem.primary.any():
            return hide_for_differences(table, problem, ctx)
        for _ in range(ROUNDS):
            proposed = self._pattern(problem, ctx) | problem.start
            pattern = proposed if self.repaired else repair(problem, proposed, ctx)
            wider = with_far_pairs(problem, pattern)
            if wider is problem or not self.solves_again:
                break
            problem = wider
        problem, pattern = protect_from_respondents(problem, pattern, ctx)
        note_price(problem, pattern, ctx, self._pattern)
        pattern = protect_sums(table, problem, pattern, ctx)
        pattern = protect_differences(table, problem, pattern, ctx)
        ctx.note(
            primary=int(problem.primary.sum()),
            secondary=count_secondary(table, pattern),
            price=problem.price(pattern),
            repaired=int((pattern & ~proposed).sum()),
        )
        return table.with_hidden(np.flatnonzero(pattern & ~problem.primary))

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        yield from claim_differences(table, result)
        yield from claim_sums(table, result)
        guard = claimed_guard(table, singletons=self.singletons)
        yield Claim(
            "protected-intervals",
            guard,
            "all unsafe cells",
            result.names or ("equations",),
            (
                *describe_outsiders(result),
                "a respondent who is alone in several hidden cells does not combine them",
            )
            if guard["singletons"]
            else describe_outsiders(result),
        )


def count_secondary(table: Table, pattern: Flags) -> int:
    """Return how many cells are hidden beside the unsafe ones; not those that no table publishes anyway."""
    return int((pattern & ~table.primary & ~table.unpublished).sum())


def hide_for_differences(table: Table, problem: Problem, ctx: Context) -> Table:
    """Return a table without unsafe cells with only those hidden that are forced, or hide a difference."""
    pattern = protect_differences(table, problem, problem.forced, ctx)
    ctx.note(
        secondary=int((pattern & ~problem.forced).sum()), price=problem.price(pattern), repaired=0
    )
    return table.with_hidden(np.flatnonzero(pattern))


def with_far_pairs(problem: Problem, pattern: Flags) -> Problem:
    """Return the problem with the singletons that, by all relations together, give a cell away.

    Two cells need not share a relation for one to follow from the other. The problem itself comes back
    when nothing is new, or when singletons are not asked for.
    """
    if not problem.guards_singletons:
        return problem
    far = leave_out_targets(deducing_pairs(problem.table, pattern), problem.spared)
    if not len(far):
        return problem
    every = np.unique(np.concatenate([problem.pairs, far]), axis=0).astype(np.int64)
    return problem if len(every) == len(problem.pairs) else replace(problem, pairs=every)


def protect_from_respondents(
    problem: Problem, pattern: Flags, ctx: Context
) -> tuple[Problem, Flags]:
    """Repair a pattern until no single respondent can deduce the cell of another, nor anybody in whole numbers."""
    for _ in range(ROUNDS):
        wider = with_far_pairs(problem, pattern)
        if wider is problem:
            break
        problem = wider
        pattern = repair(problem, pattern, ctx)
    return problem, protect_whole_numbers(problem, pattern, ctx)
