"""Estimate precision: how close an estimate from the release comes to the truth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import Pairs, pairs, weights_of
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnNames, Secret
from tacit.plot.chart import Chart
from tacit.plot.families import before_after
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

Task = Literal["mean", "combination", "slope"]


@register
class EstimatePrecision(Measure):
    """Reciprocal of the mean squared error of an estimate that a user computes from the release.

    Utility for a user who estimates theta as if the release were the original is

        U = 1 / E(theta_hat_Y - theta)^2.

    The task is the mean of a column, a linear combination of means (the difference of two, say), or the
    slope of a regression: the first column on the second, given any others. Without repeating the masking
    the error is estimated from the two files by its two parts,

        E(theta_hat_Y - theta)^2  =  Var(theta_hat_Y) + bias^2,

    the variance from the influence of each released record, the squared bias from the difference of the
    two estimates less the variance of that difference (never below 0, so that the error of an unbiased
    estimate is on average a little overstated). The two parts hold for any masking that treats records
    separately; for correlated noise they agree with the closed forms. Survey weights are used where
    declared.

    References
    ----------
    Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map,
    Technical Report 121, National Institute of Statistical Sciences; equation (3.2).
    Fuller (1987), Measurement Error Models, Wiley.
    """

    kind: Literal["estimate_precision"] = "estimate_precision"
    columns: ColumnNames = Field(
        description="the columns of the task; for a slope the response, the regressor, and columns held fixed"
    )
    task: Task = Field(default="mean", description="what the user estimates")
    coefficients: tuple[float, ...] = Field(
        default=(),
        description="one number per column, for a combination: 1, -1 for a difference of means",
    )
    lambda_squared: float | None = Secret(
        None,
        ge=0,
        description="noise multiplier of a masked regressor that the user is told; the slope is multiplied by 1 + lambda_squared",
    )
    relative: bool = Field(
        default=True,
        description="divide by the utility of the original, so that 1 means nothing lost",
    )

    on_weight = "used"
    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"]}
    number_fields = ("columns",)

    @model_validator(mode="after")
    def _consistent(self) -> EstimatePrecision:
        n = len(self.columns)
        if self.task == "mean" and n != 1:
            raise ValueError("a mean needs one column")
        if self.task == "slope" and n < 2:
            raise ValueError("a slope needs a response and a regressor")
        if self.task == "combination" and len(self.coefficients) != n:
            raise ValueError("a combination needs one coefficient per column")
        if self.task == "combination" and not any(self.coefficients):
            raise ValueError("a combination needs a coefficient that is not 0")
        if self.task != "combination" and self.coefficients:
            raise ValueError("coefficients belong to a combination")
        if self.lambda_squared is not None and (self.task != "slope" or n != 2):
            raise ValueError("lambda_squared corrects the slope of one regressor")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> EstimatePrecisionResult:
        original = other.original
        self.check(original)
        ctx.tick("estimates from original and release")
        both = pairs(original, data, self.columns, self.kind)
        old = self.estimate(both.before, weights_of(original))
        new = self.estimate(both.after, weights_of(data), 1.0 + (self.lambda_squared or 0.0))
        bias = squared_bias(old, new, both)
        error = new.variance + bias
        if old.variance <= 0:
            raise InputError(
                "estimate_precision: the original leaves no uncertainty about the estimate (a constant column, or a perfect fit), so there is nothing to compare with"
            )
        unmasked = 1.0 / old.variance
        utility = math.inf if error == 0 else 1.0 / error
        ratio = utility / unmasked
        numbers = {
            "utility, 1 / MSE": format_summary_number(utility),
            "utility of the original": unmasked,
            "share of utility kept": format_summary_number(ratio),
            "estimate from the original": old.value,
            "estimate from the release": new.value,
            "standard error, original": math.sqrt(old.variance),
            "standard error, release": math.sqrt(new.variance),
            "bias, release": math.sqrt(bias),
            "records used, original": old.n,
            "records used, release": new.n,
        }
        return EstimatePrecisionResult(
            kind=self.kind,
            title=f"Precision of the {self.task} of {', '.join(self.columns)}",
            value=ratio if self.relative else utility,
            numbers=numbers,
            frame=as_frame(
                {
                    "file": ["original", "release"],
                    "estimate": [old.value, new.value],
                    "root_mse": [math.sqrt(old.variance), math.sqrt(error)],
                    "utility": [unmasked, utility],
                }
            ),
            explanation=(
                "Utility is one over the mean squared error of the user's estimate. Equal to that of the original "
                "when nothing is lost; half of it when the user would do as well with half the original records."
            ),
            utility=utility,
            unmasked=unmasked,
            variance=new.variance,
            squared_bias=bias,
        )

    def estimate(self, values: Floats, weights: Floats, factor: float = 1.0) -> Estimate:
        """Return the task's estimate from a file, with the contribution of every record."""
        used = np.isfinite(values).all(axis=1) & (weights > 0)
        if used.sum() < 2:
            raise InputError("estimate_precision needs at least two records without missing values")
        if self.task == "slope":
            value, influence = slope(values[used], weights[used])
        else:
            each = values[used] @ np.array(self.coefficients or (1.0,))
            share = weights[used] / weights[used].sum()
            value = float(share @ each)
            influence = share * (each - value)
        everyone = np.zeros(len(values))
        everyone[used] = influence
        return Estimate(factor * value, factor * everyone, int(used.sum()))


