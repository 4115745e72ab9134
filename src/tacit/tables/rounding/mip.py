"""Controlled rounding as an integer program: the optimum of small tables, proofs and bounds.

With y fixed, the program is: minimise the secondary objective over whole steps x within their ranges,
every total within y bases of its adjacent multiples, every extra relation exactly met. Rising y from
its lower bound gives the lexicographic optimum of the paper's model without a large weight on y.

References
----------
Salazar-Gonzalez (2006), A new approach to round tabular data, PSD 2006, LNCS 4302, 25-34.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.solve import Highs, LinearModel
from tacit.tables.rounding.model import Model

#: y from here on means that totals are not looked at.
ANY = 10**9


@dataclass(frozen=True, eq=False)
class Answer:
    """What the program for one y returned; ``steps`` is None when none were found."""

    state: Literal["optimal", "feasible", "infeasible", "limit"]
    steps: Ints | None
    value: float
    bound: float
    nodes: int = 0


class Program:
    """The columns and rows for one y: steps of free cells, then steps beyond the adjacent multiples."""

    def __init__(self, model: Model, y: int) -> None:
        self.model = model
        n = len(model.free)
        low, high = model.low[model.free], model.high[model.free]
        a, e = model.sums, model.extra
        own = model.cost[model.margin]
        self.cost = model.cost[model.free] + np.asarray(a.T @ own).ravel()
        self.constant = -float(own @ model.floor[model.margin])
        least = model.low[model.margin] - y if y < ANY else np.full(len(own), -np.inf)
        most = model.high[model.margin] + y if y < ANY else np.full(len(own), np.inf)
        rows = [a, e]
        lower, upper = [least, model.right], [most, model.right]
        beyond = self.beyond(y)
        every = sparse.vstack([sparse.eye_array(n), a], format="csr")
        floor = np.r_[np.zeros(n), model.floor[model.margin]]
        unit = np.r_[model.unit[model.free], model.unit[model.margin]]
        w = np.r_[model.cost[model.free], own]
        k = len(beyond)
        blocks = [[sparse.vstack(rows), sparse.csr_array((a.shape[0] + e.shape[0], 2 * k))]]
        if k:
            eye, none = sparse.eye_array(k), sparse.csr_array((k, k))
            blocks.append([every[beyond], sparse.hstack([-eye, none])])
            blocks.append([every[beyond], sparse.hstack([none, eye])])
            lower += [np.full(k, -np.inf), floor[beyond]]
            upper += [floor[beyond] + 1, np.full(k, np.inf)]
        self.matrix = sparse.csr_array(sparse.block_array(blocks) if k else blocks[0][0])
        self.costs = np.r_[self.cost, (unit - w)[beyond], (unit + w)[beyond]]
        self.row_lower, self.row_upper = np.concatenate(lower), np.concatenate(upper)
        self.lower = np.r_[low, np.zeros(2 * k)]
        self.upper = np.r_[high, np.full(2 * k, np.inf)]
        self.n, self.k = n, k

    def beyond(self, y: int) -> Ints:
        """Return the cells whose cost bends within their range: free cells first, then totals."""
        model, free = self.model, self.model.free
        wide = (model.high[free] > 1) | (model.low[free] < 0)
        bent = wide & (model.unit[free] > 0)
        totals = (model.unit[model.margin] > 0) & (y > 0)
        return np.r_[np.flatnonzero(bent), len(free) + np.flatnonzero(totals)].astype(np.int64)

    def point(self, steps: Ints) -> Floats:
        """Return steps with the columns that follow from them."""
        return np.asarray(steps, dtype=np.float64)

    def lp(self, *, whole: bool) -> Highs:
        """Return the program, with whole steps or relaxed."""
        integer = np.r_[np.ones(self.n, dtype=bool), np.zeros(2 * self.k, dtype=bool)]
        even = bool((self.costs == np.rint(self.costs)).all())
        options = {"mip_abs_gap": 0.999 if even else 1e-6, "mip_rel_gap": 0.0} if whole else {}
        return Highs(
            LinearModel.of(
                self.costs,
                self.matrix,
                self.row_lower,
                self.row_upper,
                self.lower,
                self.upper,
                integer=integer if whole else None,
            ),
            presolve=True,
            options=options,
        )


def solve_mip(
    model: Model,
    y: int,
    *,
    time_limit: float,
    start: Ints | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Answer:
    """Return the cheapest steps with totals within y bases, and whether that is proven."""
    program = Program(model, y)
    lp = program.lp(whole=True)
    if start is not None and not program.k:
        lp.start_from(program.point(start))
    found = lp.solve(time_limit=time_limit, should_stop=should_stop)
    nodes = found.nodes
    if found.state == "infeasible":
        return Answer("infeasible", None, float("inf"), float("inf"), nodes)
    if found.x is None:
        return Answer("limit", None, float("inf"), found.bound + program.constant, nodes)
    steps = np.rint(found.x[: program.n]).astype(np.int64)
    state: Literal["optimal", "feasible"] = "optimal" if found.state == "optimal" else "feasible"
    value = model.secondary(model.spread(steps))
    return Answer(state, steps, value, min(value, found.bound + program.constant), nodes)


def solve_relaxation(model: Model, y: int, time_limit: float) -> tuple[bool, float]:
    """Return whether steps that need not be whole exist for y, and a bound on the objective."""
    program = Program(model, y)
    found = program.lp(whole=False).solve(time_limit=time_limit)
    if found.state == "infeasible":
        return False, float("inf")
    return True, found.bound + program.constant if found.state == "optimal" else -float("inf")
