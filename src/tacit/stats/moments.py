"""Means, covariances, skewness and kurtosis; roots of covariances; draws with exact sample moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.numerics.algebra import cholesky, dot, eigh, eigvalsh, lstsq, svd

#: Relative size below which an eigenvalue counts as zero.
TOLERANCE = 1e-10


@dataclass(frozen=True)
class Scale:
    """What standardising takes off a matrix: z = (x - centre) / spread."""

    centre: Floats
    spread: Floats

    def there(self, x: Floats) -> Floats:
        """Return the standardised matrix; a constant column becomes 0."""
        return (x - self.centre) / np.where(self.spread > 0, self.spread, 1.0)

    def back(self, z: Floats) -> Floats:
        """Return a standardised matrix in the columns' own units."""
        return z * self.spread + self.centre


def scale_of(x: Floats, *, ddof: int = 0, weights: Floats | None = None) -> Scale:
    """Return mean and standard deviation of each column; spread is exactly 0 where it is constant."""
    centre = np.average(x, axis=0, weights=weights)
    squared = np.average((x - centre) ** 2, axis=0, weights=weights)
    n = len(x)
    spread = np.sqrt(squared * (n / (n - ddof) if n > ddof else 1.0))
    return Scale(centre, np.where(np.ptp(x, axis=0) == 0, 0.0, spread) if n else spread)


def weighted_covariance(x: Floats, weights: Floats) -> Floats:
    """Return the covariance of the columns, n - 1 in the denominator when all weights are equal."""
    n = len(x)
    centered = x - np.average(x, axis=0, weights=weights)
    return dot((centered * (weights / weights.sum())[:, None]).T, centered) * (n / (n - 1))


def factor(covariance: Floats) -> Floats:
    """Return A with A A' = covariance: Cholesky's, or from eigenvectors when it is singular."""
    try:
        root: Floats = np.asarray(cholesky(covariance), dtype=np.float64)
    except np.linalg.LinAlgError:
        values, vectors = eigh(covariance)
        root = vectors * np.sqrt(np.clip(values, 0.0, None))
    return root


def as_covariance(matrix: Any) -> Floats:
    """Return a covariance matrix, or refuse what is none."""
    try:
        sigma = np.array(matrix, dtype=np.float64)
    except ValueError:
        raise ValueError("covariance must be a square matrix of numbers") from None
    if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1] or sigma.size == 0:
        raise ValueError("covariance must be a square matrix of numbers")
    if not np.isfinite(sigma).all():
        raise ValueError("covariance must hold finite numbers")
    size = np.abs(sigma).max()
    if not np.allclose(sigma, sigma.T, rtol=0, atol=TOLERANCE * size):
        raise ValueError("covariance must be symmetric")
    if eigvalsh(sigma)[0] < -TOLERANCE * size:
        raise ValueError("covariance must be positive semidefinite")
    return (sigma + sigma.T) / 2.0


def exact_moments(
    noise: Floats, x: Floats, weights: Floats, target: Floats, *, kind: str
) -> Floats:
    """Return noise with mean 0, no covariance with x and the target covariance, all in the sample."""
    n, p = x.shape
    scaled = np.sqrt(weights / weights.mean())[:, None]
    centered = x - np.average(x, axis=0, weights=weights)
    spread = centered.std(axis=0)
    design = np.column_stack([np.ones(n), centered / np.where(spread > 0, spread, 1.0)])
    fit, *_ = lstsq(scaled * design, scaled * noise, rcond=None)
    rest = noise - dot(design, fit)
    values, vectors = eigh(weighted_covariance(rest, weights))
    wanted, directions = eigh(target)
    rank = int((wanted > TOLERANCE * wanted[-1]).sum())
    if int((values > TOLERANCE * values[-1]).sum()) < rank or n <= p + noise.shape[1] + 1:
        raise InputError(
            f"{kind}: too few records for exact moments; at least twice as many complete records as columns, plus two, are needed."
        )
    standard = dot(rest, vectors[:, -rank:]) / np.sqrt(values[-rank:])
    # Rotate the standardised draws as little as possible: the target's root seen from their axes.
    rotation = dot(vectors[:, -rank:].T, directions[:, -rank:])
    left, _, right = svd(rotation)
    return dot(dot(standard, dot(left, right)), (directions[:, -rank:] * np.sqrt(wanted[-rank:])).T)


# -- skewness, kurtosis, and the parts of a variance that masking takes away ----------------------------


def skewness(x: Floats) -> Floats:
    """Return the third standardised moment of each column (moment estimate); NaN where constant."""
    return standardised_moment(x, 3)


def kurtosis(x: Floats) -> Floats:
    """Return the fourth standardised moment of each column, 3 for normal data; NaN where constant."""
    return standardised_moment(x, 4)


def standardised_moment(x: Floats, order: Literal[3, 4]) -> Floats:
    """Return the mean of ((x - mean) / sd) ** order by column."""
    centred = x - x.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    flat = np.ptp(x, axis=0) == 0
    with np.errstate(invalid="ignore", divide="ignore"):
        z = centred / spread
        squared = z * z
        found = (squared * (z if order == 3 else squared)).mean(axis=0)
    return np.where(flat, np.nan, found)


@dataclass(frozen=True)
class Decomposition:
    """Cov(original) = Cov(released) + Cov(difference) + cross + cross', all with divisor n."""

    #: Covariances before and after.
    original: Floats
    released: Floats
    #: Covariance of original minus released: for group means the covariance within groups.
    difference: Floats
    #: Covariance of the released values with the difference; 0 for group means.
    cross: Floats

    @property
    def lost(self) -> Floats:
        """Return the variance that each column lost; negative where it gained."""
        return np.diag(self.original - self.released)


def decompose(x0: Floats, x1: Floats) -> Decomposition:
    """Return the parts of the original covariance."""
    n = len(x0)
    a, b = x0 - x0.mean(axis=0), x1 - x1.mean(axis=0)
    d = a - b
    return Decomposition(dot(a.T, a) / n, dot(b.T, b) / n, dot(d.T, d) / n, dot(b.T, d) / n)
