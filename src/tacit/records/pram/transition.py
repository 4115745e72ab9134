"""Transition matrices: what is done with them, in two forms of one interface.

A matrix P has one row per original and one column per released category; row k holds the probabilities
with which category k is released as each category. :class:`Explicit` keeps the entries (sparse when most are 0),
:class:`Mixture` keeps ``diag(stay) + weights @ targets.T``, so that thousands of categories need no K x K array.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from tacit.arrays import Floats, Ints
from tacit.errors import InputError, LowUtility
from tacit.numerics.algebra import dot, inv
from tacit.numerics.elementary import log

Codes = npt.NDArray[Any]

#: Matrices with more categories than this are kept in a compact form where they have one.
COMPACT_ABOVE = 256
#: Corrections with a matrix of a larger condition number are noisy and get a warning.
ILL_CONDITIONED = 1e3
#: Beyond this the inverse is rounding error.
SINGULAR = 1e12
#: Entries looked at together.
CHUNK = 1 << 22


class Transition:
    """A transition matrix: what both forms can do."""

    @property
    def size(self) -> int:
        """Return the number of categories."""
        raise NotImplementedError

    @property
    def diagonal(self) -> Floats:
        """Return the probabilities that each category is left alone."""
        raise NotImplementedError

    def columns(self, at: slice) -> Floats:
        """Return some columns of the matrix, dense."""
        raise NotImplementedError

    def forward(self, x: Floats) -> Floats:
        """Return P^T x: the expected counts after randomisation, one column per table."""
        raise NotImplementedError

    def backward(self, x: Floats) -> Floats:
        """Return P x."""
        raise NotImplementedError

    def solve(self, x: Floats) -> Floats:
        """Return (P^-1)^T x."""
        raise NotImplementedError

    def squared_inverse(self, x: Floats) -> Floats:
        """Return S^T x with S the squares of the entries of P^-1."""
        raise NotImplementedError

    def draw(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return a released category for every original one, drawn independently."""
        raise NotImplementedError

    def plain(self) -> dict[str, Any]:
        """Return the matrix as plain data."""
        raise NotImplementedError

    def condition(self) -> float:
        """Return the condition number: how much inverting the matrix blows up noise."""
        raise NotImplementedError

    # -- the same for both ----------------------------------------------------------------------

    @functools.cached_property
    def conditioned(self) -> float:
        """Return the condition number, computed once."""
        return self.condition()

    def dense(self) -> Floats:
        """Return the whole matrix."""
        return self.columns(slice(0, self.size))

    def correct(self, x: Floats) -> Floats:
        """Return (P^-1)^T x, the unbiased estimate of counts before randomisation.

        Refuses a singular matrix; warns when noise is blown up more than a thousandfold.
        """
        if not self.conditioned < SINGULAR:
            raise InputError(
                "the transition matrix is singular, so nothing can be estimated back from the release. "
                "Publish tables of the randomised variable as they are, or use a matrix with a larger diagonal."
            )
        if self.conditioned > ILL_CONDITIONED:
            warnings.warn(
                f"the transition matrix has condition number {self.conditioned:.2g}: corrected tables are mostly noise",
                LowUtility,
                stacklevel=3,
            )
        return self.solve(x)

    def column_blocks(self) -> Sequence[slice]:
        """Return slices of columns of which each is small enough to be looked at dense."""
        step = max(1, CHUNK // max(1, self.size))
        return [slice(a, min(a + step, self.size)) for a in range(0, self.size, step)]

    def entropy_forward(self, x: Floats) -> Floats:
        """Return (P log P)^T x, natural logarithm, with 0 log 0 = 0."""
        return np.concatenate([dot(xlogx(self.columns(at)).T, x) for at in self.column_blocks()])

    def at(self, rows: Ints, columns: Ints) -> Floats:
        """Return single entries."""
        raise NotImplementedError

    @functools.cached_property
    def epsilon(self) -> float:
        """Return the local differential privacy of one draw: ln max p_km / p_lm over k, l and m."""
        worst = 0.0
        for at in self.column_blocks():
            block = self.columns(at)
            high, low = block.max(axis=0), block.min(axis=0)
            if np.any((low <= 0) & (high > 0)):
                return math.inf
            used = high > 0
            worst = max(worst, float(np.max(log(high[used] / low[used]), initial=0.0)))
        return worst


@dataclass(frozen=True, eq=False)
class Explicit(Transition):
    """A matrix by its entries: a NumPy array, or a SciPy sparse row array."""

    matrix: Any

    @property
    def size(self) -> int:
        """Return the number of categories."""
        return int(self.matrix.shape[0])

    @functools.cached_property
    def rows(self) -> sparse.csr_array:
        """Return the matrix as sparse rows."""
        return sparse.csr_array(self.matrix)

    @functools.cached_property
    def diagonal(self) -> Floats:
        """Return the probabilities that each category is left alone."""
        return np.asarray(self.matrix.diagonal(), dtype=np.float64)

    def columns(self, at: slice) -> Floats:
        """Return some columns of the matrix, dense."""
        if sparse.issparse(self.matrix):
            return np.asarray(self.by_column[:, at].toarray(), dtype=np.float64)
        return np.asarray(self.matrix[:, at], dtype=np.float64)

    @functools.cached_property
    def by_column(self) -> sparse.csc_array:
        """Return the matrix as sparse columns."""
        return sparse.csc_array(self.matrix)

    def forward(self, x: Floats) -> Floats:
        """Return P^T x."""
        return np.asarray(dot(self.matrix.T, x), dtype=np.float64)

    def backward(self, x: Floats) -> Floats:
        """Return P x."""
        return np.asarray(dot(self.matrix, x), dtype=np.float64)

    def solve(self, x: Floats) -> Floats:
        """Return (P^-1)^T x; the factors are kept for the next table."""
        if self.size <= COMPACT_ABOVE:
            # A product is many times faster than LAPACK's threaded solve of a small system.
            return np.asarray(dot(self.inverse, x))
        return self.factors_solve(x)

    def factors_solve(self, x: Floats) -> Floats:
        """Return (P^-1)^T x by the LU factors."""
        if sparse.issparse(self.matrix):
            return np.asarray(self.factors.solve(np.ascontiguousarray(x)), dtype=np.float64)
        return np.asarray(linalg.lu_solve(self.factors, x), dtype=np.float64)

    @functools.cached_property
    def inverse(self) -> Floats:
        """Return (P^-1)^T."""
        return self.factors_solve(np.eye(self.size))

    @functools.cached_property
    def factors(self) -> Any:
        """Return the LU factors of P^T."""
        if sparse.issparse(self.matrix):
            return sparse_linalg.splu(sparse.csc_array(self.matrix.T))
        return linalg.lu_factor(np.asarray(self.matrix).T)

    @functools.cached_property
    def inverse_squares(self) -> Floats:
        """Return the squares of the entries of (P^-1)^T."""
        return np.asarray(self.inverse**2)

    def squared_inverse(self, x: Floats) -> Floats:
        """Return S^T x with S the squares of the entries of P^-1."""
        return np.asarray(dot(self.inverse_squares, x))

    def condition(self) -> float:
        """Return the condition number: exact for small matrices, else a lower estimate in the 1-norm."""
        if self.size <= COMPACT_ABOVE:
            return float(np.linalg.cond(self.dense()))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                self.solve(np.ones(self.size))
        except (RuntimeError, linalg.LinAlgWarning):  # a pivot is 0
            return math.inf
        return one_norm_condition(self)

    def at(self, rows: Ints, columns: Ints) -> Floats:
        """Return single entries."""
        if sparse.issparse(self.matrix):
            return np.asarray(self.rows[rows, columns], dtype=np.float64).ravel()
        return np.asarray(self.matrix[rows, columns], dtype=np.float64)

    @functools.cached_property
    def moves(self) -> tuple[Floats, Ints, Ints]:
        """Return cumulated off-diagonal rows one after the other, their targets, and each row's last place.

        Row k's sums run from k to k + 1, so that one search serves all rows.
        """
        off = sparse.coo_array(self.rows)
        keep = (off.coords[0] != off.coords[1]) & (off.data > 0)
        row, column, p = off.coords[0][keep], off.coords[1][keep], off.data[keep]
        order = np.lexsort((column, row))
        row, column, p = row[order].astype(np.int64), column[order].astype(np.int64), p[order]
        count = np.bincount(row, minlength=self.size)
        last = np.cumsum(count) - 1
        total = np.cumsum(p)
        before = np.concatenate([[0.0], total])[np.cumsum(count) - count]
        mass = np.bincount(row, weights=p, minlength=self.size)
        steps = row + (total - before[row]) / mass[row]
        steps[last[count > 0]] = np.flatnonzero(count) + 1.0
        return steps, column, last

    def draw(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return a released category for every original one, drawn independently.

        One uniform number a record decides whether it stays and, if not, where it goes.
        """
        steps, targets, last = self.moves
        u = rng.random(len(codes))
        moving = np.flatnonzero(u >= self.stays[codes])
        out = codes.copy()
        if not len(moving) or not len(targets):
            return out
        k = codes[moving]
        stay = self.stays[k]
        place = np.searchsorted(steps, k + (u[moving] - stay) / (1.0 - stay), side="right")
        out[moving] = targets[np.minimum(place, last[k])]
        return out

    @functools.cached_property
    def stays(self) -> Floats:
        """Return the diagonal, exactly 1 for rows without any other entry."""
        empty = np.diff(np.concatenate([[-1], self.moves[2]])) == 0
        return np.where(empty, 1.0, self.diagonal)

    def plain(self) -> dict[str, Any]:
        """Return the matrix as plain data: full rows, or triples when most entries are 0."""
        entries = self.rows
        if self.size <= 16 or entries.nnz > 0.3 * self.size**2:
            return {"form": "rows", "rows": self.dense().tolist()}
        triples = sparse.coo_array(entries)
        return {
            "form": "entries",
            "size": self.size,
            "from": triples.coords[0].tolist(),
            "to": triples.coords[1].tolist(),
            "p": triples.data.tolist(),
        }


@dataclass(frozen=True, eq=False)
class Mixture(Transition):
    """The matrix ``diag(stay) + weights @ targets.T``, all parts non-negative.

    A draw keeps category k with probability stay[k], and otherwise picks a column of ``targets`` with the
    probabilities weights[k] and draws from that distribution: no row is ever written out.

    Attributes
    ----------
    stay
        One number per category; not the diagonal, to which the mixture adds.
    weights, targets
        K x r; the columns of ``targets`` sum to 1.
    """

    stay: Floats
    weights: Floats
    targets: Floats

    @property
    def size(self) -> int:
        """Return the number of categories."""
        return len(self.stay)

    @property
    def diagonal(self) -> Floats:
        """Return the probabilities that each category is left alone."""
        return np.asarray(self.stay + (self.weights * self.targets).sum(axis=1))

    def columns(self, at: slice) -> Floats:
        """Return some columns of the matrix, dense."""
        block = dot(self.weights, self.targets[at].T)
        here = np.arange(self.size)[at]
        block[here, here - here[0] if len(here) else here] += self.stay[at]
        return np.asarray(block)

    def forward(self, x: Floats) -> Floats:
        """Return P^T x."""
        stay = self.stay if x.ndim == 1 else self.stay[:, None]
        return np.asarray(stay * x + dot(self.targets, dot(self.weights.T, x)))

    def backward(self, x: Floats) -> Floats:
        """Return P x."""
        stay = self.stay if x.ndim == 1 else self.stay[:, None]
        return np.asarray(stay * x + dot(self.weights, dot(self.targets.T, x)))

    @functools.cached_property
    def inverse(self) -> tuple[Floats, Floats, Floats]:
        """Return d, A and B with P^-1 = diag(d) - A B^T (Woodbury)."""
        if np.any(self.stay <= 0):
            raise InputError("the transition matrix is singular in its compact form")
        d = 1.0 / self.stay
        scaled = d[:, None] * self.weights
        core = np.eye(self.weights.shape[1]) + dot(self.targets.T, scaled)
        return d, np.asarray(dot(scaled, inv(core))), np.asarray(d[:, None] * self.targets)

    def solve(self, x: Floats) -> Floats:
        """Return (P^-1)^T x."""
        d, a, b = self.inverse
        return np.asarray((d if x.ndim == 1 else d[:, None]) * x - dot(b, dot(a.T, x)))

    def squared_inverse(self, x: Floats) -> Floats:
        """Return S^T x with S the squares of the entries of P^-1."""
        d, a, b = self.inverse
        own = d * d - 2.0 * d * (a * b).sum(axis=1)
        r = a.shape[1]
        pairs_a = (a[:, :, None] * a[:, None, :]).reshape(-1, r * r)
        pairs_b = (b[:, :, None] * b[:, None, :]).reshape(-1, r * r)
        return np.asarray(
            (own if x.ndim == 1 else own[:, None]) * x + dot(pairs_b, dot(pairs_a.T, x))
        )

    def condition(self) -> float:
        """Return a lower estimate of the condition number in the 1-norm."""
        if np.any(self.stay <= 0):
            return math.inf
        return one_norm_condition(self)

    def at(self, rows: Ints, columns: Ints) -> Floats:
        """Return single entries."""
        mixed = (self.weights[rows] * self.targets[columns]).sum(axis=1)
        return np.asarray(mixed + np.where(rows == columns, self.stay[rows], 0.0))

    def draw(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """Return a released category for every original one, drawn independently."""
        u = rng.random(len(codes))
        moving = np.flatnonzero(u >= self.stay[codes])
        out = codes.copy()
        k = codes[moving]
        bounds = self.stay[k, None] + np.cumsum(self.weights[k], axis=1)
        part = (u[moving, None] >= bounds[:, :-1]).sum(axis=1)
        v = rng.random(len(moving))
        for j in range(self.weights.shape[1]):
            here = part == j
            place = np.searchsorted(self.sums[:, j], v[here], side="right")
            out[moving[here]] = np.minimum(place, self.highest[j])
        return out

    @functools.cached_property
    def sums(self) -> Floats:
        """Return the cumulated targets."""
        return np.cumsum(self.targets, axis=0) / self.targets.sum(axis=0)

    @functools.cached_property
    def highest(self) -> Ints:
        """Return the last category that each part of the mixture can pick."""
        last = [np.flatnonzero(column)[-1] for column in self.targets.T]
        return np.array(last, dtype=np.int64)

    def plain(self) -> dict[str, Any]:
        """Return the matrix as plain data."""
        return {
            "form": "mixture",
            "stay": self.stay.tolist(),
            "weights": self.weights.tolist(),
            "targets": self.targets.tolist(),
        }


# -- condition numbers and logarithms ----------------------------------------------------------------


def xlogx(p: Floats) -> Floats:
    """Return p log p with 0 log 0 = 0."""
    return np.asarray(p * log(np.where(p > 0, p, 1.0)))


def one_norm_condition(matrix: Transition) -> float:
    """Return a lower estimate of the 1-norm condition number of P^T without its inverse (Hager 1984).

    The 1-norm of P^T itself is 1, the largest row sum of P.
    """
    n = matrix.size
    # Not from equal parts, as is usual: P^-1 1 = 1, so the search would stop at once.
    x = np.zeros(n)
    x[int(np.argmin(matrix.diagonal))] = 1.0
    estimate = 0.0
    for _ in range(5):
        y = matrix.solve(x)
        estimate = max(estimate, float(np.abs(y).sum()))
        z = solve_plain(matrix, np.where(y >= 0, 1.0, -1.0))
        j = int(np.argmax(np.abs(z)))
        if abs(z[j]) <= float(dot(z, x)):
            break
        x = np.zeros(n)
        x[j] = 1.0
    return estimate


def solve_plain(matrix: Transition, x: Floats) -> Floats:
    """Return P^-1 x."""
    if isinstance(matrix, Mixture):
        d, a, b = matrix.inverse
        return np.asarray(d * x - dot(a, dot(b.T, x)))
    assert isinstance(matrix, Explicit)
    if sparse.issparse(matrix.matrix):
        return np.asarray(matrix.factors.solve(np.ascontiguousarray(x), trans="T"))
    return np.asarray(linalg.lu_solve(matrix.factors, x, trans=1))
