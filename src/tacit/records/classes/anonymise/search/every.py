"""Every node of a lattice, each made from a node below it by raising one key one level."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tacit.records.classes.anonymise.evaluate import Node, Task
from tacit.records.classes.anonymise.problem import State

Visit = Callable[[State], Node]


def walk(task: Task, tick: Callable[[float], None]) -> Iterator[Node]:
    """Yield every node once.

    A node is made from the one with its last raised key a level lower, so that most are made from few classes:
    keys with many values climb first.
    """
    problem = task.problem
    order = climbing_order(task)
    total, done = problem.n_nodes, 0
    stack = [(problem.base, 0)]
    while stack:
        state, first = stack.pop()
        done += 1
        if done % 256 == 0:
            tick(done / total)
        yield task.judge(state)
        for place in range(first, len(order)):
            key = order[place]
            if state.levels[key] < problem.high[key]:
                levels = list(state.levels)
                levels[key] += 1
                stack.append((problem.raise_state(state, tuple(levels))[0], place))


def climbing_order(task: Task) -> list[int]:
    """Return the keys, those whose first step merges most classes first."""
    problem = task.problem
    left = {}
    for key in range(len(problem.keys)):
        if problem.low[key] < problem.high[key]:
            levels = list(problem.low)
            levels[key] += 1
            left[key] = len(problem.raise_state(problem.base, tuple(levels))[0])
    return sorted(left, key=lambda key: (left[key], key))
