"""Simulated input channels in the manner of section 7 of Garfinkel, Gopal and Thompson (2007).

Sizes are uniform on 1,000 to 12,000 before they are scaled to the wanted number of subjects; risky
channels are drawn until they hold a given share of the subjects; each of two risky values has a
share of exactly one tenth over all subjects.
"""

from __future__ import annotations

import numpy as np

from tacit.protect.channels.problem import Floats, Ints, Problem


def simulate(
    n_channels: int = 200,
    subjects: int = 1_000_000,
    at_risk: float = 0.15,
    tolerance: float = 1.0,
    seed: int = 0,
    n_values: int = 2,
) -> Problem:
    """Draw a problem: ``u_k = 0.1 tolerance``, ``b = 0.15 tolerance``, ``c = (0.5, 1, 1, ...)``.

    Parameters
    ----------
    n_channels
        Number of input channels, R.
    subjects
        Number of subjects; the nearest multiple of ten is taken.
    at_risk
        Share of the subjects in risky channels.
    tolerance
        The factor RT on the limits; 1 leaves no room at all.
    seed
        Seed of the draw; it does not depend on the tolerance.
    n_values
        Number of risky values, K.
    """
    rng = np.random.default_rng(seed)
    total = max(1, round(subjects / 10)) * 10
    m = _sizes(rng, n_channels, total)
    risky = _risky(rng, m, at_risk)
    # A subject holds one value, so many values cannot all have half of a channel.
    most = min(0.5, 1 / n_values)
    counts = np.column_stack(
        [_counts(rng, m, high, total // 10, most) for high in _high(rng, risky, n_values)]
    )
    u = [round(0.1 * tolerance, 12)] * n_values
    c = [0.5] + [1.0] * (n_values - 1)
    return Problem.of(m, counts, u, round(sum(c) * 0.1 * tolerance, 12), c)


def _sizes(rng: np.random.Generator, n: int, total: int) -> Ints:
    drawn = rng.uniform(1_000, 12_000, n)
    m = np.maximum(1, np.floor(drawn * total / drawn.sum())).astype(np.int64)
    m[np.argsort(-drawn)[: max(0, total - int(m.sum()))]] += 1
    m[int(m.argmax())] += total - int(m.sum())
    return m


def _risky(rng: np.random.Generator, m: Ints, share: float) -> np.ndarray:
    order = rng.permutation(len(m))
    held = np.cumsum(m[order])
    risky = np.zeros(len(m), dtype=bool)
    risky[order[: int(np.searchsorted(held, share * m.sum()))]] = True
    return risky


def _high(rng: np.random.Generator, risky: np.ndarray, n_values: int) -> np.ndarray:
    """Which channels are risky for which value: at least one each."""
    high = rng.random((n_values, len(risky))) < 0.5
    high[rng.integers(n_values, size=len(risky)), np.arange(len(risky))] = True
    return high & risky


def _counts(rng: np.random.Generator, m: Ints, high: np.ndarray, wanted: int, most: float) -> Ints:
    """Draw shares, then move the low ones towards 0.1 until the total is as wanted."""
    drawn = np.where(high, rng.uniform(0.1, most, len(m)), rng.uniform(0, 0.1, len(m)))
    counts = np.where(high, np.minimum(np.ceil(drawn * m), np.floor(most * m)), 0).astype(np.int64)
    low = ~high
    room = wanted - int(counts.sum())
    lack = 0.1 - drawn
    scale = (0.1 * m[low].sum() - room) / max(1e-9, float((m * lack)[low].sum()))
    share = np.clip(0.1 - scale * lack, 0.0, 0.1)
    counts[low] = np.floor(share[low] * m[low]).astype(np.int64)
    return _settle(counts, m, low, wanted)


def _settle(counts: Ints, m: Ints, low: np.ndarray, wanted: int) -> Ints:
    """Add single subjects to low channels, roomiest first, until the total is exact."""
    missing = wanted - int(counts.sum())
    while missing > 0:
        room: Floats = np.where(low, np.floor(0.1 * m) - counts, 0)
        order = np.argsort(-room, kind="stable")[: min(missing, int((room > 0).sum()))]
        if not len(order):
            break
        counts[order] += 1
        missing -= len(order)
    return counts
