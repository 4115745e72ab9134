"""Controlled rounding as a flow of least cost: exact for one- and two-way tables.

Every cell is an arc whose steps lie in a range, the relations are the balance of the nodes, so whole
steps come by themselves. The primal-dual method starts from each arc at its cheapest end and sends the
imbalances along shortest paths; costs that are not small are refined from coarse to fine.

References
----------
Cox (1987), A constructive procedure for unbiased controlled rounding, Journal of the American
Statistical Association 82, 520-524.
Ahuja, Magnanti, Orlin (1993), Network flows, Prentice Hall, chapters 9 and 10.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit.arrays import Ints
from tacit.numerics.kernels import Kernels
from tacit.tables.rounding.model import Model, Network

Tick = Callable[[float | None], None]

#: The largest whole cost that is solved in one go.
SMALL = 64
#: Real costs are cut to this many parts of the largest one.
PARTS = 2**30


class Flow(NamedTuple):
    """A flow and its network, as the kernels take them."""

    #: The arcs around node v: those that leave it lie from start[v] to middle[v], those that enter
    #: it from there to start[v + 1].
    start: Ints
    middle: Ints
    around: Ints
    #: Of each arc.
    tail: Any
    head: Any
    low: Ints
    high: Ints
    cost: Ints
    flow: Ints
    #: Of each node; the excess is what enters and does not leave.
    potential: Ints
    excess: Ints


def solve_flow(model: Model, network: Network, y: int = 0, tick: Tick | None = None) -> Ints | None:
    """Return the cheapest steps of the free cells with totals within y bases; None if there are none.

    The answer is optimal: exactly for whole costs, otherwise to 2^-30 of the largest cost a cell.
    """
    low, high = model.low.copy(), model.high.copy()
    low[model.margin] -= y
    high[model.margin] += y
    cost = whole_costs(model)
    nothing = np.zeros(network.nodes, dtype=np.int64)
    f = Flow(*arcs_around(network), low, high, cost, low.copy(), nothing, nothing.copy())
    run = KERNELS.pick(25 * len(cost))
    size = 0
    while int(np.abs(cost).max(initial=0)) >> size > SMALL:
        size += 2
    for shift in range(size, -1, -2):
        f = f._replace(cost=cost >> shift)
        saturate_arcs(f)
        while f.excess.any():
            if tick is not None:
                tick(None)
            if not run["lengthen_potentials"](f):
                return None
            while run["send"](f):
                pass
        f.potential[:] *= 4
    return f.flow[model.free]


def whole_costs(model: Model) -> Ints:
    """Return whole costs: the model's own, or parts of the largest."""
    cost = model.cost
    if (cost == np.rint(cost)).all() and np.abs(cost).max(initial=0) < 2**40:
        return cost.astype(np.int64)
    return np.rint(cost / (float(np.abs(cost).max()) / PARTS)).astype(np.int64)


def arcs_around(network: Network) -> tuple[Ints, Ints, Ints, Any, Any]:
    """Return the first fields of a flow: the arcs that leave and then those that enter each node."""
    ends = np.concatenate([network.tail, network.head]).astype(np.int64)
    order = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[order], np.arange(network.nodes + 1)).astype(np.int64)
    leaving = np.bincount(network.tail, minlength=network.nodes).astype(np.int64)
    around = (order % len(network.tail)).astype(np.int64)
    return start, start[:-1] + leaving, around, network.tail, network.head


def saturate_arcs(f: Flow) -> None:
    """Put every arc at its cheapest end, and note what each node has too much."""
    reduced = f.cost + f.potential[f.tail] - f.potential[f.head]
    inside = np.clip(f.flow, f.low, f.high)
    f.flow[:] = np.where(reduced < 0, f.high, np.where(reduced > 0, f.low, inside))
    f.excess[:] = 0
    np.subtract.at(f.excess, f.tail, f.flow)
    np.add.at(f.excess, f.head, f.flow)


def draw_unbiased_steps(model: Model, network: Network, rng: np.random.Generator) -> Ints:
    """Return random steps whose expectation is the table itself (Cox 1987).

    Cycles of cells that are no multiples are moved either way, with the probabilities that keep the
    expectation, until one of their cells is a multiple; every such cell stays one.
    """
    if model.exact:
        unit = int(model.base)
        ground = model.residual[model.free].astype(np.int64)
    else:
        unit = PARTS
        ground = np.rint(model.residual[model.free] / model.base * unit).astype(np.int64)
    amount = model.spread(ground)
    draws = rng.random(len(amount))
    start, _, around, tail, head = arcs_around(network)
    KERNELS.pick(25 * len(amount))["cancel_cycles"](start, around, tail, head, amount, unit, draws)
    return amount[model.free] // unit


# -- kernels: numbers and arrays only -----------------------------------------------------------------


def lengthen_potentials(f: Flow) -> bool:
    """Add to each potential the shortest distance from a node with too much; False if none has too little."""
    n = len(f.excess)
    distance = np.full(n, np.int64(2**62), dtype=np.int64)
    heap: list[Any] = [(np.int64(0), v) for v in range(n) if f.excess[v] > 0]
    for _, v in heap:
        distance[v] = 0
    last = np.int64(0)
    found = False
    while len(heap) > 0:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        last = d
        found = found or f.excess[u] < 0
        for k in range(f.start[u], f.start[u + 1]):
            a = f.around[k]
            leaves = k < f.middle[u]
            if leaves and f.flow[a] < f.high[a]:
                v, new = f.head[a], d + f.cost[a]
            elif not leaves and f.flow[a] > f.low[a]:
                v, new = f.tail[a], d - f.cost[a]
            else:
                continue
            new += f.potential[u] - f.potential[v]
            if new < distance[v]:
                distance[v] = new
                heapq.heappush(heap, (new, np.int64(v)))
    for v in range(n):
        f.potential[v] += min(distance[v], last)
    return found


