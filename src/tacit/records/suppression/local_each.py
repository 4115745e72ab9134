"""Local suppression record by record: every record that falls short loses cells of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible
from tacit.numerics.kernels import Kernels
from tacit.records.suppression.local_problem import (
    MISSING,
    NOT_ENOUGH,
    Problem,
    Tick,
    View,
    column_sets,
    distinct_rows,
    find_short,
    hide_nothing_else,
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
        # How many records would agree, for its weight, were a column made missing as well.
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
                shown = view.rows[view.of[rows[left[some]]]]
                masked = np.where(gone[:, view.need.columns], MISSING, shown)
                helps[some, c] += view.count_agreeing(masked)[0] / problem.weights[c]
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


#: Sets of cells, lightest first, that a record may get in exchange.
EXCHANGES = 256
#: Rows times demands that are kept in step; with more, cells stay as they were chosen.
TRACKED = 20_000_000
#: More than any number of records: rows whose agreeing records are not counted.
PLENTY = 1 << 60
#: Comparisons of two rows in one round of exchange; what goes beyond it is left as it is.
EFFORT = 1_000_000_000
#: How much longer a try takes when values must differ.
VALUES = 200
#: Differences in weight that do not count.
SLIGHT = 1e-9


class Rows(NamedTuple):
    """The state of the exchange: one row per touched record, then one per kind of other record."""

    #: The codes as they stand and as they were.
    now: Ints
    full: Ints
    #: Bits of the columns that are missing now.
    missing: Ints
    #: Records that a row stands for.
    size: Ints
    #: Its sensitive value, -1 where missing.
    sensitive: Ints
    #: Records that agree with it on each demand, where that matters.
    agree: Ints


def lighten(problem: Problem, hidden: Flags, must: Flags, *, exchange: bool) -> Flags:
    """Return cells that protect as the hidden ones do and weigh no more.

    ``must`` says on which demands each record has to lose a cell. One record at a time gets back what can be shown
    again without anybody falling short, as all others stand, or with ``exchange`` loses lighter cells instead, until
    nothing is left to gain. Cells that are hidden together stay as they are.
    """
    touched = np.flatnonzero(hidden.any(axis=1))
    demands = problem.demands
    if problem.together is not hide_nothing_else or not len(touched):
        return hidden
    sensitive = np.zeros(len(hidden), dtype=np.int64)
    if problem.kinds > 1 and problem.sensitive is not None:
        sensitive = problem.sensitive
    others = np.flatnonzero(~hidden.any(axis=1))
    everything = np.column_stack([problem.codes[others], sensitive[others]])
    first, _, size = distinct_rows(everything)
    if (len(touched) + len(first)) * len(demands) > TRACKED:
        return hidden
    at = np.concatenate([touched, others[first]])
    hidden = hidden.copy()
    sets = [(), *column_sets(problem.weights, problem.fixed)[:EXCHANGES]]
    costs = np.array([problem.weights[list(s)].sum() for s in sets])
    bits = np.array([sum(1 << c for c in s) for s in sets], dtype=np.int64)
    rows = make_rows(problem, hidden, at, np.concatenate([np.ones_like(touched), size]), sensitive)
    cost = hidden[touched] @ problem.weights
    ks = np.array([d.k for d in demands], dtype=np.int64)
    asked = np.array([sum(1 << c for c in d.columns) for d in demands], dtype=np.int64)
    most = EFFORT // (len(at) * len(demands) * (1 if problem.kinds < 2 else VALUES))
    while True:
        pairs = list_exchanges(problem, must[touched], rows.full[: len(touched)], cost, sets, costs)
        if not exchange:
            pairs = pairs[(bits[pairs[:, 1]] & ~rows.missing[pairs[:, 0]]) == 0]
        pairs = pairs[:most]
        before = float(cost.sum())
        if len(pairs):
            turns = len(pairs) * len(demands) + len(np.unique(pairs[:, 0])) * rows.now.shape[1]
            run = KERNELS.pick(float(turns) * len(rows.now))["exchange_cells"]
            run(rows, ks, asked, problem.kinds, problem.in_full, pairs, bits, costs, cost)
        if not cost.sum() < before:
            break
    hidden[touched] = (rows.now[: len(touched)] < 0) & (problem.codes[touched] != MISSING)
    return hidden


def make_rows(problem: Problem, hidden: Flags, at: Ints, size: Ints, sensitive: Ints) -> Rows:
    """Return the state with some cells hidden."""
    views = make_views(problem, hidden)
    full = problem.codes[at]
    now = np.where(hidden[at], MISSING, full)
    agree = np.full((len(at), len(views)), PLENTY, dtype=np.int64)
    for j, view in enumerate(views):
        mine = view.rows[view.of[at]]
        ask = np.flatnonzero((mine < 0).any(axis=1) | (not problem.in_full))
        if len(ask):
            agree[ask, j] = view.count_agreeing(mine[ask])[0]
    places = 1 << np.arange(full.shape[1], dtype=np.int64)
    return Rows(now, full, (now < 0) @ places, size, sensitive[at].copy(), agree)


def list_exchanges(
    problem: Problem,
    must: Flags,
    full: Ints,
    cost: Floats,
    sets: list[tuple[int, ...]],
    costs: Floats,
) -> Ints:
    """Return pairs of a touched record and a lighter set that meets all it has to.

    The heaviest records come first, and for each the lightest sets.
    """
    found = []
    for s, columns in enumerate(sets):
        some = np.flatnonzero(costs[s] < cost - SLIGHT)
        if not len(some):
            break
        meets = problem.meets(columns)
        known = (full[some][:, columns] >= 0).all(axis=1)
        some = some[known & ~(must[some] & ~meets).any(axis=1)]
        found.append(np.column_stack([some, np.full(len(some), s)]))
    pairs = np.concatenate([np.zeros((0, 2), dtype=np.int64), *found])
    return pairs[np.lexsort([pairs[:, 1], pairs[:, 0], -cost[pairs[:, 0]]])]


def exchange_cells(
    rows: Rows,
    ks: Ints,
    demands: Ints,
    kinds: int,
    in_full: bool,
    pairs: Ints,
    sets: Ints,
    costs: Floats,
    cost: Floats,
) -> None:
    """Make exchanges one after another where nobody falls short by it; all arrays are changed in place."""
    now, full, missing, size, sensitive, agree = rows
    n, q = now.shape
    n_demands = len(demands)
    n_values = max(sensitive.max(), 0) + 1
    counted = np.zeros((3, n_demands), dtype=np.int64)
    values = np.zeros((3, n_demands), dtype=np.int64)
    seen = np.zeros((3, n_demands, n_values if kinds > 1 else 1), dtype=np.int64)
    apart = np.zeros(n, dtype=np.int64)
    last = -1
    token = 0
    for p in range(len(pairs)):
        at = pairs[p, 0]
        if costs[pairs[p, 1]] >= cost[at] - SLIGHT:
            continue
        old = missing[at]
        new = sets[pairs[p, 1]]
        for c in range(q):
            if full[at, c] < 0:
                new |= 1 << c
        changed = old ^ new
        if at != last:
            # Where each row differs from the record as it was; the record itself is left out.
            last = at
            for i in range(n):
                apart[i] = 0
                for c in range(q):
                    if now[i, c] >= 0 and now[i, c] != full[at, c] and full[at, c] >= 0:
                        apart[i] |= 1 << c
            apart[at] = -1
        token += 1
        counted[:, :] = 0
        values[:, :] = 0
        safe = True
        for i in range(n):
            if apart[i] < 0:
                continue
            apart_new = apart[i] & ~new
            apart_old = apart[i] & ~old
            for j in range(n_demands):
                columns = demands[j]
                if not columns & changed:
                    continue
                whole = missing[i] & columns == 0
                after = apart_new & columns == 0
                before = apart_old & columns == 0
                if before and not after and (not whole or not in_full) and agree[i, j] <= ks[j]:
                    safe = False
                    break
                # 0: agree with the new row; 1: show the same as the new row; 2: show the same as the old one.
                for what in range(3):
                    if what == 0 and not after:
                        continue
                    if what == 1 and not (after and whole and new & columns == 0):
                        continue
                    if what == 2 and not (before and whole and old & columns == 0):
                        continue
                    counted[what, j] += size[i]
                    if kinds > 1 and sensitive[i] >= 0 and seen[what, j, sensitive[i]] != token:
                        seen[what, j, sensitive[i]] = token
                        values[what, j] += 1
            if not safe:
                break
        if not safe:
            continue
        for j in range(n_demands):
            columns = demands[j]
            if not columns & changed:
                continue
            # The record itself counts for itself and no longer for those that showed the same.
            for what in range(2):
                counted[what, j] += 1
                if kinds > 1 and sensitive[at] >= 0 and seen[what, j, sensitive[at]] != token:
                    values[what, j] += 1
            what = 1 if in_full and new & columns == 0 else 0
            if counted[what, j] < ks[j] or (kinds > 1 and values[what, j] < kinds):
                safe = False
            left = in_full and old & columns == 0 and new & columns != 0 and counted[2, j] > 0
            if left and (counted[2, j] < ks[j] or (kinds > 1 and values[2, j] < kinds)):
                safe = False
        if safe and kinds > 1:
            safe = keep_values(rows, demands, kinds, in_full, at, apart, old, new)
        if not safe:
            continue
        for i in range(n):
            if apart[i] < 0:
                continue
            for j in range(n_demands):
                columns = demands[j]
                if columns & changed and agree[i, j] < PLENTY:
                    agree[i, j] += int(apart[i] & ~new & columns == 0)
                    agree[i, j] -= int(apart[i] & ~old & columns == 0)
        for j in range(n_demands):
            if demands[j] & changed:
                tracked = not in_full or new & demands[j] != 0
                agree[at, j] = counted[0, j] if tracked else PLENTY
        missing[at] = new
        for c in range(q):
            now[at, c] = -1 if new >> c & 1 else full[at, c]
        cost[at] = costs[pairs[p, 1]]


def keep_values(
    rows: Rows, demands: Ints, kinds: int, in_full: bool, at: int, apart: Ints, old: int, new: int
) -> bool:
    """Return True when rows that no longer agree with one still agree with enough different values."""
    now, missing, sensitive = rows.now, rows.missing, rows.sensitive
    n, q = now.shape
    seen = np.zeros(int(sensitive.max()) + 2, dtype=np.int64)
    token = 0
    for i in range(n):
        if apart[i] < 0:
            continue
        for j in range(len(demands)):
            columns = demands[j]
            lost = apart[i] & ~old & columns == 0 and apart[i] & ~new & columns != 0
            if not lost or (in_full and missing[i] & columns == 0):
                continue
            token += 1
            values = 0
            for other in range(n):
                if other == at or sensitive[other] < 0 or seen[sensitive[other]] == token:
                    continue
                same = True
                for c in range(q):
                    known = now[other, c] >= 0 and now[i, c] >= 0 and columns >> c & 1
                    if known and now[other, c] != now[i, c]:
                        same = False
                        break
                if same:
                    seen[sensitive[other]] = token
                    values += 1
            if values < kinds:
                return False
    return True


KERNELS = Kernels(globals(), keep_values, exchange_cells)
