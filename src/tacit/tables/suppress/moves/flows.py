"""Cheapest movements of hidden cells, found in a neighbourhood of the cell that has to move.

A movement is a vector d of deviations with M d = 0. The programs are kept small: only cells near the
target, by what it costs to get there through relations, take part, and more of them when those do not
suffice. The kernels run as they stand and are compiled with numba where it is installed.
"""

from __future__ import annotations

import functools
import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.dimension import Dimension
from tacit.data.table import Table
from tacit.numerics.kernels import Kernels
from tacit.solve import Highs, LinearModel
from tacit.tables.suppress.problem import Problem, find_entries

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
#: About how many cells a grid has, and the parts of a sum that are taken along with it.
GRID, PARTS = 300, 2
#: Nothing has to move by more than this many times the amount (dropped in the last resort).
FAR = 1e4


@dataclass(frozen=True, eq=False)
class Movement:
    """A certificate: cells that can move together without breaking a relation."""

    cells: Ints
    by: Floats  # how far each of them moves; all others rest
    forward: float  # the largest multiple of it that the bounds allow
    backward: float  # the largest multiple of its reverse

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
    """Finds cheap movements over the cells that may move; ``allowed`` and ``price`` may be changed between calls."""

    def __init__(self, problem: Problem, allowed: Flags, price: Floats, rest: Floats) -> None:
        self.problem = problem
        self.allowed = allowed.copy()
        #: What each cell still costs, and what moving one costs that is hidden already (a tie-breaker).
        self.price, self.rest = price, rest
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
        #: Programs solved, and how many cells they had in all.
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
            cells = self.around(target, amount, known, n if last else limit, turn)
            part = collect_movable_columns(*self.columns, cells)
            if len(part[0]):
                found = self.solve(part, amount, capped=not last, rounds=0 if nearby else ROUNDS)
                if found is not None:
                    return found
            if last or (nearby and turn == 1):
                break
            limit *= GROWTH
        return None

    def around(self, target: int, amount: float, known: int, limit: int, turn: int) -> Ints:
        """Return the target and cells near it: by the way through relations, and a grid around it."""
        self.stamp += 1
        cells: Ints = KERNELS.pick(TURNS * limit)["find_nearest_by_price"](
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
        at, n = find_entries(start, movement.cells)
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


def collect_movable_columns(
    start: Ints, index: Ints, value: Floats, cells: Ints
) -> tuple[Ints, Ints, Ints, Floats, int]:
    """Return the columns of some cells without those that cannot move, being alone in a relation.

    The result is empty when the first cell, the target, is one of them.
    """
    at, length = find_entries(start, cells)
    own = np.repeat(np.arange(len(cells)), length)
    _, row = np.unique(index[at], return_inverse=True)
    alive = np.ones(len(cells), dtype=bool)
    inside = np.ones(len(at), dtype=bool)
    while True:
        count = np.bincount(row[inside])
        alone = own[inside][count[row[inside]] == 1]
        if not len(alone):
            break
        alive[alone] = False
        inside = alive[own]
    if not alive[0]:
        return cells[:0], index[:0], index[:0], value[:0], 0
    rows, row = np.unique(row[inside], return_inverse=True)
    ends = np.concatenate([[0], np.cumsum(length[alive])])
    return cells[alive], ends, row, value[at[inside]], len(rows)


def mirror_columns(
    start: Ints, index: Ints, value: Floats, back: Ints
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Floats]:
    """Return the columns of a matrix, and those of ``back`` once more with the other sign."""
    at, length = find_entries(start, back)
    return (
        np.concatenate([start, start[-1] + np.cumsum(length)]).astype(np.int32),
        np.concatenate([index, index[at]]).astype(np.int32),
        np.concatenate([value, -value[at]]),
    )


# -- grids: small sets of cells around one cell, closed enough for movements to exist within them ---
#
# A movement inside one unstructured subtable lives on a product of codes; cells that are sums need some
# of their parts beside them. Grids are such products: relatives of the cell's code in each dimension.


class Grids:
    """Finds the grid around a cell of a table with dimensions."""

    def __init__(self, table: Table) -> None:
        self.shape = table.shape
        self.places = table.places
        self.kin = [Kin(d) for d in table.dimensions]
        self.width = max(4, int(GRID ** (1 / max(1, len(self.shape)))))
        self.strides = np.array(
            [int(np.prod(self.shape[a + 1 :])) for a in range(len(self.shape))], dtype=np.int64
        )
        self.keys: Ints | None = None
        self.order: Ints | None = None
        if not table.is_product:
            key = table.places.astype(np.int64) @ self.strides
            self.order = np.argsort(key, kind="stable").astype(np.int64)
            self.keys = key[self.order]

    def around(self, cell: int, price: Floats, *, wide: bool) -> Ints:
        """Return the cells of the grid, by preference those that are cheap to hide."""
        place = self.places[cell].astype(np.int64)
        here = int(place @ self.strides)
        chosen = []
        for axis, kin in enumerate(self.kin):
            code = int(place[axis])
            base = here - code * int(self.strides[axis])
            chosen.append(self._codes(kin, code, base, int(self.strides[axis]), price, wide=wide))
        keys = np.zeros(1, dtype=np.int64)
        for axis, codes in enumerate(chosen):
            keys = (keys[:, None] + codes * self.strides[axis]).ravel()
        cells, there = self._cells(keys)
        return cells[there]

    def _codes(
        self, kin: Kin, code: int, base: int, stride: int, price: Floats, *, wide: bool
    ) -> Ints:
        """Return the code, the cheapest of its relatives, and parts of those that are sums."""
        width = self.width * 3 // 2 if wide else self.width
        near = kin.beside(code, wide)
        if len(near) > width:
            near = near[self._cheapest(base + near * stride, price, width)]
        picked = {code, *near.tolist()}
        todo = [c for c in picked if len(kin.parts[c])]
        while todo:
            parts = kin.parts[todo.pop()]
            if len(parts) > PARTS:
                parts = parts[self._cheapest(base + parts * stride, price, PARTS)]
            for part in parts.tolist():
                if part not in picked:
                    picked.add(part)
                    if len(kin.parts[part]):
                        todo.append(part)
        return np.array(sorted(picked), dtype=np.int64)

    def _cheapest(self, keys: Ints, price: Floats, many: int) -> Ints:
        """Return the places of the cells that are cheapest to hide."""
        cells, there = self._cells(keys)
        return np.argsort(np.where(there, price[cells], np.inf), kind="stable")[:many]

    def _cells(self, keys: Ints) -> tuple[Ints, Flags]:
        """Return the cells of some keys, and which of them there are."""
        if self.keys is None or self.order is None:
            return keys, np.ones(len(keys), dtype=bool)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.order[at], self.keys[at] == keys


class Kin:
    """The relatives of the codes of one dimension."""

    def __init__(self, dimension: Dimension) -> None:
        n = len(dimension)
        self.above: list[list[int]] = [[] for _ in range(n)]
        parts: list[list[int]] = [[] for _ in range(n)]
        self.sums = [np.array(s.children, dtype=np.int64) for s in dimension.sums]
        self.parent = [s.parent for s in dimension.sums]
        for i, s in enumerate(dimension.sums):
            parts[s.parent] += s.children
            for child in s.children:
                self.above[child].append(i)
        self.parts = [np.array(sorted(set(p)), dtype=np.int64) for p in parts]
        self.beside = functools.cache(self._find_sibling_codes)

    def _find_sibling_codes(self, code: int, wide: bool) -> Ints:
        """Return the codes that share a sum with a code; with ``wide``, their sums and those beside."""
        near = {int(c) for i in self.above[code] for c in self.sums[i]}
        if wide:
            for i in self.above[code]:
                parent = self.parent[i]
                near.add(parent)
                near.update(int(c) for j in self.above[parent] for c in self.sums[j])
        return np.array(sorted(near - {code}), dtype=np.int64)


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


KERNELS = Kernels(globals(), find_nearest_by_price)
