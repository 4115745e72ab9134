"""Which cells to make missing so that every record agrees with at least k records.

Rows are distinct key combinations as small integers, -1 where missing; a missing value agrees with every
value. Rows whose combination is rare stand for one record each, the others for all that share them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible
from tacit.numerics.kernels import Kernels
from tacit.records.suppression.local_each import choose_lightest, hide_in_rounds, lighten
from tacit.records.suppression.local_problem import (
    MISSING,
    NOT_ENOUGH,
    Problem,
    Tick,
    agreement,
    column_sets,
)

#: Work on one number of an array, in turns of a loop.
ARRAYS = 0.05
#: Rare rows looked at together.
CHUNK = 512


@dataclass
class Rows:
    """The state of a search."""

    #: One row per combination (or record with a rare one), one column per key.
    codes: Ints
    #: Records that a row stands for.
    size: Ints
    #: The rows that agreed with fewer than k records at the start.
    rare: Ints
    #: Records that agree with each row, kept up to date for the rare ones.
    agreeing: Ints
    #: How many must.
    k: int

    def count(self, row: Ints) -> int:
        """Return how many records agree with a row."""
        if KERNELS.pays(ARRAYS * self.codes.size):
            return int(KERNELS.compiled()["count_agreeing"](self.codes, self.size, row))
        return int(self.size[find_agreeing_rows(self.codes, row)].sum())

    def find_gained_rows(self, at: int, new: Ints) -> Ints:
        """Return the rare rows that agree with a row as it would be and do not now."""
        if KERNELS.pays(ARRAYS * len(self.rare) * self.codes.shape[1]):
            return KERNELS.compiled()["newly_agreeing"](self.codes, self.rare, self.codes[at], new)
        codes = self.codes[self.rare]
        return self.rare[
            find_agreeing_rows(codes, new) & ~find_agreeing_rows(codes, self.codes[at])
        ]


def find_agreeing_rows(codes: Ints, row: Ints) -> Flags:
    """Return which rows agree with one, a missing value with everything."""
    return np.asarray(((codes == row) | (codes < 0) | (row < 0)).all(axis=1))


# -- all records together ----------------------------------------------------------------------------


def suppress_shared(problem: Problem, *, tick: Tick) -> Flags:
    """Return few cells to make missing when a missing value helps every record that agrees with it.

    The demands come one after another, each on what the ones before it left; at the end cells come back that
    turned out unnecessary, or are exchanged for lighter ones. A heuristic.
    """
    hidden = np.zeros(problem.codes.shape, dtype=bool)
    for demand in problem.demands:
        at = list(demand.columns)
        now = np.where(hidden[:, at], MISSING, problem.codes[:, at])
        hidden[:, at] |= share_cells(
            now, demand.k, problem.weights[at], problem.fixed[at], tick=tick
        )
        hidden = problem.together(hidden) & (problem.codes != MISSING)
    if problem.kinds > 1 or problem.marked is not None:
        hidden = hide_in_rounds(problem, choose_lightest, tick, hidden)
    must = np.zeros((len(problem.codes), len(problem.demands)), dtype=bool)
    if problem.marked is not None:
        must[problem.marked] = True
    for exchange in (False, True):
        tick("cells that can be shown", None)
        hidden = lighten(problem, hidden, must, exchange=exchange)
    return hidden


def share_cells(codes: Ints, k: int, weights: Floats, fixed: Flags, *, tick: Tick) -> Flags:
    """Return cells for one demand.

    Each record that is suppressed loses a set of cells that is enough and of which no part is. The sets
    that settle most records for their weight are taken first; at the end cells that turned out unnecessary
    come back.
    """
    rows, members = find_rare_rows(codes, k)
    if not len(rows.rare):
        return np.zeros(codes.shape, dtype=bool)
    choices = minimal_sets(rows, column_sets(weights, fixed), weights, fixed, tick)
    restore_needless(rows, search_shared_cells(rows, choices, weights, tick), weights)
    hidden = np.zeros(codes.shape, dtype=bool)
    hidden[members] = (rows.codes[rows.rare] == MISSING) & (codes[members] != MISSING)
    return hidden


# -- missing as a value of its own -------------------------------------------------------------------


def suppress_strict(problem: Problem, *, tick: Tick) -> Flags:
    """Return cells to make missing so that every class has k records, missing being a value.

    Cells hidden for one demand can spoil another, so the demands are repeated until all hold.
    """
    hidden = np.zeros(problem.codes.shape, dtype=bool)
    while True:
        before = int(hidden.sum())
        for demand in problem.demands:
            at = list(demand.columns)
            now = np.where(hidden[:, at], MISSING, problem.codes[:, at])
            classes = Classes(demand.k, problem.kinds, problem.sensitive)
            hidden[:, at] |= form_classes(
                now, classes, problem.weights[at], problem.fixed[at], tick=tick
            )
            if problem.marked is not None:
                whole = problem.marked & ~hidden[:, at].any(axis=1)
                hidden[np.ix_(whole, np.array(at)[~problem.fixed[at]])] = True
            hidden = problem.together(hidden) & (problem.codes != MISSING)
        if int(hidden.sum()) == before:
            return hidden


@dataclass(frozen=True)
class Classes:
    """What a class needs: records, and different sensitive values."""

    k: int
    kinds: int
    sensitive: Ints | None

    def are_enough(self, codes: Ints, records: Ints) -> Flags:
        """Return which of some records, given with their codes, are in a class that is enough."""
        _, ids, size = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
        ids = ids.ravel()
        enough = size >= self.k
        if self.kinds > 1 and self.sensitive is not None:
            pairs = np.unique(np.column_stack([ids, self.sensitive[records]]), axis=0)
            values = np.bincount(pairs[pairs[:, 1] >= 0, 0], minlength=len(size))
            enough &= values >= self.kinds
        return np.asarray(enough[ids])


def form_classes(
    codes: Ints, classes: Classes, weights: Floats, fixed: Flags, *, tick: Tick
) -> Flags:
    """Return cells for one demand.

    Sets of columns are tried from the lightest: records with a rare combination that agree on the other
    columns, at least k of them, lose that set. What is left at the end joins the class that it can join
    at the least weight, whose records lose the same cells. A heuristic without a bound.
    """
    hidden = np.zeros(codes.shape, dtype=bool)
    left = np.flatnonzero(~classes.are_enough(codes, np.arange(len(codes))))
    sets, everything = column_sets(weights, fixed), tuple(np.flatnonzero(~fixed).tolist())
    if everything and everything not in sets:
        sets.append(everything)
    for done, columns in enumerate(sets):
        if not len(left):
            break
        tick("sets of cells", done / len(sets))
        masked = codes[left].copy()
        masked[:, list(columns)] = MISSING
        settled = left[classes.are_enough(masked, left)]
        hidden[np.ix_(settled, np.array(columns))] = True
        left = left[~np.isin(left, settled)]
    while len(left):
        tick("last records", None)
        left = join_first_record(codes, hidden, left, classes, weights, fixed)
    return hidden


def join_first_record(
    codes: Ints, hidden: Flags, left: Ints, classes: Classes, weights: Floats, fixed: Flags
) -> Ints:
    """Join the first record that is left to others at the least weight; return what is left then."""
    first = left[0]
    now = np.where(hidden, MISSING, codes)
    differs = now != now[first]
    _, class_of, size = np.unique(now, axis=0, return_inverse=True, return_counts=True)
    class_of = class_of.ravel()
    others = differs.any(axis=1) & ~differs[:, fixed].any(axis=1)
    if not others.any():
        raise Infeasible(NOT_ENOUGH)
    # A class joins whole, for taking some of its records could leave too few behind.
    cost = (differs * weights).sum(axis=1) * (size[class_of[first]] + size[class_of])
    nearest = int(np.argmin(np.where(others, cost, np.inf)))
    together = np.flatnonzero((class_of == class_of[nearest]) | (class_of == class_of[first]))
    columns = np.flatnonzero(differs[nearest])
    hidden[np.ix_(together, columns)] = True
    now = np.where(hidden, MISSING, codes)
    return np.flatnonzero(~classes.are_enough(now, np.arange(len(now))))


# -- the pieces --------------------------------------------------------------------------------------


def find_rare_rows(codes: Ints, k: int) -> tuple[Rows, Ints]:
    """Return the rows, and the record of each rare row."""
    cells, cell_of, size = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    cell_of = cell_of.ravel()
    agreeing, _ = agreement(cells, cells, size, np.zeros((len(cells), 0), dtype=np.uint64))
    rare = agreeing < k
    members = np.flatnonzero(rare[cell_of])
    n_safe = int((~rare).sum())
    rows = Rows(
        np.concatenate([cells[~rare], codes[members]]),
        np.concatenate([size[~rare], np.ones(len(members), dtype=np.int64)]),
        np.arange(n_safe, n_safe + len(members)),
        np.concatenate([agreeing[~rare], agreeing[cell_of[members]]]),
        k,
    )
    return rows, members


def minimal_sets(
    rows: Rows, sets: Sequence[tuple[int, ...]], weights: Floats, fixed: Flags, tick: Tick
) -> list[list[tuple[int, ...]]]:
    """Return for each rare row the minimal sets of columns that make it agree with k records."""
    bits = np.array([sum(1 << c for c in s) for s in sets], dtype=np.int64)
    most = max((len(s) for s in sets), default=0)
    pays = KERNELS.pays(ARRAYS * len(rows.rare) * rows.codes.size)
    find = KERNELS.compiled()["mark_enough"] if pays else enough_arrays
    choices = []
    for begin in range(0, len(rows.rare), CHUNK):
        tick("sets of cells", begin / len(rows.rare))
        some = rows.rare[begin : begin + CHUNK]
        found = find(rows.codes, rows.size, some, bits, rows.k, most)
        for at, flags in zip(some, found, strict=True):
            minimal = list(minimal_of([sets[i] for i in np.flatnonzero(flags).tolist()]))
            choices.append(minimal or [one_by_one(rows, int(at), weights, fixed)])
    return choices


def minimal_of(sets: Sequence[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """Yield the sets, given by ascending weight, that hold no other of them."""
    kept: list[frozenset[int]] = []
    for candidate in sorted(sets, key=len):
        if not any(other <= set(candidate) for other in kept):
            kept.append(frozenset(candidate))
    wanted = set(kept)
    yield from (s for s in sets if frozenset(s) in wanted)


def one_by_one(rows: Rows, at: int, weights: Floats, fixed: Flags) -> tuple[int, ...]:
    """Return a set for a row found by taking the column that helps most for its weight."""
    row = rows.codes[at].copy()
    taken: list[int] = []
    while rows.count(row) < rows.k:
        free: list[int] = np.flatnonzero(~fixed & (row >= 0)).tolist()
        if not free:
            raise Infeasible(NOT_ENOUGH)
        counts = [rows.count(blank_columns(row, (c,))) for c in free]
        best = int(np.argmax(np.array(counts) / weights[free]))
        taken.append(free[best])
        row[free[best]] = MISSING
    for c in sorted(taken, key=lambda c: -weights[c]):
        row[c] = rows.codes[at, c]
        if rows.count(row) >= rows.k:
            taken.remove(c)
        else:
            row[c] = MISSING
    return tuple(sorted(taken))


def blank_columns(row: Ints, columns: Sequence[int]) -> Ints:
    """Return a row with some columns missing."""
    new = row.copy()
    new[list(columns)] = MISSING
    return new


def search_shared_cells(
    rows: Rows, choices: Sequence[Sequence[tuple[int, ...]]], weights: Floats, tick: Tick
) -> list[tuple[int, tuple[int, ...], Ints]]:
    """Suppress, taking what settles most for its weight first; return what was done, in order."""

    def settles(at: int, columns: Sequence[int]) -> float:
        gained = rows.find_gained_rows(at, blank_columns(rows.codes[at], columns))
        others = int((rows.agreeing[gained] < rows.k).sum()) - int(at in gained)
        return (1 + others) / float(weights[list(columns)].sum())

    heap = [
        (-settles(int(at), columns), int(at), columns)
        for at, options in zip(rows.rare, choices, strict=True)
        for columns in options
    ]
    heapq.heapify(heap)
    done: list[tuple[int, tuple[int, ...], Ints]] = []
    while heap:
        if len(heap) % 512 == 0:
            tick("suppressing cells", None)
        _, at, columns = heapq.heappop(heap)
        if rows.agreeing[at] >= rows.k:
            continue
        columns = drop_needless_columns(rows, at, columns, weights)
        score = -settles(at, columns)
        if heap and score > heap[0][0]:
            heapq.heappush(heap, (score, at, columns))
            continue
        old = rows.codes[at].copy()
        new = blank_columns(old, columns)
        rows.agreeing[rows.find_gained_rows(at, new)] += 1
        rows.codes[at] = new
        rows.agreeing[at] = rows.count(new)
        done.append((at, columns, old))
    return done


def drop_needless_columns(
    rows: Rows, at: int, columns: tuple[int, ...], weights: Floats
) -> tuple[int, ...]:
    """Return a set without the columns that others' missing values have made unnecessary."""
    left = list(columns)
    for c in sorted(columns, key=lambda c: -weights[c]):
        rest = [d for d in left if d != c]
        if rest and rows.count(blank_columns(rows.codes[at], rest)) >= rows.k:
            left = rest
    return tuple(left)


