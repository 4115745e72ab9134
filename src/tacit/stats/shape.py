"""Skewness, kurtosis and the parts of a variance that masking takes away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Floats
from tacit.numerics.algebra import dot


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
    """Cov(original) = Cov(released) + Cov(difference) + cross + cross', all with divisor n.

    Attributes
    ----------
    original, released
        Covariances before and after.
    difference
        Covariance of original minus released: for group means the covariance within groups.
    cross
        Covariance of the released values with the difference; 0 for group means.
    """

    original: Floats
    released: Floats
    difference: Floats
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
