"""The space in which k-Similar clusters: coded tuples, their ancestors, and integer costs.

A tuple is a row of ancestors, attribute after attribute, from the ground to one level below the top.
Two tuples share an ancestor at a level exactly when the entries there agree, and agreement goes on
above it; so a cluster is described by any one of its tuples and one level per attribute:

    level(A + B) = max(level(A), level(B), common level of one tuple of A and one of B).

Costs are whole numbers: level / height is multiplied by the least common multiple of the heights, so
that sums are exact and ties are ties.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints

Codes = npt.NDArray[np.int32]

#: Above this, the multiple of the heights is cut off and costs are rounded to a part in 10^9.
MAX_SCALE = 2**30
#: Steps into which the recipient's tolerances are divided.
TOLERANCE_STEPS = 1000
#: Largest entries looked at in one go when the nearest tuples are found.
CHUNK = 1 << 22


@dataclass(frozen=True)
class Space:
    """Distinct tuples (cells) under hierarchies."""

    #: One row per cell: its ancestors at levels 0 .. height - 1 of each attribute in turn.
    paths: Codes
    #: Where each attribute begins in a row of ``paths``, and the row's length.
    starts: Ints
    #: Records in each cell.
    n: Ints
    #: Price of one level, in whole numbers, for a record: what the search minimises.
    unit: Ints
    #: Price of one level without the recipient's profile: ``scale / height``.
    plain: Ints
    #: The price of climbing from the ground to the top.
    scale: int

    def __len__(self) -> int:
        return len(self.n)

    @property
    def heights(self) -> Ints:
        """Return the height of each attribute's hierarchy."""
        return np.diff(self.starts)

    @property
    def total(self) -> int:
        """Return the number of records."""
        return int(self.n.sum())

    def take(self, cells: npt.NDArray[np.integer[Any]]) -> Space:
        """Return the space of some of the cells."""
        return replace(self, paths=self.paths[cells], n=self.n[cells])

    def without_profile(self) -> Space:
        """Return the space in which all attributes are tolerated alike."""
        return replace(self, unit=self.plain)


@dataclass(frozen=True)
class Partition:
    """Clusters as pieces: ``n`` records of ``cell`` are in ``cluster``.

    A cell may be divided among clusters: records with equal tuples need not stay together, and a
    large cell may lend records to a cluster that lacks some.
    """

    cell: Ints
    cluster: Ints
    n: Ints

    def __len__(self) -> int:
        return int(self.cluster.max(initial=-1)) + 1

    def sizes(self) -> Ints:
        """Return the number of records of each cluster."""
        return np.bincount(self.cluster, weights=self.n, minlength=len(self)).astype(np.int64)

    def tidy(self) -> Partition:
        """Return the same clusters, numbered by their lowest cell, pieces in that order."""
        numbers = np.unique(self.cluster, return_inverse=True)[1]
        lowest = np.full(int(numbers.max(initial=-1)) + 1, np.iinfo(np.int64).max)
        np.minimum.at(lowest, numbers, self.cell)
        rank = np.empty(len(lowest), dtype=np.int64)
        rank[np.lexsort((np.arange(len(lowest)), lowest))] = np.arange(len(lowest))
        cluster = rank[numbers]
        order = np.lexsort((self.cell, cluster))
        return Partition(self.cell[order], cluster[order], self.n[order])