def follow(f: Flow, u: int, k: int) -> tuple[int, bool]:
    """Return the node behind the k-th arc of a node, and whether a shortest path can go on along it."""
    a = f.around[k]
    if k < f.middle[u]:
        v = f.head[a]
        return v, f.flow[a] < f.high[a] and f.cost[a] + f.potential[u] == f.potential[v]
    v = f.tail[a]
    return v, f.flow[a] > f.low[a] and f.potential[u] - f.cost[a] == f.potential[v]


def send(f: Flow) -> int:
    """Send flow along shortest paths of free arcs until they are blocked; return how much went."""
    n = len(f.excess)
    level = np.full(n, -1, dtype=np.int64)
    queue = np.zeros(n, dtype=np.int64)
    back = 0
    for v in range(n):
        if f.excess[v] > 0:
            level[v] = 0
            queue[back] = v
            back += 1
    front = 0
    reached = np.int64(2**62)
    while front < back and level[queue[front]] < reached:
        u = queue[front]
        front += 1
        for k in range(f.start[u], f.start[u + 1]):
            v, free = follow(f, u, k)
            if level[v] < 0 and free:
                level[v] = level[u] + 1
                queue[back] = v
                back += 1
                if f.excess[v] < 0:
                    reached = level[v]
    if reached == np.int64(2**62):
        return 0
    pointer = f.start[:n].copy()
    nodes = np.zeros(n + 1, dtype=np.int64)
    path = np.zeros(n + 1, dtype=np.int64)
    sent = 0
    for s in range(n):
        depth = 0
        nodes[0] = s
        while depth >= 0 and f.excess[s] > 0:
            u = nodes[depth]
            if f.excess[u] < 0:
                amount, keep = send_along(f, nodes, path, depth)
                sent += amount
                depth = min(keep, depth - 1) if f.excess[u] == 0 else keep
                continue
            while pointer[u] < f.start[u + 1]:
                v, free = follow(f, u, pointer[u])
                if free and level[v] == level[u] + 1:
                    break
                pointer[u] += 1
            if pointer[u] < f.start[u + 1]:
                path[depth] = pointer[u]
                depth += 1
                nodes[depth] = v
            else:
                level[u] = -1
                depth -= 1
                if depth >= 0:
                    pointer[nodes[depth]] += 1
    return sent


def send_along(f: Flow, nodes: Ints, path: Ints, depth: int) -> tuple[int, int]:
    """Send what a path carries; return how much went, and the depth of the first arc that is now full."""
    amount = min(f.excess[nodes[0]], -f.excess[nodes[depth]])
    for i in range(depth):
        a = f.around[path[i]]
        leaves = path[i] < f.middle[nodes[i]]
        amount = min(amount, f.high[a] - f.flow[a] if leaves else f.flow[a] - f.low[a])
    keep = depth
    for i in range(depth - 1, -1, -1):
        a = f.around[path[i]]
        leaves = path[i] < f.middle[nodes[i]]
        f.flow[a] += amount if leaves else -amount
        if f.flow[a] == (f.high[a] if leaves else f.low[a]):
            keep = i
    f.excess[nodes[0]] -= amount
    f.excess[nodes[depth]] += amount
    return amount, keep


def cancel_cycles(
    start: Ints, around: Ints, tail: Any, head: Any, amount: Ints, unit: int, draws: Any
) -> None:
    """Move cycles of arcs that carry no whole units, at random, until every arc does."""
    n = len(start) - 1
    pointer = start[:n].copy()
    seen = np.full(n, -1, dtype=np.int64)
    nodes = np.zeros(n + 2, dtype=np.int64)
    arcs = np.zeros(n + 2, dtype=np.int64)
    drawn = 0
    for root in range(n):
        depth = 0
        nodes[0] = root
        seen[root] = 0
        while True:
            u = nodes[depth]
            came = arcs[depth - 1] if depth > 0 else -1
            found = -1
            while pointer[u] < start[u + 1] and amount[around[pointer[u]]] % unit == 0:
                pointer[u] += 1
            p = pointer[u]
            if p < start[u + 1]:
                if around[p] != came:
                    found = around[p]
                else:
                    q = p + 1
                    while q < start[u + 1] and amount[around[q]] % unit == 0:
                        q += 1
                    if q < start[u + 1]:
                        found = around[q]
                        around[q], around[p + 1] = around[p + 1], around[q]
            if found < 0:
                seen[u] = -1
                depth -= 1
                if depth < 0:
                    break
                continue
            v = head[found] if tail[found] == u else tail[found]
            arcs[depth] = found
            depth += 1
            if seen[v] < 0:
                seen[v] = depth
                nodes[depth] = v
                continue
            first = seen[v]
            up = np.int64(2**62)
            down = np.int64(2**62)
            for i in range(first, depth):
                a = arcs[i]
                part = amount[a] % unit
                if tail[a] == nodes[i]:
                    up = min(up, unit - part)
                    down = min(down, part)
                else:
                    up = min(up, part)
                    down = min(down, unit - part)
            move = up if draws[drawn % len(draws)] * (up + down) < down else -down
            drawn += 1
            for i in range(first, depth):
                a = arcs[i]
                amount[a] += move if tail[a] == nodes[i] else -move
            for i in range(first + 1, depth):
                seen[nodes[i]] = -1
            depth = first


KERNELS = Kernels(globals(), lengthen_potentials, follow, send_along, send, cancel_cycles)
