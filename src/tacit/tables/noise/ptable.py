"""Perturbation tables of the cell-key method: made by maximum entropy, checked, and read backwards.

For every original i the distribution of the change v is the one of largest entropy among those with mean
0, a given variance, |v| <= D, and no target that is negative or a forbidden small count.

References
----------
Marley and Leaver (2011), A method for confidentialising user-defined tables: statistical properties and a
risk-utility analysis, Proceedings of the 58th World Statistical Congress of the ISI, 1072-1081.
Giessing (2016), Computational issues in the design of transition probabilities and disclosure risk
estimation for additive noise, PSD 2016, LNCS 9867, 237-251.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.errors import Infeasible, InputError
from tacit.io.p_tables import PTable

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: How well the moments of a generated row are met.
EXACT = 1e-11
#: Newton steps before a row is given up.
STEPS = 500


# -- one row -------------------------------------------------------------------------------------------


def max_entropy(changes: npt.ArrayLike, variance: float, stay: float | None = None) -> Floats:
    """Return the distribution of largest entropy on some changes with mean 0 and a variance.

    Parameters
    ----------
    changes
        The possible values, ascending and distinct.
    variance
        The second moment.
    stay
        The probability of no change, where 0 is possible; by default it is free.

    Raises
    ------
    Infeasible
        When no distribution on these changes has that mean and variance.
    """
    v = np.asarray(changes, dtype=np.float64)
    if stay is not None and (v == 0).any() and len(v) > 1:
        rest = v != 0
        p = np.zeros(len(v))
        p[~rest] = stay
        p[rest] = (1 - stay) * max_entropy(v[rest], variance / (1 - stay))
        return p
    low, high = variance_range(v)
    slack = 1e-9 * max(1.0, variance)
    if not low - slack <= variance <= high + slack:
        raise Infeasible(
            f"no distribution on the changes {v[0]:g} to {v[-1]:g} has mean 0 and variance "
            f"{variance:g}: it must lie between {low:g} and {high:g}"
        )
    if variance <= low + slack:
        return two_points(v, *find_values_around_zero(v))
    if variance >= high - slack:
        return two_points(v, float(v[0]), float(v[-1]))
    return newton(v, variance)


def variance_range(v: Floats) -> tuple[float, float]:
    """Return the smallest and the largest variance of distributions with mean 0 on some values."""
    if v[0] > 0 or v[-1] < 0:
        raise Infeasible("changes in one direction only cannot have mean 0")
    below, above = find_values_around_zero(v)
    return float(-below * above), float(-v[0] * v[-1])


def find_values_around_zero(v: Floats) -> tuple[float, float]:
    """Return the nearest values at or below 0, and at or above it."""
    return float(v[v <= 0].max()), float(v[v >= 0].min())


def two_points(v: Floats, below: float, above: float) -> Floats:
    """Return the distribution with mean 0 on two values."""
    if above == below:
        return (v == 0).astype(np.float64)
    p = np.zeros(len(v))
    p[v == below] = above / (above - below)
    p[v == above] = -below / (above - below)
    return p


def newton(v: Floats, variance: float) -> Floats:
    """Solve the dual of the entropy problem: p is proportional to exp(a v + b v^2).

    The dual, the logarithm of the sum of exp(a v + b (v^2 - variance)), is convex in (a, b); Newton's
    method with halved steps always goes down.
    """
    scale = max(1.0, float(np.abs(v).max()))
    # Columns of unit size keep the Hessian well conditioned.
    t = np.stack([v / scale, (v * v - variance) / scale**2])
    theta = np.zeros(2)
    value, p = dual(t, theta)
    for _ in range(STEPS):
        gradient = t @ p
        if np.abs(gradient).max() < EXACT:
            return p
        hessian = (t * p) @ t.T - np.outer(gradient, gradient)
        step = np.linalg.lstsq(hessian + 1e-15 * np.eye(2), -gradient, rcond=None)[0]
        length, slope = 1.0, float(gradient @ step)
        while length > 1e-12:
            following, q = dual(t, theta + length * step)
            if following <= value + 1e-4 * length * slope or np.abs(t @ q).max() < EXACT:
                break
            length /= 2
        else:
            break
        theta = theta + length * step
        value, p = following, q
    if np.abs(t @ p).max() < 1e-8:
        return p
    raise Infeasible(
        f"the variance {variance:g} is too near to the limit of what the changes {v[0]:g} to {v[-1]:g} "
        "allow: choose another"
    )


def dual(t: Floats, theta: Floats) -> tuple[float, Floats]:
    """Return the dual's value and the distribution that belongs to it."""
    power = theta @ t
    top = float(power.max())
    mass = np.exp(power - top)
    total = float(mass.sum())
    return top + float(np.log(total)), mass / total


# -- whole tables --------------------------------------------------------------------------------------


def count_ptable(
    maximum: int, variance: float, small: int = 0, stay: float | None = None
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
    """
    starts, moves, share = [np.zeros(1)], [np.zeros(1)], [np.ones(1)]
    # From D + small + 1 on (from D, when none is forbidden) all rows are alike.
    for i in range(1, maximum + (small + 1 if small else 0) + 1):
        v = np.arange(-min(i, maximum), maximum + 1, dtype=np.float64)
        v = v[(i + v == 0) | (i + v > small)]
        try:
            p = max_entropy(v, variance, stay)
        except Infeasible as error:
            raise Infeasible(f"perturbation table, count {i}: {error}") from None
        starts.append(np.full(len(v), float(i)))
        moves.append(v)
        share.append(p)
    return from_parts(starts, moves, share)


def magnitude_ptable(maximum: float, variance: float, step: float = 0.5) -> PTable:
    """Make the perturbation table of magnitudes: changes in steps, at i = 1, 2, ... up to ``maximum``.

    Between two i one interpolates, with one key for both, so that the change of a stays within
    [-a, maximum].
    """
    if abs(maximum / step - round(maximum / step)) > 1e-9:
        raise InputError(
            "the largest change must be a multiple of the step of the perturbation table"
        )
    levels = np.unique(np.r_[np.arange(1.0, maximum), float(maximum)])
    starts, moves, share = [np.zeros(1)], [np.zeros(1)], [np.ones(1)]
    for i in levels:
        lowest = -int(np.floor(i / step + 1e-9))
        v = step * np.arange(lowest, round(maximum / step) + 1, dtype=np.float64)
        starts.append(np.full(len(v), float(i)))
        moves.append(v)
        share.append(max_entropy(v, variance))
    return from_parts(starts, moves, share)


def from_parts(starts: list[Floats], moves: list[Floats], share: list[Floats]) -> PTable:
    """Join the rows of several i."""
    return PTable.from_rows(np.concatenate(starts), np.concatenate(moves), np.concatenate(share))


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
