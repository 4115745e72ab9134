r"""Local negative-binomial regression: the mean and dispersion of a cell from the cells around it.

Around a cell k the counts are negative binomial with means :math:`\log\mu_{k'} = \theta_0 + \sum_j \sum_{l \le t}
\theta_{jl} (k'_j-k_j)^l` and a common a = 1/alpha (Rinott and Shlomo 2006, equations 9 to 11). For a given a the
likelihood is concave in theta and Newton's method, or Fisher's scoring, finds its maximum; a itself is looked for on a grid
from 0 (Poisson) and then by bracketing its score, so that a local maximum is not taken for the largest. Where sampling
fractions differ, :math:`\log(\pi_{k'}/\pi_k)` is added to the mean of a neighbour, so that :math:`\theta_0` is about the centre.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.events import side_by_side
from tacit.numerics import elementary
from tacit.numerics.kernels import Kernels
from tacit.records.samples.local_lattice import Lattice

#: Values of a at which the profile likelihood is looked at.
GRID = np.array([0.0, 0.02, 0.06, 0.2, 0.6, 2.0, 6.0, 20.0, 100.0, 1000.0])
#: A bracket that ends at a = 0 is searched from here.
SMALLEST = 1e-5
#: Coefficients beyond this have run away: the cells around separate the centre from the rest.
RUNAWAY = 12.0
#: Counts that are gathered at once.
BLOCK = 2_000_000
#: Turns of Newton's method and of Fisher's scoring, which takes more of them.
TURNS, SCORING_TURNS = 60, 400
#: What a fit says of itself.
FINE, AT_BOUND, SEPARATED = 0, 1, 2


def design(offsets: Ints, degree: int) -> Floats:
    """Return a column of ones, then the offsets to the first power, the second, and so on."""
    powers = [elementary.power(offsets, power) for power in range(1, degree + 1)]
    return np.ascontiguousarray(np.hstack([np.ones((len(offsets), 1)), *powers]))


# -- kernels -----------------------------------------------------------------------------------------------


def evaluate(
    f: Any, o: Any, x: Any, a: float, theta: Any, gradient: Any, hessian: Any, expected: bool
) -> float:
    """Return the log-likelihood at theta without its constants; fill gradient and negative Hessian in theta.

    A count below 0 marks a cell that is left out; ``o`` is added to the log of the mean. With ``expected`` the Hessian is
    the expected one (Fisher's information).
    """
    q = len(theta)
    gradient[:] = 0.0
    hessian[:] = 0.0
    value = 0.0
    for m in range(len(f)):
        if f[m] < 0:
            continue
        eta = o[m]
        for i in range(q):
            eta += x[m, i] * theta[i]
        eta = min(eta, 30.0)
        mu = math.exp(eta)
        count = float(f[m])
        if a > 0.0:
            value += count * eta - (count + 1.0 / a) * math.log1p(a * mu)
            for nu in range(1, f[m]):
                value += math.log1p(a * nu)
        else:
            value += count * eta - mu
        below = 1.0 + a * mu
        slope = (count - mu) / below
        curve = mu / below if expected else (1.0 + a * count) * mu / (below * below)
        for i in range(q):
            gradient[i] += slope * x[m, i]
            factor = curve * x[m, i]
            for j in range(i + 1):
                hessian[i, j] += factor * x[m, j]
    return value


def solve(hessian: Any, gradient: Any, step: Any) -> None:
    """Solve hessian step = gradient by Cholesky's method; the lower triangle is given and overwritten."""
    q = len(gradient)
    trace = 0.0
    for i in range(q):
        trace += hessian[i, i]
    tiny = 1e-12 * trace / q + 1e-300
    for j in range(q):
        for i in range(j, q):
            total = hessian[i, j]
            for k in range(j):
                total -= hessian[i, k] * hessian[j, k]
            if i == j:
                hessian[j, j] = math.sqrt(max(tiny, total))
            else:
                hessian[i, j] = total / hessian[j, j]
    for i in range(q):
        total = gradient[i]
        for k in range(i):
            total -= hessian[i, k] * step[k]
        step[i] = total / hessian[i, i]
    for back in range(q):
        i = q - 1 - back
        total = step[i]
        for k in range(i + 1, q):
            total -= hessian[k, i] * step[k]
        step[i] = total / hessian[i, i]


def climb(cells: Any, a: float, theta: Any, tolerance: float, work: Any, expected: bool) -> float:
    """Move theta to the largest likelihood for a given a; return the likelihood there.

    ``cells`` are counts, offsets and design; ``work`` is room for the gradient, the Hessian and a step.
    """
    f, o, x = cells
    gradient, hessian, step = work
    value = evaluate(f, o, x, a, theta, gradient, hessian, expected)
    for _ in range(SCORING_TURNS if expected else TURNS):
        solve(hessian, gradient, step)
        promise = 0.0
        longest = 0.0
        for i in range(len(theta)):
            promise += step[i] * gradient[i]
            longest = max(longest, abs(step[i]))
        if promise < tolerance * (1.0 + abs(value)):
            break
        length = 1.0 if longest <= 3.0 else 3.0 / longest
        moved = False
        for _half in range(25):
            theta += length * step
            new = evaluate(f, o, x, a, theta, gradient, hessian, expected)
            if new > value:
                moved = True
                value = new
                break
            theta -= length * step
            length *= 0.5
        if not moved or (np.abs(theta) > 4.0 * RUNAWAY).any():
            break
    return value


def score(f: Any, o: Any, x: Any, a: float, theta: Any) -> float:
    """Return the derivative of the log-likelihood in a, for a > 0."""
    total = 0.0
    for m in range(len(f)):
        if f[m] < 0:
            continue
        eta = o[m]
        for i in range(len(theta)):
            eta += x[m, i] * theta[i]
        eta = min(eta, 30.0)
        mu = math.exp(eta)
        z = a * mu
        if z < 1e-3:
            total += mu * mu * (0.5 - z * (2.0 / 3.0 - z * (0.75 - 0.8 * z)))
        else:
            total += (math.log1p(z) - z / (1.0 + z)) / (a * a)
        total -= f[m] * mu / (1.0 + z)
        for nu in range(1, f[m]):
            total += nu / (1.0 + a * nu)
    return total


def find_dispersion(
    cells: Any, grid: Any, at: int, least: float, theta: Any, kept: Any, work: Any, expected: bool
) -> float:
    """Return a beside the best one of the grid, at which the score along the ridge of best thetas is 0.

    The root is bracketed by the neighbours in the grid: regula falsi, Illinois.
    """
    f, o, x = cells
    low = grid[at - 1] if at > 1 else least
    high = grid[at + 1] if at + 1 < len(grid) else grid[at]
    a = grid[at]
    if at == 0 or high <= low:
        return a
    theta[:] = kept
    climb(cells, low, theta, 1e-10, work, expected)
    left = score(f, o, x, low, theta) * low
    theta[:] = kept
    climb(cells, high, theta, 1e-10, work, expected)
    right = score(f, o, x, high, theta) * high
    if not (left > 0.0 and right < 0.0):
        return a
    u = math.log(low)
    v = math.log(high)
    side = 0
    for _ in range(60):
        w = (u * right - v * left) / (right - left)
        a = math.exp(w)
        climb(cells, a, theta, 1e-13, work, expected)
        middle = score(f, o, x, a, theta) * a
        if abs(middle) < 1e-7 or v - u < 1e-8:
            break
        if middle > 0.0:
            u = w
            left = middle
            if side == 1:
                right *= 0.5
            side = 1
        else:
            v = w
            right = middle
            if side == -1:
                left *= 0.5
            side = -1
    return a


def fit_cells(
    counts: Any, offset: Any, x: Any, grid: Any, least: float, expected: bool, out: Any, thetas: Any
) -> None:
    """Fit each row of counts; ``out`` gets a, the mean at the centre, the log-likelihood and the status.

    ``offset`` has a row for each row of counts, or one row for all.
    """
    q = x.shape[1]
    work = np.zeros(q), np.zeros((q, q)), np.zeros(q)
    theta, kept = np.zeros(q), np.zeros(q)
    for row in range(len(counts)):
        f = counts[row]
        o = offset[row if len(offset) > 1 else 0]
        cells = (f, o, x)
        total = 0.0
        size = 0
        for m in range(len(f)):
            if f[m] >= 0:
                total += f[m]
                size += 1
        theta[:] = 0.0
        theta[0] = math.log((total if total > 0.0 else 0.5) / size)
        best = -math.inf
        at = 0
        for g in range(len(grid)):
            value = climb(cells, grid[g], theta, 1e-7, work, expected)
            if value > best:
                best = value
                at = g
                kept[:] = theta
        a = find_dispersion(cells, grid, at, least, theta, kept, work, expected)
        if a == grid[at]:
            theta[:] = kept
        best = climb(cells, a, theta, 1e-13, work, expected)
        status = 1 if at == len(grid) - 1 else 0
        for i in range(1, q):
            if abs(theta[i]) > RUNAWAY:
                status = 2
        thetas[row] = theta
        for m in range(len(f)):
            if f[m] >= 0:
                for nu in range(2, f[m] + 1):
                    best -= math.log(nu)
        out[row, 0] = a
        out[row, 1] = math.exp(theta[0])
        out[row, 2] = best
        out[row, 3] = status


KERNELS = Kernels(globals(), evaluate, solve, climb, score, find_dispersion, fit_cells)


# -- on arrays ---------------------------------------------------------------------------------------------


class Fitting(TypedDict, total=False):
    """How a local model is fitted: see :func:`fit_around`."""

    outside: str
    lower: bool
    scoring: bool


@dataclass(frozen=True)
class LocalFit:
    """What was fitted around each centre: dispersion ``a`` (0 is Poisson), mean ``mu``, and the largest log-likelihood.

    ``status`` is 0 for fine, 1 for a at its bound and 2 for separated: coefficients run away, and the mean of the centre
    is overstated. The ``degree`` is lower than asked only where that was allowed; ``total`` counts the records of the
    neighbourhood, the centre included.
    """

    a: Floats
    mu: Floats
    likelihood: Floats
    status: Ints
    degree: Ints
    total: Ints


def fit_around(
    lattice: Lattice,
    centres: Ints,
    groups: Ints,
    offsets: Ints,
    degree: int,
    *,
    outside: str = "zero",
    lower: bool = False,
    without_centre: bool = False,
    scoring: bool = False,
    tick: Callable[[float], None] = lambda _: None,
) -> LocalFit:
    """Fit the model around each centre; with ``lower``, by a lower degree where the cells around separate it.

    ``scoring`` climbs by Fisher's expected information in place of Newton's observed one.
    """
    m = len(centres)
    out = np.zeros((m, 4))
    used = np.full(m, degree)
    total = np.zeros(m, dtype=np.int64)
    todo = np.arange(m)
    index = lattice.index(int(np.abs(offsets).max(initial=0)))
    middle = int(np.flatnonzero((offsets == 0).all(axis=1))[0])
    for t in range(degree, -1, -1):
        x = design(offsets, t)
        turns = 25.0 * len(todo) * len(offsets) * x.shape[1] ** 2
        fit_block = KERNELS.pick(turns)["fit_cells"]

        def one(rows: Ints, x: Floats = x, fit_block: Any = fit_block) -> Floats:
            counts, added = index.gather(centres[rows], groups[rows], offsets, outside=outside)
            if without_centre:
                counts[:, middle] = -1
            total[rows] = np.maximum(counts, 0).sum(axis=1)
            made = np.zeros((len(rows), 4))
            thetas = np.zeros((len(rows), x.shape[1]))
            fit_block(counts, added, x, GRID, SMALLEST, scoring, made, thetas)
            return made

        size = max(1, BLOCK // len(offsets))
        parts = [todo[start : start + size] for start in range(0, len(todo), size)]
        done = 0
        for rows, made in zip(parts, side_by_side(one, parts, os.cpu_count() or 1), strict=True):
            out[rows] = made
            used[rows] = t
            done += len(rows)
            tick(done / max(len(todo), 1))
        todo = todo[out[todo, 3] == SEPARATED]
        if not len(todo) or not lower:
            break
    return LocalFit(out[:, 0], out[:, 1], out[:, 2], out[:, 3].astype(np.int64), used, total)
