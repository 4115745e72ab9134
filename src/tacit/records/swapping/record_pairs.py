"""Who exchanges places with whom in targeted record swapping.

Households stand in the order of (make-up, area), so that the possible partners of one, those of its
make-up that live in another area, are at most two stretches of the order. A tree of partial sums (Fenwick
1994) over the weights of the households that have not moved gives a random partner, with a probability in
proportion to its weight, in O(log n).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.numerics.kernels import Kernels

#: Weights are whole numbers up to this, so that sums are exact.
UNIT = 1 << 20


# -- kernels ---------------------------------------------------------------------------------------


def add(tree: Any, place: int, amount: int) -> None:
    """Add to the weight at a place."""
    i = place + 1
    while i < len(tree):
        tree[i] += amount
        i += i & -i


def sum_weights_before(tree: Any, place: int) -> int:
    """Return the sum of the weights before a place."""
    total = 0
    i = place
    while i > 0:
        total += tree[i]
        i -= i & -i
    return total


def find(tree: Any, amount: int) -> int:
    """Return the place at which the sum of weights passes an amount."""
    step = 1
    while 2 * step < len(tree):
        step *= 2
    i = 0
    while step > 0:
        if i + step < len(tree) and tree[i + step] <= amount:
            i += step
            amount -= tree[i]
        step //= 2
    return i


def pick_by_weight(
    tree: Any, low: int, high: int, skip_low: int, skip_high: int, uniform: float
) -> int:
    """Return a random place of [low, high) outside [skip_low, skip_high), by weight; -1 for none."""
    start, stop = sum_weights_before(tree, low), sum_weights_before(tree, high)
    gap, end = sum_weights_before(tree, skip_low), sum_weights_before(tree, skip_high)
    total = stop - start - (end - gap)
    if total <= 0:
        return -1
    amount = start + int(uniform * total)
    if amount >= gap:
        amount += end - gap
    return find(tree, amount)


def pair_places(
    candidates: Any,
    quota_of: Any,
    quota: Any,
    group: Any,
    near: Any,
    area: Any,
    weight: Any,
    partner: Any,
    uniform: Any,
) -> None:
    """Give candidates, in their order, a partner in another area, until the quota of their area is used up.

    ``group``, ``near`` and ``area`` hold the bounds of the stretches of the same make-up, of the same
    make-up in the wider area, and in the area itself, at each place. ``partner`` is filled in place.
    """
    n = len(weight)
    tree = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        if partner[i] == i:
            tree[i + 1] += weight[i]
        j = (i + 1) + ((i + 1) & -(i + 1))
        if j <= n:
            tree[j] += tree[i + 1]
    for c in range(len(candidates)):
        i = candidates[c]
        if partner[i] != i or quota[quota_of[i]] <= 0:
            continue
        low, high = area[i, 0], area[i, 1]
        j = pick_by_weight(tree, near[i, 0], near[i, 1], low, high, uniform[c])
        if j < 0:
            j = pick_by_weight(tree, group[i, 0], group[i, 1], low, high, uniform[c])
        if j < 0:
            continue
        add(tree, i, -weight[i])
        add(tree, j, -weight[j])
        partner[i] = j
        partner[j] = i
        quota[quota_of[i]] -= 1


def repair(stuck: Any, must: Any, group: Any, area: Any, fresh: Any, partner: Any) -> None:
    """Find partners for households that must move but were left, by undoing pairs of their make-up.

    Those left in a make-up all live in one area, X, and so do all that did not move. A pair (a, b) with a
    outside X helps in two ways: a takes the one left, and b stays, if it need not move; or b is outside X
    as well and takes another household of X: best one that must move too, else one that did not move, or
    one whose partner need not. ``stuck`` is ascending; ``fresh`` marks the places paired on this level.
    """
    begun = -1
    a = spare = 0
    for s in range(len(stuck)):
        u = stuck[s]
        low, high = area[u, 0], area[u, 1]
        if partner[u] != u or (group[u, 0] == low and group[u, 1] == high):
            continue
        if low != begun:
            begun = spare = low
            a = group[u, 0]
        other = s + 1
        while other < len(stuck) and stuck[other] < high and partner[stuck[other]] != stuck[other]:
            other += 1
        second = stuck[other] if other < len(stuck) and stuck[other] < high else -1
        while spare < high and (
            must[spare] if partner[spare] == spare else must[partner[spare]] or not fresh[spare]
        ):
            spare += 1
        while a < group[u, 1]:
            if low <= a < high:
                a = high
                continue
            b = partner[a]
            outside = b < low or b >= high
            if not fresh[a] or b == a:
                a += 1
                continue
            if second < 0 and must[b] and spare < high:
                second = spare
            if outside and second >= 0:
                partner[partner[second]] = partner[second]
                fresh[partner[second]] = False
                partner[b] = second
                partner[second] = b
                fresh[second] = True
            elif not must[b]:
                partner[b] = b
                fresh[b] = False
                spare = min(spare, b) if low <= b < high else spare
            else:
                a += 1
                continue
            partner[a] = u
            partner[u] = a
            fresh[u] = True
            break


KERNELS = Kernels(globals(), add, sum_weights_before, find, pick_by_weight, pair_places, repair)


# -- levels ----------------------------------------------------------------------------------------


def swap_partners(
    areas: Ints,
    make_ups: list[Ints],
    must: Flags,
    risk: Floats,
    share: float,
    rng: np.random.Generator,
    tick: Callable[[float], None],
) -> tuple[Ints, Ints, int]:
    """Return with whom each household exchanges its place, and the profile it was matched by.

    ``areas`` holds the area of each household on each level, broadest first, and ``make_ups`` what partners must
    share, one array per profile, tried in order. ``must`` says who must move across which level, ``risk`` is the
    weight with which households are drawn and serve as partners there, and ``share`` of the households of each
    lowest area moves. A household that stays is its own partner, and has the profile -1; the last number counts the
    exchanges that the share asks for and that found no partner.
    """
    n, levels = areas.shape
    partner, profile = np.arange(n), np.full(n, -1)
    for level in range(levels):
        needed = must[:, level] & (partner == np.arange(n))
        for p, make_up in enumerate(make_ups):
            tick((level + p / len(make_ups)) / (levels + 1))
            left = needed & (partner == np.arange(n))
            no_limit = np.zeros(n, dtype=np.int64), np.full(1, n, dtype=np.int64)
            moved = move_households(
                areas, make_up, level, left, no_limit, risk[:, level], partner, rng, required=True
            )
            profile[moved] = p
    quota_of, quota = areas[:, -1], quotas(areas[:, -1], partner, share, rng)
    for _ in range(2):
        for p, make_up in enumerate(make_ups):
            tick((levels + p / len(make_ups)) / (levels + 1))
            who = (partner == np.arange(n)) & (quota[quota_of] > 0)
            moved = move_households(
                areas, make_up, levels - 1, who, (quota_of, quota), risk[:, -1], partner, rng
            )
            profile[moved] = p
        # What some areas could not do is done by whichever can.
        quota_of, quota = np.zeros_like(quota_of), quota.sum(keepdims=True)
    profile[partner == np.arange(n)] = -1
    return partner, profile, int(quota[0])


def move_households(
    areas: Ints,
    make_up: Ints,
    level: int,
    who: Flags,
    quotas_left: tuple[Ints, Ints],
    risk: Floats,
    partner: Ints,
    rng: np.random.Generator,
    *,
    required: bool = False,
) -> Flags:
    """Move some households across a level while the quotas of their areas last; return who moved.

    Those that are ``required`` to move and are left without a partner may undo other exchanges.
    """
    everyone = np.arange(len(partner))
    stay = partner == everyone
    if not who.any():
        return np.zeros(len(partner), dtype=bool)
    order, bounds = line_up(areas, make_up, level)
    place = np.empty_like(order)
    place[order] = everyone
    beside, risk = place[partner[order]], risk[order]
    candidates = draw_places(who[order], risk, rng)
    weights = np.maximum(1, np.rint(risk / max(float(risk.max()), 1e-300) * UNIT)).astype(np.int64)
    quota_of, quota = quotas_left
    chances = rng.random(len(candidates))
    kernels = KERNELS.pick(20 * len(partner))
    kernels["pair_places"](candidates, quota_of[order], quota, *bounds, weights, beside, chances)
    if required:
        fresh = (beside != everyone) & stay[order]
        stuck = np.sort(candidates[beside[candidates] == candidates])
        group, _, area = bounds
        kernels["repair"](stuck, who[order], group, area, fresh, beside)
    partner[order] = order[beside]
    return np.asarray((partner != everyone) & stay)


def line_up(areas: Ints, make_up: Ints, level: int) -> tuple[Ints, tuple[Ints, ...]]:
    """Return the order of households by make-up, wider area and area, and the stretches that share them."""
    wider = areas[:, level - 1] if level else np.zeros(len(areas), dtype=np.int64)
    keys = (areas[:, level], wider, make_up)
    order: Ints = np.lexsort(keys)
    changes = [np.diff(key[order]) != 0 for key in reversed(keys)]
    cuts = np.logical_or.accumulate(changes, axis=0)
    return order, tuple(find_stretches(c) for c in cuts)


def draw_places(who: Flags, risk: Floats, rng: np.random.Generator) -> Ints:
    """Return some places in random order, riskier ones earlier by chance.

    Sorting exponential draws divided by weights draws without replacement in proportion to the weights
    (Efraimidis, Spirakis 2006).
    """
    places = np.flatnonzero(who)
    speed = np.maximum(risk[places], 1e-12)
    return np.asarray(places[np.argsort(rng.exponential(size=len(places)) / speed, kind="stable")])


def find_stretches(cut: Flags) -> Ints:
    """Return first place and end of the stretch of each place; ``cut`` marks where a new one begins."""
    starts = np.flatnonzero(np.r_[True, cut])
    ends = np.r_[starts[1:], len(cut) + 1]
    lengths = ends - starts
    return np.column_stack([np.repeat(starts, lengths), np.repeat(ends, lengths)])


def quotas(area: Ints, partner: Ints, share: float, rng: np.random.Generator) -> Ints:
    """Return the exchanges that each area still has to begin: one exchange moves two households.

    Half the share of an area's households is rounded up or down at random, such that the total is right;
    households that have moved already count.
    """
    size = np.bincount(area)
    moved = np.bincount(area, partner != np.arange(len(partner)), minlength=len(size))
    total = np.cumsum(share * size / 2.0)
    steps = np.floor(total + rng.random())
    wanted = np.diff(np.r_[0.0, steps]).astype(np.int64)
    return np.maximum(wanted - np.ceil(moved / 2.0).astype(np.int64), 0)
