"""Closed forms of Duncan, Keller-McNulty and Stokes (2001) that the map does not need: checks of those that it does."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.noise_forms import Case, Floats, sample_size
from tacit.errors import InvalidParameter
from tacit.records.values.index_disclosure import check_positive_variance, multiplier


def mean_utility(variance: float, n: int, lambda_squared: Any) -> Any:
    """Return U = n / ((1 + lambda^2) sigma^2), for the mean of a masked column."""
    return sample_size(n, 1) / (
        (1.0 + multiplier(lambda_squared)) * check_positive_variance(variance)
    )


def group_difference_utility(
    variance: float, n_first: int, n_second: int, lambda_squared: Any
) -> Any:
    """Return U for the difference of a masked column's mean between two groups, the slope on a dummy."""
    shares = 1.0 / sample_size(n_first, 1) + 1.0 / sample_size(n_second, 1)
    return 1.0 / ((1.0 + multiplier(lambda_squared)) * check_positive_variance(variance) * shares)


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
