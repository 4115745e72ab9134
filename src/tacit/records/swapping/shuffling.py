"""New scores from the conditional distribution of the confidential columns given the others.

V are the scores of the columns to be shuffled, U those of the columns that are released as they are. With
the wanted correlations T of (U, V) the new scores are

    V* = U B' + e,    B = T_VU T_UU^-1,    Cov(e) = T_VV - T_VU T_UU^-1 T_UV,

and the values are reassigned in the order of V* (Muralidhar, Sarathy, Dandekar 2006).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics import algebra
from tacit.numerics.algebra import cholesky, dot, eigvalsh
from tacit.stats.dummies import Design, cross, solve
from tacit.stats.moments import factor
from tacit.stats.ranks import (
    Ranking,
    nearest_correlation,
    rank,
    restore_record_order,
    sources,
    spearman_to_pearson,
)

Tick = Callable[[str, float | None], None]

#: Columns of which ties leave less than this share of the variance of ranks are no normal variables cut
#: fine, so that the sine formula does not hold for them.
FINE = 0.95
#: An eigenvalue of a correlation matrix below this is more than rounding.
NEGATIVE = -1e-9
#: Rounds of the refinement at most (Dandekar, Cohen, Kirkendall 2002).
REFINEMENTS = 20
#: A gap of rank correlations that is none.
SETTLED = 1e-9


@dataclass(frozen=True)
class Scores:
    """What is shuffled, as scores of mean 0 and variance 1."""

    #: U: the columns given, categories as dummies.
    design: Design
    #: V: the scores of the columns that are shuffled.
    v: Floats
    #: The order of the values of each column that is shuffled.
    rankings: tuple[Ranking, ...]
    #: The mean ranks, standardised, of the numeric columns given: the first columns of the design.
    given_ranks: Floats
    #: Whether each of those has few ties.
    fine: tuple[bool, ...]

    @functools.cached_property
    def rank_correlations(self) -> Floats:
        """Return the rank correlations of (U, V), from mean ranks; a dummy is its own."""
        ranks = np.column_stack([standard(r.mean_ranks()) for r in self.rankings])
        return cross(self.rank_design(), ranks)

    def rank_design(self) -> Design:
        """Return U with the ranks of the numbers in the place of their scores."""
        return Design(self.design.n, self.given_ranks, self.design.codes, self.design.shares)


def scores_of(
    x: Floats,
    given: Floats,
    categories: Sequence[Ints],
    *,
    normal: bool,
    rng: np.random.Generator,
) -> Scores:
    """Return the scores of the shuffled columns x and of the given numbers and categories.

    ``normal`` takes normal scores (ties of x at random, those of given numbers shared); without it the
    variables themselves are the scores.
    """
    rankings = tuple(rank(column, rng) for column in x.T)
    others = tuple(rank(column, stable=False) for column in given.T)
    if normal:
        v = np.column_stack([standard(r.scores()) for r in rankings])
        u = matrix([r.mean_scores() for r in others], len(x))
    else:
        v, u = np.column_stack([standard(column) for column in x.T]), given
    return Scores(
        Design.of(u, categories),
        v,
        rankings,
        matrix([standard(r.mean_ranks()) for r in others], len(x)),
        tuple(r.kept >= FINE for r in others),
    )


def compute_target_correlations(scores: Scores, *, normal: bool) -> tuple[Floats, float]:
    """Return the correlations that (U, V*) should have, and how far they had to be repaired.

    For variables as they are, those of the sample. For normal scores, 2 sin(pi r / 6) of the rank
    correlations r, which are then kept; a dummy and a number with many ties are no normal variables, and
    keep the sample correlation with the score.
    """
    target = cross(scores.design, scores.v)
    np.fill_diagonal(target, 1.0)
    if normal:
        r = scores.rank_correlations
        at = np.arange(scores.design.width, len(target))
        near = np.r_[np.flatnonzero(scores.fine), at].astype(np.int64)
        for rows, columns in ((at, near), (near, at)):
            target[np.ix_(rows, columns)] = spearman_to_pearson(r[np.ix_(rows, columns)])
        np.fill_diagonal(target, 1.0)
    return repair_correlations(target)


def repair_correlations(target: Floats) -> tuple[Floats, float]:
    """Return a matrix that is one of correlations, and the largest change that made it so."""
    if eigvalsh(target)[0] >= NEGATIVE:
        return target, 0.0
    found = nearest_correlation(target)
    return found, float(np.abs(found - target).max())


def compute_explained_share(target: Floats, q: int) -> Floats:
    """Return the share of the variance of each of the last q columns that the others explain."""
    r = len(target) - q
    return np.asarray(np.diag(dot(target[r:, :r], solve(target[:r, :r], target[:r, r:]))))


# -- drawing ---------------------------------------------------------------------------------------


def new_scores(scores: Scores, noise: Floats, target: Floats) -> Floats:
    """Return V* = U B' + e from standard noise, which is used up; ``target`` is a correlation matrix."""
    r = scores.design.width
    coefficients = solve(target[:r, :r], target[:r, r:])
    root = factor(target[r:, r:] - dot(target[r:, :r], coefficients))
    out = dot(noise, root.T)
    if r:
        for at, rows in scores.design.chunks():
            out[at] += dot(rows, coefficients)
    return out


