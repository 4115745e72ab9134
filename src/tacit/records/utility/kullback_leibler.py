"""Kullback-Leibler divergence between the distributions of original and masked columns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import as_frame
from tacit.errors import InputError
from tacit.fields import ColumnName, ColumnNames
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.utility.matched import CommonCodes as Cells
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
from tacit.stats.estimates import weighted_quantiles


@register
class KullbackLeibler(LossMeasure):
    """Bits by which the distribution of masked columns misleads about the original one.

    With p the shares of the original in the cells of a table and q those of the masked file,

        D = sum over cells of p log2(p / q),

    0 when the distributions agree. Text columns have their categories as cells, numbers ``bins`` of
    about equal weight in the original; ``order=2`` looks at all pairs of columns. Cells that the masked
    file leaves empty would make D infinite, so half a record is added to every cell of both files. The
    Hellinger distance and the total variation, both between 0 and 1, stand beside D. The value is the
    mean over columns or pairs. Weights are used where declared.

    References
    ----------
    Kullback, Leibler (1951), On information and sufficiency, Annals of Mathematical Statistics 22, 79-86.
    Kennickell, Lane (2006), PSD 2006, LNCS 4302, 291-303, who propose it for the utility of public files.
    """

    kind: Literal["kullback_leibler"] = "kullback_leibler"
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns compared; by default all of both files but identifiers, weight, household and stratum",
    )
    categorical: tuple[ColumnName, ...] = Field(
        default=(), description="columns of numbers that are codes, each value a cell"
    )
    order: Literal[1, 2] = Field(
        default=1, description="compare columns one by one, or all pairs of them"
    )
    bins: int = Field(default=10, ge=2, le=1000, description="cells of a column of numbers")

    on_weight = "used"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["sex", "income"], "bins": 3}

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> KullbackLeiblerResult:
        original = other.original
        columns = choose_describing_columns(original, data, self.columns, ())
        if len(columns) < self.order:
            raise InputError(f"kullback_leibler needs at least {self.order} columns.")
        if not len(original) or not len(data):
            raise InputError("kullback_leibler needs records in both files.")
        weights = (weights_of(original), weights_of(data))
        cells = {c: self.cells(original, data, c, weights[0]) for c in columns}
        tables = list(itertools.combinations(columns, self.order))
        found = {}
        for i, table in enumerate(tables):
            ctx.tick(f"divergence of {', '.join(table)}", i / len(tables))
            found[" x ".join(table)] = divergence([cells[c] for c in table], weights)
        values = {name: d.bits for name, d in found.items()}
        worst = max(values, key=lambda name: values[name])
        rows = {
            "table": list(found),
            "bits": [d.bits for d in found.values()],
            "hellinger": [d.hellinger for d in found.values()],
            "total variation": [d.variation for d in found.values()],
            "cells": [d.cells for d in found.values()],
        }
        mean = float(np.mean(list(values.values())))
        return KullbackLeiblerResult(
            kind=self.kind,
            title="Kullback-Leibler divergence",
            value=mean,
            numbers={
                "mean divergence, bits": mean,
                "largest divergence, bits": values[worst],
                "table of the largest": worst,
                "mean Hellinger distance": float(np.mean([d.hellinger for d in found.values()])),
                "mean total variation": float(np.mean([d.variation for d in found.values()])),
                "tables": len(found),
            },
            frame=as_frame(rows),
            explanation=(
                "0 means that a table of the masked file has the shares of the original. Total variation is the share of "
                "records that would have to change cells."
            ),
            divergences=dict(found),
        )

    def cells(
        self, original: Microdata, released: Microdata, column: str, weights: Floats
    ) -> Cells:
        """Return the cell of every record of both files; a missing value has its own."""
        if column in self.categorical or not is_numeric(column, original, released):
            return common_codes(original, released, column)
        old, new = numbers_of_both(original, released, column)
        known = np.isfinite(old) & (weights > 0)
        if not known.any():
            raise InputError(f"kullback_leibler: {column!r} has no known value in the original.")
        shares = np.arange(1, self.bins) / self.bins
        edges = np.unique(weighted_quantiles(old[known], weights[known], shares))
        top = len(edges) + 1
        cut = [np.where(np.isnan(v), top, np.searchsorted(edges, v, "right")) for v in (old, new)]
        return Cells(cut[0].astype(np.int64), cut[1].astype(np.int64), top + 1)


@dataclass(frozen=True)
class Divergence:
    """How far two tables of shares are apart."""

    bits: float
    hellinger: float
    variation: float
    cells: int


@dataclass(frozen=True, repr=False)
class KullbackLeiblerResult(Result):
    """Divergences by column, or by pair of columns."""

    divergences: Mapping[str, Divergence] | None = None

    def plot(self) -> Chart:
        """Return the divergence of each table, the largest first."""
        assert self.divergences is not None
        items = sorted(((n, d.bits) for n, d in self.divergences.items()), key=lambda i: -i[1])
        return bars(
            items[:30],
            title="Kullback-Leibler divergence of the masked file",
            subtitle="0: the shares of the original",
            y="bits",
        )


def divergence(cells: Sequence[Cells], weights: tuple[Floats, Floats]) -> Divergence:
    """Return the divergence of the table that some columns form; empty cells of both files do not count."""
    old, new, size = cells[0].old, cells[0].new, cells[0].size
    for c in cells[1:]:
        old, new, size = old * c.size + c.old, new * c.size + c.new, size * c.size
    used, at = np.unique(np.concatenate([old, new]), return_inverse=True)
    n = len(old)
    counts = [
        np.bincount(part, weights=w * len(w) / w.sum(), minlength=len(used)).astype(np.float64)
        for part, w in zip((at[:n], at[n:]), weights, strict=True)
    ]
    p, q = (c / c.sum() for c in counts)
    smooth_p, smooth_q = ((c + 0.5) / (c + 0.5).sum() for c in counts)
    bits = float((smooth_p * np.log2(smooth_p / smooth_q)).sum())
    return Divergence(
        bits=max(bits, 0.0),
        hellinger=math.sqrt(max(1.0 - float(np.sqrt(p * q).sum()), 0.0)),
        variation=float(np.abs(p - q).sum() / 2),
        cells=len(used),
    )
