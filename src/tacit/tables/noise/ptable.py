"""Perturbation tables of the cell-key method: made by maximum entropy, checked, and read backwards.

For every original i the distribution of the change v is the one of largest entropy among those with mean
0, a given variance, |v| <= D, and no target that is negative or a forbidden small count; with monotony, the
field's default, a smaller decrease is never rarer than a larger one.

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

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats
from tacit.errors import Infeasible, InputError
from tacit.io.p_tables import PTable
from tacit.numerics.algebra import dot, lstsq
from tacit.numerics.elementary import exp, log

# -- whole tables --------------------------------------------------------------------------------------


def count_ptable(
    maximum: int,
    variance: float,
    small: int = 0,
    stay: float | None = None,
    monotony: bool | Sequence[bool] = True,
) -> PTable:
    """Make the perturbation table of a frequency table.

    Parameters
    ----------
    maximum
        The largest change D in either direction.
    variance
        Variance of the change of every count but 0, which stays 0.
    small
        Counts 1 to ``small`` never occur among perturbed ones.
    stay
        The probability that a count stays as it is, where it may; by default it is free.
    monotony
        Whether probabilities rise from the largest decrease to no change, for all counts or for each
        count from 1 on; counts that may not stay as they are have no such condition.
    """
    # From D + small + 1 on (from D, when none is forbidden) all rows are alike.
    counts = range(1, maximum + (small + 1 if small else 0) + 1)
    wanted = one_for_each(monotony, len(counts), "count")

    def changes(i: float) -> Floats:
        v = np.arange(-min(i, maximum), maximum + 1, dtype=np.float64)
        return v[(i + v == 0) | (i + v > small)]

    return make_rows(counts, wanted, changes, variance, stay, "count {:g}")


def magnitude_ptable(
    maximum: float,
    variance: float,
    step: float = 0.5,
    monotony: bool | Sequence[bool] = True,
    levels: Sequence[float] | None = None,
) -> PTable:
    """Make the perturbation table of magnitudes: changes in steps, at i = 1, 2, ... up to ``maximum``.

    Between two i one interpolates, with one key for both, so that the change of a stays within
    [-a, maximum].

    Parameters
    ----------
    maximum
        The largest change D in either direction, a multiple of the step.
    variance
        Variance of the change at every i.
    step
        Distance of neighbouring changes.
    monotony
        Whether probabilities rise from the largest decrease to no change, for all i or for each.
    levels
        The i that have rows of their own, the last of them ``maximum``; by default 1, 2, ..., D.
    """
    if abs(maximum / step - round(maximum / step)) > 1e-9:
        raise InputError(
            "the largest change must be a multiple of the step of the perturbation table"
        )
    if levels is None:
        levels = [*np.arange(1.0, maximum), float(maximum)]
    at = np.unique(np.asarray(levels, dtype=np.float64))
    if not len(at) or at[0] <= 0 or at[-1] != maximum:
        raise InputError("the levels of a perturbation table are positive and end with its maximum")
    wanted = one_for_each(monotony, len(at), "level")

    def changes(i: float) -> Floats:
        lowest = -int(np.floor(i / step + 1e-9))
        return step * np.arange(lowest, round(maximum / step) + 1, dtype=np.float64)

    return make_rows(at, wanted, changes, variance, None, "i = {:g}")


def make_rows(
    levels: Iterable[float],
    monotony: Sequence[bool],
    changes: Callable[[float], Floats],
    variance: float,
    stay: float | None,
    name: str,
) -> PTable:
    """Return the table with the distribution of largest entropy at every level; 0 stays 0."""
    starts, moves, share = [np.zeros(1)], [np.zeros(1)], [np.ones(1)]
    for i, monotone in zip(levels, monotony, strict=True):
        v = changes(i)
        try:
            share.append(max_entropy(v, variance, stay, monotone=monotone))
        except Infeasible as error:
            raise Infeasible(f"perturbation table, {name.format(i)}: {error}") from None
        starts.append(np.full(len(v), float(i)))
        moves.append(v)
    return PTable.from_rows(np.concatenate(starts), np.concatenate(moves), np.concatenate(share))


def one_for_each(monotony: bool | Sequence[bool], rows: int, name: str) -> list[bool]:
    """Return whether each row is to be monotone."""
    if isinstance(monotony, bool):
        return [monotony] * rows
    if len(monotony) != rows:
        raise InputError(
            f"monotony needs one answer, or one for each {name} with a row of its own: {rows}, "
            f"not {len(monotony)}"
        )
    return [bool(m) for m in monotony]


# -- looking at a table --------------------------------------------------------------------------------


def moments(table: PTable, kind: str = "all") -> tuple[Floats, Floats, Floats]:
    """Return the i of a table with the mean and the variance of the change of each."""
    block = table.block(kind)
    bounds = np.where(np.isfinite(block.bounds), block.bounds, 1.0)
    p = np.diff(bounds, axis=1, prepend=0.0)
    mean = (p * block.change).sum(axis=1)
    return block.steps, mean, (p * block.change**2).sum(axis=1) - mean**2


def ptable_faults(table: PTable, *, counts: bool = True) -> list[str]:
    """Return what is wrong with a perturbation table: bias, negative targets, counts that are not whole."""
    found = []
    if (table.p < 0).any():
        found.append("some probabilities are negative")
    if np.abs(table.j - table.i - table.v).max() > 1e-9:
        found.append("some targets j are not i + v")
    if (table.j < -1e-9).any():
        found.append("some targets are negative")
    if counts and ((table.v != np.rint(table.v)).any() or (table.i != np.rint(table.i)).any()):
        found.append("counts and their changes must be whole")
    for kind in table.blocks:
        steps, mean, _ = moments(table, kind)
        if steps[0] > 0 and counts and steps[0] > 1:
            found.append("there are no rows for the count 1")
        biased = np.abs(mean) > 1e-4
        if biased.any():
            found.append(f"changes of i = {steps[biased][0]:g} do not have mean 0")
    return found


def truths(table: PTable, published: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return the smallest and largest count that can have led to each published one.

    What a reader knows who has the published value and the perturbation table, but not the keys.
    """
    z = np.asarray(published, dtype=np.float64)
    block = table.block()
    top = int(block.steps[-1])
    largest = int(max(z.max(initial=0.0), 0.0) + table.reach) + 1
    reach = np.full((2, largest + 1), [[np.inf], [-np.inf]])
    possible = np.diff(np.where(np.isfinite(block.bounds), block.bounds, 1.0), prepend=0.0) > 0
    for count in range(top + 1):
        line = int(np.searchsorted(block.steps, count, side="right")) - 1
        if line < 0:
            continue
        goals = (count + block.change[line][possible[line]]).astype(np.int64)
        goals = goals[(goals >= 0) & (goals <= largest)]
        reach[0, goals] = np.minimum(reach[0, goals], count)
        reach[1, goals] = np.maximum(reach[1, goals], count)
    # Counts above the last row change like it.
    ends = block.change[-1][possible[-1]]
    steps = np.arange(largest + 1, dtype=np.float64)
    for v in ends:
        source = steps - v
        fits = source > top
        reach[0, fits] = np.minimum(reach[0, fits], source[fits])
        reach[1, fits] = np.maximum(reach[1, fits], source[fits])
    at = np.clip(np.rint(z), 0, largest).astype(np.int64)
    return reach[0, at], reach[1, at]


# -- the distribution of largest entropy --------------------------------------------------------------
#
# Monotony: the probabilities do not fall on the way from the lowest change to no change, p(v) <= p(v') for
# v < v' <= 0, so that a smaller decrease is never rarer than a larger one. Where no change is not possible,
# there is nothing to be monotone about.


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
