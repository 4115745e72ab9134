"""Groups of k in the order of one column."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.data.microdata import Microdata
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName
from tacit.records.microaggregation.base import GroupingMethod, Units
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.sorting import simple_sorted
from tacit.registry import register


@register
class SortByColumn(GroupingMethod):
    """Replace numbers by the means of k records that follow each other in one column.

    The records are sorted by the column, and every k of them form a group; what remains joins the last.
    That column keeps most of its detail; the others only as far as they go with it.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359.
    """

    kind: Literal["sort_by_column"] = "sort_by_column"
    sort_by: ColumnName | None = Field(
        default=None, description="the column to sort by; by default the first masked column"
    )

    form_groups = staticmethod(simple_sorted)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: a sort column that is not masked."""
        found = super().faults(data)
        if not found and self.sort_by is not None and self.sort_by not in self.targets(data):
            found.append(
                InputError(f"sort_by_column: sort_by {self.sort_by!r} is not a masked column")
            )
        return found

    def groups_of(
        self, units: Units, part: Ints, z: Floats, rng: np.random.Generator, tick: Tick
    ) -> Ints:
        """Return the labels of the groups of one stratum: only the column to sort by counts."""
        column = units.columns.index(self.sort_by) if self.sort_by else 0
        return super().groups_of(units, part, z[:, [column]], rng, tick)
