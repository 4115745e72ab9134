"""Candidate output channels: all subsets, random sets by the paper's rules, a user's list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import numpy as np

from tacit.errors import Infeasible, InvalidParameter
from tacit.records.channels.problem import Problem

Column = tuple[int, ...]
Predicate = Callable[[Column], bool]

ALL_LIMIT = 12
_BLOCK = 512


def make_all_channel_set(problem: Problem) -> Column:
    """Return the all-channel set d0, which is safe whenever a release exists."""
    return tuple(range(problem.n_channels))


def all_subsets(problem: Problem) -> list[Column]:
    """Every set that holds a safe input channel (condition 5); for at most 12 channels."""
    n = problem.n_channels
    if n > ALL_LIMIT:
        raise InvalidParameter(
            f"candidates='all' enumerates every subset and takes at most {ALL_LIMIT} input "
            f"channels; there are {n}. Use candidates='exact', which has the same optimum."
        )
    subsets = (column for size in range(1, n + 1) for column in combinations(range(n), size))
    return [column for column in subsets if problem.a_priori_safe(column)]


def random_candidates(
    problem: Problem,
    count: int = 2048,
    max_size: int = 8,
    seed: int | None = 0,
    predicate: Predicate | None = None,
) -> list[Column]:
    """Draw sets by the rules of section 7: a risky and a safe member, few members favoured.

    The all-channel set comes first and is one of the ``count``. The number of members n is drawn
    with weight 1/n from 2 to ``max_size``. A longer draw with the same seed begins with the
    shorter one.
    """
    if count < 1 or max_size < 2:
        raise InvalidParameter("random candidates need count of at least 1 and max_size of 2.")
    chosen = {make_all_channel_set(problem): None}
    risky, safe = np.flatnonzero(problem.risky), np.flatnonzero(problem.safe)
    if not len(risky) or not len(safe):
        return list(chosen)
    rng = np.random.default_rng(seed)
    idle = 0
    while len(chosen) < count and idle < 20:
        before = len(chosen)
        for column in _draw(rng, problem.n_channels, risky, safe, max_size):
            if len(chosen) < count and (predicate is None or predicate(column)):
                chosen.setdefault(column)
        idle = idle + 1 if len(chosen) == before else 0
    return list(chosen)


def _draw(
    rng: np.random.Generator, n: int, risky: np.ndarray, safe: np.ndarray, max_size: int
) -> list[Column]:
    """Draw one block of sets."""
    sizes = np.arange(2, min(max_size, n) + 1)
    drawn = rng.choice(sizes, size=_BLOCK, p=(1 / sizes) / (1 / sizes).sum())
    first = rng.choice(risky, size=_BLOCK)
    second = rng.choice(safe, size=_BLOCK)
    # The first of a random order that starts with the risky and the safe member.
    order = rng.random((_BLOCK, n))
    order[np.arange(_BLOCK), first] = -2
    order[np.arange(_BLOCK), second] = -1
    most = int(sizes[-1])
    ranked = np.argsort(order, axis=1, kind="stable")[:, :most]
    return [tuple(sorted(line[:size].tolist())) for line, size in zip(ranked, drawn, strict=True)]


def filter_useful_sets(
    problem: Problem, columns: Iterable[Sequence[int]], predicate: Predicate | None = None
) -> list[Column]:
    """Sort, deduplicate and filter sets; keep those with a safe and a risky member.

    Sets of safe channels alone are dropped, since their subjects can stay where they are for
    nothing. The predicate is not asked about the all-channel set.
    """
    whole = make_all_channel_set(problem)
    kept: dict[Column, None] = {}
    for channels in columns:
        column = tuple(sorted({int(r) for r in channels}))
        if not column or column[0] < 0 or column[-1] >= problem.n_channels:
            raise InvalidParameter(
                "a candidate names an input channel that does not exist; channels are numbered "
                f"from 0 to {problem.n_channels - 1}."
            )
        members = problem.risky[list(column)]
        if members.all() or not members.any():
            continue
        if predicate is None or column == whole or predicate(column):
            kept.setdefault(column)
    return list(kept)


def require_cover(problem: Problem, columns: Sequence[Column]) -> None:
    """Raise when a risky input channel is in no candidate."""
    covered = {r for column in columns for r in column}
    lost = [r for r in np.flatnonzero(problem.risky).tolist() if r not in covered]
    if lost:
        raise Infeasible(
            f"no candidate output channel holds the risky input channel {problem.label(lost[0])} "
            f"({len(lost)} in all are not covered); add the set of all input channels."
        )
