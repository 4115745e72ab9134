"""Sharp bounds of the entries of all nonnegative whole-number solutions of a linear system.

Every solution that any solve turns up is kept: its entries widen the range that is known to occur, and
an end of a range that has met its outer bound is never solved again. Solutions are checked in exact
whole numbers before they count.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible
from tacit.solve import Highs, LinearModel
from tacit.tables.attack.reach import ignore_share
from tacit.tables.margins.integer_systems import (
    NEAR,
    System,
    Tick,
    no_counts,
    portion_of,
    propagate,
    require_fixed_rows,
    split_system,
)

How = Literal["mip", "lp", "enumerate"]

#: Tables that the enumeration lists before it gives up.
MOST_TABLES = 200_000
#: Nodes that the enumeration visits before it gives up.
MOST_NODES = 400_000


@dataclass(eq=False)
class EntryRanges:
    """What is known of each entry over all whole-number solutions."""

    lower: Floats  # proven outer bounds: no solution lies beyond them
    upper: Floats
    inner_lower: Floats  # the smallest and largest value that was met in a solution
    inner_upper: Floats
    #: Bounds of the linear relaxation; NaN where they were not needed or not reached in time.
    linear_lower: Floats
    linear_upper: Floats
    base: Floats  # one solution
    #: Solutions that were kept: pairs (entries they hold, their values); other entries as in ``base``.
    tables: list[tuple[Ints, Floats]] = field(default_factory=list)
    #: Which of ``tables`` holds the smallest and largest value of an entry; -1: ``base``.
    low_at: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    high_at: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    #: The value set of entries for which it was asked, and whether it is proven complete.
    values: dict[int, tuple[Sequence[int], bool]] = field(default_factory=dict)
    #: Linear programs, integer programs, solutions met.
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def exact(self) -> Flags:
        """Return which entries have sharp bounds."""
        return np.asarray((self.lower == self.inner_lower) & (self.upper == self.inner_upper))

    @property
    def unique(self) -> Flags:
        """Return which entries are proven to take one value only."""
        return np.asarray(self.lower == self.upper)

    @property
    def varies(self) -> Flags:
        """Return which entries are proven to take two values or more."""
        return np.asarray(self.inner_lower < self.inner_upper)

    @property
    def width(self) -> Floats:
        """Return how far the values of each entry are proven to lie apart."""
        return np.asarray(self.inner_upper - self.inner_lower)

    def witness(self, entry: int) -> tuple[Floats, Floats]:
        """Return a solution with the smallest and one with the largest value met of an entry."""
        return self.table(int(self.low_at[entry])), self.table(int(self.high_at[entry]))

    def table(self, i: int) -> Floats:
        """Return one of the solutions that were kept in full."""
        x = self.base.copy()
        if i >= 0:
            at, values = self.tables[i]
            x[at] = values
        return x


# -- solving -------------------------------------------------------------------------------------------


def entry_ranges(
    system: System,
    entries: Ints,
    *,
    how: How = "mip",
    value_sets: bool = False,
    time_limit: float | None = 60.0,
    tick: Tick = ignore_share,
) -> EntryRanges:
    """Bound entries over all whole-number solutions of a system; others are bounded by what comes along.

    ``mip`` gives sharp bounds; ``lp`` those of the relaxation, rounded inwards (not exact); ``enumerate`` lists every solution
    of small systems (what it cannot list stays open). With ``value_sets``, every value between the bounds that occurs is
    found. An end that is not closed within the time limit of an entry keeps its proven bracket.

    It is Infeasible when there is no solution.
    """
    lower, upper = propagate(system)
    n = system.matrix.shape[1]
    fixed = lower == upper
    base = lower.copy() if system.start is None else system.start.copy()
    if system.start is not None and not system.has(base):
        raise Infeasible("the source table does not have these margins or bounds")
    ranges = EntryRanges(
        lower, upper, base.copy(), base.copy(), np.full(n, np.nan), np.full(n, np.nan), base,
        low_at=np.full(n, -1), high_at=np.full(n, -1), counts=no_counts(),
    )  # fmt: skip
    ranges.linear_lower[fixed], ranges.linear_upper[fixed] = lower[fixed], upper[fixed]
    wanted = np.zeros(n, dtype=bool)
    wanted[entries] = True
    blocks = list(split_system(system.matrix, ~fixed))
    if system.start is None:
        require_fixed_rows(system, base, fixed)
    share, total = 0.0, max(1, int((wanted & ~fixed).sum()))
    for rows, columns in blocks:
        mine = np.flatnonzero(wanted[columns])
        if not len(mine) and system.start is not None:
            continue
        part = Block(system, ranges, rows, columns)
        if how == "enumerate":
            part.enumerate()
        else:
            part.run(mine, how == "lp", time_limit, portion_of(tick, share, len(mine) / total))
        if value_sets and how != "lp":
            part.value_sets(mine, how == "mip", time_limit, tick)
        share += len(mine) / total
    if value_sets:
        for e in np.flatnonzero(wanted & fixed).tolist():
            ranges.values[e] = ((int(lower[e]),), True)
    return ranges


class Block:
    """One part of a system with its solvers; what it finds is written into the ranges of the whole."""

    def __init__(self, system: System, ranges: EntryRanges, rows: Ints, columns: Ints) -> None:
        self.ranges, self.columns = ranges, columns
        part = sparse.csr_array(sparse.csc_array(system.matrix[rows])[:, columns])
        rest = ranges.base.copy()
        rest[columns] = 0.0
        self.matrix, self.right = part, system.right[rows] - system.matrix[rows] @ rest
        self.lower, self.upper = ranges.lower[columns], ranges.upper[columns]
        self.low_in = np.full(len(columns), np.inf)
        self.high_in = np.full(len(columns), -np.inf)
        self.low_out, self.high_out = self.lower.copy(), self.upper.copy()
        self.has_base = system.start is not None
        self.rng = np.random.default_rng(0)
        self.pool: list[Floats] = []
        self.keep_all = False
        if self.has_base:
            self.add(ranges.base[columns])

    # -- solutions -------------------------------------------------------------------------------

    def add(self, x: Floats | None) -> bool:
        """Take a solution if it is whole and exact; True when it is."""
        if x is None:
            return False
        near = np.rint(x)
        sound = (
            np.abs(x - near).max(initial=0.0) < 1e-4
            and (near >= self.lower).all()
            and (near <= self.upper).all()
            and np.array_equal(self.matrix @ near, self.right)
        )
        if not sound:
            return False
        if not self.has_base:
            self.ranges.base[self.columns] = near
            self.has_base = True
        self.ranges.counts["tables"] += 1
        down, up = near < self.low_in, near > self.high_in
        if down.any() or up.any() or self.keep_all:
            at = len(self.ranges.tables)
            self.ranges.tables.append((self.columns, near))
            self.ranges.low_at[self.columns[down]] = at
            self.ranges.high_at[self.columns[up]] = at
            self.pool.append(near)
        self.low_in = np.minimum(self.low_in, near)
        self.high_in = np.maximum(self.high_in, near)
        return True

    @functools.cached_property
    def linear(self) -> Highs:
        """Return the linear relaxation."""
        zero = np.zeros(len(self.columns))
        return Highs(
            LinearModel.of(zero, self.matrix, self.right, self.right, self.lower, self.upper)
        )

    @functools.cached_property
    def whole(self) -> Highs:
        """Return the integer program."""
        n = len(self.columns)
        model = LinearModel.of(
            np.zeros(n),
            self.matrix,
            self.right,
            self.right,
            self.low_out,
            self.high_out,
            integer=np.ones(n, dtype=bool),
        )
        return Highs(model, options={"mip_rel_gap": 0.0, "mip_abs_gap": 0.5})

    def open_ends(self, entries: Ints) -> tuple[Flags, Flags]:
        """Return which entries' lower and upper ends are not closed."""
        down = self.low_in[entries] > self.low_out[entries]
        return down, self.high_in[entries] < self.high_out[entries]

    # -- search ----------------------------------------------------------------------------------

    def run(self, entries: Ints, linear_only: bool, limit: float | None, tick: Tick) -> None:
        """Close the ends of entries, many at a time first, then one by one."""
        self.find_any(limit)
        if not linear_only:
            self.batches(entries, tick)
        for k, e in enumerate(entries.tolist()):
            tick(k / len(entries))
            for up in (False, True):
                begun = time.monotonic()
                self.close_linear(e, up, None if limit is None else limit / 2)
                if not linear_only and self.is_open(e, up):
                    spent = time.monotonic() - begun
                    self.close_whole(e, up, None if limit is None else limit / 2 - spent)
        self.write()

    def is_open(self, e: int, up: bool) -> bool:
        """Return True when one end of an entry is not closed."""
        return bool(self.high_in[e] < self.high_out[e] if up else self.low_in[e] > self.low_out[e])

    def find_any(self, limit: float | None) -> None:
        """Find a first solution, or show that there is none."""
        if self.has_base:
            return
        solution = self.linear.solve(time_limit=limit)
        if solution.state != "infeasible" and self.add(solution.x):
            return
        if solution.state != "infeasible":
            solution = self.whole.solve(time_limit=limit)
            self.ranges.counts["integer programs"] += 1
            if self.add(solution.x):
                return
        if solution.state == "infeasible":
            raise Infeasible("no table of whole numbers has these margins")
        raise Infeasible("no table with these margins was found within the time limit")

    def batches(self, entries: Ints, tick: Tick) -> None:
        """Push many open ends outwards at once while that closes a fair share of them."""
        n, misses = len(self.columns), 0
        while misses < 3:
            tick(0.0)
            down, up = self.open_ends(entries)
            left = int(down.sum() + up.sum())
            if left < 40:
                break
            cost = np.zeros(n)
            push = np.where(self.rng.random(len(entries)) < 0.5, up * 1.0, -1.0 * down)
            push = np.where(push == 0, up * 1.0 - down, push)
            cost[entries] = push * self.rng.exponential(1.0, len(entries)) ** 2
            self.linear.set_sense(maximise=True)
            self.linear.set_costs(np.arange(n), cost)
            solution = self.linear.solve(time_limit=30.0)
            self.ranges.counts["linear programs"] += 1
            self.add(solution.x)
            down, up = self.open_ends(entries)
            gained = left - int(down.sum() + up.sum())
            misses = 0 if gained >= max(2, 0.01 * left) else misses + 1
        self.linear.set_costs(np.arange(n), np.zeros(n))

    def close_linear(self, e: int, up: bool, limit: float | None) -> None:
        """Bound one end by the relaxation; its solution closes the end when it is whole."""
        known = self.ranges.linear_upper if up else self.ranges.linear_lower
        column = self.columns[e]
        if not self.is_open(e, up):
            if np.isnan(known[column]):
                known[column] = self.high_out[e] if up else self.low_out[e]
            return
        self.linear.set_sense(maximise=up)
        self.linear.set_costs([e], [1.0])
        solution = self.linear.solve(time_limit=limit)
        self.linear.set_costs([e], [0.0])
        self.ranges.counts["linear programs"] += 1
        if solution.state == "unbounded":
            known[column] = np.inf if up else -np.inf
        if solution.state != "optimal":
            return
        # Noise of the solver must not move a bound that is attained in fact.
        near = round(solution.value)
        value = near if abs(solution.value - near) < NEAR else solution.value
        known[column] = value
        self.narrow(e, up, value)
        self.add(solution.x)

    def close_whole(self, e: int, up: bool, limit: float | None) -> None:
        """Bound one end by an integer program; on a time limit the bracket stays."""
        self.whole.set_bounds([e], self.low_out[e], self.high_out[e])
        self.whole.set_sense(maximise=up)
        self.whole.set_costs([e], [1.0])
        solution = self.whole.solve(time_limit=None if limit is None else max(0.05, limit))
        self.whole.set_costs([e], [0.0])
        self.ranges.counts["integer programs"] += 1
        self.add(solution.x)
        if solution.state != "infeasible" and np.isfinite(solution.bound):
            self.narrow(e, up, solution.bound + (NEAR if up else -NEAR))

    def narrow(self, e: int, up: bool, bound: float) -> None:
        """Take a proven bound of one end, as far as the solutions met allow."""
        if up:
            self.high_out[e] = max(self.high_in[e], min(self.high_out[e], np.floor(bound)))
        else:
            self.low_out[e] = min(self.low_in[e], max(self.low_out[e], np.ceil(bound)))

    def write(self) -> None:
        """Write the ranges of this part into those of the whole."""
        r, at = self.ranges, self.columns
        r.lower[at], r.upper[at] = self.low_out, self.high_out
        r.inner_lower[at], r.inner_upper[at] = self.low_in, self.high_in

    # -- all solutions ---------------------------------------------------------------------------

    def enumerate(self) -> None:
        """List all solutions, as far as they can be listed."""
        system = System(self.matrix, self.right, self.lower, self.upper)
        complete = True
        met = 0
        self.keep_all = True
        for x in all_solutions(system):
            if x is None:
                complete = False
                break
            met += 1
            self.add(x)
        if not met:
            if complete:
                raise Infeasible("no table of whole numbers has these margins")
            self.find_any(None)
        if complete:
            self.low_out, self.high_out = self.low_in.copy(), self.high_in.copy()
        self.write()

    def value_sets(self, entries: Ints, solve: bool, limit: float | None, tick: Tick) -> None:
        """Find which values between the bounds of entries occur."""
        self.keep_all = True
        for e in entries.tolist():
            tick(0.0)
            met = {int(x[e]) for x in self.pool}
            complete = not self.is_open(e, False) and not self.is_open(e, True)
            between = range(int(self.low_in[e]) + 1, int(self.high_in[e]))
            for v in between:
                if v in met or not solve:
                    continue
                state = self.is_value_possible(e, v, limit)
                if state is None:
                    complete = False
                elif state:
                    met.add(v)
            self.ranges.values[int(self.columns[e])] = (tuple(sorted(met)), complete)

    def is_value_possible(self, e: int, value: int, limit: float | None) -> bool | None:
        """Return whether some solution has that value; None when the time ran out."""
        self.whole.set_bounds([e], value, value)
        solution = self.whole.solve(time_limit=limit)
        self.whole.set_bounds([e], self.low_out[e], self.high_out[e])
        self.ranges.counts["integer programs"] += 1
        if self.add(solution.x):
            return True
        return False if solution.state == "infeasible" else None


