"""Crosstab: a table as the framework sees it, distributions over cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tacit.errors import ColumnNotFound, InputError
from tacit.tables.compare.axis import Axis, Flags, Ints, observed

Floats = npt.NDArray[np.float64]
Kind = Literal["frequency", "magnitude"]

#: Cells that are worked on at a time.
BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Crosstab:
    """A table of distributions (rows) over cells (columns).

    Attributes
    ----------
    cells
        Internal cells, rows by columns; where a cell is suppressed, 0.
    rows, columns
        What the lines stand for.
    suppressed
        Which cells are withheld.
    row_totals, column_totals
        Margins as published, which need not add up; NaN is a withheld margin. None: not published.
    contributors
        Units behind each cell, for magnitudes and weighted counts.
    kind
        ``frequency`` (counts, each unit counts one) or ``magnitude`` (sums of values or weights).
    """

    cells: Floats
    rows: Axis
    columns: Axis
    suppressed: Flags | None = None
    row_totals: Floats | None = None
    column_totals: Floats | None = None
    contributors: Floats | None = None
    kind: Kind = "frequency"

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        return (self.cells.shape[0], self.cells.shape[1])

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the spanning variables, rows first."""
        return (*self.rows.names, *self.columns.names)

    def units(self) -> Floats:
        """Return the units behind each cell: its count, or its contributors."""
        if self.contributors is not None:
            return self.contributors
        if self.kind == "magnitude":
            raise InputError(
                "a magnitude table needs the number of contributors to each cell for this: "
                "give contributors="
            )
        return self.cells

    def with_cells(self, cells: Floats) -> Crosstab:
        """Return the table with other cells, none of them suppressed."""
        return replace(self, cells=cells, suppressed=None)

    def arranged(self, rows: Sequence[str], columns: Sequence[str]) -> Crosstab:
        """Return the table with other variables as rows and columns; variables left out are summed.

        A cell that would sum a suppressed one is suppressed; published margins do not carry over.
        """
        unknown = [v for v in (*rows, *columns) if v not in self.variables]
        if unknown:
            raise ColumnNotFound(unknown, list(self.variables), "the table")
        if self.rows.names == tuple(rows) and self.columns.names == tuple(columns):
            return self
        n_rows, n_columns = self.shape
        sides = []
        for names in (rows, columns):
            codes = [self.cell_codes(v) for v in names]
            blank = [np.zeros(n_rows * n_columns, dtype=np.int64)]
            sides.append(observed(names, codes or blank, [self.categories(v) for v in names]))
        (row_axis, i), (column_axis, j) = sides
        shape = (len(row_axis), len(column_axis))
        ids = i * shape[1] + j

        def summed(values: npt.NDArray[Any]) -> Floats:
            total = np.bincount(ids, values.ravel(), minlength=math.prod(shape))
            return total.astype(np.float64).reshape(shape)

        return Crosstab(
            summed(self.cells),
            row_axis,
            column_axis,
            None if self.suppressed is None else summed(self.suppressed) > 0,
            contributors=None if self.contributors is None else summed(self.contributors),
            kind=self.kind,
        )

    def cell_codes(self, variable: str) -> Ints:
        """Return the category of every cell on a variable, row by row."""
        n_rows, n_columns = self.shape
        if variable in self.rows.names:
            return np.repeat(self.rows.code_of(variable), n_columns)
        return np.tile(self.columns.code_of(variable), n_rows)

    def categories(self, variable: str) -> tuple[str, ...]:
        """Return the categories of a variable."""
        axis = self.rows if variable in self.rows.names else self.columns
        return axis.categories[axis.names.index(variable)]

    def aligned(self, other: Crosstab) -> Crosstab:
        """Return this table with its lines in the order of another, or say that they differ."""
        if self.shape != other.shape:
            raise InputError(
                f"the tables differ in shape: {self.shape[0]:,} by {self.shape[1]:,} against "
                f"{other.shape[0]:,} by {other.shape[1]:,}"
            )
        i = matched(self.rows, other.rows, "row")
        j = matched(self.columns, other.columns, "column")
        if i is None and j is None:
            return self
        rows = np.arange(self.shape[0]) if i is None else i
        columns = np.arange(self.shape[1]) if j is None else j
        grid = np.ix_(rows, columns)
        return Crosstab(
            self.cells[grid],
            other.rows,
            other.columns,
            None if self.suppressed is None else self.suppressed[grid],
            None if self.row_totals is None else self.row_totals[rows],
            None if self.column_totals is None else self.column_totals[columns],
            None if self.contributors is None else self.contributors[grid],
            self.kind,
        )


def row_blocks(cells: Floats) -> Iterator[slice]:
    """Yield the rows in blocks that fit a processor's cache: sums over cells then run at its speed."""
    step = max(1, BLOCK // max(cells.shape[1], 1))
    for start in range(0, len(cells), step):
        yield slice(start, start + step)


def as_cells(given: npt.ArrayLike, what: str) -> tuple[Floats, Flags | None]:
    """Return values as a matrix with 0 where they are NaN, and where that is."""
    try:
        values = np.atleast_2d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"the {what} of a table must be numbers") from None
    if values.ndim != 2:
        values = values.reshape(values.shape[0], -1)
    if not values.size:
        raise InputError("the table has no cells")
    low = values.min()
    withheld = np.isnan(values) if np.isnan(low) else None
    if withheld is not None:
        values = np.where(withheld, 0.0, values)
        low = values.min()
    if low < 0:
        raise InputError(f"the {what} of a table must not be negative")
    if not np.isfinite(values.max()):
        raise InputError(f"the {what} of a table must be finite numbers")
    return values, withheld


def matched(own: Axis, other: Axis, what: str) -> Ints | None:
    """Return where each line of another axis stands here; None when the order is the same."""
    if own.same(other):
        return None
    labels = {label: i for i, label in enumerate(own.labels())}
    wanted = other.labels()
    if len(labels) != len(own) or any(label not in labels for label in wanted):
        raise InputError(f"the tables differ in their {what} labels; compare tables of one layout")
    return np.array([labels[label] for label in wanted], dtype=np.int64)
