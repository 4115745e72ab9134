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

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.numerics.kernels import Kernels
from tacit.tables.rounding.model import Model, Network

Ints = npt.NDArray[np.int64]
Tick = Callable[[float | None], None]

#: The largest whole cost that is solved in one go.
SMALL = 64
#: Real costs are cut to this many parts of the largest one.
PARTS = 2**30


def solve_flow(model: Model, network: Network, y: int = 0, tick: Tick | None = None) -> Ints | None:
    """Return the cheapest steps of the free cells with totals within y bases; None if there are none.

    The answer is optimal: exactly for whole costs, otherwise to 2^-30 of the largest cost a cell.
    """
    low, high = model.low.copy(), model.high.copy()
    low[model.margin] -= y
    high[model.margin] += y
    graph = adjacency(network)
    cost, scale = whole_costs(model)
    flow, potential = low.copy(), np.zeros(network.nodes, dtype=np.int64)
    run = KERNELS.pick(25 * len(cost))
    step, start = run["phase"], run["saturate_arcs"]
    size = 0
    while int(np.abs(cost).max(initial=0)) >> size > SMALL:
        size += 2
    for shift in range(size, -1, -2):
        coarse = cost >> shift
        excess = start(network.tail, network.head, low, high, coarse, flow, potential)
        state = 1
        while state == 1:
            if tick is not None:
                tick(None)
            state = step(
                *graph, network.head, network.tail, low, high, coarse, flow, potential, excess
            )
        if state == 2:
            return None
        potential *= 4
    del scale
    return flow[model.free]


def whole_costs(model: Model) -> tuple[Ints, float]:
    """Return whole costs, and what one of them is worth."""
    cost = model.cost
    if (cost == np.rint(cost)).all() and np.abs(cost).max(initial=0) < 2**40:
        return cost.astype(np.int64), 1.0
    scale = float(np.abs(cost).max()) / PARTS
    return np.rint(cost / scale).astype(np.int64), scale


def adjacency(network: Network) -> tuple[Any, Any, Any, Any]:
    """Return the arcs that leave and that enter each node, in compressed lists."""
    lists = []
    for ends in (network.tail, network.head):
        order = np.argsort(ends, kind="stable").astype(np.int32)
        starts = np.zeros(network.nodes + 1, dtype=np.int64)
        np.cumsum(np.bincount(ends, minlength=network.nodes), out=starts[1:])
        lists += [starts, order]
    return tuple(lists)  # type: ignore[return-value]


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
    KERNELS.pick(25 * len(amount))["cancel_cycles"](
        *adjacency(network), network.tail, network.head, amount, unit, draws
    )
    return amount[model.free] // unit


# -- kernels: numbers and arrays only -----------------------------------------------------------------


def saturate_arcs(
    tail: Any, head: Any, low: Any, high: Any, cost: Any, flow: Any, potential: Any
) -> Any:
    """Put every arc at its cheapest end and return what each node has too much."""
    excess = np.zeros(len(potential), dtype=np.int64)
    for a in range(len(tail)):
        reduced = cost[a] + potential[tail[a]] - potential[head[a]]
        f = min(max(flow[a], low[a]), high[a])
        if reduced < 0:
            f = high[a]
        elif reduced > 0:
            f = low[a]
        flow[a] = f
        excess[tail[a]] -= f
        excess[head[a]] += f
    return excess


def phase(
    out_start: Any,
    out_arc: Any,
    in_start: Any,
    in_arc: Any,
    head: Any,
    tail: Any,
    low: Any,
    high: Any,
    cost: Any,
    flow: Any,
    potential: Any,
    excess: Any,
) -> Any:
    """Lengthen the potentials by shortest distances, then send all that free paths carry.

    Returns 0 when every node is in balance, 1 to go on, 2 when no path is left.
    """
    needy = False
    for v in range(len(excess)):
        if excess[v] != 0:
            needy = True
    if not needy:
        return 0
    if not distances(
        out_start, out_arc, in_start, in_arc, head, tail, low, high, cost, flow, potential, excess
    ):
        return 2
    while send(
        out_start, out_arc, in_start, in_arc, head, tail, low, high, cost, flow, potential, excess
    ):
        pass
    return 1


def distances(
    out_start: Any,
    out_arc: Any,
    in_start: Any,
    in_arc: Any,
    head: Any,
    tail: Any,
    low: Any,
    high: Any,
    cost: Any,
    flow: Any,
    potential: Any,
    excess: Any,
) -> Any:
    """Add to each potential the shortest distance from a node with too much; False if none has too little."""
    n = len(excess)
    far = np.int64(2**62)
    distance = np.full(n, far, dtype=np.int64)
    heap = np.zeros(n, dtype=np.int64)
    place = np.full(n, -1, dtype=np.int64)
    size = 0
    for v in range(n):
        if excess[v] > 0:
            distance[v] = 0
            heap[size] = v
            place[v] = size
            size += 1
    last = np.int64(0)
    found = False
    while size > 0:
        u = heap[0]
        size -= 1
        if size > 0:
            heap[0] = heap[size]
            place[heap[0]] = 0
            sink_down(heap, place, distance, size)
        place[u] = -2
        d = distance[u]
        last = d
        if excess[u] < 0:
            found = True
        for k in range(out_start[u], out_start[u + 1]):
            a = out_arc[k]
            if flow[a] < high[a]:
                v = head[a]
                new = d + cost[a] + potential[u] - potential[v]
                if new < distance[v]:
                    if place[v] == -1:
                        place[v] = size
                        heap[size] = v
                        size += 1
                    distance[v] = new
                    sift_up(heap, place, distance, place[v])
        for k in range(in_start[u], in_start[u + 1]):
            a = in_arc[k]
            if flow[a] > low[a]:
                v = tail[a]
                new = d - cost[a] + potential[u] - potential[v]
                if new < distance[v]:
                    if place[v] == -1:
                        place[v] = size
                        heap[size] = v
                        size += 1
                    distance[v] = new
                    sift_up(heap, place, distance, place[v])
    for v in range(n):
        potential[v] += min(distance[v], last)
    return found


