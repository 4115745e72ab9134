"""Probabilistic linkage: agreement patterns of candidate pairs, their probabilities by EM, and links.

Fellegi and Sunter compare the fields of a pair; m is the probability of a field's level of agreement
among pairs of the same person, u among others. Pairs are never held: patterns are counted while the
candidates of each record pass by, and the EM algorithm works on the counts alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from tacit.errors import InputError
from tacit.risk.linkage.assignment import assign, check_size
from tacit.risk.linkage.candidate_pairs import KERNELS
from tacit.risk.linkage.nearest import WORKERS, Links, Tick, ignore_progress
from tacit.risk.linkage.rows import Distinct, distinct_rows
from tacit.stats.moments import Flags, Floats, Ints

#: Agreement patterns for which counts are kept.
PATTERN_LIMIT = 1 << 22
#: Probabilities are kept away from 0 and 1 by this much.
EDGE = 1e-9
#: Weights (in bits) that differ by less tie.
MARGIN = 1e-9
#: Queries given to a worker at once.
CHUNK = 256


@dataclass(frozen=True)
class Comparison:
    """How fields are compared.

    Attributes
    ----------
    tolerances
        By field, the differences up to which values agree, widest first; 0 for equality. A field's level
        of agreement is the number of tolerances that the difference is within.
    numeric
        Which fields hold numbers, whose weight may be interpolated.
    """

    tolerances: tuple[tuple[float, ...], ...]
    numeric: tuple[bool, ...]

    @property
    def sizes(self) -> Ints:
        """Return the number of levels of each field, a missing value being one more."""
        return np.array([len(t) + 2 for t in self.tolerances], dtype=np.int64)

    @property
    def radix(self) -> Ints:
        """Return what a level of each field adds to the pattern's number."""
        total = math.prod(self.sizes.tolist())
        if total > PATTERN_LIMIT:
            raise InputError(
                f"{len(self.tolerances)} fields have {total:,} agreement patterns, too many to count. "
                "Compare fewer columns or use one tolerance."
            )
        return np.concatenate([[1], np.cumprod(self.sizes[:-1])]).astype(np.int64)

    def padded(self) -> Floats:
        """Return the tolerances as a matrix, -1 behind the last."""
        widest = max(map(len, self.tolerances))
        return np.array([[*t, *[-1.0] * (widest - len(t))] for t in self.tolerances])

    def levels(self, numbers: Ints) -> Ints:
        """Return the levels of patterns by field; -1 where a value is missing."""
        level = numbers[:, None] // self.radix % self.sizes
        return np.where(level == self.sizes - 1, -1, level)


@dataclass(frozen=True)
class Candidates:
    """The pairs to look at: each distinct query with a stretch of distinct targets.

    Attributes
    ----------
    a, asked
        The distinct queries, one column per field, and which query is which.
    b, found
        The distinct targets in the order of the stretches, one row per field, and which target is which.
    order
        The distinct target at each place of that order.
    low, high
        The stretch of each query.
    """

    a: Floats
    asked: Distinct
    b: Floats
    found: Distinct
    order: Ints
    low: Ints
    high: Ints

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
    block_a, block_b = block or (np.zeros(len(a), np.int64), np.zeros(len(b), np.int64))
    near_a, near_b = near or (np.zeros(len(a)), np.zeros(len(b)))
    asked = distinct_rows(np.column_stack([a, block_a, near_a]))
    found = distinct_rows(np.column_stack([b, block_b, near_b]))
    a, block_a, near_a = a[asked.first], block_a[asked.first], near_a[asked.first]
    b, block_b, near_b = b[found.first], block_b[found.first], near_b[found.first]
    order = np.lexsort((near_b, block_b))  # NaN last
    low, high = find_candidate_ranges(block_a, block_b[order], near_a, near_b[order], within)
    return Candidates(
        np.ascontiguousarray(a), asked, np.ascontiguousarray(b[order].T), found, order, low, high
    )


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


@dataclass(frozen=True)
class Patterns:
    """Agreement patterns (levels by field, -1 missing) and how many pairs have them."""

    levels: Ints
    counts: Ints


