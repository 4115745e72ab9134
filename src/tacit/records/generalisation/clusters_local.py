"""Local search for k-Similar: move, swap, found, dissolve and regroup, until nothing lowers the cost.

The kernels are written on scalars and arrays so that they run as they stand, and are compiled with
numba, where it is installed, once there are many tuples. All costs are whole numbers and every change
that is kept lowers the total, so the search ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tacit.arrays import Ints
from tacit.numerics.kernels import Kernels
from tacit.records.generalisation.clusters_space import (
    Codes,
    Partition,
    Space,
    cluster_levels,
    find_nearest_cells,
)
from tacit.time_limits import is_past

Tick = Callable[[float | None], None]

#: Nearest tuples through which clusters to move to are found.
NEIGHBOURS = 24
#: Records up to which neighbouring clusters are regrouped to their optimum.
REGROUP = 10
#: Nearby clusters with which a cluster is regrouped.
PARTNERS = 8
#: Position of the counters in ``State.top``.
FREE_PIECES, FREE_CLUSTERS, LOGGED = 0, 1, 2


class State(NamedTuple):
    """Clusters as linked lists of pieces; a piece is some records of one cell in one cluster."""

    paths: Codes
    starts: Ints
    unit: Ints
    nearby: Codes
    cell: Ints  # of each piece
    n: Ints
    cluster: Ints
    after: Ints  # next and previous piece in the cluster
    before: Ints
    cell_after: Ints  # next and previous piece of the cell
    cell_before: Ints
    head: Ints  # first piece of each cluster
    cell_head: Ints  # first piece of each cell
    size: Ints
    levels: Ints  # one row per cluster
    free_pieces: Ints
    free_clusters: Ints
    log: Ints  # rows: cell, from, to, records
    top: Ints
    awake: Any  # cells worth looking at


def improve(
    space: Space, k: int, start: Partition, *, seconds: float, tick: Tick = lambda _share: None
) -> tuple[Partition, bool]:
    """Lower the cost of a partition; return it and whether the search came to its own end."""
    if space.total < 2 * k:
        return start, True
    state = make_state(space, k, start)
    sweep = KERNELS.pick(100_000 * len(space))["look_at"]
    # Compiled or not, a batch takes less than a second or so.
    batch = 8 if sweep is look_at else 2_000
    end = time.monotonic() + seconds
    full, changed, position = True, 0, 0
    while True:
        changed += int(sweep(state, k, REGROUP, position, min(position + batch, len(space))))
        position += batch
        tick(None)
        if is_past(end):
            return read_partition(state).tidy(), False
        if position < len(space):
            continue
        position = 0
        if not state.awake.any():
            # Cells asleep are looked at once more: a neighbour's change can matter to them too.
            if full and not changed:
                return read_partition(state).tidy(), True
            state.awake[:] = 1
            full, changed = True, 0
        else:
            full = False


def make_state(space: Space, k: int, start: Partition) -> State:
    """Return the state of a partition."""
    n_cells, n_pieces, n_clusters = len(space), len(start.cell), len(start)
    room = min(space.total, 4 * n_pieces + 1024) + k + REGROUP + 2
    clusters = max(space.total // k, n_clusters) + REGROUP + 2

    def none(size: int) -> Ints:
        return np.full(size, -1, dtype=np.int64)

    state = State(
        paths=np.ascontiguousarray(space.paths), starts=space.starts, unit=space.unit,
        nearby=find_nearest_cells(space, NEIGHBOURS),
        cell=none(room), n=np.zeros(room, dtype=np.int64), cluster=none(room),
        after=none(room), before=none(room), cell_after=none(room), cell_before=none(room),
        head=none(clusters), cell_head=none(n_cells), size=np.zeros(clusters, dtype=np.int64),
        levels=np.zeros((clusters, len(space.unit)), dtype=np.int64),
        free_pieces=np.arange(room - 1, -1, -1), free_clusters=np.arange(clusters - 1, -1, -1),
        log=np.zeros((room + REGROUP + 2, 4), dtype=np.int64),
        top=np.array([room - n_pieces, clusters - n_clusters, 0]),
        awake=np.ones(n_cells, dtype=np.uint8),
    )  # fmt: skip
    state.cell[:n_pieces], state.n[:n_pieces] = start.cell, start.n
    state.cluster[:n_pieces] = start.cluster
    state.size[:n_clusters] = start.sizes()
    state.levels[:n_clusters] = cluster_levels(space, start)
    chain(start.cluster, state.head, state.after, state.before)
    chain(start.cell, state.cell_head, state.cell_after, state.cell_before)
    return state


def chain(owner: Ints, head: Ints, after: Ints, before: Ints) -> None:
    """Link the pieces of each owner in the order of their numbers."""
    order = np.argsort(owner, kind="stable")
    same = owner[order[1:]] == owner[order[:-1]]
    after[order[:-1][same]] = order[1:][same]
    before[order[1:][same]] = order[:-1][same]
    first = order[np.concatenate([[True], ~same])] if len(order) else order
    head[owner[first]] = first


def read_partition(state: State) -> Partition:
    """Return the partition of a state."""
    used = np.flatnonzero(state.n > 0)
    return Partition(state.cell[used].copy(), state.cluster[used].copy(), state.n[used].copy())


# -- kernels: numbers and arrays only -------------------------------------------------------------


def find_common_level(s: State, x: int, y: int, a: int) -> int:
    """Return the level of the lowest common ancestor of two cells in an attribute."""
    first = s.starts[a]
    height = s.starts[a + 1] - first
    level = 0
    while level < height and s.paths[x, first + level] != s.paths[y, first + level]:
        level += 1
    return level


def compute_record_cost(s: State, c: int) -> int:
    """Return what each record of a cluster pays."""
    total = 0
    for a in range(len(s.unit)):
        total += s.levels[c, a] * s.unit[a]
    return total


def paid_with(s: State, c: int, x: int) -> int:
    """Return what each record of a cluster would pay with a record of cell ``x`` in it."""
    if s.size[c] == 0:
        return 0
    y = s.cell[s.head[c]]
    total = 0
    for a in range(len(s.unit)):
        total += max(s.levels[c, a], find_common_level(s, x, y, a)) * s.unit[a]
    return total


def level_without(s: State, c: int, p: int, a: int) -> int:
    """Return the level of a cluster's common ancestor in an attribute, piece ``p`` left out."""
    first = s.head[c]
    if first == p:
        first = s.after[first]
    level = 0
    if first >= 0:
        t = s.after[first]
        while t >= 0 and level < s.levels[c, a]:
            if t != p:
                level = max(level, find_common_level(s, s.cell[first], s.cell[t], a))
            t = s.after[t]
    return level


