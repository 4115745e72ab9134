"""What a published swapping window tells: bounds on ranks, and where a swapped value came from."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats
from tacit.records.swapping.rank_pairs import KERNELS


def window_bounds(released: Floats, window: int) -> tuple[Floats, Floats]:
    """Return the bounds that a window of ranks puts on the original of each released value.

    Swapping exchanges values, so the sorted release is the sorted original: a value at rank r came from a
    record of rank r - window .. r + window, clipped at the ends. Equal values span several ranks, and the
    widest bounds are given.
    """
    ordered = np.sort(released)
    first = np.searchsorted(ordered, released, side="left")
    last = np.searchsorted(ordered, released, side="right") - 1
    n = len(released)
    return (
        ordered[np.maximum(first - window, 0)],
        ordered[np.minimum(last + window, n - 1)],
    )


def swap_posterior(n: int, window: int, repeats: int, rng: np.random.Generator) -> Floats:
    """Return the chance of each original rank given the released rank, from repeated rank swaps.

    Entry (r, window + d) is the share of repeats in which the record with released rank r had the
    original rank r + d. Ranks are taken in rising order, and each that is still free is exchanged with a
    free one at most ``window`` above, picked at random (one that finds none keeps its own).
    """
    counts = np.zeros((n, 2 * window + 1), dtype=np.int64)
    ranks = np.arange(n)
    pair = KERNELS.pick(1.5 * n * repeats)["pair_up"]
    for _ in range(repeats):
        counts[ranks, window + pair(n, window, rng.random(n)) - ranks] += 1
    return counts / repeats
