"""Cheapest paths through a network, and what is sent along them: kernels, on numbers and arrays only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Kernels


class Net(NamedTuple):
    """The network and the work space of a search."""

    tail: Ints  # the nodes of each cell's arc
    head: Ints
    start: Ints  # for each node its arcs that may be hidden, cheapest first, side by side in memory
    arc: Ints  # the cell
    other: Ints  # the node at the other end
    price: Floats  # its cost
    free: Floats  # its room at the start
    cost: Floats  # price and room of each cell
    up: Floats
    down: Floats
    hidden: npt.NDArray[np.int8]  # 1 hidden, 2 hidden for the time being
    listed: npt.NDArray[np.int8]
    first: Ints  # chains of the hidden arcs of each node
    following: Ints
    moved: Floats  # the movement under construction
    distance: Floats
    before: Ints  # 2 * arc + direction by which a node was reached
    heap: Ints
    place: Ints  # of a node in the heap, -1: never in it, -2: left it
    seen: Ints
    path: Ints
    counter: Ints  # heap size, nodes seen, arcs in path, paths allowed
    budget: Floats  # what new arcs may still cost, and the length of a hidden arc


def hide(net: Net, cell: int, how: int) -> None:
    """Hide a cell: its arc joins the chains of both its nodes."""
    net.hidden[cell] = how
    if net.listed[cell] == 0:
        net.listed[cell] = 1
        tail, head = net.tail[cell], net.head[cell]
        net.following[2 * cell] = net.first[tail]
        net.first[tail] = 2 * cell
        net.following[2 * cell + 1] = net.first[head]
        net.first[head] = 2 * cell + 1


def sift_up(net: Net, i: int) -> None:
    """Move a heap entry up to its place."""
    node = net.heap[i]
    key = net.distance[node]
    while i > 0:
        above = (i - 1) >> 1
        other = net.heap[above]
        if net.distance[other] <= key:
            break
        net.heap[i] = other
        net.place[other] = i
        i = above
    net.heap[i] = node
    net.place[node] = i


def sink_down(net: Net, i: int) -> None:
    """Move a heap entry down to its place."""
    n = net.counter[0]
    node = net.heap[i]
    key = net.distance[node]
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and net.distance[net.heap[child + 1]] < net.distance[net.heap[child]]:
            child += 1
        other = net.heap[child]
        if net.distance[other] >= key:
            break
        net.heap[i] = other
        net.place[other] = i
        i = child
    net.heap[i] = node
    net.place[node] = i


def note_shorter_way(net: Net, node: int, distance: float, by: int) -> None:
    """Note a shorter way to a node."""
    if distance >= net.distance[node]:
        return
    net.distance[node] = distance
    net.before[node] = by
    if net.place[node] == -1:
        net.seen[net.counter[1]] = node
        net.counter[1] += 1
        i = net.counter[0]
        net.counter[0] += 1
        net.heap[i] = node
        net.place[node] = i
    sift_up(net, net.place[node])


def reset_workspace(net: Net) -> None:
    """Make the work space ready for another search."""
    for i in range(net.counter[1]):
        node = net.seen[i]
        net.distance[node] = np.inf
        net.before[node] = -1
        net.place[node] = -1
    net.counter[0] = 0
    net.counter[1] = 0


def compute_arc_capacity(net: Net, arc: int, forwards: bool) -> float:
    """Return how much more an arc can carry."""
    return net.up[arc] - net.moved[arc] if forwards else net.down[arc] + net.moved[arc]


def find_path(
    net: Net, source: int, sink: int, amount: float, least: float, new: bool, a: int, b: int, c: int
) -> bool:
    """Find the cheapest path (Dijkstra) over arcs with room for ``least``; not over a, b, c.

    A hidden arc costs nothing, another its price, and more where it cannot carry the whole amount.
    Arcs come by price, so that the search at a node ends where they cannot better the way known.
    """
    reset_workspace(net)
    note_shorter_way(net, source, 0.0, -1)
    while net.counter[0] > 0:
        node = net.heap[0]
        net.counter[0] -= 1
        net.place[node] = -2
        if net.counter[0] > 0:
            net.heap[0] = net.heap[net.counter[0]]
            sink_down(net, 0)
        if node == sink:
            return True
        here = net.distance[node]
        chain = net.first[node]
        while chain >= 0:
            arc = chain >> 1
            forwards = (chain & 1) == 0
            chain = net.following[chain]
            if (
                net.hidden[arc] == 0
                or arc in (a, b, c)
                or compute_arc_capacity(net, arc, forwards) < least
            ):
                continue
            other = net.head[arc] if forwards else net.tail[arc]
            if net.place[other] != -2:
                note_shorter_way(net, other, here + net.budget[1], 2 * arc + (0 if forwards else 1))
        if not new:
            continue
        for i in range(net.start[node], net.start[node + 1]):
            price = net.price[i]
            if here + price >= min(net.distance[sink], net.budget[0]):
                break
            other = net.other[i]
            # An arc that is not hidden has all its room, but for what this movement has taken.
            if here + price >= net.distance[other] or net.free[i] < least:
                continue
            arc = net.arc[i]
            if net.hidden[arc] > 0 or arc in (a, b, c):
                continue
            length = price * max(1.0, amount / net.free[i])
            if net.place[other] != -2:
                forwards = net.tail[arc] == node
                note_shorter_way(net, other, here + length, 2 * arc + (0 if forwards else 1))
    return False


def push(net: Net, source: int, sink: int, amount: float) -> float:
    """Send as much as the path found can carry; return it, or -1 when the path list is full."""
    most = amount
    node = sink
    while node != source:
        by = net.before[node]
        forwards = (by & 1) == 0
        most = min(most, compute_arc_capacity(net, by >> 1, forwards))
        node = net.tail[by >> 1] if forwards else net.head[by >> 1]
    node = sink
    while node != source:
        by = net.before[node]
        arc = by >> 1
        forwards = (by & 1) == 0
        net.moved[arc] += most if forwards else -most
        if net.counter[2] >= len(net.path):
            return -1.0
        net.path[net.counter[2]] = arc
        net.counter[2] += 1
        if net.hidden[arc] == 0:
            hide(net, arc, 2)
            net.budget[0] -= net.cost[arc]
        node = net.tail[arc] if forwards else net.head[arc]
    return most


def send(
    net: Net, source: int, sink: int, amount: float, noise: float, way: int, a: int, b: int, c: int
) -> float:
    """Send an amount from source to sink; return what is left over.

    Within the hidden arcs (0) large paths are taken first; one path (1) must carry it all; several
    paths (2) are each the cheapest of their moment.
    """
    left = amount
    least = amount if way < 2 else noise
    for _ in range(net.counter[3]):
        if left <= noise or net.budget[0] <= 0:
            break
        if find_path(net, source, sink, left, min(least, left), way > 0, a, b, c):
            sent = push(net, source, sink, left)
            if sent < 0:
                break
            left -= sent
        elif way == 0 and least > noise:
            least = max(noise, least / 8)
        else:
            break
    reset_workspace(net)
    return left


#: In an order in which each is compiled after those that it calls.
KERNELS = Kernels(
    globals(),
    hide,
    sift_up,
    sink_down,
    note_shorter_way,
    reset_workspace,
    compute_arc_capacity,
    find_path,
    push,
    send,
)
