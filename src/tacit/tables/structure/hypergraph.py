"""Hypergraphs of sparse matrices: nets, cuts, gains, and the kernels that match and move vertices.

The vertices are the rows of a pattern, its columns the nets: a column joins the rows in which it has an
entry, and is cut when these lie in more than one block. The kernels run as they stand and are compiled
with numba where it is installed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Ints
from tacit.numerics.kernels import Kernels
from tacit.tables.suppress.problem import incidence


class Hypergraph(NamedTuple):
    """Vertices and nets, each listed by the other."""

    start: Ints  # the nets of each vertex, as in a compressed sparse row matrix
    nets: Ints
    begin: Ints  # the vertices of each net
    pins: Ints
    weight: Ints  # of each vertex
    cost: Ints  # of each net, when it is cut

    @property
    def n(self) -> int:
        """Return the number of vertices."""
        return len(self.weight)

    @classmethod
    def of(cls, pattern: sparse.csr_array, weight: Ints | None = None) -> Hypergraph:
        """Make one from a pattern, one vertex per row; nets that cannot matter are left out.

        A net of one vertex is never cut, and equal nets are cut together: they are merged.
        """
        coo = pattern.tocoo()
        vertices = coo.coords[0].astype(np.int64)
        nets = coo.coords[1].astype(np.int64)
        unit = np.ones(pattern.shape[0], dtype=np.int64) if weight is None else weight
        return build_hypergraph(vertices, nets, unit, np.ones(pattern.shape[1], dtype=np.int64))


def build_hypergraph(vertices: Ints, nets: Ints, weight: Ints, cost: Ints) -> Hypergraph:
    """Make a hypergraph from pairs (vertex, net), repetitions allowed."""
    n, m = len(weight), len(cost)
    key = np.unique(nets * n + vertices)
    net, pin = np.divmod(key, n)
    size = np.bincount(net, minlength=m)
    keep = size > 1
    first = merge_nets(net, pin, size, keep, n)
    # Each kept net carries the cost of all that equal it.
    total = np.bincount(first[keep], weights=cost[keep], minlength=m).astype(np.int64)
    chosen = np.flatnonzero(total > 0)
    number = np.full(m, -1, dtype=np.int64)
    number[chosen] = np.arange(len(chosen))
    inside = number[net] >= 0
    net, pin = number[net[inside]], pin[inside]
    begin = np.concatenate([[0], np.cumsum(size[chosen])]).astype(np.int64)
    order = np.argsort(pin, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(pin, minlength=n))]).astype(np.int64)
    return Hypergraph(start, net[order], begin, pin, weight, total[chosen])


def merge_nets(net: Ints, pin: Ints, size: Ints, keep: Flags, n: int) -> Ints:
    """Return for each net the first one with the same vertices.

    Equal nets have equal sums of fixed random 64-bit numbers of their vertices; were two others ever to
    share one, the cut of a level would be misjudged, and counted rightly on the matrix in the end.
    """
    rng = np.random.default_rng(20_063)
    marks = rng.integers(0, 2**63, n, dtype=np.int64).view(np.uint64)
    total = np.zeros(len(size), dtype=np.uint64)
    np.add.at(total, net, marks[pin])
    first = np.arange(len(size), dtype=np.int64)
    kept = np.flatnonzero(keep)
    if len(kept):
        _, where, own = np.unique(total[kept], return_index=True, return_inverse=True)
        first[kept] = kept[where[own]]
    return first


# -- definitions -------------------------------------------------------------------------------------


def net_cut(pattern: sparse.csr_array, part: npt.ArrayLike) -> int:
    """Return how many columns have entries in rows of more than one block."""
    return int(cut_nets(pattern, np.asarray(part, dtype=np.int64)).sum())


def cut_nets(pattern: sparse.csr_array, part: Ints) -> Flags:
    """Return which columns have entries in rows of more than one block."""
    coo = pattern.tocoo()
    own = part[coo.coords[0]]
    low = np.full(pattern.shape[1], np.iinfo(np.int64).max)
    high = np.full(pattern.shape[1], -1, dtype=np.int64)
    np.minimum.at(low, coo.coords[1], own)
    np.maximum.at(high, coo.coords[1], own)
    return high > low


def gains(pattern: sparse.csr_array, side: npt.ArrayLike) -> Ints:
    """Return by how much the net-cut of a bipartition falls when each row alone changes side."""
    part = np.asarray(side, dtype=np.int64)
    ones = incidence(pattern)
    right = ones.T @ part.astype(np.float64)
    size = np.asarray(ones.sum(axis=0)).ravel()
    coo = ones.tocoo()
    row, column = coo.coords
    mine = np.where(part[row] == 1, right[column], size[column] - right[column])
    theirs = size[column] - mine
    step = ((mine == 1) & (theirs > 0)).astype(np.int64) - ((mine > 1) & (theirs == 0))
    return np.bincount(row, weights=step, minlength=pattern.shape[0]).astype(np.int64)


# -- kernels -------------------------------------------------------------------------------------


def match(h: Hypergraph, order: Ints, side: Ints, heaviest: int, wide: int, scaled: bool) -> Ints:
    """Match each vertex with the free neighbour that shares most with it; return the pairs' numbers.

    Ties go to the lighter one. ``scaled`` divides a net's cost by its size, as long nets say less.
    """
    start, nets, begin, pins, weight, cost = h
    n = len(weight)
    mate = np.full(n, -1, dtype=np.int64)
    score = np.zeros(n)
    touched = np.empty(n, dtype=np.int64)
    number = 0
    for v in order:
        if mate[v] >= 0:
            continue
        top = 0
        for i in range(start[v], start[v + 1]):
            e = nets[i]
            size = begin[e + 1] - begin[e]
            if size > wide:
                continue
            share = cost[e] / (size - 1) if scaled else float(cost[e])
            for j in range(begin[e], begin[e + 1]):
                u = pins[j]
                if (
                    u != v
                    and mate[u] < 0
                    and side[u] == side[v]
                    and weight[u] + weight[v] <= heaviest
                ):
                    if score[u] == 0.0:
                        touched[top] = u
                        top += 1
                    score[u] += share
        best = -1
        for i in range(top):
            u = touched[i]
            if (
                best < 0
                or score[u] > score[best] + 1e-12
                or (score[u] > score[best] - 1e-12 and weight[u] < weight[best])
            ):
                best = u
        mate[v] = number
        if best >= 0:
            mate[best] = number
        number += 1
        for i in range(top):
            score[touched[i]] = 0.0
    return mate


class Buckets(NamedTuple):
    """Vertices listed by side and gain, the last that came first; the highest gain that a side may hold."""

    head: Ints
    peak: Ints
    after: Ints
    before: Ints


def put_first(lists: Buckets, v: int, side: int, gain: int) -> None:
    """Put a vertex at the head of its list."""
    follower = lists.head[side, gain]
    lists.after[v] = follower
    lists.before[v] = -1
    if follower >= 0:
        lists.before[follower] = v
    lists.head[side, gain] = v
    lists.peak[side] = max(lists.peak[side], gain)


def take_out(lists: Buckets, v: int, side: int, gain: int) -> None:
    """Take a vertex out of its list."""
    leader, follower = lists.before[v], lists.after[v]
    if leader >= 0:
        lists.after[leader] = follower
    else:
        lists.head[side, gain] = follower
    if follower >= 0:
        lists.before[follower] = leader


def refine(h: Hypergraph, side: Ints, cap: Ints, passes: int, patience: int) -> int:
    """Move vertices between two sides while that lowers the cut (changes ``side``); return the cut.

    A pass moves every vertex at most once, the one with the largest gain first, and keeps the best
    prefix: least overweight, then least cut, then most even. A side may be overweight by one vertex on
    the way, and must then give one back.
    """
    start, nets, begin, pins, weight, cost = h
    n, m = len(weight), len(cost)
    counts = np.zeros((m, 2), dtype=np.int64)
    total = np.zeros(2, dtype=np.int64)
    top = 0
    slack = 0
    for v in range(n):
        total[side[v]] += weight[v]
        slack = max(slack, weight[v])
        degree = 0
        for i in range(start[v], start[v + 1]):
            degree += cost[nets[i]]
            counts[nets[i], side[v]] += 1
        top = max(top, degree)
    cut = 0
    for e in range(m):
        if counts[e, 0] > 0 and counts[e, 1] > 0:
            cut += cost[e]
    lists = Buckets(
        np.empty((2, 2 * top + 1), dtype=np.int64),
        np.empty(2, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(n, dtype=np.int64),
    )
    head, peak, after = lists.head, lists.peak, lists.after
    gain = np.empty(n, dtype=np.int64)
    free = np.empty(n, dtype=np.bool_)
    moved = np.empty(n, dtype=np.int64)
    for _ in range(passes):
        head[:] = -1
        peak[:] = 0
        for v in range(n):
            s = side[v]
            g = 0
            for i in range(start[v], start[v + 1]):
                e = nets[i]
                if counts[e, 1 - s] == 0:
                    g -= cost[e]
                elif counts[e, s] == 1:
                    g += cost[e]
            gain[v] = g
            free[v] = True
            put_first(lists, v, s, g + top)
        best_excess = max(0, total[0] - cap[0]) + max(0, total[1] - cap[1])
        best_cut = cut
        best_uneven = abs(total[0] * cap[1] - total[1] * cap[0])
        first_excess, first_cut = best_excess, best_cut
        kept = 0
        n_moved = 0
        while n_moved < n and n_moved - kept < patience:
            chosen = -1
            over = -1
            if total[0] > cap[0]:
                over = 0
            elif total[1] > cap[1]:
                over = 1
            for s in range(2):
                if over >= 0 and s != over:
                    continue
                while peak[s] > 0 and head[s, peak[s]] < 0:
                    peak[s] -= 1
                b = peak[s]
                looked = 0
                found = -1
                while b >= 0 and looked < 64 and found < 0:
                    v = head[s, b]
                    while v >= 0 and looked < 64:
                        looked += 1
                        if over >= 0 or total[1 - s] + weight[v] <= cap[1 - s] + slack:
                            found = v
                            break
                        v = after[v]
                    b -= 1
                if found >= 0 and (
                    chosen < 0
                    or gain[found] > gain[chosen]
                    or (
                        gain[found] == gain[chosen]
                        and total[s] - cap[s] > total[1 - s] - cap[1 - s]
                    )
                ):
                    chosen = found
            if chosen < 0:
                break
            v = chosen
            s = side[v]
            t = 1 - s
            # Take it out of its list, and lock it.
            free[v] = False
            take_out(lists, v, s, gain[v] + top)
            cut -= gain[v]
            side[v] = t
            total[s] -= weight[v]
            total[t] += weight[v]
            for i in range(start[v], start[v + 1]):
                e = nets[i]
                w = cost[e]
                c_s, c_t = counts[e, s], counts[e, t]
                counts[e, s] -= 1
                counts[e, t] += 1
                # Only nets that are nearly on one side change anybody's gain.
                if c_t > 1 and c_s > 2:
                    continue
                for j in range(begin[e], begin[e + 1]):
                    u = pins[j]
                    if not free[u]:
                        continue
                    step = 0
                    if c_t == 0:
                        step += w
                    elif c_t == 1 and side[u] == t:
                        step -= w
                    if c_s == 1:
                        step -= w
                    elif c_s == 2 and side[u] == s:
                        step += w
                    if step == 0:
                        continue
                    take_out(lists, u, side[u], gain[u] + top)
                    gain[u] += step
                    put_first(lists, u, side[u], gain[u] + top)
            moved[n_moved] = v
            n_moved += 1
            excess = max(0, total[0] - cap[0]) + max(0, total[1] - cap[1])
            uneven = abs(total[0] * cap[1] - total[1] * cap[0])
            if excess < best_excess or (
                excess == best_excess
                and (cut < best_cut or (cut == best_cut and uneven < best_uneven))
            ):
                best_excess, best_cut, best_uneven = excess, cut, uneven
                kept = n_moved
        for i in range(n_moved - 1, kept - 1, -1):
            v = moved[i]
            s = side[v]
            side[v] = 1 - s
            total[s] -= weight[v]
            total[1 - s] += weight[v]
            for j in range(start[v], start[v + 1]):
                counts[nets[j], s] -= 1
                counts[nets[j], 1 - s] += 1
        cut = best_cut
        if best_excess == first_excess and best_cut == first_cut:
            break
    return cut


KERNELS = Kernels(globals(), match, put_first, take_out, refine)
