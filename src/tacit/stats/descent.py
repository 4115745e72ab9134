"""The least value of a smooth convex function, by steps that are the same on every machine.

SciPy's search takes its sums by BLAS, and where it ends depends on the processor. This is the same method (Nocedal 1980)
with products taken in one order, and steps halved until the function falls enough (Armijo 1966).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tacit.arrays import Floats

#: Pairs of steps that are remembered, steps at most, and halvings of one step at most.
REMEMBERED, STEPS, HALVINGS = 10, 500, 40
#: Where it ends: the slope is this small, or the function falls by less than this share of itself.
FLAT, STILL = 1e-5, 1e-10


def find_least(function: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    """Return where a function, given with its slope, is least."""
    x = start
    value, slope = function(x)
    pairs: list[tuple[Floats, Floats, float]] = []
    for _ in range(STEPS):
        if np.abs(slope).max(initial=0.0) <= FLAT:
            break
        step = -turned(slope, pairs)
        fall = inner(step, slope)
        if fall >= 0:
            step, fall, pairs = -slope, -inner(slope, slope), []
        size = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(slope).sum()))
        for _ in range(HALVINGS):
            further = x + size * step
            lower, other = function(further)
            if lower <= value + 1e-4 * size * fall:
                break
            size /= 2.0
        else:
            break
        moved, bend = further - x, other - slope
        if inner(moved, bend) > 1e-10 * inner(bend, bend):
            pairs = [*pairs[1 - REMEMBERED :], (moved, bend, 1.0 / inner(moved, bend))]
        still = value - lower <= STILL * max(abs(value), abs(lower), 1.0)
        x, value, slope = further, lower, other
        if still:
            break
    return x


def turned(slope: Floats, pairs: list[tuple[Floats, Floats, float]]) -> Floats:
    """Return the slope times the inverse of the curvature that the last steps showed."""
    rest, shares = slope.copy(), []
    for moved, bend, rho in reversed(pairs):
        shares.append(rho * inner(moved, rest))
        rest -= shares[-1] * bend
    if pairs:
        moved, bend, rho = pairs[-1]
        rest *= 1.0 / (rho * inner(bend, bend))
    for (moved, bend, rho), share in zip(pairs, reversed(shares), strict=True):
        rest += (share - rho * inner(bend, rest)) * moved
    return rest


def inner(one: Floats, other: Floats) -> float:
    """Return the inner product, its sum taken in one order."""
    return float((one * other).sum())