def paid_without(s: State, c: int, p: int, q: int) -> int:
    """Return what each record left would pay after ``q`` records of piece ``p`` have gone."""
    if q < s.n[p]:
        return compute_record_cost(s, c)
    total = 0
    for a in range(len(s.unit)):
        total += level_without(s, c, p, a) * s.unit[a]
    return total


def cost_of_joining(s: State, c: int, x: int, q: int) -> int:
    """Return how much the total rises when ``q`` records of cell ``x`` join a cluster."""
    return (s.size[c] + q) * paid_with(s, c, x) - s.size[c] * compute_record_cost(s, c)


def gain_of_leaving(s: State, p: int, q: int) -> int:
    """Return how much the total falls when ``q`` records of a piece leave their cluster."""
    c = s.cluster[p]
    return s.size[c] * compute_record_cost(s, c) - (s.size[c] - q) * paid_without(s, c, p, q)


def piece_of(s: State, x: int, c: int) -> int:
    """Return the piece of a cell in a cluster, or -1."""
    p = s.cell_head[x]
    while p >= 0 and s.cluster[p] != c:
        p = s.cell_after[p]
    return p


def pieces_near(s: State, x: int) -> Ints:
    """Return the pieces of the cells nearest to a cell, nearest first."""
    found = np.empty(0, dtype=np.int64)
    for turn in range(2):
        count = 0
        for y in s.nearby[x]:
            p = s.cell_head[y] if y >= 0 else -1
            while p >= 0:
                if turn == 1:
                    found[count] = p
                count += 1
                p = s.cell_after[p]
        if turn == 0:
            found = np.empty(count, dtype=np.int64)
    return found


def pieces_in(s: State, c: int) -> Ints:
    """Return the pieces of a cluster, in the order of its list."""
    found = np.empty(s.size[c], dtype=np.int64)
    count = 0
    p = s.head[c]
    while p >= 0:
        found[count] = p
        count += 1
        p = s.after[p]
    return found[:count]


