"""Spreadsheets: Excel and OpenDocument are read; Excel is written, with a codebook on a sheet of its own."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.paths import require_file
from tacit.data.roles import Column
from tacit.engine.base import Engine
from tacit.errors import InputError, SdcWarning, UnreadableFile, near_match, require
from tacit.io import FileFormat, Loaded, Options, describe
from tacit.io.frames import plain_table
from tacit.io.hidden import Hidden, find_hidden, refuse_wide_document
from tacit.io.text import check_names
from tacit.storage.packed import refuse_bomb

FORMAT = FileFormat(
    "records", reads=(".xlsx", ".xls", ".ods"), writes=("xlsx",), rank=3, strips_titles=(".xlsx",)
)

DATA, CODEBOOK = "data", "codebook"
TITLES = ("column", "type", "description")

MAX_ROWS = 1_048_576 - 1
EXACT = 2**53

#: Texts that begin so would be run as formulas where a sheet is read carelessly.
LIVE = ("=", "+", "-", "@", "\t", "\r")

#: Excel counts days from here; earlier dates are written as text.
FIRST_DAY = dt.date(1900, 3, 1)

TYPES: Mapping[str, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "time": pa.time64("us"),
}

#: Rows that a column's width is taken from, and the widest column in characters.
LOOKED_AT, WIDEST = 1_000, 60


def read(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read one sheet; its first row holds the names."""
    sheets = open_workbook(path)
    rows = chosen_rows(sheets, options.sheet, path, hidden=options.hidden)
    width = max(len(row) for row in rows)
    filled = (row + [""] * (width - len(row)) for row in rows)
    columns = [list(c) for c in zip(*filled, strict=True)]
    if options.header:
        columns = [c for c in columns if any(value != "" for value in c)]
        titles, columns = [c[0] for c in columns], [c[1:] for c in columns]
    else:
        titles = [""] * width
    names = check_names([as_text(t) for t in titles], path.name)
    types, described = read_codebook(sheets, path)
    arrays = {
        n: type_column(values, types.get(n) or options.types.get(n), n)
        for n, values in zip(names, columns, strict=True)
    }
    frame = engine.number_rows(engine.from_arrow(plain_table(pa.table(arrays))))
    return Loaded(frame, {n: c for n, c in described.items() if n in arrays})


def chosen_rows(
    workbook: Any, sheet: str | None, path: Path, *, hidden: bool = False
) -> list[list[Any]]:
    """Return the rows of the sheet that is asked for, by default the first that is shown; an empty one is refused.

    Hidden columns and rows are left out with a warning, unless they are asked for.
    """
    shown = [
        s.name for s in workbook.sheets_metadata if hidden or str(s.visible).endswith(".Visible")
    ]
    name = sheet if sheet is not None else next(iter(shown or workbook.sheet_names), "")
    if name not in workbook.sheet_names:
        held = "Sheets: " + ", ".join(map(repr, workbook.sheet_names)) + "."
        raise UnreadableFile(
            f"no sheet {name!r} in {path.name!r}. {near_match(name, workbook.sheet_names) or held}"
        )
    found = find_hidden(path, name)
    rows = sheet_rows(workbook, name, path, Hidden() if hidden else found)
    if not rows:
        raise UnreadableFile(f"sheet {name!r} of {path.name!r} is empty")
    return rows


def workbook_rows(path: Path, sheet: str | None = None) -> list[list[Any]]:
    """Return the cells of one sheet of a workbook, row by row."""
    require_file(path)
    return chosen_rows(open_workbook(path), sheet, path)


