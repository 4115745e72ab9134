"""Cuts of exact suppression: what a pattern must allow, the attacker's program, and what its duals forbid.

The master problem chooses binary x over the cells that may be hidden. A need (target t may move by at
least ``amount`` in a direction) holds for x when the attacker's program

    maximise s d_t   subject to   M d = 0,   -down_i x_i <= d_i <= up_i x_i

reaches the amount. For every vector of multipliers l, r = s e_t - M'l gives s d_t = r d for all d with
M d = 0, hence the valid cut sum_i c_i x_i >= amount with c_i = r_i up_i where r_i > 0 and -r_i down_i
where r_i < 0 (Fischetti and Salazar-Gonzalez 2001, section 4). Validity rests on r being computed from
l, not on the solver's tolerances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible, SolverError
from tacit.solve import Highs, LinearModel
from tacit.tables.attack.attacker import CLOSE
from tacit.tables.suppress.problem import Problem, incidence, touched_rows

Stop = Callable[[], bool]
#: A fractional point must violate a cut by this share of its right-hand side.
VIOLATED = 1e-3
#: Share of every free cell that separation adds to a fractional point, so that cuts are tight on cells
#: outside its support too (a core point in the sense of Magnanti and Wong 1981).
NUDGE = 1e-5
#: Cells move by no more than this many times a need: sums need no more, and farther bounds cost the solver its digits.
FAR = 1e5
#: Relations in which a hidden cell is nearly alone that are looked at in one go.
BRIDGES = 200
NOTHING = np.zeros(0)


class Need(NamedTuple):
    """One thing that a pattern must allow."""

    target: int  # the cell that must be able to move
    kind: str  # up, down, width (both together) or either (up or down)
    amount: float  # by how much
    known: int = -1  # a cell that cannot move then, or -1


class Cut(NamedTuple):
    """sum of values * x[columns] >= 1, columns counted among the free cells."""

    columns: Ints
    values: Floats

    def left(self, x: Floats) -> float:
        """Return the left-hand side at a point."""
        return float(self.values @ x[self.columns])


def needs_of(problem: Problem) -> list[Need]:
    """Return everything a pattern must allow, the most demanding first."""
    found = []
    for cell in np.flatnonzero(problem.primary).tolist():
        up, down = float(problem.need_up[cell]), float(problem.need_down[cell])
        width = float(problem.need_width[cell])
        if up > 0:
            found.append(Need(cell, "up", up))
        if down > 0:
            found.append(Need(cell, "down", down))
        if width > up + down:
            found.append(Need(cell, "width", width))
    found.sort(key=lambda need: -need.amount)
    pairs = problem.pairs
    tiny = problem.tiny(pairs[:, 1]) if len(pairs) else np.zeros(0)
    for (known, target), amount in zip(pairs.tolist(), tiny.tolist(), strict=True):
        found.append(Need(target, "either", amount, known))
    return found


class Mover:
    """The attacker's program over a set of cells, solved again and again from earlier bases."""

    def __init__(self, problem: Problem, cells: Ints) -> None:
        self.cells = cells
        self.k = len(cells)
        self.place = np.full(problem.n, -1, dtype=np.int64)
        self.place[cells] = np.arange(self.k)
        self.matrix = touched_rows(problem.by_cell, cells)
        self.turned = sparse.csr_array(self.matrix.T)
        self.down, self.up = problem.down[cells], problem.up[cells]
        self.lp = Highs(LinearModel.of(0.0, sparse.csc_array(self.matrix), 0.0, 0.0, 0.0, 0.0))
        self.all = np.arange(self.k, dtype=np.int32)
        self.bases: dict[tuple[Need, int], Any] = {}

    def move(
        self, need: Need, sign: int, x: Floats, cap: float | Floats, *, cut: bool = True
    ) -> Leg:
        """Solve one direction of a need at a point x (one share per cell), in units of the amount.

        ``cap`` bounds every movement; the cut is computed with the true bounds whatever it is.
        """
        most = np.minimum(cap, FAR)
        low = -np.minimum(self.down / need.amount, most)
        high = np.minimum(self.up / need.amount, most)
        with np.errstate(invalid="ignore"):
            low = np.where(x > 0, low * x, 0.0)
            high = np.where(x > 0, high * x, 0.0)
        at = int(self.place[need.target])
        if need.known >= 0 and self.place[need.known] >= 0:
            low[self.place[need.known]] = high[self.place[need.known]] = 0.0
        # More than the need is never asked for; this keeps the program bounded.
        low[at], high[at] = max(low[at], -1.0), min(high[at], 1.0)
        lp = self.lp
        lp.set_bounds(self.all, low, high)
        lp.set_costs(at, -float(sign))
        basis = self.bases.get((need, sign))
        if basis is not None:
            lp.restore(basis)
        found = lp.solve()
        if found.state != "optimal" or found.x is None or found.duals is None:
            # A basis of another point can leave the solver with a point it does not trust.
            self.bases.pop((need, sign), None)
            lp.forget()
            found = lp.solve()
        if found.state == "optimal":
            self.bases[need, sign] = lp.basis()
        lp.set_costs(at, 0.0)
        if found.state != "optimal" or found.x is None or found.duals is None:
            raise SolverError(
                "the attacker's program could not be solved exactly enough. Use suppress_linear, or bounds that "
                "are nearer to the values."
            )
        c, r = self.coefficients(need, sign, -found.duals) if cut else (NOTHING, NOTHING)
        return Leg(max(0.0, -found.value), found.x, c, r)

    def coefficients(self, need: Need, sign: int, multipliers: Floats) -> tuple[Floats, Floats]:
        """Return the cut that belongs to multipliers of the relations, and r, for all cells."""
        snapped = np.round(multipliers * 5040) / 5040
        multipliers = np.where(np.abs(snapped - multipliers) < 1e-7, snapped, multipliers)
        r = -(self.turned @ multipliers)
        at = int(self.place[need.target])
        r[at] += sign
        r[np.abs(r) < 1e-11] = 0.0
        with np.errstate(invalid="ignore"):
            c = np.where(r > 0, r * self.up, np.where(r < 0, -r * self.down, 0.0)) / need.amount
        if need.known >= 0 and self.place[need.known] >= 0:
            c[self.place[need.known]] = 0.0
        # The program asks for no more than the amount, so the target itself moves by 1 at most.
        c[at] = min(c[at], abs(float(r[at])))
        return c, r


