"""Change of margins: distributions of one, two and three columns before and after."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.lined_up import Files, line_up, shared_columns
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import as_frame
from tacit.fields import ColumnNames, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.heat import change_map
from tacit.records.utility.matched import LossMeasure
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions

#: Margins of three columns at most; beyond, some are drawn.
MOST = 2_000


@register
class MarginChange(LossMeasure):
    """Mean total variation distance between the margins of original and release, up to three columns at once.

    For every column, pair and triple of columns the distributions p of the original and q of the release are compared by
    half the sum of |p - q| over the cells: 0 when they agree, 1 when they share nothing. Numbers are cut at quantiles of the
    original. The value is the mean over the margins of the most columns, for files of any length and order: records are not
    followed. Weights are used where both files declare them.

    References
    ----------
    Raab, Nowok, Dibben (2021), Assessing, visualizing and improving the utility of synthetic data, arXiv:2109.12717.
    National Institute of Standards and Technology (2019), k-marginal score of the Differential Privacy Synthetic Data
    Challenge.
    """

    kind: Literal["margin_change"] = "margin_change"
    columns: ColumnNames | None = Field(
        default=None,
        description="the columns compared; by default all shared ones that describe people",
    )
    ways: Literal[1, 2, 3] = Field(default=3, description="columns of a margin, at most")
    bins: PositiveInt = Field(default=5, ge=2, description="cells of a column of numbers")

    on_weight = "used"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["sex", "age", "income"]}

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> MarginChangeResult:
        columns = self.columns or shared_columns(data, [other.original])
        files = line_up([other.original, data], columns, self.kind)
        cells = cut(files, self.bins)
        both = other.original.weight is not None and data.weight is not None
        weights = [weights_of(d) if both else np.ones(len(d)) for d in (other.original, data)]
        shares = [w / w.sum() for w in weights]
        rows = []
        ways = min(self.ways, len(columns))
        for size in range(1, ways + 1):
            margins = list(itertools.combinations(range(len(columns)), size))
            if len(margins) > MOST:
                at = np.sort(ctx.rng.choice(len(margins), MOST, replace=False))
                margins = [margins[i] for i in at]
            for i, margin in enumerate(margins):
                if i % 50 == 0:
                    ctx.tick(f"margins of {size}", i / len(margins))
                rows.append((size, margin, distance(cells, shares, margin)))
        names = files.columns
        means = {
            size: float(np.mean([d for s, _, d in rows if s == size]))
            for size in range(1, ways + 1)
        }
        worst = max((r for r in rows if r[0] == ways), key=lambda r: r[2])
        pairs = np.zeros((len(names), len(names)))
        for size, margin, d in rows:
            if size == 1:
                pairs[margin[0], margin[0]] = d
            elif size == 2:
                pairs[margin[0], margin[1]] = pairs[margin[1], margin[0]] = d
        words = {1: "one column", 2: "two columns", 3: "three columns"}
        frame = as_frame(
            {
                "columns": [", ".join(names[j] for j in m) for _, m, _ in rows],
                "number": [s for s, _, _ in rows],
                "distance": [d for _, _, d in rows],
            }
        )
        return MarginChangeResult(
            kind=self.kind,
            title="Distance of margins",
            value=means[ways],
            numbers={
                **{f"mean over margins of {words[s]}": v for s, v in means.items()},
                f"largest, {', '.join(names[j] for j in worst[1])}": worst[2],
                "margins compared": len(rows),
            },
            frame=frame,
            explanation="Half the sum of the differences between the shares of original and release in all cells of a margin: the share of records that would have to move for the two to agree.",
            names=names,
            pairs=tuple(tuple(row) for row in pairs.tolist()),
        )


@dataclass(frozen=True, repr=False)
class MarginChangeResult(Result):
    """Distances of margins; ``pairs`` holds those of two columns, on the diagonal those of one."""

    names: tuple[str, ...] = ()
    pairs: tuple[tuple[float, ...], ...] = ()

    def plot(self) -> Chart:
        """Return a picture of the margins of one and two columns."""
        cells = [
            (a, b, self.pairs[i][j])
            for i, a in enumerate(self.names)
            for j, b in enumerate(self.names)
            if j <= i
        ]
        return change_map(
            self.names,
            cells,
            title="Distance of margins",
            subtitle="half the sum of |p - q|: columns on the diagonal, pairs beside it",
        )


def cut(files: Files, bins: int) -> tuple[tuple[Ints, Ints], ...]:
    """Return the cell of each record of both files, column by column."""
    found = []
    old, new = (s.x for s in files.sides)
    for j, numeric in enumerate(files.numeric):
        a, b = old[:, j], new[:, j]
        if numeric:
            known = a[np.isfinite(a)]
            inner = (
                np.unique(np.quantile(known, np.arange(1, bins) / bins))
                if len(known)
                else np.zeros(0)
            )
            a, b = (
                np.where(np.isnan(x), -1, np.searchsorted(inner, np.nan_to_num(x), "right")) + 1
                for x in (a, b)
            )
        found.append((a.astype(np.int64), b.astype(np.int64)))
    return tuple(found)


def distance(
    cells: tuple[tuple[Ints, Ints], ...], shares: list[Floats], margin: tuple[int, ...]
) -> float:
    """Return half the sum of the differences of a margin's shares."""
    ids = np.zeros(len(shares[0]) + len(shares[1]), dtype=np.int64)
    for j in margin:
        both = np.concatenate(cells[j])
        _, ids = np.unique(ids * (int(both.max()) + 1) + both, return_inverse=True)
        ids = ids.ravel()
    signed = np.concatenate([shares[0], -shares[1]])
    return float(np.abs(np.bincount(ids, weights=signed)).sum() / 2)
