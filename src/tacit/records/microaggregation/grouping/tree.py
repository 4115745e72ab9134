"""A k-d tree from which records can be taken away: nearest and farthest records, exactly.

Records lie in leaves, column by column, so that a leaf's distances are computed side by side. Eight leaves
hang on a branch, eight branches on a higher one, and a branch holds of each of its children the box around
what is left in it, the largest distance from a centre, and the lowest record number, again column by
column. All of them shrink when a record is taken away.

A squared distance is the sum of the squared differences from the first column to the last, in that
order. Rounding is monotone, so the same sum taken at the nearest or farthest corner of a box bounds the
computed distances of its records without any tolerance, and ties can be told from near ties: they go to
the lowest record number.

The kernels need numba to be of use; where it is missing, callers scan arrays instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Functions, Kernels

#: Records in a leaf, at most.
LEAF = 16
#: Children of a branch.
WIDTH = 8
#: Higher than every record number.
NO_RECORD = np.iinfo(np.int64).max
#: Rounding error of the bound from norms, in units of what is added up, a column.
SLACK = 1e-15
#: Distances within this factor may be ties.
NEARLY = 1.0 + 1e-9


class Tree(NamedTuple):
    """What is left of some records.

    Nodes are numbered leaves first, then branches from the lowest level to the root. Only the root may have
    fewer children than eight; its other places stay empty.
    """

    #: The boxes around the records below each child (branch, column, child).
    low: Floats
    high: Floats
    #: Largest squared distance from ``centre`` below each child; -1 when nothing is left.
    reach: Floats
    #: Lowest record number below each child.
    lowest: Ints
    #: The first child of each branch, and the branch above each node (-1 above the root).
    first: Ints
    parent: Ints
    #: A point amid the records.
    centre: Floats
    #: What is left in each leaf: values (leaf, column, place), squared distances from the centre,
    #: record numbers, and how many.
    points: Floats
    norms: Floats
    ids: Ints
    held: Ints
    #: Leaf and place of every record number.
    home: Ints
    place: Ints


class Room(NamedTuple):
    """Working space of queries; ``found`` and ``at`` hold the answer of :func:`find_nearest`."""

    stack: Ints
    bounds: Floats
    numbers: Ints
    distances: Floats
    child: Floats
    shift: Floats
    found: Ints
    at: Floats


def build_tree(x: Floats, ids: Ints, kernels: Functions) -> Tree:
    """Return a tree of the records ``ids`` (ascending) of ``x``."""
    n, p = len(ids), x.shape[1]
    leaves = WIDTH
    while leaves * LEAF < n:
        leaves *= 2
    first, parent = link_branches(leaves)
    branches = len(first)
    tree = Tree(
        low=np.full((branches, p, WIDTH), np.inf),
        high=np.full((branches, p, WIDTH), -np.inf),
        reach=np.full((branches, WIDTH), -1.0),
        lowest=np.full((branches, WIDTH), NO_RECORD),
        first=first,
        parent=parent,
        centre=x[ids].mean(axis=0),
        points=np.zeros((leaves, p, LEAF)),
        norms=np.zeros((leaves, LEAF)),
        ids=np.zeros((leaves, LEAF), dtype=np.int64),
        held=np.zeros(leaves, dtype=np.int64),
        home=np.zeros(len(x), dtype=np.int64),
        place=np.zeros(len(x), dtype=np.int64),
    )
    kernels["fill"](tree, x, ids.copy())
    return tree


def link_branches(leaves: int) -> tuple[Ints, Ints]:
    """Return the first child of each branch and the branch above each node."""
    first: list[int] = []
    parent = np.full(2 * leaves, -1)
    start, size = 0, leaves
    while size > 1:
        branches = -(-size // WIDTH)
        for b in range(branches):
            at = start + b * WIDTH
            parent[at : at + WIDTH] = len(first)
            first.append(at)
        start, size = start + size, branches
    return np.array(first), parent


def allocate_workspace(k: int, p: int) -> Room:
    """Return working space for queries of up to k records of p columns."""
    return Room(
        stack=np.zeros(128, dtype=np.int64),
        bounds=np.zeros(128),
        numbers=np.zeros(128, dtype=np.int64),
        distances=np.zeros(LEAF),
        child=np.zeros(WIDTH),
        shift=np.zeros(p),
        found=np.zeros(k, dtype=np.int64),
        at=np.zeros(k),
    )


def neighbours(x: Floats, m: int) -> Ints:
    """Return the m nearest other records of each record, nearest first; ties to the lowest number."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    n = len(x)
    near = np.empty((n, m), dtype=np.int64)
    if KERNELS.pays(0.02 * n * n * x.shape[1]):
        names = KERNELS.compiled()
        tree = build_tree(x, np.arange(n), names)
        names["each_nearest"](tree, x, allocate_workspace(m + 1, x.shape[1]), near)
        return near
    chunk = max(1, 2_000_000 // n)
    for start in range(0, n, chunk):
        part = x[start : start + chunk]
        distances = np.zeros((len(part), n))
        for column, values in zip(x.T, part.T, strict=True):
            distances += (column[None, :] - values[:, None]) ** 2
        distances[np.arange(len(part)), start + np.arange(len(part))] = np.inf
        near[start : start + chunk] = np.argsort(distances, axis=1, kind="stable")[:, :m]
    return near


# -- kernels: building ------------------------------------------------------------------------------


def is_before(x: Floats, column: int, a: int, b: int) -> bool:
    """Return True when record a comes before b in a column; equal values in order of number."""
    u, v = x[a, column], x[b, column]
    return u < v or (u == v and a < b)


def select(x: Floats, order: Ints, column: int, start: int, stop: int, middle: int) -> None:
    """Arrange ``order[start:stop]`` so that the records before ``middle`` come first (quickselect)."""
    left, right = start, stop - 1
    while left < right:
        a, b, c = order[left], order[(left + right) // 2], order[right]
        if is_before(x, column, b, a):
            a, b = b, a
        if is_before(x, column, c, b):
            b = c if is_before(x, column, a, c) else a
        i, j = left, right
        while i <= j:
            while is_before(x, column, order[i], b):
                i += 1
            while is_before(x, column, b, order[j]):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


def find_widest_column(x: Floats, order: Ints, start: int, stop: int) -> int:
    """Return the column in which some records spread most."""
    best, width = 0, -1.0
    for j in range(x.shape[1]):
        low = high = x[order[start], j]
        for i in range(start + 1, stop):
            value = x[order[i], j]
            low = min(low, value)
            high = max(high, value)
        if high - low > width:
            best, width = j, high - low
    return best


def fill(tree: Tree, x: Floats, order: Ints) -> None:
    """Split the records at medians of the widest column, and put them into leaves."""
    leaves = len(tree.held)
    start = np.zeros(2 * leaves, dtype=np.int64)
    stop = np.zeros(2 * leaves, dtype=np.int64)
    stop[1] = len(order)
    for node in range(1, leaves):
        s, e = start[node], stop[node]
        middle = s + (e - s + 1) // 2
        if e - s > 1:
            select(x, order, find_widest_column(x, order, s, e), s, e, middle)
        start[2 * node], stop[2 * node] = s, middle
        start[2 * node + 1], stop[2 * node + 1] = middle, e
    for leaf in range(leaves):
        s = start[leaves + leaf]
        tree.held[leaf] = stop[leaves + leaf] - s
        for t in range(tree.held[leaf]):
            put_record(tree, x, leaf, t, order[s + t])
        refresh_leaf(tree, leaf)
    for branch in range(len(tree.first) - 1):
        refresh_branches(tree, branch, branch + 1)


def put_record(tree: Tree, x: Floats, leaf: int, t: int, record: int) -> None:
    """Put a record at a place of a leaf."""
    norm = 0.0
    for j in range(x.shape[1]):
        tree.points[leaf, j, t] = x[record, j]
        gap = x[record, j] - tree.centre[j]
        norm += gap * gap
    tree.norms[leaf, t] = norm
    tree.ids[leaf, t] = record
    tree.home[record] = leaf
    tree.place[record] = t


def refresh_leaf(tree: Tree, leaf: int) -> None:
    """Recompute box, reach and lowest number of a leaf."""
    points, norms, ids, low, high = tree.points, tree.norms, tree.ids, tree.low, tree.high
    branch, c, n = leaf // WIDTH, leaf % WIDTH, tree.held[leaf]
    reach, lowest = -1.0, NO_RECORD
    for t in range(n):
        reach = max(reach, norms[leaf, t])
        lowest = min(lowest, ids[leaf, t])
    tree.reach[branch, c] = reach
    tree.lowest[branch, c] = lowest
    for j in range(low.shape[1]):
        least, most = np.inf, -np.inf
        for t in range(n):
            value = points[leaf, j, t]
            least = min(least, value)
            most = max(most, value)
        low[branch, j, c] = least
        high[branch, j, c] = most


def refresh_branches(tree: Tree, branch: int, last: int) -> None:
    """Recompute a branch and those above it, up to the last, until nothing changes."""
    low, high, reach, lowest = tree.low, tree.high, tree.reach, tree.lowest
    first, parent, leaves = tree.first, tree.parent, len(tree.held)
    changed = True
    while changed and branch < last:
        above = parent[leaves + branch]
        c = leaves + branch - first[above]
        farthest_off, number = reach[branch, 0], lowest[branch, 0]
        for i in range(1, WIDTH):
            farthest_off = max(farthest_off, reach[branch, i])
            number = min(number, lowest[branch, i])
        changed = farthest_off != reach[above, c] or number != lowest[above, c]
        reach[above, c] = farthest_off
        lowest[above, c] = number
        for j in range(low.shape[1]):
            least, most = low[branch, j, 0], high[branch, j, 0]
            for i in range(1, WIDTH):
                least = min(least, low[branch, j, i])
                most = max(most, high[branch, j, i])
            changed = changed or least != low[above, j, c] or most != high[above, j, c]
            low[above, j, c] = least
            high[above, j, c] = most
        branch = above


def remove_record(tree: Tree, record: int) -> None:
    """Take a record away."""
    points, norms, ids, held = tree.points, tree.norms, tree.ids, tree.held
    leaf, t = tree.home[record], tree.place[record]
    last = held[leaf] - 1
    held[leaf] = last
    moved = ids[leaf, last]
    ids[leaf, t] = moved
    tree.place[moved] = t
    norms[leaf, t] = norms[leaf, last]
    for j in range(points.shape[1]):
        points[leaf, j, t] = points[leaf, j, last]
    refresh_leaf(tree, leaf)
    refresh_branches(tree, leaf // WIDTH, len(tree.first) - 1)


# -- kernels: asking --------------------------------------------------------------------------------
# What is called for every branch takes single arrays and an index: trees and slices are slow to hand over.


def distances_of(points: Floats, leaf: int, q: Floats, distances: Floats) -> None:
    """Compute the squared distances of a leaf's records from a point."""
    for t in range(LEAF):
        distances[t] = 0.0
    for j in range(len(q)):
        value = q[j]
        for t in range(LEAF):
            gap = points[leaf, j, t] - value
            distances[t] += gap * gap


def near_bounds(low: Floats, high: Floats, branch: int, q: Floats, bounds: Floats) -> None:
    """Compute squared distances that no record in the boxes of a branch comes closer than."""
    for c in range(WIDTH):
        bounds[c] = 0.0
    for j in range(len(q)):
        value = q[j]
        for c in range(WIDTH):
            gap = max(low[branch, j, c] - value, value - high[branch, j, c], 0.0)
            bounds[c] += gap * gap


def far_bounds(
    low: Floats,
    high: Floats,
    reach: Floats,
    branch: int,
    shift: Floats,
    centre: Floats,
    bounds: Floats,
) -> None:
    """Compute squared distances that no record in the boxes of a branch lies beyond.

    With c the centre and q = c + shift: |shift|^2 + max |x - c|^2 - 2 min shift (x - c), each on the box.
    """
    own = 0.0
    for c in range(WIDTH):
        bounds[c] = 0.0
    for j in range(len(shift)):
        w, middle = shift[j], centre[j]
        own += w * w
        if w > 0:
            for c in range(WIDTH):
                bounds[c] += w * (low[branch, j, c] - middle)
        else:
            for c in range(WIDTH):
                bounds[c] += w * (high[branch, j, c] - middle)
    slack = SLACK * (len(shift) + 8)
    for c in range(WIDTH):
        size, inner = own + reach[branch, c], bounds[c]
        bounds[c] = size - 2.0 * inner + slack * (size + abs(inner))


def corner_bound(low: Floats, high: Floats, branch: int, c: int, q: Floats) -> float:
    """Return the squared distance of the farthest corner of a box, computed as for a record."""
    total = 0.0
    for j in range(len(q)):
        gap = max(q[j] - low[branch, j, c], high[branch, j, c] - q[j])
        total += gap * gap
    return total


def push(
    stack: Ints,
    bounds: Floats,
    numbers: Ints,
    bottom: int,
    top: int,
    node: int,
    bound: float,
    number: int,
) -> int:
    """Put a node on the stack, highest bound on top, of equal ones the lowest number; return the new top."""
    i = top
    while i > bottom and (
        bounds[i - 1] > bound or (bounds[i - 1] == bound and numbers[i - 1] < number)
    ):
        bounds[i] = bounds[i - 1]
        numbers[i] = numbers[i - 1]
        stack[i] = stack[i - 1]
        i -= 1
    bounds[i] = bound
    numbers[i] = number
    stack[i] = node
    return top + 1


def insert(at: Floats, found: Ints, i: int, d: float, record: int) -> None:
    """Put a record among the i nearest so far, which are in order."""
    while i > 0 and (at[i - 1] > d or (at[i - 1] == d and found[i - 1] > record)):
        at[i] = at[i - 1]
        found[i] = found[i - 1]
        i -= 1
    at[i] = d
    found[i] = record


def find_farthest(tree: Tree, q: Floats, work: Room) -> int:
    """Return the record farthest from a point; of several the one with the lowest number."""
    low, high, reach = tree.low, tree.high, tree.reach
    lowest, first, centre = tree.lowest, tree.first, tree.centre
    points, ids, held = tree.points, tree.ids, tree.held
    stack, bounds, numbers, distances = work.stack, work.bounds, work.numbers, work.distances
    child, shift = work.child, work.shift
    leaves = len(held)
    best, who = -1.0, NO_RECORD
    for j in range(len(q)):
        shift[j] = q[j] - centre[j]
    stack[0], bounds[0], numbers[0], top = leaves + len(first) - 1, np.inf, 0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bounds[top] < best or (bounds[top] == best and numbers[top] > who):
            continue
        if node < leaves:
            distances_of(points, node, q, distances)
            for t in range(held[node]):
                d = distances[t]
                if d > best or (d == best and ids[node, t] < who):
                    best, who = d, ids[node, t]
            continue
        b = node - leaves
        far_bounds(low, high, reach, b, shift, centre, child)
        bottom = top
        for c in range(WIDTH):
            bound, number = child[c], lowest[b, c]
            if reach[b, c] < 0 or bound < best:
                continue
            if bound <= best * NEARLY:  # a tie, perhaps, which only the corner can tell
                bound = min(bound, corner_bound(low, high, b, c, q))
                if bound < best or (bound == best and number > who):
                    continue
            top = push(stack, bounds, numbers, bottom, top, first[b] + c, bound, number)
    return who


def find_nearest(tree: Tree, q: Floats, k: int, work: Room) -> int:
    """Find the k records nearest to a point, nearest first; return how many there are."""
    low, high, reach, lowest, first = tree.low, tree.high, tree.reach, tree.lowest, tree.first
    points, ids, held = tree.points, tree.ids, tree.held
    stack, bounds, numbers, distances = work.stack, work.bounds, work.numbers, work.distances
    child, at, found = work.child, work.at, work.found
    leaves = len(held)
    have, edge, last = 0, np.inf, NO_RECORD
    stack[0], bounds[0], numbers[0], top = leaves + len(first) - 1, 0.0, 0, 1
    while top > 0:
        top -= 1
        node = stack[top]
        if -bounds[top] > edge or (-bounds[top] == edge and numbers[top] > last):
            continue
        if node < leaves:
            distances_of(points, node, q, distances)
            for t in range(held[node]):
                d, record = distances[t], ids[node, t]
                if d < edge or (d == edge and record < last):
                    insert(at, found, min(have, k - 1), d, record)
                    have = min(have + 1, k)
                    if have == k:
                        edge, last = at[k - 1], found[k - 1]
            continue
        b = node - leaves
        near_bounds(low, high, b, q, child)
        bottom = top
        for c in range(WIDTH):
            bound, number = child[c], lowest[b, c]
            if reach[b, c] < 0 or bound > edge or (bound == edge and number > last):
                continue
            top = push(stack, bounds, numbers, bottom, top, first[b] + c, -bound, number)
    return have


def each_nearest(tree: Tree, x: Floats, work: Room, near: Ints) -> None:
    """List the nearest other records of every record."""
    m = near.shape[1]
    for record in range(len(x)):
        find_nearest(tree, x[record], m + 1, work)
        i = 0
        for t in range(m + 1):
            # Of many records at the same place the record itself may not be listed: drop the last then.
            if work.found[t] != record and i < m:
                near[record, i] = work.found[t]
                i += 1


def recentre(tree: Tree, point: Floats) -> None:
    """Measure reaches from another centre: bounds are sharpest near the mean of what is left."""
    points, norms = tree.points, tree.norms
    tree.centre[:] = point
    for leaf in range(len(tree.held)):
        for t in range(tree.held[leaf]):
            norm = 0.0
            for j in range(len(point)):
                gap = points[leaf, j, t] - point[j]
                norm += gap * gap
            norms[leaf, t] = norm
        refresh_leaf(tree, leaf)
    for branch in range(len(tree.first) - 1):
        refresh_branches(tree, branch, branch + 1)


KERNELS = Kernels(
    globals(),
    is_before,
    select,
    find_widest_column,
    put_record,
    refresh_leaf,
    refresh_branches,
    fill,
    remove_record,
    distances_of,
    near_bounds,
    far_bounds,
    corner_bound,
    push,
    insert,
    find_farthest,
    find_nearest,
    each_nearest,
    recentre,
)
