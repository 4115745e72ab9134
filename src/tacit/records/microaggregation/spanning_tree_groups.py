"""Groups from the minimum spanning tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class SpanningTreeGroups(GroupingMethod):
    """Replace numbers by the means of groups cut from the minimum spanning tree.

    Edges of the tree are looked at from the longest to the shortest, and one is removed when both of its
    sides keep at least k records. Parts of 2k records or more are then split by MDAV.

    References
    ----------
    Laszlo, Mukherjee (2005), Minimum spanning tree partitioning algorithm for microaggregation, IEEE
    Transactions on Knowledge and Data Engineering 17, 902-911.
    """

    kind: Literal["spanning_tree_groups"] = "spanning_tree_groups"

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.spanning_tree import spanning_tree

        return spanning_tree(x, self.k, rng=rng, tick=tick)
