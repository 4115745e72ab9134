"""Estimates from synthetic copies beside those of the original, with intervals and their overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator
from scipy.special import stdtrit

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.copies import split_copies
from tacit.data.microdata import Microdata
from tacit.data.paired import matrix, weights_of
from tacit.data.values import as_frame, not_numeric
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, ColumnNames, Probability
from tacit.plot.chart import Chart
from tacit.plot.lines import intervals
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.estimates import Z95, weighted_quantiles
from tacit.stats.survey import (
    Estimates,
    Sample,
    estimate_logit,
    estimate_means,
    estimate_regression,
    estimate_shares,
    estimate_totals,
)

Synthesis = Literal["partial", "full"]


@register
class SyntheticEstimates(Measure):
    """Mean overlap of the confidence intervals of the original and of synthetic copies, over several estimates.

    Means, totals, shares above quantiles of the original, and linear or logistic regressions are estimated with weights;
    variances by linearisation with strata and clusters, without finite population correction. Over m copies q is the
    mean of the estimates, b their variance, v the mean variance: T = b/m + v after a partial synthesis, (1 + 1/m) b - v after
    a full one, where v stands in for a negative T. Intervals are Student's. The overlap of two intervals is the mean share of
    each that lies in the other: 1 when they are the same, below 0 when they are apart.

    References
    ----------
    Reiter (2003), Inference for partially synthetic, public use microdata sets, Survey Methodology 29(2), 181-188.
    Raghunathan, Reiter, Rubin (2003), Multiple imputation for statistical disclosure limitation, Journal of Official
    Statistics 19(1), 1-16.
    Karr, Kohnen, Oganian, Reiter, Sanil (2006), A framework for evaluating the utility of data altered to protect
    confidentiality, The American Statistician 60, 224-232.
    """

    kind: Literal["synthetic_estimates"] = "synthetic_estimates"
    means: tuple[ColumnName, ...] = Field(default=(), description="columns whose mean is estimated")
    totals: tuple[ColumnName, ...] = Field(default=(), description="columns whose total is")
    shares: tuple[ColumnName, ...] = Field(
        default=(), description="columns of which the shares above quantiles are"
    )
    quantiles: tuple[Probability, ...] = Field(
        default=(0.5, 0.8, 0.95), description="the quantiles, of the original by its weights"
    )
    regressions: Mapping[ColumnName, ColumnNames] = Field(
        default_factory=dict, description="linear regressions: response and covariates"
    )
    logits: Mapping[ColumnName, ColumnNames] = Field(
        default_factory=dict, description="logistic regressions: a 0/1 response and covariates"
    )
    cluster: ColumnName | None = Field(default=None, description="column with the cluster")
    synthesis: Literal["partial", "full"] | None = Field(
        default=None,
        description="which combining rule is used; by default the one that the history of the data tells, else partial",
    )
    level: float = Field(default=0.95, gt=0.5, lt=1, description="level of the intervals")

    on_weight = "used"
    on_stratum = "used"
    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"] | None] = "higher"
    on_copies: ClassVar[Literal["each", "together"]] = "together"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"means": ["income"], "regressions": {"income": ["age"]}}

    @model_validator(mode="after")
    def _some(self) -> SyntheticEstimates:
        if not (self.means or self.totals or self.shares or self.regressions or self.logits):
            raise ValueError(
                "name something to estimate: means, totals, shares, regressions or logits"
            )
        for models in (self.regressions, self.logits):
            for response, given in models.items():
                if response in given:
                    raise ValueError(
                        f"{response!r} cannot explain itself; leave it out of its covariates"
                    )
        return self

    def numbers(self) -> tuple[str, ...]:
        """Return the columns of numbers that are used."""
        models = {**self.regressions, **self.logits}
        covariates = [c for given in models.values() for c in given]
        named = (*self.means, *self.totals, *self.shares, *models, *covariates)
        return tuple(dict.fromkeys(named))

    def columns_named(self) -> tuple[str, ...]:
        """Return every column that a parameter names."""
        return (*self.numbers(), *((self.cluster,) if self.cluster else ()))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers."""
        return super().faults(data) or list(not_numeric(data, self.numbers(), self.kind))

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> Result:
        self.check(other.original)
        cuts = self.cuts(other.original)
        ctx.tick("estimating from the original", 0.1)
        truth = list(self.estimates(other.original, cuts))
        copies = [list(self.estimates(c, cuts)) for c in split_copies(data)]
        full = any(a.details.get("synthesis") == "full" for a in data.history)
        way = self.synthesis or ("full" if full else "partial")
        ratio = len(data) / max(len(copies), 1) / max(len(other.original), 1)
        rows: list[dict[str, Any]] = []
        for j, (name, value, variance) in enumerate(truth):
            half = quantile_of(math.inf, self.level) * math.sqrt(variance)
            if len(copies) > 1:
                found = combine_copies(
                    [c[j][1] for c in copies], [c[j][2] for c in copies], synthesis=way, ratio=ratio
                )
            else:
                _, q, v = copies[0][j]
                found = SyntheticEstimate(q, v, math.nan, v, math.inf)
            ends = found.interval(self.level)
            rows.append({
                "estimand": name, "original": value, "original from": value - half, "original to": value + half,
                "synthetic": found.value, "synthetic from": ends[0], "synthetic to": ends[1],
                "overlap": overlap_intervals((value - half, value + half), ends),
                "variance adjusted": found.adjusted,
            })  # fmt: skip
        m = len(copies)
        overlaps = np.array([r["overlap"] for r in rows])
        known = overlaps[np.isfinite(overlaps)]
        mean, least = (float(known.mean()), float(known.min())) if len(known) else [math.nan] * 2
        said = "One copy: its intervals leave out what the synthesis adds to the variance. Make several copies for valid ones."
        if m > 1:
            said = f"Estimates of {m} copies combined by the rule for {way} synthesis."
        return SyntheticEstimatesResult(
            kind=self.kind,
            title="Estimates from synthetic copies",
            value=mean,
            numbers={
                "estimates": len(rows),
                "mean overlap of intervals": mean,
                "smallest overlap": least,
                "intervals that miss the original estimate": sum(
                    not r["synthetic from"] <= r["original"] <= r["synthetic to"] for r in rows
                ),
                "variances adjusted": sum(r["variance adjusted"] for r in rows),
                "copies": m,
            },
            frame=as_frame(pa.Table.from_pylist(rows)),
            explanation=said,
        )

    def cuts(self, original: Microdata) -> dict[str, Floats]:
        """Return the original's quantiles of the columns whose shares are asked for."""
        found = {}
        w = weights_of(original)
        for c in self.shares:
            x = matrix(original.to_arrow([c]), [c])[:, 0]
            use = np.isfinite(x) & (w > 0)
            if not use.any():
                raise InputError(f"synthetic_estimates: column {c!r} has no known value")
            found[c] = weighted_quantiles(x[use], w[use], self.quantiles)
        return found

    def estimates(
        self, data: Microdata, cuts: Mapping[str, Floats]
    ) -> Iterator[tuple[str, float, float]]:
        """Yield name, estimate and variance of everything that is asked for."""
        names = self.numbers()
        x = dict(zip(names, matrix(data.to_arrow(names), names).T, strict=True))
        w = weights_of(data)
        strata = codes_of(data, data.stratum)
        clusters = codes_of(data, self.cluster)

        def use(columns: tuple[str, ...]) -> tuple[Floats, Sample]:
            block = np.column_stack([x[c] for c in columns])
            at = np.isfinite(block).all(axis=1) & (w > 0)
            if at.sum() < len(columns) + 2:
                raise InputError(
                    "synthetic_estimates: too few records have all columns of an estimate"
                )
            pick = [None if g is None else g[at] for g in (strata, clusters)]
            return block[at], Sample(w[at], pick[0], pick[1])

        for c in self.means:
            yield from named([f"mean of {c}"], estimate_means(*use((c,))))
        for c in self.totals:
            yield from named([f"total of {c}"], estimate_totals(*use((c,))))
        for c in self.shares:
            block, sample = use((c,))
            above = [f"share of {c} above its {100 * q:g} % quantile" for q in self.quantiles]
            yield from named(above, estimate_shares(block[:, 0], list(cuts[c]), sample))
        models = ((self.regressions, estimate_regression), (self.logits, estimate_logit))
        for asked, estimate in models:
            for response, given in asked.items():
                block, sample = use((response, *given))
                terms = [f"{response} on {', '.join(given)}: {t}" for t in ("constant", *given)]
                yield from named(terms, estimate(block[:, 1:], block[:, 0], sample))


