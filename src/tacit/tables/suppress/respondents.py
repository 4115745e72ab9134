"""What rules for counts ask of the suppression methods: which respondents to keep out, and which sums to keep open."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from tacit.arrays import Flags
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders, outsider_bounds
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import Infeasible, SdcWarning
from tacit.tables.attack.attacker import shortfalls
from tacit.tables.rules.minimum_frequency import MinimumFrequency, contributors_of
from tacit.tables.suppress.clean_up import clean
from tacit.tables.suppress.problem import Problem, tiny_range
from tacit.tables.suppress.repair import repair, suppress
from tacit.tables.suppress.whole_numbers import protect_whole_numbers

#: How often part of what is hidden for sums is chosen anew.
TRIES = 10
#: Cells up to which a table is protected again without them to see what keeping single respondents out costs.
COMPARED = 300
#: Cells up to which at least those are counted that could be published again.
PRICED = 20_000


# -- single respondents ----------------------------------------------------------------------------


def rules_of(table: Table) -> list[MinimumFrequency]:
    """Return the frequency rules in the history of a table."""
    kind = MinimumFrequency.model_fields["kind"].default
    return [
        MinimumFrequency(**{k: v for k, v in action.parameters.items() if k != "kind"})
        for action in table.history
        if action.kind == kind
    ]


def spared_cells(table: Table) -> Flags:
    """Return the unsafe cells that need not be kept from single respondents: the strictest rule decides.

    A cell that another rule calls unsafe as well has that rule's status, and is guarded.
    """
    rules = rules_of(table)
    if not rules or any(r.singletons != "none" for r in rules):
        return np.zeros(len(table), dtype=bool)
    return np.asarray(table.status == Status.UNSAFE_FREQUENCY)


def knows_respondents(table: Table) -> bool:
    """Return True when the table tells of some cell how many contribute to it."""
    return table.frequency or table.holdings is not None or bool((table.count >= 0).any())


def claimed_guard(table: Table, *, singletons: bool) -> dict[str, object]:
    """Return the parameters by which a claim tells which cells are kept from single respondents."""
    spared = spared_cells(table)
    guards = singletons and knows_respondents(table) and bool((table.primary & ~spared).any())
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
    bare = replace(problem, pairs=np.zeros((0, 2), dtype=np.int64), guards_singletons=False)
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


# -- sums ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of unsafe cells that must not be learned: rows of a matrix over all cells."""

    parts: sparse.csr_array

    def __len__(self) -> int:
        return int(self.parts.shape[0])


def find_small_sums(table: Table, rule: MinimumFrequency) -> Sums:
    """Return the sums of all unsafe parts of a total that have fewer than n contributors together."""
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
    sets = list(found)
    cells = np.array([c for s in sets for c in s], dtype=np.int64)
    rows = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    return Sums(
        sparse.csr_array((np.ones(len(cells)), (rows, cells)), shape=(len(sets), len(table)))
    )


def protect_sums(table: Table, problem: Problem, pattern: Flags, ctx: Context) -> Flags:
    """Return a pattern that hides more, so that sums which a frequency rule names stay open.

    Raises
    ------
    Infeasible
        When such a sum follows whatever is hidden.
    """
    for rule in rules_of(table):
        sums = find_small_sums(table, rule) if rule.singletons == "sums" else None
        if sums is None or not len(sums):
            continue
        wide = with_sums(table, problem, pattern, sums)
        before = pattern
        if shortfalls(wide, wide.start, ctx):
            require_possible(table, wide, sums, ctx)
            open_to_all = suppress(wide, ctx, tries=TRIES)[0]
        else:
            open_to_all = wide.start
        pattern = protect_whole_numbers(wide, open_to_all, ctx)[: len(table)]
        ctx.note(small_sums=len(sums), for_sums=int((pattern & ~before).sum()))
        if (pattern & ~before).any() and ctx.details.get("answer") == "optimal":
            ctx.note(answer="optimal before cells were hidden for sums")
    return pattern


def with_sums(table: Table, problem: Problem, pattern: Flags, sums: Sums) -> Problem:
    """Return the problem with a cell for each sum, which must not be deducible."""
    n, more = len(table), len(sums)
    blank = sparse.csr_array((table.equations.shape[0], more))
    own = sparse.hstack([sums.parts, -sparse.identity(more, format="csr")])
    equations = sparse.csr_array(
        sparse.vstack([sparse.hstack([table.equations, blank]), own], format="csr")
    )
    value = np.concatenate([table.value, sums.parts @ table.value])
    low, high = outsider_bounds(table)
    zero, none = np.zeros(n + more), np.zeros(more)
    endless = np.full(more, np.inf)
    bare = Table(
        dimensions=(),
        value=value,
        count=np.full(n + more, -1, dtype=np.int64),
        status=np.ones(n + more, dtype=np.int8),
        lower=np.concatenate([low, -endless]),
        upper=np.concatenate([high, endless]),
        lower_level=zero,
        upper_level=zero,
        sliding_level=zero,
        given=equations,
        frequency=table.frequency,
    )
    virtual = np.arange(n + more) >= n
    least = tiny_range(bare, np.arange(n + more))
    return Problem(
        table=bare,
        equations=equations,
        down=np.concatenate([np.maximum(table.value - low, 0.0), endless]),
        up=np.concatenate([np.maximum(high - table.value, 0.0), endless]),
        need_down=zero,
        need_up=zero,
        need_width=np.where(virtual, least, 0.0),
        cost=np.concatenate([problem.cost, none]),
        primary=virtual,
        forced=np.concatenate([pattern, none > 0]),
        fixed=np.concatenate([problem.fixed & ~pattern, none > 0]),
        pairs=np.zeros((0, 2), dtype=np.int64),
        whole=problem.whole,
    )


def require_possible(table: Table, wide: Problem, sums: Sums, ctx: Context) -> None:
    """Raise when a sum follows even from a table that hides all that may be hidden."""
    lost = sorted({s.cell for s in shortfalls(wide, wide.start | wide.suppressible, ctx)})
    if lost:
        first = sums.parts[[lost[0] - len(table)]].indices
        names = "; ".join(table.describe_cell(int(c)) for c in first[:10])
        raise Infeasible(
            f"{len(lost):,} sums of unsafe cells with too few contributors together follow whatever is hidden, the first "
            f"is that of: {names}. Free cells that must be published, recode the table, or take singletons='guard' in "
            "minimum_frequency."
        )


def claim_sums(table: Table, result: Table) -> Iterator[Claim]:
    """Yield what is claimed of the sums that frequency rules in the history name."""
    for rule in rules_of(table):
        if rule.singletons == "sums":
            yield Claim(
                "open-sums",
                {"n": rule.n, "level": rule.level, "weighted": rule.weighted},
                "all totals and their unsafe parts",
                result.names or ("equations",),
                describe_outsiders(result),
            )
