"""Decile change: how far the weighted deciles of each cell moved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs, shared_numeric, weights_of
from tacit.data.values import as_frame, classes
from tacit.errors import InputError, require_columns
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.records.utility.matched import LossMeasure
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions
from tacit.stats.estimates import kernel_quantiles, reached_quantiles

DECILES = np.arange(1, 10) / 10
#: The classes of cell sizes of the paper's Table 2.
SIZES = (100, 250, 350)
#: Largest and mean change where no decile has one.
UNKNOWN = (float("nan"), float("nan"))


@register
class DecileChange(LossMeasure):
    """Change of the nine weighted deciles of numeric columns, cell by cell.

    For each cell of ``by`` the deciles of original and release are taken from the weighted empirical
    distribution (the smallest value whose cumulated share reaches the decile) or from a weighted kernel
    estimate, and compared: |d' - d|, and divided by |d|. A cell's number is the largest over its nine
    deciles, which is the reading that fits the paper's Table 2; the mean over deciles is given as well.
    A decile that is 0 in the original has no relative change and is left out.

    References
    ----------
    Trottini, Franconi, Polettini (2006), Italian household expenditure survey: a proposal for data
    dissemination, PSD 2006, LNCS 4302, 318-333, section 6.4 and Table 2.
    """

    kind: Literal["decile_change"] = "decile_change"
    columns: tuple[ColumnName, ...] = Field(
        default=(),
        description="the numeric columns compared; by default every one that original and release share",
    )
    by: tuple[ColumnName, ...] = Field(
        default=(), description="the columns whose classes are the cells"
    )
    estimate: Literal["empirical", "kernel"] = Field(
        default="empirical", description="deciles of the values themselves or of a smooth estimate"
    )
    weighted: bool = Field(default=True, description="use the declared weight, where there is one")
    sizes: tuple[int, ...] = Field(
        default=SIZES, description="limits between the classes of cell sizes in the summary"
    )

    on_weight = "used"
    on_stratum = "by"
    number_fields = ("columns",)
    column_fields = ("columns", "by")

    @model_validator(mode="after")
    def _ascending(self) -> DecileChange:
        if list(self.sizes) != sorted(set(self.sizes)) or any(s < 1 for s in self.sizes):
            raise ValueError("sizes must be ascending numbers of records")
        return self

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> DecileChangeResult:
        original = other.original
        require_columns(self.columns_named(), original.columns, "the original")
        columns = self.columns or tuple(
            c for c in shared_numeric(original, data) if c not in self.by
        )
        if not columns:
            raise InputError("decile_change: original and release share no numeric column")
        found = pairs(original, data, columns, self.kind)
        cells = classes(original, self.by)[0][found.old]
        weights = (weights_of(original) if self.weighted else np.ones(len(original)))[found.old]
        rows: list[dict[str, Any]] = []
        for j, c in enumerate(columns):
            ctx.tick("deciles", j / len(columns))
            x, y = found.before[found.old, j], found.after[found.new, j]
            known = np.isfinite(x) & np.isfinite(y) & (weights > 0)
            rows += cell_changes(c, x[known], y[known], weights[known], cells[known], self.estimate)
        if not rows:
            raise InputError("decile_change: no record has a value in both files")
        largest = np.array([r["relative_max"] for r in rows])
        known = largest[np.isfinite(largest)]
        classes_of = np.searchsorted(self.sizes, [r["records"] for r in rows], side="right")
        names = size_names(self.sizes)
        table = {
            name: summary(largest[classes_of == i])
            for i, name in enumerate(names)
            if (classes_of == i).any()
        }
        value = float(known.mean()) if len(known) else float("nan")
        return DecileChangeResult(
            kind=self.kind,
            title=f"Change of deciles: {', '.join(columns)}",
            value=value,
            numbers={
                "cells": len(rows),
                "mean over cells of the largest relative change": value,
                "largest relative change": float(known.max()) if len(known) else None,
                **{f"mean, cells of {name}": s["mean"] for name, s in table.items()},
            },
            frame=as_frame(pa.Table.from_pylist(rows)),
            explanation="For each cell the nine deciles of the release are set against those of the original; 0.05 means that some decile of an average cell moved by 5 per cent. Small cells move most.",
            table=table,
        )


@dataclass(frozen=True, repr=False)
class DecileChangeResult(Result):
    """``table`` has min, quartiles, mean and max of the largest relative change by class of cell size."""

    table: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the mean change by class of cell size."""
        return bars(
            [(name, s["mean"]) for name, s in self.table.items()],
            title="Change of deciles by size of cell",
            subtitle="mean over cells of the largest relative change of a decile",
            x="records in the cell",
            y="relative change",
        )


def cell_changes(
    column: str, x: Floats, y: Floats, w: Floats, cells: Ints, estimate: str
) -> Iterator[dict[str, Any]]:
    """Yield a row for each cell: the largest and mean change of its deciles, relative and absolute."""
    quantiles = reached_quantiles if estimate == "empirical" else kernel_quantiles
    order = np.argsort(cells, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(cells[order])) + 1):
        if not len(at):
            continue
        before, after = quantiles(x[at], w[at], DECILES), quantiles(y[at], w[at], DECILES)
        absolute = np.abs(after - before)
        relative = absolute[before != 0] / np.abs(before[before != 0])
        row = {"column": column, "cell": int(cells[at[0]]), "records": len(at)}
        for name, v in (("relative", relative), ("absolute", absolute)):
            sizes = (float(v.max()), float(v.mean())) if len(v) else UNKNOWN
            row |= dict(zip((f"{name}_max", f"{name}_mean"), sizes, strict=True))
        yield row


def summary(values: Floats) -> dict[str, float]:
    """Return the six numbers of the paper's Table 2."""
    names = ("min", "q1", "median", "mean", "q3", "max")
    known = values[np.isfinite(values)]
    if not len(known):
        return dict.fromkeys(names, float("nan"))
    low, q1, median, q3, high = np.quantile(known, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return dict(zip(names, (low, q1, median, float(known.mean()), q3, high), strict=True))


def size_names(limits: tuple[int, ...]) -> list[str]:
    """Return the names of the classes of cell sizes."""
    if not limits:
        return ["any size"]
    inner = [f"{a}-{b - 1}" for a, b in itertools.pairwise(limits)]
    return [f"1-{limits[0] - 1}", *inner, f"{limits[-1]} and more"]
