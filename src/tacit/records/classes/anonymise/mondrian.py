"""Mondrian on mixed keys: numbers are cut at medians, other keys climb down their hierarchies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from tacit.arrays import Floats, Ints
from tacit.data.hierarchies.intervals import as_number
from tacit.data.hierarchy import Hierarchy
from tacit.numerics.elementary import log
from tacit.records.classes.anonymise.base import span
from tacit.records.classes.anonymise.evaluate import Task
from tacit.records.classes.anonymise.grouping import Codes
from tacit.records.classes.anonymise.mixed import Release, Words, climb_words, judge_release
from tacit.records.classes.anonymise.search import Tick
from tacit.records.classes.anonymise.specialise import Classes, Numbers, Specialiser


def partition(
    task: Task,
    hierarchies: Mapping[str, Hierarchy],
    words: tuple[Words, ...],
    numeric: Sequence[str],
    tick: Tick,
    *,
    by_count: bool,
    relaxed: bool,
) -> Release | None:
    """Return the release of all rows cut as far as the models allow; None when it is not safe.

    The rows are those of the task's base state, and the keys that are ``numeric`` are cut. ``by_count`` says whether the
    utility charges an interval by the records in it, not by its ground values; ``relaxed`` whether ties may go to either
    side of a cut, and rows that cannot be specialised stay behind.
    """
    rows = task.problem.base
    numbers = {}
    for key in numeric:
        found = numbers_of(task, hierarchies[key], key, ties=relaxed)
        if found is not None:
            numbers[task.problem.keys.index(key)] = found
    down = Specialiser(task, words, tick, partial=relaxed, widest=True, numbers=numbers)
    classes = down.run(down.start())
    levels = classes.levels[classes.group]
    codes = climb_words(words, rows.codes, task.problem.low, levels)
    told = list(words)
    for j, number in numbers.items():
        whole = pa.types.is_integer(task.problem.cells.keys[task.problem.keys[j]].values.type)
        own = words[j].ladder[0, rows.codes[:, j]]
        price = partial(
            price_intervals, number, rows.amounts(task.objective.weighted), by_count=by_count
        )
        told[j], codes[:, j] = name_intervals(words[j], number, classes, own, whole, price)
    return judge_release(task, rows, tuple(told), codes, np.ones(len(rows), dtype=bool))


def has_intervals(hierarchy: Hierarchy) -> bool:
    """Return whether every group between ground and top holds all numbers between its lowest and highest."""
    numbers = [as_number(label) for label in hierarchy.labels[0]]
    if hierarchy.height < 2 or any(x is None for x in numbers):
        return False
    order = np.argsort(np.array(numbers, dtype=np.float64), kind="stable")
    return all(
        np.count_nonzero(np.diff(up[order])) + 1 == len(np.unique(up)) for up in hierarchy.up[1:]
    )


def numbers_of(task: Task, hierarchy: Hierarchy, key: str, *, ties: bool) -> Numbers | None:
    """Return a key as numbers; None when it has none, or not all of them stand at the ground."""
    problem = task.problem
    j = problem.keys.index(key)
    values = problem.cells.keys[key].values
    ground = problem.ground[j][: len(values)]
    if not len(values) or problem.low[j] or (ground >= len(hierarchy.labels[0])).any():
        return None
    parsed = [as_number(label) for label in hierarchy.labels[0]]
    domain = np.sort(np.array([x for x in parsed if x is not None], dtype=np.float64))
    rank_of = np.full(len(problem.climbs[j].leaves[0]), -1, dtype=np.int64)
    rank_of[ground] = np.arange(len(values))
    numbers = values.to_numpy(zero_copy_only=False).astype(np.float64)
    return Numbers(rank_of[problem.base.codes[:, j]], numbers, domain, ties)


def price_intervals(
    number: Numbers, amounts: Floats, first: Ints, last: Ints, *, by_count: bool
) -> Floats:
    """Return what intervals between two ranks, ends included, are charged, as a share of what the top is."""
    if not by_count:
        spread = max(len(number.domain) - 1, 1)
        return np.asarray((number.leaves(first, last) - 1) / spread)
    known = number.rank >= 0
    size = len(number.values)
    inside = np.bincount(number.rank[known], weights=amounts[known], minlength=size)
    run = np.concatenate([[0.0], np.cumsum(inside)])
    total = max(float(log(amounts.sum())), 1e-300)
    return np.asarray(log(run[last + 1] - run[first]) / total)


def name_intervals(
    words: Words,
    number: Numbers,
    classes: Classes,
    own: Codes,
    whole: bool,
    price: Callable[[Ints, Ints], Floats],
) -> tuple[Words, Codes]:
    """Return the words with the intervals of all classes among them, and the word of each row.

    ``own`` is the word of each row's own value.
    """
    count = len(classes.levels)
    low, high = number.ends(classes.group, count)
    word = np.full(count, words.top, dtype=np.int64)
    # A class of one value, or of missing values alone, keeps what it has.
    plain = low == high
    single = np.empty(count, dtype=np.int64)
    single[classes.group] = own
    word[plain] = single[plain]
    cut = np.flatnonzero((low >= 0) & (low < high))
    pairs = low[cut] * len(number.values) + high[cut]
    distinct, at = np.unique(pairs, return_inverse=True)
    word[cut] = len(words.texts) + at.ravel()
    first, last = np.divmod(distinct, len(number.values))
    ends = zip(number.values[first], number.values[last], strict=True)
    texts = [span(a, b, whole) for a, b in ends]
    prices = words.prices
    if len(prices):
        prices = np.concatenate([prices, prices[words.top] * price(first, last)])
    told = replace(
        words,
        texts=pa.concat_arrays([words.texts, pa.array(texts, pa.string())]),
        leaves=np.concatenate([words.leaves, number.leaves(first, last)]),
        prices=prices,
    )
    return told, word[classes.group].astype(np.int32)
