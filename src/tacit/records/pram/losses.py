"""Information lost by randomisation: entropy, frequency tables, variance, regression (de Wolf, section 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.errors import InvalidParameter
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import log
from tacit.records.pram.matrices import as_counts
from tacit.records.pram.tables import Matrices, apply_along_axis, expected
from tacit.records.pram.transition import Transition, xlogx

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
