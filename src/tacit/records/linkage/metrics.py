"""Distances between the records of two files, as plain Euclidean distances in other coordinates.

Every metric here maps the records of both files into a space where its squared distance is the squared
Euclidean one, so that one exact search serves all:

- *standardised* (DBRL1): each file by its own means and standard deviations;
- *quadratic* (DBRL2, Mahalanobis): (a - b)' S^-1 (a - b), whitened by S;
- *polynomial kernel*: K(a, a) - 2 K(a, b) + K(b, b) with K(x, y) = (c + g x'y)^d on standardised files,
  by the explicit features of K; no cancellation;
- *radial kernel*: 2 - 2 exp(-g |a - b|^2), which ranks records as the standardised metric does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Literal, Protocol

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError
from tacit.stats.moments import TOLERANCE, Scale

Side = Literal["original", "released"]

#: Numbers that the features of a kernel may take together.
FEATURE_LIMIT = 3e8
#: Loading above which a column takes part in a linear dependence.
LOADING = 1e-3


class Metric(Protocol):
    """A distance between records of two files, by coordinates."""

    def coordinates(self, x: Floats, side: Side, at: Ints) -> Floats:
        """Return the coordinates of records of one file that are known on the columns ``at``."""
        ...

    def reported(self, squared: Floats) -> Floats:
        """Return the metric's squared distances from those of the coordinates."""
        ...


@dataclass(frozen=True)
class Standardised:
    """Euclidean distance after each file was standardised by itself (DBRL1)."""

    original: Scale
    released: Scale

    def coordinates(self, x: Floats, side: Side, at: Ints) -> Floats:
        """Return standardised values."""
        scale = self.original if side == "original" else self.released
        return Scale(scale.centre[at], scale.spread[at]).there(x[:, at])

    def reported(self, squared: Floats) -> Floats:
        """Return the squared distances as they are."""
        return squared


@dataclass(frozen=True)
class Radial(Standardised):
    """Distance of the radial kernel exp(-gamma |a - b|^2) on standardised files."""

    gamma: float = 1.0

    def reported(self, squared: Floats) -> Floats:
        """Return 2 - 2 K(a, b)."""
        return np.asarray(-2.0 * np.expm1(-self.gamma * squared), dtype=np.float64)


@dataclass(frozen=True)
class Polynomial(Standardised):
    """Distance of the polynomial kernel (coef0 + gamma x'y)^degree on standardised files."""

    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0

    def coordinates(self, x: Floats, side: Side, at: Ints) -> Floats:
        """Return the features of the kernel: all monomials up to the degree, weighted."""
        z = super().coordinates(x, side, at)
        p = z.shape[1]
        size = math.comb(p + self.degree, self.degree) - 1
        if size * len(z) > FEATURE_LIMIT:
            raise InputError(
                f"the kernel of degree {self.degree} on {p} columns needs {size:,} features a record, "
                "too many for this file. Lower the degree or name fewer columns."
            )
        out = np.empty((len(z), size))
        for f, factors in enumerate(monomials(p, self.degree)):
            out[:, f] = math.sqrt(self.coefficient(factors))
            for j in factors:
                out[:, f] *= z[:, j]
        return out

    def coefficient(self, factors: Sequence[int]) -> float:
        """Return the multinomial coefficient of a monomial in (coef0 + gamma x'y)^degree."""
        m = len(factors)
        ways = math.factorial(m)
        for j in set(factors):
            ways //= math.factorial(factors.count(j))
        power: float = self.coef0 ** (self.degree - m)
        return math.comb(self.degree, m) * ways * self.gamma**m * power


def monomials(p: int, degree: int) -> list[tuple[int, ...]]:
    """Return the columns that each monomial of degree 1 to ``degree`` multiplies."""
    return [
        factors
        for m in range(1, degree + 1)
        for factors in combinations_with_replacement(range(p), m)
    ]


