"""Simulation and extrapolation: estimates freed from known noise by adding more of it.

Noise of variance lambda sigma^2 on top of that in the data moves a naive estimate along a curve in
lambda; the curve, fitted at lambda >= 0 and read off at lambda = -1, is the estimate without noise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar

from tacit.arrays import Flags, Floats
from tacit.errors import Approximate, InputError
from tacit.stats.moments import factor
from tacit.stats.regression import Family, fit

Extrapolant = Literal["linear", "quadratic", "cubic", "rational"]
#: Takes the noisy covariates and returns the estimated coefficients.
Estimator = Callable[[Floats], Floats]

LAMBDAS = (0.0, 0.5, 1.0, 1.5, 2.0)
DEGREE = {"linear": 1, "quadratic": 2, "cubic": 3}
#: The pole of a rational extrapolant must lie well below -1, where it is read off.
POLES = (1.05, 1e4)


@dataclass(frozen=True)
class SimexFit:
    """What simulation and extrapolation found."""

    #: The multiples of the noise, and the mean estimates at each (one row per multiple).
    lambdas: Floats
    curve: Floats
    #: The estimates on the data as they are (the curve at 0), and the extrapolated ones.
    naive: Floats
    corrected: Floats
    extrapolant: Extrapolant
    #: True for coefficients whose rational extrapolant could not be fitted, and got the quadratic one.
    fell_back: Flags


def simex(
    estimate: Estimator,
    x: Floats,
    noise: Floats,
    *,
    rng: np.random.Generator,
    lambdas: Sequence[float] = LAMBDAS,
    draws: int = 50,
    extrapolant: Extrapolant = "quadratic",
) -> SimexFit:
    """Return estimates freed from noise of a known covariance.

    Parameters
    ----------
    estimate
        Any estimator: noisy covariates to coefficients.
    x
        The covariates as released, one row per record.
    noise
        Covariance of the noise in them; zeros for columns without.
    lambdas, draws
        Multiples of the noise added, 0 among them, and the number of draws at each.
    extrapolant
        The curve in lambda. ``rational`` is a + b / (c + lambda), exact for linear models.
    """
    grid = check_lambdas(lambdas)
    root = factor(np.asarray(noise, dtype=np.float64))
    rows = []
    for value in grid:
        if value == 0:
            rows.append(estimate(x))
            continue
        found = [
            estimate(x + np.sqrt(value) * (rng.standard_normal((len(x), root.shape[1])) @ root.T))
            for _ in range(draws)
        ]
        rows.append(np.mean(found, axis=0))
    return extrapolate_curve(grid, np.array(rows), extrapolant)


def linear_simex(
    x: Floats,
    y: Floats,
    weights: Floats,
    noise: Floats,
    *,
    rng: np.random.Generator,
    lambdas: Sequence[float] = LAMBDAS,
    draws: int = 50,
    extrapolant: Extrapolant = "quadratic",
) -> SimexFit:
    """Do the same for weighted least squares, from cross-products: one draw serves every lambda."""
    grid = check_lambdas(lambdas)
    root = factor(np.asarray(noise, dtype=np.float64))
    design = np.column_stack([np.ones(len(x)), x])
    heavy = design * weights[:, None]
    gram, against = heavy.T @ design, heavy.T @ y
    width = design.shape[1]
    estimates = np.zeros((draws, len(grid), width))
    for b in range(draws):
        u = np.zeros_like(design)
        u[:, 1:] = rng.standard_normal((len(x), root.shape[1])) @ root.T
        cross, own, response = (
            heavy.T @ u,
            (u * weights[:, None]).T @ u,
            (u * weights[:, None]).T @ y,
        )
        size = np.sqrt(grid)[:, None, None]
        estimates[b] = np.linalg.solve(
            gram + size * (cross + cross.T) + size**2 * own,
            (against + np.sqrt(grid)[:, None] * response)[..., None],
        )[..., 0]
    return extrapolate_curve(grid, estimates.mean(axis=0), extrapolant)


def check_lambdas(lambdas: Sequence[float]) -> Floats:
    """Return the multiples of the noise; refuse a set without 0 or with negative ones."""
    grid = np.array(sorted(set(lambdas)), dtype=np.float64)
    if not len(grid) or grid[0] != 0 or not np.isfinite(grid).all():
        raise InputError("lambdas must hold 0 and otherwise only positive numbers")
    return grid


def extrapolate_curve(grid: Floats, curve: Floats, extrapolant: Extrapolant) -> SimexFit:
    """Fit the curve of each coefficient and read it off at -1."""
    needed = 3 if extrapolant == "rational" else DEGREE[extrapolant] + 1
    if len(grid) < needed:
        raise InputError(f"the {extrapolant} extrapolant needs at least {needed} lambdas")
    fell_back = np.zeros(curve.shape[1], dtype=bool)
    if extrapolant == "rational":
        found = [rational(grid, column) for column in curve.T]
        fell_back = np.array([one is None for one in found])
        plain = polynomial(grid, curve, 2)
        corrected = np.array(
            [p if one is None else one for one, p in zip(found, plain, strict=True)]
        )
        if fell_back.any():
            warnings.warn(
                "simex: the rational extrapolant does not fit every coefficient; those got the quadratic one",
                Approximate,
                stacklevel=3,
            )
    else:
        corrected = polynomial(grid, curve, DEGREE[extrapolant])
    return SimexFit(grid, curve, curve[0], corrected, extrapolant, fell_back)


def polynomial(grid: Floats, curve: Floats, degree: int) -> Floats:
    """Return the least-squares polynomials of each coefficient at -1."""
    powers = np.vander(grid, degree + 1, increasing=True)
    fit_, *_ = np.linalg.lstsq(powers, curve, rcond=None)
    return np.asarray(np.array([(-1.0) ** i for i in range(degree + 1)]) @ fit_)


def rational(grid: Floats, curve: Floats) -> float | None:
    """Return a + b / (c + lambda), fitted by least squares, at -1; None when no pole fits."""
    spread = float(np.ptp(curve))
    if spread <= 1e-12 * max(float(np.abs(curve).max()), 1e-300):
        return float(curve.mean())

    def fitted(c: float) -> tuple[float, Floats]:
        basis = np.column_stack([np.ones_like(grid), 1.0 / (c + grid)])
        ab, *_ = np.linalg.lstsq(basis, curve, rcond=None)
        return float(((basis @ ab - curve) ** 2).sum()), ab.astype(np.float64)

    logs = np.linspace(np.log(POLES[0]), np.log(POLES[1]), 60)
    best = int(np.argmin([fitted(float(np.exp(t)))[0] for t in logs]))
    if best in {0, len(logs) - 1}:
        return None
    refined = minimize_scalar(
        lambda t: fitted(float(np.exp(t)))[0],
        bounds=(logs[best - 1], logs[best + 1]),
        method="bounded",
        options={"xatol": 1e-12},
    )
    c = float(np.exp(refined.x))
    _, ab = fitted(c)
    return float(ab[0] + ab[1] / (c - 1.0))


# -- linear models -----------------------------------------------------------------------------------


def reliability(variance: float, noise_variance: float) -> float:
    """Return kappa = var x / (var x + var u), by which noise shrinks a slope.

    With further covariates ``variance`` is the part of x that they leave unexplained.
    """
    return variance / (variance + noise_variance)


def errors_in_variables(x: Floats, y: Floats, weights: Floats, noise: Floats) -> Floats:
    """Return the coefficients of a linear model with the noise taken out of the cross-products."""
    design = np.column_stack([np.ones(len(x)), x])
    gram = (design * weights[:, None]).T @ design
    gram[1:, 1:] -= weights.sum() * np.asarray(noise)
    if np.linalg.eigvalsh(gram)[0] <= 0:
        raise InputError(
            "the noise explains all of the variation of a covariate, so nothing can be corrected; its variance is given too large"
        )
    return np.asarray(np.linalg.solve(gram, (design * weights[:, None]).T @ y))


def regression_estimator(y: Floats, weights: Floats, family: Family) -> Estimator:
    """Return the estimator of a weighted regression of y, for :func:`simex`."""
    return lambda x: fit(x, y, family, weights).coefficients
