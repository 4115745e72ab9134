"""The attacker: how far hidden cells can move, by linear programs over all relations."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.tables.attack.reach import TOLERANCE, Solver, Tick, Wants, answer_wants
from tacit.tables.attack.systems import System, system_of
from tacit.tables.suppress.problem import Problem

#: A need counts as met when the reach falls short by no more than this share of it.
CLOSE = 1e-6
#: Possible movements of a block that are kept for pairs of singletons.
KEPT = 48
#: Seconds between two looks at whether to stop.
PAUSE = 0.05


class Attacker:
    """Someone who knows the relations, the published cells and the external bounds.

    The hidden cells fall into blocks; one linear program per block is kept and solved again from its
    last basis, and what one solution shows of other cells is not asked for again.
    """

    def __init__(self, problem: Problem, hidden: Flags) -> None:
        self.problem = problem
        self.system = system_of(problem.by_cell, hidden, problem.down, problem.up)
        self.solvers: dict[int, Solver] = {}

    def reach(self, target: int, *, up: bool, known: Sequence[int] = ()) -> float:
        """Return how far the target can move up (or down); ``known`` cells cannot move."""
        s = self.system
        at = int(s.find([target])[0])
        if at < 0 or s.block[at] < 0 or target in known:
            return 0.0
        i, j, ratio = int(s.block[at]), int(s.place[at]), float(s.ratio[at])
        held = s.find(list(known)) if len(known) else np.zeros(0, dtype=np.int64)
        held = held[held >= 0]
        fixed = np.unique(s.place[held[s.block[held] == i]])
        if j in fixed:
            return 0.0
        return abs(ratio) * abs(self.extreme(i, j, up=up == (ratio > 0), fixed=fixed.tolist()))

    def extreme(self, i: int, j: int, *, up: bool, fixed: Sequence[int] = ()) -> float:
        """Return the furthest value of an unknown of a block; ``fixed`` ones of it cannot move."""
        b = self.system.blocks[i]
        if not b.matrix.shape[0]:
            return float(b.upper[j] if up else b.lower[j])
        if not len(fixed):
            low, high = b.inner_low[j], b.inner_high[j]
            if (high >= b.outer_high[j]) if up else (low <= b.outer_low[j]):
                return float(high if up else low)
        return self.solver(i).extreme(j, up=up, known=fixed)

    def solver(self, i: int) -> Solver:
        """Return the program of a block."""
        if i not in self.solvers:
            self.solvers[i] = Solver(self.system.blocks[i])
        return self.solvers[i]


@dataclass(frozen=True, eq=False)
class Shortfall:
    """Needs that a pattern does not meet."""

    cell: int  # the unsafe cell
    down: float  # how far it can move
    up: float
    known: int = -1  # the singleton whose respondent can deduce the cell; -1 for an outsider


def shortfalls(
    problem: Problem,
    hidden: Flags,
    ctx: Context | None = None,
    *,
    workers: int | None = None,
) -> list[Shortfall]:
    """Return every need that a pattern does not meet; an empty list proves the pattern.

    Up to ``workers`` processes (None: as many as there are processors) are used when there is much to do.
    """
    tick = ticker(ctx, "auditing the pattern")
    attacker = make_informed_attacker(problem, hidden, tick, workers=workers)
    return [*find_exposed_cells(attacker, tick), *singletons(attacker, tick)]


def make_informed_attacker(
    problem: Problem,
    hidden: Flags,
    tick: Tick,
    *,
    workers: int | None = None,
) -> Attacker:
    """Return an attacker who has tried to show every need."""
    attacker = Attacker(problem, hidden)
    if len(problem.pairs):
        for b in attacker.system.blocks:
            b.kept = KEPT if b.matrix.shape[0] else 0
    wants = wants_of(attacker.system, problem)
    attacker.solvers = answer_wants(attacker.system, wants, tick, workers=workers)
    look_closely(attacker, wants)
    return attacker


def ticker(ctx: Context | None, message: str) -> Tick:
    """Return what reports progress and asks whether to stop, not too often."""
    last = [0.0]

    def tick(share: float | None) -> None:
        if ctx is not None and time.monotonic() - last[0] > PAUSE:
            last[0] = time.monotonic()
            ctx.tick(message, share)

    if ctx is not None:
        ctx.tick(message, 0.0)
    return tick


def wants_of(system: System, problem: Problem) -> dict[int, Wants]:
    """Return the needs of unsafe cells as wants of the unknowns behind them, by block."""
    at = system.find(np.flatnonzero(problem.primary))
    return {
        i: wants_behind(system, problem, own, system.blocks[i].n)
        for i, own in system.by_block(at[at >= 0])
    }


def wants_behind(system: System, problem: Problem, at: Ints, n: int) -> Wants:
    """Return the needs of some hidden cells of one block as wants of its n unknowns."""
    cells, ratio, place = system.cells[at], system.ratio[at], system.place[at]
    size = np.abs(ratio)
    down, up = problem.need_down[cells] / size, problem.need_up[cells] / size
    wants = Wants.nothing(n)
    np.maximum.at(wants.low, place, np.where(ratio > 0, down, up))
    np.maximum.at(wants.high, place, np.where(ratio > 0, up, down))
    np.maximum.at(wants.width, place, problem.need_width[cells] / size)
    return wants


def look_closely(attacker: Attacker, wants: Mapping[int, Wants]) -> None:
    """Ask again, on their own scale, for movements that are small against the solver's tolerance."""
    for i, solver in list(attacker.solvers.items()):
        w, b = wants[i], attacker.system.blocks[i]
        limit = 1e4 * TOLERANCE / solver.scale
        for up, asked in ((True, w.high), (False, w.low)):
            least = np.where(w.width > 0, np.maximum(asked, w.width / 2), asked)
            shown = b.inner_high if up else -b.inner_low
            doubtful = (least > 0) & (least < limit) & (shown >= least)
            for j in np.flatnonzero(doubtful).tolist():
                x = Solver(b, focus=float(least[j])).extreme_alone(j, up=up)
                if abs(x) < least[j] * (1 - CLOSE):
                    for side in (b.inner_high, b.outer_high) if up else (b.inner_low, b.outer_low):
                        side[j] = x


