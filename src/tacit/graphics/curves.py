"""What may be done to protected values without touching the data again: smoothing, shares, contours."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats


def smooth(values: Floats, passes: int) -> Floats:
    """Average each value with its two neighbours, along every axis, again and again; ends are repeated.

    Protection is unchanged, as nothing but protected values goes in. (The paper calls the map bijective;
    the three-point mean loses information for some lengths, which does not matter for safety.)
    """
    found = np.asarray(values, dtype=np.float64)
    for _ in range(passes):
        for axis in range(found.ndim):
            ends = [(0, 0)] * found.ndim
            ends[axis] = (1, 1)
            padded = np.moveaxis(np.pad(found, ends, mode="edge"), axis, 0)
            found = np.moveaxis((padded[:-2] + padded[1:-1] + padded[2:]) / 3, 0, axis)
    return found


def smoothed_amplitude(shape: tuple[int, ...], passes: int) -> float:
    """Return the standard deviation that white noise of amplitude 1 keeps after smoothing, away from the ends."""
    kept = 1.0
    for n in shape:
        impulse = np.zeros(2 * passes + 1 if n > 2 * passes else n)
        impulse[len(impulse) // 2] = 1.0
        kept *= float(np.sqrt((smooth(impulse, passes) ** 2).sum()))
    return kept


def as_shares(values: Floats) -> Floats:
    """Return max(v, 0) / sum max(v, 0): the non-negative, normalised version."""
    positive = np.maximum(values, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(values.shape, 1.0 / values.size)


def mass_level(values: Floats, mass: float) -> float:
    """Return the level whose region above encloses a mass: sorted descending, where the sum first reaches it."""
    ordered = np.sort(as_shares(values).ravel())[::-1]
    place = int(np.searchsorted(np.cumsum(ordered), mass - 1e-12))
    return float(ordered[min(place, len(ordered) - 1)])


def cumulate(counts: Floats) -> Floats:
    """Return a distribution function at the borders of bins from protected counts: 0 first, 1 last, rising."""
    from sklearn.isotonic import isotonic_regression

    # The nearest rising sequence, in least squares (pool adjacent violators).
    total = np.insert(np.cumsum(counts), 0, 0.0)
    rising = np.maximum(isotonic_regression(np.asarray(total, dtype=np.float64)), 0.0)
    if rising[-1] <= rising[0]:
        return np.linspace(0.0, 1.0, len(rising))
    return np.asarray((rising - rising[0]) / (rising[-1] - rising[0]))


def invert(borders: Floats, rising: Floats, shares: Floats) -> Floats:
    """Return where a distribution function that is linear between borders reaches some shares."""
    grow = rising + np.arange(len(rising)) * 1e-15
    return np.asarray(np.interp(shares, grow, borders))
