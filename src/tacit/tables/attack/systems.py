"""The attacker's system made small: what cannot move is dropped, what moves together is one unknown.

Deviations d of hidden cells obey M d = 0. A relation with one hidden cell determines it (d = 0); one with
two ties them (d_i = r d_j). Both are applied until nothing changes, repeated relations are dropped, and
what is left falls into blocks that share no relation. All of this is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order, connected_components

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.relations import components
from tacit.tables.suppress.problem import touched_rows

#: Ratios that differ by no more than this share are equal.
SAME = 1e-12
#: Passes of bound propagation.
PASSES = 12


@dataclass(eq=False)
class Block:
    """One connected part: unknowns x with matrix x = 0 and lower <= x <= upper, 0 among them."""

    #: Relations between the unknowns; no rows when the block is one free unknown.
    matrix: sparse.csr_array
    lower: Floats  # what outsiders know of them
    upper: Floats
    outer_low: Floats  # values beyond which no possible x goes: proven so far
    outer_high: Floats
    inner_low: Floats = field(init=False)  # values that some possible x takes: found so far
    inner_high: Floats = field(init=False)
    points: list[Floats] = field(default_factory=list)  # some possible x, newest last
    kept: int = 0  # how many of them are kept

    def __post_init__(self) -> None:
        if self.matrix.shape[0]:
            self.inner_low, self.inner_high = np.zeros(self.n), np.zeros(self.n)
        else:
            self.inner_low, self.inner_high = self.lower.copy(), self.upper.copy()

    @property
    def n(self) -> int:
        """Return the number of unknowns."""
        return len(self.lower)


@dataclass(eq=False)
class System:
    """Hidden cells and the unknowns behind them: d_cell = ratio * x[block][place]."""

    cells: Ints  # the hidden cells
    block: Ints  # where the unknown of each stands; -1 when the cell cannot move at all
    place: Ints
    ratio: Floats  # its factor
    blocks: list[Block]

    def find(self, cells: npt.ArrayLike) -> Ints:
        """Return the position of cells among the hidden ones; -1 for others."""
        wanted = np.asarray(cells, dtype=np.int64)
        if not len(self.cells):
            return np.full(wanted.shape, -1, dtype=np.int64)
        at = np.searchsorted(self.cells, wanted).clip(max=len(self.cells) - 1)
        return np.where(self.cells[at] == wanted, at, -1)

    def by_block(self, at: Ints) -> list[tuple[int, Ints]]:
        """Return some hidden cells that can move (as positions among them) by block."""
        moving = at[self.block[at] >= 0]
        moving = moving[np.argsort(self.block[moving], kind="stable")]
        ids, starts = np.unique(self.block[moving], return_index=True)
        return list(zip(ids.tolist(), np.split(moving, starts[1:]), strict=False))

    def interval(self, *, inner: bool = True) -> tuple[Floats, Floats]:
        """Return each hidden cell's deviation, least and largest, as found (or as proven) so far."""
        low, high = np.zeros(len(self.cells)), np.zeros(len(self.cells))
        for i, own in self.by_block(np.arange(len(self.cells))):
            b = self.blocks[i]
            lows, highs = (b.inner_low, b.inner_high) if inner else (b.outer_low, b.outer_high)
            at = self.place[own]
            low[own], high[own] = move_cells(self.ratio[own], lows[at], highs[at])
        return low, high


