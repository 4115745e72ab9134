"""How many people of a population are unique, from the class sizes of a sample.

Three models of class sizes and Dankar's rule for choosing among them. Every one sees nothing but how many
classes of the sample have how many records: ``sizes`` (ascending) and ``counts``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, poch

from tacit.arrays import Floats, Ints

#: Dankar et al. (2012): up to this sampling fraction Pitman's model was the most accurate.
SMALL_FRACTION = 0.1
#: Below this alpha sums are added up; above it differences of digamma functions are exact enough.
SUMMED = 1e-3
#: Where the probability parameter of the slide negative binomial is looked for, in logits.
LOGITS = (-30.0, 30.0, 601)


@dataclass(frozen=True)
class Estimate:
    """Expected number of population uniques; NaN, with the reason, where a model has no solution."""

    uniques: float
    reason: str = ""


@dataclass(frozen=True)
class SizeCounts:
    """How many classes have each size, in a sample of a population."""

    sizes: Ints
    counts: Ints
    population: int

    @classmethod
    def of(cls, class_sizes: Ints, population: int) -> SizeCounts:
        """Count the sizes of classes; empty classes are left out."""
        sizes, counts = np.unique(class_sizes[class_sizes > 0], return_counts=True)
        return cls(sizes.astype(np.int64), counts.astype(np.int64), population)

    @property
    def records(self) -> int:
        """Return n, the records of the sample."""
        return int((self.sizes * self.counts).sum())

    @property
    def classes(self) -> int:
        """Return u, the classes of the sample."""
        return int(self.counts.sum())

    @property
    def fraction(self) -> float:
        """Return pi = n / N."""
        return self.records / self.population

    def number_of(self, size: int) -> int:
        """Return how many classes have a size."""
        return int(self.counts[self.sizes == size].sum())

    @property
    def known(self) -> Estimate | None:
        """Return the answer where no model is needed: no sample unique, or a sample that is everybody."""
        singles = self.number_of(1)
        if singles == 0:
            return Estimate(0.0)
        return Estimate(float(singles)) if self.records == self.population else None


def estimate_all(found: SizeCounts) -> tuple[dict[str, Estimate], str]:
    """Return the estimates of all models, and the model that Dankar's rule takes."""
    made = {"pitman": pitman(found), "zayatz": zayatz(found), "snb": slide_negative_binomial(found)}
    return made, choose_by_dankar(found.fraction, made)


def choose_by_dankar(fraction: float, made: dict[str, Estimate]) -> str:
    """Return the model that Dankar et al. (2012) take.

    Pitman's up to a sampling fraction of 0.1; above it the smaller of Zayatz and the slide negative binomial. A model
    without a solution is replaced by Zayatz, which always has one.
    """
    if fraction <= SMALL_FRACTION:
        return "zayatz" if math.isnan(made["pitman"].uniques) else "pitman"
    other = made["snb"].uniques
    return "zayatz" if math.isnan(other) or made["zayatz"].uniques < other else "snb"


# -- Zayatz ------------------------------------------------------------------------------------------------


def zayatz(found: SizeCounts) -> Estimate:
    """Return the estimate of Zayatz (1991).

    Bayes' rule with the class sizes of the sample in place of the population's: P(F = 1 | f = 1) =
    p_1 pi / sum_j p_j P(f = 1 | F = j), where f is hypergeometric; the uniques are S_1 P / pi.
    """
    if found.known is not None:
        return found.known
    n, total = found.records, found.population
    share = found.counts / found.classes
    seen_once = share * chance_of_one(found.sizes, n, total)
    chance = share[found.sizes == 1].sum() * found.fraction / seen_once.sum()
    return Estimate(float(found.number_of(1) * chance / found.fraction))


