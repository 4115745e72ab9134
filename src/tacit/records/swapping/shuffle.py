"""Data shuffling: original values, reassigned by scores drawn from a conditional distribution."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.block import Block, Missing, format_columns, list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import target_faults
from tacit.errors import Approximate, DisclosureRefused, InputError, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames
from tacit.records.swapping.shuffling import (
    Scores,
    compute_explained_share,
    compute_target_correlations,
    conditional,
    hypercube,
    reassign_values,
    scores_of,
)
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.dummies import cross

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
        share = compute_explained_share(target, len(columns))
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
