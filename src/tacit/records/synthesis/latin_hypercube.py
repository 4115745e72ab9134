"""Latin hypercube sampling: synthetic records with the margins and rank correlations of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import Block, format_columns, list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import target_faults, unused_row_number
from tacit.engine.base import ROW
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnNames, PositiveInt
from tacit.numerics.algebra import cholesky, dot, solve
from tacit.records.swapping.shuffle import refine_scores, repair_correlations, standard, with_ones
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import factor
from tacit.stats.ranks import (
    normal_scores,
    pearson,
    rank,
    reverse_map,
    spearman,
    spearman_to_pearson,
)


@register
class LatinHypercube(Method):
    """Replace the records by synthetic ones with the same margins and rank correlations.

    Each margin is sampled once in every n-th of its distribution (a Latin hypercube): for n synthetic
    records the i-th value is the quantile at (i - u) / n, u uniform on (0, 1). The values are then paired
    as Iman and Conover do: normal scores, permuted column by column, are freed of their chance
    correlations, given the wanted ones, and the values follow the order of the scores. The gap that is
    left between the rank correlations of the sample and of the data is added to the wanted ones (at most
    20 times, in smaller steps when its largest entry does not fall); the gap that remains is noted.

    With ``margins="empirical"`` quantiles are original values; as many synthetic as original records then
    hold each of them about once, and extreme values are released, though beside values of others.
    ``"interpolated"`` takes values between neighbouring ones. The result has the chosen columns only, and
    its records are nobody's. Only monotone relations are kept. Records count equally: survey weights are
    not used.

    References
    ----------
    Iman, Conover (1982), A distribution-free approach to inducing rank correlation among input variables,
    Communications in Statistics B 11, 311-334.
    Dandekar, Cohen, Kirkendall (2002), Sensitive micro data protection using Latin hypercube sampling
    technique, Inference Control in Statistical Databases, LNCS 2316, 117-125.
    """

    kind: Literal["latin_hypercube"] = "latin_hypercube"
    columns: ColumnNames | None = Field(
        default=None,
        description="the numeric columns of the synthetic file; by default all that are neither identifiers nor weight, household or stratum",
    )
    n: PositiveInt | None = Field(
        default=None, description="synthetic records; by default as many as there are records"
    )
    margins: Literal["empirical", "interpolated"] = Field(
        default="empirical",
        description="quantiles that are original values, or values between them",
    )
    missing: Literal["refuse", "omit"] = Field(
        default="refuse",
        description="refuse columns with missing values, or leave out records that have one",
    )

    on_household = "new"
    on_weight = "dropped"
    on_stratum = "dropped"
    on_links = "unused"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("synthetic data",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}

    @model_validator(mode="after")
    def _consistent(self) -> LatinHypercube:
        if self.columns is not None and len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        return self

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns of the synthetic file."""
        return self.columns or list_maskable_columns(data)

    def removes(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns that are not synthesised."""
        return tuple(c for c in data.columns if c not in self.targets(data))

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no column to synthesise, columns without numbers."""
        lack = "the data have no numeric column; name columns"
        return super().faults(data) or [*target_faults(data, self.targets(data), self.kind, lack)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        columns = self.targets(data)
        holes: Literal["refuse", "keep"] = "refuse" if self.missing == "refuse" else "keep"
        block = read_block(
            data, columns, self.kind, missing=holes, otherwise=", or give missing='omit'"
        )
        x = block.x
        n = len(x) if self.n is None else self.n
        if len(x) < 3 or n < len(columns) + 2:
            raise InputError(
                "latin_hypercube needs at least three complete records, and at least two more synthetic records than columns"
            )
        flat = [c for c, column in zip(columns, x.T, strict=True) if column.min() == column.max()]
        if flat:
            raise InputError(f"latin_hypercube: {format_columns(flat)} is constant. Leave it out.")
        values = self.values(block, n, ctx.rng)
        ctx.tick("ranking", 0.2)
        scores, gap, rounds = pair_scores(values, spearman(x), ctx)
        ctx.note(
            columns=list(columns),
            records=n,
            refinements=rounds,
            largest_gap_of_a_rank_correlation=gap,
        )
        table = {
            c: pa.array(reverse_map(values[j], scores[:, j])).cast(block.table[j].type)
            for j, c in enumerate(columns)
        }
        start = unused_row_number(data)
        return data.with_table(pa.table({**table, ROW: np.arange(start, start + n)}))

    def values(self, block: Block, n: int, rng: np.random.Generator) -> list[npt.NDArray[Any]]:
        """Return the sampled margins, ascending."""
        found = []
        for column in block.table:
            ascending = np.sort(column.values[block.complete])
            at = (np.arange(n) + 1.0 - rng.random(n)) / n
            if self.margins == "empirical":
                place = np.minimum((at * len(ascending)).astype(np.int64), len(ascending) - 1)
                found.append(ascending[place])
                continue
            # On the straight lines between ordered values.
            places = (np.arange(len(ascending)) + 0.5) / len(ascending)
            between = np.interp(at, places, ascending)
            found.append(np.floor(between + 0.5).astype(np.int64) if column.whole else between)
        return found


def pair_scores(
    values: list[npt.NDArray[Any]], wanted: Floats, ctx: Context
) -> tuple[Floats, float, int]:
    """Return scores in whose order the values have the wanted rank correlations, the gap, and the rounds."""
    n, q = len(values[0]), len(values)
    ladder = standard(normal_scores(n))
    noise = np.column_stack([ctx.rng.permutation(ladder) for _ in range(q)])
    noise = solve(cholesky(dot(noise.T, noise) / n), noise.T).T
    middle = [rank(v).middle for v in values]
    aim = repair_correlations(with_ones(spearman_to_pearson(wanted)))[0]

    def attempt(correlations: Floats) -> tuple[Floats, Floats]:
        scores = dot(noise, factor(correlations).T)
        ranks = [reverse_map(m, s) for m, s in zip(middle, scores.T, strict=True)]
        return scores, wanted - pearson(np.column_stack(ranks))

    return refine_scores(aim, attempt, ctx.tick)
