"""Plots side by side for groups that are named beforehand: one record is in one of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Ints
from tacit.fields import ColumnName
from tacit.graphics.base import Desk, Protected
from tacit.graphics.protected_table import find_places
from tacit.treatment import OnStratum


class Grouped(Protected):
    """Base of measures that may be taken within groups.

    A unit whose records lie in several groups moves each answer by the part of its records there; the parts sum to the
    whole, so that what all groups spend together is what one spends.
    """

    by: ColumnName | None = Field(
        default=None, description="a column of groups that are drawn side by side"
    )
    groups: tuple[Any, ...] = Field(
        default=(),
        description="the groups that are drawn, chosen without the data; others are left out",
    )

    on_stratum: ClassVar[OnStratum | None] = "by"

    @model_validator(mode="after")
    def _groups_go_with_by(self) -> Grouped:
        if (self.by is None) != (not self.groups):
            raise ValueError(
                "by and groups go together: groups of the data would tell which values occur"
            )
        if len({str(g) for g in self.groups}) < len(self.groups):
            raise ValueError("groups must be different")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns that the parameters name."""
        return (*super().columns_named(), *((self.by,) if self.by else ()))

    def numeric_columns(self) -> tuple[str, ...]:
        """Return the columns that must hold numbers."""
        return tuple(c for c in self.columns_named() if c != self.by)

    def group_names(self) -> tuple[str, ...]:
        """Return the names of the groups; one without a name where there are none."""
        return tuple(map(str, self.groups)) or ("",)

    def places(self, desk: Desk) -> Ints:
        """Return each record's group; the number of groups for those in none."""
        if self.by is None:
            return np.zeros(len(desk.keep), dtype=np.int64)
        place, known = find_places(desk, self.by, self.groups)
        desk.require_known(known, self.by)
        return np.where(known, place, len(self.groups))