class SyntheticEstimatesResult(Result):
    """Estimates of original and copies."""

    def plot(self) -> Chart:
        """Return the intervals of both, one row an estimate."""
        assert self.frame is not None
        rows = self.frame.rows(named=True)
        return intervals(
            (
                (
                    r["estimand"],
                    side,
                    *(scaled(r, r[k]) for k in (f"{side} from", side, f"{side} to")),
                )
                for r in rows[:20]
                for side in ("original", "synthetic")
            ),
            title=self.title,
            subtitle="in standard errors of the original, from its estimate",
            x="standard errors",
        )


def scaled(row: Mapping[str, Any], value: float) -> float:
    """Return a number in standard errors of the original's estimate."""
    error = (row["original to"] - row["original from"]) / 3.92
    return (value - row["original"]) / error if error > 0 else 0.0


def named(names: list[str], found: Estimates) -> Iterator[tuple[str, float, float]]:
    """Yield estimates under their names."""
    for name, value, variance in zip(names, found.values, found.variances, strict=True):
        yield name, float(value), max(float(variance), 0.0)


def codes_of(data: Microdata, column: str | None) -> Ints | None:
    """Return a column as numbers of groups, if there is one."""
    return None if column is None else data.codes(column).codes.astype(np.int64)


# -- combining rules -------------------------------------------------------------------------------


