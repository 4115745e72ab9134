"""Groups of k in the order of the first principal component."""

from __future__ import annotations

from typing import ClassVar, Literal

from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.sorting import pca
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

    projects: ClassVar[bool] = True
    form_groups = staticmethod(pca)
