"""Individual ranking: each column grouped by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
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

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    each_column: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.sorting import simple_sorted

        return simple_sorted(x, self.k, rng=rng, tick=tick)
