"""Groups from the minimum spanning tree."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse.csgraph
from scipy import sparse
from scipy.spatial import cKDTree

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.mdav_groups import split_large
from tacit.records.microaggregation.grouping.near import connected_parts
from tacit.registry import register

#: Neighbours looked up first for each record.
FIRST = 8


@register
class SpanningTreeGroups(GroupingMethod):
    """Replace numbers by the means of groups cut from the minimum spanning tree.

    Edges of the tree are looked at from the longest to the shortest, and one is removed when both of its
    sides keep at least k records. Parts of 2k records or more are then split by MDAV.

    References
    ----------
    Laszlo, Mukherjee (2005), Minimum spanning tree partitioning algorithm for microaggregation, IEEE
    Transactions on Knowledge and Data Engineering 17, 902-911.
    """

    kind: Literal["spanning_tree_groups"] = "spanning_tree_groups"

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records; the tree is exact at every size."""
        del rng
        edges, weights = minimum_tree(x, tick)
        tick("removing edges", None)
        labels = cut(len(x), edges[np.lexsort((edges[:, 1], edges[:, 0], -weights))], self.k)
        return split_large(x, labels, self.k, tick)


# -- the tree ----------------------------------------------------------------------------------


def minimum_tree(x: Floats, tick: Tick) -> tuple[Ints, Floats]:
    """Return the edges of the Euclidean minimum spanning tree and their squared lengths; exact.

    Borůvka's rounds on a k-d tree: every part of the forest is joined to the nearest record outside it,
    which is looked for among more and more neighbours of those records that could be the nearest. Alike
    records are joined first. Equal lengths are ordered by record number.
    """
    points, first, twin = np.unique(x, axis=0, return_index=True, return_inverse=True)
    twin = twin.reshape(-1)
    doubles = np.setdiff1d(np.arange(len(x)), first)
    chains = np.column_stack([first[twin[doubles]], doubles])
    between, weights = join(points, tick)
    edges = np.sort(np.vstack([chains, first[between]]), axis=1)
    return edges, np.concatenate([np.zeros(len(chains)), weights])


def join(points: Floats, tick: Tick) -> tuple[Ints, Floats]:
    """Return the minimum spanning tree of distinct points."""
    n = len(points)
    tree = cKDTree(points)
    part = np.arange(n)
    edges = np.empty((0, 2), dtype=np.int64)
    weights = np.empty(0)
    parts = n
    while parts > 1:
        tick("minimum spanning tree", 1.0 - parts / n)
        ends, lengths = find_leaving_edges(points, tree, part, parts)
        edges, at = np.unique(np.vstack([edges, np.sort(ends, axis=1)]), axis=0, return_index=True)
        weights = np.concatenate([weights, lengths])[at]
        part = connected_parts(n, edges)
        parts = int(part.max()) + 1
    return edges, weights


def find_leaving_edges(
    points: Floats, tree: cKDTree, part: Ints, parts: int
) -> tuple[Ints, Floats]:
    """Return the shortest edge out of each part."""
    n = len(points)
    best = np.full(parts, np.inf)
    ends = np.full((parts, 2), n, dtype=np.int64)
    open_ = np.arange(n)
    count = min(FIRST, n - 1)
    while len(open_):
        near = tree.query(points[open_], count + 1)[1].reshape(len(open_), -1)
        squared = ((points[near] - points[open_][:, None, :]) ** 2).sum(axis=2)
        shorten(best, ends, part, open_, near, squared)
        # Another neighbour could only be nearer than the best if the farthest one found is not beyond it.
        open_ = open_[squared.max(axis=1) <= best[part[open_]]] if count < n - 1 else open_[:0]
        count = min(2 * count, n - 1)
    return ends, best


def shorten(best: Floats, ends: Ints, part: Ints, here: Ints, near: Ints, squared: Floats) -> None:
    """Replace the shortest edges out of parts by shorter ones, or equal ones that come first."""
    outside = part[near] != part[here][:, None]
    row, column = np.nonzero(outside)
    a, b = here[row], near[row, column]
    low, high = np.minimum(a, b), np.maximum(a, b)
    whose = part[a]
    length = squared[row, column]
    order = np.lexsort((high, low, length, whose))
    whose, low, high, length = whose[order], low[order], high[order], length[order]
    first = np.flatnonzero(np.concatenate([[True], whose[1:] != whose[:-1]]) if len(whose) else [])
    at = whose[first]
    # An edge comes before another that is longer, or as long and of higher record numbers.
    a, b = ends[at, 0], ends[at, 1]
    lower = (low[first] < a) | ((low[first] == a) & (high[first] < b))
    better = (length[first] < best[at]) | ((length[first] == best[at]) & lower)
    keep, at = first[better], at[better]
    best[at] = length[keep]
    ends[at] = np.column_stack([low[keep], high[keep]])


# -- removing edges ----------------------------------------------------------------------------


def cut(n: int, edges: Ints, k: int) -> Ints:
    """Return the parts of a tree after removing edges, in their order, where both sides keep k."""
    if n < 2 * k:
        return np.zeros(n, dtype=np.int64)
    graph = sparse.coo_array(
        (np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n)
    ).tocsr()
    order, parent = scipy.sparse.csgraph.breadth_first_order(graph, 0, directed=False)
    child = np.where(parent[edges[:, 0]] == edges[:, 1], edges[:, 0], edges[:, 1])
    return KERNELS.pick(5 * n)["cut_edges"](
        order.astype(np.int64), parent.astype(np.int64), child, k
    )


def cut_edges(order: Any, parent: Any, child: Any, k: int) -> Any:
    """Return the parts after removing the edges above some records, in their order."""
    n = len(order)
    size = np.ones(n, dtype=np.int64)
    above = parent.copy()
    above[order[0]] = -1
    for i in range(n - 1, 0, -1):
        size[parent[order[i]]] += size[order[i]]
    for c in child:
        if size[c] < k:
            continue
        top = c
        while above[top] >= 0:
            top = above[top]
        if size[top] - size[c] < k:
            continue
        v = above[c]
        above[c] = -1
        while v >= 0:
            size[v] -= size[c]
            v = above[v]
    labels = np.empty(n, dtype=np.int64)
    groups = 0
    for v in order:
        if above[v] < 0:
            labels[v] = groups
            groups += 1
        else:
            labels[v] = labels[above[v]]
    return labels


KERNELS = Kernels(globals(), cut_edges)
