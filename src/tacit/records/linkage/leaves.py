"""Leaves: points cut at medians into small boxes, and kernels that search them box by box.

Points of a leaf lie side by side in memory, coordinate by coordinate, so that distances to a whole leaf
are vector arithmetic; leaves whose box is too far away are left out. In few dimensions that does what a
k-d tree does, in many it is a plain scan at the speed of the processor. All distances are squared and
summed from differences: nothing cancels, and the answer is exact.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Kernels

#: Points in a leaf, and queries that are looked up together.
LEAF, TILE = 128, 32


@dataclass(frozen=True)
class Leaves:
    """Points in leaves.

    ``order`` has the points leaf by leaf, ``start`` where each leaf begins (its last entry is their number), ``low`` and
    ``high`` the box of each leaf and ``points`` the points in that order, one row per coordinate.
    """

    order: Ints
    start: Ints
    low: Floats
    high: Floats
    points: Floats


def build_leaves(x: Floats, size: int = LEAF) -> Leaves:
    """Cut points into leaves of at most a size, at the median of the widest side."""
    n = len(x)
    order = np.arange(n)
    depth = max(0, math.ceil(math.log2(max(n, 1) / size)))
    bounds = [0, n]
    for _ in range(depth):
        cut = [0]
        for begin, end in itertools.pairwise(bounds):
            part = order[begin:end]
            values = x[part]
            side = int(np.argmax(values.max(axis=0) - values.min(axis=0)))
            middle = (end - begin) // 2
            order[begin:end] = part[np.argpartition(values[:, side], middle)]
            cut += [begin + middle, end]
        bounds = cut
    start = np.array(bounds, dtype=np.int64)
    points = np.ascontiguousarray(x[order].T)
    low = np.stack([np.minimum.reduceat(row, start[:-1]) for row in points])
    high = np.stack([np.maximum.reduceat(row, start[:-1]) for row in points])
    return Leaves(order, start, low, high, points)


# -- kernels -----------------------------------------------------------------------------------------


def decay(t: Any) -> Any:
    """Return exp(-t) for t up to 36, of numbers and of arrays: the same to the last bit.

    exp(-t / 64) by its series, squared six times; within 10^-14 of the truth.
    """
    x = t / -64.0
    total = 1.0 + x / 14.0
    for n in range(13, 0, -1):
        total = 1.0 + total * x / n
    for _ in range(6):
        total = total * total
    return total


def leaf_distances(points: Any, begin: int, end: int, query: Any, out: Any) -> None:
    """Write the squared distances of a query to the points of a leaf."""
    size = end - begin
    for i in range(size):
        out[i] = 0.0
    for j in range(len(query)):
        here = query[j]
        row = points[j, begin:end]
        for i in range(size):
            gap = here - row[i]
            out[i] += gap * gap


def box_gaps(low: Any, high: Any, q_low: Any, q_high: Any, out: Any) -> None:
    """Write the squared distances of one box to many; each box of the many is a column."""
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(len(q_low)):
        top, bottom = q_high[j], q_low[j]
        row_low, row_high = low[j], high[j]
        for i in range(len(out)):
            gap = max(row_low[i] - top, bottom - row_high[i], 0.0)
            out[i] += gap * gap


def two_nearest(boxes: Any, queries: Any, tiles: Any, first: Any, best: Any) -> None:
    """Find the nearest point of each query, and the distances of the nearest two.

    ``boxes`` are points, starts and bounds of the leaves. ``queries`` stand tile by tile, between the bounds ``tiles``;
    ``first`` and ``best`` (two columns) are written.
    """
    points, start, low, high = boxes
    p, n_leaves = queries.shape[1], len(start) - 1
    near = np.empty(np.diff(start).max())
    gaps, own = np.empty(n_leaves), np.empty(n_leaves)
    q_low, q_high = np.empty(p), np.empty(p)
    near_low, near_high = np.empty((p, n_leaves)), np.empty((p, n_leaves))
    for tile in range(len(tiles) - 1):
        begin, end = tiles[tile], tiles[tile + 1]
        for j in range(p):
            q_low[j], q_high[j] = queries[begin:end, j].min(), queries[begin:end, j].max()
        box_gaps(low, high, q_low, q_high, gaps)
        home = np.argmin(gaps)
        bound = 0.0
        for q in range(begin, end):
            first[q] = -1
            best[q, 0], best[q, 1] = np.inf, np.inf
            scan(points, start, home, queries[q], near, q, first, best)
            bound = max(bound, best[q, 1])
        chosen = np.flatnonzero(gaps <= bound)
        chosen = chosen[np.argsort(gaps[chosen], kind="mergesort")]
        size = len(chosen)
        for j in range(p):
            for at in range(size):
                near_low[j, at] = low[j, chosen[at]]
                near_high[j, at] = high[j, chosen[at]]
        for q in range(begin, end):
            box_gaps(near_low, near_high, queries[q], queries[q], own[:size])
            for at in range(size):
                if own[at] <= best[q, 1] and chosen[at] != home:
                    scan(points, start, chosen[at], queries[q], near, q, first, best)


def scan(
    points: Any, start: Any, leaf: Any, query: Any, near: Any, q: int, first: Any, best: Any
) -> None:
    """Compare a query with the points of one leaf."""
    begin, end = start[leaf], start[leaf + 1]
    leaf_distances(points, begin, end, query, near)
    least, second = best[q, 0], best[q, 1]
    for i in range(end - begin):
        distance = near[i]
        if distance < second:
            if distance < least:
                least, second = distance, least
                first[q] = begin + i
            else:
                second = distance
    best[q, 0], best[q, 1] = least, second


def sum_within_distance(
    boxes: Any, queries: Any, limit: Any, amount: Any, number: Any, out: Any, lowest: Any
) -> None:
    """Sum the amounts of the points within a squared distance of each query; keep the lowest number."""
    points, start, low, high = boxes
    near, gaps = np.empty(np.diff(start).max()), np.empty(len(start) - 1)
    for q in range(len(queries)):
        out[q] = 0
        lowest[q] = np.iinfo(np.int64).max
        box_gaps(low, high, queries[q], queries[q], gaps)
        for leaf in range(len(gaps)):
            if gaps[leaf] > limit[q]:
                continue
            leaf_distances(points, start[leaf], start[leaf + 1], queries[q], near)
            for i in range(start[leaf + 1] - start[leaf]):
                if near[i] <= limit[q]:
                    out[q] += amount[start[leaf] + i]
                    lowest[q] = min(lowest[q], number[start[leaf] + i])


def likelihoods(boxes: Any, queries: Any, least: Any, reach: float, amount: Any, out: Any) -> None:
    """Sum exp(-(d - least) / 2) over the points whose squared distance d is below least + reach."""
    points, start, low, high = boxes
    near, gaps = np.empty(np.diff(start).max()), np.empty(len(start) - 1)
    for q in range(len(queries)):
        limit = least[q] + reach
        total = 0.0
        box_gaps(low, high, queries[q], queries[q], gaps)
        for leaf in range(len(gaps)):
            if gaps[leaf] > limit:
                continue
            leaf_distances(points, start[leaf], start[leaf + 1], queries[q], near)
            for i in range(start[leaf + 1] - start[leaf]):
                if near[i] <= limit:
                    total += amount[start[leaf] + i] * decay((near[i] - least[q]) / 2)
        out[q] = total


KERNELS = Kernels(
    globals(), decay, leaf_distances, box_gaps, scan, two_nearest, sum_within_distance, likelihoods
)
