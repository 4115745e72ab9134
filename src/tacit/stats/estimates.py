"""Weighted estimates with standard errors, and how two of the same thing differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import ndtr

#: Standard normal quantile of two-sided 95 % intervals.
Z95 = 1.959963984540054
#: Halvings of the search interval for a kernel quantile: to the last digit of a float.
HALVINGS = 60


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error; NaN where there is none."""

    value: float
    error: float = math.nan


NOTHING = Estimate(math.nan)


# -- estimates -------------------------------------------------------------------------------------


def mean_estimate(x: Floats, w: Floats) -> Estimate:
    """Return the weighted mean, its standard error by linearisation with n / (n - 1)."""
    if not len(x) or w.sum() <= 0:
        return NOTHING
    total = w.sum()
    mean = float(w @ x / total)
    return Estimate(mean, spread_of_sum(w * (x - mean) / total))


def total_estimate(x: Floats, w: Floats) -> Estimate:
    """Return the weighted total, its standard error as of a sample drawn with replacement."""
    if not len(x):
        return NOTHING
    parts = w * x
    return Estimate(float(parts.sum()), spread_of_sum(parts - parts.mean()))


def ratio_estimate(x: Floats, y: Floats, w: Floats) -> Estimate:
    """Return the ratio of two weighted totals, its standard error by linearisation."""
    below = float(w @ y)
    if not len(x) or below == 0:
        return NOTHING
    ratio = float(w @ x) / below
    return Estimate(ratio, spread_of_sum(w * (x - ratio * y) / below))


def sd_estimate(x: Floats, w: Floats) -> Estimate:
    """Return the weighted standard deviation, its standard error by linearisation."""
    n = len(x)
    if n < 2 or w.sum() <= 0:
        return NOTHING
    total = w.sum()
    deviation = (x - w @ x / total) ** 2
    variance = float(w @ deviation / total) * n / (n - 1)
    sd = math.sqrt(variance)
    error = spread_of_sum(w * (deviation - variance) / total)
    return Estimate(sd, error / (2 * sd) if sd > 0 else 0.0)


def quantile_estimate(x: Floats, w: Floats, share: float) -> Estimate:
    """Return a weighted quantile; its standard error is a quarter of Woodruff's 95 % interval, about.

    The interval holds the quantiles at the share minus and plus its own margin of error.
    """
    if not len(x) or w.sum() <= 0:
        return NOTHING
    value = float(weighted_quantiles(x, w, [share])[0])
    # Kish's effective sample size.
    n = float(w.sum() ** 2 / (w @ w))
    margin = Z95 * math.sqrt(share * (1 - share) / n)
    low, high = np.clip([share - margin, share + margin], 0.0, 1.0)
    ends = weighted_quantiles(x, w, [low, high])
    width = (high - low) / (2 * margin) if margin > 0 else 1.0
    return Estimate(value, float(ends[1] - ends[0]) / (2 * Z95 * width))


def weighted_quantiles(x: Floats, w: Floats, shares: Sequence[float] | Floats) -> Floats:
    """Return the smallest values with at least a share of the weight at or below them.

    Where the weight up to a value is the share exactly, the mean of that value and the next is taken,
    so that the median of an even number of records is the mean of the middle two.
    """
    order = np.argsort(x, kind="stable")
    v, sums = x[order], np.cumsum(w[order])
    keep = w[order] > 0
    v, sums = v[keep], sums[keep]
    wanted = np.asarray(shares, dtype=np.float64) * sums[-1]
    slack = 1e-12 * sums[-1]
    first = np.searchsorted(sums, wanted - slack, side="left")
    next_one = np.searchsorted(sums, wanted + slack, side="right")
    top = len(v) - 1
    return np.asarray((v[np.minimum(first, top)] + v[np.minimum(next_one, top)]) / 2)


def reached_quantiles(y: Floats, w: Floats, q: Floats) -> Floats:
    """Return for each share the smallest value whose cumulated share of the weight reaches it."""
    order = np.argsort(y, kind="stable")
    passed = np.cumsum(w[order])
    share = passed / passed[-1]
    # Shares that differ by rounding only are meant to be equal.
    at = np.searchsorted(share, np.asarray(q) - 1e-12, side="left")
    return y[order][np.minimum(at, len(y) - 1)]


