"""Propensity score utility: how well a model tells original records from masked ones."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.stats import chi2

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import Approximate, InputError
from tacit.fields import ColumnName, ColumnNames, NaturalInt, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.lines import histogram
from tacit.records.utility.matched import (
    LossMeasure,
    choose_describing_columns,
    common_codes,
    is_numeric,
    numbers_of_both,
)
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats.designs import dummies
from tacit.stats.propensity import (
    FOLDS,
    Model,
    Scores,
    fit_boosted_scores,
    logistic_scores,
    permute_labels,
    possible_degree,
    term_count,
    tree_scores,
)

#: Numbers of the pooled design matrix, and records times squared terms: beyond, records are drawn.
CELLS, WORK = 100_000_000, 2e11
#: Exchanges of the labels for models that have no theory of their null distribution.
PERMUTATIONS = 20
#: Records on which columns are looked at one by one.
ALONE = 100_000
BINS = 20


@register
class Propensity(LossMeasure):
    """Squared distance of propensity scores from a coin's: 0 when the files cannot be told apart.

    Original (r = 1) and masked records (r = 0) are pooled, the chance e = P(r = 1 | x) is modelled, and

        U = sum over all records of (e - c)^2,   pMSE = U / N,

    c being the share of original records, one half for files of equal length. U is at most N c (1 - c).
    The model is an unpenalised logistic regression with all products of up to ``degree`` columns, a
    classification tree, or boosted trees fitted on one half of the records and asked on the other.

    If both files were samples of one population, U of a logistic model with d terms would be about
    c (1 - c) times chi-squared with d degrees of freedom: ``null_mean`` is its mean, ``ratio`` U over it,
    and ``z`` and ``p_value`` compare with it. For trees, or with ``n_permutations``, the null
    distribution comes from exchanging the labels at random. Masked records are changed copies rather than
    a second sample, so a ratio below 1 is common and says that the model sees less than sampling error.

    Text columns enter as dummies (rare categories together), missing numbers as the mean with a dummy.
    With too many terms a lower degree is taken, and from very large files records are drawn; both are
    said. Where the model separates the files, the maximum likelihood has no finite solution: the
    iterations are capped and ``separated`` says so.

    References
    ----------
    Woo, Reiter, Oganian, Karr (2009), Global measures of data utility for microdata masked for disclosure
    limitation, Journal of Privacy and Confidentiality 1(1), 111-124.
    Oganian, Karr (2006), Combinations of SDC methods for microdata protection, PSD 2006, LNCS 4302,
    102-113.
    Snoke, Raab, Nowok, Dibben, Slavkovic (2018), General and specific utility measures for synthetic data,
    Journal of the Royal Statistical Society A 181, 663-688.
    """

    kind: Literal["propensity"] = "propensity"
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns the model sees; by default all of both files but identifiers, weight, household and stratum",
    )
    categorical: tuple[ColumnName, ...] = Field(
        default=(), description="columns of numbers that are codes, and enter as dummies"
    )
    model: Model = Field(default="logistic", description="the model of the propensity scores")
    degree: Literal[1, 2, 3] = Field(
        default=2,
        description="columns multiplied in a term of the logistic model: 1 for main effects only",
    )
    leaf: PositiveInt | None = Field(
        default=None,
        description="smallest number of records in a leaf of a tree; by default 1 % of the pooled records and at least 5",
    )
    n_permutations: NaturalInt | None = Field(
        default=None,
        description="random exchanges of the labels for the null distribution; by default none for the logistic model, 20 for trees",
    )
    max_records: PositiveInt = Field(
        default=1_000_000, description="records of each file used at most, drawn at random above"
    )

    random = True
    example: ClassVar[Mapping[str, Any]] = {"columns": ["sex", "income"], "degree": 1}

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> PropensityResult:
        original = other.original
        columns = choose_describing_columns(original, data, self.columns, self.categorical)
        if not columns:
            raise InputError("propensity needs a column that is in original and release.")
        ctx.tick("reading both files")
        pool = self.pool(original, data, columns, ctx.rng)
        score = self.scorer(pool, ctx)
        ctx.tick("fitting", 0.1)
        found = score(pool.r)
        n = PERMUTATIONS if self.model != "logistic" else 0
        n = n if self.n_permutations is None else self.n_permutations
        null = permute_labels(score, pool.r, n, ctx.rng, ctx.tick)
        few = pool.some(ALONE, ctx.rng)
        alone = {c: self.alone(few, j) for j, c in enumerate(columns)}
        c, n = pool.share, len(pool.r)
        u = found.squared(c)
        mean, sd, p = null_of(u, null, c, found.terms)
        ratio = u / mean if mean > 0 else math.nan
        z = (u - mean) / sd if sd > 0 else math.nan
        unequal = pool.sizes[0] != pool.sizes[1]
        numbers: dict[str, Any] = {
            "pMSE": u / n,
            "U": u,
            "largest possible U": n * c * (1 - c),
            "U if files were alike": mean,
            "ratio to that": ratio,
            "z": z,
            "p-value": p,
            "share of original records, c": c,
            "records used": n,
        }
        if self.model == "logistic":
            numbers |= {"terms": found.terms, "degree": found.degree, "separated": found.separated}
        if len(null):
            numbers["label exchanges"] = len(null)
        rows = {
            "column": list(alone),
            "u": [a[0] for a in alone.values()],
            "ratio": [a[0] / a[1] if a[1] > 0 else math.nan for a in alone.values()],
        }
        cell = np.clip((found.score * BINS).astype(np.int64), 0, BINS - 1)
        return PropensityResult(
            kind=self.kind,
            title=f"Propensity scores ({self.model})",
            value=u / n,
            numbers=numbers,
            frame=as_frame(rows),
            explanation=explain_propensity(unequal=unequal, found=found, drawn=sum(pool.sizes) > n),
            u=u,
            pmse=u / n,
            null_mean=mean,
            null_sd=sd,
            ratio=ratio,
            z=z,
            p_value=p,
            share=c,
            terms=found.terms,
            degree=found.degree,
            separated=found.separated,
            null=null,
            histogram=np.stack(
                [np.bincount(cell[pool.r == r], minlength=BINS) for r in (1.0, 0.0)]
            ),
        )

    def pool(
        self,
        original: Microdata,
        released: Microdata,
        columns: tuple[str, ...],
        rng: np.random.Generator,
    ) -> Pool:
        """Return both files as one matrix; records are drawn where there are too many."""
        sizes = (len(original), len(released))
        if min(sizes) < 2:
            raise InputError("propensity needs at least two records in each file.")
        blocks = [self.block(original, released, c) for c in columns]
        groups = tuple(g for j, b in enumerate(blocks) for g in b.groups(j))
        degree, terms = possible_degree(groups, self.degree) if self.model == "logistic" else (0, 0)
        if self.model == "logistic" and degree < self.degree:
            warnings.warn(
                f"propensity: degree {self.degree} would give {term_count(groups, self.degree):,} terms; degree {degree} is used. Name fewer columns for more.",
                Approximate,
                stacklevel=4,
            )
        most = min(CELLS // max(len(groups), 1), int(WORK / max(terms, 1) ** 2)) // 2
        most = max(min(most, self.max_records), 2)
        first = draw_positions(sizes[0], most, rng)
        # The same of both where the files are of one length.
        at = first, first if sizes[0] == sizes[1] else draw_positions(sizes[1], most, rng)
        x = np.column_stack([b.columns(at) for b in blocks])
        if not np.ptp(x, axis=0).any():
            raise InputError(
                "propensity: no column varies, so there is nothing to tell files apart by."
            )
        r = np.repeat([1.0, 0.0], [len(at[0]), len(at[1])])
        owner = np.array([j for j, b in enumerate(blocks) for _ in b.groups(j)], dtype=np.int64)
        return Pool(x, r, groups, owner, folds(at, rng), sizes)

    def block(self, original: Microdata, released: Microdata, column: str) -> Numeric | Categories:
        """Return a column of both files."""
        if column not in self.categorical and is_numeric(column, original, released):
            old, new = numbers_of_both(original, released, column)
            if np.isinf(old).any() or np.isinf(new).any():
                raise InputError(f"propensity: {column!r} holds infinite numbers. Leave it out.")
            return Numeric(old, new)
        codes = common_codes(original, released, column)
        return Categories.of(codes.old, codes.new, codes.size)

    def scorer(self, pool: Pool, ctx: Context) -> Callable[[Floats], Scores]:
        """Return what gives scores for labels."""
        if self.model == "logistic":
            return lambda r: logistic_scores(pool.x, r, pool.groups, self.degree)
        leaf = self.leaf or max(5, len(pool.r) // 100)
        seed = int(ctx.rng.integers(2**31))
        if self.model == "tree":
            return partial(tree_scores, pool.x, leaf=leaf, seed=seed)
        return partial(fit_boosted_scores, pool.x, leaf=leaf, fold=pool.fold, seed=seed)

    def alone(self, pool: Pool, j: int) -> tuple[float, float]:
        """Return U and its null mean of a logistic model that sees one column only."""
        at = pool.owner == j
        if not at.any():
            return 0.0, math.nan
        groups = [g for g, use in zip(pool.groups, at, strict=True) if use]
        found = logistic_scores(pool.x[:, at], pool.r, groups, self.degree)
        c = pool.share
        return found.squared(c), c * (1 - c) * found.terms


@dataclass(frozen=True, repr=False)
class PropensityResult(Result):
    """Propensity score utility: sum and mean of the squared distances from c, the ``share`` of original records."""

    u: float = math.nan
    pmse: float = math.nan
    #: U when the files are alike: mean and standard deviation, U over the mean, and how far U is out.
    null_mean: float = math.nan
    null_sd: float = math.nan
    ratio: float = math.nan
    z: float = math.nan
    p_value: float = math.nan
    share: float = math.nan
    terms: int = 0
    degree: int = 0
    separated: bool = False
    #: U under random exchanges of the labels, when there were any.
    null: Floats = field(default_factory=lambda: np.empty(0))
    #: Records of each file by score, in bins of equal width.
    histogram: Ints = field(default_factory=lambda: np.zeros((2, BINS), dtype=np.int64))

    def plot(self) -> Chart:
        """Return the distribution of the scores in both files."""
        files = zip(("original", "masked"), self.histogram, strict=True)
        return histogram(
            {name: counts / counts.sum() for name, counts in files},
            np.arange(BINS + 1) / BINS,
            title=f"Propensity scores: pMSE = {self.pmse:.3g}",
            subtitle="both files alike: all scores at the dashed line",
            x="estimated chance that a record is an original one",
            y="share of the file's records",
            mark=(self.share, ""),
            shares=True,
            x_axis={
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".2~f", "values": [0, 0.25, 0.5, 0.75, 1]},
            },
            alt=f"Histogram of propensity scores in both files: pMSE {self.pmse:.4g}, ratio to files that are alike {self.ratio:.3g}.",
        )


def null_of(u: float, null: Floats, c: float, terms: int) -> tuple[float, float, float]:
    """Return mean and standard deviation of U when the files are alike, and the p-value of U."""
    if len(null):
        sd = float(null.std(ddof=1)) if len(null) > 1 else 0.0
        return float(null.mean()), sd, float((1 + (null >= u).sum()) / (1 + len(null)))
    if terms == 0:
        return math.nan, math.nan, math.nan
    scale = c * (1 - c)
    return scale * terms, scale * math.sqrt(2 * terms), float(chi2.sf(u / scale, terms))


def explain_propensity(*, unequal: bool, found: Scores, drawn: bool) -> str:
    """Return what the numbers mean."""
    text = (
        "pMSE is the mean squared distance of the estimated chance of being an original record from the share of "
        "originals: 0 when the model cannot tell the files apart, at most c (1 - c). The ratio compares with two samples of "
        "one population; below 1 the model sees less than sampling error."
    )
    if unequal:
        text += " The files differ in length, so c is not one half."
    if found.separated:
        text += " The model separates some records with certainty; its iterations were capped."
    if drawn:
        text += " The files were large: a random draw of their records was used."
    return text


# -- two files as one design matrix, for models that tell them apart ---------------------------------


#: Categories of a column that get a dummy of their own; rarer ones share one.
LEVELS = 20
#: Positions of the records used, in the original and in the masked file.
At = tuple[Ints, Ints]


@dataclass(frozen=True)
class Pool:
    """Both files as one design matrix, originals first."""

    #: The matrix, and 1 for records of the original.
    x: Floats
    r: Floats
    #: For each column of the matrix: -1 for numbers, else the number of its categorical column.
    groups: tuple[int, ...]
    #: For each column of the matrix: the position of the data's column it stems from.
    owner: Ints
    #: The fold of each record, the same for both versions of a record.
    fold: Ints
    #: Records of both files before any draw.
    sizes: tuple[int, int]

    @property
    def share(self) -> float:
        """Return c, the share of original records."""
        return float(self.r.mean())

    def some(self, most: int, rng: np.random.Generator) -> Pool:
        """Return the pool, or a random draw of its records when there are more."""
        at = draw_positions(len(self.r), most, rng)
        return replace(self, x=self.x[at], r=self.r[at], fold=self.fold[at])


@dataclass(frozen=True)
class Numeric:
    """A column of numbers in both files."""

    old: Floats
    new: Floats

    @property
    def holed(self) -> bool:
        """Return True when a number is missing."""
        return bool(np.isnan(self.old).any() or np.isnan(self.new).any())

    def groups(self, j: int) -> tuple[int, ...]:
        """Return -1 for the numbers, and the column's position for the dummy of missing ones."""
        return (-1, j) if self.holed else (-1,)

    def columns(self, at: At) -> Floats:
        """Return the numbers of some records, missing ones at the mean with a dummy beside."""
        x = np.concatenate([self.old[at[0]], self.new[at[1]]])
        if not self.holed:
            return x[:, None]
        gone = np.isnan(x)
        x = np.where(gone, x[~gone].mean() if (~gone).any() else 0.0, x)
        return np.column_stack([x, gone.astype(np.float64)])


