"""Individual ranking: each column grouped by itself."""

from __future__ import annotations

from typing import ClassVar, Literal

from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.sorting import simple_sorted
from tacit.registry import register


@register
class IndividualRanking(GroupingMethod):
    """Replace the numbers of each column by the means of k that follow each other in size.

    Every column is sorted by itself and gets groups of its own. Little is lost, and little is protected: a
    record keeps its rank in each column, up to k places.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure
    control, IEEE Transactions on Knowledge and Data Engineering 14, 189-201.
    """

    kind: Literal["individual_ranking"] = "individual_ranking"

    each_column: ClassVar[bool] = True
    form_groups = staticmethod(simple_sorted)
