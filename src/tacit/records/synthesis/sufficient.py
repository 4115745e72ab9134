"""IPSO: columns redrawn from their regression on others, keeping its coefficients and covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.numerics.algebra import dot, lstsq, solve, svd
from tacit.stats.moments import TOLERANCE, factor, scale_of


@dataclass(frozen=True)
class Regression:
    """Least squares of the columns Y on the design (1, X).

    Attributes
    ----------
    fitted
        Fitted values X1 B.
    residuals
        Y - X1 B.
    basis
        Orthonormal columns that span the design; H = basis basis'.
    """

    fitted: Floats
    residuals: Floats
    basis: Floats

    @property
    def explained(self) -> Floats:
        """Return the share of each column's variance that the design explains; 0 of a constant one."""
        left = (self.residuals**2).sum(axis=0)
        spread = ((self.fitted - self.fitted.mean(axis=0)) ** 2).sum(axis=0) + left
        return np.where(spread > 0, 1 - left / np.where(spread > 0, spread, 1.0), 0.0)

    def off_design(self, z: Floats) -> Floats:
        """Return (I - H) z; done twice, since once leaves rounding behind."""
        for _ in range(2):
            z = z - dot(self.basis, dot(self.basis.T, z))
        return z


def regress(x: Floats, y: Floats) -> Regression:
    """Regress the columns of y on those of x and a constant; columns of x may depend on each other."""
    z = scale_of(x).there(x)
    left, values, _ = svd(np.column_stack([np.ones(len(x)), z]))
    basis = left[:, values > TOLERANCE * values[0]]
    shift = y.mean(axis=0)
    fitted = shift + dot(basis, dot(basis.T, y - shift))
    return Regression(fitted, y - fitted, basis)


def residual_noise(fit: Regression, rng: np.random.Generator) -> Floats:
    """Draw normal noise with the covariance of the residuals."""
    root = factor(dot(fit.residuals.T, fit.residuals) / len(fit.residuals))
    return np.asarray(dot(rng.standard_normal(fit.fitted.shape), root.T), dtype=np.float64)


def ipso_b(fit: Regression, z: Floats) -> Floats:
    """Return fitted values plus (I - H) Z: regression on X gives the same coefficients."""
    return fit.fitted + fit.off_design(z)


def ipso_c(fit: Regression, z: Floats) -> Floats:
    """Return fitted values plus (I - H) Z K^-T L': coefficients and residual covariance are the same.

    K K' = Z'(I - H)Z and L L' = E'E, E the residuals.
    """
    n, q = fit.fitted.shape
    rank = fit.basis.shape[1]
    if n < rank + q:
        raise InputError(
            f"IPSO C needs at least {rank + q} complete records: one for each column replaced and each "
            "independent column given, and one more. Name fewer columns."
        )
    draws = fit.off_design(z)
    k = factor(dot(draws.T, draws))
    standard = fit.off_design(np.asarray(solve(k, draws.T).T, dtype=np.float64))
    # Once more, since K of nearly dependent draws leaves rounding behind.
    again = solve(factor(dot(standard.T, standard)), standard.T).T
    return fit.fitted + dot(again, factor(dot(fit.residuals.T, fit.residuals)).T)


def same_regression(
    x: Floats, y: Floats, released: Floats, *, covariance: bool, tolerance: float = 1e-6
) -> bool:
    """Recompute by least squares whether coefficients, and the residual covariance, are the same.

    Coefficients are compared by what they fit, in standard deviations of the column.
    """
    design = np.column_stack([np.ones(len(x)), scale_of(x).there(x)])
    unit = np.where(y.std(axis=0) > 0, y.std(axis=0), 1.0)
    both = np.column_stack([y, released]) / np.tile(unit, 2)
    centre = both[:, : y.shape[1]].mean(axis=0)
    both = both - np.tile(centre, 2)
    coefficients, *_ = lstsq(design, both, rcond=TOLERANCE)
    q = y.shape[1]
    fits = dot(design, coefficients)
    if np.abs(fits[:, :q] - fits[:, q:]).max(initial=0.0) > tolerance:
        return False
    left = both - fits
    gap = dot(left[:, :q].T, left[:, :q]) - dot(left[:, q:].T, left[:, q:])
    return not covariance or bool(np.abs(gap).max(initial=0.0) <= tolerance * len(x))
