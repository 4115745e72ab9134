"""Groups of k around the records farthest out by a robust Mahalanobis distance.

References
----------
Templ, Meindl (2008), Robustification of microdata masking methods and the comparison with existing methods,
PSD 2008, LNCS 5262, 113-126.
"""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.mdav_groups import Rest
from tacit.records.microaggregation.grouping.sorting import ROBUST_RECORDS
from tacit.stats.robust import Covariance, mahalanobis_squared, robust_covariance


def group_by_robust_distance(
    x: Floats, k: int, *, covariance: Covariance, rng: np.random.Generator, tick: Tick
) -> Ints:
    """Return groups of k, formed around the records left in the order of their robust distance."""
    n = len(x)
    labels = np.full(n, -1, dtype=np.int64)
    order = np.argsort(-outlyingness(x, covariance, rng), kind="stable")
    rest = Rest.of(x)
    left, group, following = n, 0, 0
    while left >= 2 * k:
        tick("forming groups", 1.0 - left / n)
        while labels[order[following]] >= 0:
            following += 1
        near = rest.nearest(rest.distances(x[order[following]]), k)
        labels[rest.records[near]] = group
        rest.take(near)
        left -= k
        group += 1
        rest = rest.shorten_arrays(left)
    labels[labels < 0] = group
    return labels


def outlyingness(x: Floats, covariance: Covariance, rng: np.random.Generator) -> Floats:
    """Return squared Mahalanobis distances on the columns that vary.

    At most 2p records are too few for a robust covariance of p columns; theirs is classical.
    """
    x = x[:, np.ptp(x, axis=0) > 0]
    n, p = x.shape
    if p == 0:
        return np.zeros(n)
    some = x if n <= ROBUST_RECORDS else x[rng.choice(n, size=ROBUST_RECORDS, replace=False)]
    found = robust_covariance(some, covariance if n > 2 * p else "classical", rng)
    return mahalanobis_squared(x, *found)