def open_workbook(path: Path) -> Any:
    """Open a workbook, or say why not."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise require("python-calamine", "files", f"reading {path.suffix} files") from None
    refuse_bomb(path)
    if path.suffix.lower() == ".ods":
        refuse_wide_document(path)
    try:
        return CalamineWorkbook.from_path(str(path))
    except (CalamineError, OSError, ValueError):
        raise UnreadableFile(
            f"{path.name!r} is not a spreadsheet, or is damaged or locked by a password"
        ) from None


def sheet_rows(
    workbook: Any, name: str, path: Path, hidden: Hidden | None = None
) -> list[list[Any]]:
    """Return the cells of a sheet without blank rows and what is hidden; a blank cell is an empty text."""
    try:
        rows: list[list[Any]] = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the package has several
        raise UnreadableFile(f"sheet {name!r} of {path.name!r} cannot be read") from None
    rows, left_out = hidden.without(rows) if hidden else (rows, False)
    if left_out:
        warnings.warn(
            f"{path.name!r}: hidden columns or rows of sheet {name!r} were left out; show them in the file, or read them with hidden=True",
            SdcWarning,
            stacklevel=4,
        )
    if rows and len(rows[0]) > 1:
        return [row for row in rows if any(value != "" for value in row)]
    # A single column: blank cells inside are missing values.
    last = max((j for j, row in enumerate(rows) if row and row[0] != ""), default=-1)
    return rows[: last + 1]


def read_codebook(workbook: Any, path: Path) -> tuple[dict[str, str], dict[str, Column]]:
    """Return types and descriptions from the sheet that ``write`` makes."""
    if CODEBOOK not in workbook.sheet_names:
        return {}, {}
    find_hidden(path, CODEBOOK)
    rows = sheet_rows(workbook, CODEBOOK, path)
    if not rows or tuple(rows[0][:3]) != TITLES:
        return {}, {}
    types = {str(r[0]): str(r[1]) for r in rows[1:]}
    columns: dict[str, Column] = {}
    for row in rows[1:]:
        columns |= describe.from_json(str(row[2])) if row[2] else {}
    return types, columns


def type_column(values: Sequence[Any], kind: str | None, name: str) -> pa.Array:
    """Return cells as one column: the given type, or the narrowest that holds all."""
    filled = [None if v == "" else v for v in values]
    if kind is None:
        return infer_narrowest(filled)
    try:
        return pc.cast(pa.array([convert_cell(v, kind) for v in filled], TYPES[kind]), TYPES[kind])
    except (pa.ArrowException, ValueError, TypeError, KeyError):
        raise InputError(f"column {name!r}: not every cell is of type {kind}") from None


def convert_cell(value: Any, kind: str) -> Any:
    """Return one cell in the type of its column."""
    if value is None:
        return None
    if kind == "text":
        return as_text(value)
    if kind == "integer":
        if isinstance(value, float) and not value.is_integer():
            raise ValueError
        return int(value)
    if kind == "number":
        return float(value)
    if kind in ("date", "datetime", "time") and isinstance(value, str):
        return getattr(dt, kind).fromisoformat(value)
    return midnight(value) if kind == "datetime" else value


def infer_narrowest(values: Sequence[Any]) -> pa.Array:
    """Return cells in the narrowest type that holds all; a mixture becomes text."""
    kinds = {type(v) for v in values if v is not None}
    if kinds <= {float, int}:
        numbers = pa.array(values, pa.float64())
        whole = all(v is None or (float(v).is_integer() and abs(v) < EXACT) for v in values)
        if not kinds:
            return pa.array(values, pa.string())
        return pc.cast(numbers, pa.int64()) if whole else numbers
    for kind, word in ((bool, "boolean"), (dt.date, "date"), (dt.time, "time")):
        if kinds == {kind}:
            return pa.array(values, TYPES[word])
    if kinds <= {dt.date, dt.datetime}:
        return pa.array([midnight(v) for v in values], TYPES["datetime"])
    return pa.array([None if v is None else as_text(v) for v in values], pa.string())


def midnight(value: Any) -> Any:
    """Return a date as the moment it begins; a moment stays."""
    return dt.datetime(value.year, value.month, value.day) if type(value) is dt.date else value  # noqa: DTZ001 - Excel knows no zones


def as_text(value: Any) -> str:
    """Return a cell as text; 3.0 is written 3, as the sheet shows it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def write(data: Any, path: Path, options: Options) -> None:
    """Write an Excel workbook: the records, and a codebook with types, labels and missing codes."""
    table = data.to_arrow()
    columns = [cells(table.column(n)) for n in table.column_names]
    records = [table.column_names, *zip(*columns, strict=True)]
    described = [
        (f.name, type_name(f.type), describe.to_json({f.name: data.columns[f.name]}))
        for f in table.schema
    ]
    write_sheets({options.sheet or DATA: records, CODEBOOK: [TITLES, *described]}, path)