def count_patterns(
    candidates: Candidates, comparison: Comparison, tick: Tick = ignore_progress
) -> Patterns:
    """Count the agreement patterns of all candidate pairs."""
    radix, sizes = comparison.radix, comparison.sizes
    total = int(math.prod(sizes.tolist()))
    run = KERNELS.pick(2.0 * candidates.work * candidates.a.shape[1])["count_patterns"]
    c, n = candidates, len(candidates.a)
    amount = c.found.count[c.order]

    def work(begin: int) -> Ints:
        tick("comparing pairs", begin / max(n, 1))
        at = slice(begin, begin + CHUNK)
        out = np.zeros(total, dtype=np.int64)
        run(
            c.a[at], c.b, c.low[at], c.high[at], c.asked.count[at], amount,
            comparison.padded(), sizes - 1, radix, out,
        )  # fmt: skip
        return out

    counts = np.zeros(total, dtype=np.int64)
    with ThreadPoolExecutor(WORKERS) as pool:
        for part in pool.map(work, range(0, n, CHUNK)):
            counts += part
    seen = np.flatnonzero(counts)
    return Patterns(comparison.levels(seen), counts[seen])


def random_patterns(
    a: Floats, b: Floats, comparison: Comparison, n: int, rng: np.random.Generator
) -> Patterns:
    """Count the agreement patterns of random pairs, nearly all of different persons."""
    left, right = a[rng.integers(len(a), size=n)], b[rng.integers(len(b), size=n)]
    numbers = pattern_numbers(left, right, comparison)
    seen, counts = np.unique(numbers, return_counts=True)
    return Patterns(comparison.levels(seen), counts.astype(np.int64))


def true_patterns(a: Floats, b: Floats, old: Ints, new: Ints, comparison: Comparison) -> Patterns:
    """Count the agreement patterns of the true pairs."""
    seen, counts = np.unique(pattern_numbers(a[old], b[new], comparison), return_counts=True)
    return Patterns(comparison.levels(seen), counts.astype(np.int64))


def pattern_numbers(left: Floats, right: Floats, comparison: Comparison) -> Ints:
    """Return the number of the agreement pattern of pairs that stand side by side."""
    gap = np.abs(left - right)
    number = np.zeros(len(gap), dtype=np.int64)
    for f, step in enumerate(comparison.radix):
        level = np.zeros(len(gap), dtype=np.int64)
        for limit in comparison.tolerances[f]:
            level += gap[:, f] <= limit
        level[np.isnan(gap[:, f])] = comparison.sizes[f] - 1
        number += step * level
    return number


