"""Near-feasible rounding by annealing: steps and swaps of ground cells that mend the totals.

The energy is the sum over totals of the cube of the bases by which they leave their adjacent multiples,
plus a small share of the secondary objective. It is a heuristic: it proves nothing but y = 0.

References
----------
Kirkpatrick, Gelatt, Vecchi (1983), Optimization by simulated annealing, Science 220, 671-680.
Salazar-Gonzalez (2006), A new approach to round tabular data, PSD 2006, LNCS 4302, 25-34.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.elementary import power
from tacit.numerics.kernels import Kernels
from tacit.tables.rounding.model import Layout, Model, layout_of
from tacit.time_limits import is_past

Tick = Callable[[float | None], None]

#: Temperatures between which the search cools down, and the share of moves that are swaps.
HOT, COLD, SWAPS = 3.0, 0.05, 0.7
#: The share of the secondary objective in the energy while y is looked for.
SHARE = 0.1
#: Elementary operations of the longest run, and runs without improvement before giving up.
EFFORT, PATIENCE = 10_000_000_000, 3
#: How much an extra relation weighs against a total.
HARD = 27
#: Elementary operations between two looks at the clock.
CHUNK = 1_000_000
#: Multiplier and modulus of the Lehmer generator: the same numbers with and without compiling.
LEHMER, PRIME = 48271, 2147483647


@dataclass(eq=False)
class Found:
    """The best steps of a search, with y and the energy at which they were found."""

    steps: Ints
    y: int
    sound: bool
    moves: int


class Moves(NamedTuple):
    """What the kernel works on: the movable cells with their costs and totals, and where each total stands."""

    x: Ints
    low: Ints
    high: Ints
    cost: Floats
    unit: Floats
    rows: Any
    signs: Any
    members: Any
    starts: Ints
    near: Any
    at: Ints
    table: Ints


class Search:
    """The state of one search over the movable cells of a model."""

    def __init__(self, model: Model, rng: np.random.Generator) -> None:
        self.model = model
        self.layout: Layout = layout_of(model)
        cells = self.layout.cells
        self.low = model.low[model.free][cells]
        self.high = model.high[model.free][cells]
        largest = float(model.unit.max(initial=0.0)) or 1.0
        self.cost = model.cost[model.free][cells] / largest
        self.unit = model.unit[model.free][cells] / largest
        self.x = np.clip(np.where(self.cost < 0, 1, 0), self.low, self.high).astype(np.int64)
        self.seed = int(rng.integers(1, PRIME))
        self.moves = 0
        self.most = EFFORT // self.layout.rows.shape[1]
        soft = len(model.margin)
        # Cells that cannot move stand at their only step.
        fixed = np.clip(0, model.low[model.free], model.high[model.free])
        fixed[cells] = 0
        self.fixed = fixed
        self.rest_low = np.r_[model.low[model.margin] - model.sums @ fixed, 0.0]
        self.rest_high = np.r_[model.high[model.margin] - model.sums @ fixed, 0.0]
        if len(model.right):
            hard = model.right - model.extra @ fixed
            self.rest_low = np.r_[self.rest_low[:-1], hard, 0.0]
            self.rest_high = np.r_[self.rest_high[:-1], hard, 0.0]
        width = (self.rest_high - self.rest_low).astype(np.int64)
        self.classes, kind = np.unique(
            np.stack([width, np.arange(len(width)) >= soft], axis=1), axis=0, return_inverse=True
        )
        self.reach = int(
            np.diff(self.layout.starts).max(initial=1) * (self.high - self.low).max(initial=1)
        )
        self.reach = 2 * self.reach + int(np.abs(self.rest_low).max(initial=0)) + 4
        self.span = 2 * self.reach + int(width.max(initial=0)) + 1
        self.offset = kind.ravel() * self.span + self.reach
        self.table = self.penalties(0)

    def penalties(self, y: int) -> Ints:
        """Return the penalty of a total by its class and steps above ``low``; up to y bases are free."""
        steps = np.arange(self.span) - self.reach
        parts = []
        for width, hard in self.classes:
            slack = 0 if hard else y
            out = np.maximum(np.maximum(-slack - steps, steps - width - slack), 0).astype(
                np.float64
            )
            parts.append(power(np.minimum(out, 1e5), 3) * (HARD if hard else 1))
        parts.append(np.zeros(self.span))
        return np.concatenate(parts).astype(np.int64)

    def heights(self) -> Ints:
        """Return where each total stands in the table of penalties (the last entry means no total)."""
        layout = self.layout
        sums = np.zeros(len(self.rest_low), dtype=np.int64)
        for slot in range(layout.rows.shape[1]):
            np.add.at(sums, layout.rows[:, slot], layout.signs[:, slot].astype(np.int64) * self.x)
        at = sums - self.rest_low.astype(np.int64) + self.offset
        at[-1] = len(self.classes) * self.span + self.reach
        return np.asarray(at, dtype=np.int64)

    def steps(self) -> Ints:
        """Return the steps of all free cells."""
        x = self.fixed.copy()
        x[self.layout.cells] = self.x
        return x

    def run(
        self,
        budget: int,
        hot: float,
        cold: float,
        share: float,
        stop: Callable[[float], bool],
        *,
        quit_at_zero: bool,
    ) -> int:
        """Cool down over ``budget`` moves and return the energy of the totals left."""
        width = 4 + 2 * self.layout.rows.shape[1]
        step = KERNELS.pick(budget * width)["anneal"]
        at = self.heights()
        cost, unit = self.cost * share, self.unit * share
        moves = Moves(self.x, self.low, self.high, cost, unit, *self.layout[1:], at, self.table)
        energy = int(self.table[at[: len(at) - 1]].sum())
        chunk = max(2_000, CHUNK // width)
        done = 0
        while done < budget and not (quit_at_zero and energy == 0):
            n = min(chunk, budget - done)
            t0 = hot * (cold / hot) ** (done / budget)
            t1 = hot * (cold / hot) ** ((done + n) / budget)
            energy, self.seed = step(moves, energy, n, t0, t1, self.seed, quit_at_zero)
            done += n
            if stop(done / budget):
                break
        self.moves += done
        return int(energy)


def search(
    model: Model,
    rng: np.random.Generator,
    deadline: float,
    tick: Tick,
    *,
    polish: bool = True,
    effort: int = EFFORT,
) -> Found:
    """Return the best rounding that annealing finds before the deadline (a time.monotonic()).

    Runs of growing length are made until y is 0; then the secondary objective is improved with y held.
    """
    s = Search(model, rng)
    s.most = effort // s.layout.rows.shape[1]
    best = evaluate_steps(model, s)
    if not len(s.x):
        return best

    def stop(share: float) -> bool:
        tick(share)
        return is_past(deadline)

    best = anneal_in_runs(model, s, best, stop, deadline)
    if polish and best.sound and s.unit.any():
        best = polish_objective(model, s, best, stop, deadline)
    best.moves = s.moves
    return best


def anneal_in_runs(
    model: Model, s: Search, best: Found, stop: Callable[[float], bool], deadline: float
) -> Found:
    """Anneal in runs of growing length until y is 0, or no longer run helps or fits."""
    budget, idle = min(60 * len(s.x) + 20_000, s.most), 0
    while (best.y > 0 or not best.sound) and not is_past(deadline):
        # Aim at adjacent multiples first; then at one base less than what has been reached.
        aim = max(0, best.y - 1) if idle and best.sound else 0
        s.table = s.penalties(aim)
        s.run(budget, HOT, COLD, SHARE, stop, quit_at_zero=True)
        found = evaluate_steps(model, s)
        better = (not found.sound, found.y) < (not best.sound, best.y)
        best, idle = (found, 0) if better else (best, idle + 1)
        budget = min(2 * budget, s.most)
        if idle > PATIENCE and budget >= min(s.most, 5000 * len(s.x) + 200_000):
            break
    return best


def polish_objective(
    model: Model, s: Search, best: Found, stop: Callable[[float], bool], deadline: float
) -> Found:
    """Improve the secondary objective with y held: the objective weighs more and more in the energy."""
    s.table = s.penalties(best.y)
    value = model.secondary(model.spread(best.steps))
    budget = min(1000 * len(s.x) + 20_000, s.most // 2)
    for share in (1.0, 1.5, 2.0):
        if is_past(deadline):
            break
        s.x = best.steps[s.layout.cells].copy()
        energy = s.run(budget, 1.0, COLD, share, stop, quit_at_zero=False)
        if energy:
            s.run(budget // 4, 0.3, COLD, share / 4, stop, quit_at_zero=True)
        found = evaluate_steps(model, s)
        cost = model.secondary(model.spread(found.steps))
        if found.sound and found.y <= best.y and cost < value:
            best, value = found, cost
    return best


def evaluate_steps(model: Model, s: Search) -> Found:
    """Return the present steps with their y, recomputed from the model."""
    steps = s.steps()
    spread = model.spread(steps)
    y = model.furthest(spread)
    sound = not len(model.right) or bool((np.rint(model.extra @ steps) == model.right).all())
    return Found(steps, y, sound, s.moves)


# -- kernels: numbers and arrays only -----------------------------------------------------------------


def compute_step_cost(cost: Any, unit: Any, x: Any, up: Any) -> Any:
    """Return what one step up or down costs a cell at x steps above its floor."""
    from_step = x if up > 0 else x - 1
    if from_step == 0:
        return cost * up
    return unit * up if from_step > 0 else -unit * up


def anneal(
    given: Moves, energy: Any, moves: Any, hot: Any, cold: Any, seed: Any, quit_at_zero: Any
) -> Any:
    """Make moves at temperatures from hot to cold; ``x`` and ``at`` are changed in place."""
    x, low, high, cost, unit, rows, signs, members, starts, near, at, table = given
    n, slots = rows.shape
    q = near.shape[1]
    factor = math.pow(cold / hot, 1.0 / moves)
    temperature = hot
    for _ in range(moves):
        temperature *= factor
        seed = seed * LEHMER % PRIME
        i = seed * n // PRIME
        seed = seed * LEHMER % PRIME
        up = 1 if 2 * seed < PRIME else -1
        if x[i] + up > high[i] or x[i] + up < low[i]:
            up = -up
        k = -1
        seed = seed * LEHMER % PRIME
        if seed < SWAPS * PRIME:
            seed = seed * LEHMER % PRIME
            row = near[i, seed * q // PRIME]
            if row + 1 < len(starts):
                first = starts[row]
                size = starts[row + 1] - first
                for _try in range(4):
                    seed = seed * LEHMER % PRIME
                    other = members[first + seed * size // PRIME]
                    if other != i and low[other] <= x[other] - up <= high[other]:
                        k = other
                        break
        delta = np.int64(0)
        if k < 0:
            change = compute_step_cost(cost[i], unit[i], x[i], up)
            for slot in range(slots):
                t = at[rows[i, slot]]
                delta += table[t + up * signs[i, slot]] - table[t]
        else:
            change = compute_step_cost(cost[i], unit[i], x[i], up) + compute_step_cost(
                cost[k], unit[k], x[k], -up
            )
            for slot in range(slots):
                a = rows[i, slot]
                b = rows[k, slot]
                if a != b:
                    t = at[a]
                    delta += table[t + up * signs[i, slot]] - table[t]
                    t = at[b]
                    delta += table[t - up * signs[k, slot]] - table[t]
                elif signs[i, slot] != signs[k, slot]:
                    t = at[a]
                    delta += table[t + up * (signs[i, slot] - signs[k, slot])] - table[t]
        total = delta + change
        if total > 0:
            seed = seed * LEHMER % PRIME
            if seed >= PRIME * math.exp(-total / temperature):
                continue
        energy += delta
        x[i] += up
        for slot in range(slots):
            at[rows[i, slot]] += up * signs[i, slot]
        if k >= 0:
            x[k] -= up
            for slot in range(slots):
                at[rows[k, slot]] -= up * signs[k, slot]
        if energy == 0 and quit_at_zero:
            break
    return energy, seed


KERNELS = Kernels(globals(), compute_step_cost, anneal)
