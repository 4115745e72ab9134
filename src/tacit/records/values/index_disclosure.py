"""Index disclosure: how well an intruder who has found the record can tell the true value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs, shared_numeric
from tacit.data.values import as_frame
from tacit.errors import InputError, InvalidParameter
from tacit.fields import ColumnName, PositiveFloat, PositiveShare, Secret
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Squared errors below this share of the variance count as none at all: rounding of floats.
NOTHING = 1e-20
#: Directions with less than this share of the largest variance are taken for rounding too.
COLLINEAR = 1e-12
TOO_FEW = "index_disclosure needs at least two records whose value is known in original and release"


@register
class IndexDisclosure(Measure):
    """Risk that an intruder who knows which record is the target tells its true value.

    Risk is the reciprocal of the intruder's mean squared error for the value tau of the target,

        R = 1 / E(tau_hat - tau)^2,

    for three intruders. The one of the paper reads the released value: tau_hat = y, so that noise of
    variance lambda^2 sigma^2 gives R = 1 / (lambda^2 sigma^2). The *Bayes* intruder knows the
    distribution as well and shrinks towards the mean: for normal data R = (1 + lambda^2) / (lambda^2
    sigma^2), which is larger, so that the first is no upper bound. The third predicts from all released
    numeric columns. The last two are measured by the best linear prediction of the original from the
    release, whatever the masking was; with ``lambda_squared`` the normal-theory values stand beside them.

    Deterministic masking (topcoding, rounding) has no expectation to take: R = 1 / (tau_hat - tau)^2 is a
    number per record, and the one of the median record is given, with the share of records released as they
    are. Values are reported as they are and multiplied by the variance of the original column, which
    makes columns comparable: 1 means as good as guessing the mean, more means worse protection.

    References
    ----------
    Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map,
    Technical Report 121, National Institute of Statistical Sciences; equations (3.3) and (4.8).
    """

    kind: Literal["index_disclosure"] = "index_disclosure"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the target columns; by default every numeric column that was changed",
    )
    intruder: Literal["reads", "bayes", "all"] = Field(
        default="reads",
        description="whose risk is the value: who reads the released value, who also knows the distribution, or who also uses all other released numbers",
    )
    masking: Literal["random", "deterministic"] = Field(
        default="random",
        description="mean over records, or the median record for deterministic masking",
    )
    relative: bool = Field(
        default=True,
        description="multiply risk by the column's variance, so that columns of different units compare",
    )
    tail: PositiveShare | None = Field(
        default=None,
        description="look only at targets in this upper share of the column: extreme values",
    )
    lambda_squared: PositiveFloat | None = Secret(
        None, description="multiplier of correlated noise; adds the closed forms to the result"
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"]}
    number_fields = ("columns",)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> IndexDisclosureResult:
        original = other.original
        shared = shared_numeric(original, data, self.columns)
        both = pairs(original, data, shared, self.kind)
        before, after = both.before[both.old], both.after[both.new]
        x = dict(zip(shared, before.T, strict=True))
        targets = self.columns or find_changed_columns(shared, before, after) or tuple(shared)
        if not targets:
            raise InputError("index_disclosure needs a numeric column in original and release")
        if len(before) < 2:
            raise InputError(TOO_FEW)
        parts: dict[str, ColumnRisk] = {}
        z = standardise_released(after)
        for i, c in enumerate(targets):
            ctx.tick(f"index disclosure of {c}", i / len(targets))
            y = after[:, shared.index(c)]
            parts[c] = column_risk(x[c], y, z, self.tail)
        theory = self.theory(targets, shared, before, after) if self.lambda_squared else {}
        values = {c: self.value_of(part) for c, part in parts.items()}
        worst = max(values, key=lambda c: values[c])
        numbers: dict[str, Any] = {"worst column": worst}
        for c, part in parts.items():
            numbers |= {
                f"{c}: R, reads the value": format_risk(part.reads),
                f"{c}: R, knows the distribution": format_risk(part.bayes),
                f"{c}: R, uses all columns": format_risk(part.all),
                f"{c}: R times variance": format_risk(part.relative(part.reads)),
                f"{c}: share released as it is": part.exact,
            }
            if self.masking == "deterministic":
                numbers[f"{c}: R of the median record"] = format_risk(part.median)
            if c in theory:
                names = ("reads the value", "knows the distribution", "uses all columns")
                numbers |= {
                    f"{c}: R in theory, {name}": value
                    for name, value in zip(names, theory[c], strict=True)
                }
        rows = {
            name: pa.array([getattr(p, name) for p in parts.values()], pa.float64())
            for name in ("variance", "reads", "bayes", "all", "median", "exact")
        }
        return IndexDisclosureResult(
            kind=self.kind,
            title="Index disclosure",
            value=values[worst],
            numbers=numbers,
            frame=as_frame({"column": list(parts), **rows}),
            explanation=(
                "R is one over the intruder's mean squared error when the target's record is known; times the "
                "variance, 1 is as good as guessing the mean. R is infinite where the true value is released. The "
                "intruder who only reads the value is not the strongest: look at the other two as well."
            ),
            parts=parts,
            theory=theory,
        )

    def theory(
        self, targets: tuple[str, ...], shared: list[str], before: Floats, after: Floats
    ) -> dict[str, tuple[float, float, float]]:
        """Return the three closed forms by column; the masked columns are those that differ."""
        assert self.lambda_squared is not None
        complete = before[np.isfinite(before).all(axis=1)]
        if len(complete) < 2:
            return {}
        sigma = np.atleast_2d(np.cov(complete, rowvar=False))
        masked = [shared.index(c) for c in find_changed_columns(shared, before, after)]
        found = {}
        for c in targets:
            j = shared.index(c)
            if j not in masked or sigma[j, j] <= 0:
                continue
            l2 = self.lambda_squared
            given_all = 1.0 / conditional_variance(sigma, masked, j, l2)
            found[c] = (
                float(index_risk(sigma[j, j], l2)),
                float(bayes_risk(sigma[j, j], l2)),
                float(given_all),
            )
        return found

    def value_of(self, part: ColumnRisk) -> float:
        """Return the risk that the result is compared by."""
        risk = part.median if self.masking == "deterministic" else getattr(part, self.intruder)
        return part.relative(risk) if self.relative else float(risk)


@dataclass(frozen=True)
class ColumnRisk:
    """Risk of one column."""

    #: Variance of the original values.
    variance: float
    #: R of the intruder who reads the value; who also knows the distribution; who uses all columns.
    reads: float
    bayes: float
    all: float
    #: 1 / (tau_hat - tau)^2 of the median record.
    median: float
    #: Share of the records whose true value is released.
    exact: float

    def relative(self, risk: float) -> float:
        """Return a risk times the variance; infinite stays infinite."""
        return math.inf if math.isinf(risk) else risk * self.variance


@dataclass(frozen=True, repr=False)
class IndexDisclosureResult(Result):
    """Risk by column (``parts``), and the closed forms (reads, bayes, all) by column (``theory``)."""

    parts: Mapping[str, ColumnRisk] = field(default_factory=dict)
    theory: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the three risks of each column, times its variance; infinite ones are left out."""
        words = {"reads": "reads it", "bayes": "knows the distribution", "all": "uses all columns"}
        items = [
            (f"{c}: {text}", part.relative(getattr(part, name)))
            for c, part in self.parts.items()
            for name, text in words.items()
        ]
        finite = [(name, value) for name, value in items if math.isfinite(value)]
        dropped = len(items) - len(finite)
        return bars(
            finite,
            title="Index disclosure: risk times variance",
            subtitle=f"infinite for {dropped} of {len(items)}: the true values are released"
            if dropped
            else "1: as good as guessing the mean",
            y="R times variance",
        )


