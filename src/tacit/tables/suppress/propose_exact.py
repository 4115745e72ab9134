"""Exact suppression: linear relaxation, patterns that follow it, and the search on HiGHS or SCIP."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.events import Interruption
from tacit.solve import Highs, LinearModel
from tacit.solve.scip import LazyScip, has_scip
from tacit.tables.suppress.moves.cuts import Cut, Separator, Stop
from tacit.tables.suppress.problem import Problem
from tacit.tables.suppress.repair import clean, repair, suppress
from tacit.time_limits import is_past, seconds_left


@dataclass(frozen=True, eq=False)
class ExactOutcome:
    """What an exact search found."""

    #: The best safe pattern, unsafe and forced cells included, and the cost of its secondary cells.
    pattern: Flags
    price: float
    #: No safe pattern costs less; gap = (price - bound) / price.
    bound: float
    gap: float
    #: Whether the pattern is optimal (within the gap that was asked for).
    proven: bool
    cuts: int
    seconds: float
    #: The solver that finished the search.
    engine: str = "highs"


def round_fractional_point(problem: Problem, x: Floats, free: Ints, seconds: float) -> Flags:
    """Return a safe pattern that follows a fractional point: cells with large shares are cheap."""
    cost = problem.cost.copy()
    cost[free] *= np.maximum(1.0 - x, 1e-3)
    quiet = Context.start(0)
    pattern, _ = suppress(replace(problem, cost=cost), quiet, tries=20, limit_seconds=seconds)
    return clean(problem, pattern, quiet, limit_seconds=seconds)


# -- the search ------------------------------------------------------------------------------------


@dataclass
class Search:
    """State of one search: cuts, bound, best pattern."""

    separator: Separator
    best: Flags
    price: float
    deadline: float
    asked: Stop
    gap: float = 0.0
    bound: float = 0.0
    cuts: list[Cut] = field(default_factory=list)
    bridges: list[tuple[int, Ints]] = field(default_factory=list)
    root: Floats | None = None

    def __post_init__(self) -> None:
        free = len(self.separator.free)
        #: Cells that no cheaper pattern hides, and cells that every cheaper one hides.
        self.out, self.into = np.zeros(free, dtype=bool), np.zeros(free, dtype=bool)

    def stop(self) -> bool:
        """Return True when time is over or the caller asks to stop."""
        return is_past(self.deadline) or self.asked()

    @property
    def left(self) -> float:
        """Return the seconds left."""
        return seconds_left(self.deadline)

    @property
    def target(self) -> float:
        """Return the bound at which the best pattern counts as optimal."""
        whole = self.separator.cost
        grain = 1.0 if len(whole) and (whole == np.round(whole)).all() else 0.0
        return min(self.price - grain + 1e-6, self.price * (1 - max(self.gap, 1e-9)))

    @property
    def done(self) -> bool:
        """Return True when the best pattern is proven."""
        return self.bound >= self.target - 1e-9 * max(1.0, self.price)

    def offer_pattern(self, pattern: Flags) -> bool:
        """Take a safe pattern when it is cheaper than the best."""
        price = self.separator.problem.price(pattern)
        if price < self.price - 1e-9 * max(1.0, self.price):
            self.best, self.price = pattern, price
            return True
        return False

    def mend(self, x: Floats) -> bool:
        """Make an unsafe binary point safe and take it when it is cheaper than the best."""
        sep = self.separator
        quiet = Context.start(0)
        safe = repair(sep.problem, sep.pattern(x), quiet)
        return self.offer_pattern(clean(sep.problem, safe, quiet, limit_seconds=self.left))


def solve_exact(
    problem: Problem,
    *,
    time_limit: float = 60.0,
    gap: float = 0.0,
    start: Flags | None = None,
    should_stop: Stop | None = None,
    engine: str = "auto",
) -> ExactOutcome:
    """Find the cheapest safe pattern, or the best one found in time with a bound on the cheapest.

    The search begins with the pattern ``start``, made safe, and ends at a relative gap, after ``time_limit`` seconds or
    when ``should_stop`` says so; a safe pattern is returned in any case. The engine ``highs`` is a loop of cuts, ``scip``
    branch and cut with lazy cuts (the loop where it is not installed); ``auto`` takes it for tables of three and more
    dimensions.

    Infeasible names the cells that no pattern can protect; Cancelled is raised when ``should_stop`` says so before there
    is a first pattern.
    """
    begun = time.monotonic()
    asked = should_stop or (lambda: False)
    quiet = Context.start(0)
    # A quarter of the time at most goes into the first pattern.
    first = Context.start(0, should_stop=asked)
    # A pattern that is given has been improved already; a first look of our own is then enough.
    tries = 60 if start is None else 5
    pattern, _ = suppress(problem, first, tries=tries, limit_seconds=time_limit / 4)
    separator = Separator(problem)
    search = Search(separator, pattern, problem.price(pattern), begun + time_limit, asked, gap)
    if start is not None:
        given = repair(problem, start, quiet)
        search.offer_pattern(clean(problem, given, quiet, limit_seconds=search.left / 4))
    used = "highs"
    try:
        if len(separator.free):
            root_phase(search)
            if not search.done and not search.stop():
                used = integer_phase(search, engine)
        else:
            search.bound = search.price
    except Interruption:
        raise
    except KeyboardInterrupt:
        # One interrupt ends the search, not the run: a safe pattern is at hand.
        pass
    bound = search.price if search.done and gap == 0 else min(search.bound, search.price)
    share = 0.0 if search.price <= 0 else (search.price - bound) / search.price
    return ExactOutcome(
        search.best,
        search.price,
        bound,
        share,
        search.done,
        separator.made,
        time.monotonic() - begun,
        used,
    )


def integer_phase(search: Search, engine: str) -> str:
    """Run the branching part on the engine asked for; return its name."""
    wanted = engine == "scip" or (engine == "auto" and search.separator.tangled)
    if wanted and has_scip():
        branch_and_cut(search)
        return "scip"
    cut_loop(search)
    return "highs"


def root_phase(search: Search) -> None:
    """Solve the linear relaxation by cuts, with patterns that follow its points."""
    sep = search.separator
    search.cuts.extend(sep.lines())
    n = len(sep.free)
    lp = Highs(
        LinearModel.of(sep.cost, sparse.csc_array((0, n)), np.zeros(0), np.zeros(0), 0.0, 1.0)
    )
    add_cuts(lp, search.cuts)
    last, stalled = -1.0, 0
    for turn in range(500):
        found = lp.solve(time_limit=search.left + 0.1)
        if found.state == "infeasible":
            # Cells were fixed so that only cheaper patterns than the best are left: there is none.
            search.bound = search.price
        if found.state != "optimal" or found.x is None or found.reduced is None:
            break
        x = found.x
        search.bound = max(search.bound, found.value)
        search.root = x
        fix(search, found.value, found.reduced, lp)
        if search.done or search.stop():
            break
        if turn in (5, 15, 40):
            search.offer_pattern(round_fractional_point(sep.problem, x, sep.free, search.left / 4))
        cuts = sep.fractional(x, stop=search.stop)
        bridges = sep.bridges(x)
        stalled = stalled + 1 if found.value < last + 1e-4 * max(1.0, search.price - last) else 0
        last = max(last, found.value)
        if (not cuts and not bridges) or stalled >= 8:
            break
        add_cuts(lp, cuts)
        add_bridges(lp, bridges)
        search.cuts.extend(cuts)
        search.bridges.extend(bridges)
    if not search.done and not search.stop() and search.root is not None:
        search.offer_pattern(
            round_fractional_point(sep.problem, search.root, sep.free, search.left / 4)
        )
        keep_tight(search)


def fix(search: Search, value: float, reduced: Floats, lp: Highs) -> None:
    """Fix cells by reduced costs: those whose change would cost more than the best pattern.

    The reduced cost of a cell that is fixed already says what its bound is worth, and nothing of the other value.
    """
    room = search.price - value + 1e-6 * max(1.0, search.price)
    open_cells = ~(search.out | search.into)
    out = (reduced > room) & open_cells
    into = (reduced < -room) & open_cells
    search.out |= out
    search.into |= into
    if out.any():
        lp.set_bounds(np.flatnonzero(out), 0.0, 0.0)
    if into.any():
        lp.set_bounds(np.flatnonzero(into), 1.0, 1.0)


def keep_tight(search: Search) -> None:
    """Drop cuts that are slack at the end of the root phase."""
    x = search.root
    assert x is not None
    search.cuts = [c for c in search.cuts if c.left(x) < 1.2]
    search.bridges = [(i, others) for i, others in search.bridges if x[others].sum() < x[i] + 0.2]


def add_cuts(lp: Highs, cuts: Sequence[Cut]) -> None:
    """Add cuts as rows."""
    for cut in cuts:
        lp.add_row(cut.columns, cut.values, 1.0)


def add_bridges(lp: Highs, bridges: Sequence[tuple[int, Ints]]) -> None:
    """Add the rows sum of others - x >= 0."""
    for cell, others in bridges:
        values = np.append(np.ones(len(others)), -1.0)
        lp.add_row(np.append(others, cell), values, 0.0)


def cut_loop(search: Search) -> None:
    """Branch on HiGHS: solve the master in whole numbers, separate its answer, repeat."""
    sep = search.separator
    lp = Highs(build_master(search))
    exact = False
    while not search.done and not search.stop():
        lp.start_from(sep.point(search.best))
        # Early answers are not worth a proof: a third of the gap that is left will do.
        rest = (search.price - search.bound) / search.price
        loose = search.gap if exact else max(search.gap, 0.3 * rest)
        found = lp.solve(time_limit=search.left, gap=loose, should_stop=search.asked)
        if found.state == "infeasible":
            # Fixing by reduced costs leaves only patterns cheaper than the best: there is none.
            search.bound = search.price
            return
        if np.isfinite(found.bound):
            search.bound = max(search.bound, found.bound)
        if found.x is None:
            return
        x = np.round(found.x)
        cuts = sep.cut_binary_point(x)
        if not cuts:
            search.offer_pattern(sep.pattern(x))
            if exact and found.state == "optimal":
                search.bound = max(search.bound, min(found.bound, search.price))
                return
            exact = True
            continue
        add_cuts(lp, cuts)
        search.mend(x)


# -- branch and cut on SCIP ---------------------------------------------------------------------------


def branch_and_cut(search: Search) -> None:
    """Finish a search whose root phase is done; bound and best pattern are kept in it."""
    program = LazyScip(build_master(search), SafetyJudge(search))
    program.start_from(search.separator.point(search.best))
    found = program.solve(time_limit=search.left, gap=search.gap)
    if found.state == "infeasible" or (found.state == "optimal" and search.gap == 0):
        # With cells fixed by reduced costs, infeasible means that nothing is cheaper than the best.
        search.bound = search.price
    elif math.isfinite(found.bound):
        search.bound = max(search.bound, min(found.bound, search.price))


def build_master(search: Search) -> LinearModel:
    """Return the master problem with the cuts and bridges of the root phase."""
    cost = search.separator.cost
    n = len(cost)
    rows = [(cut.columns, cut.values) for cut in search.cuts]
    for cell, others in search.bridges:
        rows.append((np.append(others, cell), np.append(np.ones(len(others)), -1.0)))
    at = np.repeat(np.arange(len(rows)), [len(columns) for columns, _ in rows])
    columns = np.concatenate([c for c, _ in rows]) if rows else np.zeros(0, dtype=np.int64)
    values = np.concatenate([v for _, v in rows]) if rows else np.zeros(0)
    least = np.r_[np.ones(len(search.cuts)), np.zeros(len(search.bridges))]
    return LinearModel.of(
        cost,
        sparse.csc_array((values, (at, columns)), shape=(len(rows), n)),
        least,
        np.inf,
        search.into.astype(np.float64),
        1.0 - search.out,
        integer=np.ones(n, dtype=bool),
    )


class SafetyJudge:
    """Decides which patterns are safe, and cuts off those that are not."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.turns = 0
        self.better = False

    def accepts(self, x: Floats) -> bool:
        """Return True when a candidate of the solver's heuristics is safe."""
        if self.search.separator.cut_binary_point(x, most=1):
            return False
        self.search.offer_pattern(self.search.separator.pattern(x))
        return True

    def cut_whole(self, x: Floats) -> list[Cut]:
        """Return cuts against a whole point; none when it is safe."""
        cuts = self.search.separator.cut_binary_point(x)
        if not cuts:
            self.search.offer_pattern(self.search.separator.pattern(x))
            return cuts
        # Some of the unsafe candidates are made safe and handed back.
        self.turns += 1
        often = self.turns & (self.turns - 1) == 0 or self.turns % 16 == 0
        self.better = often and self.search.mend(x)
        return cuts

    def cut_fractional(self, x: Floats) -> list[Cut]:
        """Return cuts against a fractional point."""
        return self.search.separator.fractional(x, stop=self.search.stop)

    def wants_to_stop(self) -> bool:
        """Return True when the search was asked to end."""
        return self.search.asked()

    def suggest(self) -> Floats | None:
        """Return the best pattern when mending has just found it."""
        found, self.better = self.better, False
        return self.search.separator.point(self.search.best) if found else None
