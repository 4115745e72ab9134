"""Tables written as plain files: what may be given away, or everything known, in CSV, Parquet or Excel."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from tacit.data.cells.shown import code_orders, published_columns, written_cells
from tacit.data.cells.status import Status
from tacit.data.decimals import format_all_digits, tidy_numbers
from tacit.data.table import Table
from tacit.errors import DisclosureRefused, InputError
from tacit.io import write_frame
from tacit.io.formats import FileFormat
from tacit.io.frame_files import EXTENSIONS

FORMAT = FileFormat(
    "table",
    reads=(".table",),
    reader="tacit.data.cells.table_file.load_table",
    writes=("csv", "parquet", "xlsx"),
    rank=1,
)


#: The second sheet of a released workbook.
CROSS_TABLE = "cross-table"
#: Columns that a sheet can have.
MOST_COLUMNS = 16_384


def write_table(
    table: Table,
    path: str | Path,
    *,
    layout: Literal["long", "wide"] = "long",
    confidential: bool = False,
    hidden: str = "x",
    empty: str = "-",
    separator: str = ",",
    decimal: Literal[".", ","] = ".",
    encoding: str = "utf-8",
) -> None:
    """Write what may be given away of a table: codes, published values and marks.

    Parameters
    ----------
    table
        The protected table.
    path
        The file: ``.csv``, ``.tsv``, ``.txt``, ``.parquet`` or ``.xlsx``.
    layout
        ``long``: one row per cell; ``wide``: a cross-table, the last dimension across.
    confidential
        Write everything known of every cell instead: true values, contributors, status, cost, bounds
        and levels (long layout only). Keep such a file inside.
    hidden, empty
        What stands for hidden and for empty cells: in the wide layout in their place, in the long one
        in the column ``mark``.
    separator, decimal, encoding
        For text.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in EXTENSIONS:
        raise InputError(
            f"{file.name!r}: tables are written as .csv, .tsv, .txt, .parquet or .xlsx"
        )
    if layout == "wide" and confidential:
        raise DisclosureRefused("the wide layout holds published values only")
    mark = "\t" if ending == ".tsv" else separator
    is_text = ending in {".csv", ".tsv", ".txt"}
    if is_text and mark == decimal:
        raise InputError("the separator and the decimal mark must not be the same")
    if layout == "wide":
        columns = wide_columns(table, hidden, empty, mixed=ending != ".parquet")
    else:
        columns = released_columns(table, hidden, empty)
        if confidential:
            columns = list_cell_columns(table)
    if is_text and decimal != ".":
        columns = {n: with_decimal(values, decimal) for n, values in columns.items()}
    if ending == ".xlsx" and layout == "wide":
        from tacit.io.excel import write_sheets
        from tacit.io.lines import open_atomically

        with open_atomically(file) as room:
            write_sheets({"table": sheet_rows(columns)}, room, titled=True)
        return
    frame = pa.table({n: as_array(values) for n, values in columns.items()})
    write_frame(frame, file, overwrite=True, separator=mark, encoding=encoding)


def write_released(table: Table, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write what may be given away of a table: one row per cell; in Excel a cross-table as well.

    Decimals are those of the source where it says them, else the fewest that hold every value.
    """
    file = Path(path)
    more = {}
    fits = table.is_product and table.shape[-1] + len(table.shape) <= MOST_COLUMNS
    if file.suffix.lower() == ".xlsx" and fits:
        more[CROSS_TABLE] = sheet_rows(wide_columns(table, "x", "-", mixed=True))
    places = table.extra.get("decimals")
    decimals = {table.response: int(places)} if isinstance(places, int) else None
    released = released_columns(table, "x", "-")
    frame = pa.table({n: as_array(values) for n, values in released.items()})
    return write_frame(frame, file, decimals=decimals, overwrite=overwrite, more_sheets=more)


def sheet_rows(columns: dict[str, Any]) -> list[list[Any]]:
    """Return columns as the rows of a sheet, titles first."""
    return [list(columns), *map(list, zip(*columns.values(), strict=True))]


# -- columns -----------------------------------------------------------------------------------------


def released_columns(table: Table, hidden: str, empty: str) -> dict[str, Any]:
    """Return the released view as columns: codes, value, interval, mark."""
    at = written_cells(table)
    return {
        n: v[at] if isinstance(v, np.ndarray) else [v[i] for i in at]
        for n, v in published_columns(table, hidden, empty).items()
    }


def list_cell_columns(table: Table) -> dict[str, Any]:
    """Return every cell with everything known of it, as columns."""
    columns: dict[str, Any] = dict(table.columns_of_codes())
    columns[table.response] = table.value
    columns["count"] = [None if c < 0 else int(c) for c in table.count]
    columns["status"] = [Status(int(s)).word for s in table.status]
    if table.weight is not None:
        columns["weight"] = table.weight
    for name in ("lower", "upper"):
        bound = getattr(table, name)
        columns[name] = np.where(np.isinf(bound), np.nan, bound)
    for name in ("lower_level", "upper_level", "sliding_level"):
        columns[name] = np.asarray(getattr(table, name))
    if table.contributors is not None:
        for i in range(table.contributors.t):
            columns[f"top{i + 1}"] = table.contributors.top[:, i]
    columns["published"] = table.published
    return columns


def wide_columns(table: Table, hidden: str, empty: str, *, mixed: bool) -> dict[str, Any]:
    """Return a cross-table as columns: codes of all dimensions but the last, then one per code of it.

    ``mixed`` puts marks in the place of hidden and empty cells; else those are missing.
    """
    if not table.is_product or len(table.shape) < 2:
        raise InputError("the wide layout is for tables of at least two dimensions")
    *down, across = table.dimensions
    size = int(np.prod([len(d) for d in down]))
    *orders, along = code_orders(table)
    rows = np.ravel_multi_index(np.meshgrid(*orders, indexing="ij"), [len(d) for d in down]).ravel()
    places = np.unravel_index(rows, [len(d) for d in down])
    columns: dict[str, Any] = {
        d.name: np.asarray(d.codes, dtype=object)[at].tolist()
        for d, at in zip(down, places, strict=True)
    }
    values = tidy_numbers(table.published).reshape(size, len(across))[rows]
    gone, none, out = (
        f.reshape(size, len(across))[rows]
        for f in (table.hidden, table.marked_empty, table.unpublished)
    )
    for j in along:
        code = across.codes[j]
        name = code if code not in columns else f"{across.name}: {code}"
        columns[name] = values[:, j]
        if mixed:
            cells = zip(values[:, j], gone[:, j], none[:, j], out[:, j], strict=True)
            columns[name] = [
                None if o else hidden if h else empty if e else float(v) for v, h, e, o in cells
            ]
    return columns


def as_array(values: Any) -> pa.Array:
    """Return a column; numbers beside marks become text."""
    if isinstance(values, np.ndarray):
        return pa.array(np.ascontiguousarray(values), from_pandas=True)
    if any(isinstance(v, str) for v in values):
        return pa.array([format_all_digits(v) if isinstance(v, float) else v for v in values])
    return pa.array(values)


def with_decimal(values: Any, decimal: str) -> Any:
    """Return numbers as text with another decimal mark; text as it is."""
    if isinstance(values, np.ndarray):
        values = [None if np.isnan(v) else float(v) for v in tidy_numbers(values)]
    return [
        format_all_digits(v).replace(".", decimal) if isinstance(v, float) else v for v in values
    ]
