"""Hitting sets: the lightest columns that meet every one of some sets of columns, by branch and bound."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.numerics.kernels import Kernels

#: A difference in weight, as a share of all weights, that does not count.
SLIGHT = 1e-12


def find_hitting_sets(
    patterns: Ints, sets: Ints, weights: Floats, bits: int, nodes: int
) -> tuple[Ints, Flags]:
    """Return for each pattern the bits of the lightest columns that meet its sets, and whether that is proven.

    A pattern has words of ``bits`` bits each, which say what sets belong to it; each set of columns is given as bits. After
    so many ``nodes`` of the search for one pattern the best columns so far are taken.
    """
    turns = float(patterns.shape[1]) * len(sets) * 20
    search = KERNELS.pick(turns)["search_patterns"]
    chosen, exact = search(patterns, sets, weights, bits, nodes, SLIGHT * float(weights.sum()))
    return np.asarray(chosen), np.asarray(exact)


def search_patterns(
    patterns: Ints, sets: Ints, weights: Floats, bits: int, nodes: int, slight: float
) -> tuple[Ints, Flags]:
    """Search for each pattern by itself."""
    n = patterns.shape[1]
    chosen = np.zeros(n, dtype=np.int64)
    exact = np.ones(n, dtype=np.bool_)
    found = np.zeros(len(sets), dtype=np.int64)
    for p in range(n):
        m = 0
        for j in range(len(sets)):
            if not patterns[j // bits, p] >> (j % bits) & 1:
                continue
            # A set that holds another is met with it.
            needless = False
            for i in range(m):
                if found[i] & ~sets[j] == 0:
                    needless = True
                    break
            if needless:
                continue
            kept = 0
            for i in range(m):
                if sets[j] & ~found[i] != 0:
                    found[kept] = found[i]
                    kept += 1
            found[kept] = sets[j]
            m = kept + 1
        chosen[p], exact[p] = search_one(found[:m], weights, nodes, slight)
    return chosen, exact


def search_one(sets: Ints, weights: Floats, nodes: int, slight: float) -> tuple[int, bool]:
    """Return the lightest columns that meet all sets, and False when the search was cut off.

    A node branches on the columns of a set that is not met; a column tried before is left out of later branches, so
    that no set of columns comes twice. A node is left when its weight and one column each for sets without a
    common column already weigh more than the best.
    """
    q = len(weights)
    best, best_weight, best_size = meet_greedily(sets, weights)
    picked = np.zeros(q + 2, dtype=np.int64)
    barred = np.zeros(q + 2, dtype=np.int64)
    branch = np.zeros(q + 2, dtype=np.int64)
    weight = np.zeros(q + 2, dtype=np.float64)
    depth = 0
    fresh = True
    visited = 0
    while depth >= 0:
        if fresh:
            fresh = False
            visited += 1
            if visited > nodes:
                return best, False
            branch[depth] = 0
            bound = weight[depth]
            used = 0
            narrow = q + 1
            closed = False
            met = True
            for i in range(len(sets)):
                if sets[i] & picked[depth]:
                    continue
                met = False
                free = sets[i] & ~barred[depth]
                width = 0
                least = np.inf
                for c in range(q):
                    if free >> c & 1:
                        width += 1
                        least = min(least, weights[c])
                if width == 0:
                    closed = True
                    break
                if width < narrow:
                    narrow = width
                    branch[depth] = free
                if free & used == 0:
                    used |= free
                    bound += least
            if met:
                size = 0
                for c in range(q):
                    size += picked[depth] >> c & 1
                lighter = weight[depth] < best_weight - slight
                equal = not lighter and weight[depth] <= best_weight + slight
                if lighter or (
                    equal
                    and (
                        size < best_size or (size == best_size and comes_first(picked[depth], best))
                    )
                ):
                    best, best_weight, best_size = picked[depth], weight[depth], size
                branch[depth] = 0
            elif closed or bound > best_weight + slight:
                branch[depth] = 0
        if branch[depth] == 0:
            depth -= 1
            continue
        c = 0
        while not branch[depth] >> c & 1:
            c += 1
        branch[depth] &= ~(1 << c)
        picked[depth + 1] = picked[depth] | 1 << c
        barred[depth + 1] = barred[depth]
        weight[depth + 1] = weight[depth] + weights[c]
        barred[depth] |= 1 << c
        depth += 1
        fresh = True
    return best, True


def meet_greedily(sets: Ints, weights: Floats) -> tuple[int, float, int]:
    """Return columns that meet all sets, most sets for the weight first, with weight and number."""
    q = len(weights)
    picked = 0
    total = 0.0
    size = 0
    while True:
        best = -1
        best_score = 0.0
        for c in range(q):
            met = 0
            for i in range(len(sets)):
                if sets[i] & picked == 0 and sets[i] >> c & 1:
                    met += 1
            score = met / weights[c]
            if score > best_score:
                best, best_score = c, score
        if best < 0:
            return picked, total, size
        picked |= 1 << best
        total += weights[best]
        size += 1


def comes_first(one: int, other: int) -> bool:
    """Return True when one set of as many columns comes before another in column order."""
    apart = one ^ other
    if apart == 0:
        return False
    lowest = apart & -apart
    return one & lowest != 0


KERNELS = Kernels(globals(), comes_first, meet_greedily, search_one, search_patterns)
