"""Spread within cells: how much knowing a person's cell tells about a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame, classes, read_numeric_column
from tacit.errors import ColumnNotFound, InputError
from tacit.fields import ColumnName
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

Spread = Literal["variance", "range", "mean_deviation", "gini"]
Limit = float | Mapping[str, float]


@register
class CellSpread(Measure):
    """Smallest spread of a number, and largest share beyond a limit, over the cells of the keys.

    An intruder who knows that a person is in the file, and in which cell of ``by``, learns the cell's
    distribution. The smaller its spread, the better the value can be told: DR = min over cells of the
    variance (n - 1), the range, the mean deviation from the mean or Gini's mean difference. And values
    beyond a limit do harm whoever they belong to: DR = max over cells of the share above ``above``, and
    of the share below ``below``, unweighted. Limits are numbers, or a mapping of the categories of the
    first column of ``by`` to numbers. With the original at hand its numbers stand beside.

    The paper does not define its "mean variation"; the mean deviation is our reading.

    References
    ----------
    Trottini, Franconi, Polettini (2006), Italian household expenditure survey: a proposal for data
    dissemination, PSD 2006, LNCS 4302, 318-333, section 6.3, formulas (1) and (2).
    """

    kind: Literal["cell_spread"] = "cell_spread"
    column: ColumnName = Field(description="the sensitive numeric column")
    by: tuple[ColumnName, ...] = Field(
        default=(), description="the columns whose classes are the cells; by default the keys"
    )
    spread: Spread = Field(default="range", description="the spread by which results are compared")
    above: Limit | None = Field(
        default=None, description="values above this do harm; a number, or one for each category"
    )
    below: Limit | None = Field(
        default=None, description="values below this do harm; a number, or one for each category"
    )

    on_stratum = "by"
    better: ClassVar[Literal["lower", "higher"] | None] = "higher"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"column": "income", "by": ["sex"], "above": 60}
    number_fields = ("column",)
    column_fields = ("column", "by")

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> CellSpreadResult:
        del ctx
        by = self.by or tuple(c for c in data.keys if c != self.column)
        after = self.looked_at(data, by)
        before = self.looked_at(other.original, by) if other.has_original else None
        files = [("", after)] + ([] if before is None else [(", original", before)])
        numbers: dict[str, Any] = {"cells": len(after.size)}
        for name in after.spreads:
            words = f"smallest {name.replace('_', ' ')}"
            numbers |= {f"{words}{whose}": cells.smallest(name) for whose, cells in files}
        for side in after.tails:
            words = f"largest share {side} the limit"
            numbers |= {f"{words}{whose}": cells.largest(side) for whose, cells in files}
        return CellSpreadResult(
            kind=self.kind,
            title=f"Spread of {self.column} within cells",
            value=after.smallest(self.spread),
            numbers=numbers,
            frame=as_frame(
                {
                    "records": after.size,
                    **after.spreads,
                    **{f"share_{side}": share for side, share in after.tails.items()},
                }
            ),
            explanation="The smaller the spread in a cell, the better the value of anybody in it is known; a large share beyond a limit tells something unwelcome about everybody in the cell.",
            after=after,
            before=before,
        )

    def looked_at(self, data: Microdata, by: tuple[str, ...]) -> Cells:
        """Return the spread and tails of each cell of a file."""
        gone = [c for c in (self.column, *by) if c not in data.columns]
        if gone:
            raise ColumnNotFound(gone, list(data.columns), "the data")
        column = read_numeric_column(data, self.column)
        ids = classes(data, by)[0]
        tails = {
            side: self.beyond(data, by, column.values.astype(np.float64), side)
            for side in ("above", "below")
            if getattr(self, side) is not None
        }
        if not column.known.any():
            raise InputError(f"cell_spread: column {self.column!r} holds no value")
        at = column.known
        return cells_of(
            column.values[at].astype(np.float64), ids[at], {s: t[at] for s, t in tails.items()}
        )

    def beyond(self, data: Microdata, by: tuple[str, ...], values: Floats, side: str) -> Any:
        """Return which records lie beyond the limit of their cell."""
        limit = getattr(self, side)
        if isinstance(limit, Mapping):
            if not by:
                raise InputError("cell_spread: limits by category need a column in 'by'")
            coded = data.codes(by[0])
            labels = [str(v) for v in coded.values.to_pylist()]
            unnamed = [v for v in labels if v not in limit]
            if unnamed:
                raise InputError(
                    f"cell_spread: {side} gives no limit for {len(unnamed)} categories of {by[0]!r}"
                )
            limits = np.append([limit[v] for v in labels], np.nan)[coded.codes]
        else:
            limits = np.full(len(values), float(limit))
        return values > limits if side == "above" else values < limits


@dataclass(frozen=True)
class Cells:
    """The cells of a file: size, spreads and shares beyond the limits."""

    size: Ints
    spreads: Mapping[str, Floats]
    tails: Mapping[str, Floats]

    def smallest(self, spread: str) -> float:
        """Return the smallest spread; a cell of one record has none."""
        return float(self.spreads[spread].min())

    def largest(self, side: str) -> float:
        """Return the largest share beyond a limit."""
        return float(self.tails[side].max())


@dataclass(frozen=True, repr=False)
class CellSpreadResult(Result):
    """The cells of the release (``after``) and of the original (``before``, when given)."""

    after: Cells | None = field(default=None)
    before: Cells | None = field(default=None)

    def plot(self) -> Chart:
        """Return the smallest range by file, and the largest share beyond the limits."""
        assert self.after is not None
        items = [("release: smallest range", self.after.smallest("range"))]
        if self.before is not None:
            items.insert(0, ("original: smallest range", self.before.smallest("range")))
        return bars(items, title=self.title, subtitle="over all cells", y="smallest range")


def cells_of(x: Floats, ids: Ints, tails: Mapping[str, Any]) -> Cells:
    """Return the spread of each cell that has records, without a loop over them."""
    ids = np.unique(ids, return_inverse=True)[1]
    order = np.lexsort((x, ids))
    xs, g = x[order], ids[order]
    size = np.bincount(g)
    start = np.cumsum(size) - size
    mean = np.bincount(g, weights=xs) / size
    centred = xs - mean[g]
    squares = np.bincount(g, weights=centred**2)
    rank = np.arange(len(g)) - start[g] + 1
    # Gini's mean difference of sorted values: 2 / (n (n - 1)) times the sum of (2 i - n - 1) x_i.
    pairs = np.bincount(g, weights=(2 * rank - size[g] - 1) * centred)
    single = size < 2
    spreads = {
        "variance": np.where(single, 0.0, squares / np.maximum(size - 1, 1)),
        "range": xs[start + size - 1] - xs[start],
        "mean_deviation": np.bincount(g, weights=np.abs(centred)) / size,
        "gini": np.where(single, 0.0, 2 * pairs / np.maximum(size * (size - 1), 1)),
    }
    shares = {
        s: np.bincount(g, weights=t[order].astype(np.float64)) / size for s, t in tails.items()
    }
    return Cells(size.astype(np.int64), spreads, shares)
