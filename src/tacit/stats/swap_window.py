"""What a published swapping window tells: bounds on ranks, and where a swapped value came from."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tacit.stats.moments import Floats, Ints


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
    run = kernels()["tally_swaps"]
    for _ in range(repeats):
        run(rng.random(n), window, counts)
    return counts / repeats


def tally_swaps(u: Floats, window: int, counts: Ints) -> None:
    """Swap the ranks 0 .. n - 1 once and count where each came from."""
    n = len(u)
    partner = np.full(n, -1, dtype=np.int64)
    for i in range(n):
        if partner[i] >= 0:
            continue
        top = min(i + window, n - 1)
        free = 0
        for j in range(i + 1, top + 1):
            if partner[j] < 0:
                free += 1
        partner[i] = i
        if free > 0:
            pick = int(u[i] * free)
            for j in range(i + 1, top + 1):
                if partner[j] < 0:
                    if pick == 0:
                        partner[i], partner[j] = j, i
                        break
                    pick -= 1
        # A record that found nobody keeps its value.
    for i in range(n):
        counts[i, window + partner[i] - i] += 1


@functools.cache
def kernels() -> dict[str, Any]:
    """Return the kernel, compiled where numba is there."""
    from tacit.solve.kernels import compile_all, has_numba

    return compile_all([tally_swaps], globals()) if has_numba() else globals()
