"""Choosing and combining the ways of solving a rounding problem: flow, search, integer program.

References
----------
Salazar-Gonzalez (2006), A new approach to round tabular data, PSD 2006, LNCS 4302, 25-34.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.solve import Highs, LinearModel
from tacit.tables.rounding.flow import solve_flow
from tacit.tables.rounding.model import Model, Secondary, model_of, network_of
from tacit.tables.rounding.search import search
from tacit.time_limits import seconds_left

Strategy = Literal["auto", "flow", "mip", "local_search"]
State = Literal["optimal", "feasible", "infeasible", "unknown"]

#: Movable cells up to which the integer program is tried for the proven optimum.
EXACT_CELLS = 400
#: Movable cells up to which nothing but the integer program is needed.
TINY_CELLS = 60
#: Elementary operations of the search where the integer program follows it.
SHORT = 100_000_000
#: Entries of the totals up to which the relaxation gives a bound on the objective.
BOUND_ENTRIES = 30_000
#: Bases by which free cells may move at most when relations leave no other rounding.
MOST_SHIFT = 4
#: Bases beyond their adjacent multiples that totals are let go at most.
MOST_BASES = 10_000


@dataclass(frozen=True, eq=False)
class RoundingOutcome:
    """What was found for a rounding problem."""

    #: ``optimal`` (y and the secondary objective are proven), ``feasible`` (they are not both),
    #: ``infeasible`` (proven: there is no such rounding), ``unknown`` (none was found in time).
    status: State
    #: The rounded cells, all of them; None without one.
    values: Floats | None
    #: The most bases by which a total leaves its adjacent multiples, and a proven lower bound on
    #: it.
    y: int | None
    y_bound: int
    #: |I| base y + the secondary objective, and the bound on it for this y.
    objective: float
    objective_bound: float
    #: What gave the answer: flow, mip or local_search.
    strategy: str
    #: The bases by which ground cells were allowed to move.
    max_shift: int = 1
    #: Nodes of the branch and bound, moves of the search.
    nodes: int = 0
    moves: int = 0
    #: Processor seconds.
    seconds: float = 0.0
    #: (seconds, y) whenever a better y was found.
    trace: tuple[tuple[float, int], ...] = ()


@dataclass
class Clock:
    """The time that is left, and the user's wish to stop."""

    limit: float
    tick: Callable[[float | None], None] = lambda _share: None
    should_stop: Callable[[], bool] = lambda: False
    begun: float = field(default_factory=time.monotonic)
    cpu: float = field(default_factory=time.process_time)

    @property
    def deadline(self) -> float:
        """Return when to end, as time.monotonic()."""
        return self.begun + self.limit

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return seconds_left(self.deadline)

    @property
    def spent(self) -> float:
        """Return the processor seconds spent."""
        return time.process_time() - self.cpu


def solve_rounding(
    table: Table,
    base: float,
    *,
    strict: bool = False,
    secondary: Secondary = "nearest",
    count_totals: bool = False,
    free_zeros: bool = False,
    max_shift: int = 1,
    protection: bool = False,
    strategy: Strategy = "auto",
    time_limit: float = 60.0,
    rng: np.random.Generator | None = None,
    clock: Clock | None = None,
) -> RoundingOutcome:
    """Round a table to multiples of the base so that every relation holds.

    Parameters
    ----------
    table, base
        What is rounded, to multiples of what.
    strict
        Every total must be adjacent to its value as well (zero-restricted controlled rounding).
    secondary, count_totals, free_zeros, max_shift, protection, strategy, time_limit
        As in :class:`tacit.ControlledRounding`.
    rng
        Random numbers of the search and of ``secondary="random"``.

    Returns
    -------
    RoundingOutcome
        With ``status`` ``infeasible`` where it is proven that there is no such rounding.
    """
    rng = rng or np.random.default_rng(0)
    clock = clock or Clock(time_limit)
    model = model_of(
        table,
        base,
        secondary=secondary,
        count_totals=count_totals,
        free_zeros=free_zeros,
        max_shift=max_shift,
        protection=protection,
        rng=rng,
    )
    outcome = by_flow(model, strict, strategy, max_shift, clock)
    if outcome is not None:
        return outcome
    shift = max_shift
    while True:
        outcome = general(Attempt(model, "mip", shift, clock), strict, strategy, rng)
        tied = outcome.status == "infeasible" and len(model.right) and not strict
        if not tied or shift >= MOST_SHIFT:
            return outcome
        # Several definitions of one total may leave no adjacent rounding: move further.
        model, shift = model.shifted(1), shift + 1


@dataclass
class Attempt:
    """One way to round a model, and what it has taken so far."""

    model: Model
    strategy: str
    shift: int
    clock: Clock
    moves: int = 0
    nodes: int = 0
    trace: tuple[tuple[float, int], ...] = ()

    def ends_with(self, answer: Answer, *, bound: int = 0) -> RoundingOutcome:
        """Return the outcome for an answer, with y and objective recomputed from the steps."""
        assert answer.steps is not None
        model = self.model
        spread = model.spread(answer.steps)
        y = model.furthest(spread)
        large = len(model.free) * model.base * y
        objective = large + model.secondary(spread)
        done = answer.state == "optimal" and y == bound
        return self.ends(
            "optimal" if done else "feasible",
            min(bound, y),
            y=y,
            values=model.values(answer.steps),
            objective=objective,
            objective_bound=objective if done else large + answer.bound,
            trace=self.trace,
        )

    def ends(self, status: State, y_bound: int, **found: Any) -> RoundingOutcome:
        """Return the outcome, by default one without a rounding."""
        nothing = {"values": None, "y": None, "objective": math.inf, "objective_bound": math.inf}
        return RoundingOutcome(
            status=status,
            y_bound=y_bound,
            strategy=self.strategy,
            max_shift=self.shift,
            nodes=self.nodes,
            moves=self.moves,
            seconds=self.clock.spent,
            **(nothing | found),
        )