@dataclass(frozen=True)
class Quadratic:
    """(a - b)' S^-1 (a - b), with the matrix ``s``.

    The ``base``, Var A + Var B, sets the units, and tells columns that depend on each other from differences that do not vary.
    """

    s: Floats
    base: Floats
    #: Whitening matrices by the columns they are for.
    roots: dict[tuple[int, ...], Floats] = field(default_factory=dict, compare=False)

    def coordinates(self, x: Floats, side: Side, at: Ints) -> Floats:
        """Return whitened values."""
        del side
        key = tuple(at.tolist())
        if key not in self.roots:
            self.roots[key] = whitening(self.s[np.ix_(at, at)], self.base[np.ix_(at, at)])
        return times(x[:, at], self.roots[key])

    def reported(self, squared: Floats) -> Floats:
        """Return the squared distances as they are."""
        return squared


def whitening(s: Floats, base: Floats) -> Floats:
    """Return W with W W' = S^-1 on the space that the columns span.

    Directions in which neither file varies are left out: there S has no inverse, and nothing to tell
    records apart (pseudo-inverse, relative cut 1e-10). Directions in which records vary but a - b does
    not are the release's gift to the intruder and keep a weight as large as the cut allows.
    """
    basis = find_identity_basis(base)
    inner = basis.T @ s @ basis
    values, vectors = np.linalg.eigh((inner + inner.T) / 2)
    top = values[-1] if len(values) else 0.0
    if top <= TOLERANCE:
        return basis
    weights = 1.0 / np.sqrt(np.maximum(values, TOLERANCE * top))
    return np.asarray(basis @ (vectors * weights), dtype=np.float64)


def find_identity_basis(base: Floats) -> Floats:
    """Return a basis, in the columns' own units, in which the base is the identity."""
    unit = np.sqrt(np.diag(base))
    values, vectors = np.linalg.eigh(base / np.outer(unit, unit))
    kept = values > TOLERANCE * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]) / unit[:, None], dtype=np.float64)


def times(x: Floats, w: Floats) -> Floats:
    """Return x w, added up column by column: equal rows give equal results to the last bit."""
    out = np.zeros((len(x), w.shape[1]))
    for k in range(w.shape[1]):
        for j in range(w.shape[0]):
            out[:, k] += x[:, j] * w[j, k]
    return out


# -- what the files tell -----------------------------------------------------------------------------


def known_scale(x: Floats) -> Scale:
    """Return mean and standard deviation (divisor n - 1) of each column's known values; 0 if constant."""
    known = np.isfinite(x)
    n = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, x, 0.0)
    centre = filled.sum(axis=0) / n
    squares = (np.where(known, x - centre, 0.0) ** 2).sum(axis=0)
    spread = np.sqrt(squares / np.maximum(n - 1, 1))
    low = np.where(known, x, np.inf).min(axis=0)
    high = np.where(known, x, -np.inf).max(axis=0)
    return Scale(centre, np.where(low < high, spread, 0.0))


def covariance(x: Floats) -> Floats:
    """Return the covariance of the columns over complete records (divisor n - 1)."""
    complete = x[np.isfinite(x).all(axis=1)]
    if len(complete) < 2:
        raise InputError(
            "covariances need at least two records without a missing value in the columns compared. "
            "Name fewer columns, or use the Euclidean metric."
        )
    return np.atleast_2d(np.cov(complete, rowvar=False))


def dependent_columns(base: Floats) -> Ints:
    """Return the columns that take part in an exact linear dependence."""
    unit = np.sqrt(np.diag(base))
    values, vectors = np.linalg.eigh(base / np.outer(unit, unit))
    null: Flags = values <= TOLERANCE * values[-1]
    return np.flatnonzero((np.abs(vectors[:, null]) > LOADING).any(axis=1))


def condition_number(base: Floats) -> float:
    """Return the condition number of a covariance matrix in units of its own standard deviations."""
    unit = np.sqrt(np.diag(base))
    values = np.linalg.eigvalsh(base / np.outer(unit, unit))
    return float(values[-1] / values[0]) if values[0] > TOLERANCE * values[-1] else math.inf