def restore_needless(
    rows: Rows, done: Sequence[tuple[int, tuple[int, ...], Ints]], weights: Floats
) -> None:
    """Give back cells, last ones first, without which every rare row still agrees with k records."""
    for at, columns, old in reversed(done):
        for c in sorted(columns, key=lambda c: -weights[c]):
            now, row = rows.codes[at].copy(), rows.codes[at].copy()
            row[c] = old[c]
            if rows.count(row) < rows.k:
                continue
            rows.codes[at] = row
            lost = rows.find_gained_rows(at, now)
            lost = lost[lost != at]
            if (rows.agreeing[lost] <= rows.k).any():
                rows.codes[at] = now
                continue
            rows.agreeing[lost] -= 1
            rows.agreeing[at] = rows.count(row)


# -- kernels -----------------------------------------------------------------------------------------


def enough_arrays(codes: Ints, size: Ints, some: Ints, bits: Ints, k: int, most: int) -> Flags:
    """Return for each row which sets of columns, missing, make it agree with k records."""
    places = 1 << np.arange(codes.shape[1], dtype=np.int64)
    found = np.zeros((len(some), len(bits)), dtype=bool)
    for i, at in enumerate(some):
        row = codes[at]
        differs = (codes != row) & (codes >= 0) & (row >= 0)
        near = differs.sum(axis=1) <= most
        masks, where = np.unique((differs @ places)[near], return_inverse=True)
        amount = np.bincount(where, weights=size[near])
        covered = (masks[None, :] & ~bits[:, None]) == 0
        found[i] = (covered @ amount >= k) & ((bits & ~int((row >= 0) @ places)) == 0)
    return found


