"""Protected box plot: five protected quantiles, for groups side by side."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Ints
from tacit.fields import ColumnName
from tacit.graphics.base import USUAL_RHO, Desk, Protected, ProtectedPlot
from tacit.graphics.protected_histogram import rises
from tacit.graphics.protected_quantiles import draw_quantiles, find_range, rank_error
from tacit.graphics.protected_table import find_places
from tacit.registry import register
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


@register
class ProtectedBoxPlot(Grouped):
    """A box plot that may be published: box and whiskers from protected quantiles, no single outlier shown.

    Whiskers end at two outer quantiles, not at extreme values, which are persons. Each of the five quantiles is drawn by
    the exponential mechanism; groups are apart, so that all boxes together spend what one spends.

    References
    ----------
    McSherry, Talwar (2007), Mechanism design via differential privacy, FOCS 2007.
    Tukey (1977), Exploratory Data Analysis, Addison-Wesley.
    """

    kind: Literal["protected_box_plot"] = "protected_box_plot"
    column: ColumnName = Field(description="the numeric column")
    whisker: float = Field(
        default=0.05, gt=0, lt=0.25, description="share of records beyond each whisker"
    )
    range: tuple[float, float] | None = Field(
        default=None,
        description="lower and upper end, chosen without the data; by default a protected range",
    )

    example: ClassVar[dict[str, Any]] = {"column": "income", "range": (0, 120)}

    @model_validator(mode="after")
    def _range_rises(self) -> ProtectedBoxPlot:
        if self.range is not None and not rises(self.range):
            raise ValueError("range must be two finite numbers, the lower first")
        return self

    def _draw(self, desk: Desk) -> ProtectedPlot:
        places = self.places(desk)
        table, weights = desk.numbers([self.column])
        # The same records count in both.
        held = desk.chosen(places, [self.column])
        x = table[:, 0]
        ends = self.range or find_range(desk, x, self.column, weights)
        shares = (self.whisker, 0.25, 0.5, 0.75, 1 - self.whisker)
        each = (self.rho or USUAL_RHO) / len(shares)
        boxes, names = [], self.group_names()
        for number, _ in enumerate(names):
            desk.group, mine = number, held == number
            some = None if weights is None else weights[mine]
            boxes.append(draw_quantiles(desk, x[mine], shares, ends, each, some))
        desk.group = None
        values = np.stack(boxes)
        return desk.finish(
            f"Protected box plot of {self.column}",
            "boxes",
            [self.column, *([self.by] if self.by else [])],
            values,
            {
                "groups": list(names),
                "probabilities": list(shares),
                "range": list(ends),
                "rank_error": desk.reach * rank_error(each),
            },
            {
                "group": list(names),
                **dict(zip(("low", "q1", "median", "q3", "high"), values.T, strict=True)),
            },
            {f"median {n}".strip(): float(m) for n, m in zip(names, values[:, 2], strict=True)},
        )
