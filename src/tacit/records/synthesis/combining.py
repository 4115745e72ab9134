"""Inference from several synthetic copies: combining rules for partial and for full synthesis.

With estimates q_i and variances v_i of m copies, q the mean, b the variance of the q_i and v the mean of the v_i,

* partial synthesis (Reiter 2003): T = b/m + v, with (m - 1) (1 + v / (b/m))^2 degrees of freedom;
* full synthesis (Raghunathan, Reiter, Rubin 2003): T = (1 + 1/m) b - v, with (m - 1) (1 - v / ((1 + 1/m) b))^2. T may
  be negative; then v itself, times the ratio of synthetic to original records, stands for it (Reiter 2002), with the
  normal distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from tacit.errors import InputError
from tacit.stats.estimates import Z95

Synthesis = Literal["partial", "full"]


@dataclass(frozen=True)
class SyntheticEstimate:
    """An estimate combined over copies.

    Attributes
    ----------
    value, variance
        The combined estimate and its variance T.
    between, within
        b and v.
    freedom
        Degrees of freedom, infinite for the normal distribution.
    adjusted
        True when T of a full synthesis was negative and v was taken in its place.
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

    Parameters
    ----------
    values, variances
        q_i and v_i of each copy.
    synthesis
        Whether some columns were replaced, or all.
    ratio
        Records of a synthetic copy over records of the original, for a full synthesis with a negative T.
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
