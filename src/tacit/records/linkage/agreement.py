"""Probabilistic linkage: agreement patterns of candidate pairs, and links by their weights.

Pairs are never held: patterns are counted while the candidates of each record pass by, and the EM algorithm
works on the counts alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Approximate
from tacit.events import side_by_side
from tacit.records.linkage.assignment import Pairing, check_size, pair_files
from tacit.records.linkage.candidate_pairs import KERNELS
from tacit.records.linkage.fellegi_sunter import Model, Patterns
from tacit.records.linkage.level_tables import LevelTable
from tacit.records.linkage.nearest import WORKERS, Links, Tick, ignore_progress
from tacit.records.linkage.rows import Distinct, distinct_rows

#: Possible agreement patterns up to which each has a place of its own; with more, those that occur are counted.
PATTERN_LIMIT = 1 << 22
#: Agreement patterns that occur, beyond which the rest is estimated from the records looked at so far.
SEEN_LIMIT = 1 << 18
#: Patterns that one word numbers.
WORD = 1 << 62
#: Weights (in bits) that differ by less tie.
MARGIN = 1e-9
#: Queries given to a worker at once.
CHUNK = 256
#: Pairs whose patterns are kept by a worker until they are counted, and workers' parts between two looks at the limit.
HELD, AT_ONCE = 1 << 21, 8


@dataclass(frozen=True)
class Comparison:
    """How fields are compared, in tuples by field.

    ``tolerances`` are the differences up to which values agree, widest first, 0 for equality: a field's level of agreement is
    the number of tolerances that the difference is within. The weight of ``numeric`` fields may be interpolated. ``ranks``
    say what that number means as a level when there are further levels between, None where it is the level itself;
    ``tables`` have levels of pairs of values, of which the higher one counts, and ``tops`` the highest level where it is not
    the number of tolerances.
    """

    tolerances: tuple[tuple[float, ...], ...]
    numeric: tuple[bool, ...]
    ranks: tuple[tuple[int, ...] | None, ...] = ()
    tables: tuple[LevelTable | None, ...] = ()
    tops: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.tolerances)

    @property
    def highest(self) -> Ints:
        """Return the highest level of each field."""
        return np.array(self.tops or [len(t) for t in self.tolerances], dtype=np.int64)

    @property
    def n_levels(self) -> list[int]:
        """Return the number of levels of each field."""
        return [int(top) + 1 for top in self.highest]

    @property
    def sizes(self) -> Ints:
        """Return the number of levels of each field, a missing value being one more."""
        return self.highest + 2

    @property
    def n_patterns(self) -> int:
        """Return how many agreement patterns there could be."""
        return math.prod(self.sizes.tolist())

    @property
    def places(self) -> tuple[Ints, Ints]:
        """Return, by field, the word of the pattern's number that it adds to, and what a level adds there."""
        word, radix, at, step = [], [], 0, 1
        for size in self.sizes.tolist():
            if step * size > WORD:
                at, step = at + 1, 1
            word.append(at)
            radix.append(step)
            step *= size
        return np.array(word, dtype=np.int64), np.array(radix, dtype=np.int64)

    @property
    def n_words(self) -> int:
        """Return how many words the number of a pattern has."""
        return int(self.places[0][-1]) + 1

    @property
    def by_level(self) -> Flags:
        """Return the fields whose level is more than the number of tolerances met."""
        return np.array([rank is not None for rank in self.ranks or [None] * len(self)])

    def padded(self) -> Floats:
        """Return the tolerances as a matrix, -1 behind the last."""
        widest = max(1, *map(len, self.tolerances))
        return np.array([[*t, *[-1.0] * (widest - len(t))] for t in self.tolerances])

    def levels(self, numbers: Ints) -> Ints:
        """Return the levels of patterns, one row of words each, by field; -1 where a value is missing."""
        word, radix = self.places
        level = numbers[:, word] // radix % self.sizes
        return np.where(level == self.sizes - 1, -1, level)

    def table(self, f: int) -> LevelTable | None:
        """Return the table of a field."""
        return self.tables[f] if self.tables else None

    def level_of(self, left: Floats, right: Floats, f: int) -> Ints:
        """Return the level of a field for values that stand side by side; one above the highest if missing."""
        gap = np.abs(left - right)
        level = np.zeros(len(gap), dtype=np.int64)
        for limit in self.tolerances[f]:
            level += gap <= limit
        rank = self.ranks[f] if self.ranks else None
        if rank is not None:
            level = np.array(rank, dtype=np.int64)[level]
        table = self.table(f)
        if table is not None:
            level = np.maximum(level, table.look_up(left, right))
        level[np.isnan(gap)] = self.highest[f] + 1
        return level

    def kernel_arrays(self, b: Floats) -> tuple[Any, ...]:
        """Return what the kernels take to find levels: see ``fields`` there."""
        widest = max(1, *map(len, self.tolerances)) + 1
        rank = np.zeros((len(self), widest), dtype=np.int64)
        base = np.full((len(self), 2), -1, dtype=np.int64)
        codes = np.zeros((len(self), b.shape[1] if self.by_level.any() else 0), dtype=np.int64)
        starts, others, levels = [], [], []
        rows, entries, width = 0, 0, 1
        for f in range(len(self)):
            given = self.ranks[f] if self.ranks else None
            rank[f, : len(given or ())] = given or ()
            table = self.table(f)
            if table is None:
                continue
            base[f] = rows, table.low
            known = np.isfinite(b[f])
            codes[f, known] = b[f, known].astype(np.int64) - table.low
            starts.append(table.start + entries)
            others.append(table.other)
            levels.append(table.level)
            rows, entries = rows + len(table.start), entries + len(table.other)
            width = max(width, len(table))
        none = [np.zeros(1, dtype=np.int64)]
        joined = (np.concatenate(part or none) for part in (starts, others, levels))
        return self.padded(), self.highest, self.by_level, rank, base, *joined, codes, width


