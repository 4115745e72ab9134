"""Closed forms of risk and utility under additive noise with the covariance of the data.

Every function takes one noise multiplier lambda^2 or an array of them. Equations are those of Duncan,
Keller-McNulty and Stokes (2001), numbered as they stand in the report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.errors import InvalidParameter
from tacit.records.values.index_disclosure import check_positive_variance, multiplier

Floats = npt.NDArray[np.float64]
Case = Literal[1, 2, 3]


def mean_utility(variance: float, n: int, lambda_squared: Any) -> Any:
    """Return U = n / ((1 + lambda^2) sigma^2), for the mean of a masked column."""
    return sample_size(n, 1) / (
        (1.0 + multiplier(lambda_squared)) * check_positive_variance(variance)
    )


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


def group_difference_utility(
    variance: float, n_first: int, n_second: int, lambda_squared: Any
) -> Any:
    """Return U for the difference of a masked column's mean between two groups, the slope on a dummy."""
    shares = 1.0 / sample_size(n_first, 1) + 1.0 / sample_size(n_second, 1)
    return 1.0 / ((1.0 + multiplier(lambda_squared)) * check_positive_variance(variance) * shares)


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


def slope_utility_r2(
    case: Case, r_squared: float, beta: float, n: int, lambda_squared: Any, *, known: bool = False
) -> Any:
    """Return U of a slope from R^2 and beta: (4.5) in Case 2, (4.7) in Case 3 and when lambda^2 is known."""
    if not 0 < r_squared <= 1:
        raise InvalidParameter("r_squared must be greater than 0 and at most 1")
    if beta == 0 or not math.isfinite(beta):
        raise InvalidParameter("the R^2 form needs a slope other than 0; use slope_utility")
    l2, degrees = multiplier(lambda_squared), sample_size(n, 4) - 3
    unexplained = (1.0 - r_squared) / r_squared
    if case == 1:
        error = beta**2 * unexplained / degrees + 0.0 * l2
    elif case == 2 and not known:
        inner = l2 / (1.0 + l2) * (1.0 / degrees + l2) + unexplained / degrees
        error = beta**2 / (1.0 + l2) * inner
    else:
        error = beta**2 * (l2 + 1.0 - r_squared) / (degrees * r_squared)
    with np.errstate(divide="ignore"):
        return 1.0 / error


def attenuation(lambda_squared: Any) -> Any:
    """Return 1 / sqrt(1 + lambda^2): what a correlation of a masked with an unmasked column shrinks by."""
    return 1.0 / np.sqrt(1.0 + multiplier(lambda_squared))


def correct_slope(estimate: Any, lambda_squared: Any) -> Any:
    """Return a slope on a masked regressor freed of its bias: (1 + lambda^2) times the estimate."""
    return estimate * (1.0 + multiplier(lambda_squared))


def correct_covariance(covariance: Any, masked: Sequence[int], lambda_squared: float) -> Floats:
    """Return the covariance of the original from that of the release: the masked block is divided."""
    corrected = np.array(covariance, dtype=np.float64)
    corrected[np.ix_(masked, masked)] /= 1.0 + float(multiplier(lambda_squared))
    return corrected


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