@dataclass(frozen=True)
class Categories:
    """A categorical column in both files, its rare categories together as the last code."""

    old: Ints
    new: Ints
    size: int

    @classmethod
    def of(cls, old: Ints, new: Ints, size: int) -> Categories:
        """Return the column with at most LEVELS categories and one for the rest, the commonest first."""
        counts = np.bincount(old, minlength=size) + np.bincount(new, minlength=size)
        order = np.argsort(-counts, kind="stable")
        kept = min(int((counts > 0).sum()), LEVELS + 1)
        code = np.full(size, kept - 1, dtype=np.int64)
        code[order[:kept]] = np.arange(kept)
        return cls(code[old], code[new], max(kept, 1))

    def groups(self, j: int) -> tuple[int, ...]:
        """Return the column's position once a dummy."""
        return (j,) * (self.size - 1)

    def columns(self, at: At) -> Floats:
        """Return the dummies of some records."""
        return dummies(np.concatenate([self.old[at[0]], self.new[at[1]]]), self.size)


def draw_positions(n: int, most: int, rng: np.random.Generator) -> Ints:
    """Return all positions, or a random draw of them in ascending order."""
    if n <= most:
        return np.arange(n)
    return np.sort(rng.choice(n, most, replace=False)).astype(np.int64)


def folds(at: At, rng: np.random.Generator) -> Ints:
    """Return a fold per pooled record: the same for both versions of a record.

    Otherwise a model would recognise a masked record by its original.
    """
    length = max(int(a.max()) for a in at) + 1
    label = rng.permutation(length) % FOLDS
    return np.concatenate([label[at[0]], label[at[1]]]).astype(np.int64)