@dataclass(frozen=True)
class Candidates:
    """The pairs to look at: each distinct query with a stretch of distinct targets.

    ``a`` are the distinct queries, one column per field, and ``asked`` says which query is which; ``b`` are the distinct targets
    in the order of the stretches, one row per field, and ``found`` says which target is which. ``order`` has the distinct
    target at each place of that order, ``low`` and ``high`` the stretch of each query. Pairs of the same block of queries
    (rows of ``ours``) and of targets (columns of ``theirs``) were looked at under an earlier rule.
    """

    a: Floats
    asked: Distinct
    b: Floats
    found: Distinct
    order: Ints
    low: Ints
    high: Ints
    ours: Ints
    theirs: Ints

    @property
    def pairs(self) -> int:
        """Return the number of pairs of records."""
        ends = np.concatenate([[0], np.cumsum(self.found.count[self.order])])
        return int(self.asked.count @ (ends[self.high] - ends[self.low]))

    @property
    def work(self) -> int:
        """Return the number of distinct pairs, each of which is compared once."""
        return int((self.high - self.low).sum())

    def holds(self, target: Ints) -> Flags:
        """Return whether a target (-1 for none) is a candidate of each query."""
        place = np.empty(len(self.order), dtype=np.int64)
        place[self.order] = np.arange(len(self.order))
        at = np.where(target >= 0, place[self.found.of[target]], -1)
        low, high = self.low[self.asked.of], self.high[self.asked.of]
        return np.asarray((at >= low) & (at < high), dtype=bool)


def candidates(
    a: Floats,
    b: Floats,
    *,
    block: tuple[Ints, Ints] | None = None,
    near: tuple[Floats, Floats] | None = None,
    within: float = np.inf,
) -> Candidates:
    """Return the pairs of the same block whose numbers ``near`` differ by no more than ``within``.

    Without either these are all pairs. A record without a number for ``near`` has no candidates.
    """
    near_a, near_b = near or (np.zeros(len(a)), np.zeros(len(b)))
    blocks = [block or (np.zeros(len(a), np.int64), np.zeros(len(b), np.int64))]
    return candidates_by_rule(a, b, blocks, near_a, near_b, within)[0]


