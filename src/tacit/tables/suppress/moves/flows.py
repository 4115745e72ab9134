"""Cheapest movements of hidden cells, found in a neighbourhood of the cell that has to move.

A movement is a vector d of deviations with M d = 0. The programs are kept small: only cells near the
target, by what it costs to get there through relations, take part, and more of them when those do not
suffice. The kernels run as they stand and are compiled with numba where it is installed.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.numerics.kernels import Kernels
from tacit.solve import Highs, LinearModel
from tacit.tables.suppress.moves.grids import Grids
from tacit.tables.suppress.problem import Problem

#: Cells in the first neighbourhood, and by how much it grows when it does not suffice.
FIRST, GROWTH = 100, 4
#: Movements below this share of the amount asked for are noise of the solver.
NOISE = 1e-9
#: What moving a cell that is hidden already costs, as a share of hiding it: short ways are preferred.
HIDDEN_SHARE = 1e-3
#: Rounds of slope scaling after the first solution.
ROUNDS = 1
#: Turns of loops for each cell of a neighbourhood, about.
TURNS = 40.0
#: Nothing has to move by more than this many times the amount (dropped in the last resort).
FAR = 1e4


@dataclass(frozen=True, eq=False)
class Movement:
    """A certificate: cells that can move together without breaking a relation.

    Attributes
    ----------
    cells, by
        Which cells move, and by how much; 0 elsewhere.
    forward, backward
        The largest multiples of it, and of its reverse, that the bounds allow.
    """

    cells: Ints
    by: Floats
    forward: float
    backward: float

    @functools.cached_property
    def moves(self) -> dict[int, float]:
        """Return the movement by cell."""
        return dict(zip(self.cells.tolist(), self.by.tolist(), strict=True))

    def can_serve(self, cell: int, amount: float, known: int) -> bool:
        """Return True when the cell can move by ``amount`` along it while ``known`` stands still."""
        by = self.moves.get(cell, 0.0)
        if by == 0.0 or known in self.moves:
            return False
        times = self.forward if by * amount > 0 else self.backward
        return abs(by) * times >= abs(amount) * (1 - NOISE)


class Flows:
    """Finds cheap movements over the cells that may move.

    Attributes
    ----------
    allowed
        Cells that may move; may be changed between calls.
    price
        What each cell still costs: 0 when hidden in any case; may be changed between calls.
    rest
        What moving a cell costs that is hidden already (a tie-breaker).
    solved, work
        Programs solved, and how many cells they had in all.
    """

    def __init__(self, problem: Problem, allowed: Flags, price: Floats, rest: Floats) -> None:
        self.problem = problem
        self.allowed, self.price, self.rest = allowed.copy(), price, rest
        rows = sparse.csr_array(problem.equations)
        columns = problem.by_cell
        self.rows = (rows.indptr.astype(np.int64), rows.indices.astype(np.int64))
        self.columns = (
            columns.indptr.astype(np.int64),
            columns.indices.astype(np.int64),
            columns.data.astype(np.float64),
        )
        self.room = np.maximum(problem.up, problem.down)
        costs = problem.cost[problem.cost > 0]
        self.hop = 1e-3 * float(np.median(costs)) if len(costs) else 1.0
        self.row_mark = np.zeros(rows.shape[0], dtype=np.int64)
        self.cell_mark = np.zeros(rows.shape[1], dtype=np.int64)
        self.stamp = 0
        self.lp = Highs()
        self.grids = Grids(problem.table) if problem.table.dimensions else None
        self.solved = self.work = 0

    def find(
        self, target: int, amount: float, known: int = -1, *, nearby: bool = False
    ) -> Movement | None:
        """Return a cheap movement of the target by ``amount``.

        None when there is none at all; with ``nearby``, when there is none near the target.
        """
        limit, n = FIRST, int(self.allowed.sum())
        for turn in range(100):
            last = limit * 2 >= n
            run = KERNELS.pick(TURNS * (n if last else limit))
            cells = self.around(
                run["find_nearest_by_price"], target, amount, known, n if last else limit, turn
            )
            part = run["collect_movable_columns"](*self.columns, cells)
            if len(part[0]):
                found = self.solve(part, amount, capped=not last, rounds=0 if nearby else ROUNDS)
                if found is not None:
                    return found
            if last or (nearby and turn == 1):
                break
            limit *= GROWTH
        return None

    def around(
        self,
        find: Callable[..., Ints],
        target: int,
        amount: float,
        known: int,
        limit: int,
        turn: int,
    ) -> Ints:
        """Return the target and cells near it: by the way through relations, and a grid around it."""
        self.stamp += 1
        cells = find(
            *self.rows,
            self.columns[0],
            self.columns[1],
            self.price,
            self.room,
            self.allowed,
            self.cell_mark,
            self.row_mark,
            self.stamp,
            target,
            known,
            abs(amount),
            self.hop,
            limit,
        )
        if self.grids is None or turn > 1:
            return cells
        more = self.grids.around(target, self.price, wide=turn == 1)
        fresh = self.allowed[more] & (self.cell_mark[more] != self.stamp) & (more != known)
        return np.concatenate([cells, more[fresh]])

    def solve(
        self, part: tuple[Any, ...], amount: float, *, capped: bool, rounds: int
    ) -> Movement | None:
        """Solve the program of one neighbourhood, in units of the amount; the target stands first."""
        cells, start, index, value, rows = part
        p, size = self.problem, abs(amount)
        up, down = p.up[cells] / size, p.down[cells] / size
        if capped:
            up, down = np.minimum(up, FAR), np.minimum(down, FAR)
        charge = self.price[cells]
        share = np.clip(np.maximum(up, down), NOISE, 1.0)
        open_ = charge > 0
        slope = np.where(open_, charge, HIDDEN_SHARE * self.rest[cells]) / share
        sign = 1.0 if amount > 0 else -1.0
        # Cells that are free to move have one column, all others one for each direction.
        two = slope > 0
        two[0] = False
        low = np.where(two, 0.0, -down)
        high = up.copy()
        low[0] = high[0] = sign
        slope[0] = 0.0
        back = np.flatnonzero(two)
        zero = np.zeros(rows)
        model = LinearModel(
            np.concatenate([np.where(two, slope, 0.0), slope[back]]),
            *mirror_columns(start, index, value, back),
            zero,
            zero,
            np.concatenate([low, np.zeros(len(back))]),
            np.concatenate([high, down[back]]),
        )
        self.lp.load(model)
        best, least = None, np.inf
        for turn in range(rounds + 1):
            found = self.lp.solve()
            self.solved += 1
            self.work += len(cells)
            if found.x is None:
                break
            x = found.x[: len(cells)].copy()
            x[back] -= found.x[len(cells) :]
            moved = np.abs(x) > NOISE
            cost = float(charge[moved].sum())
            if cost < least * (1 - 1e-12):
                best, least = np.where(moved, x, 0.0), cost
            new = moved & open_
            if turn == rounds or int(new.sum()) <= 1:
                break
            # Slope scaling: a cell that moves by x would pay its whole charge at charge / x.
            slope = np.where(new, charge / np.maximum(np.abs(x), 1e-3), slope)
            self.lp.set_costs(
                np.arange(len(cells) + len(back)),
                np.concatenate([np.where(two, slope, 0.0), slope[back]]),
            )
        return None if best is None else self.movement(cells, best * size)

    def gap(self, movement: Movement) -> float:
        """Return by how much the relation that fits worst is out."""
        start, index, value = self.columns
        first = start[movement.cells]
        n = start[movement.cells + 1] - first
        at = np.repeat(first - np.cumsum(n) + n, n) + np.arange(int(n.sum()))
        rows, place = np.unique(index[at], return_inverse=True)
        out = np.bincount(place, value[at] * np.repeat(movement.by, n), len(rows))
        return float(np.abs(out).max(initial=0.0))

    def movement(self, cells: Ints, by: Floats) -> Movement:
        """Return a movement with the multiples that its bounds allow."""
        keep = by != 0
        cells, by = cells[keep], by[keep]
        p = self.problem
        with np.errstate(divide="ignore", over="ignore"):
            ahead = np.where(by > 0, p.up[cells], p.down[cells]) / np.abs(by)
            behind = np.where(by > 0, p.down[cells], p.up[cells]) / np.abs(by)
        return Movement(cells, by, float(ahead.min()), float(behind.min()))


def mirror_columns(
    start: Ints, index: Ints, value: Floats, back: Ints
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Floats]:
    """Return the columns of a matrix, and those of ``back`` once more with the other sign."""
    length = np.diff(start)[back]
    first = np.repeat(start[back], length)
    inside = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
    at = first + inside
    return (
        np.concatenate([start, start[-1] + np.cumsum(length)]).astype(np.int32),
        np.concatenate([index, index[at]]).astype(np.int32),
        np.concatenate([value, -value[at]]),
    )


# -- kernels: numbers and arrays only -------------------------------------------------------------


def find_nearest_by_price(
    row_start: Ints,
    row_cells: Ints,
    cell_start: Ints,
    cell_rows: Ints,
    price: Floats,
    room: Floats,
    allowed: Flags,
    cell_mark: Ints,
    row_mark: Ints,
    stamp: int,
    target: int,
    known: int,
    size: float,
    hop: float,
    limit: int,
) -> Ints:
    """Return the cells nearest to the target, itself first, by the cost of the way through relations."""
    found = np.empty(limit, dtype=np.int64)
    n = 0
    heap = [(0.0, target)]
    while len(heap) > 0 and n < limit:
        far, cell = heapq.heappop(heap)
        if cell_mark[cell] == stamp:
            continue
        cell_mark[cell] = stamp
        found[n] = cell
        n += 1
        for k in range(cell_start[cell], cell_start[cell + 1]):
            row = cell_rows[k]
            if row_mark[row] == stamp:
                continue
            row_mark[row] = stamp
            for j in range(row_start[row], row_start[row + 1]):
                other = row_cells[j]
                if cell_mark[other] == stamp or not allowed[other] or other == known:
                    continue
                if room[other] <= 0.0:
                    continue
                toll = price[other] * size / min(size, room[other]) + hop
                heapq.heappush(heap, (far + toll, other))
    return found[:n]


def collect_movable_columns(
    cell_start: Ints,
    cell_rows: Ints,
    cell_values: Floats,
    cells: Ints,
) -> tuple[Ints, Ints, Ints, Floats, int]:
    """Return the columns of some cells without those that cannot move, being alone in a relation.

    The result is empty when the first cell, the target, is one of them.
    """
    n = len(cells)
    total = 0
    for i in range(n):
        total += cell_start[cells[i] + 1] - cell_start[cells[i]]
    order = np.empty(total, dtype=np.int64)
    at = 0
    for i in range(n):
        for k in range(cell_start[cells[i]], cell_start[cells[i] + 1]):
            order[at] = cell_rows[k]
            at += 1
    distinct = np.unique(order)
    local = np.searchsorted(distinct, order)
    m = len(distinct)
    count = np.zeros(m, dtype=np.int64)
    for k in range(total):
        count[local[k]] += 1
    alive = np.ones(n, dtype=np.bool_)
    changed = True
    while changed:
        changed = False
        at = 0
        for i in range(n):
            degree = cell_start[cells[i] + 1] - cell_start[cells[i]]
            if alive[i]:
                alone = False
                for k in range(at, at + degree):
                    if count[local[k]] == 1:
                        alone = True
                if alone:
                    alive[i] = False
                    changed = True
                    for k in range(at, at + degree):
                        count[local[k]] -= 1
            at += degree
    if not alive[0]:
        return cells[:0], order[:0], order[:0], cell_values[:0], 0
    number = np.full(m, -1, dtype=np.int64)
    rows = 0
    for r in range(m):
        if count[r] > 0:
            number[r] = rows
            rows += 1
    kept = np.empty(n, dtype=np.int64)
    start = np.zeros(n + 1, dtype=np.int64)
    index = np.empty(total, dtype=np.int64)
    value = np.empty(total, dtype=np.float64)
    at = 0
    left = 0
    entries = 0
    for i in range(n):
        first = cell_start[cells[i]]
        degree = cell_start[cells[i] + 1] - first
        if alive[i]:
            kept[left] = cells[i]
            for k in range(degree):
                index[entries] = number[local[at + k]]
                value[entries] = cell_values[first + k]
                entries += 1
            left += 1
            start[left] = entries
        at += degree
    return kept[:left], start[: left + 1], index[:entries], value[:entries], rows


KERNELS = Kernels(globals(), find_nearest_by_price, collect_movable_columns)
