"""The groups with the least loss of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class OptimalGroups(GroupingMethod):
    """Replace numbers by the means of the groups with the least loss of all, proven.

    One column is solved at any size. With several columns the problem is NP-hard: up to 18 records are
    solved for any k, up to 10,000 for k = 2, and larger cases are refused.

    References
    ----------
    Oganian, Domingo-Ferrer (2001), On the complexity of optimal microaggregation for statistical disclosure
    control, Statistical Journal of the UNECE 18, 345-354.
    """

    kind: Literal["optimal_groups"] = "optimal_groups"

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.exhaustive import find_optimal_groups

        return find_optimal_groups(x, self.k, rng=rng, tick=tick)