def orthogonalise_noise(noise: Floats, design: Design, *blocks: Floats) -> Floats:
    """Return noise with mean 0, unit variances and no covariance, also none with the design, in the sample."""
    noise = noise - noise.mean(axis=0)
    width = design.width + sum(b.shape[1] for b in blocks)
    for _ in range(2 if width else 0):
        # Once more for what rounding left over.
        moments = cross(design, *blocks, noise)
        fit = solve(moments[:width, :width], moments[:width, width:])
        for at, rows in design.chunks():
            noise[at] -= dot(np.hstack([rows, *(b[at] for b in blocks)]), fit)
        noise -= noise.mean(axis=0)
    covariance = dot(noise.T, noise) / len(noise)
    return np.asarray(algebra.solve(cholesky(covariance), noise.T).T)


def conditional(scores: Scores, target: Floats, rng: np.random.Generator, *, exact: bool) -> Floats:
    """Return new scores; ``exact`` makes their sample moments, not only their expectations, the wanted ones.

    They then have the wanted sample correlations with each other and with U, and none with V beyond what
    U explains.
    """
    noise = rng.standard_normal(scores.v.shape)
    if exact:
        noise = orthogonalise_noise(noise, scores.design, scores.v)
    return new_scores(scores, noise, target)


def hypercube(
    scores: Scores, target: Floats, rng: np.random.Generator, tick: Tick, *, exact: bool
) -> tuple[Floats, int]:
    """Return new scores from permuted normal scores, refined, and the number of refinements.

    The scores of every column are permuted, freed of their chance correlations and given the wanted ones
    (Iman, Conover 1982); the gap that is left between the rank correlations of the result and of the
    original is added to the wanted ones, step by step.
    """
    ladder = standard(scores.rankings[0].scores())
    noise = np.column_stack([rng.permutation(ladder) for _ in scores.rankings])
    noise = orthogonalise_noise(noise, scores.design, *((scores.v,) if exact else ()))

    def attempt(aim: Floats) -> tuple[Floats, Floats]:
        found = new_scores(scores, noise, aim)
        return found, rank_gap(scores, found)

    found, _, rounds = refine_scores(target, attempt, tick)
    return found, rounds


def refine_scores(
    target: Floats, attempt: Callable[[Floats], tuple[Floats, Floats]], tick: Tick
) -> tuple[Floats, float, int]:
    """Return the scores with the smallest gap, the largest entry of that gap, and the refinements made.

    ``attempt`` gives scores for correlations aimed at, and what their result falls short of. The gap is
    added to the aim; a step that does not lower its largest entry is halved.
    """
    aim, step = target, 1.0
    best, gap = attempt(aim)
    rounds = 0
    while rounds < REFINEMENTS and step > 0.1 and np.abs(gap).max() > SETTLED:
        rounds += 1
        tick("refining rank correlations", rounds / (REFINEMENTS + 1))
        nearer = repair_correlations(np.clip(with_ones(aim + step * gap), -1.0, 1.0))[0]
        found, left = attempt(nearer)
        if np.abs(left).max() < np.abs(gap).max():
            best, gap, aim = found, left, nearer
        else:
            step /= 2.0
    return best, float(np.abs(gap).max()), rounds


def rank_gap(scores: Scores, found: Floats) -> Floats:
    """Return the rank correlations of the original less those after handing out values by new scores."""
    order = [rank(column).order for column in found.T]
    after = np.column_stack(
        [
            standard(restore_record_order(o, r.middle))
            for o, r in zip(order, scores.rankings, strict=True)
        ]
    )
    gap = scores.rank_correlations - cross(scores.rank_design(), after)
    r = scores.design.width
    gap[:r, :r] = 0.0
    np.fill_diagonal(gap, 0.0)
    return gap


def reassign_values(
    scores: Scores, found: Floats, rng: np.random.Generator
) -> tuple[list[Ints], Floats]:
    """Return from whom each record gets its value in each column, and the change of rank correlations."""
    origin, after = [], []
    for ranking, column in zip(scores.rankings, found.T, strict=True):
        order = rank(column, rng).order
        origin.append(sources(ranking.order, order))
        after.append(standard(restore_record_order(order, ranking.middle)))
    design = scores.rank_design()
    change = cross(design, np.column_stack(after)) - scores.rank_correlations
    change[: design.width, : design.width] = 0.0
    return origin, change


# -- small parts -----------------------------------------------------------------------------------


def standard(x: Floats) -> Floats:
    """Return a column with mean 0 and variance 1."""
    centered = x - x.mean()
    return np.asarray(centered / np.sqrt((centered * centered).mean()))


def matrix(columns: list[Any], n: int) -> Floats:
    """Return columns side by side; n rows also when there are none."""
    return np.column_stack(columns) if columns else np.empty((n, 0))


def with_ones(correlations: Floats) -> Floats:
    """Return a matrix with ones on its diagonal."""
    out = correlations.copy()
    np.fill_diagonal(out, 1.0)
    return out
