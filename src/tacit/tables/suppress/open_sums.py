"""Sums and differences of cells that must not be learned: cells of their own, which are never published.

A frequency rule may ask that the sum of all unsafe parts of a total stays open, and a rule on groups that the
difference of a total and a part of it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from tacit.arrays import Flags
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders, outsider_bounds
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.rules.k_disclosure import KDisclosure
from tacit.tables.rules.minimum_frequency import MinimumFrequency, contributors_of
from tacit.tables.rules.nesting import Nested, find_nearly_whole_parts
from tacit.tables.rules.rule import applied_rules
from tacit.tables.suppress.problem import NO_PAIRS, Problem
from tacit.tables.suppress.repair import suppress
from tacit.tables.suppress.whole_numbers import protect_whole_numbers

#: How often part of what is hidden for sums and differences is chosen anew.
TRIES = 10


def protect_sums(table: Table, problem: Problem, pattern: Flags, ctx: Context) -> Flags:
    """Return a pattern that hides more, so that sums which a frequency rule names stay open.

    It is Infeasible when such a sum follows whatever is hidden.
    """
    for rule in rules_on_sums(table):
        parts = find_small_sums(table, rule)
        if not parts.shape[0]:
            continue
        wide = with_sums(table, problem, pattern, parts)
        hidden = wide.start
        if shortfalls(wide, wide.start, ctx):
            if lost := find_lost_cells(wide, ctx):
                first = parts[[lost[0] - len(table)]].indices
                names = "; ".join(table.describe_cell(int(c)) for c in first[:10])
                raise Infeasible(
                    f"{len(lost):,} sums of unsafe cells with too few contributors together follow whatever is hidden, the first "
                    f"is that of: {names}. Free cells that must be published, recode the table, or take singletons='guard' in "
                    "minimum_frequency."
                )
            hidden = suppress(wide, ctx, tries=TRIES)[0]
        pattern = extended(wide, hidden, pattern, ctx, "sums", small_sums=parts.shape[0])
    return pattern


def protect_differences(table: Table, problem: Problem, pattern: Flags, ctx: Context) -> Flags:
    """Return a pattern that hides more, so that differences which a rule names stay open.

    Infeasible names the parts whose distance from a total nothing can hide.
    """
    for rule in applied_rules(table.history, KDisclosure):
        found = find_nearly_whole_parts(table, rule.k, rule.dimensions, rule.up_to)
        if not len(found.part):
            continue
        wide = with_differences(table, problem, pattern, found, rule.k)
        if lost := find_lost_cells(wide, ctx):
            parts = found.part[np.array(lost) - len(table)]
            names = "; ".join(table.describe_cell(int(c)) for c in parts[:10])
            raise Infeasible(
                f"{len(lost):,} groups fall nearly whole into one category, and no pattern hides it: "
                f"{names}. Let empty cells be hidden (zeros=True), free cells that must be published, or "
                "recode the table."
            )
        hidden = suppress(wide, ctx, tries=TRIES)[0]
        pattern = extended(wide, hidden, pattern, ctx, "differences")
    return pattern


def rules_on_sums(table: Table) -> list[MinimumFrequency]:
    """Return the rules in the history of a table that ask for open sums."""
    rules = applied_rules(table.history, MinimumFrequency)
    return [rule for rule in rules if rule.singletons == "sums"]


def find_small_sums(table: Table, rule: MinimumFrequency) -> sparse.csr_array:
    """Return the sums of all unsafe parts of a total that have fewer than n contributors together, a row each."""
    count = contributors_of(table, rule.level, rule.weighted)
    m = sparse.csr_array(table.equations)
    unsafe = table.primary & (count > 0)
    found: dict[tuple[int, ...], None] = {}
    for row in range(m.shape[0]):
        span = slice(m.indptr[row], m.indptr[row + 1])
        parts = m.indices[span][m.data[span] > 0]
        parts = parts[unsafe[parts]]
        if len(parts) > 1 and count[parts].sum() < rule.n:
            found[tuple(sorted(parts.tolist()))] = None
    cells = np.array([c for s in found for c in s], dtype=np.int64)
    rows = np.repeat(np.arange(len(found)), [len(s) for s in found])
    return sparse.csr_array((np.ones(len(cells)), (rows, cells)), shape=(len(found), len(table)))


def with_sums(table: Table, problem: Problem, pattern: Flags, parts: sparse.csr_array) -> Problem:
    """Return the problem with a cell for each sum, which must not be deducible."""
    more = parts.shape[0]
    relations = sparse.csr_array(sparse.hstack([parts, -sparse.identity(more, format="csr")]))
    wide = without_needs(table, problem, pattern).with_virtual_cells(
        relations, parts @ table.value, down=np.inf, up=np.inf
    )
    least = np.where(wide.primary, wide.tiny(np.arange(wide.n)), 0.0)
    return replace(wide, need_width=least)


def with_differences(
    table: Table, problem: Problem, pattern: Flags, found: Nested, k: int
) -> Problem:
    """Return the problem with a cell for each difference, which must be able to rise to k + 1."""
    n, more = len(table), len(found.part)
    rows = np.arange(more)
    relations = sparse.csr_array(
        (
            np.concatenate([-np.ones(more), np.ones(2 * more)]),
            (np.tile(rows, 3), np.concatenate([found.total, found.part, n + rows])),
        ),
        shape=(more, n + more),
    )
    return without_needs(table, problem, pattern).with_virtual_cells(
        relations, found.rest, down=found.rest, up=np.inf, need_up=k + 1 - found.rest
    )


def without_needs(table: Table, problem: Problem, pattern: Flags) -> Problem:
    """Return the problem of a table with its own bounds and a pattern, in which no cell is unsafe."""
    low, high = outsider_bounds(table)
    zero, none = np.zeros(len(table)), np.zeros(len(table), dtype=bool)
    return Problem(
        table=table,
        equations=table.equations,
        down=np.maximum(table.value - low, 0.0),
        up=np.maximum(high - table.value, 0.0),
        need_down=zero,
        need_up=zero,
        need_width=zero,
        cost=problem.cost,
        primary=none,
        forced=pattern,
        fixed=problem.fixed & ~pattern,
        pairs=NO_PAIRS,
        whole=problem.whole,
    )


def find_lost_cells(wide: Problem, ctx: Context) -> list[int]:
    """Return the cells that follow even from a table that hides all that may be hidden."""
    return sorted({s.cell for s in shortfalls(wide, wide.start | wide.suppressible, ctx)})


def extended(
    wide: Problem, hidden: Flags, before: Flags, ctx: Context, what: str, **facts: int
) -> Flags:
    """Return the pattern of the table's own cells, and note what was hidden for sums or differences."""
    pattern = protect_whole_numbers(wide, hidden, ctx)[: len(before)]
    new = int((pattern & ~before).sum())
    ctx.note(**facts, **{f"for_{what}": new})
    if new and ctx.details.get("answer") == "optimal":
        ctx.note(answer=f"optimal before cells were hidden for {what}")
    return pattern


def claim_open_sums(table: Table, result: Table) -> Iterator[Claim]:
    """Yield what is claimed of the differences and sums that rules in the history name."""
    columns, known = result.names or ("equations",), describe_outsiders(result)
    for rule in applied_rules(table.history, KDisclosure):
        yield Claim(
            "k-disclosure",
            {"k": rule.k, "dimensions": list(rule.dimensions)}
            | ({} if rule.up_to is None else {"up_to": rule.up_to}),
            "all totals and their parts",
            columns,
            (
                *known,
                "members of a coalition know where they are themselves, and nothing of others",
            ),
        )
    for sums in rules_on_sums(table):
        yield Claim(
            "open-sums",
            {"n": sums.n, "level": sums.level, "weighted": sums.weighted},
            "all totals and their unsafe parts",
            columns,
            known,
        )
