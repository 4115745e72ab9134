"""Loss of a table made from the data: every measure of the risk-utility framework."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import ColumnNotFound, SdcError
from tacit.fields import ColumnName, ColumnNames, PositiveInt, Probability
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.tables.compare.measures import LOSSES
from tacit.tables.compare.table_comparison import TableComparison, TableComparisonResult

TITLES = {
    "cells": "cells",
    "HD": "Hellinger's distance (HD)",
    "AAD": "average absolute distance per cell (AAD)",
    "RAD": "relative absolute distance (RAD)",
    "AT": "average change of a row total (AT)",
    "RAV": "change of the average variance, %",
    "RCV": "change of Cramér's V, %",
    "ENTT": "change of entropy, %",
    "RC": "cells in another rank group, %",
    "columns_moved": "columns with many rank moves",
    "BV_ratio": "ratio of between variances",
    "LR": "ratio of deviances",
    "signed_rank_p": "signed rank test, p",
}


@register
class TableLoss(Measure):
    r"""How far a cross-classification of the released data is from that of the original.

    Original and released records are counted by ``rows`` and ``columns``; each row is a distribution.
    By default the value is Hellinger's distance averaged over rows,

    .. math:: HD = \frac{1}{n_r} \sum_k \sqrt{\sum_c \tfrac12 (\sqrt{p_{kc}} - \sqrt{o_{kc}})^2},

    and any other measure of the framework can be chosen instead; a measure whose neutral value is 1
    (a ratio) counts by its distance from 1, a change in percent by its size.

    References
    ----------
    Shlomo, Young (2006), Statistical disclosure control methods through a risk-utility framework,
    PSD 2006, LNCS 4302, section 2.
    """

    kind: Literal["table_loss"] = "table_loss"
    rows: tuple[ColumnName, ...] = Field(
        default=(),
        description="the variables whose combinations are the distributions, most often areas",
    )
    columns: ColumnNames = Field(description="the variables that span each distribution")
    loss: str = Field(
        default="HD", description="the measure that is the value: HD, AAD, RCV, LR, ..."
    )
    weighted: bool = Field(
        default=False, description="add up the weights instead of counting records"
    )
    model: tuple[tuple[ColumnName, ...], ...] = Field(
        default=(),
        description="the margins of a log-linear model; by default rows and columns independent",
    )
    target: Mapping[ColumnName, Any] = Field(
        default_factory=dict,
        description="categories by column variable whose proportion is compared between rows",
    )
    rank_groups: PositiveInt = Field(default=20, description="number of rank groups")
    rank_threshold: Probability = Field(
        default=0.2, description="share of moves above which a column counts as moved"
    )

    on_weight = "option"
    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    example: ClassVar[Mapping[str, Any]] = {"rows": ["zip"], "columns": ["sex", "age"]}

    @field_validator("loss")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in LOSSES:
            raise ValueError(f"must be one of {', '.join(LOSSES)}")
        return value

    def columns_named(self) -> tuple[str, ...]:
        """Return the variables of the table."""
        return (*self.rows, *self.columns)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: a model or a target that names something outside the table."""
        found = super().faults(data)
        table = self.columns_named()
        strange = [v for m in self.model for v in m if v not in table]
        strange += [v for v in self.target if v not in self.columns]
        if strange:
            found.append(ColumnNotFound(dict.fromkeys(strange), list(table), "the table"))
        return found

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> Result:
        ctx.tick("comparing the tables")
        weight = other.original.weight if self.weighted else None
        chosen = ("rows", "columns", "rank_groups", "rank_threshold", "loss")
        compared = TableComparison.model_validate(
            {
                **{name: getattr(self, name) for name in chosen},
                "value": weight,
                "model": self.model or None,
                "target": dict(self.target) or None,
            }
        )
        found = compared.measure_versions({"released": data}, other.original)["released"]
        return self._result(found)

    def _result(self, found: TableComparisonResult) -> Result:
        values = found.values
        shown = {title: values[name] for name, title in TITLES.items() if name in values}
        return Result(
            kind=self.kind,
            title=f"Loss in the table {' x '.join(self.columns_named())}",
            value=found.value,
            numbers=shown,
            frame=found.frame,
            explanation=(
                "Each combination of the row variables is a distribution over the columns; distances are "
                "averaged over them. Changes in percent are against the original: below 0, association or "
                "spread was lost; above 0, it was made up."
            ),
        )
