"""A bound for lattices too large for boxes alone: what halves of the keys cost by themselves.

Part the keys in two. Take a node of the whole lattice, and for each half the node of the same levels with all other keys
at their highest. A record that is kept at the first is kept at the second, where classes are unions of classes, and its
loss is the sum of the losses of both halves. A suppressed one loses everything, which is at least the
sum of what the halves may charge. So the optimum costs at least as much as the optima of the halves together, each with
the other half free of charge. Halves have far smaller lattices, and are searched by the same boxes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.objectives import Additive
from tacit.records.classes.anonymise.search.boxes import BoxSearch, Found, Limits
from tacit.records.classes.anonymise.search.states import States


def can_part(task: Task) -> bool:
    """Return whether the argument holds: charges add up by key, and suppression is the worst fate."""
    objective = task.objective
    return (
        type(objective) is Additive
        and objective.suppress >= objective.generalise
        and bool(task.keeping)
    )


def bound_by_halves(task: Task, limits: Limits, tick: Callable[[float], None]) -> tuple[float, int]:
    """Return a cost below which no node lies, and the work that it took."""
    low, high = task.problem.low, task.problem.high
    # Keys of many levels are dealt out first, so that both halves have lattices of about the same size.
    order = sorted(range(len(low)), key=lambda j: (low[j] - high[j], j))
    total, work = 0.0, 0
    for half in (order[::2], order[1::2]):
        part = charge_only(task, half)
        states, found = States(part.problem), Found(1)
        BoxSearch(part, states, found, tick).run(limits)
        best = math.inf if found.incumbent is None else found.incumbent.value
        total += max(min(found.bound, best), 0.0)
        work += states.work
    return total, work


def charge_only(task: Task, keys: Sequence[int]) -> Task:
    """Return the task in which all keys but some stand at their highest, free of charge.

    Conditions that climbing does not preserve are left out.
    """
    problem, objective = task.problem, task.objective
    assert isinstance(objective, Additive)
    low = tuple(problem.low[j] if j in keys else problem.high[j] for j in range(len(problem.low)))
    base, _ = problem.raise_state(problem.base, low)
    prices = objective.prices.copy()
    same = list(objective.same)
    ends = [*(s[0] for s in objective.starts[1:]), len(prices)]
    share = 0.0
    for j, (starts, end) in enumerate(zip(objective.starts, ends, strict=True)):
        if j in keys:
            # The price of the single value at the top is the whole share of its key.
            share += float(np.max(prices[starts[0] : end], initial=0.0))
        else:
            prices[starts[0] : end] = 0.0
            same[j] = tuple(0.0 for _ in starts)
    keeping = task.keeping
    return replace(
        task,
        problem=replace(problem, low=low, base=base),
        objective=replace(objective, prices=prices, same=tuple(same), top=share),
        conditions=tuple(c for c, _ in keeping),
        scopes=tuple(s for _, s in keeping),
    )
