"""Groups of k in the order of a direction found by projection pursuit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class SortByProjectionPursuit(GroupingMethod):
    """Replace numbers by the means of k records that are alike on the direction of largest robust spread.

    Directions from the middle of the data through the records are tried, and the one along which a robust
    measure of scale is largest sorts the records; every k of them form a group.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359.
    Croux, Ruiz-Gazen (2005), High breakdown estimators for principal components, Journal of Multivariate
    Analysis 95, 206-226.
    """

    kind: Literal["sort_by_projection_pursuit"] = "sort_by_projection_pursuit"
    scale: Literal["mad", "qn", "sd"] = Field(
        default="mad", description="the measure of scale that the direction maximises"
    )
    middle: Literal["median", "spatial"] = Field(
        default="median",
        description="where directions start, at the median of each column or at the spatial median",
    )

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    draws: ClassVar[bool] = True
    projects: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.sorting import projection_pursuit

        return projection_pursuit(
            x, self.k, rng=rng, tick=tick, scale=self.scale, middle=self.middle
        )
