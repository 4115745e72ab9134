"""Principal components with signs that can be compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats
from tacit.numerics.algebra import eigh


@dataclass(frozen=True)
class Components:
    """Components in descending order of variance.

    Attributes
    ----------
    values
        Variances along the components.
    vectors
        One column per component, of length 1.
    """

    values: Floats
    vectors: Floats

    @property
    def shares(self) -> Floats:
        """Return the share of the variance that each component has."""
        return self.values / self.values.sum()

    @property
    def loadings(self) -> Floats:
        """Return the vectors times the standard deviation along them.

        For components of a correlation matrix these are the correlations of columns and components.
        """
        return self.vectors * np.sqrt(np.clip(self.values, 0.0, None))

    def aligned(self, reference: Floats) -> Components:
        """Return the components with signs turned to those of a reference's vectors."""
        sign = np.where((self.vectors * reference).sum(axis=0) < 0, -1.0, 1.0)
        return Components(self.values, self.vectors * sign)


def principal(matrix: Floats) -> Components:
    """Return the components of a covariance or correlation matrix; the largest loading is positive."""
    values, vectors = eigh(matrix)
    return Components(np.clip(values[::-1], 0.0, None), orient_vectors(vectors[:, ::-1]))


def orient_vectors(vectors: Floats) -> Floats:
    """Return vectors with signs turned so that the largest entry of each is positive."""
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(vectors.shape[1])]
    return np.asarray(vectors * np.where(largest < 0, -1.0, 1.0))
