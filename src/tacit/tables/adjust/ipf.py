"""Iterative proportional fitting with fixed cells, and a lower bound on what a change would cost.

Totals come in passes: the totals of one pass share no cell, and a cell has one label per pass (-1: none).
Fitting scales the cells of each total to its target, pass after pass. The scaling factors exp(lam) are
the dual variables of the I-projection

    minimise  sum p log(p/o) - p + o   subject to  M p = t,      p = o exp(M' lam),

so that for any lam, lam't - sum o exp(M' lam) + sum o is a lower bound on the least divergence: a change
of the targets can be ruled out from the factors at hand without being fitted.

References
----------
Deming and Stephan (1940), On a least squares adjustment of a sampled frequency table when the expected
marginal totals are known, Annals of Mathematical Statistics 11, 427-444.
Csiszar (1975), I-divergence geometry of probability distributions and minimization problems, Annals of
Probability 3, 146-158.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.numerics.algebra import cho_solve, cholesky, dot, pinvh
from tacit.numerics.elementary import exp
from tacit.numerics.kernels import Kernels

Labels = npt.NDArray[np.int32]

#: How a fit ended.
CONVERGED, TIRED, STUCK, NEGATIVE = 0, 1, 2, 3
#: What is added to lam where a total must vanish: exp(-700) is the smallest that is not nothing.
VANISHED = -700.0
#: Totals up to which the bound uses the whole matrix of second derivatives.
MOST_TOTALS = 3000
#: Totals up to which its generalised inverse is computed without a ridge.
EXACT_INVERSE = 400
#: Steps of Newton's method at most.
NEWTON_STEPS = 60
#: Changes of lam are kept within these limits, so that factors stay finite.
LARGEST = 50.0


@dataclass(frozen=True, eq=False)
class Totals:
    """The totals that a fit keeps."""

    #: Passes x cells: the total to which a cell belongs in each pass, -1 where it belongs to none.
    labels: Labels
    #: The first total of each pass, and the number of all totals.
    starts: Ints

    @property
    def count(self) -> int:
        """Return the number of totals."""
        return int(self.starts[-1])

    def sums(self, values: Floats) -> Floats:
        """Return the totals of values of the cells."""
        found = np.zeros(self.count)
        for row in self.labels:
            inside = row >= 0
            found += np.bincount(row[inside], values[inside], self.count)
        return found

    def of(self, cells: npt.NDArray[Any]) -> Totals:
        """Return the same totals over some of the cells."""
        return Totals(np.ascontiguousarray(self.labels[:, cells]), self.starts)

    @classmethod
    def stacked(cls, passes: list[tuple[Labels, int]], cells: int) -> Totals:
        """Return the totals of several passes, numbered through."""
        starts = np.cumsum([0, *(n for _, n in passes)]).astype(np.int64)
        rows = [
            np.where(row >= 0, row + first, -1)
            for (row, _), first in zip(passes, starts, strict=False)
        ]
        shape = (len(passes), cells)
        labels = np.stack(rows) if rows else np.zeros(shape)
        return cls(np.ascontiguousarray(labels, dtype=np.int32), starts)


@dataclass(eq=False)
class Fit:
    """A fitted table: its cells, the logarithms of the factors, and how the fit ended."""

    cells: Floats
    lam: Floats
    state: int
    cycles: int
    error: float


def fit_totals(
    start: Floats,
    totals: Totals,
    target: Floats,
    *,
    lam: Floats | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    absolute: bool = False,
) -> Fit:
    """Scale cells until every total is within ``tol`` of its target: relative to it, or ``absolute``.

    Where ``lam`` is given, the logarithms of the factors that are in ``start`` already, that is o exp(M' lam).
    At most ``max_iter`` cycles go through all passes.
    """
    cells = start.copy()
    factors = np.zeros(totals.count) if lam is None else lam.copy()
    least = 1e-12 * max(float(np.abs(target).max(initial=0.0)), 1e-300)
    if (target < -1e3 * least).any():
        return Fit(cells, factors, NEGATIVE, 0, np.inf)
    goal = np.where(target <= 1e3 * least, 0.0, target)
    # The twin on whole arrays gives the same numbers: it adds in the same order (``bincount`` does).
    pays = KERNELS.pays(20.0 * totals.labels.size)
    cycle: Callable[..., Any] = KERNELS.compiled()["cycle_loop"] if pays else cycle_numpy
    state, cycles, error = cycle(
        cells, totals.labels, totals.starts, goal, factors, least, tol, max_iter, absolute
    )
    fit = Fit(cells, factors, int(state), int(cycles), float(error))
    if fit.state == TIRED and not absolute and totals.count <= EXACT_INVERSE:
        return newton(fit, totals, goal, least, tol)
    return fit


def newton(fit: Fit, totals: Totals, target: Floats, least: float, tol: float) -> Fit:
    """Finish a slow fit by Newton's method on the dual; where that fails too, return the fit as it is."""
    cells, lam = fit.cells.copy(), fit.lam.copy()
    dual = float(dot(lam, target) - cells.sum())
    for turn in range(NEWTON_STEPS):
        gap = target - totals.sums(cells)
        error = float((np.abs(gap) / np.maximum(target, least)).max(initial=0.0))
        if error <= tol:
            return Fit(cells, lam, CONVERGED, fit.cycles + turn, error)
        step = steps_of_lam(cells, totals, gap[:, None])
        if step is None or not np.isfinite(step).all():
            return fit
        length = 1.0
        for _ in range(30):
            move = np.clip(length * step[:, 0], -LARGEST, LARGEST)
            scaled = cells * exp(np.append(move, 0.0)[totals.labels].sum(axis=0))
            reached = float(dot(lam + move, target) - scaled.sum())
            if reached >= dual + 1e-4 * float(dot(move, gap)) - 1e-14 * abs(dual):
                break
            length /= 2
        else:
            return fit
        cells, lam, dual = scaled, lam + move, reached
    return fit


def second_derivatives(cells: Floats, totals: Totals) -> Floats:
    """Return M diag(p) M', the second derivatives of the dual."""
    n = totals.count
    found = np.zeros(n * n)
    for one in totals.labels:
        for two in totals.labels:
            inside = (one >= 0) & (two >= 0)
            at = one[inside].astype(np.int64) * n + two[inside]
            found += np.bincount(at, cells[inside], n * n)
    return found.reshape(n, n)


def steps_of_lam(cells: Floats, totals: Totals, changes: Floats) -> Floats | None:
    """Return how lam answers to changes of the targets (totals x changes), to first order."""
    if totals.count > MOST_TOTALS:
        return None
    matrix = second_derivatives(cells, totals)
    scale = float(np.trace(matrix)) / max(1, len(matrix))
    if not scale > 0:
        return None
    if totals.count <= EXACT_INVERSE:
        inverse: Floats = pinvh(matrix, rtol=1e-10)
        return np.ascontiguousarray(dot(inverse, changes))
    matrix[np.diag_indices(len(matrix))] += 1e-9 * scale
    try:
        return cho_solve(cholesky(matrix), changes)
    except np.linalg.LinAlgError:
        return None


# -- kernels -------------------------------------------------------------------------------------------


def cycle_loop(
    cells: Floats,
    labels: Labels,
    starts: Ints,
    target: Floats,
    lam: Floats,
    least: float,
    tol: float,
    max_iter: int,
    absolute: bool,
) -> tuple[int, int, float]:
    """Fit in place; return the state, the cycles and the largest gap of the last cycle."""
    passes, n = labels.shape
    factor = np.ones(len(target))
    worst = 0.0
    stuck = False
    for turn in range(max_iter):
        worst = 0.0
        for a in range(passes):
            for g in range(starts[a], starts[a + 1]):
                factor[g] = 0.0
            for c in range(n):
                g = labels[a, c]
                if g >= 0:
                    factor[g] += cells[c]
            for g in range(starts[a], starts[a + 1]):
                total, goal = factor[g], target[g]
                gap = abs(total - goal)
                if not absolute:
                    gap /= max(goal, least)
                worst = max(worst, gap)
                stuck = stuck or (total <= 0.0 and goal > 0.0)
            if stuck:
                return STUCK, turn, worst
            for g in range(starts[a], starts[a + 1]):
                factor[g] = target[g] / factor[g] if factor[g] > 0.0 else 1.0
                lam[g] += math.log(factor[g]) if factor[g] > 0.0 else VANISHED
            for c in range(n):
                g = labels[a, c]
                if g >= 0:
                    cells[c] *= factor[g]
        if worst <= tol:
            return CONVERGED, turn + 1, worst
    return TIRED, max_iter, worst


def cycle_numpy(
    cells: Floats,
    labels: Labels,
    starts: Ints,
    target: Floats,
    lam: Floats,
    least: float,
    tol: float,
    max_iter: int,
    absolute: bool,
) -> tuple[int, int, float]:
    """Do what :func:`cycle_loop` does with whole arrays, with logarithms from the same library."""
    own = [slice(int(a), int(b)) for a, b in itertools.pairwise(starts)]
    inside = [np.flatnonzero(row >= 0) for row in labels]
    where = [row[at] - int(s.start) for row, at, s in zip(labels, inside, own, strict=True)]
    worst = 0.0
    for turn in range(max_iter):
        worst = 0.0
        for at, group, s in zip(inside, where, own, strict=True):
            goal = target[s]
            total = np.bincount(group, cells[at], len(goal))
            gap = np.abs(total - goal)
            if not absolute:
                gap = gap / np.maximum(goal, least)
            worst = max(worst, float(gap.max(initial=0.0)))
            if ((total <= 0) & (goal > 0)).any():
                return STUCK, turn, worst
            factor = np.divide(goal, total, out=np.ones_like(goal), where=total > 0)
            lam[s] += [math.log(f) if f > 0 else VANISHED for f in factor.tolist()]
            cells[at] *= factor[group]
        if worst <= tol:
            return CONVERGED, turn + 1, worst
    return TIRED, max_iter, worst


def shifted(cells: Floats, labels: Labels, factor: Floats) -> float:
    """Return the sum of the cells after another scaling."""
    passes, n = labels.shape
    total = 0.0
    for c in range(n):
        value = cells[c]
        for a in range(passes):
            g = labels[a, c]
            if g >= 0:
                value *= factor[g]
        total += value
    return total


def scan(
    order: Ints,
    first: int,
    change: Floats,
    prize: Floats,
    cells: Floats,
    labels: Labels,
    lam: Floats,
    target: Floats,
    steps: Floats,
    groups: Labels,
    limit: float,
) -> int:
    """Return the place in ``order`` of the next change whose bound stays below ``limit``; -1: none.

    ``change`` is by how much each fixed cell would grow, ``prize`` what that costs by itself,
    ``steps`` (totals x fixed cells) how lam answers to a total that falls by one, ``groups`` the totals
    of the fixed cells.
    """
    passes, n = labels.shape
    count = len(lam)
    factor = np.empty(count)
    for place in range(first, len(order)):
        s = order[place]
        bound = prize[s]
        for g in range(count):
            move = min(LARGEST, max(-LARGEST, change[s] * steps[g, s]))
            factor[g] = math.exp(move)
            bound += (lam[g] + move) * target[g]
        for a in range(passes):
            g = groups[a, s]
            if g >= 0:
                move = min(LARGEST, max(-LARGEST, change[s] * steps[g, s]))
                bound -= (lam[g] + move) * change[s]
        for c in range(n):
            value = cells[c]
            for a in range(passes):
                g = labels[a, c]
                if g >= 0:
                    value *= factor[g]
            bound -= value
        if bound < limit:
            return place
    return -1


KERNELS = Kernels(globals(), cycle_loop, shifted, scan)