class Leg(NamedTuple):
    """One direction of a need: how far (in units of the amount), by which movement, which cut."""

    reach: float
    d: Floats
    c: Floats
    r: Floats


def is_need_met(need: Need, legs: Sequence[Leg]) -> bool:
    """Return True when the movements found are enough."""
    keep = 1 - CLOSE
    if need.kind == "width":
        return sum(leg.reach for leg in legs) >= keep
    return max(leg.reach for leg in legs) >= keep


SIGNS = {"up": (1,), "down": (-1,), "width": (1, -1), "either": (1, -1)}


def merge_cuts(need: Need, legs: Sequence[Leg]) -> Floats:
    """Return the cut of a need from those of its directions."""
    if len(legs) == 1:
        return legs[0].c
    if need.kind == "width":
        return legs[0].c + legs[1].c
    # Either direction will do, so only what both cuts imply is valid.
    return np.maximum(legs[0].c, legs[1].c)


class Separator:
    """Finds violated cuts for points over the free cells of a problem."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.needs = needs_of(problem)
        self.free = np.flatnonzero(problem.suppressible)
        cells = np.flatnonzero(problem.start | problem.suppressible)
        self.mover = Mover(problem, cells)
        self.given = problem.start[cells]
        self.cost = problem.cost[self.free]
        self.rows = incidence(self.mover.matrix)
        self.made = 0
        self.turn = 0
        self.order = list(range(len(self.needs)))

    @property
    def tangled(self) -> bool:
        """Return True when cells lie in more relations than those of two-way tables do.

        There the master problem takes many rounds and one search tree is faster than solving it
        again and again; in two-way tables it is the other way round (by measurement).
        """
        return self.rows.nnz > 2.6 * len(self.given)

    # -- points --------------------------------------------------------------------------------

    def spread(self, x: Floats) -> Floats:
        """Return a point over free cells as one over all cells of the program."""
        full = np.ones(len(self.given))
        full[~self.given] = x
        return full

    def pattern(self, x: Floats) -> Flags:
        """Return a binary point as a pattern of the whole table."""
        hidden = self.problem.start.copy()
        hidden[self.free[x > 0.5]] = True
        return hidden

    def point(self, pattern: Flags) -> Floats:
        """Return a pattern as a point over the free cells."""
        return pattern[self.free].astype(np.float64)

    # -- cuts ----------------------------------------------------------------------------------

    def tidy(self, c: Floats) -> Cut | None:
        """Turn coefficients of sum c x >= 1 over all cells into a cut on the free ones."""
        right = 1.0 - float(c[self.given].sum())
        if not right > 1e-6:
            return None
        values = np.minimum(c[~self.given] / right, 1.0)
        small = (values > 0) & (values < 1e-4)
        if small.any():
            # Small coefficients are moved to the right-hand side at their largest.
            left = 1.0 - float(values[small].sum())
            if left < 0.5:
                return Cut(*pick_nonzero(values))
            values = np.minimum(np.where(small, 0.0, values) / left, 1.0)
        values[values > 1 - 1e-6] = 1.0
        self.made += 1
        return Cut(*pick_nonzero(values))

    def lines(self) -> list[Cut]:
        """Return for each relation that must move: some other cell of it is hidden."""
        given = self.given
        place = self.mover.place
        needed = {
            (int(place[n.target]), int(place[n.known]) if n.known >= 0 else -1) for n in self.needs
        }
        columns = sparse.csc_array(self.rows)
        number = np.cumsum(~given) - 1
        cuts: dict[bytes, Cut] = {}
        for target, known in needed:
            for row in columns.indices[columns.indptr[target] : columns.indptr[target + 1]]:
                inside = self.rows.indices[self.rows.indptr[row] : self.rows.indptr[row + 1]]
                others = inside[(inside != target) & (inside != known)]
                if given[others].any():
                    continue
                at = np.sort(number[others]).astype(np.int64)
                cuts[at.tobytes()] = Cut(at, np.ones(len(at)))
        self.made += len(cuts)
        return list(cuts.values())

    def bridges(self, x: Floats) -> list[tuple[int, Ints]]:
        """Return (cell, others) where a hidden cell is nearly alone in a relation.

        A secondary cell that is alone in a relation cannot move and protects nothing, so
        x_cell <= sum of the others holds for every pattern without idle cells.
        """
        full = self.spread(x)
        totals = self.rows @ full
        entries = full[self.rows.indices] * ~self.given[self.rows.indices]
        starts = self.rows.indptr[:-1]
        largest = np.maximum.reduceat(entries, starts)
        excess = 2 * largest - totals
        rows = np.flatnonzero(excess > 0.02)
        rows = rows[np.argsort(-excess[rows], kind="stable")][:BRIDGES]
        number = np.cumsum(~self.given) - 1
        found = []
        for row in rows:
            inside = self.rows.indices[self.rows.indptr[row] : self.rows.indptr[row + 1]]
            first = inside[np.argmax(full[inside] * ~self.given[inside])]
            others = inside[inside != first]
            if not self.given[others].any():
                found.append((int(number[first]), number[others].astype(np.int64)))
        return found

    def fractional(self, x: Floats, *, stop: Stop | None = None) -> list[Cut]:
        """Return cuts that a fractional point violates.

        A quarter of the needs is enough to go on with; the next call begins where this one ended.
        """
        full = self.spread(np.minimum(x + NUDGE, 1.0))
        cuts: list[Cut] = []
        n = len(self.needs)
        for _ in range(n):
            if len(cuts) >= max(10, n // 4) or (stop is not None and stop()):
                break
            cut = self.find_sharp_cut(self.needs[self.turn % n], x, full, 1 - VIOLATED)
            self.turn += 1
            if cut is not None:
                cuts.append(cut)
        return cuts

    def find_sharp_cut(self, need: Need, x: Floats, full: Floats, least: float) -> Cut | None:
        """Return a cut for one need that x violates, if the search finds one.

        Coefficients are capped at the right-hand side, which favours multipliers with few entries;
        raising the bounds of cells with small entries and solving again looks for those.
        """
        caps: list[float | Floats] = [1.0 for _ in SIGNS[need.kind]]
        for _ in range(3):
            legs = [
                self.mover.move(need, sign, full, cap)
                for sign, cap in zip(SIGNS[need.kind], caps, strict=True)
            ]
            if is_need_met(need, legs):
                return None
            cut = self.tidy(merge_cuts(need, legs))
            if cut is not None and cut.left(x) < least:
                return cut
            sizes = [np.abs(leg.r) for leg in legs]
            caps = [1.0 / np.where(r > 0, np.clip(r, 0.1, 1.0), 1.0) for r in sizes]
            if all((cap == 1.0).all() for cap in caps if isinstance(cap, np.ndarray)):
                return None
        return None

    def cut_binary_point(self, x: Floats, *, most: int | None = None) -> list[Cut]:
        """Return cuts that a binary point violates; none proves that its pattern is safe."""
        small = Mover(self.problem, np.flatnonzero(self.pattern(x)))
        ones = np.ones(small.k)
        nudged = self.spread(np.minimum(x + NUDGE, 1.0))
        cuts: list[Cut] = []
        failed = []
        for number in self.order:
            need = self.needs[number]
            if movement(small, need, ones) is not None:
                continue
            failed.append(number)
            cut = self.find_sharp_cut(need, x, nudged, 1 - 1e-4)
            cuts.append(cut or self.exact(need, x))
            if most is not None and len(cuts) >= most:
                break
        # Needs that fail now are likely to fail next time: they are looked at first.
        self.order = [*failed, *(n for n in self.order if n not in set(failed))]
        return cuts

    def exact(self, need: Need, x: Floats) -> Cut:
        """Return a cut for a need that a binary point does not meet, from the true bounds."""
        full = self.spread(x)
        legs = [self.mover.move(need, sign, full, np.inf) for sign in SIGNS[need.kind]]
        cut = self.tidy(merge_cuts(need, legs))
        return cut if cut is not None and cut.left(x) < 1 - 1e-4 else self.no_good(x)

    def no_good(self, x: Floats) -> Cut:
        """Return the cut that asks for one more cell: an unsafe pattern's parts are unsafe as well."""
        at = np.flatnonzero(x < 0.5)
        if not len(at):
            raise Infeasible("no pattern of the cells that may be hidden is safe")
        self.made += 1
        return Cut(at, np.ones(len(at)))


def pick_nonzero(values: Floats) -> tuple[Ints, Floats]:
    """Return the places and values of the entries that are not zero."""
    at = np.flatnonzero(values)
    return at.astype(np.int64), values[at]


def movement(mover: Mover, need: Need, x: Floats) -> Floats | None:
    """Return how far each cell moves to meet a need, or None when it cannot be met."""
    legs = []
    for sign in SIGNS[need.kind]:
        legs.append(mover.move(need, sign, x, np.inf, cut=False))
        if need.kind == "either" and is_need_met(need, legs):
            legs = legs[-1:]
            break
    if not is_need_met(need, legs):
        return None
    moved = np.zeros(mover.k)
    for leg in legs:
        moved = np.maximum(moved, np.abs(leg.d))
    moved[moved < 1e-12] = 0.0
    return moved
