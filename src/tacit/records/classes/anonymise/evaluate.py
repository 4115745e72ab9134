"""One node: which classes can be kept, what is suppressed, and what the node costs.

The fewest records are suppressed until limits on the file as a whole hold. A limit is linear when each released class bears a load and the loads of all must not sum to more than 0: the mean risk
is at most r when classes of n records, of risk x each, bear n (x - r). Suppressing the classes that cost least such that
every sum holds is a knapsack problem. Classes of the same cost and loads are one kind, and few kinds are left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.records.classes.anonymise.grouping import merge_classes
from tacit.records.classes.anonymise.models.condition import TOLERANCE, Condition, View
from tacit.records.classes.anonymise.objectives import Objective
from tacit.records.classes.anonymise.problem import Levels, Problem, State
from tacit.solve.highs import Highs
from tacit.solve.model import LinearModel

#: Prices closer than this are the same.
NEARLY = 1e-9


Scoped = tuple[Condition, tuple[int, ...]]


@dataclass(frozen=True)
class Node:
    """One node of the lattice."""

    levels: Levels
    #: True when every model holds once at most the allowed records are suppressed.
    safe: bool
    #: What the node costs in the objective; lower is better.
    value: float
    #: Records that must be suppressed there, and their share, of records or of weights.
    suppressed: int
    share: float
    #: Classes that are kept.
    classes: int
    #: False when other classes might be suppressed instead and be fewer records.
    exact: bool = True
    #: A value that no suppression undercuts there; what it costs where ``exact``.
    least: float = -math.inf


@dataclass(frozen=True)
class Kept:
    """The classes that are kept, and whether no others could be kept with fewer records suppressed.

    ``passing`` are those that pass by themselves: whatever is suppressed, no others can be kept.
    """

    alive: Flags
    exact: bool
    passing: Flags


@dataclass(frozen=True)
class Task:
    """A problem with what makes it safe, what it costs, and how much may be suppressed."""

    problem: Problem
    #: Conditions, each with the quasi-identifiers, by position, that it is about.
    conditions: tuple[Scoped, ...]
    objective: Objective
    suppression: float
    #: Sums of weights count for the suppression limit.
    weighted: bool

    @property
    def limit(self) -> float:
        """Return how many records, or how much weight, may be suppressed."""
        total = self.problem.total(self.weighted)
        return self.suppression * total + TOLERANCE * total

    @property
    def keeping(self) -> tuple[Scoped, ...]:
        """Return the conditions by which records that pass stay passing as keys climb."""
        return tuple((c, s) for c, s in self.conditions if c.keeps)

    @property
    def is_monotone(self) -> bool:
        """Return True when all nodes above a safe one are safe."""
        if all(c.keeps for c, _ in self.conditions):
            return True
        nothing = self.limit < 1 if not self.weighted else self.suppression == 0
        return nothing and all(c.merges for c, _ in self.conditions)

    def keep(self, state: State, *, keeping: bool = False, among: Flags | None = None) -> Kept:
        """Return the classes that can be kept, and whether they are known to be the most.

        ``keeping`` asks only conditions that climbing preserves; ``among`` names the classes that are kept so far, by
        default all.
        Suppressing a class for one quasi-identifier, or for a model that compares with the whole, can push
        another class out, so the rules are applied until nothing changes.
        """
        asked = self.keeping if keeping else self.conditions
        overall = [(c, s) for c, s in asked if c.overall]
        local = [(c, s) for c, s in asked if not c.overall]
        start = np.ones(len(state), dtype=bool) if among is None else among
        passing, sure = self.passing(state, start, local)
        alive = self.settle(state, start, local)
        exact = sure and bool((alive == passing).all())
        while True:
            kept, proven = self.meet_overall(state, alive, overall)
            if bool((kept == alive).all()):
                break
            alive = self.settle(state, kept, local)
            exact = exact and proven and bool((alive == kept).all())
        # Where no class goes, or not even one may, it does not matter which others would.
        nothing = bool((alive == start).all())
        too_many = float(state.amounts(self.weighted).min(initial=math.inf)) > self.limit
        return Kept(alive, exact or nothing or too_many, passing)

    def passing(self, state: State, start: Flags, local: Sequence[Scoped]) -> tuple[Flags, bool]:
        """Return classes of which no others can be kept, and whether all of them can.

        A class that fails by itself is out. Where quasi-identifiers overlap, classes of one are parts of several classes of
        another, and a condition must be one that more records never break.
        """
        alone = [(c, s) for c, s in local if not c.relative]
        if len(self.problem.groups) > 1:
            safe = [(c, s) for c, s in alone if c.keeps]
            return self.settle(state, start, safe), len(safe) == len(alone)
        return self.settle(state, start, alone), True

    def settle(self, state: State, alive: Flags, local: Sequence[Scoped]) -> Flags:
        """Suppress classes that fail by themselves until none does."""
        once = len(self.problem.groups) == 1 and not any(c.relative for c, _ in local)
        while True:
            keep = alive.copy()
            for group in range(len(self.problem.groups)):
                mine = [c for c, s in local if group in s]
                if mine:
                    view, ids = self.view(state, group, keep)
                    for condition in mine:
                        passes = condition.passes(view)
                        keep &= passes if ids is None else passes[ids]
            settled = once or bool((keep == alive).all())
            alive = keep
            if settled:
                return alive

    def meet_overall(
        self, state: State, alive: Flags, overall: Sequence[Scoped]
    ) -> tuple[Flags, bool]:
        """Suppress classes until the conditions on the whole hold; say whether these are known to be the fewest records."""
        pairs = [(c, group) for c, scope in overall for group in scope]
        wrong = [c for c, g in pairs if not c.holds(self.view(state, g, alive)[0])]
        if not wrong or not alive.any():
            return alive, True
        if not all(c.helped for c in wrong):
            return np.zeros_like(alive), True
        if all(len(self.problem.groups[g]) == len(self.problem.keys) for _, g in pairs):
            view, _ = self.view(state, pairs[0][1], alive)
            loads = [c.loads(view) for c, _ in pairs if c.helped]
            if all(load is not None for load in loads):
                chosen, proven = self.drop_fewest(state, alive, np.stack(loads))  # type: ignore[arg-type]
                if not chosen.any() or self.hold(state, chosen, pairs):
                    return chosen, proven
        return self.drop_smallest(state, alive, pairs), False

    def hold(self, state: State, alive: Flags, overall: Sequence[tuple[Condition, int]]) -> bool:
        """Return whether the conditions on the whole hold for some classes."""
        return all(c.holds(self.view(state, group, alive)[0]) for c, group in overall)

    def drop_fewest(self, state: State, alive: Flags, loads: Floats) -> tuple[Flags, bool]:
        """Suppress the fewest records so that no sum of loads is above 0; of as many records those that lose most."""
        at = np.flatnonzero(alive)
        amounts, loads = state.amounts(self.weighted)[at], loads[:, at]
        priced = self.objective.compute_prices(self.problem, state)
        price = np.zeros(len(at)) if priced is None else priced[at]
        kinds, of, count = np.unique(
            np.vstack([amounts, loads]), axis=1, return_inverse=True, return_counts=True
        )
        found = choose_fewest(kinds[0], kinds[1:], count)
        # Of classes that are equal in this, those with the least price go.
        gone, proven = take_from_kinds(found.number, of.ravel(), count, price), found.proven
        if proven and price[gone].sum() > bound_price(amounts, price, amounts[gone].sum()) + NEARLY:
            # Other classes of as many records might lose more: of those, the cheapest to suppress are chosen.
            gone, proven = pick_cheapest(amounts, loads, price, gone)
        kept = alive.copy()
        kept[at[gone]] = False
        return kept, proven

    def drop_smallest(
        self, state: State, alive: Flags, overall: Sequence[tuple[Condition, int]]
    ) -> Flags:
        """Suppress the smallest classes, size by size, until the conditions on the whole hold; of the last size a part."""
        before, sizes = alive, np.zeros(len(alive), dtype=np.int64)
        while alive.any():
            wrong = [g for c, g in overall if not c.holds(self.view(state, g, alive)[0])]
            if not wrong:
                break
            view, ids = self.view(state, wrong[0], alive)
            sizes = view.n if ids is None else view.n[ids]
            before, alive = alive, alive & (sizes > sizes[alive].min())
        last = np.flatnonzero(before & ~alive)
        few, many = 0, len(last)
        while few < many:
            middle = (few + many) // 2
            some = before.copy()
            some[last[:middle]] = False
            if some.any() and self.hold(state, some, overall):
                alive, many = some, middle
            else:
                few = middle + 1
        return alive

    def view(self, state: State, group: int, alive: Flags) -> tuple[View, Ints | None]:
        """Return the released classes of a quasi-identifier, and the class there of each class here."""
        places = self.problem.groups[group]
        n = np.where(alive, state.n, 0)
        weight = None if state.weight is None else np.where(alive, state.weight, 0.0)
        values = {c: v.within(alive[v.of_class]) for c, v in state.values.items()}
        if len(places) == len(self.problem.keys):
            return View(n, weight, values, self.problem.people(state, places, state.codes)), None
        codes = np.ascontiguousarray(state.codes[:, places])
        sizes = self.problem.code_sizes(state.levels)
        merged = merge_classes(codes, [sizes[j] for j in places], n, weight)
        values = {
            c: v.merged(merged.ids, len(merged.n), self.problem.sizes[c]) for c, v in values.items()
        }
        people = self.problem.people(state, places, merged.codes)
        return View(merged.n, merged.weight, values, people), merged.ids

    def judge(self, state: State) -> Node:
        """Return what a node is worth."""
        kept = self.keep(state)
        alive = kept.alive
        amount = float(state.amounts(self.weighted)[~alive].sum())
        total = self.problem.total(self.weighted)
        value = self.objective.value(self.problem, state, alive)
        least = value if kept.exact else self.least_value(state, kept.passing)
        return Node(
            levels=state.levels,
            safe=amount <= self.limit and (bool(alive.any()) or self.nothing_is_safe(state)),
            value=value,
            suppressed=int(state.n[~alive].sum()),
            share=amount / total if total else 0.0,
            classes=int(alive.sum()),
            exact=kept.exact,
            least=least,
        )

    def least_value(self, state: State, passing: Flags) -> float:
        """Return a value that no suppression undercuts, whatever is suppressed besides the classes that fail."""
        if float(state.amounts(self.weighted)[~passing].sum()) > self.limit:
            return math.inf
        if not self.objective.by_record:
            return -math.inf
        return self.objective.bound(self.problem, state, state.levels, passing)

    def nothing_is_safe(self, state: State) -> bool:
        """Return whether a release of no records meets the conditions on the whole."""
        overall = [(c, group) for c, scope in self.conditions if c.overall for group in scope]
        return self.hold(state, np.zeros(len(state), dtype=bool), overall)


def pick_cheapest(amounts: Floats, loads: Floats, price: Floats, gone: Flags) -> tuple[Flags, bool]:
    """Return the classes of least price among those with as many records as some, and whether they are the cheapest."""
    kinds, of, count = np.unique(
        np.vstack([amounts, price, loads]), axis=1, return_inverse=True, return_counts=True
    )
    of = of.ravel()
    # No more records may go than did: one more limit on the whole.
    records = amounts[gone].sum() * (1 + TOLERANCE)
    excess = np.append(kinds[2:] @ count, -records)
    found = solve_program(kinds[1], np.vstack([kinds[2:], -kinds[0]]), count, excess)
    if found is None:
        return gone, False
    cheapest = take_from_kinds(found.number, of, count, price)
    if price[cheapest].sum() >= price[gone].sum():
        return gone, True
    holds = (loads[:, ~cheapest].sum(axis=1) <= NEARLY).all()
    return (cheapest, True) if holds and amounts[cheapest].sum() <= records else (gone, False)


def take_from_kinds(number: Ints, of: Ints, count: Ints, price: Floats) -> Flags:
    """Return which classes go when some of each kind do: those with the least price."""
    order = np.lexsort([np.arange(len(of)), price, of])
    begins = np.cumsum(count) - count
    place = np.arange(len(of)) - begins[of[order]]
    gone = np.zeros(len(of), dtype=bool)
    gone[order[place < number[of[order]]]] = True
    return gone


def bound_price(amounts: Floats, price: Floats, wanted: float) -> float:
    """Return what so much costs at least, were parts of classes suppressed: no choice of whole ones costs less."""
    order = np.argsort(price / np.maximum(amounts, 1e-300), kind="stable")
    before = np.cumsum(amounts[order]) - amounts[order]
    part = np.clip((wanted - before) / np.maximum(amounts[order], 1e-300), 0.0, 1.0)
    return float(part @ price[order])


#: Kinds of classes, and nodes of the search tree, up to which the integer program is solved.
KINDS, NODES = 2_000, 2_000
#: Room for what adding up loads loses.
SLIGHT = 1e-9


@dataclass(frozen=True)
class Fewest:
    """How many classes of each kind go, and whether no other choice costs less."""

    number: Ints
    proven: bool


def choose_fewest(cost: Floats, loads: Floats, count: Ints) -> Fewest:
    """Return how many classes of each kind to suppress so that no sum of loads is above 0.

    A class of a kind costs its records, or their weight; ``loads`` has one row for each limit.
    """
    excess = loads @ count
    if len(loads) == 1:
        found = choose_for_one(cost, loads[0], count, float(excess[0]))
        if found.proven:
            return found
    else:
        found = Fewest(np.where((loads > 0).any(axis=0), count, 0), False)
    return solve_program(cost, loads, count, excess) or found


def choose_for_one(cost: Floats, load: Floats, count: Ints, excess: float) -> Fewest:
    """Return the choice for one limit: the best by load for its cost, proven where a bound meets it."""
    use = np.flatnonzero(load > 0)
    by_cost = use[np.lexsort([-load[use], cost[use]])]
    if (np.diff(load[by_cost]) <= 0).all():
        # The cheapest classes also bear most: as few as possible of them are the best choice.
        return Fewest(take_in_order(load, count, by_cost, excess), True)
    order = use[np.lexsort([-cost[use], -load[use] / np.maximum(cost[use], 1e-300)])]
    number = fill_up(cost, load, count, order, excess)
    least = bound_price((load * count)[use], (cost * count)[use], excess)
    if bool((cost == np.rint(cost)).all()):
        least = np.ceil(least - SLIGHT * max(least, 1.0))
    return Fewest(number, float(cost @ number) <= least * (1 + SLIGHT))


def take_in_order(load: Floats, count: Ints, order: Ints, excess: float) -> Ints:
    """Return as few classes as make up for the excess, in an order."""
    number = np.zeros_like(count)
    for kind in order.tolist():
        if excess <= SLIGHT:
            break
        number[kind] = min(int(count[kind]), int(np.ceil(excess / load[kind] - SLIGHT)))
        excess -= number[kind] * load[kind]
    return number


def fill_up(cost: Floats, load: Floats, count: Ints, order: Ints, excess: float) -> Ints:
    """Return classes in an order without going beyond the excess, and then the cheapest that make up for the rest."""
    number = np.zeros_like(count)
    for kind in order.tolist():
        number[kind] = min(int(count[kind]), int(max(excess, 0.0) / load[kind] + SLIGHT))
        excess -= number[kind] * load[kind]
    while excess > SLIGHT:
        left = order[number[order] < count[order]]
        enough = left[load[left] >= excess - SLIGHT]
        if len(enough):
            kind = int(enough[np.argmin(cost[enough])])
        else:
            kind = int(left[np.argmax(load[left])])
        number[kind] += 1
        excess -= load[kind]
    return number


def solve_program(cost: Floats, loads: Floats, count: Ints, excess: Floats) -> Fewest | None:
    """Return the classes of each kind that cost least and make up for the excess, or None where the search was cut off.

    Costs are any numbers; the integer program is left out where kinds are too many.
    """
    if len(cost) > KINDS:
        return None
    scale = np.maximum(np.abs(loads).max(axis=1), 1e-300)
    model = LinearModel.of(
        cost,
        sparse.csc_array(loads / scale[:, None]),
        excess / scale,
        np.inf,
        0.0,
        count.astype(np.float64),
        integer=np.ones(len(cost), dtype=bool),
    )
    solved = Highs(model, options={"mip_max_nodes": NODES}).solve(gap=0.0)
    if solved.state != "optimal" or solved.x is None:
        return None
    return Fewest(np.rint(solved.x).astype(np.int64), True)
