"""Releases that mix levels: every record has its own level in each key.

The labels of all levels of a key are put into one list, and a release becomes a state of a lattice problem
whose keys have that one level. Models and utilities then judge it as they judge any node, and classes are
what a reader sees: records with equal labels, whatever level these came from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.data.hierarchy import Hierarchy, ground_labels
from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.grouping import Codes, Merged, merge_classes
from tacit.records.classes.anonymise.models.condition import AtLeast
from tacit.records.classes.anonymise.objectives import Additive
from tacit.records.classes.anonymise.problem import Climb, Levels, Problem, State


@dataclass(frozen=True)
class Words:
    """All labels that one key can be released with."""

    #: The label of each word; null for a missing value.
    texts: pa.Array
    #: How many ground values it stands for.
    leaves: Ints
    #: What the utility charges for it; empty for utilities that do not charge by value.
    prices: Floats
    #: For each level from the lowest allowed, and each code at the lowest: the word.
    ladder: Codes
    #: How many words, the first ones, are values as they stand in the data.
    ground: int
    #: How many words come from the hierarchy; those after them are intervals.
    known: int

    @property
    def top(self) -> int:
        """Return the word of the top."""
        return int(self.ladder[-1, 0])


@dataclass(frozen=True)
class Release:
    """A choice of words for each row, and what it is worth."""

    #: All labels, key by key.
    words: tuple[Words, ...]
    #: The word of each row and key.
    codes: Codes
    #: The rows that are kept.
    alive: Flags
    #: What the release costs.
    value: float
    #: Records that are suppressed, their share (of records, or of weights), and the classes kept.
    suppressed: int
    share: float
    classes: int


def list_words(task: Task, hierarchies: Mapping[str, Hierarchy]) -> tuple[Words, ...]:
    """Return the words of every key."""
    problem = task.problem
    priced = task.objective if isinstance(task.objective, Additive) else None
    return tuple(
        words_of_key(problem, j, hierarchies[key], priced) for j, key in enumerate(problem.keys)
    )


def words_of_key(problem: Problem, j: int, hierarchy: Hierarchy, priced: Additive | None) -> Words:
    """Return the words of one key: the labels of its levels, equal ones once."""
    climb, values = problem.climbs[j], problem.cells.keys[problem.keys[j]].values
    present = ground_labels(values).to_pylist()
    texts: list[str | None] = []
    for level, leaves in enumerate(climb.leaves):
        named: list[str | None] = [*hierarchy.labels[level]]
        if level < climb.height:
            # After the labels: null, then values that stand above this level and keep their own.
            named += [None, *present]
        texts += named[: len(leaves)]
    sizes = [len(leaves) for leaves in climb.leaves]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    covered = np.concatenate(climb.leaves)
    same = first_of_label(texts, covered)
    prices = np.zeros(0)
    if priced is not None:
        begin = priced.starts[j][0]
        prices = priced.prices[begin : begin + len(texts)]
    low = problem.low[j]
    ladder, codes = [], np.arange(sizes[low], dtype=np.int32)
    for level in range(low, climb.height + 1):
        ladder.append(same[starts[level] + codes])
        if level < climb.height:
            codes = climb.parents[level][codes]
    return Words(
        pa.array(texts, pa.string()),
        covered,
        prices,
        np.stack(ladder).astype(np.int32),
        ground=sizes[0],
        known=len(texts),
    )


def first_of_label(texts: Sequence[str | None], leaves: Ints) -> Codes:
    """Return for each word the one that stands for its label: the lowest of those with most leaves."""
    chosen: dict[str | None, int] = {}
    for code, text in enumerate(texts):
        known = chosen.get(text)
        if known is None or leaves[code] > leaves[known]:
            chosen[text] = code
    return np.array([chosen[text] for text in texts], dtype=np.int32)


def climb_words(words: Sequence[Words], codes: Codes, low: Levels, levels: Codes) -> Codes:
    """Return the word of each row and key at a level of its own."""
    return np.stack(
        [words[j].ladder[levels[:, j] - low[j], codes[:, j]] for j in range(codes.shape[1])],
        axis=1,
    ).astype(np.int32)


def judge_release(
    task: Task, rows: State, words: tuple[Words, ...], codes: Codes, kept: Flags
) -> Release | None:
    """Return what a release is worth once rows that fail are suppressed; None when they are too many."""
    mixed = mixed_task(task, words, rows)
    state, ids = merge_release(mixed.problem, rows, codes, kept)
    among = np.ones(len(state), dtype=bool)
    if not kept.all():
        among[-1] = False
    alive = mixed.keep(state, among=among).alive
    gone = ~alive
    amount = float(state.amounts(task.weighted)[gone].sum())
    if amount > task.limit:
        return None
    total = task.problem.total(task.weighted)
    return Release(
        words,
        codes,
        alive[ids],
        mixed.objective.value(mixed.problem, state, alive),
        int(state.n[gone].sum()),
        amount / total if total else 0.0,
        int(alive.sum()),
    )


def mixed_task(task: Task, words: Sequence[Words], rows: State) -> Task:
    """Return the task on a problem in which each key has the one level of all its words."""
    problem = task.problem
    ground = tuple(0 for _ in words)
    lowest = np.stack([w.ladder[0, rows.codes[:, j]] for j, w in enumerate(words)], axis=1)
    base = replace(rows, levels=ground, codes=lowest.astype(np.int32))
    climbs = tuple(
        Climb((), (w.leaves,), c.domain) for w, c in zip(words, problem.climbs, strict=True)
    )
    objective = task.objective
    if isinstance(objective, Additive):
        begins = np.concatenate([[0], np.cumsum([len(w.prices) for w in words])])
        objective = replace(
            objective,
            prices=np.concatenate([w.prices for w in words]),
            starts=tuple((int(b),) for b in begins[:-1]),
            same=tuple((math.nan,) for _ in words),
        )
    one = replace(problem, climbs=climbs, low=ground, high=ground, base=base)
    return replace(task, problem=one, objective=objective)


def merge_release(problem: Problem, rows: State, codes: Codes, kept: Flags) -> tuple[State, Ints]:
    """Return the classes of a release, all suppressed rows last as one, and the class of each row."""
    levels = tuple(0 for _ in problem.keys)
    sizes = problem.code_sizes(levels)
    weight = None if rows.weight is None else rows.weight[kept]
    merged = merge_classes(np.ascontiguousarray(codes[kept]), sizes, rows.n[kept], weight)
    _, labels, n, weights = merged
    ids = np.full(len(rows), len(n), dtype=np.int64)
    ids[kept] = merged.ids
    if not kept.all():
        n = np.append(n, rows.n[~kept].sum())
        labels = np.concatenate([labels, np.zeros((1, labels.shape[1]), dtype=np.int32)])
        if weights is not None and rows.weight is not None:
            weights = np.append(weights, rows.weight[~kept].sum())
    return rows.merged(levels, Merged(ids, labels, n, weights), problem.sizes), ids


def least_value(task: Task, words: Sequence[Words], rows: State) -> float:
    """Return a value below which no release of hierarchy labels lies.

    Each label that a record is released with stands, in its key alone, for at least k records; so a record
    is charged no less than the lowest labels for which that is true. Keys are looked at one by one, which
    makes the bound true and loose; it is 0 for utilities that do not charge by value.
    """
    objective = task.objective
    if not isinstance(objective, Additive):
        return 0.0
    charges = np.zeros(len(rows)) - objective.known_before(rows)
    for j, word in enumerate(words):
        least = np.full(len(rows), np.inf)
        inside = {g for g, places in enumerate(task.problem.groups) if j in places}
        sizes = [c for c, s in task.conditions if isinstance(c, AtLeast) and inside & set(s)]
        for level in range(len(word.ladder)):
            codes = word.ladder[level, rows.codes[:, j]]
            enough = np.ones(len(rows), dtype=bool)
            for condition in sizes:
                count = np.bincount(codes, weights=rows.amounts(condition.weighted))
                enough &= count[codes] >= condition.k - 1e-9
            least = np.where(enough, np.minimum(least, word.prices[codes]), least)
        charges += np.where(np.isinf(least), word.prices[word.top], least)
    full = objective.suppress * objective.full_charges(task.problem, rows)
    each = np.minimum(objective.generalise * charges, full)
    amounts = rows.amounts(objective.weighted)
    return float((amounts * each).sum()) / task.problem.total(objective.weighted)