def write_sheets(
    sheets: Mapping[str, Sequence[Sequence[Any]]], path: Path, *, titled: bool = False
) -> None:
    """Write rows as the sheets of a workbook; ``titled`` sheets have a bold first row that stays in view."""
    try:
        from openpyxl import Workbook
        from openpyxl.utils.exceptions import IllegalCharacterError
    except ImportError:
        raise require("openpyxl", "files", "writing .xlsx files") from None
    if max(map(len, sheets.values())) > MAX_ROWS + 1:
        raise InputError(
            f"an Excel sheet holds at most {MAX_ROWS:,} rows; write Parquet or CSV instead"
        )
    book = Workbook(write_only=True)
    try:
        for name, rows in sheets.items():
            sheet = book.create_sheet(name)
            if titled:
                sheet.freeze_panes = "A2"
                for letter, width in column_widths(rows):
                    sheet.column_dimensions[letter].width = width
            for number, row in enumerate(rows):
                bold = titled and number == 0
                sheet.append([as_cell(sheet, v, bold=bold, plain=not titled) for v in row])
    except IllegalCharacterError:
        raise InputError(
            "some text holds control characters, which Excel cannot store; write Parquet or CSV instead"
        ) from None
    book.save(path)


def column_widths(rows: Sequence[Sequence[Any]]) -> Iterable[tuple[str, float]]:
    """Yield a width for each column of a sheet: a number that does not fit would show as ####."""
    from openpyxl.utils import get_column_letter

    for j, column in enumerate(zip(*rows[:LOOKED_AT], strict=False), 1):
        shown = (
            f"{v:,.{decimals_of_number(v)}f}" if isinstance(v, float) else str(v) for v in column
        )
        longest = max(map(len, shown))
        yield get_column_letter(j), float(min(max(longest + 2, 8), WIDEST))


def type_name(kind: pa.DataType) -> str:
    """Return the name under which the codebook keeps a type."""
    if pa.types.is_timestamp(kind):
        return "datetime"
    if pa.types.is_integer(kind):
        return "integer"
    return next((name for name, known in TYPES.items() if known == kind), "text")


def cells(column: pa.ChunkedArray) -> list[Any]:
    """Return a column as Excel can hold it; what it cannot hold exactly goes as text."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.timestamp("us"))
    values: list[Any] = column.to_pylist()
    if pa.types.is_integer(kind) and any(v is not None and abs(v) >= EXACT for v in values):
        return [None if v is None else str(v) for v in values]
    known = [v for v in values if v is not None]
    if (pa.types.is_date(kind) and any(v < FIRST_DAY for v in known)) or (
        pa.types.is_timestamp(kind) and any(v.date() < FIRST_DAY or v.microsecond for v in known)
    ):
        return [None if v is None else v.isoformat() for v in values]
    return values


def as_cell(sheet: Any, value: Any, *, bold: bool, plain: bool) -> Any:
    """Return a value as the sheet takes it: bare where it can be, else as a cell with its type.

    A text stays text whatever it begins with, and a number keeps all its digits.
    """
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    live = isinstance(value, str) and value.startswith(LIVE)
    number = isinstance(value, float) and np.isfinite(value)
    # openpyxl writes 16 digits, and some doubles need 17.
    long = number and float(f"{value:.16g}") != value
    if not (live or long or bold or (number and not plain)):
        return value
    made = WriteOnlyCell(sheet, value)
    if live:
        made.data_type, made.quotePrefix = "s", True
    if long:
        made._value, made.data_type = repr(value), "n"
    if bold:
        made.font = Font(bold=True)
    if number and not plain:
        # Thousands parted, and as many decimals as it has.
        decimals = decimals_of_number(value)
        made.number_format = "#,##0." + "0" * decimals if decimals else "#,##0"
    return made


def decimals_of_number(value: float) -> int:
    """Return the decimals of a number, at most nine."""
    if not np.isfinite(value):
        return 0
    return min(len(np.format_float_positional(value, trim="-").partition(".")[2]), 9)
