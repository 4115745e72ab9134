"""Polishing for k-Similar: parts of a partition are solved to their optimum, one after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from tacit.arrays import Ints
from tacit.records.generalisation.clusters_exact import TooLarge, by_programme
from tacit.records.generalisation.clusters_space import (
    Partition,
    Space,
    lexical,
    order_by_levels,
    price,
)
from tacit.time_limits import seconds_left

Tick = Callable[[float | None], None]

#: Pieces in one part.
PART = 36
#: Seconds for one part.
PART_SECONDS = 3.0
#: Share of the cost that a round over all parts must save to be worth another.
WORTHWHILE = 0.001


def polish(
    space: Space, k: int, start: Partition, *, seconds: float, tick: Tick = lambda _share: None
) -> tuple[Partition, bool]:
    """Solve parts of neighbouring clusters exactly; return the partition and whether it ended in time.

    Neighbours are taken from orders of the tuples in which another attribute varies fastest each time,
    until two rounds in turn save next to nothing. A part that has been solved is not solved again.
    """
    end = time.monotonic() + seconds
    orders = [
        order
        for a in range(len(space.unit))
        for order in (order_by_levels(space, a), lexical(space, a))
    ]
    best, idle, at = start, 0, 0
    solved: set[bytes] = set()
    while idle < 2 and space.total >= 2 * k:
        better = best
        for part in parts(best, orders[at % len(orders)], offset=at // len(orders) % 2):
            tick(None)
            left = seconds_left(end)
            if left <= 0:
                return better.tidy(), False
            better = solve_part(space, k, better, part, min(left, PART_SECONDS), solved)
        old, new = price(space, best, space.unit), price(space, better, space.unit)
        idle = idle + 1 if old - new <= WORTHWHILE * old else 0
        best, at = better.tidy(), at + 1
    return best, True


def parts(partition: Partition, order: Ints, offset: int) -> Iterator[Ints]:
    """Yield the clusters in runs of about ``PART`` pieces, in an order of the cells."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    lowest = np.full(len(partition), len(order), dtype=np.int64)
    np.minimum.at(lowest, partition.cluster, rank[partition.cell])
    clusters = np.argsort(lowest, kind="stable")
    pieces = np.bincount(partition.cluster, minlength=len(partition))[clusters]
    number = (np.cumsum(pieces) - pieces + offset * PART // 2) // PART
    yield from np.split(clusters, np.flatnonzero(np.diff(number)) + 1)


def solve_part(
    space: Space, k: int, partition: Partition, clusters: Ints, seconds: float, solved: set[bytes]
) -> Partition:
    """Return the partition with some of its clusters replaced by the best that their records can make."""
    inside = np.isin(partition.cluster, clusters)
    if partition.n[inside].sum() < 2 * k:
        return partition
    cells, local = np.unique(partition.cell[inside], return_inverse=True)
    n = np.bincount(local, weights=partition.n[inside]).astype(np.int64)
    part = Space(space.paths[cells], space.starts, n, space.unit, space.plain, space.scale)
    numbers = np.unique(partition.cluster[inside], return_inverse=True)[1]
    old = Partition(local.astype(np.int64), numbers.astype(np.int64), partition.n[inside])
    known = np.concatenate([cells, n]).tobytes()
    if known in solved or price(part, old) == 0:
        return partition
    solved.add(known)
    try:
        new = by_programme(part, k, old, seconds).partition
    except TooLarge:
        return partition
    if price(part, new, part.unit) >= price(part, old, part.unit):
        return partition
    shift = int(partition.cluster.max()) + 1
    return Partition(
        np.concatenate([partition.cell[~inside], cells[new.cell]]),
        np.concatenate([partition.cluster[~inside], new.cluster + shift]),
        np.concatenate([partition.n[~inside], new.n]),
    )
