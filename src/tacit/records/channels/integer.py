"""Whole subjects: an integer program over the sets that the linear program uses, and proof.

Every cost is a whole number, so an answer less than one above the linear bound is optimal. With
few input channels all subsets are examined: a set whose use must cost more than the gap, at the
prices of the linear optimum, is left out for good, and the integer program over the rest is
solved to the end.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy import sparse

from tacit.arrays import Floats
from tacit.errors import Infeasible, LimitReached, SolverError
from tacit.records.channels.candidates import (
    ALL_LIMIT,
    Column,
    all_subsets,
    filter_useful_sets,
    make_all_channel_set,
)
from tacit.records.channels.cone import Cone, full_rays
from tacit.records.channels.exact import Optimum
from tacit.records.channels.lp import Model, build, run, to_sparse
from tacit.records.channels.problem import Problem

Assignment = tuple[tuple[Column, ...], sparse.csr_array]

_MARGINS = (0.0, 1e-7, 1e-5, 1e-3)


def solve_integer(
    problem: Problem,
    cone: Cone,
    columns: list[Column],
    *,
    need_safe: bool,
    time_limit: float | None = None,
) -> tuple[Assignment, float, bool]:
    """Return the best whole assignment over the given sets, its cost, and whether it is proven.

    ``need_safe`` demands a safe subject in every channel that is used. Rules are verified with
    fractions; where rounding in the solver broke one, that set's rules are tightened and the
    program solved again. The search starts from a rounded linear assignment.
    """
    model = build(cone, columns, unit=1.0)
    start = _find_safe_start(problem, cone, model)
    if need_safe:
        model = _with_safe_subjects(problem, model)
    most = problem.m[model.channel].astype(np.float64)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    upper, proven = model.upper.copy(), True
    for margin in _MARGINS:
        left = None if deadline is None else deadline - time.monotonic()
        try:
            tightened = replace(model, upper=upper)
            outcome = run(tightened, integer=True, most=most, start=start, time_limit=left)
        except (Infeasible, LimitReached):
            break
        x = np.rint(outcome.point)
        proven = proven and outcome.state == "optimal"
        broken = _find_broken_sets(problem, model, x)
        if not broken and _covers(problem, model, x):
            return to_sparse(model, x, problem.n_channels), _cost(problem, model, x), proven
        proven = False
        for w in broken:
            first = problem.n_channels + w * cone.n_rules
            upper[first : first + cone.n_rules] -= 10 * margin + 1e-8
    if start is None:
        raise Infeasible(
            "the candidate output channels admit no safe assignment of whole subjects; add the "
            "set of all input channels, or more candidates."
        )
    return to_sparse(model, start, problem.n_channels), _cost(problem, model, start), False


def _find_safe_start(problem: Problem, cone: Cone, model: Model) -> Floats | None:
    """Return a first assignment that is safe: rounded from the linear one, or all in one channel."""
    for least in (4.0, 0.0):
        x = _round_assignment(problem, cone, model, least)
        if (
            x is not None
            and not _find_broken_sets(problem, model, x)
            and _covers(problem, model, x)
        ):
            return x
    whole = make_all_channel_set(problem)
    if whole not in model.columns:
        return None
    w = model.columns.index(whole)
    return np.where(model.column == w, problem.m[model.channel], 0).astype(np.float64)


def _round_assignment(problem: Problem, cone: Cone, model: Model, least: float) -> Floats | None:
    """Round a linear assignment that was given room for it; None when there is no room.

    Safe subjects are rounded up, which no rule minds; a risky channel moves each of its entries
    by less than one, so each rule keeps back its coefficients of the risky members. Sets with
    fewer than ``least`` subjects a member are left out.
    """
    linear = run(model).point
    size = np.bincount(model.column, weights=linear)
    length = np.bincount(model.column)
    used = np.flatnonzero(size > np.maximum(1e-6, least * length))
    part = build(cone, [model.columns[w] for w in used], unit=1.0) if len(used) else None
    if part is None:
        return None
    n, L = problem.n_channels, cone.n_rules
    room = np.zeros((len(used), L))
    np.add.at(room, part.column, np.abs(cone.G[:, part.channel]).T * cone.risky[part.channel, None])
    upper = part.upper.copy()
    upper[:n] -= np.where(cone.risky, 0, np.bincount(part.channel, minlength=n))
    upper[n:] = -room.reshape(-1)
    try:
        x = run(replace(part, upper=upper)).point
    except (Infeasible, SolverError):
        return None
    whole = np.ceil(x - 1e-9)
    for r in np.flatnonzero(cone.risky):
        mine = np.flatnonzero(part.channel == r)
        whole[mine] = np.floor(x[mine] + 1e-9)
        short = int(problem.m[r] - whole[mine].sum())
        if not 0 <= short <= len(mine):
            return None
        whole[mine[np.argsort(whole[mine] - x[mine], kind="stable")[:short]]] += 1
    place = {
        (int(w), int(r)): i
        for i, (w, r) in enumerate(zip(model.column, model.channel, strict=True))
    }
    answer = np.zeros(len(model.cost))
    for w, r, value in zip(used[part.column], part.channel, whole, strict=True):
        answer[place[int(w), int(r)]] = value
    return answer


def _with_safe_subjects(problem: Problem, model: Model) -> Model:
    """Add rows that forbid risky subjects where a channel holds no safe one.

    With one risky member alone rules (7) and (9) see to it already.
    """
    risky = problem.risky[model.channel]
    n_risky = np.bincount(model.column, weights=risky, minlength=len(model.columns))
    rows, columns, values, at = [], [], [], 0
    for w in np.flatnonzero(n_risky > 1):
        members = np.flatnonzero(model.column == w)
        most = float(problem.m[model.channel[members][risky[members]]].sum())
        rows += [at] * len(members)
        columns += members.tolist()
        values += np.where(risky[members], 1.0 / most, -1.0).tolist()
        at += 1
    extra = sparse.csc_array((values, (rows, columns)), shape=(at, len(model.cost)))
    return Model(
        model.columns,
        model.channel,
        model.column,
        model.cost,
        sparse.vstack([model.matrix, extra], format="csc"),
        np.concatenate([model.lower, np.full(at, -np.inf)]),
        np.concatenate([model.upper, np.zeros(at)]),
    )


def _find_broken_sets(problem: Problem, model: Model, x: Floats) -> list[int]:
    """Return the sets whose rules fail in exact arithmetic."""
    failed = []
    for w in np.unique(model.column[x > 0]):
        inside = np.flatnonzero((model.column == w) & (x > 0))
        taken = np.array([Fraction(int(v)) for v in x[inside]], dtype=object)
        if any(value > 0 for value in problem.rows[:, model.channel[inside]] @ taken):
            failed.append(int(w))
    return failed


def _covers(problem: Problem, model: Model, x: Floats) -> bool:
    used = np.bincount(model.channel, weights=x, minlength=problem.n_channels)
    return bool(
        (used[problem.risky] == problem.m[problem.risky]).all()
        and (used[problem.safe] <= problem.m[problem.safe]).all()
    )


def _cost(problem: Problem, model: Model, x: Floats) -> float:
    psi = np.array([problem.psi(column) for column in model.columns], dtype=np.int64)
    return float(int(psi[model.column] @ x.astype(np.int64)))


def neighbourhood(problem: Problem, optimum: Optimum, most: int = 400) -> list[Column]:
    """Return the sets in use at the linear optimum, those nearest to use, and the set of all."""
    cone = optimum.master.cone
    columns = [make_all_channel_set(problem), *optimum.master.assignment()[0]]
    reduced, sets = [], []
    for members, rays in optimum.master.blocks[1:]:
        worth = (optimum.prices[members] * rays).sum(axis=1)
        reduced.append(cone.psi(members) / np.maximum(worth, 1e-9))
        sets += list(members)
    if reduced:
        order = np.argsort(np.concatenate(reduced), kind="stable")[: 4 * most]
        for i in order:
            column = tuple(int(r) for r in sets[i])
            risky_only = problem.risky[list(column)].all()
            columns.append((*column, cone.label) if risky_only else column)
    return filter_useful_sets(problem, columns)[: len(optimum.master.assignment()[0]) + most]


def enumerate_undominated(
    problem: Problem, cone: Cone, prices: Floats, value: float, incumbent: float
) -> list[Column]:
    """All subsets that an assignment cheaper than the incumbent could use.

    At the prices of the linear optimum a set costs ``psi - max pi . x`` more for each subject in
    it, and it holds at least one subject for each member (a label apart).
    """
    if problem.n_channels > ALL_LIMIT:
        raise Infeasible("too many input channels to examine all subsets.")
    columns = filter_useful_sets(problem, all_subsets(problem))
    masks = np.array([sum(1 << r for r in column) for column in columns], dtype=np.int64)
    best = np.full(len(columns), -np.inf)
    for size in range(2, cone.n_rules + 2):
        sets = np.array(list(combinations(range(problem.n_channels), size)), dtype=np.int64)
        if not len(sets):
            continue
        where, rays = full_rays(cone, sets)
        worth = (prices[sets[where]] * rays).sum(axis=1)
        for mask, w in zip((1 << sets[where]).sum(axis=1), worth, strict=True):
            inside = (masks & mask) == mask
            best[inside] = np.maximum(best[inside], w)
    psi = np.array([cone.m[list(column)].sum() for column in columns])
    subjects = np.array([max(1, len(column) - 1) for column in columns])
    room = incumbent - 1 - value
    keep = (psi - best) * cone.unit * subjects <= room + 1e-6 * max(1.0, value)
    return [column for column, kept in zip(columns, keep, strict=True) if kept]
