"""The programs behind controlled tabular adjustment: for given signs, and relaxed over all signs.

For absolute deviations the signs come from a relaxation in which an unsafe cell is up to a share b. Alone
it is worth little (at b = 1/2 no cell need move), but what an unsafe cell does must be undone by the other
cells of each of its relations: with z = rise - fall and a relation of coefficients m,

    |m_s| rise_s  <=  sum over i != s of |m_i| times the part of z_i that goes against it,

and the same for fall_s. These cuts are valid because rise_s is 0 where s falls.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from tacit.arrays import Flags, Floats, Ints
from tacit.numerics.algebra import cho_solve, cholesky, dot, lstsq
from tacit.solve import Highs, LinearModel
from tacit.tables.suppress.problem import find_entries
from tacit.time_limits import is_past

#: Seconds after which one linear program is given up: simplex can cycle on degenerate tables.
LONGEST = 10.0
#: The share by which the chord of an undecided cell is bent, so that the relaxation is smooth.
BEND = 1e-3
#: The share of the open signs that one step of a dive settles.
SETTLED = 0.05
#: A sign is settled early when its share is far from 1/2, plus this, times the cell's level.
DISTANCE = 0.15
#: Entries of cuts, in entries of the relations.
CUTS = 8
#: Rows up to which Newton's system is solved dense.
DENSE_ROWS = 1500


@dataclass(frozen=True, eq=False)
class Adjustment:
    """The problem over the movable cells, in units of a typical level."""

    #: Relations and quality constraints; its columns are the movable cells, then slacks of ranges.
    matrix: sparse.csr_array
    #: The weight of |z| or of z squared, of every column.
    weight: Floats
    #: How far a column may move below and above.
    low: Floats
    high: Floats
    #: The columns that must move.
    unsafe: Ints
    #: How far they must move.
    down: Floats
    up: Floats
    #: Which sides are allowed.
    can_fall: Flags
    can_rise: Flags

    @property
    def n(self) -> int:
        """Return the number of columns."""
        return len(self.weight)

    @property
    def open(self) -> Ints:
        """Return the places in ``unsafe`` of cells that may go either way."""
        return np.flatnonzero(self.can_fall & self.can_rise)

    @property
    def parts(self) -> Floats:
        """Return how far each column may rise, and then how far each may fall."""
        return np.r_[np.maximum(self.high, 0.0), np.maximum(-self.low, 0.0)]

    @property
    def picked(self) -> sparse.csr_array:
        """Return unsafe columns x columns, 1 at each unsafe one."""
        return sparse.csr_array(sparse.eye_array(self.n, format="csr")[self.unsafe])

    @property
    def far(self) -> float:
        """Return a distance that no column needs."""
        return 10.0 * float((self.up + self.down).sum())

    def ranges(self, up: Flags) -> tuple[Floats, Floats]:
        """Return the ranges of the unsafe columns for given signs."""
        s = self.unsafe
        return np.where(up, self.up, self.low[s]), np.where(up, self.high[s], -self.down)

    def norm(self, z: Floats, *, square: bool) -> float:
        """Return the norm of deviations."""
        return float((self.weight * (z * z if square else np.abs(z))).sum())


@dataclass(frozen=True, eq=False)
class Point:
    """Signs, deviations, their norm, and the prices r of the columns; value infinite: impossible."""

    up: Flags
    value: float
    z: Floats
    prices: Floats


class Program(Protocol):
    """What the search needs of the program for given signs."""

    square: bool

    def solve(self, up: Flags, cutoff: float = np.inf) -> Point:
        """Return the least deviations; infinite when they reach the cutoff or do not exist."""


class Absolute:
    """The linear program for given signs, solved again from its last basis."""

    square = False

    def __init__(self, a: Adjustment) -> None:
        self.a = a
        self.lp = Highs(
            LinearModel.of(
                np.r_[a.weight, a.weight],
                sparse.hstack([a.matrix, -a.matrix], format="csc"),
                0.0,
                0.0,
                upper=a.parts,
            ),
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        self.now = np.full(len(a.unsafe), -1, dtype=np.int8)
        self.basis: Any = None

    def solve(self, up: Flags, cutoff: float = np.inf) -> Point:
        """Return the least deviations for these signs; the basis is kept where they are wanted."""
        before = self.now.copy()
        cells = np.flatnonzero(before != up)
        self.place(cells, up)
        self.lp.option("objective_bound", float(cutoff))
        point = self.run(up)
        if point.value < cutoff:
            self.basis = self.lp.basis()
        elif self.basis is not None:
            self.place(cells, before == 1)
            self.lp.restore(self.basis)
        return point

    def place(self, cells: Ints, up: Flags) -> None:
        """Set the ranges of some unsafe cells."""
        if not len(cells):
            return
        a, n = self.a, self.a.n
        s, side = a.unsafe[cells], up[cells]
        low, high = a.ranges(up)
        low, high = low[cells], high[cells]
        self.lp.set_bounds(s, np.where(side, low, 0.0), np.where(side, high, 0.0))
        self.lp.set_bounds(s + n, np.where(side, 0.0, -high), np.where(side, 0.0, -low))
        self.now[cells] = side

    def run(self, up: Flags) -> Point:
        """Solve as it stands; a program that does not end counts as having no answer."""
        a, n = self.a, self.a.n
        found = self.lp.solve(time_limit=LONGEST)
        if found.state != "optimal" or found.x is None or found.duals is None:
            return Point(up.copy(), np.inf, np.zeros(n), np.zeros(n))
        z = found.x[:n] - found.x[n:]
        return Point(up.copy(), found.value, z, np.asarray(dot(a.matrix.T, found.duals)))


class Relaxation:
    """The linear program over rise, fall and the share b of every unsafe cell, with cuts.

    With ``most``, the value of a solution at hand, which no better one exceeds, the signs are whole numbers.
    """

    def __init__(self, a: Adjustment, most: float | None = None) -> None:
        self.a = a
        n, k, m = a.n, len(a.unsafe), a.matrix.shape[0]
        own, cuts = a.picked, make_undoing_cuts(a)
        none = sparse.csr_array((k, n))
        blocks = [
            sparse.hstack([a.matrix, -a.matrix, sparse.csr_array((m, k))]),
            sparse.hstack([own, none, -sparse.diags_array(a.up)]),
            sparse.hstack([none, own, sparse.diags_array(a.down)]),
            sparse.hstack([cuts, sparse.csr_array((cuts.shape[0], k))]),
        ]
        low = [np.zeros(m + k), a.down, np.zeros(cuts.shape[0])]
        high = [np.zeros(m), np.full(2 * k + cuts.shape[0], np.inf)]
        if most is not None:
            more, less = self.reaches(most)
            blocks.append(sparse.hstack([own, none, -sparse.diags_array(more)]))
            blocks.append(sparse.hstack([none, own, sparse.diags_array(less)]))
            low.append(np.full(2 * k, -np.inf))
            high += [np.zeros(k), less]
        self.lp = Highs(
            LinearModel.of(
                np.r_[a.weight, a.weight, np.zeros(k)],
                sparse.vstack(blocks, format="csc"),
                np.concatenate(low),
                np.concatenate(high),
                upper=np.r_[a.parts, np.ones(k)],
                integer=None if most is None else np.repeat([False, True], [2 * n, k]),
            )
        )
        self.set_signs(np.flatnonzero(~(a.can_fall & a.can_rise)), a.can_rise)

    def reaches(self, most: float) -> tuple[Floats, Floats]:
        """Return how far unsafe cells can rise or fall in a solution that is no worse."""
        a, s = self.a, self.a.unsafe
        rise = np.where(a.can_rise, a.up, np.inf)
        fall = np.where(a.can_fall, a.down, np.inf)
        least = a.weight[s] * np.minimum(rise, fall)
        if np.isfinite(most):
            reach = (most - least.sum() + least) / np.maximum(a.weight[s], 1e-12) * (1 + 1e-6)
        else:
            reach = np.full(len(s), a.far)
        return (
            np.maximum(np.minimum(a.high[s], reach), a.up),
            np.maximum(np.minimum(-a.low[s], reach), a.down),
        )

    def set_signs(self, cells: Ints, up: Flags) -> None:
        """Settle the signs of some unsafe cells."""
        if not len(cells):
            return
        a, n = self.a, self.a.n
        s, side = a.unsafe[cells], up[cells]
        self.lp.set_bounds(s, 0.0, np.where(side, np.maximum(a.high[s], a.up[cells]), 0.0))
        self.lp.set_bounds(s + n, 0.0, np.where(side, 0.0, np.maximum(-a.low[s], a.down[cells])))
        self.lp.set_bounds(2 * n + cells, side.astype(np.float64), side.astype(np.float64))

    def open_signs(self, cells: Ints) -> None:
        """Leave the signs of some unsafe cells open."""
        if not len(cells):
            return
        a, n = self.a, self.a.n
        s = a.unsafe[cells]
        self.lp.set_bounds(s, 0.0, np.maximum(a.high[s], 0.0))
        self.lp.set_bounds(s + n, 0.0, np.maximum(-a.low[s], 0.0))
        self.lp.set_bounds(2 * n + cells, 0.0, 1.0)

    def dive(
        self, free: Ints, up: Flags, clock: Clock, cutoff: float = np.inf
    ) -> tuple[Flags | None, float]:
        """Settle open signs in steps, the surest of large levels first.

        Returns the signs (None when the value passes the cutoff), and the value with none of them settled:
        a bound on what they can bring, infinite when they cannot be had.
        """
        a = self.a
        up, free = up.copy(), free.copy()
        size = a.weight[a.unsafe] * np.maximum(a.up, a.down)
        found = self.lp.solve(time_limit=clock.left())
        if found.x is None:
            return (None, np.inf) if found.state == "infeasible" else (up, 0.0)
        bound = found.value if found.state == "optimal" else 0.0
        while len(free) and found.x is not None and found.state == "optimal":
            if found.value >= cutoff:
                return None, bound
            share = found.x[2 * a.n :]
            up[free] = share[free] > 0.5
            if clock.over():
                break
            score = size[free] * (np.abs(share[free] - 0.5) + DISTANCE)
            order = free[np.argsort(-score, kind="stable")]
            step = order[: max(1, int(SETTLED * len(free)))]
            self.set_signs(step, up)
            found = self.lp.solve(time_limit=clock.left())
            if found.state == "infeasible":
                self.open_signs(step[1:])
                step = step[:1]
                up[step] = ~up[step]
                self.set_signs(step, up)
                found = self.lp.solve(time_limit=clock.left())
            free = np.setdiff1d(free, step)
        return (None if found.state == "infeasible" else up), bound

    def branch(self, start: Point, clock: Clock, gap: float) -> tuple[Flags | None, float, bool]:
        """Choose the signs by branch and bound; return the best, the bound, and if it is impossible."""
        if np.isfinite(start.value):
            z = start.z
            self.lp.start_from(np.r_[np.maximum(z, 0.0), np.maximum(-z, 0.0), start.up])
        found = self.lp.solve(time_limit=clock.left(), gap=gap, should_stop=clock.should_stop)
        up = None if found.x is None else found.x[2 * self.a.n :] > 0.5
        return up, found.bound, found.state == "infeasible"


def make_undoing_cuts(a: Adjustment) -> sparse.csr_array:
    """Return the cuts "what an unsafe cell does is undone by the rest of a relation", >= 0.

    Their columns are rise and fall. Relations come in order of length; when the cuts have many more
    entries than the relations themselves, the longest are left out.
    """
    n = a.n
    place = np.zeros(n, dtype=bool)
    place[a.unsafe] = True
    entries = a.matrix.tocoo()
    row, column, value = entries.coords[0], entries.coords[1], entries.data
    length = np.diff(a.matrix.indptr)
    mine = np.flatnonzero(place[column] & (value != 0))
    mine = mine[np.argsort(length[row[mine]], kind="stable")]
    mine = mine[np.cumsum(2 * length[row[mine]]) <= CUTS * len(value) + 10_000]
    at, count = find_entries(a.matrix.indptr, row[mine])
    cut = np.repeat(np.arange(len(mine)), count)
    other, ratio = a.matrix.indices[at], a.matrix.data[at] / value[mine][cut]
    itself = other == column[mine][cut]
    # Against a rise go the falls of cells of equal sign, the rises of the others; own entry: -1.
    falls = (ratio > 0) & ~itself
    size = np.where(itself, -1.0, np.abs(ratio))
    rows = [
        sparse.csr_array((size, (cut, other + n * side)), shape=(len(mine), 2 * n))
        for side in (falls, ~falls)
    ]
    return sparse.csr_array(sparse.vstack(rows, format="csr"))


class Squares:
    """The quadratic program, by Newton's method on its dual.

    The dual is concave and once differentiable with piecewise linear slope: z(r) = clip(r / 2w), and on
    the chord of an undecided cell a steep line. Every value of the dual is a lower bound.
    """

    square = True

    def __init__(self, a: Adjustment) -> None:
        self.a = a
        self.rows = a.matrix
        self.columns = sparse.csc_array(a.matrix)
        self.pi = np.zeros(a.matrix.shape[0])

    def solve(self, up: Flags, cutoff: float = np.inf) -> Point:
        """Return the least squares for these signs."""
        value, z, prices, _ = self.relaxed(up, np.ones(len(up), dtype=bool), cutoff, self.pi)
        return Point(up.copy(), value, z, prices)

    def relaxed(
        self, up: Flags, decided: Flags, cutoff: float, pi: Floats
    ) -> tuple[float, Floats, Floats, Floats]:
        """Return bound, deviations, prices and duals when some cells are undecided (on their chords)."""
        answer = self.answer_of(up, decided)
        pi = pi.copy()
        r = np.asarray(dot(self.columns.T, pi))
        z, slope, dual = answer(r)
        size = 1e-9 * max(1.0, float(np.abs(z).max(initial=0.0)))
        ridge = 1e-10
        for _ in range(200):
            if dual >= cutoff:
                return np.inf, z, r, pi
            gap = np.asarray(dot(self.rows, z))
            if float(np.abs(gap).max(initial=0.0)) <= size:
                return dual, z, r, pi
            step = self.newton(slope, gap, ridge)
            length, done = 1.0, False
            rise = float(dot(-gap, step))
            for _ in range(40):
                new = np.asarray(dot(self.columns.T, pi + length * step))
                trial = answer(new)
                if trial[2] >= dual + 1e-4 * length * rise - 1e-13 * abs(dual):
                    done = True
                    break
                length /= 2
            if not done:
                ridge *= 100
                if ridge > 1e-2:
                    break
                continue
            pi += length * step
            r = new
            z, slope, dual = trial
            ridge = max(1e-12, ridge / 10)
        gap = np.asarray(dot(self.rows, z))
        loose = 1e-6 * max(1.0, float(np.abs(z).max(initial=0.0)))
        if float(np.abs(gap).max(initial=0.0)) <= loose:
            return dual, z, r, pi
        return np.inf, z, r, pi

    def newton(self, slope: Floats, gap: Floats, ridge: float) -> Floats:
        """Return the direction of Newton's method."""
        scaled = dot(self.rows, sparse.diags_array(slope))
        matrix = sparse.csr_array(dot(scaled, self.rows.T))
        tiny = ridge * max(float(matrix.diagonal().mean()) if matrix.nnz else 0.0, 1e-12)
        m = matrix.shape[0]
        if m <= DENSE_ROWS:
            dense = matrix.toarray()
            dense[np.diag_indices(m)] += tiny
            try:
                return cho_solve(cholesky(dense), -gap)
            except np.linalg.LinAlgError:
                return lstsq(dense, -gap)[0]
        eye = sparse.eye_array(m, format="csc") * max(tiny, 1e-14)
        return np.asarray(splu(sparse.csc_array(matrix + eye)).solve(-gap))

    def answer_of(
        self, up: Flags, decided: Flags
    ) -> Callable[[Floats], tuple[Floats, Floats, float]]:
        """Return z(r), its slope and the dual's value as a function of the prices."""
        a = self.a
        low, high = a.low.copy(), a.high.copy()
        low[a.unsafe], high[a.unsafe] = a.ranges(up)
        loose = np.flatnonzero(~decided)
        s = a.unsafe[loose]
        low[s], high[s] = a.low[s], a.high[s]
        down, rise, w = a.down[loose], a.up[loose], a.weight[s]
        bend = BEND * w
        middle = (w - bend) * (rise - down)

        def answer(r: Floats) -> tuple[Floats, Floats, float]:
            half = r / (2 * a.weight)
            z = np.clip(half, low, high)
            slope = np.where((half > low) & (half < high), 1 / (2 * a.weight), 0.0)
            cost = a.weight * z * z
            if len(s):
                line = (r[s] - middle) / (2 * bend)
                inside = np.clip(line, -down, rise)
                on = (half[s] <= rise) & (half[s] >= -down)
                z[s] = np.where(on, inside, z[s])
                steep = np.where((line > -down) & (line < rise), 1 / (2 * bend), 0.0)
                slope[s] = np.where(on, steep, slope[s])
                chord = w * down**2 + w * (rise - down) * (z[s] + down)
                chord -= bend * (rise - z[s]) * (z[s] + down)
                cost[s] = np.where(on, chord, w * z[s] ** 2)
            return z, slope, float((cost - r * z).sum())

        return answer

    def branch(self, start: Point | None, clock: Clock, gap: float) -> tuple[Point | None, float]:
        """Choose the signs by branch and bound; return the best point and the bound on the optimum."""
        a = self.a
        k = len(a.unsafe)
        best = start
        value = np.inf if start is None else start.value
        fixed = ~(a.can_fall & a.can_rise)
        up = np.where(fixed, a.can_rise, a.up <= a.down)
        bound, z, _, pi = self.relaxed(up, fixed, np.inf, self.pi)
        count = itertools.count()
        heap = [(bound, next(count), fixed, up, z[a.unsafe], pi)]
        limit = bound
        while heap:
            limit = heap[0][0]
            if limit >= value * (1 - gap) or not np.isfinite(limit) or clock.over():
                break
            _, turn, decided, up, moved, pi = heapq.heappop(heap)
            loose = np.flatnonzero(~decided)
            middle = (a.up - a.down) / 2
            guess = np.where(decided, up, moved > middle)
            if turn < 2 * k or turn % 16 == 0:
                found = self.relaxed(guess, np.ones(k, dtype=bool), value, pi)
                if found[0] < value:
                    value = found[0]
                    best = Point(guess, found[0], found[1], found[2])
            if not len(loose):
                continue
            width = np.minimum(np.abs(moved - a.up), np.abs(moved + a.down)) * a.weight[a.unsafe]
            cell = loose[np.argmax(width[loose])]
            for side in (True, False):
                signs, known = up.copy(), decided.copy()
                signs[cell], known[cell] = side, True
                bound, z, _, dual = self.relaxed(signs, known, value, pi)
                if bound < value * (1 - gap):
                    heapq.heappush(heap, (bound, next(count), known, signs, z[a.unsafe], dual))
        return best, min(limit, value) if heap else value


@dataclass(frozen=True)
class Clock:
    """Seconds left, and whether the user wants to stop."""

    seconds: float
    tick: Callable[[], None]
    should_stop: Callable[[], bool]
    begun: float = field(default_factory=time.monotonic)

    @property
    def end(self) -> float:
        """Return when time is up, as time.monotonic()."""
        return self.begun + self.seconds

    def left(self) -> float:
        """Return the seconds left."""
        return max(0.1, self.end - time.monotonic())

    def over(self) -> bool:
        """Return True when time is up; stop when the user asked for it."""
        self.tick()
        return is_past(self.end)

    def part(self, share: float) -> Clock:
        """Return a clock for a share of the time that is left."""
        return Clock(share * self.left(), self.tick, self.should_stop)
