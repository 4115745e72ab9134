"""Solve channel expansion: choose candidates, solve, and hand back a checked answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tacit.errors import InvalidParameter, SolverError
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
from tacit.records.channels.cone import Cone, cone_of
from tacit.records.channels.exact import Optimum, Progress, generate
from tacit.records.channels.integer import (
    Assignment,
    enumerate_undominated,
    neighbourhood,
    solve_integer,
)
from tacit.records.channels.lp import build, run, to_sparse
from tacit.records.channels.problem import Problem

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
    search = Search(
        problem, integer, candidates, predicate, need_safe, count, max_size, seed, time_limit, tick
    )
    answer = search.answer()
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
        """Return the best whole assignment over some sets, its cost, and whether it is proven."""
        return solve_integer(
            self.problem, cone, columns, need_safe=self.need_safe, time_limit=time_limit
        )

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

    def over_accepted_sets(self, optimum: Optimum) -> Answer:
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

    def in_whole_subjects(self, linear: Answer, optimum: Optimum) -> Answer:
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
