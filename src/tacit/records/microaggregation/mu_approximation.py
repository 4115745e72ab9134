"""mu-Approx: groups from a forest of nearest-neighbour edges."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.mdav_groups import split_large
from tacit.records.microaggregation.grouping.near import find_nearest_records
from tacit.registry import register


@register
class MuApproximation(GroupingMethod):
    """Replace numbers by the means of groups cut from a forest of nearest neighbours (mu-Approx).

    While a tree has fewer than k records, one of them is joined to its nearest record outside. Trees that
    grow too large are split, and groups of 2k or more are split again by MDAV. The loss is at most
    2 (2k - 1) max(2k - 1, 3k - 5)^2 times the least possible: a bound of theoretical interest, which real
    files stay far below.

    References
    ----------
    Domingo-Ferrer, Sebé, Solanas (2008), A polynomial-time approximation to optimal multivariate
    microaggregation, Computers and Mathematics with Applications 55, 714-732.
    """

    kind: Literal["mu_approximation"] = "mu_approximation"

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records.

        A tree of fewer than k records has one record without an outgoing edge, which is joined. Trees of more
        than max(2k - 1, 3k - 5) records are split: from the lowest record the search moves into the largest
        subtree until at least k - 1 records lie outside it, and either an edge is cut, or whole subtrees leave
        together with the record in their middle, of which a dummy stays behind to keep the rest connected (or
        the other way round). Trees are taken, and records visited, in record order, which the papers leave
        open, so that published figures are met within a few per cent only. O(n log n) in few columns.

        References
        ----------
        Aggarwal, Feder, Kenthapadi, Motwani, Panigrahy, Thomas, Zhu (2005), Approximation algorithms for
        k-anonymity, Journal of Privacy Technology 20051120001.
        """
        del rng
        n = len(x)
        if n < self.k:
            raise InputError(f"groups of {self.k} need at least {self.k} records")
        if n < 2 * self.k:
            return np.zeros(n, dtype=np.int64)
        tick("a forest of nearest neighbours", None)
        # A tree of fewer than k records holds at most k - 2 others, so one of k - 1 neighbours is outside.
        run = KERNELS.pick(15 * n)
        target = run["grow_forest"](find_nearest_records(x, self.k - 1)[0], self.k)
        tick("splitting trees", None)
        labels = run["split_forest"](target, self.k, max(2 * self.k - 1, 3 * self.k - 5))
        return split_large(x, labels, self.k, tick)


def bound(k: int) -> int:
    """Return the factor by which the SSE of mu-Approx is at most above the optimum: 54 for k = 2."""
    return 2 * (2 * k - 1) * max(2 * k - 1, 3 * k - 5) ** 2


class Slots(NamedTuple):
    """Places in trees; one holds a record or, as a dummy, none."""

    record: Ints
    part: Ints
    head: Ints  # first half-edge of each slot
    follow: Ints  # next half-edge of the same slot
    to: Ints  # the slot at its other end
    order: Ints  # of the last walk through a part
    above: Ints
    below: Ints


