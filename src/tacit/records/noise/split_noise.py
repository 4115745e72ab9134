"""Multipliers that stay away from 1: the split distributions of noise before tabulation."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InvalidParameter
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import ndtr, ndtri

Shape = Literal["triangular", "uniform", "normal"]


@dataclass(frozen=True)
class SplitNoise:
    """A multiplier m with a <= m <= b or 2 - b <= m <= 2 - a, each side with probability 1/2.

    ``triangular`` peaks next to the gap: with k = 1 / (b - a)^2 its density is k (b - m) on (a, b), and
    mirrored below 1. ``uniform`` is flat on each side; ``normal`` is a normal of mean a and standard
    deviation (b - a) / 2, cut to (a, b).
    """

    a: float = 1.1
    b: float = 1.2
    shape: Shape = "triangular"

    def __post_init__(self) -> None:
        if not 1 < self.a < self.b < 2:
            raise InvalidParameter("the multipliers need 1 < a < b < 2")

    def magnitude(self, u: npt.ArrayLike) -> Floats:
        """Return |m - 1| for uniform numbers u in [0, 1), growing with u."""
        q = np.asarray(u, dtype=np.float64)
        width = self.b - self.a
        if self.shape == "triangular":
            return self.a - 1 + width * (1 - np.sqrt(1 - q))
        if self.shape == "uniform":
            return self.a - 1 + width * q
        return np.asarray(self.a - 1 + ndtri(0.5 + q * (ndtr(2.0) - 0.5)) * width / 2)

    def ppf(self, u: npt.ArrayLike) -> Floats:
        """Return the quantiles of m."""
        q = np.asarray(u, dtype=np.float64)
        up = q >= 0.5
        return np.where(
            up,
            1 + self.magnitude(np.where(up, 2 * q - 1, 0.0)),
            1 - self.magnitude(np.where(up, 0.0, 1 - 2 * q)),
        )

    def pdf(self, m: npt.ArrayLike) -> Floats:
        """Return the density of m."""
        x = np.abs(np.asarray(m, dtype=np.float64) - 1) + 1
        inside = (x > self.a) & (x < self.b)
        width = self.b - self.a
        if self.shape == "triangular":
            height = (self.b - x) / width**2
        elif self.shape == "uniform":
            height = np.full_like(x, 0.5 / width)
        else:
            from scipy.stats import truncnorm

            height = np.asarray(truncnorm.pdf((x - self.a) / (width / 2), 0.0, 2.0)) / width
        return np.where(inside, height, 0.0)

    def cdf(self, m: npt.ArrayLike) -> Floats:
        """Return the distribution function of m."""
        x = np.asarray(m, dtype=np.float64)
        beyond = np.clip(np.abs(x - 1) + 1, self.a, self.b)
        width = self.b - self.a
        if self.shape == "triangular":
            tail = (self.b - beyond) ** 2 / width**2 / 2
        elif self.shape == "uniform":
            tail = (self.b - beyond) / width / 2
        else:
            from scipy.stats import truncnorm

            tail = np.asarray(truncnorm.sf((beyond - self.a) / (width / 2), 0.0, 2.0)) / 2
        return np.where(x < 1, tail, 1 - tail)

    @property
    def mean_change(self) -> float:
        """Return E|m - 1|."""
        width = self.b - self.a
        if self.shape == "triangular":
            return self.a - 1 + width / 3
        if self.shape == "uniform":
            return self.a - 1 + width / 2
        from scipy.stats import truncnorm

        return float(self.a - 1 + truncnorm.mean(0.0, 2.0) * width / 2)

    @property
    def sd(self) -> float:
        """Return the standard deviation of m, whose mean is 1."""
        width = self.b - self.a
        if self.shape == "triangular":
            within = width**2 / 18
        elif self.shape == "uniform":
            within = width**2 / 12
        else:
            from scipy.stats import truncnorm

            within = float(truncnorm.var(0.0, 2.0)) * width**2 / 4
        return float(np.sqrt(self.mean_change**2 + within))


#: The two distributions of the Commodity Flow Survey study.
D1, D2 = SplitNoise(1.1, 1.2), SplitNoise(1.05, 1.15)


def multipliers(
    noise: SplitNoise,
    direction: Flags,
    magnitude_unit: Ints,
    rng: np.random.Generator,
) -> Floats:
    """Return one multiplier per record: its direction, and the magnitude drawn for its unit."""
    n_units = int(magnitude_unit.max(initial=-1)) + 1
    size = noise.magnitude(rng.random(n_units))[magnitude_unit]
    return np.where(direction, 1 + size, 1 - size)


def random_directions(company: Ints, rng: np.random.Generator) -> Flags:
    """Return up or down for every record; all records of a company go the same way."""
    return (rng.random(int(company.max(initial=-1)) + 1) < 0.5)[company]


def derive_keyed_directions(names: Sequence[str], company: Ints, key: bytes) -> Flags:
    """Return directions that depend on the key and the company alone: the same in every year."""
    bits = [hmac.digest(key, name.encode(), hashlib.sha256)[0] & 1 for name in names]
    return np.array(bits, dtype=bool)[company]


def balance_directions(company: Ints, cell: Ints, x: Floats, rng: np.random.Generator) -> Flags:
    """Return directions of companies that cancel in cells: each, by size, goes against its cells' drift.

    A greedy balance: companies in descending order of size (ties at random); each chooses the side that
    lowers the sum over its cells of the signed totals so far, at random where it is even.
    """
    from scipy import sparse

    n_companies, n_cells = int(company.max(initial=-1)) + 1, int(cell.max(initial=-1)) + 1
    table = sparse.csr_array((x, (company, cell)), shape=(n_companies, n_cells))
    size = np.asarray(table.sum(axis=1)).ravel()
    order = np.lexsort((rng.random(n_companies), -size))
    drift = np.zeros(n_cells)
    up = np.zeros(n_companies, dtype=bool)
    coin = rng.random(n_companies) < 0.5
    for c in order:
        at = slice(table.indptr[c], table.indptr[c + 1])
        cells, parts = table.indices[at], table.data[at]
        lean = float(dot(drift[cells], parts))
        up[c] = coin[c] if lean == 0 else lean < 0
        drift[cells] += parts if up[c] else -parts
    return up[company]