def kernel_quantiles(y: Floats, w: Floats, q: Floats) -> Floats:
    """Return quantiles of a weighted Gaussian kernel estimate, with Silverman's bandwidth.

    The bandwidth is 1.06 times the weighted standard deviation times n^(-1/5), with the effective
    number of records n = (sum w)^2 / sum w^2.
    """
    share = w / w.sum()
    centre = float(dot(share, y))
    spread = float(np.sqrt(dot(share, (y - centre) ** 2)))
    if spread == 0:
        return np.full(len(q), centre)
    h = 1.06 * spread * float(1.0 / (share**2).sum()) ** -0.2
    low = np.full(len(q), y.min() - 10 * h)
    high = np.full(len(q), y.max() + 10 * h)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = dot(share, ndtr((middle[None, :] - y[:, None]) / h)) < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def spread_of_sum(parts: Floats) -> float:
    """Return the standard error of a sum of parts around 0, with n / (n - 1)."""
    n = len(parts)
    return math.sqrt(n / (n - 1) * float(parts @ parts)) if n > 1 else math.nan


# -- differences -----------------------------------------------------------------------------------


def percent_difference(original: float, masked: float) -> float:
    """Return 100 (original - masked) / original; NaN where the original is 0.

    The sign is that of Kennickell and Lane's tables: negative where masking makes a positive estimate
    larger.
    """
    if original == 0 or not math.isfinite(original):
        return math.nan
    return 100.0 * (original - masked) / original


def duncan_utility(original: Sequence[float] | float, masked: Sequence[float] | float) -> float:
    """Return 1 / sum of squared differences of an estimate, or a vector of them; NaN without change."""
    change = np.atleast_1d(masked).astype(float) - np.atleast_1d(original).astype(float)
    squared = float(change @ change)
    return 1.0 / squared if squared > 0 else math.nan


def standardised_difference(original: Estimate, masked: Estimate) -> float:
    """Return (masked - original) / standard error of the original."""
    if not original.error > 0:
        return 0.0 if masked.value == original.value else math.nan
    return (masked.value - original.value) / original.error


def interval_overlap(original: Estimate, masked: Estimate) -> float:
    """Return the mean share of each 95 % interval that lies within the other's (Karr et al. 2006)."""
    widths = (2 * Z95 * original.error, 2 * Z95 * masked.error)
    if not all(w > 0 for w in widths):
        same = original.value == masked.value and widths[0] == widths[1] == 0
        return 1.0 if same else math.nan
    low = max(e.value - Z95 * e.error for e in (original, masked))
    high = min(e.value + Z95 * e.error for e in (original, masked))
    return max(high - low, 0.0) * (1 / widths[0] + 1 / widths[1]) / 2


# -- multiple imputation ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Combined:
    """Estimates combined over completed data sets."""

    #: Their mean, and its covariance.
    values: Floats
    covariance: Floats
    #: Mean covariance within data sets, and covariance of the estimates between them.
    within: Floats
    between: Floats
    #: Degrees of freedom of each estimate, infinite where all data sets agree.
    freedom: Floats

    @property
    def standard_errors(self) -> Floats:
        """Return the standard errors."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def half_widths(self, level: float = 0.95) -> Floats:
        """Return half the width of each confidence interval, by Student's distribution."""
        df = np.where(np.isinf(self.freedom), 1e12, self.freedom)
        return np.asarray(stdtrit(df, (1 + level) / 2) * self.standard_errors)


def combine_imputations(values: Sequence[Floats], covariances: Sequence[Floats]) -> Combined:
    """Combine the estimates of m completed data sets by Rubin's rules.

    T = W + (1 + 1/m) B, with W the mean covariance and B that of the estimates; degrees of freedom are
    (m - 1) (1 + W / ((1 + 1/m) B))^2 for each estimate.

    References
    ----------
    Rubin (1987), Multiple imputation for nonresponse in surveys, Wiley.
    """
    m = len(values)
    if m < 2 or len(covariances) != m:
        raise InputError(
            "combining imputations needs estimates and covariances of at least two files"
        )
    q = np.array([np.atleast_1d(v) for v in values], dtype=np.float64)
    within = np.mean([np.atleast_2d(c) for c in covariances], axis=0)
    centred = q - q.mean(axis=0)
    between = centred.T @ centred / (m - 1)
    extra = (1 + 1 / m) * np.diag(between)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (m - 1) * (1 + np.diag(within) / extra) ** 2
    return Combined(
        q.mean(axis=0), within + (1 + 1 / m) * between, within, between, np.asarray(freedom)
    )
