"""One node: which classes can be kept, what is suppressed, and what the node costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tacit.protect.anonymise.grouping import Ints, merge_classes
from tacit.protect.anonymise.models.registry import TOLERANCE, Condition, View
from tacit.protect.anonymise.objectives import Objective
from tacit.protect.anonymise.problem import Flags, Levels, Problem, State


@dataclass(frozen=True)
class Node:
    """One node of the lattice.

    Attributes
    ----------
    levels
        The level of each key.
    safe
        True when every model holds once at most the allowed records are suppressed.
    value
        What the node costs in the objective; lower is better.
    suppressed
        Records that must be suppressed there.
    share
        Their share, of records or of weights.
    classes
        Classes that are kept.
    """

    levels: Levels
    safe: bool
    value: float
    suppressed: int
    share: float
    classes: int


@dataclass(frozen=True)
class Task:
    """A problem with what makes it safe, what it costs, and how much may be suppressed."""

    problem: Problem
    conditions: tuple[Condition, ...]
    objective: Objective
    suppression: float
    #: Sums of weights count for the suppression limit.
    weighted: bool
    #: For each condition: the quasi-identifiers, by position, that it is about.
    scopes: tuple[tuple[int, ...], ...]
    names: Mapping[str, int] = field(default_factory=dict)

    @property
    def limit(self) -> float:
        """Return how many records, or how much weight, may be suppressed."""
        total = self.problem.total(self.weighted)
        return self.suppression * total + TOLERANCE * total

    @property
    def keeping(self) -> tuple[tuple[Condition, tuple[int, ...]], ...]:
        """Return the conditions by which records that pass stay passing as keys climb."""
        return tuple((c, s) for c, s in self.scoped() if c.keeps)

    @property
    def is_monotone(self) -> bool:
        """Return True when all nodes above a safe one are safe."""
        if all(c.keeps for c in self.conditions):
            return True
        nothing = self.limit < 1 if not self.weighted else self.suppression == 0
        return nothing and all(c.merges for c in self.conditions)

    def scoped(self) -> list[tuple[Condition, tuple[int, ...]]]:
        """Return each condition with the quasi-identifiers that it is about."""
        return list(zip(self.conditions, self.scopes, strict=True))

    def survivors(
        self, state: State, *, keeping: bool = False, among: Flags | None = None
    ) -> Flags:
        """Return the classes that can be kept; ``keeping`` asks only conditions that climbing preserves.

        ``among`` names the classes that are kept so far, by default all.
        Suppressing a class for one quasi-identifier, or for a model that compares with the whole, can push
        another class out, so the rules are applied until nothing changes.
        """
        asked = list(self.keeping) if keeping else self.scoped()
        overall = [(c, s) for c, s in asked if c.overall]
        alive = np.ones(len(state), dtype=bool) if among is None else among
        while True:
            alive = self.settle(state, alive, [(c, s) for c, s in asked if not c.overall])
            kept = self.drop_smallest(state, alive, overall)
            if bool((kept == alive).all()):
                return alive
            alive = kept

    def settle(
        self, state: State, alive: Flags, local: Sequence[tuple[Condition, tuple[int, ...]]]
    ) -> Flags:
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

    def drop_smallest(
        self, state: State, alive: Flags, overall: Sequence[tuple[Condition, tuple[int, ...]]]
    ) -> Flags:
        """Suppress the smallest classes, size by size, until the conditions on the whole hold."""
        while alive.any():
            wrong = [
                group
                for condition, scope in overall
                for group in scope
                if not condition.holds(self.view(state, group, alive)[0])
            ]
            if not wrong:
                return alive
            view, ids = self.view(state, wrong[0], alive)
            sizes = view.n if ids is None else view.n[ids]
            alive = alive & (sizes > sizes[alive].min())
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
        alive = self.survivors(state)
        gone = ~alive
        records = int(state.n[gone].sum())
        amount = float(state.amounts(self.weighted)[gone].sum())
        total = self.problem.total(self.weighted)
        return Node(
            levels=state.levels,
            safe=amount <= self.limit and (bool(alive.any()) or self.nothing_is_safe(state)),
            value=self.objective.value(self.problem, state, alive),
            suppressed=records,
            share=amount / total if total else 0.0,
            classes=int(alive.sum()),
        )

    def nothing_is_safe(self, state: State) -> bool:
        """Return whether a release of no records meets the conditions on the whole."""
        nobody = np.zeros(len(state), dtype=bool)
        return all(
            c.holds(self.view(state, group, nobody)[0])
            for c, scope in self.scoped()
            if c.overall
            for group in scope
        )
