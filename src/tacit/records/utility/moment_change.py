"""Change of moments: means, variances, covariances, skewness and kurtosis before and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from pydantic import Field

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars, before_after
from tacit.records.utility.matched import LossMeasure, choose_shared_columns
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats.moments import Decomposition, decompose, kurtosis, skewness


@register
class MomentChange(LossMeasure):
    """How much masking changed means, variances, covariances, skewness and kurtosis.

    The value is the mean absolute change of the covariance matrix, each entry in units of the two original
    standard deviations, over the entries on and below the diagonal: 0 when it is kept, 1 when all variation
    is lost in independent columns. The variance of each column is taken apart by the identity

        Var(x0) = Var(x1) + Var(x0 - x1) + 2 Cov(x1, x0 - x1)

    with divisor n. For group means the last term is 0 and the middle one, the mean squared distance to the
    group mean, is what microaggregation loses: (1/N) sum_j sum_i delta_ij^2 over groups j and members i
    (the double index that the paper prints on the outer sum is a slip).

    References
    ----------
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113; section 2.
    """

    kind: Literal["moment_change"] = "moment_change"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the columns compared; by default all numeric ones of original and release",
    )

    number_fields = ("columns",)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> MomentChangeResult:
        columns = choose_shared_columns(other.original, data, self.columns)
        if not columns:
            raise InputError("moment_change needs a numeric column in original and release")
        both = pairs(other.original, data, columns, self.kind)
        before, after = both.before[both.old], both.after[both.new]
        known = np.isfinite(before).all(axis=1) & np.isfinite(after).all(axis=1)
        if known.sum() < 2:
            raise InputError("moment_change needs at least two records complete in both files")
        ctx.tick("moments", 0.5)
        x0, x1 = before[known], after[known]
        parts = decompose(x0, x1)
        spread = np.sqrt(np.diag(parts.original))
        scale = np.where(spread > 0, spread, 1.0)
        change = (parts.released - parts.original) / np.outer(scale, scale)
        value = float(np.abs(change[np.tril_indices(len(columns))]).mean())
        table: dict[str, Any] = {
            "column": list(columns),
            "mean_before": x0.mean(axis=0),
            "mean_after": x1.mean(axis=0),
            "variance_before": np.diag(parts.original),
            "variance_after": np.diag(parts.released),
            "variance_of_difference": np.diag(parts.difference),
            "twice_covariance_with_difference": 2.0 * np.diag(parts.cross),
            "skewness_before": skewness(x0),
            "skewness_after": skewness(x1),
            "kurtosis_before": kurtosis(x0),
            "kurtosis_after": kurtosis(x1),
        }
        shift = np.abs(x1.mean(axis=0) - x0.mean(axis=0)) / scale
        total = float(np.diag(parts.original).sum())
        numbers: dict[str, Any] = {
            "mean change of the covariance matrix": value,
            "largest change of a mean, in standard deviations": float(shift.max()),
            "share of the total variance lost": float(parts.lost.sum()) / total if total else 0.0,
        }
        for j, c in enumerate(columns):
            numbers[f"{c}: variance, after / before"] = ratio(
                parts.released[j, j], parts.original[j, j]
            )
        return MomentChangeResult(
            kind=self.kind,
            title="Change of moments",
            value=value,
            numbers=numbers,
            frame=as_frame(table),
            explanation=(
                "The change of each variance and covariance is given in units of the original standard deviations. Group means lose variance and raise kurtosis; noise adds variance; reflected residuals mirror skewness."
            ),
            columns=columns,
            parts=parts,
        )


@dataclass(frozen=True, repr=False)
class MomentChangeResult(Result):
    """Moments by column (``frame``) and the decomposition of the covariance (``parts``, divisor n)."""

    columns: tuple[str, ...] = ()
    parts: Decomposition = field(
        default_factory=lambda: decompose(np.zeros((1, 0)), np.zeros((1, 0)))
    )

    def plot(self) -> Chart:
        """Return each column's variance after masking as a multiple of that before."""
        items = [
            (c, ratio(self.parts.released[j, j], self.parts.original[j, j]))
            for j, c in enumerate(self.columns)
        ]
        return bars(
            [(c, v) for c, v in items if np.isfinite(v)],
            title="Variance after masking",
            subtitle="as a multiple of the original: 1 is kept",
            y="variance, after / before",
        )

    def charts(self) -> Iterable[Chart]:
        """Return the variances, and skewness and kurtosis before and after."""
        yield self.plot()
        assert self.frame is not None
        rows = self.frame.rows(named=True)
        for name in ("skewness", "kurtosis"):
            items = [(r["column"], r[f"{name}_before"], r[f"{name}_after"]) for r in rows]
            kept = [i for i in items if np.isfinite(i[1]) and np.isfinite(i[2])]
            if kept:
                yield before_after(kept, title=f"{name.capitalize()} of each column", y=name)


def ratio(after: float, before: float) -> float:
    """Return after / before; 1 when both are 0."""
    if before > 0:
        return float(after / before)
    return 1.0 if after == 0 else float("inf")
