"""Groups of consecutive records in a sorted order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.stats.moments import Floats, Ints


def blocks(order: Ints, k: int) -> Ints:
    """Return labels of consecutive blocks of k in an order; the remainder joins the last block."""
    n = len(order)
    labels = np.empty(n, dtype=np.int64)
    labels[order] = np.minimum(np.arange(n) // k, max(n // k - 1, 0))
    return labels


def by_score(score: Floats, k: int) -> Ints:
    """Return blocks of k by ascending score; ties stay in record order."""
    return blocks(np.argsort(score, kind="stable"), k)


def zscores(x: Floats, k: int, **_: Any) -> Ints:
    """Return blocks by the sum of the z-scores of a record."""
    spread = x.std(axis=0)
    z = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return by_score(z.sum(axis=1), k)
