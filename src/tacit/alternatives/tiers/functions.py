"""Whether one column was computed from another, judged by the values alone."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.engine.codes import dense_ids

#: Numbers that differ by less than this share are equal.
CLOSE = 1e-9


def is_function_of(fine: Ints, coarse: Ints) -> bool:
    """Return True when the coarse value is a function of the fine one."""
    if not len(fine):
        return True
    pairs = dense_ids([fine, coarse], [int(fine.max()) + 1, int(coarse.max()) + 1])[1]
    return bool(pairs == len(np.unique(fine)))


def is_computed_from(
    fine: Ints, coarse: Ints, fine_numbers: Floats | None, coarse_numbers: Floats | None
) -> bool:
    """Return True when the values show that the coarse column was computed from the fine one.

    A value that no two records share determines anything, noise redrawn as well. So where most fine
    values stand alone, only a straight line or a rising step function counts: rounding, classes, a change
    of unit.
    """
    if not is_function_of(fine, coarse):
        return False
    n, kinds = len(fine), len(np.unique(fine))
    if 2 * kinds <= n:
        return True
    if fine_numbers is None or coarse_numbers is None:
        return False
    gaps = np.isnan(fine_numbers) != np.isnan(coarse_numbers)
    known = ~np.isnan(fine_numbers)
    if gaps.any() or not known.any():
        return False
    x, y = fine_numbers[known], coarse_numbers[known]
    return is_line(x, y) or is_stair(x, y)


def is_line(x: Floats, y: Floats) -> bool:
    """Return True when y lies on a straight line over at least three different x."""
    if len(np.unique(x)) < 3:
        return False
    low, high = int(np.argmin(x)), int(np.argmax(x))
    slope = (y[high] - y[low]) / (x[high] - x[low])
    fitted = y[low] + slope * (x - x[low])
    return bool(np.allclose(fitted, y, rtol=CLOSE, atol=CLOSE * np.abs(y).max(initial=0.0)))


def is_stair(x: Floats, y: Floats) -> bool:
    """Return True when y never falls as x rises, and has at most half as many different values."""
    rising = y[np.argsort(x, kind="stable")]
    few = 2 * len(np.unique(y)) <= len(np.unique(x))
    return few and bool((np.diff(rising) >= 0).all())