def unlink(s: State, p: int) -> None:
    """Take a piece out of its two lists and keep its number for later."""
    c, x = s.cluster[p], s.cell[p]
    if s.before[p] >= 0:
        s.after[s.before[p]] = s.after[p]
    else:
        s.head[c] = s.after[p]
    if s.after[p] >= 0:
        s.before[s.after[p]] = s.before[p]
    if s.cell_before[p] >= 0:
        s.cell_after[s.cell_before[p]] = s.cell_after[p]
    else:
        s.cell_head[x] = s.cell_after[p]
    if s.cell_after[p] >= 0:
        s.cell_before[s.cell_after[p]] = s.cell_before[p]
    s.n[p] = 0
    s.cluster[p] = -1
    s.free_pieces[s.top[FREE_PIECES]] = p
    s.top[FREE_PIECES] += 1


def link(s: State, x: int, c: int, q: int) -> None:
    """Make a piece of ``q`` records of a cell in a cluster."""
    s.top[FREE_PIECES] -= 1
    p = s.free_pieces[s.top[FREE_PIECES]]
    s.cell[p], s.cluster[p], s.n[p] = x, c, q
    s.before[p], s.after[p] = -1, s.head[c]
    if s.head[c] >= 0:
        s.before[s.head[c]] = p
    s.head[c] = p
    s.cell_before[p], s.cell_after[p] = -1, s.cell_head[x]
    if s.cell_head[x] >= 0:
        s.cell_before[s.cell_head[x]] = p
    s.cell_head[x] = p


def move(s: State, p: int, q: int, d: int) -> int:
    """Move ``q`` records of a piece to cluster ``d``; return by how much the total changes."""
    c, x = s.cluster[p], s.cell[p]
    old = s.size[c] * compute_record_cost(s, c) + s.size[d] * compute_record_cost(s, d)
    if q < s.n[p]:
        s.n[p] -= q
    else:
        unlink(s, p)
        for a in range(len(s.unit)):  # after a piece has gone they can only be lower
            s.levels[c, a] = level_without(s, c, -1, a)
    s.size[c] -= q
    for a in range(len(s.unit)):
        s.levels[d, a] = (
            max(s.levels[d, a], find_common_level(s, x, s.cell[s.head[d]], a))
            if s.size[d] > 0
            else 0
        )
    twin = piece_of(s, x, d)
    if twin >= 0:
        s.n[twin] += q
    else:
        link(s, x, d, q)
    s.size[d] += q
    row = s.top[LOGGED]
    s.log[row, 0], s.log[row, 1], s.log[row, 2], s.log[row, 3] = x, c, d, q
    s.top[LOGGED] += 1
    return s.size[c] * compute_record_cost(s, c) + s.size[d] * compute_record_cost(s, d) - old


def undo_moves(s: State) -> None:
    """Take back every move in the log."""
    while s.top[LOGGED] > 0:
        row = s.top[LOGGED] - 1
        x, c, d, q = s.log[row, 0], s.log[row, 1], s.log[row, 2], s.log[row, 3]
        move(s, piece_of(s, x, d), q, c)
        s.top[LOGGED] = row


def relocate(s: State, p: int, k: int) -> bool:
    """Move a piece, or one record of it, to the nearby cluster where that saves most."""
    c, x = s.cluster[p], s.cell[p]
    best, to, many = 0, -1, 0
    near = pieces_near(s, x)
    q = min(s.n[p], s.size[c] - k)
    while q >= 1:
        gain = gain_of_leaving(s, p, q)
        for t in near:
            d = s.cluster[t]
            if d != c:
                change = cost_of_joining(s, d, x, q) - gain
                if change < best:
                    best, to, many = change, d, q
        q = 1 if q > 1 else 0
    if to < 0:
        return False
    move(s, p, many, to)
    return True


def swap(s: State, p: int) -> bool:
    """Exchange one record with one of a nearby cluster, where that saves most."""
    c, x = s.cluster[p], s.cell[p]
    m = len(s.unit)
    alone = s.n[p] == 1
    first = s.after[p] if alone and s.head[c] == p else s.head[c]
    if first < 0:
        return False
    rest = np.zeros(m, dtype=np.int64)
    for a in range(m):
        rest[a] = level_without(s, c, p if alone else -1, a)
    best, give, to = 0, -1, -1
    one, two = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    seen = -1
    for entry in pieces_near(s, x):
        d = s.cluster[entry]
        if d in (c, seen):
            continue
        seen = d
        # The two highest common levels with x an attribute: what is left when one record goes.
        one[:] = 0
        two[:] = 0
        held = pieces_in(s, d)
        for t in held:
            for a in range(m):
                level = find_common_level(s, x, s.cell[t], a)
                for _ in range(2 if s.n[t] > 1 else 1):
                    if level >= one[a]:
                        two[a], one[a] = one[a], level
                    elif level > two[a]:
                        two[a] = level
        old = s.size[c] * compute_record_cost(s, c) + s.size[d] * compute_record_cost(s, d)
        for t in held:
            y = s.cell[t]
            here, there = 0, 0
            for a in range(m):
                here += max(rest[a], find_common_level(s, y, s.cell[first], a)) * s.unit[a]
                highest = one[a] if find_common_level(s, x, y, a) < one[a] else two[a]
                there += highest * s.unit[a]
            change = s.size[c] * here + s.size[d] * there - old
            if change < best:
                best, give, to = change, y, d
    if to < 0:
        return False
    move(s, p, 1, to)
    move(s, piece_of(s, give, to), 1, c)
    return True