def move_cells(ratio: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return how far cells move, least and most, when the unknowns behind them do so."""
    return (
        np.where(ratio > 0, ratio * low, ratio * high),
        np.where(ratio > 0, ratio * high, ratio * low),
    )


def system_of(
    by_cell: sparse.csc_array, hidden: Flags, down: Floats, up: Floats, *, reduced: bool = True
) -> System:
    """Return the attacker's system of the hidden cells, from all relations by column and each cell's room.

    When ``reduced``, unknowns are dropped and joined; otherwise they are only split into blocks.
    """
    cells = np.flatnonzero(hidden)
    m = touched_rows(by_cell, cells)
    own = np.arange(len(cells))  # the unknown of each cell; -1: cannot move
    ratio = np.ones(len(cells))
    low, high = -np.asarray(down)[cells], np.asarray(up)[cells]
    if reduced:
        m, own, ratio, low, high = shrink(m, low, high)
    m = drop_repeated_relations(m)
    label, n = label_blocks(m)
    blocks, place = split(m, label, n, low, high)
    moves = own >= 0
    at = np.where(moves, own, 0)
    where = np.where(moves, label[at], -1) if len(low) else np.full(len(cells), -1)
    return System(
        cells,
        where.astype(np.int64),
        np.where(moves, place[at] if len(low) else 0, 0).astype(np.int64),
        np.where(moves, ratio, 0.0),
        blocks,
    )


def label_blocks(m: sparse.csr_array) -> tuple[Ints, int]:
    """Return the block of each unknown, and how many; all without a relation share the last one."""
    bound = np.zeros(m.shape[1], dtype=bool)
    bound[m.indices] = True
    label = np.zeros(m.shape[1], dtype=np.int64)
    n = 0
    if bound.any():
        n, label[bound] = components(sparse.csr_array(m[:, np.flatnonzero(bound)]))
    label[~bound] = n
    return label, n + int(not bound.all())


def split(
    m: sparse.csr_array, label: Ints, n: int, low: Floats, high: Floats
) -> tuple[list[Block], Ints]:
    """Cut the relations into blocks; also return the place of each unknown in its own."""
    order = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[order], np.arange(n + 1))
    place = np.empty(len(low), dtype=np.int64)
    place[order] = np.arange(len(low)) - np.repeat(ends[:-1], np.diff(ends))
    coo = m.tocoo()
    outer_low, outer_high = propagate_bounds(m, low, high)
    entry_block = label[coo.coords[1]]
    # Entries by block, then by row: the rows of a block are numbered where the row changes.
    by_block = np.lexsort((coo.coords[0], entry_block))
    cuts = np.searchsorted(entry_block[by_block], np.arange(len(ends)))
    rows, columns = coo.coords[0][by_block], place[coo.coords[1]][by_block]
    data = coo.data[by_block]
    blocks = []
    for b in range(len(ends) - 1):
        own = order[ends[b] : ends[b + 1]]
        part = slice(cuts[b], cuts[b + 1])
        mine = rows[part]
        starts = np.flatnonzero(np.diff(mine, prepend=-1))
        matrix = sparse.csr_array(
            (data[part], columns[part], np.append(starts, len(mine))),
            shape=(len(starts), len(own)),
        )
        blocks.append(Block(matrix, low[own], high[own], outer_low[own], outer_high[own]))
    return blocks, place


def shrink(
    m: sparse.csr_array, low: Floats, high: Floats
) -> tuple[sparse.csr_array, Ints, Floats, Floats, Floats]:
    """Drop unknowns that are 0 and join unknowns that are tied; see the module.

    Returns the relations left, each old unknown's new one (-1: it is 0) and ratio to it, and new bounds.
    """
    own = np.arange(m.shape[1])
    ratio = np.ones(m.shape[1])
    while True:
        zero = (high <= 0) & (low >= 0)
        m.eliminate_zeros()
        m = m[np.diff(m.indptr) > 0]
        count = np.diff(m.indptr)
        zero[m.indices[m.indptr[:-1][count == 1]]] = True
        pairs = np.flatnonzero(count == 2)
        if not zero.any() and not len(pairs):
            return m, own, ratio, low, high
        first, second = m.indptr[pairs], m.indptr[pairs] + 1
        step_own, step_ratio, dead = tie(
            m.shape[1],
            m.indices[first],
            m.indices[second],
            -m.data[first] / m.data[second],
        )
        zero |= dead
        # A whole class is 0 as soon as one of its members is.
        lost = np.zeros(step_own.max(initial=-1) + 1, dtype=bool)
        lost[step_own[zero]] = True
        alive = np.flatnonzero(~lost)
        number = np.full(len(lost), -1)
        number[alive] = np.arange(len(alive))
        low, high = class_bounds(step_own, step_ratio, low, high, len(lost))
        low, high = low[alive], high[alive]
        new = number[step_own]
        keep = np.flatnonzero(new >= 0)
        fold = sparse.csr_array(
            (step_ratio[keep], (keep, new[keep])), shape=(m.shape[1], len(alive))
        )
        m = sparse.csr_array(m @ fold)
        m.data[np.abs(m.data) < SAME] = 0.0
        moving = own >= 0
        ratio[moving] *= step_ratio[own[moving]]
        own[moving] = new[own[moving]]


def tie(n: int, a: Ints, b: Ints, factor: Floats) -> tuple[Ints, Floats, Flags]:
    """Join unknowns with x_b = factor * x_a.

    Returns the class of each unknown, its ratio to the class, and which are 0 because their ties disagree.
    """
    key = np.minimum(a, b) * n + np.maximum(a, b)
    _, once = np.unique(key, return_index=True)
    i, j, f = a[once], b[once], factor[once]
    graph = sparse.csr_array((np.ones(len(i)), (i, j)), shape=(n, n))
    count, label = connected_components(graph, directed=False)
    roots = np.unique(label, return_index=True)[1]
    # One more vertex above all roots gives a single search; ratios multiply along its paths.
    top = n
    search = sparse.csr_array(
        (
            np.ones(len(i) + count),
            (np.concatenate([i, np.full(count, top)]), np.concatenate([j, roots])),
        ),
        shape=(n + 1, n + 1),
    )
    _, above = breadth_first_order(search, top, directed=False, return_predecessors=True)
    above = above.astype(np.int64)
    above[top] = top
    step = np.ones(n + 1)
    forward = above[j] == i
    step[j[forward]] = f[forward]
    backward = above[i] == j
    step[i[backward]] = 1.0 / f[backward]
    while (above != top).any():
        step *= step[above]
        above = above[above]
    ratio = step[:n]
    gap = np.abs(ratio[b] - factor * ratio[a]) > SAME * np.maximum(1.0, np.abs(ratio[b]))
    dead = np.zeros(count, dtype=bool)
    dead[label[a[gap]]] = True
    return label.astype(np.int64), ratio, dead[label]


def class_bounds(
    own: Ints, ratio: Floats, low: Floats, high: Floats, n: int
) -> tuple[Floats, Floats]:
    """Return the bounds of classes: those of all members at once."""
    a, b = low / ratio, high / ratio
    least, most = np.full(n, -np.inf), np.full(n, np.inf)
    np.maximum.at(least, own, np.minimum(a, b))
    np.minimum.at(most, own, np.maximum(a, b))
    return least, most


def drop_repeated_relations(m: sparse.csr_array) -> sparse.csr_array:
    """Return the relations without repetitions, up to a factor.

    Equal rows have equal products with two fixed random vectors; that unequal ones have, both being
    sums of 53-bit random numbers, does not happen.
    """
    m.sort_indices()
    if not m.shape[0] or not m.nnz:
        return m
    scale = 1.0 / m.data[m.indptr[:-1]]
    rng = np.random.default_rng(20_011)
    keys = (m @ rng.random((m.shape[1], 2))) * scale[:, None]
    keys = np.round(keys, 10)
    _, first = np.unique(keys, axis=0, return_index=True)
    return sparse.csr_array(m[np.sort(first)])


def propagate_bounds(m: sparse.csr_array, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Return bounds that follow from single relations, repeatedly applied; 0 stays inside."""
    low, high = lower, upper
    for _ in range(PASSES):
        before = low, high
        low, high = tighten_bounds(m, np.zeros(m.shape[0]), low, high, 1)
        low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
        if np.array_equal(low, before[0]) and np.array_equal(high, before[1]):
            break
    return low, high


def tighten_bounds(
    m: sparse.csr_array,
    right: Floats,
    lower: Floats,
    upper: Floats,
    passes: int,
    slack: float = np.inf,
) -> tuple[Floats, Floats]:
    """Return bounds of x that follow from single rows of m x = right, repeatedly applied.

    It ends when nothing moves, or some lower bound is above an upper one by more than the slack.
    """
    low, high = lower.copy(), upper.copy()
    rows = np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))
    columns, a = m.indices, m.data
    for _ in range(passes):
        least = np.where(a > 0, a * low[columns], a * high[columns])
        most = np.where(a > 0, a * high[columns], a * low[columns])
        at_most = right[rows] - sum_other_entries(least, rows, m.shape[0])
        at_least = right[rows] - sum_other_entries(most, rows, m.shape[0])
        new_low, new_high = low.copy(), high.copy()
        np.maximum.at(new_low, columns, np.where(a > 0, at_least, at_most) / a)
        np.minimum.at(new_high, columns, np.where(a > 0, at_most, at_least) / a)
        still = np.array_equal(new_low, low) and np.array_equal(new_high, high)
        low, high = new_low, new_high
        if still or (low > high + slack).any():
            break
    return low, high


def sum_other_entries(values: Floats, rows: Ints, n: int) -> Floats:
    """Return, for each entry, the sum of its row without itself; infinite entries are counted apart."""
    finite = np.isfinite(values)
    part = np.where(finite, values, 0.0)
    total = np.bincount(rows, weights=part, minlength=n)
    wild = np.bincount(rows, weights=~finite, minlength=n)
    rest = total[rows] - part
    left = wild[rows] - ~finite
    sign = np.bincount(rows, weights=np.where(finite, 0.0, np.sign(values)), minlength=n)
    return np.where(left > 0, np.where(sign[rows] > 0, np.inf, -np.inf), rest)