def build(
    lifts: Sequence[Sequence[npt.NDArray[Any]]],
    codes: Sequence[npt.NDArray[Any]],
    n: Ints,
    tolerance: Sequence[float] = (),
) -> Space:
    """Return the space of coded cells.

    For each attribute ``lifts`` holds, for each level from the ground to the top, the map from code to label, ``codes``
    the code of each cell, and ``tolerance``, empty without a profile, how much distortion the recipient tolerates.
    """
    heights = [len(lift) - 1 for lift in lifts]
    columns = [
        lift[level][c]
        for lift, c, h in zip(lifts, codes, heights, strict=True)
        for level in range(h)
    ]
    paths = (
        np.stack(columns, axis=1).astype(np.int32)
        if columns
        else np.empty((len(n), 0), dtype=np.int32)
    )
    lcm = math.lcm(*heights) if heights else 1
    scale = min(lcm, MAX_SCALE)
    plain = np.array([round(scale / h) for h in heights], dtype=np.int64)
    unit = with_profile(plain, heights, scale, int(n.sum()), tolerance)
    starts = np.concatenate([[0], np.cumsum(heights)]).astype(np.int64)
    return Space(paths, starts, n.astype(np.int64), unit, plain, scale)


def with_profile(
    plain: Ints, heights: Sequence[int], scale: int, total: int, tolerance: Sequence[float]
) -> Ints:
    """Return prices in which less tolerated attributes cost an infinitesimal more.

    The plain price is multiplied by more than all the extra could ever add up to, so the order of
    total distances never changes. Where the numbers would not fit, the tolerances are coarsened, and
    left out in the end.
    """
    most = max(tolerance, default=0.0)
    if not most or min(tolerance) == most:
        return plain
    for steps in (TOLERANCE_STEPS, 100, 10, 1):
        extra = np.array([round(steps * (1 - t / most)) for t in tolerance], dtype=np.int64) * plain
        room = 1 + total * sum(int(e) * h for e, h in zip(extra, heights, strict=True))
        if total * len(heights) * (scale + 1) * room < 2**62:
            return plain * room + extra
    return plain


def profile_used(space: Space) -> bool:
    """Return True when the prices hold a recipient's profile."""
    return not np.array_equal(space.unit, space.plain)


def common_levels(space: Space, one: npt.NDArray[Any], other: npt.NDArray[Any]) -> Ints:
    """Return, for pairs of cells, the level of the lowest common ancestor of each attribute."""
    differ = space.paths[one] != space.paths[other]
    return np.add.reduceat(differ, space.starts[:-1], axis=-1, dtype=np.int64)


def cluster_levels(space: Space, partition: Partition) -> Ints:
    """Return one row per cluster: the level of the common ancestor of each attribute."""
    order = np.argsort(partition.cluster, kind="stable")
    cells, clusters = partition.cell[order], partition.cluster[order]
    begins = np.flatnonzero(np.diff(clusters, prepend=-1))
    levels = np.zeros((len(partition), len(space.unit)), dtype=np.int64)
    if len(begins):
        far = common_levels(
            space, cells, np.repeat(cells[begins], np.diff(begins, append=len(cells)))
        )
        levels[clusters[begins]] = np.maximum.reduceat(far, begins, axis=0)
    return levels


def price(space: Space, partition: Partition, unit: Ints | None = None) -> int:
    """Return the total cost of a partition: every record pays its cluster's levels."""
    each = cluster_levels(space, partition) @ (space.plain if unit is None else unit)
    return int((partition.sizes() * each).sum())


