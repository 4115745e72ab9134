"""The linear-programming heuristic: hide what cheapest flows need until every need is met."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.context import Context
from tacit.data.status import Flags
from tacit.errors import Infeasible
from tacit.solve import Lp
from tacit.tables._attacker import shortfalls
from tacit.tables._problem import Problem

Floats = npt.NDArray[np.float64]


class Carrier:
    """Finds the cheapest movement that meets one need, over all cells that may be hidden.

    minimise sum of c (d+ + d-) subject to M (d+ - d-) = 0, d at the target as needed; cells that are
    hidden already cost nothing (Fischetti and Salazar's heuristic).
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.cells = np.flatnonzero(problem.start | problem.suppressible)
        self.place = np.full(problem.n, -1, dtype=np.int64)
        self.place[self.cells] = np.arange(len(self.cells))
        m = problem.by_cell[:, self.cells].tocsr()
        m = m[np.diff(m.indptr) > 0]
        self.k = len(self.cells)
        both = sparse.csc_array(sparse.hstack([m, -m], format="csc"))
        self.up, self.down = problem.up[self.cells], problem.down[self.cells]
        self.lp = Lp(0.0, both, 0.0, 0.0, 0.0, np.concatenate([self.up, self.down]))

    def carry(self, hidden: Flags, target: int, amount: float, known: int = -1) -> Flags | None:
        """Return the cells that move when the target moves by ``amount``; None when it cannot."""
        p, k = self.problem, self.k
        size = abs(amount)
        share = np.maximum(np.minimum(np.maximum(self.up, self.down), size), 1e-9)
        costs = np.where(hidden[self.cells], 0.0, p.cost[self.cells] / share)
        at = int(self.place[target])
        self.lp.set_costs(np.arange(2 * k), np.concatenate([costs, costs]))
        held = [at] if known < 0 or self.place[known] < 0 else [at, int(self.place[known])]
        for column in held:
            self.lp.set_bounds([column, column + k], 0.0, 0.0)
        self.lp.set_bounds([at if amount > 0 else at + k], size, size)
        found = self.lp.solve()
        for column in held:
            self.lp.set_bounds([column, column + k], 0.0, [self.up[column], self.down[column]])
        if found.x is None:
            return None
        moved = np.zeros(p.n, dtype=bool)
        amounts = found.x[:k] + found.x[k:]
        moved[self.cells[amounts > 1e-9 * max(1.0, size)]] = True
        return moved


def repair(problem: Problem, hidden: Flags, ctx: Context) -> Flags:
    """Return a pattern that holds ``hidden`` and meets every need, proven by the attacker.

    Raises
    ------
    Infeasible
        Naming the cells that no pattern of the cells that may be hidden can protect.
    """
    pattern = hidden | problem.start
    carrier: Carrier | None = None
    for _ in range(20):
        short = shortfalls(problem, pattern, ctx)
        if not short:
            return pattern
        carrier = carrier or Carrier(problem)
        hopeless = []
        for one in short:
            wants = list(wanted(problem, one.cell, one.down, one.up, one.known))
            for options in wants:
                for amount in options:
                    moved = carrier.carry(pattern, one.cell, amount, one.known)
                    if moved is not None:
                        pattern = pattern | moved
                        break
                else:
                    hopeless.append(one.cell)
        if hopeless:
            names = "; ".join(problem.table.describe_cell(c) for c in sorted(set(hopeless))[:10])
            raise Infeasible(
                f"{len(set(hopeless)):,} unsafe cells cannot be protected, whatever else is hidden: "
                f"{names}. Lower their levels, free cells that must be published, or recode the table."
            )
    raise Infeasible("the pattern did not become safe; the table's scales may be too far apart")


def wanted(
    problem: Problem, cell: int, down: float, up: float, known: int
) -> list[tuple[float, ...]]:
    """Return the movements a cell still needs; each as alternatives, any of which will do."""
    if known >= 0:
        tiny = float(problem.tiny([cell])[0])
        return [(tiny, -tiny)]
    needs: list[tuple[float, ...]] = []
    need_up, need_down = float(problem.need_up[cell]), float(problem.need_down[cell])
    if up < need_up:
        needs.append((need_up,))
    if down < need_down:
        needs.append((-need_down,))
    up, down = max(up, need_up), max(down, need_down)
    width = float(problem.need_width[cell])
    if up + down < width:
        needs.append((width - down, -(width - up)))
    return needs
