"""Local search on the lattice: good nodes soon, without proof."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from tacit.records.classes.anonymise.evaluate import Node, Task
from tacit.records.classes.anonymise.problem import Levels
from tacit.records.classes.anonymise.search.boxes import Found, Limits
from tacit.records.classes.anonymise.search.states import States
from tacit.time_limits import is_past

#: Rounds without a better node after which the search ends.
PATIENCE = 12


class LocalSearch:
    """Steps of one level in one key, exchanges between two keys, and kicks, from the top down."""

    def __init__(
        self,
        task: Task,
        states: States,
        found: Found,
        rng: np.random.Generator,
        tick: Callable[[float], None],
    ) -> None:
        self.task, self.states, self.found, self.rng, self.tick = task, states, found, rng, tick
        self.low, self.high = task.problem.low, task.problem.high

    def run(self, limits: Limits) -> None:
        """Search until nothing better is found for a while, or a limit is reached."""
        end = None if limits.seconds is None else time.monotonic() + limits.seconds

        def stop() -> bool:
            return self.states.work > limits.work or is_past(end)

        best = self.descend(self.judge(self.high), stop)
        idle = 0
        while idle < PATIENCE and not stop():
            self.tick(0.0)
            kicked = self.kick(best.levels, 2 + idle % 3)
            node = self.descend(self.judge(kicked), stop)
            idle = 0 if rank(node) < rank(best) else idle + 1
            best = min(best, node, key=rank)

    def descend(self, node: Node, stop: Callable[[], bool]) -> Node:
        """Take better neighbours until there is none."""
        while not stop():
            better = self.first_better(node)
            if better is None:
                return node
            node = better
        return node

    def first_better(self, node: Node) -> Node | None:
        """Return a better neighbour: one key a level down or up, or both in two keys."""
        keys = len(self.low)
        down = [(j, -1) for j in range(keys) if node.levels[j] > self.low[j]]
        up = [(j, 1) for j in range(keys) if node.levels[j] < self.high[j]]
        steps: list[tuple[tuple[int, int], ...]] = [(s,) for s in (*down, *up)]
        pairs = [(d, u) for d in down for u in up if d[0] != u[0]]
        self.rng.shuffle(steps)
        self.rng.shuffle(pairs)
        for moves in (*steps, *pairs):
            levels = list(node.levels)
            for key, step in moves:
                levels[key] += step
            other = self.judge(tuple(levels))
            if rank(other) < rank(node):
                return other
        return None

    def kick(self, levels: Levels, moves: int) -> Levels:
        """Return a node a few random steps away."""
        moved = list(levels)
        for key in self.rng.integers(0, len(levels), size=moves):
            moved[key] = int(self.rng.integers(self.low[key], self.high[key] + 1))
        return tuple(moved)

    def judge(self, levels: Levels) -> Node:
        """Judge a node once."""
        if levels not in self.found.nodes:
            self.found.note(self.task.judge(self.states.at(levels)))
        return self.found.nodes[levels]


def rank(node: Node) -> tuple[bool, float, float]:
    """Return what makes a node better: safe first, then its value; among unsafe ones the fewest suppressed."""
    return (False, node.value, 0.0) if node.safe else (True, node.share, node.value)


def gap_of(value: float, bound: float) -> float:
    """Return by what share of its value a node may exceed the optimum."""
    if math.isinf(bound) and bound > 0:
        return 0.0
    return 0.0 if value <= 0 else max(0.0, (value - max(bound, 0.0)) / value)