# -- the model ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """Probabilities of agreement.

    Attributes
    ----------
    p
        Share of the pairs that are of the same person.
    m, u
        By field, the probability of each level (0: no agreement) among pairs of the same person and
        among others.
    loglik
        Logarithm of the likelihood of the pattern counts.
    iterations
        Steps of the EM algorithm; ``converged`` when they came to rest.
    """

    p: float
    m: tuple[Floats, ...]
    u: tuple[Floats, ...]
    loglik: float = math.nan
    iterations: int = 0
    converged: bool = True

    @property
    def weights(self) -> tuple[Floats, ...]:
        """Return log2(m / u) of each level by field."""
        return tuple(np.log2(m / u) for m, u in zip(self.m, self.u, strict=True))

    def pattern_weights(self, levels: Ints) -> Floats:
        """Return the weight of patterns: the sum over the fields that are known."""
        return look_up_levels(self.weights, levels).sum(axis=1)

    def chances(self, levels: Ints) -> tuple[Floats, Floats]:
        """Return the probabilities of patterns among pairs of the same person and among others."""
        m = np.exp(look_up_levels([np.log(x) for x in self.m], levels).sum(axis=1))
        u = np.exp(look_up_levels([np.log(x) for x in self.u], levels).sum(axis=1))
        return m, u

    def posterior(self, levels: Ints) -> Floats:
        """Return the probability that a pair of each pattern is of the same person."""
        m, u = self.chances(levels)
        return np.asarray(self.p * m / (self.p * m + (1 - self.p) * u), dtype=np.float64)

    def list_contrary_fields(self) -> Ints:
        """Return the fields whose agreement speaks against a match."""
        return np.array(
            [f for f, (m, u) in enumerate(zip(self.m, self.u, strict=True)) if m[-1] < u[-1]],
            dtype=np.int64,
        )


def look_up_levels(values: Sequence[Floats], levels: Ints) -> Floats:
    """Return the value of each level by field; 0 where a value is missing."""
    return np.column_stack(
        [np.append(v, 0.0)[level] for v, level in zip(values, levels.T, strict=True)]
    )


def make_em_start(comparison: Comparison, p: float) -> Model:
    """Return where the EM algorithm starts: m = 0.9 and u = 0.1 for full agreement."""

    def spread(levels: int, at: int, share: float) -> Floats:
        out = np.full(levels, (1 - share) / (levels - 1))
        out[at] = share
        return out

    sizes = [len(t) + 1 for t in comparison.tolerances]
    return Model(
        p, tuple(spread(s, -1, 0.9) for s in sizes), tuple(spread(s, 0, 0.9) for s in sizes)
    )


def em(
    patterns: Patterns,
    start: Model,
    *,
    fixed_u: bool = False,
    tolerance: float = 1e-10,
    limit: int = 20_000,
) -> Model:
    """Fit p, m and u to pattern counts, fields being independent given whether a pair matches.

    ``fixed_u`` leaves u at its start, taken from random pairs.
    """
    model, counts = start, patterns.counts.astype(np.float64)
    known = [
        [(level == k) for k in range(len(m))]
        for level, m in zip(patterns.levels.T, start.m, strict=True)
    ]
    total = counts.sum()
    for turn in range(1, limit + 1):
        match = counts * model.posterior(patterns.levels)
        rest = counts - match
        m = tuple(shares(match, field) for field in known)
        u = model.u if fixed_u else tuple(shares(rest, field) for field in known)
        p = float(np.clip(match.sum() / total, EDGE, 1 - EDGE))
        moved = max(
            abs(p - model.p),
            *(
                float(np.abs(x - y).max())
                for x, y in zip((*m, *u), (*model.m, *model.u), strict=True)
            ),
        )
        model = Model(p, m, u, iterations=turn)
        if moved < tolerance:
            break
    else:
        model = replace(model, converged=False)
    by_match, by_rest = model.chances(patterns.levels)
    loglik = float(counts @ np.log(model.p * by_match + (1 - model.p) * by_rest))
    return replace(model, loglik=loglik)


def shares(amount: Floats, field: Sequence[Flags]) -> Floats:
    """Return the share of each level of a field, missing values left out, kept away from 0 and 1."""
    sums = np.array([amount[flags].sum() for flags in field])
    total = sums.sum()
    even = np.full(len(sums), 1.0 / len(sums))
    found = sums / total if total > 0 else even
    return np.clip(found, EDGE, 1 - EDGE)


def level_shares(patterns: Patterns, like: Model) -> tuple[Floats, ...]:
    """Return the shares of levels by field among the pairs of some patterns."""
    counts = patterns.counts.astype(np.float64)
    return tuple(
        shares(counts, [(level == k) for k in range(len(m))])
        for level, m in zip(patterns.levels.T, like.m, strict=True)
    )


def fit_informed_model(patterns: Patterns, own: Patterns, like: Model) -> Model:
    """Return the model of an intruder who knows m from the true pairs: the worst case.

    u is taken from all pairs, nearly all of which are of different persons.
    """
    return replace(
        like,
        p=float(np.clip(own.counts.sum() / patterns.counts.sum(), EDGE, 1 - EDGE)),
        m=level_shares(own, like),
        u=level_shares(patterns, like),
    )


@dataclass(frozen=True)
class Zones:
    """Thresholds of the decision rule.

    Attributes
    ----------
    order
        Patterns by decreasing weight.
    false_match
        Share of the pairs of different persons with that weight or more.
    false_nonmatch
        Share of the pairs of the same person with that weight or less.
    upper, lower
        Weights from which on a pair is a link, and up to which it is none; between them it is possible.
    """

    order: Ints
    false_match: Floats
    false_nonmatch: Floats
    upper: float
    lower: float


def zones(model: Model, patterns: Patterns, false_match: float, false_nonmatch: float) -> Zones:
    """Return Fellegi and Sunter's thresholds for two error rates; where both allow, a pair is a link.

    Which fields are missing is taken to be the same among all pairs.
    """
    weights = model.pattern_weights(patterns.levels)
    order = np.argsort(-weights, kind="stable")
    _, holes = np.unique(patterns.levels < 0, axis=0, return_inverse=True)
    share = np.bincount(holes.ravel(), patterns.counts)[holes.ravel()] / patterns.counts.sum()
    m, u = (share * chance for chance in model.chances(patterns.levels))
    up, down = np.cumsum(u[order]), np.cumsum(m[order][::-1])[::-1]
    linked = up <= false_match
    refused = (down <= false_nonmatch) & ~linked
    ranked = weights[order]
    return Zones(
        order,
        up,
        down,
        float(ranked[linked].min()) if linked.any() else math.inf,
        float(ranked[refused].max()) if refused.any() else -math.inf,
    )


# -- links -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scores:
    """How differences become weights: knots and slopes by field, see the kernels."""

    knots: Floats
    slopes: Floats
    top: Floats
    stepwise: bool


def scores(model: Model, comparison: Comparison, *, interpolated: bool) -> Scores:
    """Return the weight of a difference by field.

    Stepwise, a level's weight holds over its whole tolerance. Interpolated, the weight of a number falls
    from full agreement at difference 0 through the mean of two levels at the tolerance between them to
    full disagreement at twice the widest.
    """
    widest = max(map(len, comparison.tolerances))
    n = len(comparison.tolerances)
    knots = np.zeros((n, widest + 2))
    slopes = np.zeros((n, widest + 1))
    top = np.array([w[-1] for w in model.weights])
    for f, weight in enumerate(model.weights):
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
    return Scores(knots, slopes, top, not interpolated)


def pair_weights(left: Floats, right: Floats, how: Scores) -> Floats:
    """Return the weights of pairs that stand side by side."""
    gap = np.abs(left - right)
    total = np.zeros(len(gap))
    for f in range(gap.shape[1]):
        weight = np.full(len(gap), how.top[f])
        for k in range(how.slopes.shape[1]):
            knot, slope = how.knots[f, k], how.slopes[f, k]
            if how.stepwise:
                weight += slope * (gap[:, f] > knot)
            else:
                weight += slope * np.clip(gap[:, f] - knot, 0.0, how.knots[f, k + 1] - knot)
        total += np.where(np.isnan(gap[:, f]), 0.0, weight)
    return total


def best_links(candidates: Candidates, how: Scores, tick: Tick = ignore_progress) -> Links:
    """Return the candidate of the largest weight; ``distance`` and ``second`` are minus the weights."""
    n = len(candidates.a)
    link, ties = np.full(n, -1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    best = np.full((n, 2), -np.inf)
    run = KERNELS.pick(2.0 * candidates.work * candidates.a.shape[1])["best_weights"]
    c = candidates
    number, amount = c.found.first[c.order], c.found.count[c.order]

    def work(begin: int) -> None:
        tick("weighing pairs", begin / max(n, 1))
        at = slice(begin, begin + CHUNK)
        # Infinity less infinity is unknown, and weighs nothing: compiled or not.
        with np.errstate(invalid="ignore"):
            run(
                c.a[at], c.b, c.low[at], c.high[at], how.knots, how.slopes, how.top, how.stepwise,
                number, amount, MARGIN, link[at], best[at], ties[at],
            )  # fmt: skip

    with ThreadPoolExecutor(WORKERS) as pool:
        for _ in pool.map(work, range(0, n, CHUNK)):
            pass
    back = c.asked.of
    return Links(link[back], -best[back, 0], -best[back, 1], ties[back])


def assign_weighted_links(candidates: Candidates, how: Scores) -> Links:
    """Return one-to-one links of the largest total weight; each pair must be a candidate."""
    c = candidates
    n, m = len(c.asked.of), len(c.found.of)
    check_size(n, m)
    place = np.full((len(c.asked), len(c.found)), -np.inf)
    for q in range(len(c.asked)):
        at = slice(int(c.low[q]), int(c.high[q]))
        there = c.b[:, at].T
        place[q, c.order[at]] = pair_weights(np.broadcast_to(c.a[q], there.shape), there, how)
    weight = place[np.ix_(c.asked.of, c.found.of)]
    finite = np.isfinite(weight)
    far = 2.0 * n * (np.abs(weight[finite]).max(initial=0.0) + 1.0)
    link = assign(np.where(finite, -weight, far))
    rows = np.arange(n)
    own = np.where(link >= 0, weight[rows, link], -np.inf)
    link = np.where(np.isfinite(own), link, -1)
    weight[rows[link >= 0], link[link >= 0]] = -np.inf
    return Links(link, -own, -weight.max(axis=1, initial=-np.inf), (link >= 0).astype(np.int64))
