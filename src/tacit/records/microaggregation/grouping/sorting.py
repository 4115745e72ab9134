"""Groups of consecutive records in a sorted order: by a column, a sum, or a projection.

Sorting is fast (n log n) and its groups are contiguous on one line through the data; records that are
alike on the line may be far apart otherwise, so with several weakly related columns much is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.algebra import dot
from tacit.stats.moments import scale_of
from tacit.stats.projection import Middle, ScaleName, first_component, pursue_directions
from tacit.stats.robust import Covariance, robust_covariance

#: A robust covariance comes from a random sample of at most this many records.
ROBUST_RECORDS = 50_000


def blocks(order: Ints, k: int) -> Ints:
    """Return labels of consecutive blocks of k in an order; the remainder joins the last block."""
    n = len(order)
    labels = np.empty(n, dtype=np.int64)
    labels[order] = np.minimum(np.arange(n) // k, max(n // k - 1, 0))
    return labels


def by_score(score: Floats, k: int) -> Ints:
    """Return blocks of k by ascending score; ties stay in record order."""
    return blocks(np.argsort(score, kind="stable"), k)


def group_in_file_order(x: Floats, k: int, **_: Any) -> Ints:
    """Return blocks in file order."""
    return blocks(np.arange(len(x)), k)


def simple_sorted(x: Floats, k: int, **_: Any) -> Ints:
    """Return blocks by the only column: individual ranking."""
    assert x.shape[1] == 1, "individual ranking groups one column at a time"
    return by_score(x[:, 0], k)


def zscores(x: Floats, k: int, **_: Any) -> Ints:
    """Return blocks by the sum of the z-scores of a record."""
    return by_score(scale_of(x).there(x).sum(axis=1), k)


def pca(x: Floats, k: int, **_: Any) -> Ints:
    """Return blocks by the score on the first principal component."""
    centred = x - x.mean(axis=0)
    return by_score(dot(centred, first_component(dot(centred.T, centred))), k)


def robust_pca(
    x: Floats, k: int, *, covariance: Covariance = "mcd", rng: np.random.Generator, **_: Any
) -> Ints:
    """Return blocks by the score on the first eigenvector of a robust covariance.

    Above 50,000 records the covariance is that of a random sample of that many. At most 2p records are too
    few for a robust covariance of p columns; they are sorted by projection pursuit.
    """
    x = x[:, np.ptp(x, axis=0) > 0]
    n, p = x.shape
    if p == 0 or (covariance != "classical" and n <= 2 * p):
        return projection_pursuit(x, k, rng=rng)
    some = x if n <= ROBUST_RECORDS else x[rng.choice(n, size=ROBUST_RECORDS, replace=False)]
    centre, found = robust_covariance(some, covariance, rng)
    return by_score(dot(x - centre, first_component(found)), k)


def projection_pursuit(
    x: Floats,
    k: int,
    *,
    scale: ScaleName = "mad",
    middle: Middle = "median",
    rng: np.random.Generator,
    **_: Any,
) -> Ints:
    """Return blocks by the score on the first direction of projection pursuit.

    Records that are all alike stay in file order.
    """
    if not np.ptp(x, axis=0).any():
        return group_in_file_order(x, k)
    directions, _spread = pursue_directions(x, rng, scale=scale, middle=middle)
    return by_score(dot(x - np.median(x, axis=0), directions[0]), k)