def better_partner(s: State, t: int, new: int, k: int) -> float:
    """Return the change a record when piece ``t`` joins a new cluster; infinite when it cannot."""
    e = s.cluster[t]
    q = min(s.n[t], s.size[e] - k, k - s.size[new])
    if e == new or q < 1:
        return np.inf
    return (cost_of_joining(s, new, s.cell[t], q) - gain_of_leaving(s, t, q)) / q


def start_cluster(s: State, p: int, k: int) -> bool:
    """Start a cluster with a piece and the best of what is near or beside it and can be spared."""
    c, x = s.cluster[p], s.cell[p]
    s.top[FREE_CLUSTERS] -= 1
    new = s.free_clusters[s.top[FREE_CLUSTERS]]
    change = move(s, p, min(s.n[p], s.size[c] - k, k), new)
    while s.size[new] < k:
        best, partner = np.inf, -1
        around: Ints = np.append(pieces_near(s, x), pieces_in(s, c))
        for t in around:
            value = better_partner(s, t, new, k)
            if value < best:
                best, partner = value, t
        if partner < 0:
            break
        change += move(
            s, partner, min(s.n[partner], s.size[s.cluster[partner]] - k, k - s.size[new]), new
        )
    if s.size[new] >= k and change < 0:
        return True
    undo_moves(s)
    s.free_clusters[s.top[FREE_CLUSTERS]] = new
    s.top[FREE_CLUSTERS] += 1
    return False


def dissolve(s: State, c: int) -> bool:
    """Give every piece of a cluster to the nearby cluster where it costs least."""
    change = 0
    while s.head[c] >= 0:
        p = s.head[c]
        x, q = s.cell[p], s.n[p]
        best, to = -1, -1
        for t in pieces_near(s, x):
            d = s.cluster[t]
            if d != c:
                cost = cost_of_joining(s, d, x, q)
                if to < 0 or cost < best:
                    best, to = cost, d
        if to < 0:
            break
        change += move(s, p, q, to)
    if s.head[c] < 0 and change < 0:
        s.free_clusters[s.top[FREE_CLUSTERS]] = c
        s.top[FREE_CLUSTERS] += 1
        return True
    undo_moves(s)
    return False


def clusters_near(s: State, c: int, most: int) -> Ints:
    """Return a few clusters of at most this many records that hold tuples near those of a cluster."""
    found_here = np.full(PARTNERS, -1, dtype=np.int64)
    count = 0
    # Rank by rank, so that every piece has its nearest tuples heard before anyone's farther ones.
    for i in range(s.nearby.shape[1]):
        p = s.head[c]
        while p >= 0 and count < PARTNERS:
            y = s.nearby[s.cell[p], i]
            t = s.cell_head[y] if y >= 0 else -1
            while t >= 0 and count < PARTNERS:
                d = s.cluster[t]
                new = d != c and not (found_here[:count] == d).any()
                if new and s.size[d] <= most:
                    found_here[count] = d
                    count += 1
                t = s.cell_after[t]
            p = s.after[p]
    return found_here[:count]


