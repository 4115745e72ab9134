"""Local suppression record by record: every record that falls short loses cells of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible
from tacit.records.suppression.local_lighten import lighten
from tacit.records.suppression.local_problem import (
    MISSING,
    NOT_ENOUGH,
    Problem,
    Tick,
    View,
    find_short,
    make_views,
    settle_by_set,
    try_sets,
)

Choose = Callable[[Problem, Sequence[View], Flags, Ints, Tick], Flags]


def suppress_each(problem: Problem, *, greedy: bool, tick: Tick) -> Flags:
    """Return the cells to make missing; no record keeps whole a combination that too few show.

    Every such record loses the lightest set of cells that is enough for it on the values as they are, ties to the
    fewest cells and then to the first columns; ``greedy`` takes one column at a time, the one that helps most
    for its weight. Records that show only a part lose cells where too few agree with them even so. A cell that goes takes its record out of the counts of other sets of columns, so counting
    and hiding are repeated until nobody falls short. Then cells come back that the missing values of others make
    unnecessary. Without ``greedy`` both ways are gone, and in the lighter result records exchange their cells for
    lighter ones where they can; so it never weighs more than the greedy one.
    """
    nothing = np.zeros(problem.codes.shape, dtype=bool)
    must = find_short(problem, nothing, make_views(problem, nothing), partly=False)
    ways: list[Choose] = [choose_one_by_one] if greedy else [choose_lightest, choose_one_by_one]
    found = []
    for choose in ways:
        hidden = hide_in_rounds(problem, choose, tick)
        tick("cells that can be shown", None)
        found.append(lighten(problem, hidden, must, exchange=False))
    best = min(found, key=lambda hidden: (problem.cost(hidden), int(hidden.sum())))
    return best if greedy else lighten(problem, best, must, exchange=True)


def hide_in_rounds(
    problem: Problem, choose: Choose, tick: Tick, start: Flags | None = None
) -> Flags:
    """Hide cells of the records that fall short until there are none."""
    hidden = np.zeros(problem.codes.shape, dtype=bool) if start is None else start.copy()
    while True:
        views = make_views(problem, hidden)
        # Missing values only make more records agree: who shows a part may need nothing once the others are done.
        short = find_short(problem, hidden, views, partly=not problem.in_full)
        if problem.in_full and not short.any():
            short = find_short(problem, hidden, views)
        rows = np.flatnonzero(short.any(axis=1))
        if not len(rows):
            return hidden
        hidden[rows] |= choose(problem, views, short, rows, tick)
        hidden = problem.together(hidden) & (problem.codes != MISSING)


def choose_lightest(
    problem: Problem, views: Sequence[View], short: Flags, rows: Ints, tick: Tick
) -> Flags:
    """Return the lightest set of cells that is enough for each record; what is left, one column at a time."""
    chosen = np.zeros((len(rows), problem.codes.shape[1]), dtype=bool)
    known = show_known(views, problem.codes.shape[1], rows)

    def settles(at: Ints, columns: tuple[int, ...]) -> Flags:
        return settle_by_set(views, short, rows[at], columns)

    for columns, at in try_sets(problem, known, settles, tick):
        chosen[np.ix_(at, np.array(columns))] = True
    left = np.flatnonzero(~chosen.any(axis=1))
    if len(left):
        chosen[left] = choose_one_by_one(problem, views, short, rows[left], tick)
    return chosen


def show_known(views: Sequence[View], n_columns: int, rows: Ints) -> Flags:
    """Return which cells of some records are known and belong to a demand."""
    known = np.zeros((len(rows), n_columns), dtype=bool)
    for view in views:
        known[:, view.need.columns] = view.rows[view.of[rows]] >= 0
    return known


def choose_one_by_one(
    problem: Problem, views: Sequence[View], short: Flags, rows: Ints, tick: Tick
) -> Flags:
    """Return cells for each record, found by taking the column that helps most for its weight.

    All records go together, step by step. At the end cells that were not needed come back, the heaviest first.
    """
    chosen = np.zeros((len(rows), problem.codes.shape[1]), dtype=bool)
    free = show_known(views, problem.codes.shape[1], rows) & ~problem.fixed
    open_demands = short[rows].copy()
    while (left := np.flatnonzero(open_demands.any(axis=1))).size:
        tick("one column at a time", 1 - len(left) / len(rows))
        helps = score_columns(problem, views, open_demands, rows, chosen, free, left)
        if not np.isfinite(helps.max(axis=1)).all():
            raise Infeasible(NOT_ENOUGH)
        chosen[left, helps.argmax(axis=1)] = True
        open_demands[left] = still_short(views, short, rows[left], chosen[left])
    for c in np.argsort(-problem.weights, kind="stable"):
        trial = np.flatnonzero(chosen[:, c])
        without = chosen[trial]
        without[:, c] = False
        spare = ~still_short(views, short, rows[trial], without).any(axis=1)
        chosen[trial[spare], c] = False
    return chosen


def score_columns(
    problem: Problem,
    views: Sequence[View],
    open_demands: Flags,
    rows: Ints,
    chosen: Flags,
    free: Flags,
    left: Ints,
) -> Floats:
    """Return how many records would agree, for its weight, were a column made missing as well."""
    helps = np.full((len(left), problem.codes.shape[1]), -np.inf)
    for c in np.flatnonzero(~problem.fixed):
        may = np.flatnonzero(free[left, c] & ~chosen[left, c])
        helps[may, c] = 0.0
        for j, view in enumerate(views):
            some = may[open_demands[left[may], j]]
            if c not in view.need.columns or not len(some):
                continue
            gone = chosen[left[some]]
            gone[:, c] = True
            masked = np.where(
                gone[:, view.need.columns], MISSING, view.rows[view.of[rows[left[some]]]]
            )
            helps[some, c] += view.count_agreeing(masked)[0] / problem.weights[c]
    return helps


def still_short(views: Sequence[View], short: Flags, rows: Ints, chosen: Flags) -> Flags:
    """Return which demands records fall short of with the chosen cells missing."""
    result = short[rows].copy()
    for j, view in enumerate(views):
        gone = chosen[:, view.need.columns]
        some = np.flatnonzero(gone.any(axis=1))
        if len(some):
            masked = np.where(gone[some], MISSING, view.rows[view.of[rows[some]]])
            result[some, j] = ~view.is_enough(*view.count_agreeing(masked))
    return result
