"""The nearest record of another file, exactly, with its ties: squared Euclidean distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.events import side_by_side
from tacit.records.linkage.leaves import KERNELS, TILE, Leaves, build_leaves, decay
from tacit.records.linkage.rows import distinct_rows

#: Distances tie when they differ by less than this share of the smaller one ...
TIE = 1e-12
#: ... or by less than this share of the squared length of the query: what rounding makes of equal points.
ROUNDING = 1e-24
#: A point this much farther than the nearest (squared) has no likelihood worth adding: exp(-36).
REACH = 72.0
WORKERS = 2
#: Work of a k-d tree for one query and column, and on one number of an array, in turns of a loop.
TREE, ARRAYS = 2.0, 0.03
#: Leaves of queries given to a worker at once; between two of them the search can be stopped.
CHUNK = 128

Tick = Callable[[str, float | None], None]


def ignore_progress(_message: str, _share: float | None) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class Links:
    """The nearest record of a file for each record of another one, the first of equally near ones; -1 when there is none.

    ``distance`` and ``second`` are the squared distances of it and of the next record, which is that of a tied one the same;
    ``ties`` counts the records that are equally near.
    """

    nearest: Ints
    distance: Floats
    second: Floats
    ties: Ints

    def __len__(self) -> int:
        return len(self.nearest)


def find_nearest_rows(a: Floats, b: Floats, tick: Tick = ignore_progress) -> Links:
    """Return for each row of ``a`` the nearest row of ``b``.

    Equal rows are looked up once only, and equal targets are one point that counts several times.
    """
    asked, found = distinct_rows(a), distinct_rows(b)
    queries, points = a[asked.first], b[found.first]
    first, best = two_nearest(queries, points, tick)
    links = resolve_links(queries, points, first, best, found.first, found.count)
    at = asked.of
    return Links(links.nearest[at], links.distance[at], links.second[at], links.ties[at])


def find_own_chance(a: Floats, b: Floats, own: Ints, tick: Tick = ignore_progress) -> Floats:
    """Return the chance that the nearest row of ``b`` is a row's own one, those that tie sharing it."""
    links = find_nearest_rows(a, b, tick)
    hit = compute_squared_distances(a, b[own]) <= tie_limit(links.distance, a)
    return np.where(hit, 1.0 / np.maximum(links.ties, 1), 0.0)


def tie_limit(distance: Floats, queries: Floats) -> Floats:
    """Return the squared distance up to which a record ties with the nearest one."""
    size: Floats = np.einsum("ij,ij->i", queries, queries)
    return np.asarray(distance * (1 + TIE) + ROUNDING * (1 + size), dtype=np.float64)


def resolve_links(
    queries: Floats, points: Floats, first: Ints, best: Floats, number: Ints, count: Ints
) -> Links:
    """Return the links of distinct queries and points, ties counted."""
    link, ties = number[first].copy(), count[first].copy()
    second = np.where(ties > 1, best[:, 0], best[:, 1])
    limit = tie_limit(best[:, 0], queries)
    tied = np.flatnonzero(best[:, 1] <= limit)
    if len(tied):
        ties[tied], link[tied] = count_within(queries[tied], points, limit[tied], count, number)
    return Links(link, best[:, 0].copy(), second, ties)


# -- searching ---------------------------------------------------------------------------------------


def two_nearest(queries: Floats, points: Floats, tick: Tick) -> tuple[Ints, Floats]:
    """Return the nearest point of each query and the squared distances of the nearest two."""
    if not KERNELS.pays(TREE * len(queries) * queries.shape[1] ** 2):
        return by_tree(queries, points)
    leaves, asked = build_leaves(points), build_leaves(queries, TILE)
    ordered = np.ascontiguousarray(queries[asked.order])
    first = np.empty(len(queries), dtype=np.int64)
    best = np.empty((len(queries), 2))
    run = KERNELS.compiled()["two_nearest"]

    def work(begin: int, end: int) -> None:
        tiles = asked.start[begin : end + 1]
        at = slice(int(tiles[0]), int(tiles[-1]))
        run(boxes(leaves), ordered[at], tiles - tiles[0], first[at], best[at])

    in_chunks(work, len(asked.start) - 1, CHUNK, tick)
    back_first, back_best = np.empty_like(first), np.empty_like(best)
    back_first[asked.order] = leaves.order[first]
    back_best[asked.order] = best
    return back_first, back_best