def find_exposed_cells(attacker: Attacker, tick: Tick) -> list[Shortfall]:
    """Return the unsafe cells whose movements, as found, fall short of their needs."""
    p, s = attacker.problem, attacker.system
    primary = np.flatnonzero(p.primary)
    at = s.find(primary)
    low, high = s.interval()
    # One more place, reached by -1, stands for cells that are not hidden.
    down, up = -np.append(low, 0.0)[at], np.append(high, 0.0)[at]
    short = []
    for k in np.flatnonzero(~find_met_needs(p, primary, down, up)).tolist():
        tick(None)
        cell = int(primary[k])
        # What was found may be less than what is possible in a direction that was not asked for.
        all_up, all_down = attacker.reach(cell, up=True), attacker.reach(cell, up=False)
        if not is_need_met(p, cell, all_down, all_up):
            short.append(Shortfall(cell, all_down, all_up))
    return short


def find_met_needs(problem: Problem, cells: Ints, down: Floats, up: Floats) -> Flags:
    """Return which cells' needs are met by the movements that are possible."""
    keep = 1 - CLOSE
    return np.asarray(
        (up >= problem.need_up[cells] * keep)
        & (down >= problem.need_down[cells] * keep)
        & (up + down >= problem.need_width[cells] * keep)
    )


def is_need_met(problem: Problem, cell: int, down: float, up: float) -> bool:
    """Return True when a cell's needs are met by the movements that are possible."""
    one = np.array([cell])
    return bool(find_met_needs(problem, one, np.array([down]), np.array([up]))[0])


# -- singletons --------------------------------------------------------------------------------------


