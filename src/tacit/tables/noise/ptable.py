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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.errors import Infeasible, InputError
from tacit.io.p_tables import PTable
from tacit.tables.noise.entropy import max_entropy

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