# -- closed forms ----------------------------------------------------------------------------------


def index_risk(variance: float, lambda_squared: Any) -> Any:
    """Return R = 1 / (lambda^2 sigma^2) of the intruder who reads the masked value, (4.8)."""
    l2 = multiplier(lambda_squared)
    with np.errstate(divide="ignore"):
        return 1.0 / (l2 * check_positive_variance(variance))


def bayes_risk(variance: float, lambda_squared: Any) -> Any:
    """Return R = (1 + lambda^2) / (lambda^2 sigma^2) of the intruder who knows the distribution too.

    For normal data the best prediction is (Y + lambda^2 mu) / (1 + lambda^2).
    """
    return (1.0 + multiplier(lambda_squared)) * index_risk(variance, lambda_squared)


def conditional_variance(
    sigma: Floats, masked: list[int] | tuple[int, ...], target: int, lambda_squared: float
) -> float:
    """Return Var(X_target | Y) for normal data, Y all released columns, some masked.

    The other masked columns add nothing to the target's own: given them alone the answer is
    sigma^2 lambda^2 / (1 + lambda^2). Unmasked columns add what they know of the target.
    """
    l2 = float(multiplier(lambda_squared))
    block = np.zeros_like(sigma)
    block[np.ix_(masked, masked)] = sigma[np.ix_(masked, masked)]
    scale = np.sqrt(np.where(np.diag(sigma) > 0, np.diag(sigma), 1.0))
    released = (sigma + l2 * block) / np.outer(scale, scale)
    own = sigma[target] / (scale * scale[target])
    explained = own @ np.linalg.pinv(released, hermitian=True) @ own
    left = check_positive_variance(sigma[target, target]) * max(1.0 - float(explained), 0.0)
    return 0.0 if left < 1e-13 * sigma[target, target] else left


