"""Tables before and after randomisation: expected, corrected, their variances, risk, and information lost.

A table has one axis per variable; ``matrices`` gives each axis its transition matrix, or None for a
variable that was not randomised. Everything is applied along one axis after the other, which equals the
Kronecker product of the matrices without ever forming it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InvalidParameter
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import log
from tacit.records.pram.matrices import as_counts
from tacit.records.pram.transition import Transition, xlogx
from tacit.stats.margins import GridMargin, sweep_margins

Matrices = Sequence[Transition | None]

#: Rounds of the EM algorithm, and the largest change, as a share of all records, at which it stops.
ROUNDS, SETTLED = 5_000, 1e-9


def apply_along_axis(table: Floats, axis: int, act: Callable[[Floats], Floats]) -> Floats:
    """Return a table with a linear map applied along one axis."""
    moved = np.moveaxis(table, axis, 0)
    done = act(np.ascontiguousarray(moved.reshape(moved.shape[0], -1)))
    return np.moveaxis(done.reshape(moved.shape), 0, axis)


def every_axis(
    table: npt.ArrayLike, matrices: Matrices, act: Callable[[Transition, Floats], Floats]
) -> Floats:
    """Return a table with each axis's matrix at work along it."""
    out = np.asarray(table, dtype=np.float64)
    if len(matrices) != out.ndim:
        raise InvalidParameter("give one matrix per axis of the table, None where nothing was done")
    for axis, matrix in enumerate(matrices):
        if matrix is None:
            continue
        if matrix.size != out.shape[axis]:
            raise InvalidParameter(
                f"axis {axis} of the table has {out.shape[axis]} categories, its matrix {matrix.size}"
            )
        out = apply_along_axis(out, axis, lambda x, m=matrix: act(m, x))  # type: ignore[misc]
    return out


def expected(table: npt.ArrayLike, matrices: Matrices) -> Floats:
    """Return the expected table after randomisation, E(T_X) = P^T T along every axis."""
    return every_axis(table, matrices, lambda m, x: m.forward(x))


def corrected(released: npt.ArrayLike, matrices: Matrices) -> Floats:
    """Return the unbiased estimate (P^-1)^T T_X of the table before randomisation.

    Cells may come out negative; see :func:`fitted` for estimates that do not.
    """
    return every_axis(released, matrices, lambda m, x: m.correct(x))


def corrected_variance(released: npt.ArrayLike, matrices: Matrices) -> Floats:
    """Return an unbiased estimate of the variance of each corrected cell, from the release alone.

    Given the original, Var(T_hat)_k = sum_l m_l (P^-1)_lk^2 - T_k with m = P^T T; the released table is
    an unbiased stand-in for m and the corrected one for T. It is the variance due to randomisation; what
    sampling adds comes on top.
    """
    return every_axis(released, matrices, lambda m, x: m.squared_inverse(x)) - corrected(
        released, matrices
    )


def true_variance(table: npt.ArrayLike, matrices: Matrices) -> Floats:
    """Return the variance of each corrected cell, given the original table."""
    m = expected(table, matrices)
    spread = every_axis(m, matrices, lambda p, x: p.squared_inverse(x))
    return np.maximum(spread - np.asarray(table, dtype=np.float64), 0.0)


def released_covariance(counts: npt.ArrayLike, matrix: Transition) -> Floats:
    """Return Var(T_X | original) = sum_k T_k (diag(p_k) - p_k p_k^T) of a one-way table."""
    t = np.asarray(counts, dtype=np.float64)
    p = matrix.dense()
    return np.asarray(np.diag(matrix.forward(t)) - dot(p.T, t[:, None] * p))


def corrected_covariance(counts: npt.ArrayLike, matrix: Transition) -> Floats:
    """Return Var(T_hat) = (P^-1)^T Var(T_X) P^-1 of a one-way table."""
    inner = matrix.correct(released_covariance(counts, matrix))
    return np.asarray(matrix.correct(inner.T))


