"""Closed forms of risk and utility under additive noise with the covariance of the data.

Every function takes one noise multiplier lambda^2 or an array of them. Equations are those of Duncan,
Keller-McNulty and Stokes (2001), numbered as they stand in the report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InvalidParameter
from tacit.records.values.index_disclosure import check_positive_variance, multiplier

Case = Literal[1, 2, 3]


def combination_utility(
    coefficients: Sequence[float],
    sigma: Floats,
    masked: Sequence[int],
    n: int,
    lambda_squared: Any,
) -> Any:
    """Return U = n / (a' Sigma a + lambda^2 a_1' Sigma_11 a_1), for a' mu; a_1 is the masked part of a."""
    a = np.asarray(coefficients, dtype=np.float64)
    a1 = np.where(np.isin(np.arange(len(a)), list(masked)), a, 0.0)
    variance = check_positive_variance(float(a @ sigma @ a))
    return sample_size(n, 1) / (variance + multiplier(lambda_squared) * float(a1 @ sigma @ a1))


def slope_moments(
    case: Case, beta: float, variance: float, error_variance: float, n: int, lambda_squared: Any
) -> tuple[Any, Any]:
    """Return mean and variance of the least-squares slope from masked data.

    Parameters
    ----------
    case
        1: both columns are masked. 2: the regressor alone, (4.3) and (4.4). 3: the response alone.
    beta
        The true slope.
    variance, error_variance
        Variance of the regressor and of the error, sigma_r^2 and sigma_e^2.
    n
        Records; more than 3, because the variance of the slope has n - 3 below the line.
    lambda_squared
        Noise multiplier, one or an array.
    """
    l2, var = multiplier(lambda_squared), check_positive_variance(variance)
    if not (math.isfinite(error_variance) and error_variance >= 0):
        raise InvalidParameter("error_variance must be at least 0")
    degrees = sample_size(n, 4) - 3
    if case == 1:
        return beta + 0.0 * l2, error_variance / (degrees * var) + 0.0 * l2
    if case == 2:
        noisy = beta**2 * var * l2 / (1.0 + l2) + error_variance
        return beta / (1.0 + l2), noisy / (degrees * var * (1.0 + l2))
    response = beta**2 * var + error_variance
    return beta + 0.0 * l2, (l2 * response + error_variance) / (degrees * var)


def slope_utility(
    case: Case,
    beta: float,
    variance: float,
    error_variance: float,
    n: int,
    lambda_squared: Any,
    *,
    known: bool = False,
) -> Any:
    """Return U of a slope; ``known``: the user multiplies by 1 + lambda^2 in Case 2, (5.1)."""
    mean, spread = slope_moments(case, beta, variance, error_variance, n, lambda_squared)
    factor = 1.0 + multiplier(lambda_squared) if known and case == 2 else 1.0
    error = factor**2 * spread + (factor * mean - beta) ** 2
    with np.errstate(divide="ignore"):
        return 1.0 / error


def smallest_multiplier(variance: float, max_risk: float) -> float:
    """Return the least lambda^2 with R = 1 / (lambda^2 sigma^2) at most the cap."""
    if not max_risk > 0:
        raise InvalidParameter("max_risk must be greater than 0")
    return 1.0 / (max_risk * check_positive_variance(variance))


def sample_size(n: int, least: int) -> int:
    """Return n; refuse fewer records than a formula needs."""
    if n < least:
        raise InvalidParameter(f"n must be at least {least} for this utility")
    return int(n)
