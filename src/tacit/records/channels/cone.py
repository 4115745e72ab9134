"""The cone of safe assignments in floating point, and its extreme rays.

For a set of input channels the safe assignments form the cone ``{x >= 0, G x <= 0}``. An extreme
ray that uses j channels has j - 1 tight rules, so it is the null vector of a (j - 1) x j matrix,
which minors give for many sets at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.records.channels.problem import Problem

_ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class Cone:
    """Rules that can bind, scaled rows; sizes in units of the mean input channel."""

    #: Rules that can bind, L x R, each with largest coefficient 1.
    G: Floats
    #: Sizes of the input channels, with mean 1.
    m: Floats
    #: Subjects that make one unit of size.
    unit: float
    #: Which input channels are risky.
    risky: Flags
    #: The smallest safe channel, named (without subjects) beside a set that is all risky.
    label: int

    @property
    def n_rules(self) -> int:
        """L, the number of rules that can bind."""
        return len(self.G)

    def psi(self, sets: Ints) -> Floats:
        """Cost of each set (one a line), a safe label included where all members are risky."""
        extra = self.risky[sets].all(axis=1) * self.m[self.label]
        return np.asarray(self.m[sets].sum(axis=1) + extra, dtype=np.float64)


def cone_of(problem: Problem) -> Cone:
    """Return the rules that can bind, exactly reduced before rounding to floats."""
    unit = problem.subjects / max(1, problem.n_channels)
    rows = [row for row in problem.rows[:-1] if any(value > 0 for value in row)]
    implied = sum((c * u for c, u in zip(problem.c, problem.u, strict=True)), Fraction(0))
    # With sum c_k u_k <= b the value rules imply the aggregate rule.
    if implied > problem.b and problem.aggregate_risky.any():
        rows.append(problem.rows[-1])
    if problem.min_safe_share > 0:
        rows.append(problem.min_safe_share - problem.safe.astype(int))
    G = np.array([[float(value) for value in row] for row in rows], dtype=np.float64)
    G = G.reshape(len(rows), problem.n_channels)
    G = G / np.abs(G).max(axis=1, initial=1e-300)[:, None]
    safe = np.flatnonzero(problem.safe)
    label = int(safe[problem.m[safe].argmin()]) if len(safe) else 0
    return Cone(G, problem.m / unit, unit, problem.risky, label)


def full_rays(cone: Cone, sets: Ints) -> tuple[Ints, Floats]:
    """Return the extreme rays that use every member of their set, with unit sum.

    The first array says which line of ``sets`` a ray belongs to; the second holds the rays.
    """
    n = sets.shape[1]
    where, found = [np.empty(0, dtype=np.int64)], [np.empty((0, n))]
    coefficients = cone.G[:, sets]
    for tight in combinations(range(cone.n_rules), n - 1):
        x = null_vectors(coefficients[list(tight)].transpose(1, 0, 2))
        total = x.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = x / total[:, None]
        excess = np.einsum("lnj,nj->ln", coefficients, x).max(axis=0, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            good = (np.abs(total) > 1e-14) & (x > _ROUNDING).all(axis=1) & (excess <= _ROUNDING)
        where.append(np.flatnonzero(good))
        found.append(x[good])
    return np.concatenate(where), np.concatenate(found)


def null_vectors(matrices: Floats) -> Floats:
    """Return the null vector of each (j - 1) x j matrix by its signed minors."""
    j = matrices.shape[2]
    signs = np.where(np.arange(j) % 2, -1.0, 1.0)
    keep = [[i for i in range(j) if i != drop] for drop in range(j)]
    minors = [determinants(matrices[:, :, columns]) for columns in keep]
    return np.asarray(np.stack(minors, axis=1) * signs, dtype=np.float64)


def determinants(matrices: Floats) -> Floats:
    """Return the determinants of many small square matrices."""
    n = matrices.shape[1]
    if n == 0:
        return np.ones(len(matrices))
    if n == 1:
        return np.asarray(matrices[:, 0, 0])
    if n == 2:
        a, b, c, d = (matrices[:, i, j] for i in (0, 1) for j in (0, 1))
        return np.asarray(a * d - b * c)
    if n == 3:
        first, second, third = (matrices[:, i] for i in range(3))
        return np.asarray(np.einsum("nj,nj->n", first, np.cross(second, third)))
    return np.asarray(np.linalg.det(matrices))