@dataclass(frozen=True)
class Estimate:
    """An estimate, what each record contributes to its error, and the number of records used."""

    value: float
    contributions: Floats
    n: int

    @property
    def variance(self) -> float:
        """Return the sampling variance."""
        return sum_of_squares(self.contributions, self.n)


@dataclass(frozen=True, repr=False)
class EstimatePrecisionResult(Result):
    """Utility of release and original, and the two parts of the released estimate's squared error."""

    utility: float = math.nan
    unmasked: float = math.nan
    variance: float = math.nan
    squared_bias: float = math.nan

    def plot(self) -> Chart:
        """Return utility before and after."""
        after = self.utility if math.isfinite(self.utility) else 0.0
        return before_after(
            [("1 / MSE", self.unmasked, after)],
            title=self.title,
            y="utility",
            subtitle="" if math.isfinite(self.utility) else "the release leaves no error: infinite",
        )


def squared_bias(old: Estimate, new: Estimate, both: Pairs) -> float:
    """Return the squared bias of the released estimate: the squared difference less its variance."""
    lost, added = old.contributions.copy(), new.contributions.copy()
    lost[both.old], added[both.new] = 0.0, 0.0
    kept = new.contributions[both.new] - old.contributions[both.old]
    moved = np.concatenate([kept, lost, added])
    difference = (new.value - old.value) ** 2
    return max(difference - sum_of_squares(moved, max(old.n, new.n)), 0.0)


def sum_of_squares(contributions: Floats, n: int) -> float:
    """Return the variance of a sum of independent contributions, n - 1 for n."""
    return float(contributions @ contributions) * n / (n - 1)


def slope(values: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return the coefficient of the second column in a regression of the first on the others.

    A record contributes the product of its residual and its regressor, what the other regressors say of
    it taken off, over that regressor's sum of squares.
    """
    centered = values - (weights / weights.sum()) @ values
    response, regressor = centered[:, 0], centered[:, 1]
    others = centered[:, 2:]
    own = residual(regressor, others, weights)
    total = float(weights @ own**2)
    if len(values) <= values.shape[1] or total <= 1e-12 * float(weights @ values[:, 1] ** 2):
        raise InputError(
            "estimate_precision: the slope needs more records than coefficients, and a regressor that is not constant given the others"
        )
    left = residual(response, others, weights)
    beta = float((weights * own) @ left) / total
    return beta, weights * own * (left - beta * own) / total


def residual(values: Floats, others: Floats, weights: Floats) -> Floats:
    """Return what a weighted regression on other centred columns leaves of a centred one."""
    if others.shape[1] == 0:
        return values
    root = np.sqrt(weights)
    fit, *_ = np.linalg.lstsq(root[:, None] * others, root * values, rcond=None)
    return np.asarray(values - others @ fit, dtype=np.float64)


def format_summary_number(value: float) -> float | str:
    """Return a number for the summary."""
    return "infinite" if math.isinf(value) else value
