"""Whole subjects from fractions of subjects, safely: for data too large for an exact search.

Every output channel in use is first solved again with so much room under its limits that rounding
cannot break them: a coefficient a_r of a rule changes the rule's sum by less than |a_r| when x_rw is
rounded up or down, so sum_r a_r x_rw <= -sum_r |a_r| keeps it satisfied. Then each input channel's
subjects are rounded so that their total stays what it is. With many subjects the room costs nothing
that can be seen; the distance from the bound is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tacit.arrays import Floats
from tacit.records.channels.answer import Answer
from tacit.records.channels.candidates import Column, Predicate, make_all_channel_set
from tacit.records.channels.problem import Problem
from tacit.records.channels.solve import cost_of, solve

#: Sets with fewer subjects than this many a member are given up, in one attempt after the other.
FEW = (0.0, 5.0, 20.0, 100.0, 500.0)
#: What lacking all room costs, where putting everybody in one channel costs 1.
PENALTY = 10.0
#: A member that gives room to others has this many times the room that one set needs.
SPARE = 10.0


def rounded(
    answer: Answer, *, allowed: Predicate = lambda _: True, time_limit: float | None = None
) -> Answer:
    """Return an answer in whole subjects near one in fractions; all rules hold exactly.

    ``allowed`` says whether a set that the answer does not use may be used to make room.
    """
    if answer.integer or not answer.columns:
        return replace(answer, integer=True)
    found = [
        finish_rounding(answer, *room)
        for columns in attempts(answer, allowed)
        if (room := with_room(answer.problem, columns, allowed)) is not None
    ]
    safe = [whole for whole in found if whole.is_safe]
    if safe:
        return min(safe, key=lambda whole: whole.cost)
    whole = make_all_channel_set(answer.problem)
    chosen = [*answer.columns, *([whole] if allowed(whole) else [])]
    return solve(answer.problem, integer=True, candidates=chosen, time_limit=time_limit)


def attempts(answer: Answer, allowed: Predicate) -> Iterator[list[Column]]:
    """Yield lists of sets to try: those in use with enough subjects, without and with the all-channel set."""
    length = np.array([len(column) for column in answer.columns])
    whole = make_all_channel_set(answer.problem)
    seen: set[tuple[Column, ...]] = set()
    for few in FEW:
        large = answer.sizes >= few * length
        chosen = tuple(c for c, keep in zip(answer.columns, large, strict=True) if keep)
        rest = tuple(c for c in chosen if c != whole)
        for columns in (chosen, (*rest, whole)):
            if columns not in seen and (columns == chosen or allowed(whole)):
                seen.add(columns)
                yield list(columns)


def with_room(
    problem: Problem, columns: Sequence[Column], allowed: Predicate, *, extend: bool = True
) -> tuple[list[Column], sparse.csr_array] | None:
    """Return the cheapest x over some sets with room for rounding in all of them, or None.

    A set whose safe members are used up gets another safe member that is not.
    """
    if not columns:
        return None
    x, short = find_cheapest_with_room(problem, columns)
    if x is None:
        return None
    lacking = np.flatnonzero(short > 1e-7)
    if not len(lacking):
        return list(columns), x
    if not extend:
        return None
    wider = list(columns)
    for w in lacking.tolist():
        spare = spare_member(problem, x, columns[w])
        if spare is None:
            return None
        wider[w] = tuple(sorted((*columns[w], spare)))
        if not allowed(wider[w]):
            return None
    return with_room(problem, list(dict.fromkeys(wider)), allowed, extend=False)


def spare_member(problem: Problem, x: sparse.csr_array, column: Column) -> int | None:
    """Return the smallest safe channel outside a set that is well below every limit and has subjects left."""
    left = problem.m - np.asarray(x.sum(axis=1)).reshape(-1)
    below = -problem.rows.astype(np.float64).max(axis=0)
    fit = problem.safe & (below * left > SPARE * (len(column) + 1))
    fit[list(column)] = False
    return int(np.argmin(np.where(fit, problem.m, np.inf))) if fit.any() else None


def find_cheapest_with_room(
    problem: Problem, columns: Sequence[Column]
) -> tuple[sparse.csr_array | None, Floats]:
    """Return the cheapest x with room, and how much of the room each set lacks (as little as possible)."""
    row = np.concatenate([np.array(c, dtype=np.int64) for c in columns])
    column = np.repeat(np.arange(len(columns)), [len(c) for c in columns])
    psi = np.array([problem.psi(c) for c in columns], dtype=np.float64)
    # The rules (7) and (9), the safe share, and at least one safe subject, a row each.
    safe = problem.safe.astype(np.float64)
    least = float(problem.min_safe_share) - safe
    values = np.vstack([problem.rows.astype(np.float64), least, -safe])[:, row]
    n_rules, n_sets, n = len(values), len(columns), len(row)
    place = np.arange(n_rules)[:, None] * n_sets + column[None, :]
    inside = sparse.coo_array(
        (values.reshape(-1), (place.reshape(-1), np.tile(np.arange(n), n_rules))),
        shape=(n_rules * n_sets, n),
    )
    room = np.array([np.bincount(column, np.abs(line), n_sets) for line in values])
    room[-1] += 1.0  # the last rule is that of safe subjects: one at least
    scale = 1.0 / problem.subjects
    lack = sparse.vstack([sparse.diags_array(-line * scale) for line in room])
    members = sparse.coo_array((np.ones(n), (row, np.arange(n))), shape=(problem.n_channels, n))
    cover = sparse.hstack([members, sparse.coo_array((problem.n_channels, n_sets))]).tocsr()
    m = problem.m * scale
    found = linprog(
        np.r_[psi[column] * scale, np.full(n_sets, PENALTY)],
        A_ub=sparse.vstack([sparse.hstack([inside, lack]), cover[problem.safe]]),
        b_ub=np.r_[-room.reshape(-1) * scale, m[problem.safe]],
        A_eq=cover[problem.risky],
        b_eq=m[problem.risky],
        method="highs",
    )
    if found.status != 0:
        return None, np.zeros(n_sets)
    amounts = np.maximum(found.x[:n], 0.0) * problem.subjects
    x = sparse.csr_array((amounts, (row, column)), shape=(problem.n_channels, n_sets))
    return x, np.asarray(found.x[n:], dtype=np.float64)


def finish_rounding(answer: Answer, columns: Sequence[Column], x: sparse.csr_array) -> Answer:
    """Return the answer with x rounded, input channel by input channel, and its cost."""
    problem = answer.problem
    amounts = x.copy()
    amounts.sort_indices()
    for r in range(problem.n_channels):
        part = slice(amounts.indptr[r], amounts.indptr[r + 1])
        total = int(problem.m[r]) if problem.risky[r] else None
        amounts.data[part] = largest_remainders(amounts.data[part], total, int(problem.m[r]))
    amounts.eliminate_zeros()
    used = np.flatnonzero(np.asarray(amounts.sum(axis=0)).reshape(-1) > 0)
    kept = tuple(columns[w] for w in used.tolist())
    held = sparse.csr_array(amounts.tocsc()[:, used])
    return replace(
        answer,
        columns=kept,
        x=held,
        cost=cost_of(problem, kept, held),
        integer=True,
        proven=False,
        method=f"{answer.method}, rounded",
    ).with_whole_bound()


def largest_remainders(values: Floats, total: int | None, most: int) -> Floats:
    """Return numbers rounded up or down to a total; by default their own, rounded, at most ``most``.

    The largest fractions are rounded up first.
    """
    if not len(values):
        return values
    near = np.rint(values)
    clean = np.where(np.abs(values - near) < 1e-6, near, values)
    low = np.floor(clean)
    wanted = min(most, round(float(clean.sum()))) if total is None else total
    up = int(np.clip(wanted - low.sum(), 0, len(values)))
    order = np.argsort(-(clean - low), kind="stable")
    low[order[:up]] += 1
    return low
