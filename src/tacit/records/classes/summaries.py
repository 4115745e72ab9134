"""Summaries: frequency tables whose small cells are hidden, and stay hidden beside their margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field
from scipy.optimize import linprog

from tacit.arrays import Flags, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame
from tacit.errors import SolverError
from tacit.fields import ColumnName, PositiveInt
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Columns of the result's frame beside the labels.
TAKEN = ("total", "count", "status")


@register
class Summaries(Measure):
    """A frequency table of one or two columns in which small counts are hidden.

    A count from 1 to ``threshold - 1`` is hidden (primary). When margins are published, a hidden count could
    be found by subtraction, so further counts are hidden (complementary): for each unsafe cell the
    rectangle of four cells, margins included, that adds least to what is hidden. Then the table is
    attacked: for every hidden cell the smallest and largest count that fit everything published are
    computed by linear programming. No hidden cell may be determined, and the largest possible count of
    a small cell must reach the threshold. If no pattern achieves that the table is withheld.

    Zeros are published: they are never small, and hiding them would protect nothing where they are known.

    References
    ----------
    Cox (1980), Suppression methodology and statistical disclosure control, JASA 75, 377-385.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1.
    """

    kind: Literal["summaries"] = "summaries"
    columns: Annotated[tuple[ColumnName, ...], Field(min_length=1, max_length=2)] = Field(
        description="one or two columns to tabulate"
    )
    threshold: PositiveInt = Field(default=3, description="smallest count that may be shown")
    margins: bool = Field(
        default=True,
        description="publish row, column and grand totals, and protect against subtraction",
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["sex", "disease"]}

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SummariesResult:
        del other
        ctx.tick("counting")
        table, labels = frequency_table(data, self.columns)
        ctx.tick("hiding")
        if self.margins:
            full = with_margins(table)
            hidden = protect(full, self.threshold)
        else:
            full, hidden = table, find_small_counts(table, self.threshold)
        primary = find_small_counts(full, self.threshold)
        interior = np.s_[: table.shape[0], : table.shape[1]]
        cells = int(np.count_nonzero(table))
        n_hidden, n_small = int(hidden[interior].sum()), int(primary[interior].sum())
        # One row per cell: its labels, whether it is a total, the count shown, and its status.
        rows, columns = np.indices(full.shape).reshape(2, -1)
        named: dict[str, Any] = {}
        for name, at, label in zip(self.columns, (rows, columns), labels, strict=False):
            named[name if name not in TAKEN else f"{name} (column)"] = pa.array(
                [label[i] if i < len(label) else "Total" for i in at], pa.string()
            )
        status = np.select([primary, hidden], ["primary", "complementary"], "published")
        frame = pa.table(
            {
                **named,
                "total": pa.array((rows >= table.shape[0]) | (columns >= table.shape[1])),
                "count": pa.array(full.ravel(), mask=hidden.ravel()),
                "status": pa.array(status.ravel().tolist(), pa.string()),
            }
        )
        if len(self.columns) == 1:
            # A column of counts; the second margin only repeats the first.
            frame = frame.filter(pa.array(columns == 0))
        return SummariesResult(
            kind=self.kind,
            title=f"Frequencies of {' by '.join(self.columns)}",
            value=n_hidden / cells if cells else 0.0,
            numbers={
                "records": int(table.sum()),
                "cells that are not empty": cells,
                "small cells hidden": n_small,
                "further cells hidden": n_hidden - n_small,
                "margins hidden": frame.filter(
                    pc.and_(frame["total"], pc.is_null(frame["count"]))
                ).num_rows,
            },
            frame=as_frame(frame),
            explanation=(
                "Hidden counts have no number in the column 'count'. Every hidden count was checked against all that is published. "
                "The value compared is the share of cells that are hidden."
            ),
            table=full,
            hidden=hidden,
            primary=primary,
        )


@dataclass(frozen=True, repr=False)
class SummariesResult(Result):
    """The table with margins (last row and column), what is hidden, and what is hidden for being small.

    ``table`` is confidential; ``frame`` shows only what may be published.
    """

    table: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    hidden: Flags = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    primary: Flags = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))


def frequency_table(data: Microdata, columns: Sequence[str]) -> tuple[Ints, list[list[str | None]]]:
    """Return counts by one or two columns (rows, columns) and their labels; missing is a category."""
    cells = data.cells(columns)
    at, labels = [], []
    for c in columns:
        coded = cells.keys[c]
        present = np.unique(coded.codes)
        at.append(np.searchsorted(present, coded.codes))
        labels.append([None if v is None else str(v) for v in coded.decode(present).to_pylist()])
    shape = (len(labels[0]), len(labels[1]) if len(columns) == 2 else 1)
    table = np.zeros(shape, dtype=np.int64)
    np.add.at(table, (at[0], at[1] if len(columns) == 2 else np.zeros_like(at[0])), cells.n)
    return table, labels


def with_margins(table: Ints) -> Ints:
    """Return the table with a last row and column of totals."""
    rows = np.vstack([table, table.sum(axis=0)])
    return np.hstack([rows, rows.sum(axis=1, keepdims=True)])


def find_small_counts(table: Ints, threshold: int) -> Flags:
    """Return which counts are too small to be shown."""
    return (table > 0) & (table < threshold)


def protect(full: Ints, threshold: int) -> Flags:
    """Return which cells of a table with margins to hide so that no small count can be worked out."""
    hidden = find_small_counts(full, threshold)
    primary = hidden.copy()
    for cell in zip(*np.nonzero(primary), strict=True):
        at = (int(cell[0]), int(cell[1]))
        while not is_safe(full, hidden, at, threshold):
            corners = cheapest_rectangle(full, hidden, at)
            if corners is None:
                break
            hidden[corners] = True
    if verify_hidden_counts(full, hidden, primary, threshold):
        return hidden
    # No rectangles left: hide all that is not empty but the grand total, and at last everything.
    hidden = (full > 0) & ~total_cells(full)
    hidden |= primary
    return (
        hidden if verify_hidden_counts(full, hidden, primary, threshold) else np.ones_like(hidden)
    )


def verify_hidden_counts(full: Ints, hidden: Flags, primary: Flags, threshold: int) -> bool:
    """Attack every hidden cell; small ones must be able to reach the threshold."""
    return all(
        is_safe(full, hidden, (int(i), int(j)), threshold if primary[i, j] else 0)
        for i, j in zip(*np.nonzero(hidden), strict=True)
    )


def is_safe(full: Ints, hidden: Flags, cell: tuple[int, int], threshold: int) -> bool:
    """Return True when a hidden count is not determined and may be as large as the threshold."""
    low, high = attacker_interval(full, hidden, cell)
    return low < high and high >= threshold


def attacker_interval(full: Ints, hidden: Flags, cell: tuple[int, int]) -> tuple[float, float]:
    """Return the smallest and largest count of a cell that agree with all that is published.

    The relations of a two-way table with margins form a network, so the linear programme has whole
    numbers at its corners and its bounds are those for counts.
    """
    rows, columns = np.nonzero(hidden)
    known = np.where(hidden, 0, full)
    lines, right = [], []
    for own, other, counts in ((rows, columns, known), (columns, rows, known.T)):
        # In each line the cells less the margin are 0.
        sign = np.append(np.ones(counts.shape[1] - 1), -1.0)
        lines.append((own == np.arange(len(counts))[:, None]) * sign[other])
        right.append(-(counts @ sign))
    relations, sums = np.vstack(lines), np.concatenate(right)
    used = relations.any(axis=1)
    cost = ((rows == cell[0]) & (columns == cell[1])).astype(np.float64)
    low, high = (find_extreme_count(cost, relations[used], sums[used], sense) for sense in (1, -1))
    return low, high


def find_extreme_count(cost: Any, lines: Any, right: Any, sense: int) -> float:
    """Return the smallest (sense 1) or largest (sense -1) value of one hidden count."""
    found = linprog(sense * cost, A_eq=lines, b_eq=right, bounds=(0, None), method="highs")
    if found.status in {3, 4}:  # unbounded: nothing published limits the count
        return -sense * float("inf")
    if found.status != 0:
        raise SolverError(
            "summaries: the attack on a hidden cell could not be computed; the table is not released"
        )
    return float(np.rint(sense * found.fun))


def total_cells(full: Ints) -> Flags:
    """Return the cells that are the grand total: more than one when a margin has a single line."""
    found = np.zeros(full.shape, dtype=bool)
    found[-1, -1] = True
    if full.shape[0] == 2:
        found[:, -1] = True
    if full.shape[1] == 2:
        found[-1, :] = True
    return found


def cheapest_rectangle(
    full: Ints, hidden: Flags, cell: tuple[int, int]
) -> tuple[Ints, Ints] | None:
    """Return the rectangle through a cell that hides least in addition; None when it adds nothing.

    Its four counts must be positive, so that each can be larger or smaller by one at least, and the
    grand total stays published.
    """
    i, j = cell
    cost = np.where(hidden, 0, full)
    usable = (full > 0) & (hidden | ~total_cells(full))
    rows = np.flatnonzero(usable[:, j] & (np.arange(full.shape[0]) != i))
    columns = np.flatnonzero(usable[i] & (np.arange(full.shape[1]) != j))
    grid = np.ix_(rows, columns)
    price = (cost[grid] + cost[rows, j][:, None] + cost[i, columns][None, :]).astype(np.float64)
    price[~usable[grid] | (price == 0)] = np.inf
    if price.size == 0 or not np.isfinite(price).any():
        return None
    r, c = np.unravel_index(int(np.argmin(price)), price.shape)
    row, column = int(rows[r]), int(columns[c])
    return np.array([i, row, row]), np.array([column, j, column])