def by_flow(
    model: Model, strict: bool, strategy: Strategy, shift: int, clock: Clock
) -> RoundingOutcome | None:
    """Return the optimum of a one- or two-way table; None when it is no network."""
    network = network_of(model.table) if strategy in ("auto", "flow") and shift == 1 else None
    if network is None:
        if strategy == "flow":
            raise InputError(
                "strategy='flow' needs a one- or two-way table with subtotals in at most one "
                "dimension and max_shift=1; strategy='auto' finds another way"
            )
        return None
    attempt = Attempt(model, "flow", shift, clock)
    for y in range(int(np.abs(model.high).max(initial=1)) + 2):
        if y and model.unit[model.margin].any():
            return None
        steps = solve_flow(model, network, y, clock.tick)
        if steps is not None:
            return attempt.ends_with(Answer("optimal", steps, 0.0, 0.0), bound=y)
        if strict:
            return attempt.ends("infeasible", 1)
    return None


def general(
    attempt: Attempt, strict: bool, strategy: Strategy, rng: np.random.Generator
) -> RoundingOutcome:
    """Return the rounding of any table: a search for y, then proofs where the size allows them."""
    model, clock = attempt.model, attempt.clock
    movable = int((model.high[model.free] > model.low[model.free]).sum())
    small = movable <= EXACT_CELLS
    exact = strategy == "mip" or (strategy == "auto" and (small or len(model.right) > 0))
    best: Answer | None = None
    y: int | None = None
    if not exact or movable > TINY_CELLS:
        first = search(
            model,
            rng,
            clock.begun + (0.3 if exact else 0.9) * clock.limit,
            clock.tick,
            polish=not (exact and small),
            **({"effort": SHORT} if exact and small else {}),
        )
        clock.tick(None)
        attempt.moves = first.moves
        if first.sound:
            best, y = Answer("feasible", first.steps, 0.0, -math.inf), first.y
            attempt.trace = ((clock.spent, y),)
    if exact or (strict and y != 0):
        return raise_until_feasible(attempt, best, y, strict)
    attempt.strategy = "local_search"
    if best is None or y is None:
        return attempt.ends("unknown", 0)
    if model.sums.nnz <= BOUND_ENTRIES and clock.left > 1:
        best = replace(best, bound=solve_relaxation(model, y, clock.left))
    return attempt.ends_with(best)


def raise_until_feasible(
    attempt: Attempt, best: Answer | None, best_y: int | None, strict: bool
) -> RoundingOutcome:
    """Raise y from 0 by integer programs until one has an answer; keep the best when time is up."""
    model, clock = attempt.model, attempt.clock
    bound, y = 0, 0
    settled = True
    while best_y is None or y <= best_y:
        known = best.steps if best is not None and y == best_y else None
        answer = solve_mip(
            model, y, time_limit=clock.left, start=known, should_stop=clock.should_stop
        )
        clock.tick(None)
        attempt.nodes += answer.nodes
        if answer.steps is not None:
            if known is not None and model.secondary(model.spread(known)) < answer.value:
                answer = Answer("feasible", known, 0.0, answer.bound)
            attempt.trace = (*attempt.trace, (clock.spent, y))
            return attempt.ends_with(
                answer if settled else replace(answer, state="feasible"), bound=bound
            )
        if answer.state == "infeasible":
            bound = y + 1 if settled else bound
            if strict or (y == 0 and len(model.right) and best is None and is_impossible(attempt)):
                return attempt.ends("infeasible", 1)
        elif strict or clock.left <= 0 or best_y is not None:
            break
        else:
            settled = False
        y += 1
        if (clock.left <= 0 and best_y is not None) or y > MOST_BASES:
            break
    if best is None or (strict and best_y):
        return attempt.ends("unknown", bound)
    attempt.strategy = "local_search"
    return attempt.ends_with(best, bound=bound)


def is_impossible(attempt: Attempt) -> bool:
    """Return True when no steps exist whatever the totals become."""
    clock = attempt.clock
    loose = solve_mip(attempt.model, ANY, time_limit=clock.left, should_stop=clock.should_stop)
    return loose.state == "infeasible"


# -- the integer program: the optimum of small tables, proofs and bounds -------------------------------
#
# With y fixed, the program is: minimise the secondary objective over whole steps x within their ranges,
# every total within y bases of its adjacent multiples, every extra relation exactly met. Rising y from
# its lower bound gives the lexicographic optimum of the paper's model without a large weight on y.


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
        lower, upper = [least, model.right], [most, model.right]
        beyond = self.beyond(y)
        every = sparse.vstack([sparse.eye_array(n), a], format="csr")
        floor = np.r_[np.zeros(n), model.floor[model.margin]]
        unit = np.r_[model.unit[model.free], model.unit[model.margin]]
        w = np.r_[model.cost[model.free], own]
        k = len(beyond)
        blocks = [[sparse.vstack([a, e]), sparse.csr_array((a.shape[0] + e.shape[0], 2 * k))]]
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
        lp.start_from(np.asarray(start, dtype=np.float64))
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


def solve_relaxation(model: Model, y: int, time_limit: float) -> float:
    """Return a bound on the objective for y, from steps that need not be whole."""
    program = Program(model, y)
    found = program.lp(whole=False).solve(time_limit=time_limit)
    if found.state == "infeasible":
        return math.inf
    return found.bound + program.constant if found.state == "optimal" else -math.inf
