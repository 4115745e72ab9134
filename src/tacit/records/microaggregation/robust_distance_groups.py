"""Groups of k around the records that are farthest out by a robust distance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register
from tacit.stats.robust import Covariance


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

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    draws: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.robust_groups import group_by_robust_distance

        return group_by_robust_distance(x, self.k, covariance=self.covariance, rng=rng, tick=tick)