def fitted(released: npt.ArrayLike, matrices: Matrices) -> Floats:
    """Return the maximum likelihood estimate of the table before randomisation: no negative cells.

    EM: each released cell is shared out among the original cells it may have come from, in proportion
    to the current estimate. The total is kept, and so are margins of variables that were not randomised.
    """
    x = np.asarray(released, dtype=np.float64)
    total = x.sum()
    if total <= 0:
        return x.copy()
    t = corrected(x, matrices)
    if t.min() >= 0:  # then it explains the release exactly, and nothing is likelier
        return t
    t = np.maximum(t, 0.0) + total / x.size * 1e-3
    if any(m is None for m in matrices):
        # Only cells whose category of every untouched variable occurs in the release.
        axes = tuple(i for i, m in enumerate(matrices) if m is not None)
        t = np.where(x.sum(axis=axes, keepdims=True) > 0, t, 0.0)
    t *= total / t.sum()
    for _ in range(ROUNDS):
        m = expected(t, matrices)
        ratio = np.divide(x, m, out=np.zeros_like(x), where=m > 0)
        new = t * every_axis(ratio, matrices, lambda p, y: p.backward(y))
        moved = float(np.abs(new - t).max())
        t = new
        if moved <= SETTLED * total:
            break
    return t


def raked(table: Floats, margins: Sequence[Floats | None]) -> Floats:
    """Return a non-negative table scaled, by iterative proportional fitting, to one-way margins."""
    total = max(float(table.sum()), 1e-300)
    known = [GridMargin.of([a], m, table.shape) for a, m in enumerate(margins) if m is not None]
    out = table
    for sweep in sweep_margins(table, known, ROUNDS, empty=1.0):
        out = sweep.values
        if sweep.gap <= SETTLED * total:
            break
    return out


# -- risk --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CellRisk:
    """Risk of the cells of a table.

    Attributes
    ----------
    table, expected
        Counts before randomisation, and expected after.
    risk
        R(k) = P(original = k | released = k); 0 where that cannot be released.
    unsafe
        0 < T(k) < tau and R(k) > T(k) / tau.
    rare
        0 < T(k) < tau: unsafe without randomisation.
    """

    table: Floats
    expected: Floats
    risk: Floats
    unsafe: Flags
    rare: Flags


def cell_risk(table: npt.ArrayLike, matrices: Matrices, tau: float) -> CellRisk:
    """Return the Bayes risk of each cell and whether it is safe, de Wolf's section 3.

    R(k) = T(k) prod_j p_j(k_j, k_j) / E(T_X)(k). It does not depend on the realised release.
    """
    t = np.asarray(table, dtype=np.float64)
    return compute_cell_risk(t, count_expected_kept(t, matrices), expected(t, matrices), tau)


def count_expected_kept(table: Floats, matrices: Matrices) -> Floats:
    """Return the expected number of records of each cell that are released as they are."""
    out = table
    for axis, matrix in enumerate(matrices):
        if matrix is not None:
            rest = tuple(i for i in range(table.ndim) if i != axis)
            out = out * np.expand_dims(matrix.diagonal, rest)
    return np.asarray(out, dtype=np.float64)


def compute_cell_risk(table: Floats, stayed: Floats, after: Floats, tau: float) -> CellRisk:
    """Return the risk from counts before, expected to stay, and expected after."""
    if not tau > 0:
        raise InvalidParameter("tau, the threshold, must be greater than 0")
    risk = np.divide(stayed, after, out=np.zeros_like(table), where=after > 0)
    rare = (table > 0) & (table < tau)
    return CellRisk(table, after, risk, rare & (risk > table / tau), rare)


# -- information lost: entropy, frequency tables, variance, regression (de Wolf, section 4) ----------


#: Estimates below this share of all records count as 0.
NOTHING = 1e-9


def backward(matrix: Transition, counts: npt.ArrayLike) -> Floats:
    """Return P(original = k | released = l) with one row per released category l.

    The row of a category that is never released is all 0.
    """
    t = as_counts(counts)
    m = matrix.forward(t)
    joint = (t[:, None] * matrix.dense()).T
    return np.divide(joint, m[:, None], out=np.zeros_like(joint), where=m[:, None] > 0)


def log_base(base: float) -> float:
    """Return the natural logarithm of a base; refuse one that is not greater than 1."""
    if not base > 1:
        raise InvalidParameter("the base of the logarithm must be greater than 1")
    return math.log(base)


def expected_information_loss(
    table: npt.ArrayLike,
    released: npt.ArrayLike,
    matrices: Matrices,
    *,
    base: float = 10.0,
) -> float:
    """Return EBIL = -sum_l T_X(l) sum_k p_lk log p_lk, the expected loss given the release.

    With p_lk = P(k to l) T(k) / E(l) the inner sum is

        (1 / E(l)) (sum_k P(k to l) T(k) (log T(k) + log P(k to l))) - log E(l),

    and the logarithm of a product of entries is a sum, so that several variables need one pass along the
    axes each. The paper's logarithm is to base 10.
    """
    t = np.asarray(table, dtype=np.float64)
    x = np.asarray(released, dtype=np.float64)
    m = expected(t, matrices)
    mixed = expected(xlogx(t), matrices)
    for axis, matrix in enumerate(matrices):
        if matrix is None:
            continue
        own = apply_along_axis(t, axis, matrix.entropy_forward)
        mixed = mixed + expected(own, [None if i == axis else p for i, p in enumerate(matrices)])
    used = m > 0
    inner = mixed[used] / m[used] - log(m[used])
    # A sum of p log p is never above 0; what is left of rounding is.
    return float(-(dot(x[used], np.minimum(inner, 0.0)))) / log_base(base) + 0.0