def sift_up(heap: Any, place: Any, distance: Any, at: Any) -> Any:
    """Move an entry of the heap up to where it belongs."""
    v = heap[at]
    while at > 0:
        up = (at - 1) // 2
        if distance[heap[up]] <= distance[v]:
            break
        heap[at] = heap[up]
        place[heap[at]] = at
        at = up
    heap[at] = v
    place[v] = at


def sink_down(heap: Any, place: Any, distance: Any, size: Any) -> Any:
    """Move the first entry of the heap down to where it belongs."""
    at = 0
    v = heap[0]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and distance[heap[child + 1]] < distance[heap[child]]:
            child += 1
        if distance[heap[child]] >= distance[v]:
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = v
    place[v] = at


def send(
    out_start: Any,
    out_arc: Any,
    in_start: Any,
    in_arc: Any,
    head: Any,
    tail: Any,
    low: Any,
    high: Any,
    cost: Any,
    flow: Any,
    potential: Any,
    excess: Any,
) -> Any:
    """Send flow along shortest paths of free arcs until they are blocked; return how much went."""
    n = len(excess)
    level = np.full(n, -1, dtype=np.int64)
    queue = np.zeros(n, dtype=np.int64)
    back = 0
    for v in range(n):
        if excess[v] > 0:
            level[v] = 0
            queue[back] = v
            back += 1
    front = 0
    reached = np.int64(2**62)
    while front < back:
        u = queue[front]
        front += 1
        if level[u] >= reached:
            break
        for k in range(out_start[u], out_start[u + 1]):
            a = out_arc[k]
            v = head[a]
            if level[v] < 0 and flow[a] < high[a] and cost[a] + potential[u] == potential[v]:
                level[v] = level[u] + 1
                queue[back] = v
                back += 1
                if excess[v] < 0:
                    reached = level[v]
        for k in range(in_start[u], in_start[u + 1]):
            a = in_arc[k]
            v = tail[a]
            if level[v] < 0 and flow[a] > low[a] and potential[u] - cost[a] == potential[v]:
                level[v] = level[u] + 1
                queue[back] = v
                back += 1
                if excess[v] < 0:
                    reached = level[v]
    if reached == np.int64(2**62):
        return 0
    pointer = np.zeros(n, dtype=np.int64)
    nodes = np.zeros(n + 1, dtype=np.int64)
    arcs = np.zeros(n + 1, dtype=np.int64)
    forward = np.zeros(n + 1, dtype=np.int64)
    sent = 0
    for s in range(n):
        if excess[s] <= 0:
            continue
        depth = 0
        nodes[0] = s
        while depth >= 0 and excess[s] > 0:
            u = nodes[depth]
            if excess[u] < 0:
                amount = min(excess[s], -excess[u])
                for i in range(depth):
                    a = arcs[i]
                    amount = min(amount, high[a] - flow[a] if forward[i] else flow[a] - low[a])
                keep = depth
                for i in range(depth - 1, -1, -1):
                    a = arcs[i]
                    if forward[i]:
                        flow[a] += amount
                        if flow[a] == high[a]:
                            keep = i
                    else:
                        flow[a] -= amount
                        if flow[a] == low[a]:
                            keep = i
                excess[s] -= amount
                excess[u] += amount
                sent += amount
                depth = min(keep, depth - 1) if excess[u] == 0 else keep
                continue
            outs = out_start[u + 1] - out_start[u]
            degree = outs + in_start[u + 1] - in_start[u]
            moved = False
            while pointer[u] < degree:
                k = pointer[u]
                if k < outs:
                    a = out_arc[out_start[u] + k]
                    v = head[a]
                    fits = flow[a] < high[a] and cost[a] + potential[u] == potential[v]
                    way = 1
                else:
                    a = in_arc[in_start[u] + k - outs]
                    v = tail[a]
                    fits = flow[a] > low[a] and potential[u] - cost[a] == potential[v]
                    way = 0
                if fits and level[v] == level[u] + 1:
                    arcs[depth] = a
                    forward[depth] = way
                    depth += 1
                    nodes[depth] = v
                    moved = True
                    break
                pointer[u] += 1
            if not moved:
                level[u] = -1
                depth -= 1
                if depth >= 0:
                    pointer[nodes[depth]] += 1
    return sent


def cancel_cycles(
    out_start: Any,
    out_arc: Any,
    in_start: Any,
    in_arc: Any,
    tail: Any,
    head: Any,
    amount: Any,
    unit: Any,
    draws: Any,
) -> Any:
    """Move cycles of arcs that carry no whole units, at random, until every arc does."""
    n = len(out_start) - 1
    start = np.zeros(n + 1, dtype=np.int64)
    for v in range(n):
        start[v + 1] = start[v] + out_start[v + 1] - out_start[v] + in_start[v + 1] - in_start[v]
    around = np.zeros(start[n], dtype=np.int64)
    for v in range(n):
        at = start[v]
        for k in range(out_start[v], out_start[v + 1]):
            around[at] = out_arc[k]
            at += 1
        for k in range(in_start[v], in_start[v + 1]):
            around[at] = in_arc[k]
            at += 1
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
    return drawn


KERNELS = Kernels(
    globals(), saturate_arcs, sift_up, sink_down, distances, send, phase, cancel_cycles
)
