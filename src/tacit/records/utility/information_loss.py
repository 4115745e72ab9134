"""Information loss: IL1 and its family, between original and masked numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import ColumnNotFound, SdcError
from tacit.fields import ColumnName, ColumnNames, NaturalInt
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.plot.paired import densities, ellipses, scatter
from tacit.records.utility.matched import (
    LossMeasure,
    MatchedRecords,
    Missing,
    choose_compared_columns,
    match_complete_records,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats.information import MEASURES, Amount, Matched
from tacit.stats.robust import mad

#: What each measure is about, in a few words.
WORDS: Mapping[str, str] = {
    "il1": "mean distance of values, in standard deviations times sqrt(2)",
    "il1_sum": "distance of values, in standard deviations times sqrt(2), summed over all cells",
    "il1_relative": "mean distance of values, relative to the original",
    "sse_percent": "squared distance of values, % of the total sum of squares",
    "amean": "means: relative changes, summed",
    "amedian": "medians: relative changes, summed",
    "aonestep": "one-step means: relative changes, summed",
    "devvar": "covariance matrix: relative changes, summed, over p",
    "amad": "median absolute deviations: relative changes, summed",
    "acov": "covariance matrix: relative changes, summed, over 2p",
    "acor": "correlations: relative changes, summed, over 2p",
    "acors": "rank correlations: relative changes, summed, over 2p",
    "adlm": "slopes of one column on the others: changes, summed",
    "apcaload": "mean loadings of principal components: relative changes, summed",
    "apppcaload": "mean loadings by projection pursuit: relative changes, summed",
    "eigenvalues": "eigenvalues of the correlations: relative changes, summed",
    "robust_eigenvalues": "eigenvalues of a robust covariance: relative changes, summed",
    "atotals": "totals: relative changes, summed",
    "pmtotals": "totals: signed relative changes, summed",
    "il2": "means: mean relative change",
    "il3": "covariances and variances: mean relative change",
    "il4": "variances: mean relative change",
    "il5": "correlations: mean absolute change",
    "il": "100 times the mean of IL1 to IL5",
    "pil_means": "means: chance that sampling error is smaller, %",
    "pil_quantiles": "quantiles: chance that sampling error is smaller, %",
    "pil_variances": "variances: chance that sampling error is smaller, %",
    "pil_covariances": "covariances: chance that sampling error is smaller, %",
    "pil_correlations": "correlations: chance that sampling error is smaller, %",
    "pil": "mean of the five chances, %",
}

#: Measures that readers know by their letters.
LETTERS = ("il1", "il2", "il3", "il4", "il5", "il", "pil")

if TYPE_CHECKING:
    Name = str
else:
    Name = Literal[tuple(WORDS)]


@register
class InformationLoss(LossMeasure):
    """How far masked numbers, and statistics of them, are from the original ones.

    IL1 of a record is the mean over the p columns of abs(x - x') / (sqrt(2) S_j), S_j the standard
    deviation of the original column; of the file, the mean over records. Templ's formula (3) sums over
    records where columns are meant. Beside it stand the squared distance on standardised columns as a
    share of the total (``sse_percent``), the changes of location, scale, covariance, correlation,
    regression and principal components of Templ's table, the eigenvalue distances, the measures IL2 to
    IL5, and the probabilistic ones, which ask how likely sampling error alone would have been smaller
    than the change.

    All are computed on the full masked file. The published table cannot have been: its means change
    under an aggregation that keeps means. Components of the masked file have their signs turned to
    those of the original, without which loadings cannot be compared. Records are matched by row; those
    with a missing value in either file are left out and counted, or refused. Relative changes whose
    original is 0 are left out and counted.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359, section 6.
    Mateo-Sanz, Sebé, Domingo-Ferrer (2004), Outlier protection in continuous microdata masking, PSD
    2004, LNCS 3050, 201-215.
    Mateo-Sanz, Domingo-Ferrer, Sebé (2005), Probabilistic information loss measures in confidentiality
    protection of continuous microdata, Data Mining and Knowledge Discovery 11, 181-193.
    """

    kind: Literal["information_loss"] = "information_loss"
    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric columns compared; by default all that are neither identifiers nor weight, household or stratum",
    )
    measures: tuple[Name, ...] = Field(
        default=(), description="the measures wanted; by default all"
    )
    value: Name = Field(default="il1", description="the measure that results are compared by")
    response: ColumnName | None = Field(
        default=None,
        description="the column regressed on the others for adlm; by default the first",
    )
    missing: Missing = Field(
        default="skip",
        description="leave out records with a missing value in either file, and count them, or refuse",
    )
    jackknife: NaturalInt = Field(
        default=0,
        description="groups of records left out in turn for standard errors of the measures; 0: no standard errors",
    )

    on_weight = "used"
    random = True
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    @model_validator(mode="after")
    def _consistent(self) -> InformationLoss:
        if self.jackknife == 1:
            raise ValueError("jackknife needs at least 2 groups, or 0")
        return self

    def wanted(self) -> tuple[str, ...]:
        """Return the measures computed: those asked for, and those that results name."""
        asked = set(self.measures or MEASURES) | {"il1", "sse_percent", self.value}
        return tuple(name for name in MEASURES if name in asked)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: a response that is not among the columns."""
        found = super().faults(data)
        if self.response and self.columns and self.response not in self.columns:
            found.append(
                ColumnNotFound([self.response], list(self.columns), "the columns compared")
            )
        return found

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> InformationLossResult:
        columns = choose_compared_columns(other.original, data, self.columns, self.kind)
        if self.response and self.response not in columns:
            raise ColumnNotFound([self.response], list(columns), "the columns compared")
        records = match_complete_records(
            other.original, data, columns, self.kind, missing=self.missing
        )
        matched = Matched(
            records.x,
            records.y,
            records.weights,
            columns.index(self.response) if self.response else 0,
            int(ctx.rng.integers(2**31)),
        )
        amounts = {}
        for i, name in enumerate(self.wanted()):
            ctx.tick(f"information loss: {name}", i / len(self.wanted()))
            amounts[name] = MEASURES[name](matched)
        errors = self.standard_errors(matched, ctx)
        return self.result(matched, records, amounts, errors)

    def standard_errors(self, m: Matched, ctx: Context) -> Mapping[str, float]:
        """Return delete-a-group jackknife standard errors of the measures."""
        groups = min(self.jackknife, len(m.x) // 2)
        if groups < 2:
            return {}
        label = ctx.rng.permutation(len(m.x)) % groups
        found: dict[str, list[float]] = {name: [] for name in self.wanted()}
        for g in range(groups):
            ctx.tick("information loss: standard errors", g / groups)
            part = m.part(label != g)
            for name, values in found.items():
                values.append(MEASURES[name](part).value)
        factor = (groups - 1) / groups
        return {
            name: math.sqrt(factor * float(((np.array(v) - np.mean(v)) ** 2).sum()))
            for name, v in found.items()
        }

    def result(
        self,
        m: Matched,
        records: MatchedRecords,
        amounts: Mapping[str, Amount],
        errors: Mapping[str, float],
    ) -> InformationLossResult:
        """Put the result together."""
        table = {
            "measure": list(amounts),
            "value": pa.array([a.value for a in amounts.values()], pa.float64()),
            "entries left out": [a.skipped for a in amounts.values()],
            "meaning": [WORDS[name] for name in amounts],
        }
        if errors:
            table["standard error"] = pa.array([errors[n] for n in amounts], pa.float64())
        values = {name: a.value for name, a in amounts.items()}
        zeros = int(sum(a.skipped for a in amounts.values()))
        return InformationLossResult(
            kind=self.kind,
            title="Information loss",
            value=values[self.value],
            numbers={
                **values,
                "records compared": len(m.x),
                "records with missing values": records.skipped,
                "records dropped": records.dropped,
            },
            labels={n: f"{n.upper()}: {w}" if n in LETTERS else w for n, w in WORDS.items()},
            frame=as_frame(by_column(m, records.columns)),
            explanation=(
                "IL1 is the mean distance of a masked value from its original, in standard deviations of the column "
                "times the square root of 2; 0 means unchanged. The other measures compare statistics."
                + (f" {zeros:,} entries were left out because the original is 0." if zeros else "")
            ),
            table=as_frame(table),
            values=values,
            standard_errors=dict(errors),
            columns=records.columns,
            records=m,
        )


def by_column(m: Matched, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return original and masked statistics of each column, IL1 and share of squares lost."""
    il1 = np.abs(m.x - m.y).mean(axis=0) / np.where(m.spread > 0, np.sqrt(2.0) * m.spread, np.nan)
    squares = ((m.x - m.x.mean(axis=0)) ** 2).sum(axis=0)
    sse = 100.0 * ((m.x - m.y) ** 2).sum(axis=0) / np.where(m.spread > 0, squares, np.nan)
    statistics: dict[str, Callable[[Floats], Floats]] = {
        "mean": lambda v: v.mean(axis=0),
        "median": lambda v: np.median(v, axis=0),
        "sd": lambda v: v.std(axis=0, ddof=1),
        "mad": mad,
    }
    return {
        "column": list(columns),
        "il1": il1,
        "sse_percent": sse,
        **{
            f"{name}, {file}": of(side)
            for name, of in statistics.items()
            for file, side in (("original", m.x), ("masked", m.y))
        },
        "values unchanged": (m.x == m.y).mean(axis=0),
    }


@dataclass(frozen=True, repr=False)
class InformationLossResult(Result):
    """Information loss, by column in ``frame``: statistics of both files."""

    #: One row per measure: value, entries left out, meaning, and a standard error when asked for.
    table: nw.DataFrame[Any] | None = None
    #: The measures by name, and their standard errors.
    values: Mapping[str, float] = field(default_factory=dict)
    standard_errors: Mapping[str, float] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    records: Matched | None = None

    @property
    def il1(self) -> float:
        """Return IL1 of the file: the mean over records."""
        return self.values["il1"]

    @property
    def sse_percent(self) -> float:
        """Return 100 SSE / SST on standardised columns."""
        return self.values["sse_percent"]

    def __getitem__(self, measure: str) -> float:
        return self.values[measure]

    def plot(self) -> Chart:
        """Return IL1 of each column."""
        assert self.frame is not None
        rows = self.frame.rows(named=True)
        return bars(
            [(r["column"], r["il1"]) for r in rows if math.isfinite(r["il1"])],
            title=f"Information loss by column: IL1 = {self.il1:.4f}",
            subtitle="mean distance from the original in standard deviations times sqrt(2)",
            y="IL1",
        )

    def scatter(self, column: str) -> Chart:
        """Return masked over original values of a column; it shows values of records."""
        x, y = self.column(column)
        return scatter(x, y, name=column)

    def densities(self, column: str) -> Chart:
        """Return the density of a column in both files."""
        x, y = self.column(column)
        return densities(x, y, name=column)

    def ellipses(self, *, correlation: bool = False) -> Chart:
        """Return covariance or correlation ellipses of both files."""
        assert self.records is not None
        return ellipses(self.records.x, self.records.y, names=self.columns, correlation=correlation)

    def column(self, name: str) -> tuple[Any, Any]:
        """Return original and masked values of a column."""
        if name not in self.columns:
            raise ColumnNotFound([name], list(self.columns), "the columns compared")
        assert self.records is not None
        j = self.columns.index(name)
        return self.records.x[:, j], self.records.y[:, j]
