"""Groups of k in the order of the first principal component."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class SortByComponent(GroupingMethod):
    """Replace numbers by the means of k records that are alike on the first principal component.

    The records are sorted by their score on the direction in which they vary most, and every k of them form
    a group.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure
    control, IEEE Transactions on Knowledge and Data Engineering 14, 189-201.
    """

    kind: Literal["sort_by_component"] = "sort_by_component"

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    projects: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.sorting import pca

        return pca(x, self.k, rng=rng, tick=tick)
