"""Partial suppression: publish intervals in place of values."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.claims.outsiders import describe_outsiders, outsider_bounds
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Approximate, SolverError
from tacit.numerics.elementary import ten_to
from tacit.registry import register
from tacit.solve import Highs, LinearModel
from tacit.spec import Method, Where
from tacit.tables.suppress.moves.cuts import SIGNS, Mover, Need, is_need_met, needs_of
from tacit.tables.suppress.problem import WHOLE, Problem, problem_of
from tacit.tables.suppress.repair import repair
from tacit.tables.suppress.suppression import Cost, CostPower, GuardSingletons
from tacit.tables.suppress.whole_numbers import widen_in_whole_numbers
from tacit.time_limits import is_past

#: A loss this near to its bound, as a share of it, is the least: intervals are widened by less.
PROVEN = 1e-5
#: Reaches are computed to this share of the need; intervals are widened by it in the end.
SLACK = 1e-7


@register
class SuppressPartial(Method[Table]):
    """Publish the narrowest intervals that protect every unsafe cell.

    minimise sum of v_i (z-_i + z+_i), such that an attacker who knows value - z- <= y <= value + z+ for
    every cell (and the relations) finds for every unsafe cell an interval that reaches its levels;
    v_i is the cost of the cell for each unit of its value. A linear program, solved by cuts from the
    duals of the attacker's programs; cells with z = 0 are published as they are.

    References
    ----------
    Fischetti and Salazar-Gonzalez (2003), Partial cell suppression: a new methodology for statistical
    disclosure control, Statistics and Computing 13, 13-21.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["suppress_partial"] = "suppress_partial"
    techniques: ClassVar[tuple[str, ...]] = ("partial cell suppression",)

    cost: Cost = Field(
        default="value",
        description="what an interval as wide as the cell's value costs: its value, 1, ...",
    )
    power: CostPower = 1.0
    singletons: GuardSingletons = True
    rounded: bool = Field(
        default=True,
        description="move the ends of intervals outwards to round numbers, so that they do not "
        "give away the value from which they were computed",
    )
    time_limit: Annotated[float, Field(gt=0)] = Field(
        default=60.0, description="seconds after which safe, possibly wider intervals are returned"
    )

    def _apply(self, table: Table, ctx: Context) -> Table:
        problem = problem_of(table, cost=self.cost, power=self.power, singletons=self.singletons)
        found = find_narrowest_intervals(problem, ctx, time_limit=self.time_limit)
        interval = make_interval_ends(table, found.down, found.up, rounded=self.rounded)
        if problem.whole:
            interval = widen_to_whole_numbers(problem, interval, ctx)
        hidden = ~np.isnan(interval[:, 0])
        # Rounding the ends outwards costs something as well: loss and gap are of what is published.
        width = np.where(hidden, interval[:, 1] - interval[:, 0], 0.0)
        loss = float((widths(problem) * width).sum()) if self.rounded else found.loss
        gap = max(0.0, loss - found.bound) / loss if loss > 0 else 0.0
        ctx.note(
            intervals=int(hidden.sum()),
            loss=loss,
            narrowest_loss=found.loss,
            bound=found.bound,
            gap=gap,
            proven=gap <= PROVEN,
            cuts=found.cuts,
        )
        if not found.finished:
            warnings.warn(
                f"the search for the narrowest intervals stopped: these are safe, and cost at most "
                f"{100 * found.gap:.1f} % more than the best. Raise time_limit to go on.",
                Approximate,
                stacklevel=2,
            )
        return table.with_hidden(np.flatnonzero(hidden & ~problem.primary)).with_(interval=interval)

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        yield Claim(
            "protected-by-published-intervals",
            {"singletons": self.singletons},
            "all unsafe cells",
            result.names or ("equations",),
            (
                *describe_outsiders(result),
                "outsiders know that a cell lies in its published interval",
                "the ends of intervals carry no information beyond that",
            ),
        )


