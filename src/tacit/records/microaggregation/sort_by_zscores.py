"""Groups of k in the order of the sum of z-scores."""

from __future__ import annotations

from typing import ClassVar, Literal

from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.sorting import zscores
from tacit.registry import register


@register
class SortByZscores(GroupingMethod):
    """Replace numbers by the means of k records that are alike in their sum of z-scores.

    The records are sorted by the sum of their standardised values, and every k of them form a group.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure
    control, IEEE Transactions on Knowledge and Data Engineering 14, 189-201.
    """

    kind: Literal["sort_by_zscores"] = "sort_by_zscores"

    projects: ClassVar[bool] = True
    form_groups = staticmethod(zscores)
