"""Ranks, normal scores and rank correlations, and values reassigned in the order of new scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.numerics.algebra import dot, eigh
from tacit.numerics.elementary import ndtri, sin

#: Smallest eigenvalue of a repaired correlation matrix, and the size of a change that ends the repair.
FLOOR, SETTLED = 1e-8, 1e-10
#: Rounds of the repair at most.
ROUNDS = 500


# -- ranks -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranking:
    """The records in ascending order of a column."""

    #: The records, ascending; equal values in random order.
    order: Ints
    #: The mean rank, from 1, of the values equal to the one at each place of the order.
    middle: Floats

    @property
    def n(self) -> int:
        """Return the number of records."""
        return len(self.order)

    @property
    def kept(self) -> float:
        """Return the share of the variance of ranks that ties leave: 1 without any, 0 for a constant."""
        n = self.n
        whole = (n * n - 1) / 12.0
        return float(self.middle.var() / whole) if n > 1 else 0.0

    def ranks(self) -> Ints:
        """Return the rank of each record, from 0, all different."""
        return restore_record_order(self.order, np.arange(self.n))

    def mean_ranks(self) -> Floats:
        """Return the rank of each record, from 1; equal values share the mean of theirs."""
        return restore_record_order(self.order, self.middle)

    def scores(self) -> Floats:
        """Return the normal score of each record, all different: Phi^-1((rank - 1/2) / n)."""
        return restore_record_order(self.order, normal_scores(self.n))

    def mean_scores(self) -> Floats:
        """Return the normal score of each record; equal values have equal ones."""
        return restore_record_order(self.order, ndtri((self.middle - 0.5) / self.n))


def rank(
    x: npt.NDArray[Any], rng: np.random.Generator | None = None, *, stable: bool = True
) -> Ranking:
    """Rank a column; equal values stand in random order, or in record order without ``rng``.

    Without ``stable`` either they may stand in any order, which is enough for mean ranks, and faster.
    """
    order = np.argsort(x, kind="stable" if rng is None and stable else None)
    ascending = x[order]
    same = ascending[1:] == ascending[:-1]
    if not same.any():
        return Ranking(order, np.arange(1.0, len(x) + 1.0))
    starts = np.flatnonzero(np.r_[True, ~same])
    lengths = np.diff(np.r_[starts, len(x)])
    if rng is not None:
        order = shuffle_ties(order, np.repeat(np.arange(len(starts)), lengths), lengths, rng)
    return Ranking(order, np.repeat(starts + (lengths + 1) / 2.0, lengths))


def shuffle_ties(order: Ints, run: Ints, lengths: Ints, rng: np.random.Generator) -> Ints:
    """Return an order with each run of equal values in random order, whatever order it had before."""
    at = np.flatnonzero(np.repeat(lengths > 1, lengths))
    tied = np.zeros(len(order), dtype=bool)
    tied[order[at]] = True
    chance = np.empty(len(order), dtype=np.int64)
    chance[tied] = rng.permutation(len(at))
    records = order[at]
    out = order.copy()
    out[at] = records[np.argsort(run[at] * len(at) + chance[records], kind="stable")]
    return out


def restore_record_order(order: Ints, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return values given in an order of the records, in record order."""
    out = np.empty_like(values)
    out[order] = values
    return out


def rank_within(group: npt.NDArray[Any]) -> Ints:
    """Return the place 0, 1, ... of each entry among those of its group, in the order given."""
    order = np.argsort(group, kind="stable")
    ordered, place = group[order], np.arange(len(group))
    first = np.r_[True, ordered[1:] != ordered[:-1]][: len(group)]
    start = np.maximum.accumulate(np.where(first, place, 0))
    return np.asarray(restore_record_order(order, place - start))


def normal_scores(n: int) -> Floats:
    """Return the n normal (van der Waerden type) scores Phi^-1((i - 1/2) / n), ascending."""
    return np.asarray(ndtri((np.arange(n) + 0.5) / n), dtype=np.float64)


# -- reverse mapping -------------------------------------------------------------------------------


def reverse_map(
    values: npt.NDArray[Any], scores: Floats, rng: np.random.Generator | None = None
) -> npt.NDArray[Any]:
    """Hand out the values of each column in the order of new scores.

    The record with the t-th smallest score gets the t-th smallest value (Muralidhar, Sarathy 2006,
    Management Science 52, 658-670). Any generator of scores will do; ties of scores are broken at
    random, or by record order without ``rng``.
    """
    if values.shape != scores.shape:
        raise ValueError("reverse_map needs one score for each value")
    if values.ndim == 1:
        return values[sources(rank(values, rng).order, rank(scores, rng).order)]
    columns = [reverse_map(v, s, rng) for v, s in zip(values.T, scores.T, strict=True)]
    return np.column_stack(columns) if columns else values.copy()


def sources(values: Ints, scores: Ints) -> Ints:
    """Return from whom each record gets its value: orders of the records by value and by score."""
    return np.asarray(restore_record_order(scores, values))


# -- correlations ----------------------------------------------------------------------------------


def pearson(x: Floats) -> Floats:
    """Return the correlation matrix of the columns; NaN beside a constant one."""
    if not len(x):
        return np.full((x.shape[1], x.shape[1]), np.nan)
    centered = x - x.mean(axis=0)
    flat = np.ptp(x, axis=0) == 0
    covariance = dot(centered.T, centered)
    spread = np.where(flat, np.nan, np.sqrt(np.diag(covariance)))
    found = np.clip(covariance / np.outer(spread, spread), -1.0, 1.0)
    found[np.diag_indices_from(found)] = np.where(flat, np.nan, 1.0)
    return np.asarray(found)


def spearman(x: Floats) -> Floats:
    """Return the rank correlation matrix of the columns; equal values share their mean rank."""
    return pearson(np.column_stack([rank(column, stable=False).mean_ranks() for column in x.T]))


def spearman_to_pearson(r: Any) -> Floats:
    """Return the correlation of normal variables whose rank correlation is r: 2 sin(pi r / 6)."""
    return np.asarray(2.0 * sin(np.pi / 6.0 * np.asarray(r, dtype=np.float64)))


def nearest_correlation(matrix: Floats, *, floor: float = FLOOR) -> Floats:
    """Return the nearest correlation matrix with eigenvalues of at least about ``floor``.

    Alternating projections with Dykstra's correction, in the Frobenius norm (Higham 2002, IMA Journal
    of Numerical Analysis 22, 329-343); the last step rescales to a diagonal of exactly 1.
    """
    y = (matrix + matrix.T) / 2.0
    correction = np.zeros_like(y)
    for _ in range(ROUNDS):
        shifted = y - correction
        x = at_least(shifted, floor)
        correction = x - shifted
        before, y = y, x.copy()
        np.fill_diagonal(y, 1.0)
        if np.abs(y - before).max() < SETTLED:
            break
    x = at_least(y, floor)
    spread = np.sqrt(np.diag(x))
    found = x / np.outer(spread, spread)
    np.fill_diagonal(found, 1.0)
    return (found + found.T) / 2.0


def at_least(matrix: Floats, floor: float) -> Floats:
    """Return a symmetric matrix with its eigenvalues raised to a floor."""
    values, vectors = eigh(matrix)
    return np.asarray(dot(vectors * np.maximum(values, floor), vectors.T))
