"""Blanking risk: how many of the records that should have gone are gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import shared_positions
from tacit.data.values import as_frame, read_numeric_column, row_numbers
from tacit.fields import ColumnName, ColumnNames
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.suppression.blank import (
    LowerShare,
    UpperShare,
    percent_dropped,
    quantile_limits,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure


@register
class BlankingRisk(Measure):
    """Share of the records with extreme values that a release still holds.

    A record is risky when its original value lies beyond the column's lower or upper quantile, or beyond
    the limits given. r = 100 times the share of risky records that were dropped, for whatever reason; the
    value is the share of risky records kept, in the worst column. The share of safe records dropped is
    what it cost.

    The printed percentages of the paper for a noisy covariate come out only when the original value is
    compared with the quantile of the noisy one, and the count is divided by the expected number of risky
    records, n (1 - theta): give that quantile as a limit, and ``expected=True``.

    References
    ----------
    Flossmann, Lechner (2006), Combining blanking and noise addition as a data disclosure limitation
    method, PSD 2006, LNCS 4302, 152-163, section 4.
    """

    kind: Literal["blanking_risk"] = "blanking_risk"
    columns: ColumnNames = Field(description="the columns in which extreme values are risky")
    lower: LowerShare = 0.0
    upper: UpperShare = 0.95
    limits: Mapping[ColumnName, tuple[float | None, float | None]] = Field(
        default_factory=dict, description="limits of a column, instead of its quantiles"
    )
    expected: bool = Field(
        default=False,
        description="divide by the expected number of risky records instead of their number",
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "upper": 0.8}
    number_fields = ("columns",)

    @model_validator(mode="after")
    def _consistent(self) -> BlankingRisk:
        if self.lower >= self.upper:
            raise ValueError("lower must lie below upper")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> BlankingRiskResult:
        del ctx
        original = other.original
        rows = row_numbers(original)
        kept = np.zeros(len(rows), dtype=bool)
        kept[shared_positions(rows, row_numbers(data))[0]] = True
        parts = {c: self.column_risk(original, c, kept) for c in self.columns}
        worst = max(parts.values(), key=lambda p: p.risky_kept)
        numbers_shown: dict[str, Any] = {"records dropped": int((~kept).sum())}
        for c, p in parts.items():
            numbers_shown[f"{c}: risky records dropped, %"] = p.dropped_percent
            numbers_shown[f"{c}: safe records dropped, %"] = p.safe_dropped_percent
        return BlankingRiskResult(
            kind=self.kind,
            title="Extreme records left in the release",
            value=worst.risky_kept,
            numbers=numbers_shown,
            frame=as_frame(
                {
                    "column": list(parts),
                    "risky": [p.risky for p in parts.values()],
                    "risky_dropped_percent": [p.dropped_percent for p in parts.values()],
                    "safe_dropped_percent": [p.safe_dropped_percent for p in parts.values()],
                }
            ),
            explanation="The value is the share of the records with extreme values that are still in the release, in the worst column.",
            parts=parts,
        )

    def column_risk(self, original: Microdata, column: str, kept: Any) -> ColumnRisk:
        """Return what became of the risky records of one column."""
        x = read_numeric_column(original, column)
        values = x.values.astype(np.float64)
        low, high = self.limits.get(column, (None, None))
        if column not in self.limits and x.known.any():
            low, high = quantile_limits(values[x.known], self.lower, self.upper)
        risky = x.known & (low is not None) & (values < (low or 0.0))
        risky |= x.known & (high is not None) & (values > (high or 0.0))
        share = self.lower + 1 - self.upper
        base = len(values) * share if self.expected else float(risky.sum())
        gone = float((risky & ~kept).sum())
        return ColumnRisk(
            int(risky.sum()),
            100.0 * gone / base if base else 100.0,
            percent_dropped(kept, ~risky) or 0.0,
            float(kept[risky].mean()) if risky.any() else 0.0,
        )


@dataclass(frozen=True)
class ColumnRisk:
    """Risky records of a column, percentages of risky and of safe records dropped, share of risky kept."""

    risky: int
    dropped_percent: float
    safe_dropped_percent: float
    risky_kept: float


@dataclass(frozen=True, repr=False)
class BlankingRiskResult(Result):
    """``parts`` has the numbers by column."""

    parts: Mapping[str, ColumnRisk] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the shares of risky and safe records dropped."""
        items = [
            (f"{c}: {name}", value)
            for c, p in self.parts.items()
            for name, value in (
                ("risky", p.dropped_percent),
                ("safe", p.safe_dropped_percent),
            )
        ]
        return bars(items, title="Records dropped", y="per cent")