# -- the program -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Intervals:
    """How far each cell's interval reaches below and above its value, and how good that is.

    No safe intervals cost less than ``bound``; ``finished`` says whether the search came to its end.
    """

    down: Floats
    up: Floats
    loss: float
    bound: float
    finished: bool
    cuts: int

    @property
    def gap(self) -> float:
        """Return the relative distance of the loss from its bound."""
        return 0.0 if self.loss <= 0 else max(0.0, (self.loss - self.bound) / self.loss)


def widths(problem: Problem) -> Floats:
    """Return the cost of one unit of width: the cell's cost for each unit of its value."""
    return problem.cost / np.maximum(np.abs(problem.table.value), 1.0)


def find_narrowest_intervals(
    problem: Problem, ctx: Context, *, time_limit: float = 60.0
) -> Intervals:
    """Return the cheapest intervals that meet every need, or safe ones when time runs out.

    Infeasible names the cells that no intervals can protect.
    """
    n = problem.n
    if not problem.primary.any():
        return Intervals(np.zeros(n), np.zeros(n), 0.0, 0.0, True, 0)
    # Intervals as wide as the external bounds are suppression: feasible or nothing is.
    full = repair(problem, problem.start, ctx)
    cells = np.flatnonzero(problem.start | problem.suppressible)
    master = Master(problem, cells)
    reach = compute_pattern_reach(problem, full, cells)
    deadline = time.monotonic() + time_limit
    mover = Mover(problem, cells)
    needs = [direct_need(mover, need) for need in needs_of(problem)]
    for turn in range(10_000):
        ctx.tick("narrowing the intervals", min(0.9, turn / 50))
        found = master.lp.solve()
        if found.state != "optimal" or found.x is None:
            raise SolverError(f"the program of intervals ended as {found.state}")
        if not master.directed:
            master.bound = found.value
        z = np.maximum(found.x, 0.0)
        short = master.separate(mover, needs, z, ctx)
        if not short:
            return master.result(z, finished=True)
        if is_past(deadline):
            best = master.mixed(z, reach, mover, needs)
            return master.result(best, finished=False)
    raise SolverError("the intervals did not settle; the table's scales may be too far apart")


def direct_need(mover: Mover, need: Need) -> Need:
    """Return a need with a direction: a singleton's target must be able to move up, else down.

    Either would do, and the choice is made beforehand to keep the program linear.
    """
    if need.kind != "either":
        return need
    up = need._replace(kind="up")
    leg = mover.move(up, 1, np.ones(mover.k), np.inf, cut=False)
    return up if is_need_met(up, [leg]) else need._replace(kind="down")


def compute_pattern_reach(problem: Problem, pattern: Flags, cells: Ints) -> Floats:
    """Return the reaches (down, then up) of a suppression pattern, cut to a finite size."""
    most = 10.0 * float(np.abs(problem.table.value).sum()) + 1.0
    hidden = pattern[cells]
    down = np.where(hidden, np.minimum(problem.down[cells], most), 0.0)
    up = np.where(hidden, np.minimum(problem.up[cells], most), 0.0)
    return np.concatenate([down, up])


