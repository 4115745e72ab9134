"""An attacker of counts who uses that they are whole numbers.

In a two-way table with one hierarchy at most the ends of a linear program are whole numbers anyway. In others a
linear program may show a movement that no table of whole numbers makes; here only movements of whole numbers count.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.outsiders import MOST_WHOLE
from tacit.data.cells.relations import components
from tacit.solve.highs import Highs
from tacit.solve.model import LinearModel
from tacit.tables.attack.attacker import Shortfall, is_need_met
from tacit.tables.attack.knowledge import Intervals
from tacit.tables.attack.reach import Tick
from tacit.tables.suppress.problem import Problem, touched_rows
from tacit.tables.suppress.propose_network import not_a_network

#: Programs that move many cells of a component at once, before one cell at a time.
ROUNDS = 4
#: Cells move by no more than this many times what is wanted.
FAR = 1e4
#: Branch and bound ends after this many nodes; what it has not found by then counts as not possible.
NODES = 20_000
#: Room for the last digits of a whole number.
SLACK = 1e-6


def narrow_to_whole_numbers(
    problem: Problem, hidden: Flags, found: Intervals, tick: Tick
) -> Intervals:
    """Return intervals of counts with whole ends, as narrow as integer programs make those of exposed cells."""
    ends = [np.floor(a + SLACK) for a in found.ends]
    exposed = [s.cell for s in find_whole_shortfalls(problem, hidden, tick) if s.known < 0]
    if exposed:
        attacker = WholeAttacker(problem, hidden)
        place = {int(c): i for i, c in enumerate(found.cells)}
        for cell in exposed:
            if cell in place:
                down, up = attacker.extremes(cell)
                for array, end in zip(ends, (down, up, down, up), strict=True):
                    array[place[cell]] = min(array[place[cell]], end)
    return Intervals(found.cells, *ends, unit=found.unit)


def find_whole_shortfalls(problem: Problem, hidden: Flags, tick: Tick) -> list[Shortfall]:
    """Return the needs of counts that no movement in whole numbers meets.

    Nothing for other tables, where linear programs find whole numbers by themselves, and beyond
    ``MOST_WHOLE`` hidden cells.
    """
    if not problem.whole or int(hidden.sum()) > MOST_WHOLE:
        return []
    if not not_a_network(problem.table):
        return []
    attacker = WholeAttacker(problem, hidden)
    attacker.move_together(tick)
    found = []
    for cell in np.flatnonzero(problem.primary).tolist():
        down, up = attacker.reach(cell)
        if not is_need_met(problem, cell, down, up):
            found.append(Shortfall(cell, down, up))
        tick(None)
    for known, target in problem.pairs.tolist():
        if not attacker.moves_without(target, known):
            found.append(Shortfall(target, 0.0, 0.0, known))
        tick(None)
    return found


class WholeAttacker:
    """How far hidden counts can move in whole numbers, up to what the needs ask for."""

    def __init__(self, problem: Problem, hidden: Flags) -> None:
        self.problem = problem
        self.down, self.up = np.floor(problem.down + SLACK), np.floor(problem.up + SLACK)
        free = hidden & ((self.down > 0) | (self.up > 0))
        self.cells = np.flatnonzero(free)
        self.place = np.full(problem.n, -1, dtype=np.int64)
        self.place[self.cells] = np.arange(len(self.cells))
        matrix = sparse.csc_array(problem.by_cell[:, self.cells])
        self.part = components(sparse.csr_array(matrix))[1]
        self.matrix = sparse.csr_array(matrix)
        self.far_down, self.far_up = np.zeros(len(self.cells)), np.zeros(len(self.cells))
        self.programs: dict[int, tuple[Highs, Ints]] = {}

    def move_together(self, tick: Tick) -> None:
        """Show what a few programs show that push all unsafe cells, each to a side drawn at random."""
        p = self.problem
        width = np.ceil(p.need_width / 2)
        down, up = np.maximum(p.need_down, width), np.maximum(p.need_up, width)
        unsafe = self.place[np.flatnonzero(p.primary)]
        unsafe = unsafe[unsafe >= 0]
        rng = np.random.default_rng(len(unsafe))
        for _ in range(ROUNDS):
            rises = rng.random(len(unsafe)) < 0.5
            for part in np.unique(self.part[unsafe]).tolist():
                tick(None)
                own = self.part[unsafe] == part
                at, rise = unsafe[own], rises[own]
                amount = np.where(rise, up[self.cells[at]], down[self.cells[at]])
                self.push(part, at, np.where(rise, 1.0, -1.0) * (amount > 0), amount)

    def reach(self, cell: int) -> tuple[float, float]:
        """Return how far a cell can move down and up, at least as far as its needs where it can."""
        p, at = self.problem, int(self.place[cell])
        if at < 0:
            return 0.0, 0.0
        width = float(p.need_width[cell])
        for sign, asked in ((1.0, float(p.need_up[cell])), (-1.0, float(p.need_down[cell]))):
            if not is_need_met(p, cell, float(self.far_down[at]), float(self.far_up[at])):
                self.push_one(at, sign, max(asked, width))
        return float(self.far_down[at]), float(self.far_up[at])

    def extremes(self, cell: int) -> tuple[float, float]:
        """Return how far a cell can move down and up, whatever it needs."""
        at = int(self.place[cell])
        if at < 0:
            return 0.0, 0.0
        most = float(np.abs(self.problem.table.value).max(initial=1.0))
        for sign, room in ((1.0, self.up[cell]), (-1.0, self.down[cell])):
            self.push_one(at, sign, min(float(room), most))
        return float(self.far_down[at]), float(self.far_up[at])

    def moves_without(self, target: int, known: int) -> bool:
        """Return True when the target can move by one while a known cell stands still."""
        at, still = int(self.place[target]), int(self.place[known])
        if at < 0:
            return False
        if still < 0 or self.part[still] != self.part[at]:
            return max(self.reach(target)) > 0 or any(
                self.push_one(at, sign, 1.0) for sign in (1.0, -1.0)
            )
        return any(self.push_one(at, sign, 1.0, still) for sign in (1.0, -1.0))

    def push_one(self, at: int, sign: float, amount: float, still: int | None = None) -> bool:
        """Return True when one cell can move, and take note of how far.

        Where it cannot move by just the amount, it may be able to move by more.
        """
        if amount <= 0:
            return False
        room = (self.up if sign > 0 else self.down)[self.cells[at]]
        for beyond in (False, True) if room > amount else (False,):
            d = self.push(
                int(self.part[at]),
                np.array([at]),
                np.array([sign]),
                np.array([amount]),
                still,
                beyond=beyond,
            )
            if d is not None and sign * float(d[at]) >= amount:
                return True
        return False

    def push(
        self,
        part: int,
        at: Ints,
        sign: Floats,
        amount: Floats,
        still: int | None = None,
        *,
        beyond: bool = False,
    ) -> Floats | None:
        """Return a movement that takes some cells as far as possible up to given amounts, or by so much at least."""
        program, own = self.program(part)
        far = FAR * max(1.0, float(amount.max(initial=0.0)))
        low, high = np.maximum(-self.down[self.cells], -far), np.minimum(self.up[self.cells], far)
        if beyond:
            low[at] = np.where(sign > 0, amount, low[at])
            high[at] = np.where(sign < 0, -amount, high[at])
        else:
            low[at], high[at] = np.maximum(low[at], -amount), np.minimum(high[at], amount)
        if still is not None:
            low[still] = high[still] = 0.0
        cost = np.zeros(len(self.cells))
        cost[at] = (1 if beyond else -1) * sign / np.maximum(amount, 1.0)
        every = np.arange(len(own))
        program.set_bounds(every, low[own], high[own])
        program.set_costs(every, cost[own])
        found = program.solve()
        if found.x is None:
            return None
        d = np.zeros(len(self.cells))
        d[own] = np.rint(found.x)
        if (self.matrix @ d).any():
            return None
        self.far_up, self.far_down = np.maximum(self.far_up, d), np.maximum(self.far_down, -d)
        return d

    def program(self, part: int) -> tuple[Highs, Ints]:
        """Return the program of a component, bounds and costs to be given, and its cells."""
        if part not in self.programs:
            own = np.flatnonzero(self.part == part)
            matrix = touched_rows(self.matrix, own)
            whole = np.ones(len(own), dtype=bool)
            model = LinearModel.of(np.zeros(len(own)), matrix, 0.0, 0.0, 0.0, 0.0, integer=whole)
            self.programs[part] = Highs(model, options={"mip_max_nodes": NODES}), own
        return self.programs[part]
