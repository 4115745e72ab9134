"""Tables from arrays, frames, files and microdata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.data.microdata import Microdata
from tacit.engine.codes import encode
from tacit.errors import ColumnNotFound, InputError
from tacit.tables.compare.axis import Axis, Declared, Flags, observed
from tacit.tables.compare.crosstab import Crosstab, Floats, Kind, as_cells
from tacit.tables.compare.tabulate import cross_classify, texts


def crosstab(
    source: Any,
    *,
    rows: Declared | None = None,
    columns: Declared | None = None,
    value: str | None = None,
    contributors: Any = None,
    kind: Kind | None = None,
    suppressed: npt.ArrayLike | None = None,
    row_totals: npt.ArrayLike | None = None,
    column_totals: npt.ArrayLike | None = None,
    total: str | None = None,
    marks: Sequence[str] = (),
) -> Crosstab:
    """Return a table from what holds it.

    Parameters
    ----------
    source
        A :class:`Crosstab`; an array of internal cells (NaN: suppressed); Microdata, which are
        cross-classified on their engine; or a frame or file (CSV, XLSX, ...) with cells, in wide form
        (one line a row) or in long form (one line a cell).
    rows, columns
        The variables of each side, slowest first. For microdata and the long form, column names; for
        the wide form, ``rows`` names the columns that hold labels; where labels do not say it, a
        mapping from variable to categories or to their number.
    value
        Long form: the column with the cell values. Microdata: a column to be summed in each cell
        (a magnitude, or a weight) instead of counting records.
    contributors
        Units behind each cell: an array, or in the long form a column.
    kind
        ``frequency`` or ``magnitude``; by default what the source suggests.
    suppressed
        Which cells of an array are suppressed, beside those that are NaN.
    row_totals, column_totals
        Published margins of an array; NaN is a suppressed margin.
    total
        The label of margins in a file or frame; such lines are taken as published margins.
    marks
        Texts that stand for a suppressed cell in a file or frame; an empty cell always does.

    Returns
    -------
    Crosstab
        Refused are cells that are negative or not numbers, a cell listed twice, and declared
        categories that do not multiply to the table.
    """
    if isinstance(source, Crosstab):
        if rows is None and columns is None:
            return source
        picked = tuple(as_names(rows) or ()), tuple(as_names(columns) or ())
        left = [v for v in source.variables if v not in (*picked[0], *picked[1])]
        return source.arranged(*(p or left for p in picked))
    if isinstance(source, Microdata):
        return cross_classify([source], as_names(rows), as_names(columns), value=value)[0]
    if isinstance(source, np.ndarray | list | tuple):
        found = from_array(source, rows, columns, suppressed, row_totals, column_totals)
        units = None if contributors is None else as_cells(contributors, "contributors")[0]
        if units is not None and units.shape != found.shape:
            raise InputError("the contributors have another shape than the table")
        return replace(found, contributors=units, kind=kind or "frequency")
    frame = read_frame(source, marks)
    if value is not None:
        found = from_long(frame, as_names(rows), as_names(columns), value, contributors)
    else:
        found = from_wide(frame, rows, columns, total)
    found = without_margins(found, total)
    return replace(found, kind=kind or found.kind)


# -- arrays ------------------------------------------------------------------------------------------


def from_array(
    cells: npt.ArrayLike,
    rows: Declared | None = None,
    columns: Declared | None = None,
    suppressed: npt.ArrayLike | None = None,
    row_totals: npt.ArrayLike | None = None,
    column_totals: npt.ArrayLike | None = None,
) -> Crosstab:
    """Return a table from an array of internal cells; one dimension is one distribution."""
    values, withheld = as_cells(cells, "cells")
    if suppressed is not None:
        mask = np.atleast_2d(np.asarray(suppressed, dtype=bool))
        if mask.shape != values.shape:
            raise InputError("the mask of suppressed cells has another shape than the table")
        withheld = mask if withheld is None else withheld | mask
        values = np.where(mask, 0.0, values)
    return Crosstab(
        values,
        Axis.declared(rows, values.shape[0], "row"),
        Axis.declared(columns, values.shape[1], "column"),
        withheld,
        as_margin(row_totals, values.shape[0]),
        as_margin(column_totals, values.shape[1]),
    )


def as_margin(given: npt.ArrayLike | None, n: int) -> Floats | None:
    """Return a published margin; None in it is a withheld total."""
    if given is None:
        return None
    margin = np.asarray(given, dtype=np.float64).ravel()
    if len(margin) != n:
        raise InputError(f"a margin has {len(margin):,} totals for {n:,} lines")
    if np.nanmin(margin, initial=0.0) < 0:
        raise InputError("the totals of a table must not be negative")
    return margin


# -- frames and files ------------------------------------------------------------------------------


def read_frame(source: Any, marks: Sequence[str]) -> pa.Table:
    """Return a file or frame as an Arrow table; marks of suppression become null."""
    from tacit.io.read import read

    options: dict[str, Any] = {"missing": list(marks)} if marks else {}
    if isinstance(source, str | Path) or marks or not isinstance(source, pa.Table):
        return read(source, **options).to_arrow()
    return source


def from_wide(
    table: pa.Table, rows: Declared | None, columns: Declared | None, total: str | None = None
) -> Crosstab:
    """Return a table from one line a row; columns that are not labels hold cells."""
    labels = [] if isinstance(rows, Mapping) else list(as_names(rows) or [])
    missing = [name for name in labels if name not in table.column_names]
    if missing:
        raise ColumnNotFound(missing, table.column_names, "the table")
    kept = [name for name in table.column_names if name not in labels]
    margin = [name for name in kept if total is not None and name == total]
    inside = [name for name in kept if name not in margin]
    if isinstance(rows, Mapping) or not labels:
        row_axis = Axis.declared(rows, table.num_rows, "row")
    else:
        row_axis = lines_of(table, labels)
        if len(observed(labels, row_axis.codes, row_axis.categories)[0]) < table.num_rows:
            raise InputError("two rows of the table have the same labels")
    if not inside:
        raise InputError("the table has no cells")
    cells = np.column_stack([column_numbers(table, name) for name in inside])
    values, withheld = as_cells(cells, "cells")
    named = (
        columns if isinstance(columns, Mapping) else {(as_names(columns) or ["column"])[0]: inside}
    )
    return Crosstab(
        values,
        row_axis,
        Axis.declared(named, len(inside), "column"),
        withheld,
        row_totals=column_numbers(table, margin[0]) if margin else None,
    )


def from_long(
    table: pa.Table,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    value: str,
    contributors: str | None = None,
) -> Crosstab:
    """Return a table from one line a cell; cells that are not listed are 0."""
    wanted = [*(rows or ()), *(columns or ()), value, *([contributors] if contributors else [])]
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        raise ColumnNotFound(missing, table.column_names, "the table")
    if not columns:
        raise InputError("a table in long form needs columns=, the variables that span its columns")
    sides = []
    for names in (rows or (), columns):
        lines = lines_of(table, names)
        sides.append(observed(names, lines.codes, lines.categories))
    (row_axis, i), (column_axis, j) = sides
    shape = (len(row_axis), len(column_axis))
    ids = i * shape[1] + j
    if np.bincount(ids, minlength=1).max() > 1:
        raise InputError("a cell of the table is listed twice")
    cells = np.zeros(shape)
    cells.ravel()[ids] = column_numbers(table, value)
    values, withheld = as_cells(cells, "cells")
    units = None
    if contributors is not None:
        units = np.zeros(shape)
        units.ravel()[ids] = np.nan_to_num(column_numbers(table, contributors))
    kind: Kind = "frequency" if units is None else "magnitude"
    return Crosstab(values, row_axis, column_axis, withheld, contributors=units, kind=kind)


def lines_of(table: pa.Table, names: Sequence[str]) -> Axis:
    """Return what the lines of a frame stand for."""
    if not names:
        return Axis((), (np.zeros(table.num_rows, dtype=np.int64),), ())
    coded = [encode(table.column(n)) for n in names]
    every = Axis(
        tuple(names),
        tuple(c.codes.astype(np.int64) for c in coded),
        tuple(texts(c.values.to_pylist()) for c in coded),
    )
    return every.trimmed()


def column_numbers(table: pa.Table, name: str) -> Floats:
    """Return a column as numbers, NaN where it is null."""
    try:
        column = table.column(name).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {name!r} of the table holds cells that are not numbers; name marks of "
            "suppression with marks=, and columns with labels with rows="
        ) from None
    return np.asarray(column.to_numpy(), dtype=np.float64)


def without_margins(table: Crosstab, total: str | None) -> Crosstab:
    """Return the table with lines labelled as totals taken out and kept as published margins."""
    if total is None:
        return table
    row_parts, column_parts = (totals_among(a, total) for a in (table.rows, table.columns))
    if not row_parts.any() and not column_parts.any():
        return table
    kept, inside = ~row_parts.any(axis=0), ~column_parts.any(axis=0)
    if not kept.any() or not inside.any():
        raise InputError("the table has nothing but totals")
    cells = table.cells.copy()
    if table.suppressed is not None:
        cells[table.suppressed] = np.nan
    last_row, last_column = row_parts.all(axis=0), column_parts.all(axis=0)
    row_totals = cells[kept][:, last_column][:, 0] if last_column.any() else table.row_totals
    if row_totals is not None and len(row_totals) != kept.sum():
        row_totals = row_totals[kept]
    column_totals = cells[last_row][:, inside][0] if last_row.any() else None
    grid = np.ix_(kept, inside)
    values, withheld = as_cells(cells[grid], "cells")
    return replace(
        table,
        cells=values,
        suppressed=withheld,
        rows=table.rows.take(np.flatnonzero(kept)).trimmed(),
        columns=table.columns.take(np.flatnonzero(inside)).trimmed(),
        row_totals=row_totals,
        column_totals=column_totals,
        contributors=None if table.contributors is None else table.contributors[grid],
    )


def totals_among(axis: Axis, total: str) -> Flags:
    """Return, for each variable and line, whether the line's category is the total."""
    return np.stack(
        [
            np.isin(codes, [i for i, c in enumerate(names) if c == total])
            for codes, names in zip(axis.codes, axis.categories, strict=True)
        ]
    )


def as_names(given: Declared | None) -> list[str] | None:
    """Return the names of a declaration."""
    if given is None:
        return None
    return [given] if isinstance(given, str) else [str(g) for g in given]
