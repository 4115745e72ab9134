"""Groups of k in the order of a direction found by projection pursuit."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.sorting import projection_pursuit
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

    draws: ClassVar[bool] = True
    projects: ClassVar[bool] = True
    form_groups = staticmethod(projection_pursuit)
