"""Groups of consecutive records of the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class FileOrderGroups(GroupingMethod):
    """Replace numbers by the means of k consecutive records of the file.

    The first k records are a group, then the next k; what remains joins the last group. Nothing is sorted,
    so this is for files whose order means something, and a yardstick for other methods.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359.
    """

    kind: Literal["file_order_groups"] = "file_order_groups"

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records."""
        from tacit.records.microaggregation.grouping.sorting import group_in_file_order

        return group_in_file_order(x, self.k, rng=rng, tick=tick)