def candidates_by_rule(
    a: Floats,
    b: Floats,
    blocks: Sequence[tuple[Ints, Ints]],
    near_a: Floats | None = None,
    near_b: Floats | None = None,
    within: float = np.inf,
) -> list[Candidates]:
    """Return the pairs of the same block under each of several rules, knowing those of earlier ones."""
    near_a = np.zeros(len(a)) if near_a is None else near_a
    near_b = np.zeros(len(b)) if near_b is None else near_b
    asked = distinct_rows(np.column_stack([a, *(x for x, _ in blocks), near_a]))
    found = distinct_rows(np.column_stack([b, *(y for _, y in blocks), near_b]))
    queries = np.ascontiguousarray(a[asked.first])
    ours = np.column_stack([x[asked.first] for x, _ in blocks])
    theirs = np.stack([y[found.first] for _, y in blocks])
    near_a, near_b = near_a[asked.first], near_b[found.first]
    made = []
    for r in range(len(blocks)):
        order = np.lexsort((near_b, theirs[r]))  # NaN last
        low, high = find_candidate_ranges(
            ours[:, r], theirs[r][order], near_a, near_b[order], within
        )
        targets = np.ascontiguousarray(b[found.first[order]].T)
        earlier = np.ascontiguousarray(ours[:, :r]), np.ascontiguousarray(theirs[:r, order])
        made.append(Candidates(queries, asked, targets, found, order, low, high, *earlier))
    return made


def find_candidate_ranges(
    block_a: Ints, block_b: Ints, near_a: Floats, near_b: Floats, within: float
) -> tuple[Ints, Ints]:
    """Return where the candidates of each query begin and end among targets sorted by block and number."""
    low = np.searchsorted(block_b, block_a, side="left")
    high = np.searchsorted(block_b, block_a, side="right")
    if math.isfinite(within):
        order = np.argsort(block_a, kind="stable")
        cuts = np.flatnonzero(np.diff(block_a[order])) + 1
        for rows in np.split(order, cuts):
            begin, end = low[rows[0]], high[rows[0]]
            there = near_b[begin:end]
            low[rows] = begin + np.searchsorted(there, near_a[rows] - within, side="left")
            high[rows] = begin + np.searchsorted(there, near_a[rows] + within, side="right")
        high = np.where(np.isnan(near_a), low, high)
    return low.astype(np.int64), high.astype(np.int64)


# -- patterns ----------------------------------------------------------------------------------------


def count_patterns(
    candidates: Candidates, comparison: Comparison, tick: Tick = ignore_progress
) -> Patterns:
    """Count the agreement patterns of all candidate pairs."""
    every, _ = count_new_patterns(candidates, comparison, tick)
    return every


def count_new_patterns(
    candidates: Candidates, comparison: Comparison, tick: Tick = ignore_progress
) -> tuple[Patterns, Patterns]:
    """Count the agreement patterns of all candidate pairs, and of those that no earlier rule has.

    Where there could be very many patterns only those that occur are kept.
    """
    if comparison.n_patterns > PATTERN_LIMIT:
        return count_seen_patterns(candidates, comparison, tick)
    c, n, total = candidates, len(candidates.a), comparison.n_patterns
    run = KERNELS.pick(2.0 * c.work * c.a.shape[1])["count_patterns"]
    fields = comparison.kernel_arrays(c.b)

    def work(begin: int) -> Ints:
        tick("comparing pairs", begin / max(n, 1))
        out = np.zeros(2 * total, dtype=np.int64)
        run(_pairs_of(c, slice(begin, begin + CHUNK)), fields, comparison.places, out)
        return out

    counts = np.zeros(2 * total, dtype=np.int64)
    for part in side_by_side(work, range(0, n, CHUNK), WORKERS):
        counts += part
    new = counts[:total]
    return as_patterns(new + counts[total:], comparison), as_patterns(new, comparison)


