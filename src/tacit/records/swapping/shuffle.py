"""Data shuffling: original values, reassigned by scores drawn from a conditional distribution."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context, Progress
from tacit.data.block import Block, Missing, format_columns, list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import target_faults
from tacit.errors import Approximate, DisclosureRefused, InputError, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames
from tacit.numerics import algebra
from tacit.numerics.algebra import cholesky, dot, eigvalsh
from tacit.registry import register
from tacit.spec import Method
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

#: Columns of which ties leave less than this share of the variance of ranks are no normal variables cut
#: fine, so that the sine formula does not hold for them.
FINE = 0.95
#: An eigenvalue of a correlation matrix below this is more than rounding.
NEGATIVE = -1e-9
#: Rounds of the refinement at most (Dandekar, Cohen, Kirkendall 2002).
REFINEMENTS = 20
#: A gap of rank correlations that is none.
SETTLED = 1e-9

#: Dummies of all given columns together at most.
MOST_DUMMIES = 300
#: Share of a column's variance from which the given columns tell its values nearly exactly.
TELLING = 0.95
#: Relative error of the exact moments that is rounding.
ROUNDING = 1e-6


@register
class Shuffle(Method):
    """Data shuffling: reassign values by the ranks of scores drawn given the other columns.

    With V the scores of the columns that are shuffled and U those of the ``given`` columns, new scores

        V* = U B' + e,   B = R_VU R_UU^-1,   Cov(e) = R_VV - R_VU R_UU^-1 R_UV

    are drawn, and the record with the t-th smallest V* gets the t-th smallest value. So every column keeps
    exactly its values, relations between the columns and to the given ones stay up to sampling error, and
    beyond what the given columns tell the result knows nothing of the record: V* is independent of V
    given U. Categories among the given columns act through dummies. ``correlation="spearman"`` takes
    normal scores and R = 2 sin(pi r_s / 6) (a normal copula: monotone relations of any shape), ``"pearson"``
    the variables themselves. ``exact`` takes chance out of the sample moments: V* then has exactly the
    wanted correlations and none with V beyond U's. The engine ``lhs`` starts from permuted scores (Latin
    hypercube) and refines the rank correlations of the result until the gap stops falling; it suits tied
    columns. Records count equally: survey weights are not used.

    The simulation of Muralidhar et al. is the exact one with Pearson correlations: independent draws
    would give a value disclosure of 1 / (n - 1), ten times what the paper reports at n = 30.

    References
    ----------
    Muralidhar, Sarathy (2006), Data shuffling - a new masking approach for numerical data, Management
    Science 52, 658-670.
    Muralidhar, Sarathy, Dandekar (2006), Why swap when you can shuffle? A comparison of the proximity
    swap and data shuffle for numeric data, PSD 2006, LNCS 4302, 164-176.
    Dandekar, Cohen, Kirkendall (2002), Sensitive micro data protection using Latin hypercube sampling
    technique, Inference Control in Statistical Databases, LNCS 2316, 117-125.
    """

    kind: Literal["shuffle"] = "shuffle"
    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric columns that are shuffled; by default all that are neither given nor identifiers, weight, household or stratum",
    )
    given: tuple[ColumnName, ...] = Field(
        default=(),
        description="columns released as they are, numbers or categories, to which relations are kept",
    )
    correlation: Literal["spearman", "pearson"] = Field(
        default="spearman", description="keep rank correlations, or correlations of the values"
    )
    exact: bool = Field(
        default=True,
        description="make the sample moments of the new scores exactly what they are in expectation",
    )
    engine: Literal["conditional", "lhs"] = Field(
        default="conditional",
        description="draw normal scores given the others, or permute scores as in a Latin hypercube and refine rank correlations",
    )
    missing: Missing = Field(
        default="refuse",
        description="refuse columns with missing values, or keep records with one as they are and shuffle the rest",
    )

    on_links = "carried"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("swap values",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "given": ["age", "sex"]}
    column_fields = ("columns", "given")

    @model_validator(mode="after")
    def _consistent(self) -> Shuffle:
        for name, listed in (("columns", self.columns or ()), ("given", self.given)):
            if len(set(listed)) < len(listed):
                raise ValueError(f"{name} must name each column once")
        if set(self.columns or ()) & set(self.given):
            raise ValueError("given must not hold a column that is shuffled")
        if self.engine == "lhs" and self.correlation == "pearson":
            raise ValueError("the engine lhs keeps rank correlations; give correlation='spearman'")
        return self

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns shuffled."""
        return self.columns or tuple(c for c in list_maskable_columns(data) if c not in self.given)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to shuffle, columns without numbers."""
        lack = "the data have no numeric column to shuffle; name columns"
        return super().faults(data) or [*target_faults(data, self.targets(data), self.kind, lack)]

    # -- the work ----------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        columns = self.targets(data)
        schema = data.frame.collect_schema()
        numeric = tuple(c for c in self.given if schema[c].is_numeric())
        block = read_block(data, (*columns, *numeric), self.kind, missing=self.missing)
        if not len(block.values):
            return data
        codes, known = self.categories(data, [c for c in self.given if c not in numeric])
        use = block.complete & known
        x = block.values if use.all() else block.values[use]
        self.usable(block.columns, x)
        ctx.tick("ranking", 0.1)
        scores = scores_of(
            x[:, : len(columns)],
            x[:, len(columns) :],
            [c[use] for c in codes],
            normal=self.correlation == "spearman",
            rng=ctx.rng,
        )
        origin, change = self.shuffle_columns(columns, scores, ctx)
        ctx.note(
            columns=list(columns),
            given=list(self.given),
            engine=self.engine,
            exact=self.exact,
            largest_change_of_a_rank_correlation=float(np.abs(change).max()),
        )
        return data.replace(self.released(block, columns, use, origin))

    def categories(self, data: Microdata, columns: list[str]) -> tuple[list[Ints], Flags]:
        """Return the categories given as codes, and which records have them all."""
        coded = [data.codes(c) for c in columns]
        known = np.ones(len(data), dtype=bool)
        for c, column in zip(columns, coded, strict=True):
            there = column.codes != column.null
            if not there.all() and self.missing == "refuse":
                raise InputError(
                    f"shuffle: {c!r} has missing values. Impute them first, or give missing='keep'."
                )
            known &= there
        if sum(len(c.values) for c in coded) > MOST_DUMMIES:
            raise InputError(
                f"shuffle: the given columns have more than {MOST_DUMMIES} categories together. Recode them more coarsely, or leave one out."
            )
        return [c.codes.astype(np.int64) for c in coded], known

    def usable(self, names: tuple[str, ...], x: Floats) -> None:
        """Refuse constant columns and too few records."""
        if len(x) < 2:
            raise InputError("shuffle needs at least two complete records")
        flat = [c for c, column in zip(names, x.T, strict=True) if column.min() == column.max()]
        if flat:
            raise InputError(f"shuffle: {format_columns(flat)} is constant. Leave it out.")

    def shuffle_columns(
        self, columns: tuple[str, ...], scores: Scores, ctx: Context
    ) -> tuple[list[Ints], Floats]:
        """Return from whom each record gets its values, and the change of rank correlations."""
        n, q = scores.v.shape
        width = scores.design.width
        if (self.exact or self.engine == "lhs") and n < max(q + width + 3, 2 * q + width + 1):
            raise InputError(
                "shuffle: too few complete records for exact moments of so many columns and categories. Name fewer, or give exact=False and engine='conditional'."
            )
        target, repair = compute_target_correlations(scores, normal=self.correlation == "spearman")
        self.warn(columns, target, repair)
        ctx.tick("drawing scores", 0.4)
        if self.engine == "lhs":
            found, rounds = hypercube(scores, target, ctx.rng, ctx.tick, exact=self.exact)
            ctx.note(refinements=rounds)
        else:
            found = conditional(scores, target, ctx.rng, exact=self.exact)
            if self.exact and not repair:
                check_moments(scores, found, target)
        ctx.tick("handing out values", 0.7)
        return reassign_values(scores, found, ctx.rng)

    def warn(self, columns: tuple[str, ...], target: Floats, repair: float) -> None:
        """Say that correlations had to be repaired, or that the given columns tell too much."""
        if repair:
            warnings.warn(
                f"shuffle: the rank correlations belong to no normal variables; the nearest that do were taken, which differ by at most {repair:.2g}",
                Approximate,
                stacklevel=5,
            )
        r = len(target) - len(columns)
        # The share of the variance of each column shuffled that the others explain.
        share = np.diag(dot(target[r:, :r], solve(target[:r, :r], target[:r, r:])))
        told = [c for c, part in zip(columns, share, strict=True) if part > TELLING]
        if told:
            warnings.warn(
                f"shuffle: the given columns tell {format_columns(told)} nearly exactly, so that the shuffled values stay close to the true ones",
                WeakProtection,
                stacklevel=5,
            )

    def released(
        self, block: Block, columns: tuple[str, ...], use: Flags, origin: list[Ints]
    ) -> dict[str, pa.Array]:
        """Return the released columns in their own types; their values are checked to be the old ones."""
        out = {}
        for name, column, source in zip(columns, block.table, origin, strict=False):
            old = column.values if use.all() else column.values[use]
            new = old[source]
            if not np.array_equal(np.sort(new), np.sort(old)):
                raise DisclosureRefused(
                    "shuffle: a column lost some of its values; nothing was released"
                )
            values = column.values.copy()
            values[use] = new
            out[name] = column.restore(values)
        return out


def check_moments(scores: Scores, found: Floats, target: Floats) -> None:
    """Refuse scores whose sample moments are not the wanted ones."""
    r = scores.design.width
    got = cross(scores.design, found - found.mean(axis=0))
    if np.abs((got - target)[r:]).max() > ROUNDING:
        raise DisclosureRefused(
            "shuffle: the new scores miss their exact moments; nothing was released. Leave out columns that nearly repeat each other, or give exact=False."
        )


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
    none = np.empty((len(x), 0))
    if normal:
        v = np.column_stack([standard(r.scores()) for r in rankings])
        u = np.column_stack([none, *(r.mean_scores() for r in others)])
    else:
        v, u = np.column_stack([standard(column) for column in x.T]), given
    return Scores(
        Design.of(u, categories),
        v,
        rankings,
        np.column_stack([none, *(standard(r.mean_ranks()) for r in others)]),
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
    scores: Scores, target: Floats, rng: np.random.Generator, tick: Progress, *, exact: bool
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
        """Return scores for correlations aimed at, and what the ranks of their result fall short of."""
        found = new_scores(scores, noise, aim)
        short = -reassign_values(scores, found)[1]
        np.fill_diagonal(short, 0.0)
        return found, short

    found, _, rounds = refine_scores(target, attempt, tick)
    return found, rounds


def refine_scores(
    target: Floats, attempt: Callable[[Floats], tuple[Floats, Floats]], tick: Progress
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


def reassign_values(
    scores: Scores, found: Floats, rng: np.random.Generator | None = None
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


def with_ones(correlations: Floats) -> Floats:
    """Return a matrix with ones on its diagonal."""
    out = correlations.copy()
    np.fill_diagonal(out, 1.0)
    return out
