"""MDAV: groups of k around the record farthest from the middle, and around the one farthest from that.

Two implementations give the same groups, record for record: one scans arrays, the other asks a k-d tree
and is compiled. Both measure squared distances as the sum of squared differences from the first column to
the last, and the mean of what is left as its exact sum, rounded once, over its number, kept up to date in
doubled precision. So ties are ties, and they go to the lowest record number.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.context import ignore_progress
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.grouping import tree as _tree
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.tree import (
    Room,
    Tree,
    find_farthest,
    find_nearest,
    recentre,
    remove_record,
)

#: Work on one number while scanning, in turns of a loop, and what each scan costs beside, in columns.
SCAN, COLUMNS = 1.5e-3, 3
#: Share of records taken away since the arrays were last made shorter, at most.
TAKEN = 0.05
#: Nearest records up to which they are looked for one by one.
FEW = 8
#: Groups formed between two ticks.
BATCH = 500
#: The tree is rebuilt when no more than this share of its records is left.
REPLANT = 0.6
#: Its bounds are measured again from the mean of what is left when this share is left since the last time.
RECENTRE = 0.99


def mdav(x: Floats, k: int, *, rng: np.random.Generator, tick: Tick) -> Ints:
    """Return the groups of MDAV with two seeds per round; with 2k to 3k - 1 records left there is one seed."""
    del rng
    return form_mdav_groups(x, k, 2, tick)


def form_mdav_groups(x: Floats, k: int, seeds: int, tick: Tick) -> Ints:
    """Return the groups of MDAV with one or two seeds per round.

    With one seed, also known as CBFS, the mean is taken again after every group. The figures under the name of
    MDAV in two papers of 2006 (Domingo-Ferrer, Sebé; Fayyoumi, Oommen) are this variant's.
    """
    labels = form_outer_groups(x, k, seeds, 2 * k, tick)
    labels[labels < 0] = labels.max() + 1
    return labels


def form_outer_groups(x: Floats, k: int, seeds: int, until: int, tick: Tick) -> Ints:
    """Return the groups that MDAV forms while at least ``until`` records are left, and -1 for the others."""
    if KERNELS.pays(SCAN * len(x) ** 2 * (COLUMNS + x.shape[1]) / k):
        return grow_groups_by_tree(x, k, seeds, until, tick)
    return form_groups_by_scan(x, k, seeds, until, tick)


def split_large(x: Floats, labels: Ints, k: int, tick: Tick = ignore_progress) -> Ints:
    """Return the groups with those of 2k records or more split by MDAV, which never raises the SSE."""
    out = labels.copy()
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(sizes)
    fresh = len(sizes)
    for group in np.flatnonzero(sizes >= 2 * k):
        part = order[ends[group] - sizes[group] : ends[group]]
        found = form_mdav_groups(x[part], k, 2, tick)
        out[part] = np.where(found == 0, group, fresh + found - 1)
        fresh += int(found.max())
    return out


# -- scanning arrays --------------------------------------------------------------------------------


def form_groups_by_scan(x: Floats, k: int, seeds: int, until: int, tick: Tick) -> Ints:
    """Form groups by computing all distances."""
    n = len(x)
    labels = np.full(n, -1, dtype=np.int64)
    rest = Rest.of(x)
    total = exact_sums(x)
    left, group = n, 0
    while left >= until:
        tick("forming groups", 1.0 - left / n)
        around = [rest.distances(rest.values[:, rest.distances(total[0] / left).argmax()])]
        if seeds == 2 and left >= 3 * k:
            around.append(rest.distances(rest.values[:, around[0].argmax()]))
        for distances in around:
            near = rest.nearest(distances, k)
            labels[rest.records[near]] = group
            total = without_all(total, rest.values[:, near])
            rest.take(near)
            left -= k
            group += 1
        rest = rest.shorten_arrays(left)
    return labels


class Rest:
    """The records that are left, column by column, with some that were taken away since the last look.

    Those are told by the distance -1, so that they are never farthest; before the nearest are looked for,
    it becomes infinite.
    """

    def __init__(self, records: Ints, values: Floats) -> None:
        self.records, self.values = records, values
        self.taken = np.empty(0, dtype=np.int64)
        self.work = np.empty_like(values)

    @classmethod
    def of(cls, x: Floats) -> Rest:
        """Return all records."""
        return cls(np.arange(len(x)), np.ascontiguousarray(x.T))

    def distances(self, point: Floats) -> Floats:
        """Return the squared distances from a point, added from the first column to the last."""
        np.subtract(self.values, point[:, None], out=self.work)
        np.multiply(self.work, self.work, out=self.work)
        found: Floats = np.add.reduce(self.work, axis=0)
        found[self.taken] = -1.0
        return found

    def nearest(self, distances: Floats, k: int) -> Ints:
        """Return the places of the k nearest records, in order; ties by place."""
        distances[self.taken] = np.inf
        if k > FEW:
            return find_k_smallest(distances, k)
        near = np.empty(k, dtype=np.int64)
        for i in range(k):
            near[i] = distances.argmin()
            distances[near[i]] = np.inf
        return near

    def take(self, near: Ints) -> None:
        """Take records away."""
        self.taken = np.concatenate([self.taken, near])

    def shorten_arrays(self, left: int) -> Rest:
        """Return shorter arrays once enough has been taken away."""
        if len(self.taken) <= TAKEN * left:
            return self
        keep = np.ones(len(self.records), dtype=bool)
        keep[self.taken] = False
        return Rest(self.records[keep], np.ascontiguousarray(self.values[:, keep]))


def compute_squared_distances(columns: Floats, point: Floats) -> Floats:
    """Return the squared distances of records, given by columns, from a point."""
    total = (columns[0] - point[0]) ** 2
    for column, value in zip(columns[1:], point[1:], strict=True):
        total += (column - value) ** 2
    return total


def find_k_smallest(distances: Floats, k: int) -> Ints:
    """Return where the k smallest distances are, in order; ties by position."""
    if len(distances) > 8 * k:
        edge = np.partition(distances, k - 1)[k - 1]
        at = np.flatnonzero(distances <= edge)
        return at[np.argsort(distances[at], kind="stable")[:k]]
    return np.argsort(distances, kind="stable")[:k]


def exact_sums(x: Floats) -> tuple[Floats, Floats]:
    """Return the sum of each column as two numbers: rounded, and what rounding left out."""
    high, low = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for j, column in enumerate(x.T):
        values = column.tolist()
        high[j] = math.fsum(values)
        values.append(-high[j])
        low[j] = math.fsum(values)
    return high, low


def subtract_exactly(total: tuple[Floats, Floats], value: Any) -> tuple[Any, Any]:
    """Return a sum in doubled precision after a value was taken off (Knuth's two-sum)."""
    high, low = total
    s = high - value
    back = s - high
    low = low + ((high - (s - back)) + (-value - back))
    rounded = s + low
    return rounded, low - (rounded - s)


def without_all(total: tuple[Floats, Floats], values: Floats) -> tuple[Floats, Floats]:
    """Return sums in doubled precision after several records were taken off, one after the other."""
    for value in values.T:
        total = subtract_exactly(total, value)
    return total


# -- asking a tree ----------------------------------------------------------------------------------


def grow_groups_by_tree(x: Floats, k: int, seeds: int, until: int, tick: Tick) -> Ints:
    """Form groups by asking a k-d tree for farthest and nearest records."""
    n = len(x)
    x = np.ascontiguousarray(x, dtype=np.float64)
    names = {**_tree.KERNELS.compiled(), **KERNELS.compiled()}
    labels = np.full(n, -1, dtype=np.int64)
    high, low = exact_sums(x)
    work = _tree.allocate_workspace(k, x.shape[1])
    left, group = n, 0
    while left >= until:
        tree = _tree.build_tree(x, np.flatnonzero(labels < 0), names)
        enough = max(until, int(REPLANT * left))
        while left >= enough:
            tick("forming groups", 1.0 - left / n)
            left, group = names["rounds"](
                x, k, seeds, tree, work, high, low, labels, left, group, enough, BATCH
            )
    return labels


def rounds(
    x: Floats,
    k: int,
    seeds: int,
    tree: Tree,
    work: Room,
    high: Floats,
    low: Floats,
    labels: Ints,
    left: int,
    group: int,
    until: int,
    most: int,
) -> tuple[int, int]:
    """Form groups while at least ``until`` records are left; return what is left and the groups so far."""
    p = x.shape[1]
    point = np.empty(p)
    stop = group + most
    again = left
    while left >= until and group < stop:
        for j in range(p):
            point[j] = high[j] / left
        if left <= again:
            recentre(tree, point)
            again = int(left * RECENTRE)
        first = find_farthest(tree, point, work)
        second = -1
        if seeds == 2 and left >= 3 * k:
            second = find_farthest(tree, x[first], work)
        for seed in (first, second):
            if seed < 0:
                continue
            find_nearest(tree, x[seed], k, work)
            for i in range(k):
                record = work.found[i]
                labels[record] = group
                remove_record(tree, record)
                for j in range(p):
                    high[j], low[j] = subtract_exactly((high[j], low[j]), x[record, j])
            left -= k
            group += 1
    return left, group


KERNELS = Kernels(globals(), subtract_exactly, rounds, needs=(_tree.KERNELS,))
