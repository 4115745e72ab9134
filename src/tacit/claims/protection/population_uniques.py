"""The claim that few people of the population are unique on the keys, by a model of class sizes.

Written from the papers' definitions: the likelihood itself is maximised, hypergeometric chances are SciPy's, and the
slide negative binomial is summed term by term.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize, special, stats

from tacit.arrays import Floats, Ints
from tacit.claims import Claim, check_for
from tacit.claims.classes import SIZE, Frame, class_sizes

#: The estimates solve equations by iteration: room for the last digits.
ROOM = 1e-4


@check_for("population-uniques")
def has_few_population_uniques(frame: Frame, claim: Claim) -> bool:
    """Return True when the estimated share of population uniques is at most the threshold."""
    p = claim.parameters
    found = class_sizes(frame, claim.columns).select(SIZE).collect("pyarrow")
    sizes = found.get_column(SIZE).to_numpy().astype(np.int64)
    population = int(p["population"])
    n, singles = int(sizes.sum()), int((sizes == 1).sum())
    if singles == 0:
        return True
    uniques = float(singles) if n == population else estimate(p["estimate"], sizes, population)
    return bool(uniques <= p["threshold"] * population * (1 + ROOM))


def estimate(model: str, sizes: Ints, population: int) -> float:
    """Return the expected number of population uniques by a model, or by Dankar's rule."""
    models: dict[str, Callable[[Ints, int], float]] = {
        "pitman": by_pitman,
        "zayatz": by_zayatz,
        "snb": by_slide_negative_binomial,
    }
    if model in models:
        return models[model](sizes, population)
    if sizes.sum() / population <= 0.1:
        preferred = by_pitman(sizes, population)
        return by_zayatz(sizes, population) if math.isnan(preferred) else preferred
    fallback, preferred = (
        by_zayatz(sizes, population),
        by_slide_negative_binomial(sizes, population),
    )
    return fallback if math.isnan(preferred) else min(fallback, preferred)


def by_zayatz(sizes: Ints, population: int) -> float:
    """Return s_1 P(F = 1 | f = 1) N / n."""
    n = int(sizes.sum())
    size, number = np.unique(sizes, return_counts=True)
    seen = number * stats.hypergeom.pmf(1, population, size, n)
    return float(number[0] * seen[0] / seen.sum() * population / n)


def by_pitman(sizes: Ints, population: int) -> float:
    """Return E(S_1) at the largest likelihood of Pitman's sampling formula."""
    u, n = len(sizes), int(sizes.sum())
    if u in (1, n):
        return math.nan
    size, number = np.unique(sizes, return_counts=True)
    steps, draws = np.arange(1, u), np.arange(1, n)

    def loss(alpha: float, theta: float) -> float:
        value = np.log(theta + alpha * steps).sum() - np.log(theta + draws).sum()
        value += (number * (special.gammaln(size - alpha) - special.gammaln(1 - alpha))).sum()
        return -float(value)

    def best_theta(alpha: float) -> tuple[float, float]:
        made = optimize.minimize_scalar(
            lambda x: loss(alpha, math.exp(x) - alpha),
            bounds=(-28, 45),
            method="bounded",
            options={"xatol": 1e-10},
        )
        return float(made.fun), math.exp(made.x) - alpha

    outer = optimize.minimize_scalar(
        lambda a: best_theta(a)[0], bounds=(0, 1), method="bounded", options={"xatol": 1e-10}
    )
    alpha = 0.0 if best_theta(0.0)[0] <= outer.fun else float(outer.x)
    theta = best_theta(alpha)[1]
    logs = special.betaln(theta + alpha + population - 1, 1 - alpha) - special.betaln(
        theta + alpha, 1 - alpha
    )
    return float(population * np.exp(logs))


def by_slide_negative_binomial(sizes: Ints, population: int) -> float:
    """Return K beta^alpha where the expected numbers of classes seen once and twice are those that were."""
    n = int(sizes.sum())
    q = n / population
    once, twice = int((sizes == 1).sum()), int((sizes == 2).sum())
    if not twice:
        return math.nan
    size, number = np.unique(sizes, return_counts=True)
    up = sum(i * q**2 * (1 - q**2) ** (i - 1) * s for i, s in zip(size, number, strict=True))
    down = sum(((1 - q**2) ** i - (1 - q) ** i) * s for i, s in zip(size, number, strict=True))
    unseen = sum((1 - q) ** i * s for i, s in zip(size, number, strict=True))
    seen = sum(i * q * (1 - q) ** (i - 1) * s for i, s in zip(size, number, strict=True))
    k = len(sizes) + once * up / down * (unseen / seen) ** 2

    def gaps(x: Floats) -> Floats:
        alpha, beta = math.exp(x[0]), 1 / (1 + math.exp(-x[1]))
        # A person beyond the first of a class is drawn with chance q: a thinned negative binomial.
        thin = beta / (beta + q * (1 - beta))
        zero = thin**alpha
        one = alpha * (1 - thin) * zero
        two = (alpha + 1) / 2 * (1 - thin) * one
        expected = np.array([q * zero + (1 - q) * one, q * one + (1 - q) * two])
        return np.asarray(np.log(k * expected) - np.log([once, twice]))

    solved = []
    # Small samples of large populations have small betas: starts are taken around the sampling fraction too.
    logits = sorted({-9.0, -6.0, -3.0, 0.0, 3.0, *(math.log(q) + b for b in (-3.0, 0.0, 3.0))})
    for start in ((a, b) for a in (-6.0, -3.0, 0.0, 3.0) for b in logits):
        made = optimize.least_squares(
            gaps, start, bounds=([-40, -30], [40, 30]), xtol=1e-14, ftol=1e-14, gtol=1e-14
        )
        if made.cost < 1e-16:
            alpha, beta = math.exp(made.x[0]), 1 / (1 + math.exp(-made.x[1]))
            total = k * (1 + alpha * (1 - beta) / beta)
            solved.append((round(abs(math.log(total / population)), 6), k * beta**alpha))
    return min(min(solved)[1], float(population)) if solved else math.nan
