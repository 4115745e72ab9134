"""Groups of k around the records that are farthest out by a robust distance."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.mdav_groups import Rest
from tacit.records.microaggregation.grouping.sorting import ROBUST_RECORDS
from tacit.registry import register
from tacit.stats.robust import Covariance, mahalanobis_squared, robust_covariance


@register
class RobustDistanceGroups(GroupingMethod):
    """Replace numbers by the means of groups of k records, outliers by a robust distance first.

    The record with the largest robust Mahalanobis distance RMD_i of those left forms a group with its k - 1
    nearest records (Euclidean, standardised columns), and so on while 2k or more are left; the rest is the last
    group. Centre and covariance are robust, so that outliers are served first even where they come in
    groups, which pull the mean of MDAV towards themselves. Distances RMD_i are computed once; above 50,000 records
    from a random sample of that many. Ties go to the record that comes first.

    References
    ----------
    Templ, Meindl (2008), Robustification of microdata masking methods and the comparison with existing methods,
    PSD 2008, LNCS 5262, 113-126.
    Rousseeuw, van Driessen (1999), A fast algorithm for the minimum covariance determinant estimator,
    Technometrics 41, 212-223.
    """

    kind: Literal["robust_distance_groups"] = "robust_distance_groups"
    covariance: Covariance = Field(
        default="mcd", description="how centre and covariance of the distances are estimated"
    )

    draws: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        n = len(x)
        labels = np.full(n, -1, dtype=np.int64)
        order = np.argsort(-outlyingness(x, self.covariance, rng), kind="stable")
        rest = Rest.of(x)
        left, group, following = n, 0, 0
        while left >= 2 * self.k:
            tick("forming groups", 1.0 - left / n)
            while labels[order[following]] >= 0:
                following += 1
            near = rest.nearest(rest.distances(x[order[following]]), self.k)
            labels[rest.records[near]] = group
            rest.take(near)
            left -= self.k
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
