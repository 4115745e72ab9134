"""Fellegi and Sunter's model: probabilities of agreement by EM on pattern counts, and the decision rule."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Flags, Floats, Ints

#: Probabilities are kept away from 0 and 1 by this much.
EDGE = 1e-9
#: Where the EM algorithm starts: the probability of full agreement of the same person, of none among others.
START = 0.9


@dataclass(frozen=True)
class Patterns:
    """Agreement patterns (levels by field, -1 missing) and how many pairs have them."""

    levels: Ints
    counts: Ints


@dataclass(frozen=True)
class Model:
    """Probabilities of agreement: ``p``, the share of the pairs that are of the same person, and ``m`` and ``u``.

    These are, by field, the probabilities of each level (0: no agreement) among pairs of the same person and among others.
    ``loglik`` is the logarithm of the likelihood of the pattern counts; the ``iterations`` of the EM algorithm have
    ``converged`` when they came to rest.
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


def make_em_start(levels: Sequence[int], p: float) -> Model:
    """Return where the EM algorithm starts: m = 0.9 and u = 0.1 for full agreement, by numbers of levels."""

    def spread(size: int, at: int, share: float) -> Floats:
        out = np.full(size, (1 - share) / (size - 1))
        out[at] = share
        return out

    return Model(
        p, tuple(spread(s, -1, START) for s in levels), tuple(spread(s, 0, START) for s in levels)
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
    """Thresholds of the decision rule, and the error rates of patterns in the ``order`` of decreasing weight.

    ``false_match`` is the share of the pairs of different persons with that weight or more, ``false_nonmatch`` that of the pairs of
    the same person with that weight or less. From the weight ``upper`` on a pair is a link, up to ``lower`` it is none;
    between them it is possible.
    """

    order: Ints
    false_match: Floats
    false_nonmatch: Floats
    upper: float
    lower: float


def zones(
    model: Model,
    patterns: Patterns,
    false_match: float,
    false_nonmatch: float,
    *,
    blocked: bool = False,
) -> Zones:
    """Return Fellegi and Sunter's thresholds for two error rates; where both allow, a pair is a link.

    Which fields are missing is taken to be the same among all pairs. With ``blocked`` the patterns are those of pairs
    that a rule has brought together, while the model is that of all pairs: the rates are then shares of the pairs
    looked at, each divided between matches and others by its posterior probability.
    """
    weights = model.pattern_weights(patterns.levels)
    order = np.argsort(-weights, kind="stable")
    if blocked:
        same = model.posterior(patterns.levels)
        m, u = patterns.counts * same, patterns.counts * (1 - same)
        m, u = m / max(m.sum(), EDGE), u / max(u.sum(), EDGE)
    else:
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


# -- several rules of blocking -----------------------------------------------------------------------


def is_identified(patterns: Patterns, *, fixed_u: bool) -> bool:
    """Return True when there are as many pattern counts as probabilities to be told from them.

    Levels that never occur do not count, nor do patterns with a value missing, whose counts follow from others.
    Fewer counts leave p, m and u open; as many are no proof that they are not.
    """
    seen = [len(np.unique(level[level >= 0])) for level in patterns.levels.T]
    free = [n - 1 for n in seen if n > 1]
    parameters = 1 + sum(free) * (1 if fixed_u else 2)
    return len(free) > 1 and math.prod(n + 1 for n in free) - 1 >= parameters


def fit_by_rules(
    rules: Sequence[tuple[Patterns, Sequence[int]]],
    start: Model,
    matches: float,
    *,
    tolerance: float,
    limit: int,
) -> tuple[Model, list[int]]:
    """Fit m to the pairs of each rule of blocking, u being known; return the fields that no rule could tell too.

    Within a rule the fields that it uses agree by construction: m of the others is fitted there, and the fits are
    averaged by the matches that each rule has found. A field that every rule uses keeps its start.
    """
    sums = [np.zeros(len(m)) for m in start.m]
    weight = np.zeros(len(start.m))
    converged, steps = True, 0
    for patterns, used in rules:
        levels = patterns.levels.copy()
        levels[:, list(used)] = -1
        open_fields = Patterns(levels, patterns.counts)
        if not is_identified(open_fields, fixed_u=True):
            continue
        pairs = float(patterns.counts.sum())
        first = replace(start, p=float(np.clip(matches / pairs, EDGE, 0.5)))
        found = em(open_fields, first, fixed_u=True, tolerance=tolerance, limit=limit)
        converged, steps = converged and found.converged, max(steps, found.iterations)
        for f in range(len(start.m)):
            if f not in used and (levels[:, f] >= 0).any():
                sums[f] += found.p * pairs * found.m[f]
                weight[f] += found.p * pairs
    m = tuple(s / w if w > 0 else given for s, w, given in zip(sums, weight, start.m, strict=True))
    model = replace(start, m=m, iterations=steps, converged=converged)
    return model, np.flatnonzero(weight == 0).tolist()


def fit_share(patterns: Patterns, model: Model, pairs: float, *, rounds: int = 200) -> Model:
    """Return the model with p, the share of all pairs that are matches, those not looked at being none."""
    counts = patterns.counts.astype(np.float64)
    for _ in range(rounds):
        p = float(np.clip(counts @ model.posterior(patterns.levels) / pairs, EDGE**2, 1 - EDGE))
        moved = abs(p - model.p)
        model = replace(model, p=p)
        if moved <= 1e-9 * p:
            break
    return model
