"""Who exchanges with whom in a rank swap: a random partner within a window of ranks, each record once."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Kernels


def rank_partners(n: int, window: int, rng: np.random.Generator) -> Ints:
    """Return the partner of each rank 0 .. n-1; a rank without one is its own.

    Ranks are taken in ascending order; one that has not been exchanged picks uniformly among those not
    exchanged of the next ``window`` ranks (Moore 1996). A rank that finds none keeps its value.
    """
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    pair = KERNELS.pick(1.5 * n)["pair_up"]
    return np.asarray(pair(n, window, rng.random(n)))


def pair_up(n: int, window: int, uniform: Floats) -> Ints:
    """Pair ranks: the free ones of the window lie in a pool in any order, so that a pick costs O(1)."""
    partner = np.arange(n)
    pool = np.empty(min(window + 1, n), dtype=np.int32)
    seat = np.full(n, -1, dtype=np.int32)
    filled = 0
    entering = 0
    for i in range(n):
        while entering < n and entering <= i + window:
            pool[filled] = entering
            seat[entering] = filled
            filled += 1
            entering += 1
        if seat[i] < 0:
            continue
        filled -= 1
        last = pool[filled]
        pool[seat[i]] = last
        seat[last] = seat[i]
        if filled == 0:
            continue
        j = pool[int(uniform[i] * filled)]
        filled -= 1
        last = pool[filled]
        pool[seat[j]] = last
        seat[last] = seat[j]
        seat[j] = -1
        partner[i] = j
        partner[j] = i
    return partner


KERNELS = Kernels(globals(), pair_up)
