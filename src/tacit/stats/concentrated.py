"""What noise of a given amplitude promises: the likelihood ratio of a cell, and zero-concentrated privacy.

Protected plots and synthesis from noisy margins share this account.

The paper judges one cell, or one point of a curve, by itself. Many points average the noise out, so that the
whole vector counts: with Gaussian noise of standard deviation a on each entry, and a vector that one unit moves by
at most Delta in the Euclidean norm, the release is rho-zCDP with rho = Delta^2 / (2 a^2).

References
----------
Heitzig (2006), Using the jackknife method to produce safe plots of microdata, PSD 2006, section 3.2.
Bun, Steinke (2016), Concentrated differential privacy, TCC 2016-B.
Canonne, Kamath, Steinke (2020), The discrete Gaussian for differential privacy, NeurIPS 33.
"""

from __future__ import annotations

import math

from tacit.errors import InvalidParameter


def likelihood_ratio(amplitude: float) -> float:
    """Return how likely a count one off remains, at worst, relative to the true one: exp(-1 / (2 a^2))."""
    require_positive("amplitude", amplitude)
    return math.exp(-1 / (2 * amplitude**2))


def amplitude_for_ratio(ratio: float) -> float:
    """Return the amplitude whose likelihood ratio this is: a = 1 / sqrt(-2 ln r)."""
    if not 0 < ratio < 1:
        raise InvalidParameter("ratio must lie between 0 and 1, both left out")
    return 1 / math.sqrt(-2 * math.log(ratio))


def rho_of(sensitivity: float, amplitude: float) -> float:
    """Return the zCDP parameter of Gaussian noise: rho = Delta^2 / (2 a^2)."""
    require_positive("amplitude", amplitude)
    return sensitivity**2 / (2 * amplitude**2)


def amplitude_for_rho(sensitivity: float, rho: float) -> float:
    """Return the amplitude that spends rho: a = Delta / sqrt(2 rho)."""
    require_positive("rho", rho)
    return sensitivity / math.sqrt(2 * rho)


def epsilon_of(rho: float, delta: float = 1e-6) -> float:
    """Return the epsilon of (epsilon, delta)-differential privacy that rho-zCDP implies.

    The bound of Canonne, Kamath and Steinke (2020, corollary 13), least over alpha by golden section:
    epsilon = alpha rho + log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1).
    """
    if not 0 < delta < 1:
        raise InvalidParameter("delta must lie between 0 and 1, both left out")
    if rho <= 0:
        return 0.0

    def bound(log_over: float) -> float:
        alpha = 1 + math.exp(log_over)
        tail = (math.log(delta) + math.log(alpha)) / (alpha - 1)
        return alpha * rho + math.log1p(-1 / alpha) - tail

    low, high = -12.0, 40.0
    shrink = (math.sqrt(5) - 1) / 2
    for _ in range(200):
        one, two = high - shrink * (high - low), low + shrink * (high - low)
        low, high = (low, two) if bound(one) < bound(two) else (one, high)
    return max(0.0, bound((low + high) / 2))


def presence_bound(rho: float) -> float:
    """Return how often, at most, somebody who knows all else guesses rightly whether one unit is in the data.

    Chance alone is 1/2. The total variation between the two answers is at most sqrt(rho / 2) (Pinsker) and
    sqrt(1 - exp(-rho)) (Bretagnolle, Huber), as the divergence of Kullback and Leibler is at most rho.
    """
    apart = min(math.sqrt(rho / 2), math.sqrt(-math.expm1(-rho)))
    return 0.5 + apart / 2


def rho_of_choice(epsilon: float) -> float:
    """Return the zCDP parameter of an exponential mechanism: epsilon^2 / 8, as it has bounded range."""
    return epsilon**2 / 8


def choice_for_rho(rho: float) -> float:
    """Return the epsilon of an exponential mechanism that spends rho."""
    require_positive("rho", rho)
    return math.sqrt(8 * rho)


def require_positive(name: str, value: float) -> None:
    """Refuse a parameter that is not above 0."""
    if not value > 0 or not math.isfinite(value):
        raise InvalidParameter(f"{name} must be greater than 0")
