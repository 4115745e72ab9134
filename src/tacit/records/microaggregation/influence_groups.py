"""Groups within clusters, by each cluster's most unusual column."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod, Units
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.sorting import by_score
from tacit.registry import register
from tacit.stats.moments import scale_of


@register
class InfluenceGroups(GroupingMethod):
    """Replace numbers by the means of k records of a cluster that are alike in its most unusual column.

    The records are clustered first. Within a cluster they are sorted by the column with the largest absolute
    standardised mean there, and every k of them form a group.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359.
    """

    kind: Literal["influence_groups"] = "influence_groups"
    cluster: Literal["gmm", "kmeans", "medoids", "hierarchical"] = Field(
        default="gmm", description="how the records are clustered first"
    )

    draws: ClassVar[bool] = True
    projects: ClassVar[bool] = True

    def groups_of(
        self, units: Units, part: Ints, z: Floats, rng: np.random.Generator, tick: Tick
    ) -> Ints:
        """Return the labels of the groups of one stratum, formed within clusters."""
        del z
        x = units.x[part]
        return super().groups_of(units, part, scale_of(x).there(x), rng, tick)

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of a cluster."""
        del rng
        tick("forming groups", None)
        return by_score(x[:, np.abs(x.mean(axis=0)).argmax()], self.k)