@dataclass(frozen=True)
class SyntheticEstimate:
    """An estimate combined over copies, and its variance T, from the variances ``between`` (b) and ``within`` (v).

    Degrees of ``freedom`` are infinite for the normal distribution; ``adjusted`` is True when T of a full synthesis was
    negative and v was taken in its place.
    """

    value: float
    variance: float
    between: float
    within: float
    freedom: float
    adjusted: bool = False

    @property
    def error(self) -> float:
        """Return the standard error."""
        return math.sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the confidence interval, by Student's distribution."""
        half = quantile_of(self.freedom, level) * self.error
        return self.value - half, self.value + half


def quantile_of(freedom: float, level: float) -> float:
    """Return the two-sided quantile of Student's distribution; the normal one for infinite freedom."""
    if math.isinf(freedom) or freedom > 1e9:
        return Z95 if level == 0.95 else float(stdtrit(1e12, (1 + level) / 2))
    return float(stdtrit(freedom, (1 + level) / 2))


def combine_copies(
    values: Sequence[float],
    variances: Sequence[float],
    *,
    synthesis: Synthesis = "partial",
    ratio: float = 1.0,
) -> SyntheticEstimate:
    """Combine the estimates of m copies.

    With estimates q_i and variances v_i of m copies, q the mean, b the variance of the q_i and v the mean of the v_i,

    * partial synthesis (Reiter 2003): T = b/m + v, with (m - 1) (1 + v / (b/m))^2 degrees of freedom;
    * full synthesis (Raghunathan, Reiter, Rubin 2003): T = (1 + 1/m) b - v, with (m - 1) (1 - v / ((1 + 1/m) b))^2. T
      may be negative; then v itself, times the ratio of synthetic to original records, stands for it (Reiter 2002),
      with the normal distribution.

    The ``ratio`` is that of the records of a synthetic copy to those of the original.
    """
    m = len(values)
    if m < 2 or len(variances) != m:
        raise InputError("combining copies needs estimates and variances of at least two copies")
    q, v = np.asarray(values, dtype=np.float64), float(np.mean(variances))
    if not np.isfinite(q).all() or not math.isfinite(v) or min(variances) < 0:
        raise InputError(
            "estimates and variances of copies must be known, and variances not negative"
        )
    mean, b = float(q.mean()), float(q.var(ddof=1))
    if b <= 1e-28 * max(float(np.abs(q).max()) ** 2, 1e-300):
        b = 0.0
    if synthesis == "partial":
        total, part = b / m + v, b / m
        freedom = math.inf if part == 0 else (m - 1) * (1 + v / part) ** 2
        return SyntheticEstimate(mean, total, b, v, freedom)
    part = (1 + 1 / m) * b
    total = part - v
    if total > 0:
        return SyntheticEstimate(mean, total, b, v, (m - 1) * (1 - v / part) ** 2)
    return SyntheticEstimate(mean, ratio * v, b, v, math.inf, adjusted=v > 0)


def overlap_intervals(one: tuple[float, float], two: tuple[float, float]) -> float:
    """Return the mean share of each interval that lies within the other (Karr et al. 2006); below 0 where they are apart."""
    widths = (one[1] - one[0], two[1] - two[0])
    if min(widths) <= 0:
        return 1.0 if one == two else math.nan
    shared = min(one[1], two[1]) - max(one[0], two[0])
    return (shared / widths[0] + shared / widths[1]) / 2
