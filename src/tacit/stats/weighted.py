"""Weighted quantiles: from the empirical distribution, and from a kernel estimate of it."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import ndtr

#: Halvings of the search interval for a kernel quantile: to the last digit of a float.
HALVINGS = 60


def weighted_quantiles(y: Floats, w: Floats, q: Floats) -> Floats:
    """Return for each share the smallest value whose cumulated share of the weight reaches it."""
    order = np.argsort(y, kind="stable")
    passed = np.cumsum(w[order])
    share = passed / passed[-1]
    # Shares that differ by rounding only are meant to be equal.
    at = np.searchsorted(share, np.asarray(q) - 1e-12, side="left")
    return y[order][np.minimum(at, len(y) - 1)]


def kernel_quantiles(y: Floats, w: Floats, q: Floats) -> Floats:
    """Return quantiles of a weighted Gaussian kernel estimate, with Silverman's bandwidth.

    The bandwidth is 1.06 times the weighted standard deviation times n^(-1/5), with the effective
    number of records n = (sum w)^2 / sum w^2.
    """
    share = w / w.sum()
    centre = float(dot(share, y))
    spread = float(np.sqrt(dot(share, (y - centre) ** 2)))
    if spread == 0:
        return np.full(len(q), centre)
    h = 1.06 * spread * float(1.0 / (share**2).sum()) ** -0.2
    low = np.full(len(q), y.min() - 10 * h)
    high = np.full(len(q), y.max() + 10 * h)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = dot(share, ndtr((middle[None, :] - y[:, None]) / h)) < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
