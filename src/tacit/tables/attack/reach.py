"""How far unknowns can move: linear programs that share what each of them finds.

Every solution is a possible movement of the whole block, so it counts for all of its cells; a scaled
mirror image is possible as well. Only what no movement found so far shows, and no bound rules out, is
solved for on its own, from the last basis.
"""

from __future__ import annotations

import copy
import functools
import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import SolverError
from tacit.solve import Highs, LinearModel, Solution
from tacit.tables.attack.systems import Block, System

Tick = Callable[[float | None], None]

#: Two movements that differ by no more than this share are equal.
EQUAL = 1e-9
#: Shared programs a block at most, and the share of open needs that one must meet to go on.
ROUNDS, GAIN = 40, 0.04
#: The solver's absolute tolerance, in scaled units.
TOLERANCE = 1e-9
#: Simplex on the primal, which goes on from the last basis when costs change.
PRIMAL = 4
#: Simplex on the dual.
DUAL = 1
#: Ways to try when that fails: HiGHS' strategy and tolerance.
WAYS = ((DUAL, TOLERANCE), (PRIMAL, TOLERANCE), (DUAL, 1e-7))
#: How many times the movement that is asked for other cells may move when it is looked at closely.
FAR = 1e6
#: Unknowns a piece of work for another process holds, and the seconds of work that pay for starting one.
PIECE, WORTH_STARTING = 64, 12.0


def ignore_share(_share: float | None) -> None:
    """Ignore progress."""


class Solver:
    """The program of one block, changed and solved again.

    Bounds are scaled by a power of two, so that the solver's absolute tolerance is small against them.
    With a ``focus`` they are scaled to a movement of that size, and cut off far beyond it.
    """

    def __init__(self, block: Block, focus: float = 0.0) -> None:
        self.block = block
        low, high = block.lower, block.upper
        size = np.concatenate([-low, high])
        size = size[np.isfinite(size) & (size > 0)]
        middle = focus or (float(np.median(size)) if len(size) else 1.0)
        self.scale = 2.0 ** np.round(np.log2(100.0 / middle))
        if focus:
            low, high = np.maximum(low, -FAR * focus), np.minimum(high, FAR * focus)
        self.low, self.high = low * self.scale, high * self.scale
        self.lp = Highs(
            LinearModel.of(0.0, sparse.csc_array(block.matrix), 0.0, 0.0, self.low, self.high),
            options={"simplex_strategy": PRIMAL, "primal_feasibility_tolerance": TOLERANCE},
        )
        self.spent = 0.0
        self.warm = False

    def extreme(self, j: int, *, up: bool, known: Sequence[int] = ()) -> float:
        """Return the furthest value of one unknown; ``known`` ones stay where they are."""
        lp, b = self.lp, self.block
        fixed = np.asarray(known, dtype=np.int64)
        if len(fixed):
            lp.set_bounds(fixed, 0.0, 0.0)
        state, x = self.push(j, up)
        if len(fixed):
            lp.set_bounds(fixed, self.low[fixed], self.high[fixed])
        if x is not None:
            record(b, x)
        if state == "unbounded":
            found = np.inf if up else -np.inf
        else:
            assert x is not None
            found = max(0.0, float(x[j])) if up else min(0.0, float(x[j]))
        if not len(fixed):
            # Later programs need not ask again.
            if up:
                b.inner_high[j] = b.outer_high[j] = found
            else:
                b.inner_low[j] = b.outer_low[j] = found
        return found

    def extreme_alone(self, j: int, *, up: bool) -> float:
        """Return the furthest value of one unknown, and note nothing."""
        _, x = self.push(j, up)
        return (np.inf if up else -np.inf) if x is None else float(x[j])

    def push(self, j: int, up: bool) -> tuple[str, Floats | None]:
        """Move one unknown as far as possible."""
        self.lp.set_sense(maximise=up)
        self.lp.set_costs([j], 1.0)
        found = self.solve()
        self.lp.set_costs([j], 0.0)
        return found

    def together(self, direction: Floats, cap_low: Floats, cap_high: Floats) -> Floats | None:
        """Move many unknowns at once, each no further than its cap."""
        lp = self.lp
        every = np.arange(self.block.n)
        low = np.maximum(self.low, cap_low * self.scale)
        high = np.minimum(self.high, cap_high * self.scale)
        lp.set_bounds(every, low, high)
        lp.set_sense(maximise=True)
        lp.set_costs(every, direction)
        state, x = self.solve()
        lp.set_costs(every, 0.0)
        lp.set_bounds(every, self.low, self.high)
        if state != "optimal" or x is None:
            return None
        record(self.block, x)
        return x

    def solve(self) -> tuple[str, Floats | None]:
        """Solve; from nothing, and by other ways, when the last basis led nowhere."""
        begun = time.perf_counter()
        if not self.warm:
            # Without a possible point to start from the dual is faster (measured: up to 20 times).
            self.lp.option("simplex_strategy", DUAL)
        found = self.attempt()
        self.lp.option("simplex_strategy", PRIMAL)
        for strategy, tolerance in WAYS:
            if found is not None:
                break
            self.lp.forget()
            self.lp.option("simplex_strategy", strategy)
            self.lp.option("primal_feasibility_tolerance", tolerance)
            found = self.attempt()
            self.lp.option("simplex_strategy", PRIMAL)
            self.lp.option("primal_feasibility_tolerance", TOLERANCE)
        self.spent += time.perf_counter() - begun
        self.warm = found is not None and found.state == "optimal"
        if found is None:
            raise SolverError(
                "the attacker's program was not solved; the table's scales may be too far apart"
            )
        return found.state, None if found.x is None else found.x / self.scale

    def attempt(self) -> Solution | None:
        """Return a solution, or that there is none without limit; None when the solver gave up."""
        try:
            found = self.lp.solve()
        except SolverError:
            return None
        if found.state == "unbounded":
            return found
        return found if found.state == "optimal" and found.x is not None else None