def level_vectors(space: Space) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield every vector of levels with its price, cheapest first."""
    prices = [int(u) for u in space.plain]
    heights = [int(h) for h in space.heights]
    ground = (0,) * len(heights)
    queue = [(0, ground)]
    # A vector is reached from the one that is lower in its last raised attribute: each only once.
    while queue:
        cost, levels = heapq.heappop(queue)
        yield cost, levels
        last = max((a for a, level in enumerate(levels) if level), default=0)
        for a in range(last, len(levels)):
            if levels[a] < heights[a]:
                raised = (*levels[:a], levels[a] + 1, *levels[a + 1 :])
                heapq.heappush(queue, (cost + prices[a], raised))


def groups_at(space: Space, levels: Sequence[int]) -> tuple[Ints, int]:
    """Return the group of each cell when attributes are raised to levels, and the number of groups."""
    from tacit.engine.codes import group_ids

    columns = [
        space.paths[:, start + level]
        for start, level, height in zip(space.starts, levels, space.heights, strict=False)
        if level < height
    ]
    sizes = [int(c.max(initial=0)) + 1 for c in columns]
    return group_ids(columns, sizes, n_rows=len(space))


def record_bounds(space: Space, k: int, work: int = 40_000_000) -> Ints:
    """Return for each cell a price that each of its records pays at least, in any partition.

    A record whose cluster has the levels L shares all ancestors at L with at least k - 1 others, so it
    pays no less than the cheapest L at which k records share its ancestors. Vectors are tried
    cheapest first; when the work is used up, the next vector's price holds for all that are left.
    """
    bound = np.zeros(len(space), dtype=np.int64)
    waiting = np.ones(len(space), dtype=bool)
    for tried, (cost, levels) in enumerate(level_vectors(space)):
        bound[waiting] = cost
        if tried * max(len(space), 100) > work:
            break
        ids, n_groups = groups_at(space, levels)
        waiting &= np.bincount(ids, weights=space.n, minlength=n_groups)[ids] < k
        if not waiting.any():
            break
    return bound


def find_nearest_cells(space: Space, width: int) -> Codes:
    """Return for each cell itself and its nearest cells, nearest first; -1 fills short rows.

    All pairs are compared while there are few; otherwise those that stand close in several orders of
    the cells, each of which varies another attribute fastest.
    """
    n = len(space)
    width = min(width, n)
    if n * n <= CHUNK:
        everyone = np.broadcast_to(np.arange(n), (n, n))
        return keep_nearest(space, np.arange(n), everyone, width)
    orders = [
        order
        for a in range(len(space.unit))
        for order in (lexical(space, a + 1), lexical(space, a, by_level=True))
    ]
    reach = max(2, min(8, 128 // len(orders)))
    result = np.empty((n, width), dtype=np.int32)
    candidates = np.stack(
        [shift_order(order, by) for order in orders for by in range(-reach, reach + 1)], axis=1
    )
    rows = max(1, CHUNK // (candidates.shape[1] * max(1, space.paths.shape[1])))
    for begin in range(0, n, rows):
        some = np.arange(begin, min(n, begin + rows))
        result[some] = keep_nearest(space, some, candidates[some], width)
    return result


def keep_nearest(
    space: Space, cells: npt.NDArray[Any], candidates: npt.NDArray[Any], width: int
) -> Codes:
    """Return the nearest of each cell's candidates, each once, ties by number."""
    each = common_levels(space, cells[:, None], candidates) @ space.unit
    found = np.sort(candidates, axis=1)
    each = np.take_along_axis(each, np.argsort(candidates, axis=1, kind="stable"), axis=1)
    each[:, 1:][found[:, 1:] == found[:, :-1]] = np.iinfo(np.int64).max
    order = np.argsort(each, axis=1, kind="stable")[:, :width]
    kept = np.take_along_axis(found, order, axis=1).astype(np.int32)
    kept[np.take_along_axis(each, order, axis=1) == np.iinfo(np.int64).max] = -1
    if kept.shape[1] < width:
        kept = np.pad(kept, ((0, 0), (0, width - kept.shape[1])), constant_values=-1)
    return kept


def lexical(space: Space, first: int, *, by_level: bool = False) -> Ints:
    """Return the order of cells by attributes from the first on, top level first; or by levels, top of all first."""
    attributes = [*range(first, len(space.unit)), *range(first)]
    columns = [
        (depth, i, end - 1 - depth) if by_level else (i, depth, end - 1 - depth)
        for i, end in enumerate(int(space.starts[a + 1]) for a in attributes)
        for depth in range(int(space.heights[attributes[i]]))
    ]
    return np.lexsort([space.paths[:, c] for _, _, c in sorted(columns, reverse=True)])


def shift_order(order: Ints, by: int) -> Codes:
    """Return for each cell the one that stands ``by`` places after it in an order, round the end."""
    result = np.empty(len(order), dtype=np.int32)
    result[order] = np.roll(order, -by)
    return result