class Master:
    """The linear program in z- and z+ (in that order), with the cuts found so far."""

    def __init__(self, problem: Problem, cells: Ints) -> None:
        self.problem, self.cells, self.k = problem, cells, len(cells)
        weight = widths(problem)[cells]
        low = np.concatenate([problem.need_down[cells], problem.need_up[cells]])
        high = np.concatenate([problem.down[cells], problem.up[cells]])
        self.cost = np.concatenate([weight, weight])
        self.lp = Highs(
            LinearModel.of(
                self.cost,
                sparse.csc_array((0, 2 * self.k)),
                np.zeros(0),
                np.zeros(0),
                np.minimum(low, high),
                high,
            )
        )
        self.cuts = 0
        #: The value before the first cut that rests on a direction chosen for a singleton's target.
        self.bound, self.directed = 0.0, False

    def separate(self, mover: Mover, needs: list[Need], z: Floats, ctx: Context) -> int:
        """Add a row for every need that z does not meet; return how many there are."""
        added = 0
        limit_to_intervals(mover, self.k, z)
        for number, need in enumerate(needs):
            if number % 50 == 0:
                ctx.tick("narrowing the intervals")
            legs = [mover.move(need, s, np.ones(self.k), np.inf) for s in SIGNS[need.kind]]
            if sum(leg.reach for leg in legs) >= 1 - SLACK:
                continue
            added += 1
            down = sum(np.maximum(-leg.r, 0.0) for leg in legs)
            up = sum(np.maximum(leg.r, 0.0) for leg in legs)
            row = np.concatenate([down, up])
            self.directed |= need.known >= 0
            if need.known >= 0 and mover.place[need.known] >= 0:
                at = int(mover.place[need.known])
                row[[at, at + self.k]] = 0.0
            columns = np.flatnonzero(row)
            self.lp.add_row(columns, row[columns], need.amount)
        self.cuts += added
        return added

    def mixed(self, z: Floats, reach: Floats, mover: Mover, needs: list[Need]) -> Floats:
        """Return the best safe point found between z and a safe one."""
        low, high = 0.0, 1.0
        for _ in range(6):
            share = (low + high) / 2
            limit_to_intervals(mover, self.k, np.maximum(z, share * reach))
            if is_safe(mover, needs):
                high = share
            else:
                low = share
        return np.maximum(z, high * reach)

    def result(self, z: Floats, *, finished: bool) -> Intervals:
        """Return reaches for all cells."""
        n = self.problem.n
        down, up = np.zeros(n), np.zeros(n)
        down[self.cells], up[self.cells] = z[: self.k], z[self.k :]
        return Intervals(down, up, float(self.cost @ z), self.bound, finished, self.cuts)


def limit_to_intervals(mover: Mover, k: int, z: Floats) -> None:
    """Let cells move as far as their intervals reach."""
    mover.down, mover.up = z[:k], z[k:]


def is_safe(mover: Mover, needs: list[Need]) -> bool:
    """Return True when the mover's bounds meet every need."""
    ones = np.ones(mover.k)
    return all(
        is_need_met(need, [mover.move(need, s, ones, np.inf, cut=False) for s in SIGNS[need.kind]])
        for need in needs
    )


# -- publishing ------------------------------------------------------------------------------------


def make_interval_ends(table: Table, down: Floats, up: Floats, *, rounded: bool) -> Floats:
    """Return the intervals to publish, cells x 2; NaN where the value itself is published."""
    wide = (down + up) > 1e-7 * np.maximum(1.0, np.abs(table.value))
    wide |= table.primary
    low = table.value - down * (1 + 10 * SLACK)
    high = table.value + up * (1 + 10 * SLACK)
    if rounded:
        base = ten_to(np.floor(np.log10(np.maximum(high - low, 1e-9))))
        low, high = np.floor(low / base) * base, np.ceil(high / base) * base
        # An end that is the value itself would be the best guess of an attacker.
        low = np.where(low >= table.value, low - base, low)
        high = np.where(high <= table.value, high + base, high)
    least, most = outsider_bounds(table)
    low, high = np.maximum(low, least), np.minimum(high, most)
    interval = np.stack([low, high], axis=1)
    interval[~wide] = np.nan
    return interval


def widen_to_whole_numbers(problem: Problem, interval: Floats, ctx: Context) -> Floats:
    """Return intervals of counts with whole ends that protect from whoever knows that counts are whole."""
    value = problem.table.value
    low, high = np.floor(interval[:, 0] + WHOLE), np.ceil(interval[:, 1] - WHOLE)
    shown = np.isnan(low)
    down, up = np.where(shown, 0.0, value - low), np.where(shown, 0.0, high - value)
    down, up = widen_in_whole_numbers(problem, down, up, ctx)
    ends = np.stack([value - down, value + up], axis=1)
    ends[(down + up == 0) & shown] = np.nan
    return ends
