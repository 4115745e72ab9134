"""What the suppression engines share: costs, singletons, the repair and the proof at the end."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Flags
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import SdcWarning
from tacit.spec import Method, Where
from tacit.tables.attack.exactness import deducing_pairs
from tacit.tables.rules.minimum_frequency import MinimumFrequency
from tacit.tables.rules.rule import applied_rules
from tacit.tables.suppress.open_sums import claim_open_sums, protect_differences, protect_sums
from tacit.tables.suppress.problem import NO_PAIRS, Problem, leave_out_targets, problem_of
from tacit.tables.suppress.repair import clean, repair
from tacit.tables.suppress.whole_numbers import protect_whole_numbers

#: How often a pattern is mended for respondents who can deduce a cell through several relations.
ROUNDS = 10
#: Cells up to which a table is protected again without them to see what keeping single respondents out costs.
COMPARED = 300
#: Cells up to which at least those are counted that could be published again.
PRICED = 20_000


# What all methods of suppression ask for.
Cost = Literal["value", "unit", "frequency", "log", "weight"]
HidingCost = Annotated[
    Cost,
    Field(description="what hiding a cell costs: its value, 1, its contributors, log(1 + value)"),
]
CostPower = Annotated[float, Field(ge=0, description="exponent of the cost; 0 takes log(1 + cost)")]
GuardSingletons = Annotated[
    bool, Field(description="protect unsafe cells from the only respondent of another cell")
]


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

    cost: HidingCost = "value"
    power: CostPower = 1.0
    singletons: GuardSingletons = True

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
        problem, proposed, pattern = self._settled(problem, ctx)
        result = finish(table, problem, pattern, ctx, self._pattern)
        ctx.note(
            secondary=count_secondary(table, result.hidden),
            repaired=int((result.hidden & ~proposed).sum()),
        )
        return result

    def _settled(self, problem: Problem, ctx: Context) -> tuple[Problem, Flags, Flags]:
        """Return the problem with the pairs that matter, what the engine proposes, and that made safe."""
        for _ in range(ROUNDS):
            proposed = self._pattern(problem, ctx) | problem.start
            pattern = proposed if self.repaired else repair(problem, proposed, ctx)
            wider = with_far_pairs(problem, pattern)
            if wider is problem or not self.solves_again:
                break
            problem = wider
        return problem, proposed, pattern

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        yield from claim_open_sums(table, result)
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


def finish(
    table: Table,
    problem: Problem,
    pattern: Flags,
    ctx: Context,
    propose: Callable[[Problem, Context], Flags],
) -> Table:
    """Return a table with a safe pattern, kept from single respondents, sums and differences; note what that costs."""
    problem, pattern = protect_from_respondents(problem, pattern, ctx)
    note_price(problem, pattern, ctx, propose)
    return hide_for_rules(table, problem, pattern, ctx)


def hide_for_rules(table: Table, problem: Problem, pattern: Flags, ctx: Context) -> Table:
    """Return a table with a pattern and what rules on sums and differences ask for beside it; note its price."""
    pattern = protect_sums(table, problem, pattern, ctx)
    pattern = protect_differences(table, problem, pattern, ctx)
    hidden = pattern & ~problem.primary
    ctx.note(
        primary=int(problem.primary.sum()),
        secondary=int(hidden.sum()),
        price=problem.price(pattern),
    )
    return table.with_hidden(np.flatnonzero(hidden))


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


# -- single respondents ------------------------------------------------------------------------------


def spared_cells(table: Table) -> Flags:
    """Return the unsafe cells that need not be kept from single respondents: the strictest rule decides.

    A cell that another rule calls unsafe as well has that rule's status, and is guarded.
    """
    rules = applied_rules(table.history, MinimumFrequency)
    if not rules or any(r.singletons != "none" for r in rules):
        return np.zeros(len(table), dtype=bool)
    return np.asarray(table.status == Status.UNSAFE_FREQUENCY)


def claimed_guard(table: Table, *, singletons: bool) -> dict[str, object]:
    """Return the parameters by which a claim tells which cells are kept from single respondents."""
    spared = spared_cells(table)
    # Only where the table tells of some cell how many contribute to it.
    counted = table.frequency or table.holdings is not None or bool((table.count >= 0).any())
    guards = singletons and counted and bool((table.primary & ~spared).any())
    return {"singletons": guards} | ({"spared": "frequency"} if guards and spared.any() else {})


def note_price(
    problem: Problem,
    pattern: Flags,
    ctx: Context,
    propose: Callable[[Problem, Context], Flags],
) -> None:
    """Note how many cells, and which price, it costs to keep single respondents out.

    A small table is protected a second time, as if nobody's own knowledge mattered, and the two patterns are compared. In
    a larger one the secondary cells are counted that could then be published again: the cost is at least that.
    """
    if not len(problem.pairs):
        if problem.guards_singletons:
            ctx.note(for_respondents=0)
        return
    bare = replace(problem, pairs=NO_PAIRS, guards_singletons=False)
    quiet = replace(ctx, details={})
    if problem.n <= COMPARED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SdcWarning)
            less = repair(bare, propose(bare, quiet), quiet)
    elif problem.n <= PRICED:
        less = clean(bare, pattern, quiet)
    else:
        ctx.note(for_respondents=f"not counted beyond {PRICED:,} cells")
        return
    ctx.note(
        for_respondents=int(pattern.sum()) - int(less.sum()),
        price_for_respondents=problem.price(pattern) - problem.price(less),
        counted_for_respondents="against the same method without them"
        if problem.n <= COMPARED
        else "cells that could be published again: at least",
    )
