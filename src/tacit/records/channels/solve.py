"""Solve channel expansion: choose candidates, solve, and hand back a checked answer.

Whole subjects are an integer program over the sets that the linear program uses. Every cost is a
whole number, so an answer less than one above the linear bound is optimal. With few input channels
all subsets are examined: a set whose use must cost more than the gap, at the prices of the linear
optimum, is left out for good, and the integer program over the rest is solved to the end.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tacit.arrays import Floats
from tacit.errors import Infeasible, InvalidParameter, LimitReached, SolverError
from tacit.records.channels.answer import Answer, from_assignment
from tacit.records.channels.candidates import (
    ALL_LIMIT,
    Column,
    Predicate,
    all_subsets,
    filter_useful_sets,
    make_all_channel_set,
    random_candidates,
    require_cover,
)
from tacit.records.channels.cone import Cone, cone_of, full_rays
from tacit.records.channels.exact import Generation, Progress, generate
from tacit.records.channels.lp import Model, build, run, to_sparse
from tacit.records.channels.problem import Problem

Assignment = tuple[tuple[Column, ...], sparse.csr_array]
Candidates = Literal["exact", "all", "random"] | Sequence[Sequence[int]]


def solve_counts(
    m: ArrayLike,
    counts: ArrayLike,
    u: Sequence[float | Fraction] | float,
    b: float | Fraction | None = None,
    c: Sequence[float | Fraction] | None = None,
    *,
    names: Sequence[str] | None = None,
    integer: bool = False,
    candidates: Candidates = "exact",
    predicate: Predicate | None = None,
    min_safe_share: float | None = None,
    count: int = 2048,
    max_size: int = 8,
    seed: int | None = 0,
    time_limit: float | None = None,
    tick: Progress | None = None,
) -> Answer:
    """Solve channel expansion for counts by input channel.

    Parameters
    ----------
    m
        Subjects in each input channel.
    counts
        Subjects holding each risky value, one line per input channel.
    u, b, c
        Limit of each value's share, limit of the weighted sum, and weights (see :class:`Problem`).
    names
        Names of the input channels.
    integer
        Whole subjects; every channel in use then holds at least one safe subject, unless
        ``min_safe_share`` is 0.
    candidates
        ``"exact"`` for the optimum over all sets, ``"all"`` to enumerate them (12 channels at
        most), ``"random"`` for the rules of section 7, or a list of sets of channels (from 0).
    predicate
        Called with a set; False rejects it. The all-channel set is never rejected.
    min_safe_share
        Least share of subjects from safe input channels in each output channel.
    count, max_size, seed
        Number, size and seed of random candidates.
    time_limit
        Seconds after which the best answer so far is returned with its bound.
    tick
        Called with a sentence and a share of the work done.
    """
    problem = Problem.of(m, counts, u, b, c, names, min_safe_share or 0)
    return solve(
        problem,
        integer=integer,
        candidates=candidates,
        predicate=predicate,
        need_safe=min_safe_share is None,
        count=count,
        max_size=max_size,
        seed=seed,
        time_limit=time_limit,
        tick=tick,
    )


def solve(
    problem: Problem,
    *,
    integer: bool = False,
    candidates: Candidates = "exact",
    predicate: Predicate | None = None,
    need_safe: bool = True,
    count: int = 2048,
    max_size: int = 8,
    seed: int | None = 0,
    time_limit: float | None = None,
    tick: Progress | None = None,
) -> Answer:
    """Solve a problem; the parameters are those of :func:`solve_counts`.

    ``need_safe`` demands a safe subject in every channel of an integer answer.
    """
    begun = time.monotonic()
    answer = Search(
        problem, integer, candidates, predicate, need_safe, count, max_size, seed, time_limit, tick
    ).answer()
    if not problem.risky.any():
        return answer
    answer = replace(answer, seconds=time.monotonic() - begun).with_whole_bound()
    failed = [name for name, passed in answer.checks().items() if not passed]
    if failed:
        raise SolverError(
            f"the assignment found does not pass its own checks ({', '.join(failed)}); "
            "please report this with the limits that were used."
        )
    return answer


def evaluate(problem: Problem, assignment: Mapping[Sequence[int], Mapping[int, float]]) -> Answer:
    """Cost and checks of a user's own assignment.

    ``assignment`` maps sets of input channels (from 0) to the subjects taken from each. Safe
    subjects that are not mentioned stay in their own channel. Nothing is refused: ask
    ``answer.checks()`` or ``answer.is_safe``.
    """
    columns, x = from_assignment(problem, assignment)
    whole = bool(np.all(x.data == np.rint(x.data)))
    cost = cost_of(problem, columns, x)
    return Answer(problem, columns, x, cost, 0.0, False, whole, "given", len(columns))


@dataclass(frozen=True)
class Search:
    """A problem with the parameters of :func:`solve`."""

    problem: Problem
    integer: bool
    candidates: Candidates
    predicate: Predicate | None
    need_safe: bool
    count: int
    max_size: int
    seed: int | None
    time_limit: float | None
    tick: Progress | None

    def answer(self) -> Answer:
        """Return the answer over the candidates, not checked yet."""
        if not self.problem.risky.any():
            empty = sparse.csr_array((self.problem.n_channels, 0))
            return Answer(
                self.problem, (), empty, 0.0, 0.0, True, self.integer, "nothing is risky", 0
            )
        if self.candidates == "exact":
            return self.over_all_sets()
        method = self.candidates if isinstance(self.candidates, str) else "list"
        return self.over_given_sets(self.candidate_sets(), method)

    def candidate_sets(self) -> list[Column]:
        """Return the sets that the candidates say."""
        drawn: Sequence[Sequence[int]]
        if self.candidates == "all":
            drawn = all_subsets(self.problem)
        elif self.candidates == "random":
            drawn = self.random_sets()
        elif isinstance(self.candidates, str):
            raise InvalidParameter(
                f"candidates must be 'exact', 'all', 'random' or a list of sets; got {self.candidates!r}."
            )
        else:
            drawn = self.candidates
        columns = filter_useful_sets(self.problem, drawn, self.predicate)
        require_cover(self.problem, columns)
        return columns

    def random_sets(self) -> list[Column]:
        """Return sets drawn by the rules of section 7."""
        return random_candidates(self.problem, self.count, self.max_size, self.seed, self.predicate)

    def whole_subjects_of(
        self, cone: Cone, columns: list[Column], time_limit: float | None
    ) -> tuple[Assignment, float, bool]:
        """Return the best whole assignment over some sets, its cost, and whether it is proven.

        Rules are verified with fractions; where rounding in the solver broke one, that set's rules are
        tightened and the program solved again. The search starts from a rounded linear assignment.
        """
        problem, model = self.problem, build(cone, columns, unit=1.0)
        start = _find_safe_start(problem, cone, model)
        if self.need_safe:
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

    def over_given_sets(self, columns: list[Column], method: str) -> Answer:
        """Answer over a fixed list of sets."""
        problem, cone = self.problem, cone_of(self.problem)
        model = build(cone, columns)
        outcome = run(model, time_limit=self.time_limit)
        bound = outcome.value * cone.unit**2
        x = np.where(outcome.point > 1e-12, outcome.point, 0.0) * cone.unit
        used, subjects = to_sparse(model, x, problem.n_channels)
        cost = cost_of(problem, used, subjects)
        answer = mark_safe_binds(
            Answer(problem, used, subjects, cost, bound, True, False, method, len(columns))
        )
        if not self.integer:
            return answer
        found, cost, proven = self.whole_subjects_of(cone, columns, self.time_limit)
        return replace(answer, columns=found[0], x=found[1], cost=cost, proven=proven, integer=True)

    def over_all_sets(self) -> Answer:
        """Answer over all sets, by column generation."""
        problem, cone = self.problem, cone_of(self.problem)
        optimum = generate(cone, time_limit=self.time_limit, tick=self.tick)
        if self.predicate is not None:
            return self.over_accepted_sets(optimum)
        columns, x = optimum.master.assignment()
        cost, bound = cost_of(problem, columns, x), optimum.bound * cone.unit**2
        n = optimum.master.n_columns
        answer = mark_safe_binds(
            Answer(problem, columns, x, cost, bound, optimum.proven, False, "exact", n)
        )
        return self.in_whole_subjects(answer, optimum) if self.integer else answer

    def over_accepted_sets(self, optimum: Generation) -> Answer:
        """Answer over sets that the predicate accepts: all if few, else a rich sample and the full bound.

        A rejected small set may be acceptable with more members, so small sets no longer suffice.
        """
        problem = self.problem
        few = problem.n_channels <= ALL_LIMIT
        drawn: list[Column] = [make_all_channel_set(problem)]
        if few:
            drawn += all_subsets(problem)
        else:
            drawn += neighbourhood(problem, optimum, most=4 * self.count)
            drawn += self.random_sets()
        columns = filter_useful_sets(problem, drawn, self.predicate)
        answer = self.over_given_sets(columns, "exact")
        full = optimum.bound * optimum.master.cone.unit**2
        bound = answer.bound if few else min(answer.bound, full)
        met = answer.cost <= bound * (1 + 1e-9)
        return replace(answer, bound=bound, proven=answer.proven and (few or met))

    def in_whole_subjects(self, linear: Answer, optimum: Generation) -> Answer:
        """Return whole subjects near the linear optimum, with proof where all subsets can be examined."""
        problem, cone = self.problem, optimum.master.cone
        limit = 20.0 if self.time_limit is None else self.time_limit
        columns = neighbourhood(problem, optimum)
        found, cost, _ = self.whole_subjects_of(cone, columns, limit)
        proven = linear.proven and cost < linear.bound * (1 - 1e-9) + 1
        if not proven and problem.n_channels <= ALL_LIMIT and linear.proven:
            rest = enumerate_undominated(problem, cone, optimum.prices, linear.bound, cost)
            whole = make_all_channel_set(problem)
            columns = filter_useful_sets(problem, [whole, *rest, *found[0]])
            better, value, proven = self.whole_subjects_of(cone, columns, self.time_limit)
            if value < cost:
                found, cost = better, value
        return replace(
            linear,
            columns=found[0],
            x=found[1],
            cost=cost,
            proven=proven,
            integer=True,
            n_candidates=len(columns),
        )


def cost_of(problem: Problem, columns: Sequence[Column], x: sparse.csr_array) -> float:
    """Return the total coarsening of an assignment."""
    psi = np.array([problem.psi(column) for column in columns], dtype=np.float64)
    return float(psi @ np.asarray(x.sum(axis=0)).reshape(-1)) if len(columns) else 0.0


def mark_safe_binds(answer: Answer) -> Answer:
    """Say whether some channel holds no more safe subjects than it must (none, unless demanded)."""
    least = float(answer.problem.min_safe_share)
    return replace(answer, safe_binds=bool((answer.safe_shares <= least + 1e-9).any()))


# -- whole subjects ----------------------------------------------------------------------------------

#: How much the rules of a set are tightened when rounding in the solver broke one, time after time.
_MARGINS = (0.0, 1e-7, 1e-5, 1e-3)


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
    return replace(
        model,
        matrix=sparse.vstack([model.matrix, extra], format="csc"),
        lower=np.concatenate([model.lower, np.full(at, -np.inf)]),
        upper=np.concatenate([model.upper, np.zeros(at)]),
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


def neighbourhood(problem: Problem, optimum: Generation, most: int = 400) -> list[Column]:
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