def root(parent: Any, v: int) -> int:
    """Return the representative of a tree."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


def grow_forest(near: Any, k: int) -> Any:
    """Return the record that each record has an edge to, or -1, when all trees have k records."""
    n = len(near)
    parent = np.arange(n)
    size = np.ones(n, dtype=np.int64)
    # The one record of each tree that has no outgoing edge.
    free = np.arange(n)
    target = np.full(n, -1, dtype=np.int64)
    for v in range(n):
        tree = root(parent, v)
        while size[tree] < k:
            u = free[tree]
            for w in near[u]:
                other = root(parent, w)
                if other != tree:
                    break
            target[u] = w
            parent[tree] = other
            size[other] += size[tree]
            tree = other
    return target


def split_forest(target: Any, k: int, largest: int) -> Any:
    """Return the groups of a forest's trees, split until none has more than ``largest`` records.

    Slots of one part are adjacent when a tree edge joins them, so that giving slots a new part cuts the edges
    to it. A part that cannot be split at the slot where the search ends (a dummy with three subtrees of nearly
    k records) stays whole.
    """
    n = len(target)
    room = 2 * n + 1
    edges = 8 * n + 8
    s = Slots(
        np.full(room, -1, dtype=np.int64),
        np.full(room, -1, dtype=np.int64),
        np.full(room, -1, dtype=np.int64),
        np.empty(edges, dtype=np.int64),
        np.empty(edges, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.empty(room, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
    )
    record, part, head, follow, to, below = s.record, s.part, s.head, s.follow, s.to, s.below
    record[:n] = np.arange(n)
    m = 0
    for v in range(n):
        if target[v] >= 0:
            m = link_slots(s, m, v, target[v])
    branches = np.empty(room, dtype=np.int64)
    stack = np.empty(room, dtype=np.int64)
    slots = n
    groups = 0
    waiting = 0
    for v in range(n):
        if part[v] >= 0:
            continue
        # All slots of the tree become one part.
        recolour_part(s, v, -1, groups)
        groups += 1
        stack[waiting] = v
        waiting += 1
        while waiting > 0:
            waiting -= 1
            u = stack[waiting]
            while True:
                mine = part[u]
                weigh_slots(s, u)
                total = below[u]
                if total <= largest:
                    break
                # Into the largest subtree, until enough lies outside it.
                while True:
                    heavy = -1
                    e = head[u]
                    while e >= 0:
                        w = to[e]
                        if part[w] == mine and (heavy < 0 or below[w] > below[heavy]):
                            heavy = w
                        e = follow[e]
                    outside = total - below[heavy]
                    if outside >= k or (outside == k - 1 and record[heavy] >= 0):
                        break
                    u = heavy
                    weigh_slots(s, u)
                real = record[u] >= 0
                if below[heavy] >= k and outside >= k:
                    recolour_part(s, heavy, u, groups)
                    stack[waiting] = heavy
                    waiting += 1
                    groups += 1
                    continue
                if outside == k - 1:
                    # The side of u takes the root of the heavy subtree with it.
                    recolour_part(s, u, heavy, groups)
                    record[slots] = record[heavy]
                    record[heavy] = -1
                    part[slots] = groups
                    m = link_slots(s, m, slots, u)
                    slots += 1
                    groups += 1
                    u = heavy
                    continue
                # All subtrees have fewer than k: the largest leave together.
                c = 0
                e = head[u]
                while e >= 0:
                    if part[to[e]] == mine:
                        branches[c] = to[e]
                        c += 1
                    e = follow[e]
                chosen = branches[:c][np.argsort(-below[branches[:c]], kind="mergesort")]
                taken = 0
                gathered = 0
                goal = k - 1 if real else k
                while gathered < goal:
                    gathered += below[chosen[taken]]
                    taken += 1
                with_u = real and total - 1 - gathered >= k
                if not with_u and (gathered < k or total - gathered < k):
                    break
                for i in range(taken):
                    recolour_part(s, chosen[i], u, groups)
                part[slots] = groups
                for i in range(taken):
                    m = link_slots(s, m, slots, chosen[i])
                if with_u:
                    record[slots] = record[u]
                    record[u] = -1
                stack[waiting] = slots
                waiting += 1
                slots += 1
                groups += 1
    labels = np.empty(n, dtype=np.int64)
    for slot in range(slots):
        if record[slot] >= 0:
            labels[record[slot]] = part[slot]
    return labels


def link_slots(s: Slots, m: int, a: int, b: int) -> int:
    """Add an edge between two slots; return the number of half-edges."""
    s.to[m] = b
    s.follow[m] = s.head[a]
    s.head[a] = m
    s.to[m + 1] = a
    s.follow[m + 1] = s.head[b]
    s.head[b] = m + 1
    return m + 2


def weigh_slots(s: Slots, u: int) -> None:
    """Count the records at and below each slot of a part seen from u."""
    part, order, above, below = s.part, s.order, s.above, s.below
    order[0] = u
    above[u] = -1
    count = 1
    i = 0
    while i < count:
        v = order[i]
        below[v] = 1 if s.record[v] >= 0 else 0
        e = s.head[v]
        while e >= 0:
            w = s.to[e]
            if part[w] == part[u] and w != above[v]:
                above[w] = v
                order[count] = w
                count += 1
            e = s.follow[e]
        i += 1
    for i in range(count - 1, 0, -1):
        below[above[order[i]]] += below[order[i]]


def recolour_part(s: Slots, v: int, stop: int, new: int) -> None:
    """Give the slots of a part that are on v's side of another slot (-1: all of them) to a new part."""
    part, order = s.part, s.order
    old = part[v]
    order[0] = v
    part[v] = new
    count = 1
    i = 0
    while i < count:
        e = s.head[order[i]]
        while e >= 0:
            w = s.to[e]
            if part[w] == old and w != stop:
                part[w] = new
                order[count] = w
                count += 1
            e = s.follow[e]
        i += 1


KERNELS = Kernels(
    globals(), root, grow_forest, link_slots, weigh_slots, recolour_part, split_forest
)
