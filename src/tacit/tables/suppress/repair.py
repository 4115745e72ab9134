"""The linear-programming heuristic: hide what cheapest movements need until every need is met."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.context import Context
from tacit.data.cells.status import Flags
from tacit.errors import Infeasible
from tacit.solve import Lp
from tacit.tables.attack.attacker import Shortfall, shortfalls
from tacit.tables.suppress.moves.routes import Routes
from tacit.tables.suppress.problem import Problem

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
    """Return a pattern that holds ``hidden`` and meets every need.

    Only needs that an attacker shows to be short are seen to, so a safe pattern comes back as it is.
    For each of them, a movement of cells that keeps all relations and bounds is found and checked on the
    whole table; cells that are hidden already cost nothing.

    Raises
    ------
    Infeasible
        Naming the cells that no pattern of the cells that may be hidden can protect.
    """
    base = hidden | problem.start
    short = shortfalls(problem, base, ctx)
    if not short:
        return base
    problem = limited_to(problem, short)
    routes = Routes(problem, base, base | problem.suppressible)
    require_met(problem, routes, routes.meet_all(ctx))
    routes.require_proof()
    return routes.pattern


def limited_to(problem: Problem, short: list[Shortfall]) -> Problem:
    """Return the problem in which only needs that are short are asked for."""
    asked = np.zeros(problem.n, dtype=bool)
    asked[[s.cell for s in short if s.known < 0]] = True
    pairs = [(s.known, s.cell) for s in short if s.known >= 0]
    return replace(
        problem,
        need_down=np.where(asked, problem.need_down, 0.0),
        need_up=np.where(asked, problem.need_up, 0.0),
        need_width=np.where(asked, problem.need_width, 0.0),
        pairs=np.array(pairs, dtype=np.int64).reshape(-1, 2),
    )


def suppress(
    problem: Problem,
    ctx: Context,
    *,
    cleaned: bool = True,
    tries: int = 100,
    limit_seconds: float | None = None,
) -> tuple[Flags, dict[str, float]]:
    """Return a safe pattern of low cost, and how it was come by.

    Parameters
    ----------
    problem
        The problem.
    ctx
        The context.
    cleaned
        Look for cheaper ways after the first pattern.
    tries
        How often part of the pattern is then taken up and laid anew.
    limit_seconds
        Time after which that search ends with the best safe pattern so far.
    """
    until = None if limit_seconds is None else time.monotonic() + limit_seconds
    routes = Routes(problem, problem.start, problem.start | problem.suppressible)
    require_met(problem, routes, routes.meet_all(ctx))
    first, spared, anew = routes.total, 0, 0
    if cleaned:
        spared = routes.improve(ctx, until=until)
        anew = routes.shake(ctx, tries=tries, until=until)
    routes.require_proof()
    facts: dict[str, float] = {
        "first_price": first,
        "spared": spared,
        "laid_anew": anew,
        "programs": routes.flows.solved,
    }
    return routes.pattern, facts


def require_met(problem: Problem, routes: Routes, failed: list[int]) -> None:
    """Raise when some needs cannot be met, naming their cells."""
    if not failed:
        return
    hopeless = sorted({routes.needs[n].cell for n in failed})
    names = "; ".join(problem.table.describe_cell(c) for c in hopeless[:10])
    raise Infeasible(
        f"{len(hopeless):,} unsafe cells cannot be protected, whatever else is hidden: "
        f"{names}. Lower their levels, free cells that must be published, or recode the table."
    )


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