def multiplier(lambda_squared: Any) -> Any:
    """Return lambda^2 as numbers; refuse negative ones."""
    l2 = np.asarray(lambda_squared, dtype=np.float64)
    if not (np.isfinite(l2).all() and (l2 >= 0).all()):
        raise InvalidParameter("lambda_squared must be at least 0 and finite")
    return l2


def check_positive_variance(variance: float) -> float:
    """Return a variance; refuse one that is not positive."""
    if not (math.isfinite(variance) and variance > 0):
        raise InvalidParameter("the variance of the target must be greater than 0")
    return float(variance)


# -- measured --------------------------------------------------------------------------------------


def column_risk(x: Floats, y: Floats, z: Floats, tail: float | None = None) -> ColumnRisk:
    """Return a column's risk from original and released values and all released columns standardised."""
    known = np.isfinite(x) & np.isfinite(y)
    if known.sum() < 2:
        raise InputError(TOO_FEW)
    variance = float(np.var(x[known], ddof=1))
    if variance <= 0:
        raise InputError(
            "index_disclosure: a target column is constant, so there is nothing to tell"
        )
    at = known if tail is None else known & (x >= np.quantile(x[known], 1.0 - tail))
    squared = (y[at] - x[at]) ** 2
    squared[squared <= NOTHING * variance] = 0.0
    return ColumnRisk(
        variance=variance,
        reads=reciprocal(float(squared.mean())),
        bayes=reciprocal(prediction_error(x, standardise_released(y[:, None]), known, at)),
        all=reciprocal(prediction_error(x, z, known, at)),
        median=reciprocal(float(np.median(squared))),
        exact=float((squared == 0).mean()),
    )


def prediction_error(x: Floats, z: Floats, known: Flags, at: Flags) -> float:
    """Return the mean squared error at some records of the best linear prediction of x.

    The prediction is fitted on all known records; its degrees of freedom are taken off. Columns of z
    are standardised.
    """
    xk, zk = (x, z) if known.all() else (x[known], z[known])
    n, center, middle = len(xk), xk.mean(), zk.mean(axis=0)
    values, vectors = np.linalg.eigh(zk.T @ zk / n - np.outer(middle, middle))
    use = values > COLLINEAR * max(values.max(initial=0.0), 1.0)
    if n <= use.sum() + 1:
        return math.nan
    along = vectors[:, use].T @ (zk.T @ (xk - center)) / n
    fit = vectors[:, use] @ (along / values[use])
    xa, za = (xk, zk) if np.array_equal(at, known) else (x[at], z[at])
    squared = (xa - center - (za - middle) @ fit) ** 2
    error = float(squared.mean()) * n / (n - 1 - int(use.sum()))
    return 0.0 if error <= COLLINEAR * float(np.var(xk)) else error


def standardise_released(released: Floats) -> Floats:
    """Return the released columns with mean 0 and variance 1, constant ones left out."""
    known = np.isfinite(released)
    # A missing value stands at its column's mean: no information.
    means = np.where(known, released, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, released, means)
    filled -= filled.mean(axis=0)
    spread = filled.std(axis=0)
    return np.asarray(filled[:, spread > 0] / spread[spread > 0], dtype=np.float64)


def reciprocal(error: float) -> float:
    """Return 1 over an error; infinite for none."""
    return math.inf if error == 0 else 1.0 / error


def format_risk(risk: float) -> float | str:
    """Return a risk for the summary."""
    return "infinite" if math.isinf(risk) else "-" if math.isnan(risk) else risk


def find_changed_columns(columns: list[str], before: Floats, after: Floats) -> tuple[str, ...]:
    """Return the columns that hold at least one changed value."""
    differs = (before != after) & np.isfinite(before) & np.isfinite(after)
    return tuple(c for c, flag in zip(columns, differs.any(axis=0), strict=True) if flag)
