"""The distribution of largest entropy on some changes, with mean 0, a variance, and monotony on request.

Monotony: the probabilities do not fall on the way from the lowest change to no change, p(v) <= p(v') for
v < v' <= 0, so that a smaller decrease is never rarer than a larger one. Where no change is not possible,
there is nothing to be monotone about.

References
----------
Marley and Leaver (2011), A method for confidentialising user-defined tables: statistical properties and a
risk-utility analysis, Proceedings of the 58th World Statistical Congress of the ISI, 1072-1081.
Giessing (2016), Computational issues in the design of transition probabilities and disclosure risk
estimation for additive noise, PSD 2016, LNCS 9867, 237-251.
Bertsekas (1982), Projected Newton methods for optimization problems with simple constraints, SIAM Journal
on Control and Optimization 20, 221-246.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats
from tacit.errors import Infeasible
from tacit.numerics.algebra import dot, lstsq
from tacit.numerics.elementary import exp, log

#: How well the moments of a distribution are met, and how well they must be met.
EXACT, ENOUGH = 1e-11, 1e-8
#: Newton steps before a distribution is given up.
STEPS = 500


def max_entropy(
    changes: npt.ArrayLike, variance: float, stay: float | None = None, *, monotone: bool = False
) -> Floats:
    """Return the distribution of largest entropy on some changes, ascending and distinct, with mean 0 and a variance.

    Where 0 is possible, ``stay`` is the probability of no change, by default free, and ``monotone`` says that the
    probabilities must not fall from the lowest change up to 0. Infeasible when there is no such distribution.
    """
    v = np.asarray(changes, dtype=np.float64)
    rising = rising_rows(v) if monotone else np.zeros((0, len(v)))
    zero = v == 0
    if stay is None or not zero.any() or len(v) == 1:
        return largest_entropy(v, variance, rising)
    # The rest is a distribution of its own; what compared with p(0) compares with the number ``stay``.
    rest = ~zero
    constant = rising[:, zero] * stay / (1 - stay)
    p = np.zeros(len(v))
    p[zero] = stay
    p[rest] = (1 - stay) * largest_entropy(
        v[rest], variance / (1 - stay), rising[:, rest] + constant
    )
    return p


def rising_rows(v: Floats) -> Floats:
    """Return one row a pair of neighbours up to 0: their difference, which must be at least 0."""
    if not (v == 0).any():
        return np.zeros((0, len(v)))
    zero = int(np.flatnonzero(v == 0)[0])
    rows = np.zeros((zero, len(v)))
    at = np.arange(zero)
    rows[at, at], rows[at, at + 1] = -1.0, 1.0
    return rows


def largest_entropy(v: Floats, variance: float, least: Floats) -> Floats:
    """Return the distribution of largest entropy with mean 0, a variance, and E(row) >= 0 for each row."""
    low, high = variance_range(v, least)
    slack = 1e-9 * max(1.0, variance)
    if not low - slack <= variance <= high + slack:
        raise Infeasible(
            f"no {'monotone ' if len(least) else ''}distribution on the changes {v[0]:g} to {v[-1]:g} "
            f"has mean 0 and variance {variance:g}: "
            f"{'without monotony=False ' if len(least) else ''}it must lie between {low:g} and {high:g}"
        )
    if variance <= low + slack:
        return extreme(v, least, 1.0)[1]
    if variance >= high - slack:
        return extreme(v, least, -1.0)[1]
    scale = max(1.0, float(np.abs(v).max()))
    # Rows of unit size keep the Hessian well conditioned.
    rows = np.vstack([v / scale, (v * v - variance) / scale**2, least])
    p = minimise_dual(rows, free=2)
    if p is None:
        raise Infeasible(
            f"the variance {variance:g} is too near to the limit of what the changes {v[0]:g} to "
            f"{v[-1]:g} allow: choose another"
        )
    return p


def variance_range(v: Floats, least: Floats | None = None) -> tuple[float, float]:
    """Return the smallest and the largest variance of distributions with mean 0 on some values."""
    least = np.zeros((0, len(v))) if least is None else least
    if not len(v):
        raise Infeasible("no change is possible: allow larger ones, or smaller counts")
    if v[0] > 0 or v[-1] < 0:
        raise Infeasible("changes in one direction only cannot have mean 0")
    return extreme(v, least, 1.0)[0], extreme(v, least, -1.0)[0]


def extreme(v: Floats, least: Floats, sign: float) -> tuple[float, Floats]:
    """Return the smallest (sign 1) or largest (-1) variance, and the distribution that has it."""
    if not len(least):
        below, above = (
            (float(v[v <= 0].max()), float(v[v >= 0].min())) if sign > 0 else (v[0], v[-1])
        )
        return float(-below * above), two_points(v, below, above)
    from scipy.optimize import linprog

    found = linprog(
        sign * v * v,
        A_ub=-least,
        b_ub=np.zeros(len(least)),
        A_eq=np.vstack([np.ones(len(v)), v]),
        b_eq=[1.0, 0.0],
        bounds=(0, 1),
        method="highs",
    )
    if not found.success:
        raise Infeasible(
            f"no monotone distribution on the changes {v[0]:g} to {v[-1]:g} has mean 0"
        )
    return float(dot(v * v, found.x)), np.asarray(found.x)


def two_points(v: Floats, below: float, above: float) -> Floats:
    """Return the distribution with mean 0 on two values."""
    if above == below:
        return (v == 0).astype(np.float64)
    p = np.zeros(len(v))
    p[v == below] = above / (above - below)
    p[v == above] = -below / (above - below)
    return p


def minimise_dual(rows: Floats, free: int) -> Floats | None:
    """Return p proportional to exp(x rows), with E(row) = 0 for the free rows and >= 0 for the others.

    The dual of the entropy problem, the logarithm of the sum of exp(x rows), is convex in x; the
    multipliers of the other rows are at least 0. Newton's method on those not held at 0, with halved
    and projected steps, always goes down (Bertsekas 1982). None when it gets stuck.
    """
    bounded = np.arange(len(rows)) >= free
    x = np.zeros(len(rows))
    value, p = dual(rows, x)
    for _ in range(STEPS):
        gradient = dot(rows, p)
        if remainder(gradient, x, bounded) < EXACT:
            return p
        held = bounded & (x <= 0) & (gradient > -EXACT)
        step = newton_step(rows[~held], p, gradient[~held], held)
        moved = take_step(rows, x, step, gradient, value, bounded, held)
        if moved is None:
            break
        x, value, p = moved
    return p if remainder(dot(rows, p), x, bounded) < ENOUGH else None


def remainder(gradient: Floats, x: Floats, bounded: Flags) -> float:
    """Return how far the conditions of the optimum are missed: means not 0, or negative, or slack paid for."""
    miss = np.where(bounded, np.where(x > 0, np.abs(gradient), np.maximum(-gradient, 0.0)), 0.0)
    return float(np.max(np.where(bounded, miss, np.abs(gradient)), initial=0.0))


def newton_step(rows: Floats, p: Floats, gradient: Floats, held: Flags) -> Floats:
    """Return Newton's step of the multipliers that are not held at 0."""
    hessian = dot(rows * p, rows.T) - np.outer(gradient, gradient)
    step = np.zeros(len(held))
    step[~held] = lstsq(hessian, -gradient, rcond=1e-14)[0]
    return step


def take_step(
    rows: Floats,
    x: Floats,
    step: Floats,
    gradient: Floats,
    value: float,
    bounded: Flags,
    held: Flags,
) -> tuple[Floats, float, Floats] | None:
    """Return the point, value and distribution after the longest halved step that goes down enough."""
    length = 1.0
    while length > 1e-12:
        following = x + length * step
        following[bounded] = np.maximum(following[bounded], 0.0)
        new, q = dual(rows, following)
        gain = float(dot(gradient[~held], (following - x)[~held]))
        if new <= value + 1e-4 * gain or remainder(dot(rows, q), following, bounded) < EXACT:
            return following, new, q
        length /= 2
    return None


def dual(rows: Floats, x: Floats) -> tuple[float, Floats]:
    """Return the dual's value and the distribution that belongs to it."""
    power = dot(x, rows)
    top = float(power.max())
    mass = exp(power - top)
    total = float(mass.sum())
    return top + float(log(total)), mass / total
