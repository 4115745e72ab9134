"""MHM: the best groups of consecutive records on a path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class PathGroups(GroupingMethod):
    """Replace numbers by the means of the best groups of consecutive records on a path (MHM).

    The path goes from the record farthest from the mean to the nearest record next, through all of an MDAV
    group before it enters another. The recursion of Hansen and Mukherjee finds the groups of consecutive
    records with the least loss. MDAV's groups are among those, so the loss is never above MDAV's.

    References
    ----------
    Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz, Sebé (2006), Efficient multivariate data-oriented
    microaggregation, VLDB Journal 15, 355-369.
    """

    kind: Literal["path_groups"] = "path_groups"

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.univariate import path_groups

        return path_groups(x, self.k, rng=rng, tick=tick)
