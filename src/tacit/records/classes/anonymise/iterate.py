"""Lattice runs on what the run before suppressed, until nothing more can be released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Flags, Ints
from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.grouping import Codes
from tacit.records.classes.anonymise.problem import Levels, State, Values
from tacit.records.classes.anonymise.search.boxes import Limits
from tacit.records.classes.anonymise.search.choose import search_soon

#: Runs after which the rest is left as it is.
RUNS = 20
#: A run must release this share of what it was given, so that the runs come to an end.
LEAST = 0.02


@dataclass
class Rounds:
    """What the runs released: the level of each row in each key, and the run in which it was released.

    ``run`` is -1 for rows that no run released.
    """

    levels: Codes
    run: Ints

    @property
    def kept(self) -> Flags:
        """Return the rows that are released."""
        return self.run >= 0


def run_rounds(
    task: Task, limits: Limits, price: float, tick: Callable[[float], None]
) -> Rounds | None:
    """Return the releases of all runs; None when the rest cannot be brought within the suppression limit.

    Parameters
    ----------
    task
        The task on all rows.
    limits
        The work that each run may do.
    price
        What a run pays for a record that it leaves to the next, as a share of the cost of suppressing it:
        the lower, the finer are the first releases.
    tick
        Reports progress.
    """
    base = task.problem.base
    levels = np.zeros(base.codes.shape, dtype=np.int32)
    rounds = Rounds(levels, np.full(len(base), -1, dtype=np.int64))
    for run in range(RUNS):
        rest = np.flatnonzero(~rounds.kept)
        if not len(rest) or not release_some(task, limits, price, rounds, rest, run, tick):
            break
    amounts = base.amounts(task.weighted)
    for run in range(int(rounds.run.max(initial=-1)), -1, -1):
        # Too much is left: take back the last runs, and release their rows with the rest as one.
        rest = np.flatnonzero(~rounds.kept)
        if float(amounts[rest].sum()) <= task.limit:
            return rounds
        rounds.run[rounds.run == run] = -1
        rest = np.flatnonzero(~rounds.kept)
        most = min(1.0, task.limit / float(amounts[rest].sum()))
        if release_within(task, limits, most, rounds, rest, run, tick):
            return rounds
    return rounds if float(amounts[~rounds.kept].sum()) <= task.limit else None


def release_some(
    task: Task,
    limits: Limits,
    price: float,
    rounds: Rounds,
    rest: Ints,
    run: int,
    tick: Callable[[float], None],
) -> bool:
    """Release what the best node for the rest keeps; return whether that was enough to go on."""
    objective = replace(task.objective, suppress=task.objective.suppress * price)
    part = replace(part_of(task, rest, 1.0 - LEAST), objective=objective)
    return release_best(part, limits, rounds, rest, run, tick)


def release_within(
    task: Task,
    limits: Limits,
    most: float,
    rounds: Rounds,
    rest: Ints,
    run: int,
    tick: Callable[[float], None],
) -> bool:
    """Release the rest at one node that suppresses at most a share of it, if there is one."""
    return release_best(part_of(task, rest, most), limits, rounds, rest, run, tick)


def release_best(
    part: Task,
    limits: Limits,
    rounds: Rounds,
    rest: Ints,
    run: int,
    tick: Callable[[float], None],
) -> bool:
    """Release what the best node keeps; return False when no node is safe."""
    found = search_soon(part, limits, tick)
    best = found.incumbent
    if best is None:
        return False
    keep_classes(part, best.levels, rounds, rest, run)
    return True


def keep_classes(part: Task, node: Levels, rounds: Rounds, rest: Ints, run: int) -> None:
    """Note the rows that a node keeps."""
    state, ids = part.problem.raise_state(part.problem.base, node)
    kept = rest[part.survivors(state)[ids]]
    rounds.levels[kept] = node
    rounds.run[kept] = run


def part_of(task: Task, rows: Ints, suppression: float) -> Task:
    """Return the task on some of the rows."""
    problem = task.problem
    part = replace(problem, base=take_rows(problem.base, rows))
    return replace(task, problem=part, suppression=suppression)


def take_rows(state: State, rows: Ints) -> State:
    """Return some rows of a state, numbered anew."""
    place = np.full(len(state), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    values = {}
    for column, found in state.values.items():
        inside = found.within(place[found.of_class] >= 0)
        values[column] = Values(place[inside.of_class], inside.value, inside.n, inside.weight)
    return State(
        state.levels,
        state.codes[rows],
        state.n[rows],
        None if state.weight is None else state.weight[rows],
        values,
        None if state.moments is None else state.moments[rows],
        None,
        None if state.ground is None else state.ground[rows],
    )
