"""Frames written as they are to be read by people: CSV, TSV, Parquet and Excel, numbers without dust.

A sum of cents is a number of cents, whatever binary arithmetic makes of it: 5214849.2299999995 is written
5214849.23. Decimals are those that are given, else the fewest that hold every value of the column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.decimals import format_all_digits, tidy_numbers
from tacit.errors import InputError, explain_target
from tacit.io import Options, frames, open_beside, refuse_target

Decimals = int | Mapping[str, int] | None

#: Extensions in which a frame can be written.
EXTENSIONS = (".csv", ".tsv", ".txt", ".parquet", ".xlsx")


def write_frame(
    frame: Any,
    path: Path,
    options: Options,
    decimals: Decimals,
    overwrite: bool,
    more_sheets: Mapping[str, Sequence[Sequence[Any]]],
) -> Path:
    """Write a frame by the ending of the file; see :func:`tacit.io.write_frame`."""
    ending = path.suffix.lower()
    if ending not in EXTENSIONS:
        raise InputError(
            f"cannot write {path.name!r}: frames are written as {', '.join(EXTENSIONS[:-1])} or {EXTENSIONS[-1]}"
        )
    with explain_target(path):
        there = path.parent.is_dir()
    if not there:
        raise InputError(f"there is no folder {str(path.parent)!r} to write {path.name!r} in")
    refuse_target(path, "memory", overwrite=overwrite)
    native = frame.to_native() if hasattr(frame, "to_native") else frame
    native = frames.from_columns(native) if isinstance(native, dict) else native
    table = tidy_table(frames.to_arrow(native), decimals)
    with open_beside(path, overwrite=overwrite) as room:
        if ending == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, room, compression="zstd")
        elif ending == ".xlsx":
            from tacit.io import excel

            rows = [table.column_names, *zip(*map(excel.cells, table.columns), strict=True)]
            sheets = {options.sheet or "table": rows, **more_sheets}
            excel.write_sheets(sheets, room, titled=True)
        else:
            from tacit.io import text

            columns = [plain_text(column) for column in table.columns]
            text.write_table(pa.table(columns, names=table.column_names), room, options)
    return path


def plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Return a column as it stands in a text file: numbers without exponent, an empty text as an empty field."""
    if pa.types.is_floating(column.type):
        shown = [None if v is None else format_all_digits(v) for v in column.to_pylist()]
        return pa.array(shown, pa.string())
    if pa.types.is_string(column.type):
        return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)
    return column


# -- numbers without dust ----------------------------------------------------------------------------


def tidy_table(table: pa.Table, decimals: Decimals = None) -> pa.Table:
    """Return the table with numbers rounded to the decimals that they have; NaN becomes null."""
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_floating(column.type):
            columns.append(column)
            continue
        values = np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
        given = decimals.get(name) if isinstance(decimals, Mapping) else decimals
        columns.append(pa.array(tidy_numbers(values, given), from_pandas=True))
    return pa.table(columns, names=table.column_names)
