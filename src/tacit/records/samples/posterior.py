"""The risk that a sampled record is re-identified: E(1/F | f) under the negative binomial posterior.

A cell with f sampled records, each of which was drawn with chance p, has F people in the population with
P(F = h | f) = C(h - 1, f - 1) p^f (1 - p)^(h - f) for h >= f. Whoever matches a person to the cell picks the right
one with chance 1/F.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints

#: Below this f, and for p below a half, the recursion from f = 1 is used; beyond, the series ends soon.
FEW = 40
#: Terms of the series at most: for f >= 40 the terms fall faster than 1/C(n + f, n).
TERMS = 200
#: Nodes on each unit of the integral, and pairs that are integrated at a time.
NODES, AT_ONCE = 16, 4096
#: Where exp(-x) no longer counts beside 1.
NEGLIGIBLE = 42.0


def expected_inverse(f: npt.ArrayLike, p: npt.ArrayLike) -> Floats:
    """Return E(1/F | f) for sample counts f >= 1 and chances p in (0, 1]; each distinct pair is worked out once.

    r = (p / f) 2F1(1, 1; f + 1; q) with q = 1 - p, which neither overflows nor cancels:

    * whole f < 40 and p < 1/2: r_1 = (p / q) ln(1 / p) and r_f = (p / q) (1 / (f - 1) - r_(f-1)), in which errors
      shrink by p / q at each step;
    * p >= 1/2 or f >= 40: the series (p / f) sum_n n! q^n / ((f + 1) ... (f + n));
    * f that is no whole number, as fractional counts give, with p < 1/2: the integral
      of (p / q) e^(-f t) / (p / q + e^(-t)) over t >= 0.
    """
    counts, chances = np.broadcast_arrays(np.asarray(f, np.float64), np.asarray(p, np.float64))
    if not ((counts >= 1).all() and (chances > 0).all() and (chances <= 1).all()):
        raise ValueError("expected_inverse needs f >= 1 and p in (0, 1]")
    # Complex numbers sort by both parts, far faster than rows do.
    distinct, of = np.unique(counts.ravel() + 1j * chances.ravel(), return_inverse=True)
    n, chance = distinct.real.copy(), distinct.imag.copy()
    risk = np.empty(len(distinct))
    by_series = (chance >= 0.5) | (n >= FEW)
    whole = ~by_series & (n == np.rint(n))
    rest = ~by_series & ~whole
    risk[by_series] = sum_series(n[by_series], chance[by_series])
    risk[whole] = recur(n[whole].astype(np.int64), chance[whole])
    risk[rest] = integrate(n[rest], chance[rest])
    return np.asarray(risk[of.ravel()].reshape(counts.shape))


def sum_series(f: Floats, p: Floats) -> Floats:
    """Return r by its series, whose terms shrink by q (n + 1) / (f + 1 + n)."""
    q = 1.0 - p
    term = np.ones_like(f)
    total = np.ones_like(f)
    for n in range(TERMS):
        term = term * (q * (n + 1) / (f + 1 + n))
        total += term
        if not (term > 1e-18 * total).any():
            break
    return p / f * total


def recur(f: Ints, p: Floats) -> Floats:
    """Return r for whole f by the recursion from f = 1."""
    odds = p / (1.0 - p)
    risk = -odds * np.log(p)
    result = risk.copy()
    for n in range(2, int(f.max(initial=1)) + 1):
        risk = odds * (1.0 / (n - 1) - risk)
        at = f == n
        result[at] = risk[at]
    return result


def integrate(f: Floats, p: Floats) -> Floats:
    """Return r by Gauss-Legendre on unit pieces of y = f t; the integrand is analytic around the line for every p."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    result = np.empty_like(f)
    for start in range(0, len(f), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        n, odds = f[part][:, None], (p[part] / (1.0 - p[part]))[:, None]
        total = np.zeros(len(n))
        for left in range(int(np.ceil(far_end(n, odds)))):
            y = left + (x + 1.0) / 2.0
            total += (np.exp(-y) * (odds / (odds + np.exp(-y / n)))) @ (w / 2.0)
        result[part] = total / n[:, 0]
    return result


def far_end(f: Floats, odds: Floats) -> float:
    """Return where the integrand no longer counts.

    It falls like e^(-y) once e^(-y / f) is below the odds, and from the start at least like e^(-y (f - 1) / f).
    """
    late = NEGLIGIBLE + f * np.maximum(-np.log(odds), 0.0)
    with np.errstate(divide="ignore"):
        soon = NEGLIGIBLE * f / (f - 1.0)
    return float(np.minimum(late, soon).max(initial=0.0))


def posterior_interval(f: npt.ArrayLike, p: npt.ArrayLike, level: float = 0.95) -> tuple[Any, Any]:
    """Return the population sizes between which F lies with at least the given probability, tails equal."""
    from scipy.stats import nbinom

    counts = np.asarray(f, dtype=np.float64)
    tail = (1.0 - level) / 2.0
    return counts + nbinom.ppf(tail, counts, p), counts + nbinom.ppf(1.0 - tail, counts, p)


def share_sampled(f: npt.ArrayLike, population: npt.ArrayLike) -> Floats:
    """Return p = f / F, at most 1."""
    return np.minimum(np.asarray(f, np.float64) / np.asarray(population, np.float64), 1.0)


def joint_risk(risk: Floats, group: Ints, n_groups: int) -> Floats:
    """Return 1 - prod(1 - r) for each group: the risk that at least one of its members is re-identified."""
    with np.errstate(divide="ignore"):
        safe = np.log1p(-np.minimum(risk, 1.0))
    sums = np.bincount(group, weights=np.where(np.isinf(safe), 0.0, safe), minlength=n_groups)
    certain = np.bincount(group, weights=np.isinf(safe), minlength=n_groups) > 0
    return np.where(certain, 1.0, -np.expm1(sums))


def largest_cap(risk: Floats, expected: float) -> float:
    """Return the largest t with sum(min(r, t)) <= expected; the largest risk when all of them sum to no more."""
    ordered = np.sort(risk)
    if not len(ordered) or float(ordered.sum()) <= expected:
        return float(ordered[-1]) if len(ordered) else 1.0
    below = np.concatenate([[0.0], np.cumsum(ordered)[:-1]])
    above = len(ordered) - np.arange(len(ordered))
    # With t at the i-th risk, i smaller ones count in full and the others count t each.
    fits = np.flatnonzero(below + above * ordered <= expected)
    i = int(fits[-1]) + 1 if len(fits) else 0
    return max((expected - float(below[i])) / float(above[i]), 0.0)


def largest_kept(risk: Floats, expected: float) -> float:
    """Return the largest risk t with sum(r where r <= t) <= expected; 0 when there is none."""
    values, counts = np.unique(risk, return_counts=True)
    fits = np.flatnonzero(np.cumsum(values * counts) <= expected)
    return float(values[fits[-1]]) if len(fits) else 0.0