def best_groups(s: State, cells: Ints, k: int) -> tuple[int, Ints]:
    """Return the least cost of a few records and, a set of records a bit mask, the cluster to cut off."""
    u, m = len(cells), len(s.unit)
    levels = np.zeros((1 << u, m), dtype=np.int64)
    count = np.zeros(1 << u, dtype=np.int64)
    cost = np.zeros(1 << u, dtype=np.int64)
    for high in range(u):
        bit = 1 << high
        for rest in range(bit):
            mask = bit | rest
            count[mask] = count[rest] + 1
            each = 0
            if rest > 0:
                low = 0
                while not rest >> low & 1:
                    low += 1
                for a in range(m):
                    levels[mask, a] = max(
                        levels[rest, a], find_common_level(s, cells[low], cells[high], a)
                    )
                    each += levels[mask, a] * s.unit[a]
            cost[mask] = each * count[mask]
    best = np.full(1 << u, -1, dtype=np.int64)
    cut = np.zeros(1 << u, dtype=np.int64)
    best[0] = 0
    for mask in range(1, 1 << u):
        low = mask & -mask
        others = mask ^ low
        sub = others
        while True:
            group = sub | low
            left = mask ^ group
            if k <= count[group] < 2 * k and best[left] >= 0:
                value = best[left] + cost[group]
                if best[mask] < 0 or value < best[mask]:
                    best[mask], cut[mask] = value, group
            if sub == 0:
                break
            sub = (sub - 1) & others
    return best[(1 << u) - 1], cut


def regroup_these(s: State, chosen: Ints, k: int) -> bool:
    """Put the records of some clusters in the best clusters that they can make."""
    u, old = 0, 0
    for c in chosen:
        u += s.size[c]
        old += s.size[c] * compute_record_cost(s, c)
    cells, source = np.zeros(u, dtype=np.int64), np.zeros(u, dtype=np.int64)
    i = 0
    for c in chosen:
        for t in pieces_in(s, c):
            for _ in range(s.n[t]):
                cells[i], source[i] = s.cell[t], c
                i += 1
    value, cut = best_groups(s, cells, k)
    if value >= old:
        return False
    left = (1 << u) - 1
    while left:
        s.top[FREE_CLUSTERS] -= 1
        new = s.free_clusters[s.top[FREE_CLUSTERS]]
        for i in range(u):
            if cut[left] >> i & 1:
                move(s, piece_of(s, cells[i], source[i]), 1, new)
        left ^= cut[left]
    for c in chosen:
        s.free_clusters[s.top[FREE_CLUSTERS]] = c
        s.top[FREE_CLUSTERS] += 1
    return True


def regroup(s: State, c: int, k: int, reach: int) -> bool:
    """Regroup a cluster with one or two nearby ones, as long as they have few records in all."""
    if s.size[c] + k > reach:
        return False
    near = clusters_near(s, c, reach - s.size[c])
    for i in range(len(near)):
        if regroup_these(s, np.array([c, near[i]]), k):
            return True
    for i in range(len(near)):
        for j in range(i):
            if s.size[c] + s.size[near[i]] + s.size[near[j]] <= reach and regroup_these(
                s, np.array([c, near[i], near[j]]), k
            ):
                return True
    return False


def mark_logged_cells(s: State) -> None:
    """Forget the log and mark the cells of every cluster in it."""
    for row in range(s.top[LOGGED]):
        s.awake[s.log[row, 0]] = 1
        for side in range(1, 3):
            for t in pieces_in(s, s.log[row, side]):
                s.awake[s.cell[t]] = 1
    s.top[LOGGED] = 0


def look_at(s: State, k: int, reach: int, first: int, last: int) -> int:
    """Try the cells ``first`` to ``last - 1`` that are awake; return how many changes were kept."""
    changes = 0
    for x in range(first, last):
        if s.awake[x] == 0:
            continue
        s.awake[x] = 0
        p = s.cell_head[x]
        while p >= 0 and s.top[FREE_PIECES] >= k + REGROUP + 2:
            # A change that is taken back leaves the numbers of pieces, not their order in the lists.
            following = s.cell_after[p]
            c = s.cluster[p]
            if compute_record_cost(s, c) > 0:
                spare = s.size[c] > k
                kept = (spare and (relocate(s, p, k) or start_cluster(s, p, k))) or swap(s, p)
                # A cluster is tried as a whole once for all its cells: with the lowest.
                if not kept and s.cell[pieces_in(s, c)].min() == x:
                    kept = regroup(s, c, k, reach) or dissolve(s, c)
                if kept:
                    changes += 1
                    mark_logged_cells(s)
                    following = s.cell_head[x]
            p = following
    return changes


KERNELS = Kernels(
    globals(),
    find_common_level, compute_record_cost, paid_with, level_without, paid_without, cost_of_joining, gain_of_leaving, piece_of, pieces_near, pieces_in, unlink, link, move, undo_moves,
    relocate, swap, better_partner, start_cluster, dissolve, clusters_near, best_groups, regroup_these, regroup, mark_logged_cells,
    look_at,
)  # fmt: skip
