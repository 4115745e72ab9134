"""Optimal groups along an order: Hansen and Mukherjee's recursion, on one variable or on a path."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.mdav_groups import mdav


def optimal_univariate(x: Floats, k: int, *, rng: np.random.Generator, tick: Tick) -> Ints:
    """Return the groups of one variable that have the least SSE of all groups of at least k.

    Optimal groups are consecutive in sorted order and have k to 2k - 1 records, so that with the values
    sorted

        f(0) = 0,    f(j) = min over s = k..2k-1 of f(j - s) + SSE(x_(j-s+1), ..., x_(j)),

    in O(n log n + n k). Ties go to the smaller group.

    References
    ----------
    Hansen, Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation, IEEE
    Transactions on Knowledge and Data Engineering 15, 1043-1044.
    """
    del rng
    values = x.reshape(len(x), -1)
    if values.shape[1] != 1:
        raise InputError(
            "optimal_univariate groups one column at a time; use path, mdav or optimal for several"
        )
    tick("optimal groups", None)
    return group_along_order(values, np.argsort(values[:, 0], kind="stable"), k)


def path_groups(x: Floats, k: int, *, rng: np.random.Generator, tick: Tick) -> Ints:
    """Return the best groups of consecutive records on a path through the records (MHM).

    The path starts at the record farthest from the mean and goes to the nearest record next, through all
    of an MDAV group before it enters another; Hansen and Mukherjee's recursion with the multivariate SSE
    then finds the optimal groups of consecutive records. MDAV's own groups are among them, so that the
    SSE is never above MDAV's. O(n^2 p / k + n k p).

    References
    ----------
    Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), Efficient multivariate data-oriented
    microaggregation, VLDB Journal 15, 355-369.
    """
    labels = mdav(x, k, rng=rng, tick=tick)
    tick("a path through the records", None)
    first = int(((x - x.mean(axis=0)) ** 2).sum(axis=1).argmax())
    members = np.argsort(labels, kind="stable")
    start = np.searchsorted(labels[members], np.arange(labels.max() + 2))
    return group_along_order(
        x,
        KERNELS.pick(0.6 * len(start) ** 2 * x.shape[1])["path"](x, labels, members, start, first),
        k,
    )


def group_along_order(x: Floats, order: Ints, k: int) -> Ints:
    """Return the optimal groups of at least k consecutive records in an order."""
    if len(x) < k:
        raise InputError(f"groups of {k} need at least {k} records")
    labels = np.empty(len(x), dtype=np.int64)
    labels[order] = KERNELS.pick(len(x) * k * x.shape[1])["recursion"](
        np.ascontiguousarray(x[order], dtype=np.float64), k
    )
    return labels


def recursion(x: Any, k: int) -> Any:
    """Return the groups of rows in order.

    The SSE of the last s rows is updated row by row from the end (Welford): prefix sums of squares would
    lose all digits of groups that are narrow compared with the whole.
    """
    n, p = x.shape
    longest = 2 * k - 1 if n >= 2 * k else n
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    size = np.zeros(n + 1, dtype=np.int64)
    mean = np.empty(p)
    for j in range(k, n + 1):
        mean[:] = x[j - 1]
        sse = 0.0
        for s in range(1, min(longest, j) + 1):
            for q in range(p):
                away = x[j - s, q] - mean[q]
                mean[q] += away / s
                sse += away * (x[j - s, q] - mean[q])
            if s >= k and least[j - s] + sse < least[j]:
                least[j] = least[j - s] + sse
                size[j] = s
    labels = np.empty(n, dtype=np.int64)
    groups = 0
    j = n
    while j > 0:
        labels[j - size[j] : j] = groups
        groups += 1
        j -= size[j]
    return groups - 1 - labels


def path(x: Any, labels: Any, members: Any, start: Any, first: int) -> Any:
    """Return the records in order: nearest next, a group before another."""
    n, p = x.shape
    left = members.copy()
    place = np.empty(n, dtype=np.int64)
    for i in range(n):
        place[left[i]] = i
    many = n
    order = np.empty(n, dtype=np.int64)
    seen = np.zeros(n, dtype=np.bool_)
    here = first
    for step in range(n):
        order[step] = here
        seen[here] = True
        many -= 1
        moved = left[many]
        left[place[here]] = moved
        place[moved] = place[here]
        best = np.inf
        there = -1
        g = labels[here]
        for i in range(start[g], start[g + 1]):
            v = members[i]
            if not seen[v]:
                away = 0.0
                for q in range(p):
                    gap = x[v, q] - x[here, q]
                    away += gap * gap
                if away < best:
                    best = away
                    there = v
        if there < 0:
            for i in range(many):
                v = left[i]
                away = 0.0
                for q in range(p):
                    gap = x[v, q] - x[here, q]
                    away += gap * gap
                    if away > best:
                        break
                if away < best or (away == best and v < there):
                    best = away
                    there = v
        here = there
    return order


KERNELS = Kernels(globals(), recursion, path)
