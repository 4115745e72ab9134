"""The attacker: how far hidden cells can move, by linear programs over all relations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.context import Context
from tacit.data.status import Flags
from tacit.errors import SolverError
from tacit.solve import Lp
from tacit.tables._problem import Problem

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: A need counts as met when the reach falls short by no more than this share of it.
CLOSE = 1e-6


class Attacker:
    """Someone who knows the relations, the published cells and the external bounds.

    One linear program over the hidden cells is kept and solved again from its last basis.
    """

    def __init__(self, problem: Problem, hidden: Flags) -> None:
        self.problem = problem
        self.cells = np.flatnonzero(hidden)
        self.place = np.full(problem.n, -1, dtype=np.int64)
        self.place[self.cells] = np.arange(len(self.cells))
        m = problem.by_cell[:, self.cells].tocsr()
        m = m[np.diff(m.indptr) > 0]
        self.lp = Lp(
            0.0, sparse.csc_array(m), 0.0, 0.0, -problem.down[self.cells], problem.up[self.cells]
        )

    def reach(self, target: int, *, up: bool, known: Sequence[int] = ()) -> float:
        """Return how far the target can move up (or down); ``known`` cells cannot move."""
        at = self.place[target]
        if at < 0:
            return 0.0
        fixed = self.place[list(known)] if len(known) else np.zeros(0, dtype=np.int64)
        fixed = fixed[fixed >= 0]
        p, lp = self.problem, self.lp
        if len(fixed):
            lp.set_bounds(fixed, 0.0, 0.0)
        lp.set_sense(maximise=up)
        lp.set_costs([at], 1.0)
        found = lp.solve()
        lp.set_costs([at], 0.0)
        if len(fixed):
            cells = self.cells[fixed]
            lp.set_bounds(fixed, -p.down[cells], p.up[cells])
        if found.state == "unbounded":
            return float("inf")
        if found.state != "optimal":
            raise SolverError(f"the attacker's program ended as {found.state}")
        return max(0.0, found.value if up else -found.value)


@dataclass(frozen=True, eq=False)
class Shortfall:
    """Needs that a pattern does not meet.

    Attributes
    ----------
    cell
        The unsafe cell.
    down, up
        How far it can move.
    known
        The singleton whose respondent can deduce the cell; -1 for an outsider.
    """

    cell: int
    down: float
    up: float
    known: int = -1


def shortfalls(problem: Problem, hidden: Flags, ctx: Context | None = None) -> list[Shortfall]:
    """Return every need that a pattern does not meet; an empty list proves the pattern."""
    attacker = Attacker(problem, hidden)
    short = []
    cells = np.flatnonzero(problem.primary)
    for i, cell in enumerate(map(int, cells)):
        if ctx is not None and i % 50 == 0:
            ctx.tick("auditing the pattern", i / len(cells))
        up = attacker.reach(cell, up=True)
        down = attacker.reach(cell, up=False)
        if not enough(problem, cell, down, up):
            short.append(Shortfall(cell, down, up))
    for known, target in problem.pairs.tolist():
        tiny = problem.tiny([target])[0] * (1 - CLOSE)
        up = attacker.reach(target, up=True, known=[known])
        if up < tiny:
            down = attacker.reach(target, up=False, known=[known])
            if max(up, down) < tiny:
                short.append(Shortfall(target, down, up, known))
    return short


def enough(problem: Problem, cell: int, down: float, up: float) -> bool:
    """Return True when a cell's needs are met by the movements that are possible."""
    keep = 1 - CLOSE
    return bool(
        up >= problem.need_up[cell] * keep
        and down >= problem.need_down[cell] * keep
        and up + down >= problem.need_width[cell] * keep
    )
