"""What local suppression must reach: sets of columns with their k, and which records fall short of it.

Codes are small integers, -1 where missing. A missing value agrees with every value. A record *falls short* on a
set of columns when too few records agree with it there, or, where combinations must be frequent in full, when
it shows all of them and too few records show the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.engine.codes import Cells, Coded, group_ids, wildcard_sizes
from tacit.errors import Infeasible
from tacit.records.samples.posterior import expected_inverse, share_sampled

Words = npt.NDArray[np.uint64]
Tick = Callable[[str, float | None], None]
#: Says for which records, by place, it is enough to lose the cells of some columns.
Settles = Callable[[Ints, tuple[int, ...]], Flags]

MISSING = -1
#: With at most this many columns every set of columns is looked at for every record.
ALL_SETS = 12
#: With more columns, sets of at most this many; then one column at a time.
SMALL_SETS = 3
NOT_ENOUGH = (
    "local_suppression: with the columns that may be suppressed some records cannot agree with k records. "
    "Allow more columns, or recode the others first."
)
#: Values that one machine word can mark as seen.
BITS = 64


def hide_nothing_else(hidden: Flags) -> Flags:
    """Return the cells as they are: no cell takes others with it."""
    return hidden


@dataclass(frozen=True)
class Demand:
    """A set of columns, by place, on which k records must agree."""

    columns: tuple[int, ...]
    k: int


@dataclass(frozen=True)
class Problem:
    """What is asked of which codes."""

    #: One row per record, one column per key.
    codes: Ints
    #: The sets of columns with their k.
    demands: tuple[Demand, ...]
    #: What a cell of each column is worth.
    weights: Floats
    #: The columns that are never made missing.
    fixed: Flags
    #: True when records that show all columns of a set need k that show the same.
    in_full: bool = True
    #: How many different sensitive values the agreeing records must have, and each record's, -1 where missing.
    kinds: int = 1
    sensitive: Ints | None = None
    #: Records that must lose a cell of every set whatever the counts say, such as those at high risk.
    marked: Flags | None = None
    #: From cells to hide to all cells that are hidden with them, such as those of other household members.
    together: Callable[[Flags], Flags] = field(default=hide_nothing_else)

    def cost(self, hidden: Flags) -> float:
        """Return what the hidden cells are worth together."""
        return float(hidden.sum(axis=0) @ self.weights)

    def meets(self, columns: Sequence[int]) -> Flags:
        """Return which demands some columns are part of."""
        return np.array([not set(columns).isdisjoint(d.columns) for d in self.demands])

    def words(self) -> Words:
        """Return each record's sensitive value as one bit; no column when values need not differ."""
        if self.kinds < 2 or self.sensitive is None:
            return np.zeros((len(self.codes), 0), dtype=np.uint64)
        known = np.flatnonzero(self.sensitive >= 0)
        of = self.sensitive[known]
        made = np.zeros((len(self.codes), int(of.max(initial=0)) // BITS + 1), dtype=np.uint64)
        made[known, of // BITS] = np.uint64(1) << (of % BITS).astype(np.uint64)
        return made


class View:
    """The records as one set of columns shows them: distinct rows, how many each stands for and with what values."""

    def __init__(self, problem: Problem, now: Ints, words: Words, need: Demand) -> None:
        first, self.of, self.size = distinct_rows(now[:, need.columns])
        self.rows = now[first][:, need.columns]
        self.words = np.zeros((len(first), words.shape[1]), dtype=np.uint64)
        for w in range(words.shape[1]):
            np.bitwise_or.at(self.words[:, w], self.of, words[:, w])
        self.need, self.kinds = need, problem.kinds

    def is_enough(self, count: Ints, kinds: Ints) -> Flags:
        """Return where there are enough records with enough different values."""
        return np.asarray((count >= self.need.k) & (kinds >= self.kinds))

    def count_agreeing(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return how many records agree with each of some rows, and how many values these have."""
        first, of, _ = distinct_rows(rows)
        count, seen = agreement(rows[first], self.rows, self.size, self.words)
        return count[of], self.count_kinds(seen)[of]

    def count_kinds(self, seen: Words) -> Ints:
        """Return how many different values are marked; 1 where they need not differ."""
        if not seen.shape[1]:
            return np.ones(len(seen), dtype=np.int64)
        return np.bitwise_count(seen).sum(axis=1).astype(np.int64)

    def find_short(self, *, in_full: bool, partly: bool = True) -> Flags:
        """Return the records that fall short; those that show only a part are left out on request."""
        whole = (self.rows >= 0).all(axis=1)
        enough = self.is_enough(self.size, self.count_kinds(self.words))
        if not partly:
            enough |= ~whole
        ask = np.flatnonzero(~enough & ~whole) if in_full else np.flatnonzero(~enough)
        if len(ask):
            enough[ask] = self.is_enough(*self.count_agreeing(self.rows[ask]))
        return ~enough[self.of]


def distinct_rows(codes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the first place of each distinct row, which one each row is, and how often each occurs."""
    sizes = (codes.max(axis=0, initial=MISSING) + 2).tolist()
    ids, _ = group_ids(list((codes - MISSING).T), sizes, n_rows=len(codes))
    _, first, of, size = np.unique(ids, return_index=True, return_inverse=True, return_counts=True)
    return first, of.astype(np.int64), size.astype(np.int64)


def agreement(rows: Ints, cells: Ints, size: Ints, words: Words) -> tuple[Ints, Words]:
    """Return for each row how many records agree with it, and which values those have."""
    radix = (np.maximum(rows.max(axis=0), cells.max(axis=0)) + 1).tolist()
    total = np.zeros(len(rows), dtype=np.int64)
    seen = np.zeros((len(rows), words.shape[1]), dtype=np.uint64)
    patterns = by_pattern(cells)
    for known, one in by_pattern(rows):
        for other_known, other in patterns:
            common = np.flatnonzero(known & other_known)
            both = np.concatenate([rows[np.ix_(one, common)], cells[np.ix_(other, common)]])
            ids, bound = group_ids(
                list(both.T), [radix[c] for c in common], n_rows=len(one) + len(other)
            )
            mine, theirs = ids[: len(one)], ids[len(one) :]
            sums = np.bincount(theirs, weights=size[other], minlength=bound)
            total[one] += sums[mine].astype(np.int64)
            for w in range(words.shape[1]):
                marks = np.zeros(bound, dtype=np.uint64)
                np.bitwise_or.at(marks, theirs, words[other, w])
                seen[one, w] |= marks[mine]
    return total, seen


def by_pattern(codes: Ints) -> list[tuple[Flags, Ints]]:
    """Return which columns are known, with the rows for which it is these."""
    known = codes >= 0
    bits = known @ (1 << np.arange(codes.shape[1], dtype=np.int64))
    return [(known[at[0]], at) for b in np.unique(bits) for at in [np.flatnonzero(bits == b)]]


def column_sets(weights: Floats, fixed: Flags) -> list[tuple[int, ...]]:
    """Return the sets of columns that may be made missing together, lightest first."""
    free = np.flatnonzero(~fixed).tolist()
    largest = len(free) if len(free) <= ALL_SETS else SMALL_SETS
    sets = [s for r in range(1, largest + 1) for s in itertools.combinations(free, r)]
    return sorted(sets, key=lambda s: (float(weights[list(s)].sum()), len(s), s))


def make_views(problem: Problem, hidden: Flags) -> list[View]:
    """Return what each demand sees of the records with some cells hidden."""
    now, words = np.where(hidden, MISSING, problem.codes), problem.words()
    return [View(problem, now, words, demand) for demand in problem.demands]


def find_short(
    problem: Problem, hidden: Flags, views: Sequence[View], *, partly: bool = True
) -> Flags:
    """Return which records fall short of which demands."""
    short = np.zeros((len(problem.codes), len(views)), dtype=bool)
    for j, view in enumerate(views):
        short[:, j] = view.find_short(in_full=problem.in_full, partly=partly)
        if problem.marked is not None:
            short[:, j] |= problem.marked & ~hidden[:, view.need.columns].any(axis=1)
    return short


def bound_by_records(problem: Problem, short: Flags) -> float:
    """Return a weight that no way of hiding cells can undercut when some records must lose cells.

    ``short`` says who shows all columns of which sets although too few show the same: missing values of others make these
    fewer, never more. Each such record loses at least the lightest set of known cells that meets all of these sets of
    columns. What its missing values then ask for is left out, and so are records that show only a part, which
    missing values of others may settle; so the bound may be too low.
    """
    rows = np.flatnonzero(short.any(axis=1))
    if not len(rows):
        return 0.0
    first, _, size = distinct_rows(
        np.hstack([short[rows], problem.codes[rows] >= 0]).astype(np.int64)
    )
    wanted = short[rows[first]]
    return float(
        weigh_lightest(
            problem,
            rows[first],
            lambda at, columns: np.asarray(~(wanted[at] & ~problem.meets(columns)).any(axis=1)),
        )
        @ size
    )


def bound_by_classes(problem: Problem) -> float:
    """Return a weight that no way of hiding cells can undercut when a missing value is a value of its own.

    The records of one class in the end show the same, so each loses at least the lightest set of cells without which
    enough records agree with it on the values as they were.
    """
    views = make_views(problem, np.zeros(problem.codes.shape, dtype=bool))
    short = np.stack([view.find_short(in_full=False) for view in views], axis=1)
    rows = np.flatnonzero(short.any(axis=1))
    least = weigh_lightest(
        problem, rows, lambda at, columns: settle_by_set(views, short, rows[at], columns)
    )
    return float(least.sum())


def weigh_lightest(problem: Problem, rows: Ints, settles: Settles) -> Floats:
    """Return the weight of the lightest set of known cells that is enough for each record, or of its lightest cell."""
    known = problem.codes[rows] >= 0
    least = np.where(known & ~problem.fixed, problem.weights, np.inf).min(axis=1)
    for columns, at in try_sets(problem, known, settles):
        least[at] = problem.weights[list(columns)].sum()
    return least


def try_sets(
    problem: Problem, known: Flags, settles: Settles, tick: Tick = lambda *_: None
) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield sets of columns, lightest first, each with the records, by place, for which it is the first that is enough."""
    left = np.arange(len(known))
    sets = column_sets(problem.weights, problem.fixed)
    for done, columns in enumerate(sets):
        if not len(left):
            return
        tick("sets of cells", done / len(sets))
        does = np.asarray(known[left][:, columns].all(axis=1))
        does[does] = settles(left[does], columns)
        yield columns, left[does]
        left = left[~does]


def settle_by_set(
    views: Sequence[View], short: Flags, rows: Ints, columns: tuple[int, ...]
) -> Flags:
    """Return for which records it is enough to lose these cells, everything else being as the views show it."""
    does = np.ones(len(rows), dtype=bool)
    gone = set(columns)
    touched = np.array([not gone.isdisjoint(view.need.columns) for view in views])
    does &= ~short[np.ix_(rows, np.flatnonzero(~touched))].any(axis=1)
    for j, view in enumerate(views):
        left = np.flatnonzero(does)
        if touched[j] and len(left):
            masked = view.rows[view.of[rows[left]]]
            masked[:, [c in gone for c in view.need.columns]] = MISSING
            does[left] = view.is_enough(*view.count_agreeing(masked))
    return does


#: Room for the last binary digits.
SLACK = 1e-12
STAYS = (
    "local_suppression: some records stay above risk_above with every cell gone that may be suppressed. Allow more columns, "
    "or ask for less."
)


def find_risky(codes: Ints, weights: Floats, demands: Sequence[Demand], above: float) -> Flags:
    """Return the records whose risk on some set of columns is above a threshold."""
    risky = np.zeros(len(codes), dtype=bool)
    for demand in demands:
        risky |= individual_risks(codes[:, demand.columns], weights) > above * (1 + SLACK)
    return risky


def individual_risks(codes: Ints, weights: Floats) -> Floats:
    """Return the Benedetti-Franconi risk of each record, missing codes (-1) agreeing with all."""
    first, of, size = distinct_rows(codes)
    keys = {}
    for j, column in enumerate(codes[first].T):
        n_values = int(column.max(initial=MISSING)) + 1
        coded = np.where(column == MISSING, n_values, column).astype(np.int32)
        keys[str(j)] = Coded(coded, pa.nulls(n_values))
    sums = np.bincount(of, weights=weights, minlength=len(size)).astype(np.float64)
    cells = Cells(keys, size, sums)
    f = np.rint(wildcard_sizes(cells))
    return expected_inverse(f, share_sampled(f, wildcard_sizes(cells, weighted=True)))[of]


def hide_until_safe(
    problem: Problem, weights: Floats, above: float, hide: Callable[[Problem], Flags]
) -> Flags:
    """Hide cells for all demands until no record is at risk.

    ``hide`` meets the demands and takes a cell from every marked record. Missing values only add to the records that agree
    with any record, so that no risk rises, and each round takes a cell from every record that is still at risk.
    """
    hidden = hide(problem)
    while True:
        now = np.where(hidden, MISSING, problem.codes)
        risky = find_risky(now, weights, problem.demands, above)
        if not risky.any():
            return hidden
        if not (now[np.ix_(risky, ~problem.fixed)] != MISSING).any(axis=1).all():
            raise Infeasible(STAYS)
        # A record at risk on one set may have no cell of another left, of which nothing more is asked.
        more = np.zeros_like(hidden)
        for demand in problem.demands:
            mine = find_risky(now, weights, [demand], above)
            if mine.any():
                more |= hide(replace(problem, codes=now, marked=mine, demands=(demand,)))
        hidden = hidden | more
        rest = hide(replace(problem, codes=np.where(hidden, MISSING, problem.codes), marked=None))
        hidden = hidden | rest