def by_tree(queries: Floats, points: Floats) -> tuple[Ints, Floats]:
    """Return the same by a k-d tree: slower in many dimensions."""
    from scipy.spatial import cKDTree

    k = min(4, len(points))
    _, found = cKDTree(points).query(queries, k=k, workers=-1)
    found = np.asarray(found, dtype=np.int64).reshape(len(queries), k)
    near = np.full((len(queries), max(k, 2)), np.inf)
    for rank in range(k):
        near[:, rank] = compute_squared_distances(queries, points[found[:, rank]])
    # The tree rounds in its own way: where more points may be among the nearest two, all are looked at.
    order = np.argsort(near, axis=1, kind="stable")
    best = np.take_along_axis(near, order[:, :2], axis=1)
    first = np.take_along_axis(found, order[:, :1], axis=1)[:, 0]
    if k < len(points):
        for i in np.flatnonzero(near.max(axis=1) <= best[:, 1] * (1 + 1e-9) + 1e-300):
            all_of = compute_squared_distances(np.broadcast_to(queries[i], points.shape), points)
            first[i], best[i] = all_of.argmin(), np.partition(all_of, 1)[:2]
    return first, best


def compute_squared_distances(a: Floats, b: Floats) -> Floats:
    """Return the squared distances of rows that belong together, summed column by column."""
    total = np.zeros(len(a))
    for x, y in zip(a.T, b.T, strict=True):
        total += (x - y) ** 2
    return total


def count_within(
    queries: Floats, points: Floats, limit: Floats, count: Ints, number: Ints
) -> tuple[Ints, Ints]:
    """Return how many records lie within a squared distance of each query, and the lowest position."""
    total = np.zeros(len(queries), dtype=np.int64)
    lowest = np.zeros(len(queries), dtype=np.int64)
    if KERNELS.pays(TREE * len(queries) * queries.shape[1]):
        leaves = build_leaves(points)
        at = leaves.order
        run = KERNELS.compiled()["sum_within_distance"]
        run(boxes(leaves), queries, limit, count[at], number[at], total, lowest)
        return total, lowest
    from scipy.spatial import cKDTree

    # A little too far, then each distance is looked at again.
    around = cKDTree(points).query_ball_point(queries, np.sqrt(limit) * (1 + 1e-9) + 1e-150)
    for i, near in enumerate(around):
        near = np.array(near, dtype=np.int64)
        close = near[
            compute_squared_distances(np.broadcast_to(queries[i], points[near].shape), points[near])
            <= limit[i]
        ]
        total[i], lowest[i] = count[close].sum(), number[close].min()
    return total, lowest


def match_probability(a: Floats, b: Floats, links: Links, tick: Tick = ignore_progress) -> Floats:
    """Return the chance that the link is right when squared distances are chi-square of the true pair.

    With a metric that whitens the error between a record and its release, the likelihood of a pair is
    exp(-d / 2); the chance of the linked record is its share of the sum over all records. Records whose
    likelihood is below exp(-36) of the link's are left out.
    """
    found = distinct_rows(b)
    points = b[found.first]
    total = np.ones(len(a))
    leaves = build_leaves(points)
    amount = found.count[leaves.order].astype(np.float64)
    if KERNELS.pays(ARRAYS * len(a) * points.size):
        run = KERNELS.compiled()["likelihoods"]

        def work(begin: int, end: int) -> None:
            at = slice(begin, end)
            run(boxes(leaves), a[at], links.distance[at], REACH, amount, total[at])

        in_chunks(work, len(a), 4096, tick)
    else:
        for i in range(0, len(a), 256):
            tick("match probabilities", i / len(a))
            total[i : i + 256] = sum_likelihoods(
                a[i : i + 256], leaves.points, links.distance[i : i + 256], amount
            )
    return np.asarray(1.0 / np.maximum(total, 1.0), dtype=np.float64)


def sum_likelihoods(queries: Floats, points: Floats, least: Floats, amount: Floats) -> Floats:
    """Do what the kernel ``likelihoods`` does on whole arrays, adding in the same order."""
    gap = np.zeros((len(queries), points.shape[1]))
    for column, row in zip(queries.T, points, strict=True):
        gap += (column[:, None] - row[None, :]) ** 2
    near = gap <= (least + REACH)[:, None]
    terms = np.zeros_like(gap)
    terms[near] = decay(((gap - least[:, None]) / 2)[near])
    return np.asarray(np.cumsum(terms * amount, axis=1)[:, -1])


def boxes(leaves: Leaves) -> tuple[Any, ...]:
    """Return what every kernel takes first."""
    return leaves.points, leaves.start, leaves.low, leaves.high


def in_chunks(work: Callable[[int, int], None], n: int, size: int, tick: Tick) -> None:
    """Do pieces of work side by side, telling how far they are."""
    starts = range(0, n, size)

    def one(begin: int) -> None:
        tick("looking for nearest records", begin / max(n, 1))
        work(begin, min(begin + size, n))

    if len(starts) < 2:
        for begin in starts:
            one(begin)
        return
    for _ in side_by_side(one, starts, WORKERS):
        pass
