"""k-Ward: agglomeration that stops at groups of k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class WardGroups(GroupingMethod):
    """Replace numbers by the means of groups that Ward's agglomeration joins (k-Ward).

    The two groups whose union raises the loss least are joined, never two of k records or more, until all
    have k. Groups of 2k or more are treated in the same way again.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure
    control, IEEE Transactions on Knowledge and Data Engineering 14, 189-201.
    """

    kind: Literal["ward_groups"] = "ward_groups"

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.ward import ward

        return ward(x, self.k, rng=rng, tick=tick)
