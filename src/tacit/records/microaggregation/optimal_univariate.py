"""Each column grouped by itself with the least loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class OptimalUnivariate(GroupingMethod):
    """Replace the numbers of each column by the means of groups of k to 2k - 1 with the least loss.

    Every column is sorted by itself; a recursion over the size of the last group,

        f(j) = min over s = k..2k-1 of f(j - s) + SSE(x_(j-s+1), ..., x_(j)),

    finds the groups of that column with the least loss of all.

    References
    ----------
    Hansen, Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation, IEEE
    Transactions on Knowledge and Data Engineering 15, 1043-1044.
    """

    kind: Literal["optimal_univariate"] = "optimal_univariate"

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    each_column: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.univariate import optimal_univariate

        return optimal_univariate(x, self.k, rng=rng, tick=tick)