def singletons(attacker: Attacker, tick: Tick) -> list[Shortfall]:
    """Return the pairs (known, target) where the respondent of known can deduce the target."""
    p, s = attacker.problem, attacker.system
    if not len(p.pairs):
        return []
    if not len(s.cells):
        return [Shortfall(b, 0.0, 0.0, a) for a, b in p.pairs.tolist()]
    known, target = p.pairs[:, 0], p.pairs[:, 1]
    tiny = p.tiny(target) * (1 - CLOSE)
    at_known, at_target = s.find(known), s.find(target)
    where_known = np.where(at_known >= 0, s.block[at_known], -1)
    where_target = np.where(at_target >= 0, s.block[at_target], -1)
    low, high = s.interval()
    moves = np.where(at_target >= 0, np.maximum(-low[at_target], high[at_target]), 0.0)
    apart = where_known != where_target
    together = (where_target >= 0) & ~apart
    open_pairs = np.flatnonzero(together | (moves < tiny))
    short: list[Shortfall] = []
    order = open_pairs[np.argsort(at_known[open_pairs], kind="stable")]
    starts = np.flatnonzero(np.diff(at_known[order], prepend=-2))
    for pairs in np.split(order, starts[1:]):
        if not len(pairs):
            continue
        tick(None)
        left = find_unshown_targets(
            attacker, int(at_known[pairs[0]]), at_target[pairs], tiny[pairs]
        )
        for k in pairs[left].tolist():
            one, other = int(target[k]), int(known[k])
            up = attacker.reach(one, up=True, known=[other])
            down = attacker.reach(one, up=False, known=[other]) if up < tiny[k] else 0.0
            if max(up, down) < tiny[k]:
                short.append(Shortfall(one, down, up, other))
    return short


def find_unshown_targets(attacker: Attacker, known: int, targets: Ints, tiny: Floats) -> Ints:
    """Return which targets no movement found so far, with the known cell at rest, moves far enough.

    Two possible movements that move the known cell to opposite sides have a mean that leaves it at
    rest and is possible as well.
    """
    s = attacker.system
    every = np.arange(len(targets))
    if known < 0 or s.block[known] < 0:
        return every
    i, k = int(s.block[known]), int(s.place[known])
    mine = (s.block[targets] == i) & (targets >= 0)
    b = s.blocks[i]
    # Free unknowns and unknowns of other blocks do not depend on the known cell.
    if not b.matrix.shape[0] or not mine.any():
        return every
    columns = s.place[targets[mine]]
    asked = tiny[mine] / np.abs(s.ratio[targets[mine]])
    asked = np.where(columns == k, np.inf, asked)
    shown = at_rest(b.points, k, columns) >= asked
    solver = attacker.solver(i)
    rng = np.random.default_rng(k)
    for _ in range(3):
        todo = ~shown & np.isfinite(asked)
        if int(todo.sum()) < 3:
            break
        direction = np.zeros(b.n)
        cap = np.full(b.n, np.inf)
        sign = np.where(rng.random(len(columns)) < 0.5, 1.0, -1.0)
        direction[columns[todo]] = sign[todo]
        cap[columns[todo]] = 2 * asked[todo]
        cap[k] = 0.0
        x = solver.together(direction, -cap, cap)
        if x is None:
            break
        shown |= np.abs(x[columns]) >= asked
    left = np.ones(len(targets), dtype=bool)
    left[np.flatnonzero(mine)[shown]] = False
    return np.flatnonzero(left)


def at_rest(points: Sequence[Floats], k: int, columns: Ints) -> Floats:
    """Return how far means of two possible movements, with unknown k at rest, move others."""
    if not points:
        return np.zeros(len(columns))
    all_points = np.stack(points)
    at_k, rest = all_points[:, k], all_points[:, columns]
    size = np.abs(all_points).max(axis=1, initial=1e-300)
    calm = np.abs(at_k) <= 1e-12 * size
    best = np.abs(rest[calm]).max(axis=0, initial=0.0)
    up, down = np.flatnonzero(~calm & (at_k > 0))[-16:], np.flatnonzero(~calm & (at_k < 0))[-16:]
    if len(up) and len(down):
        a, c = at_k[up][:, None, None], -at_k[down][None, :, None]
        mean = (c * rest[up][:, None, :] + a * rest[down][None, :, :]) / (a + c)
        best = np.maximum(best, np.abs(mean).max(axis=(0, 1)))
    return np.asarray(best)
