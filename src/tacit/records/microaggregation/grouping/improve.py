"""The improvement pass: exchange and move records between groups while that lowers SSE."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.grouping.loss import Tick, group_sizes, loss
from tacit.records.microaggregation.grouping.mdav_groups import split_large
from tacit.records.microaggregation.grouping.tree import neighbours
from tacit.stats.ranks import rank_within

#: Nearest records of a record through which groups to change to are found.
LOOK = 8
#: Nearest records of a record that makes room through which its new group is found.
CHAIN = 5
#: Records looked at, at most, after a group was newly started: this many, and this many times k.
PATIENCE, MORE_PATIENCE = 500, 50
#: Positions of the counters in ``Groups.tops``.
LOGGED, FREE, FIRST, WAITING = 0, 1, 2, 3
#: What a change does to the size of a group.
JOINS, LEAVES = 1, -1

#: Groups newly started: this many times n / k^2 in small files, and n / k in large ones.
EFFORT, LARGE_EFFORT = 200, 3
#: Groups newly started from which a file is large.
LARGE = 40_000
#: Turns of loops for each record of a founded group and column, about.
TURNS = 500.0
#: Founded between two ticks.
BATCH = 500
#: SSE must fall by this share of SST / n, or a change is not made.
TOLERANCE = 1e-9


def improve(x: Floats, labels: Ints, k: int, *, rng: np.random.Generator, tick: Tick) -> Ints:
    """Return groups with a lower SSE, or the same ones; sizes stay between k and 2k - 1.

    A local search. A record moves to a neighbouring group, changes places with a record of one, or moves
    and pushes another record on to a third group, as long as SSE falls. Then, again and again, a group is
    founded of a random record and its k - 1 nearest; groups that become too small are dissolved, the search
    goes on from there, and the result is kept when SSE is lower than before and taken back otherwise.
    Groups of 2k and more are split first, which cannot raise SSE.

    The result is no optimum either, and no bound is given; it is never worse than the start.

    References
    ----------
    Laszlo, Mukherjee (2015), Iterated local search for microaggregation, Journal of Systems and Software
    100, 15-26. Fayyoumi, Oommen (2006), PSD 2006, LNCS 4302, 114-128 (exchange of records).
    """
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    if group_sizes(labels).min() < k:
        raise InputError(f"improve: every group must hold at least {k} records to start with")
    if len(x) < 2 * k:
        return labels
    start = split_large(x, labels, k)
    found = improve_by_search(x - x.mean(axis=0), start, k, rng, tick)
    return min(labels, start, found, key=lambda ids: loss(x, ids).within)


def improve_by_search(
    x: Floats, labels: Ints, k: int, rng: np.random.Generator, tick: Tick
) -> Ints:
    """Return the groups that local search from some groups leads to."""
    n = len(x)
    near = neighbours(x, min(n - 1, max(12, min(2 * k, k + 16))))
    state = make_search_state(x, labels, k, near)
    rounds = max(min(EFFORT * n // k**2, LARGE), LARGE_EFFORT * n // k)
    names = KERNELS.pick(TURNS * (n + rounds) * k * x.shape[1])
    tolerance = TOLERANCE * max(float((x**2).sum()) / n, np.finfo(float).tiny)
    tick("improving groups", None)
    while state.tops[WAITING]:
        state.tops[LOGGED] = 0
        names["process_queue"](state, k, tolerance, 20 * BATCH)
        tick("improving groups", None)
    order = rng.permutation(n)
    for done in range(0, rounds, BATCH):
        tick("improving groups", done / rounds)
        many = min(BATCH, rounds - done)
        records = order[np.arange(done, done + many) % n]
        skips = rng.integers(0, k, many) if done >= n else np.full(many, k)
        names["perturb_groups"](state, k, records, skips, tolerance)
    return np.unique(state.label, return_inverse=True)[1].astype(np.int64)


class Groups(NamedTuple):
    """A grouping under search."""

    #: The records, centred, and their squared lengths.
    x: Floats
    square: Floats
    #: The nearest records of each, nearest first.
    near: Ints
    #: Group of each record, and its place there.
    label: Ints
    place: Ints
    #: Records of each group, how many, and the sum of each column over them.
    member: Ints
    size: Ints
    sums: Floats
    #: Inner product of each record with the sums of its group.
    own: Floats
    #: Working space.
    tilt: Floats
    #: Records that changed groups since the last kept state, each with the group it came from.
    log: Ints
    #: Groups without records, some of which may have been filled again, and whether a group is
    #: listed.
    free: Ints
    is_free: Flags
    #: Records worth looking at, in a ring, and whether each is in it.
    queue: Ints
    waits: Flags
    #: Lengths and positions of log, free and queue.
    tops: Ints


def make_search_state(x: Floats, labels: Ints, k: int, near: Ints) -> Groups:
    """Return a grouping ready for search."""
    n, p = x.shape
    most = n // k + 2  # room for a group to be founded before others are dissolved
    size = np.bincount(labels, minlength=most).astype(np.int64)
    place = rank_within(labels)
    member = np.full((most, 2 * k), -1, dtype=np.int64)
    member[labels, place] = np.arange(n)
    sums = np.zeros((most, p))
    np.add.at(sums, labels, x)
    is_free = size == 0
    free = np.zeros(most, dtype=np.int64)
    free[: is_free.sum()] = np.flatnonzero(is_free)
    return Groups(
        x=np.ascontiguousarray(x),
        square=(x**2).sum(axis=1),
        near=near,
        label=labels.astype(np.int64),
        place=place,
        member=member,
        size=size,
        sums=sums,
        own=(x * sums[labels]).sum(axis=1),
        tilt=np.zeros(p),
        log=np.zeros((8 * n + 64, 2), dtype=np.int64),
        free=free,
        is_free=is_free,
        # All records wait, group by group.
        queue=np.argsort(labels, kind="stable"),
        waits=np.ones(n, dtype=np.bool_),
        tops=np.array([0, is_free.sum(), 0, n], dtype=np.int64),
    )


# -- kernels ----------------------------------------------------------------------------------------


def add_up(s: Groups, g: int) -> None:
    """Recompute the sums of a group, so that rounding does not pile up."""
    x, member, sums = s.x, s.member, s.sums
    for j in range(x.shape[1]):
        sums[g, j] = 0.0
    for i in range(s.size[g]):
        record = member[g, i]
        for j in range(x.shape[1]):
            sums[g, j] += x[record, j]
    for i in range(s.size[g]):
        record = member[g, i]
        inner = 0.0
        for j in range(x.shape[1]):
            inner += sums[g, j] * x[record, j]
        s.own[record] = inner


def queue_group(s: Groups, g: int) -> None:
    """Put the records of a group into the queue."""
    queue, waits, tops = s.queue, s.waits, s.tops
    for i in range(s.size[g]):
        record = s.member[g, i]
        if not waits[record]:
            waits[record] = True
            queue[(tops[FIRST] + tops[WAITING]) % len(queue)] = record
            tops[WAITING] += 1


def relocate(s: Groups, record: int, g: int) -> None:
    """Put a record into another group."""
    member, place, size = s.member, s.place, s.size
    old = s.label[record]
    last = size[old] - 1
    moved = member[old, last]
    member[old, place[record]] = moved
    place[moved] = place[record]
    size[old] = last
    member[g, size[g]] = record
    place[record] = size[g]
    size[g] += 1
    s.label[record] = g
    if last == 0 and not s.is_free[old]:
        s.is_free[old] = True
        s.free[s.tops[FREE]] = old
        s.tops[FREE] += 1
    add_up(s, old)
    add_up(s, g)


def shift(s: Groups, record: int, g: int) -> None:
    """Put a record into another group, and log where it came from."""
    s.log[s.tops[LOGGED], 0] = record
    s.log[s.tops[LOGGED], 1] = s.label[record]
    s.tops[LOGGED] += 1
    relocate(s, record, g)


def undo_changes(s: Groups) -> None:
    """Take all logged changes back."""
    while s.tops[LOGGED] > 0:
        s.tops[LOGGED] -= 1
        relocate(s, s.log[s.tops[LOGGED], 0], s.log[s.tops[LOGGED], 1])


def compute_share(x: Floats, sums: Floats, size: Ints, record: int, g: int, step: int) -> float:
    """Return how much SSE rises when a record joins a group , or falls when it leaves its own."""
    n = size[g]
    if n == 0 or n + step == 0:
        return 0.0
    total = 0.0
    for j in range(x.shape[1]):
        gap = x[record, j] - sums[g, j] / n
        total += gap * gap
    return total * n / (n + step)


def try_best_change(s: Groups, record: int, k: int, tolerance: float) -> float:
    """Make the best change that a record takes part in; return the change of SSE, 0 for none.

    With S and n the sum and size of a group, exchanging a of u for b of v changes SSE by
    (2 S_u e - e e) / n_u - (2 S_v e + e e) / n_v, e = a - b. All that does not depend on b is computed
    once a group.
    """
    x, near, label, member, size, sums = s.x, s.near, s.label, s.member, s.size, s.sums
    square, own, tilt = s.square, s.own, s.tilt
    p = x.shape[1]
    u = label[record]
    n_u = size[u]
    spare = n_u > k
    gain = compute_share(x, sums, size, record, u, LEAVES)
    best, partner, to, onward = -tolerance, -1, -1, -1
    for t in range(min(LOOK, near.shape[1])):
        v = label[near[record, t]]
        if v == u or is_group_listed(label, near, record, t, v):
            continue
        n_v = size[v]
        inverse = 1.0 / n_u + 1.0 / n_v
        across = 0.0
        for j in range(p):
            across += sums[v, j] * x[record, j]
            tilt[j] = 2.0 * (inverse * x[record, j] - sums[u, j] / n_u)
        if spare and n_v < 2 * k - 1:
            change = compute_share(x, sums, size, record, v, JOINS) - gain
            if change < best:
                best, partner, to, onward = change, -1, v, -1
        base = 2.0 * own[record] / n_u - 2.0 * across / n_v - inverse * square[record]
        for i in range(n_v):
            other = member[v, i]
            change = base + 2.0 * own[other] / n_v - inverse * square[other]
            for j in range(p):
                change += tilt[j] * x[other, j]
            if change < best:
                best, partner, to, onward = change, other, v, u
            if not spare:
                continue
            inner = 0.0
            for j in range(p):
                inner += x[record, j] * x[other, j]
            change = (
                (square[record] - square[other])
                - (2.0 * (across - own[other] - inner) + square[record] + square[other]) / n_v
                - gain
            )
            if change >= best:
                continue
            for r in range(min(CHAIN, near.shape[1])):
                w = label[near[other, r]]
                if w in (u, v) or size[w] >= 2 * k - 1:
                    continue
                whole = change + compute_share(x, sums, size, other, w, JOINS)
                if whole < best:
                    best, partner, to, onward = whole, other, v, w
    if to < 0:
        return 0.0
    shift(s, record, to)
    if partner >= 0:
        shift(s, partner, onward)
        queue_group(s, onward)
    queue_group(s, u)
    queue_group(s, to)
    return best


def is_group_listed(label: Ints, near: Ints, record: int, t: int, v: int) -> bool:
    """Return True when a nearer record than the t-th nearest is in group v."""
    for r in range(t):  # noqa: SIM110 - compiled
        if label[near[record, r]] == v:
            return True
    return False


def process_queue(s: Groups, k: int, tolerance: float, most: int) -> float:
    """Look at waiting records until none is left, or at most this many; return the change of SSE."""
    total = 0.0
    queue, waits, tops = s.queue, s.waits, s.tops
    done = 0
    while tops[WAITING] > 0 and done < most and tops[LOGGED] + 4 < len(s.log):
        record = queue[tops[FIRST]]
        tops[FIRST] = (tops[FIRST] + 1) % len(queue)
        tops[WAITING] -= 1
        waits[record] = False
        total += try_best_change(s, record, k, tolerance)
        done += 1
    return total


def empty_group(s: Groups) -> int:
    """Return a group without records, or -1."""
    while s.tops[FREE] > 0:
        s.tops[FREE] -= 1
        g = s.free[s.tops[FREE]]
        s.is_free[g] = False
        if s.size[g] == 0:
            return g
    return -1


def start_group(s: Groups, record: int, k: int, skip: int) -> tuple[float, bool]:
    """Form a group of a record and its nearest but one; groups left too small are dissolved into others.

    ``skip`` is the rank of the one left out; from k - 1 on it is none. Return the change of SSE, and False
    when a dissolved record finds no place.
    """
    x, near, label, size, sums = s.x, s.near, s.label, s.size, s.sums
    total = 0.0
    g = empty_group(s)
    if g < 0:
        return total, False
    donors = np.empty(k, dtype=np.int64)
    for t in range(k):
        one = record if t == 0 else near[record, t - 1 if t - 1 < skip else t]
        donors[t] = label[one]
        total -= compute_share(x, sums, size, one, label[one], LEAVES)
        total += compute_share(x, sums, size, one, g, JOINS)
        shift(s, one, g)
    queue_group(s, g)
    for t in range(k):
        poor: int = donors[t]
        while 0 < size[poor] < k:
            one = s.member[poor, 0]
            best, to = np.inf, -1
            for r in range(near.shape[1]):
                v = label[near[one, r]]
                if v != poor and k <= size[v] < 2 * k - 1:
                    change = compute_share(x, sums, size, one, v, JOINS)
                    if change < best:
                        best, to = change, v
            if to < 0:
                return total, False
            total += best - compute_share(x, sums, size, one, poor, LEAVES)
            shift(s, one, to)
            queue_group(s, to)
        queue_group(s, poor)
    return total, True


def empty_queue(s: Groups) -> None:
    """Empty the queue."""
    queue, waits, tops = s.queue, s.waits, s.tops
    while tops[WAITING] > 0:
        waits[queue[tops[FIRST]]] = False
        tops[FIRST] = (tops[FIRST] + 1) % len(queue)
        tops[WAITING] -= 1


def perturb_groups(s: Groups, k: int, records: Ints, skips: Ints, tolerance: float) -> float:
    """Try to found a group around each record in turn; keep what lowers SSE, and return by how much."""
    total = 0.0
    for i in range(len(records)):
        s.tops[LOGGED] = 0
        change, placed = start_group(s, records[i], k, skips[i])
        if placed:
            change += process_queue(s, k, tolerance, PATIENCE + MORE_PATIENCE * k)
        empty_queue(s)
        if placed and change < -tolerance:
            total += change
        else:
            undo_changes(s)
    return total


KERNELS = Kernels(
    globals(),
    add_up,
    queue_group,
    relocate,
    shift,
    undo_changes,
    compute_share,
    is_group_listed,
    try_best_change,
    process_queue,
    empty_group,
    start_group,
    empty_queue,
    perturb_groups,
)
