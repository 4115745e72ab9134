"""Correlation change: how far protection moved the correlations between numeric columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import matrix
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.heat import change_map
from tacit.records.utility.matched import LossMeasure, choose_shared_columns
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats.ranks import pearson, spearman

Correlation = Literal["spearman", "pearson"]

#: Columns up to which the cells of the heat map hold their numbers.
PRINTED = 12


@register
class CorrelationChange(LossMeasure):
    """Change of the correlations between numeric columns, released minus original.

    Spearman's rank correlations and Pearson's correlations of all pairs of columns are computed in both
    files, each from its records without a missing value in the columns; records are not matched, so that
    synthetic files compare as well. The value is the mean absolute change over the pairs. It also tells
    which columns hold exactly the values that they held before, as they do after swapping and shuffling.
    Records count equally: survey weights are not used.

    References
    ----------
    Muralidhar, Sarathy, Dandekar (2006), Why swap when you can shuffle? A comparison of the proximity
    swap and data shuffle for numeric data, PSD 2006, LNCS 4302, tables 1 and 2.
    """

    kind: Literal["correlation_change"] = "correlation_change"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the numeric columns; by default all that original and release share",
    )
    correlation: Correlation = Field(
        default="spearman",
        description="which of the two correlations gives the value and the chart",
    )

    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    number_fields = ("columns",)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> CorrelationChangeResult:
        shared = choose_shared_columns(other.original, data, self.columns)
        columns = self.columns or tuple(c for c in shared if c not in other.original.identifiers)
        if len(set(columns)) < 2:
            raise InputError("correlation_change needs at least two numeric columns")
        before = matrix(other.original.to_arrow(columns), columns)
        after = matrix(data.to_arrow(columns), columns)
        ctx.tick("correlating columns", 0.3)
        found = {}
        for name, function in (("spearman", spearman), ("pearson", pearson)):
            found[name] = (function(complete(before)), function(complete(after)))
        identical = same_values(columns, before, after)
        change = {name: new - old for name, (old, new) in found.items()}
        above = np.triu_indices(len(columns), 1)
        sizes = {name: np.abs(part[above]) for name, part in change.items()}
        if np.isnan(sizes[self.correlation]).all():
            raise InputError(
                "correlation_change: no two columns vary in both files, so they have no correlations."
            )
        numbers: dict[str, Any] = {}
        for name, size in sizes.items():
            known = size[~np.isnan(size)]
            for what, of in (("mean absolute change", np.mean), ("largest change", np.max)):
                numbers[f"{what}, {name}"] = float(of(known)) if len(known) else "not defined"
        numbers["columns with exactly the same values"] = f"{len(identical)} of {len(columns)}"
        return CorrelationChangeResult(
            kind=self.kind,
            title="Correlation change",
            value=float(np.nanmean(sizes[self.correlation])),
            numbers=numbers,
            frame=as_frame(make_long_frame(columns, found, above)),
            explanation=(
                "Correlations of the release minus those of the original, over all pairs of columns; rank "
                "correlations (Spearman) see any monotone relation, Pearson's the linear one."
            ),
            columns=columns,
            before={name: pair[0] for name, pair in found.items()},
            after={name: pair[1] for name, pair in found.items()},
            change=change,
            identical=identical,
            shown=self.correlation,
        )


@dataclass(frozen=True, repr=False)
class CorrelationChangeResult(Result):
    """Correlation matrices ``before`` and ``after`` and their ``change``, under "spearman" and "pearson".

    ``identical`` names the columns that hold exactly the values that they held before.
    """

    columns: tuple[str, ...] = ()
    before: Mapping[str, Floats] = field(default_factory=dict)
    after: Mapping[str, Floats] = field(default_factory=dict)
    change: Mapping[str, Floats] = field(default_factory=dict)
    identical: tuple[str, ...] = ()
    shown: Correlation = "spearman"

    def plot(self) -> Chart:
        """Return the changes of the chosen correlation as a heat map."""
        return self.heat_map(self.shown)

    def charts(self) -> Iterable[Chart]:
        """Return the heat maps of both correlations."""
        return (self.heat_map("spearman"), self.heat_map("pearson"))

    def heat_map(self, correlation: Correlation) -> Chart:
        """Return the changes of one correlation as a heat map, blue where lost and orange where gained."""
        words = {"spearman": "rank correlation", "pearson": "correlation"}[correlation]
        change = self.change[correlation]
        return change_map(
            self.columns,
            (
                (self.columns[i], self.columns[j], float(change[i, j]))
                for i in range(1, len(self.columns))
                for j in range(i)
                if np.isfinite(change[i, j])
            ),
            title=f"Change of the {words}",
            subtitle="released minus original",
        )


def complete(x: Floats) -> Floats:
    """Return the records without a missing value."""
    known = np.isfinite(x).all(axis=1)
    return x if known.all() else x[known]


def same_values(columns: Sequence[str], before: Floats, after: Floats) -> tuple[str, ...]:
    """Return the columns that hold the same values, in whatever order."""
    if len(before) != len(after):
        return ()
    return tuple(
        c
        for c, old, new in zip(columns, before.T, after.T, strict=True)
        if np.array_equal(np.sort(old), np.sort(new), equal_nan=True)
    )


def make_long_frame(
    columns: Sequence[str], found: Mapping[str, tuple[Floats, Floats]], above: tuple[Any, Any]
) -> dict[str, Any]:
    """Return one row per pair of columns and correlation."""
    rows: dict[str, Any] = {
        "correlation": [name for name in found for _ in above[0]],
        "first": [columns[i] for _ in found for i in above[0]],
        "second": [columns[j] for _ in found for j in above[1]],
    }
    rows["before"] = np.concatenate([pair[0][above] for pair in found.values()])
    rows["after"] = np.concatenate([pair[1][above] for pair in found.values()])
    rows["change"] = rows["after"] - rows["before"]
    return rows
