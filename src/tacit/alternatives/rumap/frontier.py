"""Which points of a map are worth having: Pareto frontier, cap, knee and weighted objective.

Plain functions on two arrays: ``risk``, which should be low, and ``utility``, which should be high.
"""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints


def pareto(risk: Floats, utility: Floats) -> Ints:
    """Return the positions of the points that no other beats, by rising risk.

    A point is beaten by one with at most its risk and at least its utility that is strictly better in
    one of the two; equal points stand together. NaN is never on the frontier.
    """
    known = np.flatnonzero(~(np.isnan(risk) | np.isnan(utility)))
    order = known[np.lexsort((known, -utility[known], risk[known]))]
    if not len(order):
        return order.astype(np.int64)
    r, u = risk[order], utility[order]
    # Going up in risk, a point stays when it beats all utilities so far, or equals the last that did.
    improves = np.r_[True, u[1:] > np.maximum.accumulate(u)[:-1]]
    last = np.maximum.accumulate(np.where(improves, np.arange(len(u)), 0))
    keep = improves | ((u == u[last]) & (r == r[last]))
    return order[keep].astype(np.int64)


def least(first: Floats, second: Floats) -> int | None:
    """Return the point with the least of the first numbers, of equals that with the least of the second; not where either is NaN."""
    known = np.flatnonzero(~(np.isnan(first) | np.isnan(second)))
    if not len(known):
        return None
    return int(known[np.lexsort((known, second[known], first[known]))[0]])


def knee(risk: Floats, utility: Floats) -> int | None:
    """Return the frontier point farthest above the chord that joins the ends of the frontier.

    Both axes are scaled to the frontier's own range. A frontier that bulges nowhere above its chord has
    no knee; its end of least risk is returned.
    """
    front = pareto(risk, utility)
    front = front[np.isfinite(risk[front]) & np.isfinite(utility[front])]
    if not len(front):
        return None
    above = unit(utility[front]) - unit(risk[front])
    return int(front[np.argmax(np.round(above, 12))])


def find_weighted_optimum(risk: Floats, utility: Floats, weight: float) -> int | None:
    """Return the point with the largest ``(1 - weight) * utility - weight * risk``.

    Both axes are scaled to the range of the finite points, so that the weight does not depend on units.
    """
    usable = np.flatnonzero(np.isfinite(risk) & np.isfinite(utility))
    if not len(usable):
        return None
    score = (1 - weight) * unit(utility[usable]) - weight * unit(risk[usable])
    found = least(-np.round(score, 12), risk[usable])
    return None if found is None else int(usable[found])


def unit(values: Floats) -> Floats:
    """Return values scaled to [0, 1]; equal values become 0."""
    low, high = values.min(), values.max()
    return np.zeros_like(values) if high == low else (values - low) / (high - low)