def _pairs_of(c: Candidates, at: slice | Ints) -> tuple[Any, ...]:
    """Return the candidates of some queries as the kernels take them."""
    amount = c.found.count[c.order]
    return c.a[at], c.b, c.low[at], c.high[at], c.asked.count[at], amount, c.ours[at], c.theirs


def count_seen_patterns(
    candidates: Candidates, comparison: Comparison, tick: Tick
) -> tuple[Patterns, Patterns]:
    """Count the patterns that occur, without a place for each that there could be.

    Records come in even steps through the file. Where too many patterns occur to be kept, those of the records so
    far are raised to the number of all pairs, with a warning.
    """
    c, n = candidates, len(candidates.a)
    run = KERNELS.pick(2.0 * c.work * c.a.shape[1])["number_patterns"]
    fields = comparison.kernel_arrays(c.b)
    parts = max(-(-n // CHUNK), -(-c.work // HELD), 1)

    def work(part: int) -> tuple[Ints, Ints]:
        tick("comparing pairs", part / parts)
        at = np.arange(part, n, parts)
        numbers = np.zeros((int((c.high[at] - c.low[at]).sum()), comparison.n_words + 1), np.int64)
        pairs = np.zeros(len(numbers), dtype=np.int64)
        run(_pairs_of(c, at), fields, comparison.places, numbers, pairs)
        return sum_equal(numbers, pairs)

    numbers, counts = np.zeros((0, comparison.n_words + 1), np.int64), np.zeros(0, np.int64)
    for begin in range(0, parts, AT_ONCE):
        some = list(side_by_side(work, range(begin, min(begin + AT_ONCE, parts)), WORKERS))
        numbers = np.concatenate([numbers, *(found for found, _ in some)])
        numbers, counts = sum_equal(
            numbers, np.concatenate([counts, *(pairs for _, pairs in some)])
        )
        if len(numbers) > SEEN_LIMIT:
            break
    if counts.sum() < c.pairs:
        warnings.warn(
            f"more than {SEEN_LIMIT:,} agreement patterns occur: how often columns agree is estimated from "
            f"{int(counts.sum()):,} of {c.pairs:,} pairs",
            Approximate,
            stacklevel=2,
        )
        raised = np.rint(np.cumsum(counts) * (c.pairs / counts.sum())).astype(np.int64)
        counts = np.diff(raised, prepend=0)
    found = comparison.levels(numbers[:, :-1])
    new = numbers[:, -1] == 0
    return add_patterns([Patterns(found, counts)]), Patterns(found[new], counts[new])


def sum_equal(numbers: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return the different rows of numbers, and the sum of the counts of each."""
    if not len(numbers):
        return numbers, counts
    order = np.lexsort(numbers.T)
    ranked = numbers[order]
    begins = np.flatnonzero(np.append(True, (ranked[1:] != ranked[:-1]).any(axis=1)))
    return ranked[begins], np.add.reduceat(counts[order], begins)


def as_patterns(counts: Ints, comparison: Comparison) -> Patterns:
    """Return the patterns that occur, from counts of all that there could be."""
    seen = np.flatnonzero(counts)
    return Patterns(comparison.levels(seen[:, None]), counts[seen])


def add_patterns(some: Sequence[Patterns]) -> Patterns:
    """Return the patterns of several sets of pairs together."""
    levels, of = np.unique(np.concatenate([p.levels for p in some]), axis=0, return_inverse=True)
    counts = np.zeros(len(levels), dtype=np.int64)
    np.add.at(counts, of.ravel(), np.concatenate([p.counts for p in some]))
    return Patterns(levels, counts)


def random_patterns(
    a: Floats, b: Floats, comparison: Comparison, n: int, rng: np.random.Generator
) -> Patterns:
    """Count the agreement patterns of random pairs, nearly all of different persons."""
    left, right = a[rng.integers(len(a), size=n)], b[rng.integers(len(b), size=n)]
    return count_numbers(pattern_numbers(left, right, comparison), comparison)


def true_patterns(a: Floats, b: Floats, old: Ints, new: Ints, comparison: Comparison) -> Patterns:
    """Count the agreement patterns of the true pairs."""
    return count_numbers(pattern_numbers(a[old], b[new], comparison), comparison)


def count_numbers(numbers: Ints, comparison: Comparison) -> Patterns:
    """Count patterns that are given by their numbers."""
    seen, counts = sum_equal(numbers, np.ones(len(numbers), dtype=np.int64))
    return Patterns(comparison.levels(seen), counts)


def pattern_numbers(left: Floats, right: Floats, comparison: Comparison) -> Ints:
    """Return the number of the agreement pattern of pairs that stand side by side, one row of words each."""
    number = np.zeros((len(left), comparison.n_words), dtype=np.int64)
    for f, (word, step) in enumerate(zip(*comparison.places, strict=True)):
        number[:, word] += step * comparison.level_of(left[:, f], right[:, f], f)
    return number


# -- links -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scores:
    """How differences and levels become weights.

    Fields that go by difference have ``knots``, ``slopes`` and ``top``, ``stepwise`` or not (see the kernels); those that go by
    level have the ``weights`` of each, 0 behind the last. ``bonus`` is, by field, what each value adds to the weight of full
    agreement; None for nothing.
    """

    knots: Floats
    slopes: Floats
    top: Floats
    stepwise: bool
    comparison: Comparison
    weights: Floats
    bonus: tuple[Floats | None, ...]

    def bonus_of(self, values: Floats, f: int) -> Floats:
        """Return what values of a field add to the weight of full agreement."""
        given = self.bonus[f]
        if given is None:
            return np.zeros(len(values))
        return given[np.where(np.isfinite(values), values, 0.0).astype(np.int64)]


def scores(
    model: Model,
    comparison: Comparison,
    *,
    interpolated: bool,
    bonus: tuple[Floats | None, ...] = (),
) -> Scores:
    """Return the weight of a difference or level by field.

    Stepwise, a level's weight holds over its whole tolerance. Interpolated, the weight of a number falls
    from full agreement at difference 0 through the mean of two levels at the tolerance between them to
    full disagreement at twice the widest. Fields that go by level are stepwise.
    """
    widest = max(1, *map(len, comparison.tolerances))
    n = len(comparison.tolerances)
    knots = np.zeros((n, widest + 2))
    slopes = np.zeros((n, widest + 1))
    by_level = comparison.by_level
    top = np.array([0.0 if by_level[f] else w[-1] for f, w in enumerate(model.weights)])
    weights = np.zeros((n, int(comparison.sizes.max())))
    for f, weight in enumerate(model.weights):
        if by_level[f]:
            weights[f, : len(weight)] = weight
            continue
        limits = np.array(comparison.tolerances[f])[::-1]  # narrowest first
        falling = weight[::-1]
        k = len(limits)
        if not interpolated:
            knots[f, :k] = limits
            slopes[f, :k] = np.diff(falling)
            continue
        # Categories are codes that differ by at least 1: the fall ends there.
        at = (
            np.array([0.0, *limits, 2 * limits[-1]])
            if comparison.numeric[f]
            else np.array([0.0, 1.0])
        )
        value = (
            np.array([falling[0], *(falling[:-1] + falling[1:]) / 2, falling[-1]])
            if comparison.numeric[f]
            else falling[[0, -1]]
        )
        pieces = len(at) - 1
        knots[f, : pieces + 1] = at
        slopes[f, :pieces] = np.diff(value) / np.maximum(np.diff(at), np.finfo(float).tiny)
    return Scores(knots, slopes, top, not interpolated, comparison, weights, bonus or (None,) * n)


def pair_weights(left: Floats, right: Floats, how: Scores) -> Floats:
    """Return the weights of pairs that stand side by side."""
    gap = np.abs(left - right)
    total = np.zeros(len(gap))
    for f in range(gap.shape[1]):
        if how.comparison.by_level[f]:
            level = how.comparison.level_of(left[:, f], right[:, f], f)
            more = np.where(level == how.comparison.highest[f], how.bonus_of(left[:, f], f), 0.0)
            total += how.weights[f, level] + more
            continue
        weight = np.full(len(gap), how.top[f])
        for k in range(how.slopes.shape[1]):
            knot, slope = how.knots[f, k], how.slopes[f, k]
            if how.stepwise:
                weight += slope * (gap[:, f] > knot)
            else:
                weight += slope * np.clip(gap[:, f] - knot, 0.0, how.knots[f, k + 1] - knot)
        total += np.where(np.isnan(gap[:, f]), 0.0, weight)
    return total


def best_links(
    candidates: Candidates | Sequence[Candidates], how: Scores, tick: Tick = ignore_progress
) -> Links:
    """Return the candidate of the largest weight; ``distance`` and ``second`` are minus the weights."""
    rules = [candidates] if isinstance(candidates, Candidates) else candidates
    queries = rules[0].a
    n = len(queries)
    link, ties = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    best = np.full((n, 2), -np.inf)
    bonus = np.column_stack([how.bonus_of(x, f) for f, x in enumerate(queries.T)])
    for rule in rules:
        search_rule(rule, how, bonus, link, best, ties, tick)
    back = rules[0].asked.of
    return Links(link[back], -best[back, 0], -best[back, 1], ties[back])


def search_rule(
    rule: Candidates,
    how: Scores,
    bonus: Floats,
    link: Ints,
    best: Floats,
    ties: Ints,
    tick: Tick,
) -> None:
    """Look through the candidates of one rule and keep what is better than what earlier ones have found."""
    c, n, comparison = rule, len(link), how.comparison
    run = KERNELS.pick(2.0 * c.work * c.a.shape[1])["best_weights"]
    number, fields = c.found.first[c.order], comparison.kernel_arrays(c.b)
    weigh = how.knots, how.slopes, how.top, how.stepwise, how.weights

    def work(begin: int) -> None:
        tick("weighing pairs", begin / max(n, 1))
        at = slice(begin, begin + CHUNK)
        # Infinity less infinity is unknown, and weighs nothing: compiled or not.
        with np.errstate(invalid="ignore"):
            found = link[at], best[at], ties[at]
            run(_pairs_of(c, at), fields, weigh, bonus[at], number, MARGIN, found)

    for _ in side_by_side(work, range(0, n, CHUNK), WORKERS):
        pass


def assign_weighted_links(
    candidates: Candidates | Sequence[Candidates], how: Scores, truth: Ints
) -> tuple[Links, Pairing]:
    """Return one-to-one links of the largest total weight, and how they were found; each is a candidate."""
    rules = [candidates] if isinstance(candidates, Candidates) else candidates
    asked, found = rules[0].asked, rules[0].found
    check_size(len(asked.of), len(found.of))
    weight = np.full((len(asked), len(found)), -np.inf)
    for c in rules:
        for q in range(len(asked)):
            at = slice(int(c.low[q]), int(c.high[q]))
            there = c.b[:, at].T
            weight[q, c.order[at]] = pair_weights(np.broadcast_to(c.a[q], there.shape), there, how)
    pairing = pair_files(-weight, asked, found, truth)
    link, full = pairing.link, weight[asked.of]
    linked = np.flatnonzero(link >= 0)
    own = np.full(len(link), -np.inf)
    own[linked] = full[linked, found.of[link[linked]]]
    ties = np.where(link >= 0, found.count[found.of[link]], 0)
    alone = linked[ties[linked] == 1]
    full[alone, found.of[link[alone]]] = -np.inf
    return Links(link, -own, -full.max(axis=1, initial=-np.inf), ties), pairing
