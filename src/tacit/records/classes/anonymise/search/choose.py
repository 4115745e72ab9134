"""Which search a problem gets: branch and bound, a local search before it, or every node one by one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.search.boxes import TIE, BoxSearch, Found, Limits
from tacit.records.classes.anonymise.search.cover import bound_by_halves, can_part
from tacit.records.classes.anonymise.search.every import walk
from tacit.records.classes.anonymise.search.local import LocalSearch
from tacit.records.classes.anonymise.search.states import States

#: Rows merged in the local search, and nodes up to which it is left out.
HEURISTIC_WORK, SMALL = 60_000_000, 3_000
#: Lattices up to this size are judged node by node where no bound holds.
WHOLE = 200_000


def search_lattice(task: Task, limits: Limits, top: int, tick: Callable[[float], None]) -> Found:
    """Return the best nodes of a lattice that the limits allow to find, and a bound on all others."""
    problem = task.problem
    found, states = Found(top), States(problem)
    if task.objective.by_record:
        if problem.n_nodes > SMALL:
            half = None if limits.seconds is None else limits.seconds / 2
            soon = Limits(min(HEURISTIC_WORK, limits.work / 2), half)
            LocalSearch(task, states, found, np.random.default_rng(0), tick).run(soon)
        search_boxes(task, states, found, limits, tick)
    elif problem.n_nodes <= WHOLE:
        for node in walk(task, tick):
            found.note(node)
        found.bound = math.inf
    else:
        LocalSearch(task, states, found, np.random.default_rng(0), tick).run(limits)
    return found


def search_boxes(
    task: Task, states: States, found: Found, limits: Limits, tick: Callable[[float], None]
) -> None:
    """Search boxes; where half the work leaves them open, bound the rest by halves of the keys too."""
    boxes = BoxSearch(task, states, found, tick)
    if task.problem.n_nodes <= WHOLE or not can_part(task):
        boxes.run(limits)
        return
    half, sixth = (
        Limits(limits.work * s, None if limits.seconds is None else limits.seconds * s)
        for s in (1 / 2, 1 / 6)
    )
    boxes.run(half)
    if math.isinf(found.bound):
        return
    least, work = bound_by_halves(task, sixth, tick)
    rest = None if limits.seconds is None else limits.seconds / 6
    boxes.run(Limits(limits.work - work, rest))
    if least > found.threshold + TIE:
        found.bound = math.inf
    found.bound = max(found.bound, least)


def search_soon(task: Task, limits: Limits, tick: Callable[[float], None]) -> Found:
    """Return good nodes of a lattice, without proof where it is large."""
    if task.problem.n_nodes <= SMALL:
        return search_lattice(task, limits, 1, tick)
    found = Found(1)
    LocalSearch(task, States(task.problem), found, np.random.default_rng(0), tick).run(limits)
    return found
