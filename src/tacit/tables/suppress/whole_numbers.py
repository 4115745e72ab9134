"""The last step of every pattern of counts: hide what attackers who know that counts are whole numbers call for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.errors import Infeasible
from tacit.solve.highs import Highs
from tacit.solve.model import LinearModel
from tacit.tables.attack.attacker import Shortfall, shortfalls, ticker
from tacit.tables.attack.whole import FAR, NODES, SLACK, find_whole_shortfalls
from tacit.tables.suppress.moves.routes import list_missing_movements
from tacit.tables.suppress.problem import Problem


def protect_whole_numbers(problem: Problem, pattern: Flags, ctx: Context) -> Flags:
    """Return a pattern that holds another and meets every need by movements in whole numbers.

    Infeasible names a cell that no pattern protects.
    """
    tick = ticker(ctx, "attacking in whole numbers")
    before = pattern
    while short := find_whole_shortfalls(problem, pattern, tick):
        for one in short:
            free = np.where(pattern, problem.down, 0.0), np.where(pattern, problem.up, 0.0)
            down, up = find_movements(problem, free, one)
            pattern = pattern | (down > 0) | (up > 0)
    if (pattern & ~before).any():
        ctx.note(for_whole_numbers=int((pattern & ~before).sum()))
    return pattern


def widen_in_whole_numbers(
    problem: Problem, down: Floats, up: Floats, ctx: Context
) -> tuple[Floats, Floats]:
    """Return how far intervals must reach below and above their values to meet every need in whole numbers."""
    tick = ticker(ctx, "attacking in whole numbers")
    while True:
        within, open_cells = replace(problem, down=down, up=up), (down > 0) | (up > 0)
        # Where linear programs find whole numbers by themselves, they alone say what is missing.
        short = find_whole_shortfalls(within, open_cells, tick) or shortfalls(
            within, open_cells, ctx
        )
        if not short:
            return down, up
        for one in short:
            more_down, more_up = find_movements(problem, (down, up), one)
            down, up = np.maximum(down, more_down), np.maximum(up, more_up)


def find_movements(
    problem: Problem, free: tuple[Floats, Floats], short: Shortfall
) -> tuple[Floats, Floats]:
    """Return how far cells move down and up in the cheapest movements that meet one cell's needs.

    ``free`` is how far cells may move down and up for nothing, ``short`` what the cell can do without any cost.
    """
    down, up = np.zeros(problem.n), np.zeros(problem.n)
    for options in list_missing_movements(problem, short.cell, short.down, short.up, short.known):
        ways = [find_cheapest_movement(problem, free, short, amount) for amount in options]
        possible = [way for way in ways if way is not None]
        if not possible:
            raise Infeasible(
                f"{problem.table.describe_cell(short.cell)} cannot be protected from somebody who knows that counts "
                "are whole numbers, whatever else is hidden. Free cells that must be published, let empty cells be "
                "hidden (zeros=True in the rule), or recode the table."
            )
        d = min(possible, key=lambda way: way[0])[1]
        down, up = np.maximum(down, -d), np.maximum(up, d)
    return down, up


def find_cheapest_movement(
    problem: Problem, free: tuple[Floats, Floats], short: Shortfall, amount: float
) -> tuple[float, Floats] | None:
    """Return the price of the cheapest movement of one cell by some amount or more, and the movement.

    minimise sum of c_i (r_i + f_i) over whole numbers: d = g + r - f with M d = 0, where g is free of charge.
    """
    every = problem.start | problem.suppressible
    if short.known >= 0:
        every = every & (np.arange(problem.n) != short.known)
    cells = np.flatnonzero(every)
    far = FAR * abs(amount)

    def steps(room: Floats) -> Floats:
        return np.minimum(np.floor(room[cells] + SLACK), far)

    down, up, free_down, free_up = map(steps, (problem.down, problem.up, *free))
    matrix = sparse.csc_array(problem.by_cell[:, cells])
    moved = sparse.csr_array(
        (np.ones(1), ([0], np.flatnonzero(cells == short.cell))), (1, len(cells))
    )
    rows = sparse.vstack([matrix, moved])
    still = np.zeros(matrix.shape[0])
    least, most = (amount, np.inf) if amount > 0 else (-np.inf, amount)
    cost = problem.cost[cells]
    model = LinearModel.of(
        np.concatenate([np.zeros(len(cells)), cost, cost]),
        sparse.csc_array(sparse.hstack([rows, rows, -rows])),
        np.append(still, least),
        np.append(still, most),
        np.concatenate([-free_down, np.zeros(2 * len(cells))]),
        np.concatenate([free_up, up - free_up, down - free_down]),
        integer=np.ones(3 * len(cells), dtype=bool),
    )
    found = Highs(model, options={"mip_max_nodes": NODES}).solve()
    if found.x is None:
        return None
    g, r, f = np.split(np.rint(found.x), 3)
    d = np.zeros(problem.n)
    d[cells] = g + r - f
    return float(cost @ (r + f)), d