def record(block: Block, x: Floats) -> None:
    """Take note of a possible movement, and of its mirror image as far as the bounds allow."""
    np.maximum(block.inner_high, x, out=block.inner_high)
    np.minimum(block.inner_low, x, out=block.inner_low)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(x > 0, block.lower / -x, np.where(x < 0, block.upper / -x, np.inf))
    share = min(1.0, float(np.nanmin(room, initial=np.inf)))
    if share > 0:
        np.maximum(block.inner_high, -share * x, out=block.inner_high)
        np.minimum(block.inner_low, -share * x, out=block.inner_low)
    if block.kept:
        block.points.extend([x, -share * x] if share > 0 else [x])
        del block.points[: -block.kept]


# -- needs of one block ------------------------------------------------------------------------------


@dataclass(eq=False)
class Wants:
    """What is asked of the unknowns of a block: how far down, up, and both together (0: nothing)."""

    low: Floats
    high: Floats
    width: Floats

    @classmethod
    def nothing(cls, n: int) -> Wants:
        """Return wants of nothing."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(n))


def find_still_open(block: Block, wants: Wants, at: Any = slice(None)) -> tuple[Flags, Flags]:
    """Return which unknowns (or whether one) must still be moved down, and up: not shown and not ruled out."""
    loose, close = 1 + EQUAL, 1 - EQUAL
    low, high = -block.inner_low[at], block.inner_high[at]
    narrow = low + high < wants.width[at] * close
    down = (-block.outer_low[at] > low * loose) & ((low < wants.low[at] * close) | narrow)
    up = (block.outer_high[at] > high * loose) & ((high < wants.high[at] * close) | narrow)
    return down, up


def meet_wants(
    block: Block, wants: Wants, solver: Solver | None, tick: Tick, *, until: float = np.inf
) -> Solver | None:
    """Move the unknowns until each want is met, or shown to be out of reach by shared programs.

    What is left open afterwards needs programs of its own; see :func:`solve_open_unknowns`.
    """
    rng = np.random.default_rng(block.n)
    for turn in range(ROUNDS):
        down, up = find_still_open(block, wants)
        before = int(down.sum() + up.sum())
        if before < 6 or time.monotonic() > until:
            break
        tick(None)
        solver = solver or Solver(block)
        both = down & up
        rise = np.where(both, rng.random(block.n) < 0.5, up)
        fall = (down | up) & ~rise
        target_high = np.minimum(np.maximum(wants.high, wants.width), block.outer_high)
        target_low = np.minimum(np.maximum(wants.low, wants.width), -block.outer_low)
        target = np.where(rise, target_high, target_low)
        target = np.where(np.isfinite(target) & (target > 0), target, 1.0)
        weight = np.where(rise, 1.0, np.where(fall, -1.0, 0.0)) / target
        weight /= np.abs(weight).max(initial=1e-300)
        cap_high = np.where(rise, target_high, np.inf)
        cap_low = np.where(fall, -target_low, -np.inf)
        wild = (rise & ~np.isfinite(target_high)) | (fall & ~np.isfinite(target_low))
        solver.together(np.where(wild, 0.0, weight), cap_low, cap_high)
        down, up = find_still_open(block, wants)
        if turn > 1 and before - int(down.sum() + up.sum()) < GAIN * before:
            break
    return solver


def solve_open_unknowns(
    block: Block,
    wants: Wants,
    solver: Solver | None,
    tick: Tick,
    *,
    only: Ints | None = None,
    until: float = np.inf,
    budget: float = np.inf,
) -> Solver | None:
    """Solve for each unknown that is still open; stop after ``budget`` seconds of solving."""
    for j in range(block.n) if only is None else only.tolist():
        for up in (True, False):
            down_open, up_open = find_still_open(block, wants, j)
            if not (up_open if up else down_open):
                continue
            solver = solver or Solver(block)
            if time.monotonic() > until or solver.spent > budget:
                return solver
            tick(None)
            solver.extreme(j, up=up)
    return solver


# -- all blocks ----------------------------------------------------------------------------------------


def answer_wants(
    system: System,
    wants: Mapping[int, Wants],
    tick: Tick,
    *,
    workers: int | None = 1,
    until: float = np.inf,
) -> dict[int, Solver]:
    """Meet the wants of blocks as far as they can be met; return the programs that were made.

    The movements shown afterwards meet each want, or are the furthest possible; which of several processes (None: as many
    as there are processors) did the work makes no difference. At the moment ``until`` (``time.monotonic``) the search stops;
    bounds are then inner and outer only.
    """
    solvers: dict[int, Solver] = {}
    several = (workers or os.cpu_count() or 1) > 1 and not multiprocessing.current_process().daemon
    left: list[int] = []
    budget = WORTH_STARTING if several else np.inf
    done, total = 0, max(1, sum(system.blocks[i].n for i in wants))
    spent = 0.0

    def keep(i: int, solver: Solver | None) -> None:
        if solver is not None:
            solvers[i] = solver

    for i in sorted(wants, key=lambda i: (system.blocks[i].n, i)):
        b, w = system.blocks[i], wants[i]
        if not b.matrix.shape[0]:
            continue
        if time.monotonic() > until:
            break
        share = done / total
        tick(share)
        inside = functools.partial(report_total_share, tick, share)
        solver = meet_wants(b, w, None, inside, until=until)
        solver = solve_open_unknowns(b, w, solver, inside, until=until, budget=budget - spent)
        keep(i, solver)
        spent += solver.spent if solver is not None else 0.0
        down, up = find_still_open(b, w)
        if down.any() or up.any():
            left.append(i)
        done += b.n
    if left and time.monotonic() < until:
        if several:
            in_processes(system, wants, left, tick, workers, until)
        for i in left:
            b = system.blocks[i]
            keep(i, solve_open_unknowns(b, wants[i], solvers.get(i), tick, until=until))
    return solvers


def report_total_share(tick: Tick, share: float, _inner: float | None) -> None:
    """Report the share that all blocks together have reached."""
    tick(share)


def in_processes(
    system: System,
    wants: Mapping[int, Wants],
    blocks: Sequence[int],
    tick: Tick,
    workers: int | None,
    until: float,
) -> None:
    """Share the open unknowns of large blocks among processes, as far as they can be started."""
    from concurrent.futures.process import BrokenProcessPool

    from tacit.solve.processes import POLL, bare_main

    jobs = list(pieces(system, wants, blocks))
    count = min(workers or os.cpu_count() or 1, len(jobs))
    if count < 2:
        return
    pool = ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))
    try:
        with bare_main():
            running: dict[Future[Any], int] = {
                pool.submit(
                    piece_of_work,
                    without_points(system.blocks[i]),
                    wants[i],
                    only,
                    until - time.monotonic(),
                ): i
                for i, only in jobs
            }
        n = len(running)
        while running:
            finished, _ = wait(running, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in finished:
                merge(system.blocks[running.pop(future)], *future.result())
            tick(1 - len(running) / n)
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def pieces(
    system: System, wants: Mapping[int, Wants], blocks: Sequence[int]
) -> list[tuple[int, Ints]]:
    """Return the open unknowns of the blocks in pieces of equal size."""
    found: list[tuple[int, Ints]] = []
    for i in blocks:
        down, up = find_still_open(system.blocks[i], wants[i])
        columns = np.flatnonzero(down | up)
        found += [(i, columns[k : k + PIECE]) for k in range(0, len(columns), PIECE)]
    return found


def without_points(block: Block) -> Block:
    """Return a block to send away, without what the other process does not need."""
    light = copy.copy(block)
    light.points, light.kept = [], 0
    return light


def piece_of_work(
    block: Block, wants: Wants, only: Ints, seconds: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """Settle some unknowns of a block in a process of the pool; return its bounds."""
    solve_open_unknowns(
        block, wants, None, ignore_share, only=only, until=time.monotonic() + seconds
    )
    return block.inner_low, block.inner_high, block.outer_low, block.outer_high


def merge(
    block: Block, inner_low: Floats, inner_high: Floats, outer_low: Floats, outer_high: Floats
) -> None:
    """Take over what another process found."""
    np.minimum(block.inner_low, inner_low, out=block.inner_low)
    np.maximum(block.inner_high, inner_high, out=block.inner_high)
    np.maximum(block.outer_low, outer_low, out=block.outer_low)
    np.minimum(block.outer_high, outer_high, out=block.outer_high)