def chance_of_one(sizes: Ints, n: int, population: int) -> Floats:
    """Return P(f = 1 | F = size) when n of the population are drawn without replacement."""
    # j (n/N) prod_{i=0}^{j-2} (N-n-i)/(N-1-i), as logarithms; a class larger than N-n+1 cannot be seen once.
    steps = np.arange(int(sizes.max()) - 1, dtype=np.float64)
    left = np.maximum(population - n - steps, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(left) - np.log(population - 1 - steps)
    products = np.concatenate([[0.0], np.cumsum(logs)])
    return np.asarray(sizes * (n / population) * np.exp(products[sizes - 1]))


# -- Pitman ------------------------------------------------------------------------------------------------


def pitman(found: SizeCounts) -> Estimate:
    """Return the estimate by Pitman's sampling formula (Hoshino 2001).

    theta and alpha maximise the likelihood; the uniques are E(S_1) = N (theta + alpha)_{N-1} / (theta + 1)_{N-1} in
    rising factorials, exactly and not by the approximation N^alpha Gamma(theta + 1) / Gamma(theta + alpha).
    """
    if found.known is not None:
        return found.known
    if found.classes == found.records:
        return Estimate(math.nan, "every record of the sample is unique")
    if found.classes < 2:
        return Estimate(math.nan, "there is one class only")
    alpha, theta = fit_pitman(found)
    return Estimate(expected_uniques(alpha, theta, found.population))


def expected_uniques(alpha: float, theta: float, population: int) -> float:
    """Return E(S_1) under Pitman's sampling formula."""
    if alpha == 0:
        return population * theta / (theta + population - 1)
    # Ratios of gamma functions, which lose nothing where differences of their logarithms would.
    return float(population * poch(theta + population, alpha - 1) * poch(theta + alpha, 1 - alpha))


def fit_pitman(found: SizeCounts) -> tuple[float, float]:
    """Return alpha in [0, 1) and theta > -alpha that maximise the likelihood of the class sizes."""
    u, n = found.classes, found.records
    larger = found.sizes > 1
    sizes, counts = found.sizes[larger], found.counts[larger]

    def theta_at(alpha: float) -> float:
        def slope(theta: float) -> float:
            return sum_inverse(theta, alpha, u) - sum_inverse(theta, 1.0, n)

        # The slope is +inf at -alpha and negative far out, as u < n.
        low = -alpha + 1e-12 * max(1.0, alpha)
        high = 1.0
        while slope(high) > 0:
            high *= 4
        if slope(low) <= 0:
            return low
        return float(brentq(slope, low, high, xtol=1e-12, rtol=1e-12, maxiter=500))

    def slope_alpha(alpha: float) -> float:
        theta = theta_at(alpha)
        first = sum_ratio(theta, alpha, u)
        second = (counts * (digamma(sizes - alpha) - digamma(1 - alpha))).sum()
        return float(first - second)

    # As alpha nears 1 the second sum grows without bound; at 0 the model is Ewens'.
    if slope_alpha(0.0) <= 0:
        return 0.0, theta_at(0.0)
    alpha = float(brentq(slope_alpha, 0.0, 1 - 1e-12, xtol=1e-13, rtol=1e-12, maxiter=500))
    return alpha, theta_at(alpha)


def sum_inverse(theta: float, alpha: float, u: int) -> float:
    """Return the sum over i = 1 .. u-1 of 1 / (theta + i alpha)."""
    if alpha >= SUMMED:
        x = theta / alpha
        return float((digamma(x + u) - digamma(x + 1)) / alpha)
    return float((1 / (theta + alpha * np.arange(1, u))).sum())


def sum_ratio(theta: float, alpha: float, u: int) -> float:
    """Return the sum over i = 1 .. u-1 of i / (theta + i alpha)."""
    if alpha >= SUMMED:
        return (u - 1 - theta * sum_inverse(theta, alpha, u)) / alpha
    i = np.arange(1, u)
    return float((i / (theta + alpha * i)).sum())


# -- slide negative binomial -------------------------------------------------------------------------------


def slide_negative_binomial(found: SizeCounts) -> Estimate:
    """Return the estimate by the slide negative binomial of Chen and Keller-McNulty (1998).

    Class sizes of the population are 1 + NB(alpha, beta). Each record is in the sample with chance pi, so that with y =
    1 - pi, w = (1 - beta) y and g = (beta / (1 - w))^alpha

        E(s_1) = K pi g (1 + alpha w / (1 - w)),
        E(s_2) = K pi^2 g alpha (1 - beta) (2 + (alpha - 1) w) / (2 (1 - w)^2).

    K, the classes of the population, is estimated beforehand by Shlosser's modified estimator; alpha and beta solve
    the two equations; the uniques are K beta^alpha.
    """
    if found.known is not None:
        return found.known
    s1, s2 = found.number_of(1), found.number_of(2)
    if s2 == 0:
        return Estimate(math.nan, "no class of the sample has two records")
    k = count_classes_shlosser(found)
    fraction = found.fraction

    def alpha_at(beta: float) -> float:
        return alpha_for_ratio(beta, fraction, s2 / s1)

    def excess(logit: float) -> float:
        beta = 1 / (1 + math.exp(-logit))
        return expected_once(alpha_at(beta), beta, fraction) * k - s1

    roots = find_roots(excess)
    if not roots:
        return Estimate(math.nan, "its two equations have no common solution")
    solutions = []
    for logit in roots:
        beta = 1 / (1 + math.exp(-logit))
        alpha = alpha_at(beta)
        implied = k * (1 + alpha * (1 - beta) / beta)
        solutions.append((abs(math.log(implied / found.population)), k * beta**alpha))
    # Of several solutions the one that comes nearest to the size of the population.
    return Estimate(float(min(min(solutions)[1], found.population)))


def expected_once(alpha: float, beta: float, fraction: float) -> float:
    """Return E(s_1) / K: the chance that a class of the population has one record in the sample."""
    w = (1 - beta) * (1 - fraction)
    return fraction * (beta / (1 - w)) ** alpha * (1 + alpha * w / (1 - w))


def alpha_for_ratio(beta: float, fraction: float, ratio: float) -> float:
    """Return the one alpha > 0 for which E(s_2) / E(s_1) has a value; the ratio grows with alpha."""
    q = 1 - beta
    w = q * (1 - fraction)
    d = 1 - w
    rho = 2 * d * ratio / (fraction * q) if q > 0 else math.inf
    if math.isinf(rho):
        return math.inf
    # w alpha^2 + (2 - w - rho w) alpha - rho d = 0
    b = 2 - w - rho * w
    root = math.sqrt(b * b + 4 * w * rho * d)
    return 2 * rho * d / (b + root) if b > 0 else (root - b) / (2 * w)


def find_roots(function: Callable[[float], float]) -> list[float]:
    """Return the roots between the points of a grid at which the sign changes."""
    points = np.linspace(*LOGITS)
    values = [function(float(x)) for x in points]
    found = []
    for a, b, fa, fb in zip(points[:-1], points[1:], values[:-1], values[1:], strict=True):
        if math.isfinite(fa) and math.isfinite(fb) and fa * fb < 0:
            found.append(float(brentq(function, a, b, xtol=1e-13)))
    return found


def count_classes_shlosser(found: SizeCounts) -> float:
    """Return the number of classes of the population by Shlosser's modified estimator.

    Haas and Stokes (1998): d + s_1 (sum i q^2 (1-q^2)^{i-1} s_i / sum (1-q)^i ((1+q)^i - 1) s_i)
    (sum (1-q)^i s_i / sum i q (1-q)^{i-1} s_i)^2 with q the sampling fraction.
    """
    q, i, s = found.fraction, found.sizes.astype(np.float64), found.counts
    with np.errstate(under="ignore"):
        # (1-q)^i (1+q)^i is (1-q^2)^i, which does not overflow.
        first = (i * q**2 * (1 - q**2) ** (i - 1) * s).sum()
        first /= (((1 - q**2) ** i - (1 - q) ** i) * s).sum()
        second = ((1 - q) ** i * s).sum() / (i * q * (1 - q) ** (i - 1) * s).sum()
    return float(found.classes + found.number_of(1) * first * second**2)
