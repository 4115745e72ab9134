"""MHM: the best groups of consecutive records on a path."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.mdav_groups import mdav
from tacit.records.microaggregation.optimal_univariate import group_along_order
from tacit.registry import register


@register
class PathGroups(GroupingMethod):
    """Replace numbers by the means of the best groups of consecutive records on a path (MHM).

    The path goes from the record farthest from the mean to the nearest record next, through all of an MDAV
    group before it enters another. The recursion of Hansen and Mukherjee finds the groups of consecutive
    records with the least loss. MDAV's groups are among those, so the loss is never above MDAV's.

    References
    ----------
    Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), Efficient multivariate data-oriented
    microaggregation, VLDB Journal 15, 355-369.
    """

    kind: Literal["path_groups"] = "path_groups"

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records, in O(n^2 p / k + n k p)."""
        labels = mdav(x, self.k, rng=rng, tick=tick)
        tick("a path through the records", None)
        first = int(((x - x.mean(axis=0)) ** 2).sum(axis=1).argmax())
        members = np.argsort(labels, kind="stable")
        start = np.searchsorted(labels[members], np.arange(labels.max() + 2))
        return group_along_order(
            x,
            KERNELS.pick(0.6 * len(start) ** 2 * x.shape[1])["path"](
                x, labels, members, start, first
            ),
            self.k,
        )


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


KERNELS = Kernels(globals(), path)
