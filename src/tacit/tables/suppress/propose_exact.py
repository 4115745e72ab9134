"""Exact suppression: linear relaxation, patterns that follow it, and the cut loop on HiGHS."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.events import Interruption
from tacit.solve import Highs, LinearModel
from tacit.solve.scip import has_scip
from tacit.tables.suppress.clean_up import clean
from tacit.tables.suppress.moves.cuts import Cut, Separator, Stop
from tacit.tables.suppress.problem import Problem
from tacit.tables.suppress.repair import repair, suppress
from tacit.time_limits import is_past, seconds_left


@dataclass(frozen=True, eq=False)
class ExactOutcome:
    """What an exact search found.

    Attributes
    ----------
    pattern
        The best safe pattern (unsafe and forced cells included).
    price
        The cost of its secondary cells.
    bound
        No safe pattern costs less.
    gap
        (price - bound) / price.
    proven
        True when the pattern is optimal (within the gap that was asked for).
    cuts
        How many cuts were made.
    seconds
        Elapsed time.
    engine
        Which solver finished the search.
    """

    pattern: Flags
    price: float
    bound: float
    gap: float
    proven: bool
    cuts: int
    seconds: float
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
    #: Cells that no cheaper pattern hides, and cells that every cheaper one hides.
    out: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    into: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    root: Floats | None = None

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

    Parameters
    ----------
    problem
        The suppression problem.
    time_limit
        Seconds; a safe pattern is returned in any case.
    gap
        Relative gap at which to stop.
    start
        A pattern to begin with; it is made safe first.
    should_stop
        Asked now and then; True ends the search with the best pattern so far.
    engine
        ``highs`` (cut loop), ``scip`` (branch and cut with lazy cuts; the cut loop where it is not
        installed) or ``auto``, which takes ``scip`` for tables of three and more dimensions.

    Raises
    ------
    Infeasible
        Naming the cells that no pattern can protect.
    Cancelled
        When ``should_stop`` says so before there is a first pattern.
    """
    begun = time.monotonic()
    asked = should_stop or return_false
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
    free = len(separator.free)
    search.out, search.into = np.zeros(free, dtype=bool), np.zeros(free, dtype=bool)
    used = "highs"
    try:
        if free:
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


def return_false() -> bool:
    """Return False."""
    return False


def integer_phase(search: Search, engine: str) -> str:
    """Run the branching part on the engine asked for; return its name."""
    wanted = engine == "scip" or (engine == "auto" and search.separator.tangled)
    if wanted and has_scip():
        # It knows this module's search.
        from tacit.tables.suppress.propose_exact_scip import branch_and_cut

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
    """Fix cells by reduced costs: those whose change would cost more than the best pattern."""
    room = search.price - value + 1e-6 * max(1.0, search.price)
    out = (reduced > room) & ~search.out
    into = (reduced < -room) & ~search.into
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
    n = len(sep.free)
    upper = np.where(search.out, 0.0, 1.0)
    lower = np.where(search.into, 1.0, 0.0)
    lp = Highs(
        LinearModel.of(
            sep.cost,
            sparse.csc_array((0, n)),
            np.zeros(0),
            np.zeros(0),
            lower,
            upper,
            integer=np.ones(n, dtype=bool),
        )
    )
    add_cuts(lp, search.cuts)
    add_bridges(lp, search.bridges)
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