def information_loss(
    original: Sequence[Ints],
    released: Sequence[Ints],
    table: npt.ArrayLike,
    matrices: Matrices,
    *,
    counts: npt.ArrayLike | None = None,
    base: float = 10.0,
) -> float:
    """Return IL = -sum over records of log P(original | released), the loss that happened.

    Parameters
    ----------
    original, released
        Codes of each variable before and after, one a record (or a distinct pair, with ``counts``).
    table, matrices
        The original table over the variables, and their matrices.
    counts
        How many records each entry stands for.
    base
        Of the logarithm.
    """
    t = np.asarray(table, dtype=np.float64)
    m = expected(t, matrices)
    before, after = tuple(original), tuple(released)
    p = np.ones(len(before[0]))
    for matrix, k, l in zip(matrices, before, after, strict=True):  # noqa: E741 - the paper's letters
        p *= (k == l) if matrix is None else matrix.at(k, l)
    likely = p * t[before] / m[after]
    if (likely <= 0).any():
        raise InvalidParameter("the release holds a move that its matrix does not allow")
    weight = np.ones(len(p)) if counts is None else np.asarray(counts, dtype=np.float64)
    return float(-(dot(weight, log(np.minimum(likely, 1.0))))) / log_base(base) + 0.0


@dataclass(frozen=True)
class Differences:
    """Relative differences of the cells of some tables.

    Attributes
    ----------
    median
        RD: over all cells; an empty cell estimated as empty counts 0.
    largest
        mRD: over the finite ones.
    infinite
        #Inf: empty cells whose estimate is not 0.
    """

    median: float
    largest: float
    infinite: int


def relative_differences(
    tables: Sequence[npt.ArrayLike], estimates: Sequence[npt.ArrayLike]
) -> Differences:
    """Return RD, mRD and #Inf over the cells of all given tables."""
    found = []
    for table, estimate in zip(tables, estimates, strict=True):
        t, e = (np.asarray(a, dtype=np.float64).ravel() for a in (table, estimate))
        nothing = NOTHING * max(float(t.sum()), 1.0)
        gap = np.where(np.abs(t - e) <= nothing, 0.0, np.abs(t - e))
        with np.errstate(divide="ignore", invalid="ignore"):
            found.append(np.where(gap == 0, 0.0, gap / t))
    cells = np.concatenate(found) if found else np.zeros(0)
    finite = cells[np.isfinite(cells)]
    return Differences(
        median=compute_median(cells),
        largest=float(finite.max(initial=0.0)),
        infinite=int(np.isinf(cells).sum()),
    )


def coefficients_of_variation(table: npt.ArrayLike, variance: npt.ArrayLike) -> tuple[float, float]:
    """Return CV and mCV: median and maximum of sqrt(Var(T_hat)_k) / T(k) over cells with T(k) > 0."""
    t, v = (np.asarray(a, dtype=np.float64).ravel() for a in (table, variance))
    used = t > 0
    cv = np.sqrt(np.maximum(v[used], 0.0)) / t[used]
    return compute_median(cv), float(cv.max(initial=0.0))


def regression_differences(beta: npt.ArrayLike, estimate: npt.ArrayLike) -> tuple[float, float]:
    """Return LRD and mLRD: median and maximum of |beta - estimate| / |beta| over categories.

    Categories without records, or with a mean of 0, are left out.
    """
    b, e = (np.asarray(a, dtype=np.float64).ravel() for a in (beta, estimate))
    used = np.isfinite(b) & (b != 0) & np.isfinite(e)
    gap = np.abs(b[used] - e[used]) / np.abs(b[used])
    return compute_median(gap), float(gap.max(initial=0.0))


def compute_median(values: Floats) -> float:
    """Return the median; 0 of nothing."""
    if not len(values):
        return 0.0
    ordered = np.sort(values)
    low, high = ordered[(len(values) - 1) // 2], ordered[len(values) // 2]
    # Not the mean of the two when they agree: infinite values would give no number.
    return float(low) if low == high else float((low + high) / 2.0)