def mark_enough(codes: Ints, size: Ints, some: Ints, bits: Ints, k: int, most: int) -> Flags:
    """Do the same as :func:`enough_arrays`, compiled."""
    n, q = codes.shape
    found = np.zeros((len(some), len(bits)), dtype=np.bool_)
    masks = np.zeros(n, dtype=np.int64)
    amounts = np.zeros(n, dtype=np.int64)
    total = np.zeros(1 << q if q <= 12 else 1, dtype=np.int64)
    for r in range(len(some)):
        at = some[r]
        near = 0
        known = 0
        for c in range(q):
            if codes[at, c] >= 0:
                known |= 1 << c
        for j in range(n):
            mask = 0
            differing = 0
            for c in range(q):
                if codes[j, c] != codes[at, c] and codes[j, c] >= 0 and codes[at, c] >= 0:
                    mask |= 1 << c
                    differing += 1
                    if differing > most:
                        break
            if differing <= most:
                masks[near] = mask
                amounts[near] = size[j]
                near += 1
        if q <= 12:
            total[:] = 0
            for i in range(near):
                total[masks[i]] += amounts[i]
            # Sums over all subsets of each set, one column at a time.
            for c in range(q):
                for s in range(1 << q):
                    if s & (1 << c):
                        total[s] += total[s ^ (1 << c)]
        for b in range(len(bits)):
            if bits[b] & ~known:
                continue
            amount = 0
            if q <= 12:
                amount = total[bits[b]]
            else:
                for i in range(near):
                    if masks[i] & ~bits[b] == 0:
                        amount += amounts[i]
                        if amount >= k:
                            break
            found[r, b] = amount >= k
    return found


def count_agreeing(codes: Ints, size: Ints, row: Ints) -> int:
    """Return how many records agree with a row."""
    total = 0
    for j in range(len(codes)):
        same = True
        for c in range(codes.shape[1]):
            if codes[j, c] != row[c] and codes[j, c] >= 0 and row[c] >= 0:
                same = False
                break
        if same:
            total += size[j]
    return total


def newly_agreeing(codes: Ints, rare: Ints, old: Ints, new: Ints) -> Ints:
    """Return the rare rows that agree with the new row and not with the old one."""
    found = np.empty(len(rare), dtype=np.int64)
    n = 0
    for i in range(len(rare)):
        j = rare[i]
        same = True
        before = True
        for c in range(codes.shape[1]):
            if codes[j, c] < 0:
                continue
            if codes[j, c] != new[c] and new[c] >= 0:
                same = False
                break
            if codes[j, c] != old[c] and old[c] >= 0:
                before = False
        if same and not before:
            found[n] = j
            n += 1
    return found[:n]


KERNELS = Kernels(globals(), mark_enough, count_agreeing, newly_agreeing)
