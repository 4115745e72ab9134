"""Solve channel expansion: choose candidates, solve, and hand back a checked answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
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
from tacit.records.channels.cone import cone_of
from tacit.records.channels.exact import Optimum, Progress, generate
from tacit.records.channels.integer import enumerate_undominated, neighbourhood, solve_integer
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
    if not problem.risky.any():
        return _nothing_risky(problem, integer)
    if candidates == "exact":
        answer = _solve_all_sets(problem, integer, predicate, need_safe, count, max_size, seed, time_limit, tick)  # fmt: skip
    else:
        columns = _columns(problem, candidates, predicate, count, max_size, seed)
        answer = _solve_given_sets(
            problem, columns, integer, need_safe, time_limit, _method(candidates)
        )
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
    psi = np.array([problem.psi(column) for column in columns], dtype=np.int64)
    sizes = np.asarray(x.sum(axis=0)).reshape(-1)
    whole = bool(np.all(x.data == np.rint(x.data)))
    return Answer(
        problem=problem,
        columns=columns,
        x=x,
        cost=float(psi @ sizes) if len(columns) else 0.0,
        bound=0.0,
        proven=False,
        integer=whole,
        method="given",
        n_candidates=len(columns),
    )


def _nothing_risky(problem: Problem, integer: bool) -> Answer:
    empty = sparse.csr_array((problem.n_channels, 0))
    return Answer(problem, (), empty, 0.0, 0.0, True, integer, "nothing is risky", 0)


def _method(candidates: Candidates) -> str:
    return candidates if isinstance(candidates, str) else "list"


def _columns(
    problem: Problem,
    candidates: Candidates,
    predicate: Predicate | None,
    count: int,
    max_size: int,
    seed: int | None,
) -> list[Column]:
    if candidates == "all":
        drawn: Sequence[Sequence[int]] = all_subsets(problem)
    elif candidates == "random":
        drawn = random_candidates(problem, count, max_size, seed, predicate)
    elif isinstance(candidates, str):
        raise InvalidParameter(
            f"candidates must be 'exact', 'all', 'random' or a list of sets; got {candidates!r}."
        )
    else:
        drawn = candidates
    columns = filter_useful_sets(problem, drawn, predicate)
    require_cover(problem, columns)
    return columns


def _solve_given_sets(
    problem: Problem,
    columns: list[Column],
    integer: bool,
    need_safe: bool,
    time_limit: float | None,
    method: str,
) -> Answer:
    """Answer over a fixed list of sets."""
    cone = cone_of(problem)
    model = build(cone, columns)
    outcome = run(model, time_limit=time_limit)
    bound = outcome.value * cone.unit**2
    x = np.where(outcome.point > 1e-12, outcome.point, 0.0) * cone.unit
    used, subjects = to_sparse(model, x, problem.n_channels)
    answer = Answer(
        problem, used, subjects, _cost(problem, used, subjects), bound, True, False, method,
        len(columns),
    )  # fmt: skip
    answer = replace(answer, safe_binds=_binds(answer))
    if not integer:
        return answer
    (used, subjects), cost, proven = solve_integer(
        problem, cone, columns, need_safe=need_safe, time_limit=time_limit
    )
    return Answer(
        problem, used, subjects, cost, bound, proven, True, method, len(columns),
        safe_binds=answer.safe_binds,
    )  # fmt: skip


def _solve_all_sets(
    problem: Problem,
    integer: bool,
    predicate: Predicate | None,
    need_safe: bool,
    count: int,
    max_size: int,
    seed: int | None,
    time_limit: float | None,
    tick: Progress | None,
) -> Answer:
    """Answer over all sets, by column generation."""
    cone = cone_of(problem)
    optimum = generate(cone, time_limit=time_limit, tick=tick)
    columns, x = optimum.master.assignment()
    answer = Answer(
        problem, columns, x, _cost(problem, columns, x), optimum.bound * cone.unit**2,
        optimum.proven, False, "exact", optimum.master.n_columns,
    )  # fmt: skip
    answer = replace(answer, safe_binds=_binds(answer))
    if predicate is not None:
        return _with_predicate(problem, optimum, predicate, integer, need_safe, count, max_size, seed, time_limit)  # fmt: skip
    if integer:
        return _solve_whole_subjects(problem, answer, optimum, need_safe, time_limit)
    return answer


def _with_predicate(
    problem: Problem,
    optimum: Optimum,
    predicate: Predicate,
    integer: bool,
    need_safe: bool,
    count: int,
    max_size: int,
    seed: int | None,
    time_limit: float | None,
) -> Answer:
    """Solve over sets that a predicate accepts: all if few, else a rich sample and the full bound.

    A rejected small set may be acceptable with more members, so small sets no longer suffice.
    """
    few = problem.n_channels <= ALL_LIMIT
    drawn: list[Column] = [make_all_channel_set(problem)]
    if few:
        drawn += all_subsets(problem)
    else:
        drawn += neighbourhood(problem, optimum, most=4 * count)
        drawn += random_candidates(problem, count, max_size, seed, predicate)
    columns = filter_useful_sets(problem, drawn, predicate)
    answer = _solve_given_sets(problem, columns, integer, need_safe, time_limit, "exact")
    bound = answer.bound if few else min(answer.bound, optimum.bound * optimum.master.cone.unit**2)
    met = answer.cost <= bound * (1 + 1e-9)
    return replace(answer, bound=bound, proven=answer.proven and (few or met))


def _solve_whole_subjects(
    problem: Problem,
    linear: Answer,
    optimum: Optimum,
    need_safe: bool,
    time_limit: float | None,
) -> Answer:
    """Whole subjects near the linear optimum, and proof where all subsets can be examined."""
    cone = optimum.master.cone
    limit = 20.0 if time_limit is None else time_limit
    columns = neighbourhood(problem, optimum)
    found, cost, _ = solve_integer(problem, cone, columns, need_safe=need_safe, time_limit=limit)
    proven = linear.proven and cost < linear.bound * (1 - 1e-9) + 1
    if not proven and problem.n_channels <= ALL_LIMIT and linear.proven:
        columns = enumerate_undominated(problem, cone, optimum.prices, linear.bound, cost)
        columns = filter_useful_sets(problem, [make_all_channel_set(problem), *columns, *found[0]])
        better, value, proven = solve_integer(
            problem, cone, columns, need_safe=need_safe, time_limit=time_limit
        )
        if value < cost:
            found, cost = better, value
    return replace(
        linear, columns=found[0], x=found[1], cost=cost, proven=proven, integer=True,
        n_candidates=len(columns),
    )  # fmt: skip


def _cost(problem: Problem, columns: Sequence[Column], x: sparse.csr_array) -> float:
    psi = np.array([problem.psi(column) for column in columns], dtype=np.float64)
    return float(psi @ np.asarray(x.sum(axis=0)).reshape(-1)) if len(columns) else 0.0


def _binds(answer: Answer) -> bool:
    """Whether some channel holds no more safe subjects than it must (none, unless demanded)."""
    least = float(answer.problem.min_safe_share)
    return bool((answer.safe_shares <= least + 1e-9).any())