def all_solutions(system: System) -> Iterator[Floats | None]:
    """Yield every solution of a system; None when there are too many to list.

    Depth first: the unknown with the fewest values left is tried, and bounds are propagated.
    """
    if not np.isfinite(system.upper).all():
        yield None
        return
    stack = [(system.lower, system.upper)]
    found = visited = 0
    while stack:
        lower, upper = stack.pop()
        visited += 1
        if visited > MOST_NODES or found >= MOST_TABLES:
            yield None
            return
        try:
            low, high = propagate(System(system.matrix, system.right, lower, upper))
        except Infeasible:
            continue
        width = high - low
        if not width.any():
            if np.array_equal(system.matrix @ low, system.right):
                found += 1
                yield low
            continue
        e = int(np.argmin(np.where(width > 0, width, np.inf)))
        for v in np.arange(high[e], low[e] - 1, -1.0):
            one, two = low.copy(), high.copy()
            one[e] = two[e] = v
            stack.append((one, two))


def runs(values: Sequence[int]) -> str:
    """Return a set of whole numbers as text: ``0-3, 5``."""
    if len(values) > 2 and values[-1] - values[0] + 1 == len(values):
        return f"{values[0]}-{values[-1]}"
    parts: list[str] = []
    start = previous = None
    for v in [*values, None]:
        if previous is not None and v is not None and v == previous + 1:
            previous = v
            continue
        if start is not None:
            parts.append(str(start) if start == previous else f"{start}-{previous}")
        start = previous = v
    return ", ".join(parts)
