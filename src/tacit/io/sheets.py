"""Plain table files: one row per cell (long) or a cross-table (wide), in CSV, Parquet or Excel."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.data.cells.dimension import TOTAL, Dimension
from tacit.data.cells.status import WORDS, Status
from tacit.data.hierarchy import Hierarchy
from tacit.data.paths import require_file
from tacit.data.table import Table
from tacit.errors import InputError, UnreadableFile, require_columns
from tacit.io.excel import workbook_rows
from tacit.io.hrc import hrc_dimension
from tacit.io.lines import plain_number, rows_of, text_of
from tacit.io.listed import Listed, Totals, table_of

SHEETS = {".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"}
TEXTS = {".csv", ".tsv", ".txt", ".tab", ".dat"}

#: Codes that are taken as the total when none is named.
USUAL_TOTALS = (
    "total",
    "tot",
    "totals",
    "all",
    "sum",
    "_t",
    "*",
    "ensemble",
    "insgesamt",
    "totaal",
)

GivenDimension = Dimension | Hierarchy | str | Path | Sequence[tuple[str, Sequence[str]]] | None

BY_WORD = {word: status for status, word in WORDS.items()} | {
    "s": Status.SAFE_MANUAL,
    "u": Status.UNSAFE_MANUAL,
    "p": Status.PROTECTED,
    "z": Status.PROTECTED,
    "m": Status.SECONDARY,
    "e": Status.EMPTY,
    "unsafe": Status.UNSAFE,
    "protected": Status.PROTECTED,
    "": Status.SAFE,
}


def read_table(
    source: str | Path,
    dimensions: Mapping[str, GivenDimension] | Sequence[str],
    value: str,
    *,
    count: str | None = None,
    status: str | None = None,
    weight: str | None = None,
    lower: str | float | None = None,
    upper: str | float | None = None,
    lower_level: str | None = None,
    upper_level: str | None = None,
    sliding_level: str | None = None,
    top: Sequence[str] = (),
    totals: Totals = "check",
    total: str | Mapping[str, str] | None = None,
    frequency: bool | None = None,
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str = "utf-8",
) -> Table:
    """Read a table with one row per cell from CSV, Parquet or Excel.

    Parameters
    ----------
    source
        The file; the first row holds the column titles.
    dimensions
        The columns with codes, or column to dimension: a :class:`~tacit.data.cells.dimension.Dimension`, a
        hierarchy, the path of an ``.hrc`` file, pairs (parent, children), or None for a flat one.
    value, count, status, weight, lower_level, upper_level, sliding_level
        The columns for these; see :class:`~tacit.data.table.Table`. A status is a word, a letter
        (s, u, p, m, e) or a number from 1 to 14.
    lower, upper
        What outsiders know: a column, or one number for all cells.
    top
        The columns with the largest contributions.
    totals
        ``check``: totals must be there and add up; ``recompute``: add them up from the ground cells;
        ``free``: nothing need add up.
    total
        The code of the totals, or column to code; by default ``Total`` or a usual word for it.
    frequency
        Whether the values are counts; by default when value and count are the same column.
    separator, encoding, sheet
        For text: what parts the fields (by default found from the first line), and how it is encoded.
        For Excel: the sheet, by default the first.

    Returns
    -------
    Table
        Cells that the file does not list are empty.

    Raises
    ------
    NotAdditive
        Naming the sums that do not hold.
    ColumnNotFound, UnreadableFile
        Naming the column, or the record that cannot be read.
    """
    file = Path(source)
    columns = columns_of(file, separator, sheet, encoding)
    names = list(dimensions)
    numeric = [count, weight, lower_level, upper_level, sliding_level, *top]
    wanted = [*names, value, status, *(x for x in (lower, upper) if isinstance(x, str)), *numeric]
    require_columns((c for c in wanted if c is not None), columns, repr(file.name))
    codes = {n: [word_of(x) for x in columns[n]] for n in names}
    given = dimensions if isinstance(dimensions, Mapping) else {}
    made = [dimension_from(n, given.get(n), codes[n], total, totals) for n in names]

    def numbers(name: str | float | None) -> Floats | None:
        return numbers_in(columns[name], file.name, name) if isinstance(name, str) else None

    values = numbers(value)
    assert values is not None
    largest = [x for x in map(numbers, top) if x is not None]
    listed = Listed(
        codes=[codes[n] for n in names],
        value=values,
        count=numbers(count),
        status=None if status is None else statuses_in(columns[status], file.name),
        weight=numbers(weight),
        lower=numbers(lower),
        upper=numbers(upper),
        lower_level=numbers(lower_level),
        upper_level=numbers(upper_level),
        sliding_level=numbers(sliding_level),
        top=-np.sort(-np.stack(largest, axis=1), axis=1) if largest else None,
    )
    return table_of(
        made,
        listed,
        where=repr(file.name),
        totals=totals,
        response=value,
        frequency=count == value if frequency is None else frequency,
        lower=None if isinstance(lower, str) else lower,
        upper=None if isinstance(upper, str) else upper,
        source=str(file),
    )


def read_wide(
    source: str | Path,
    *,
    rows: GivenDimension = None,
    columns: GivenDimension = None,
    names: tuple[str, str] | None = None,
    count: str | Path | None = None,
    totals: Totals = "check",
    total: str | tuple[str, str] | None = None,
    response: str = "value",
    frequency: bool = False,
    lower: float | None = None,
    upper: float | None = None,
    separator: str | None = None,
    sheet: str | None = None,
    encoding: str = "utf-8",
) -> Table:
    """Read a cross-table from CSV or Excel: codes in the first row and in the first column.

    Parameters
    ----------
    source
        The file.
    rows, columns
        The dimensions, as in :func:`read_table`; None for flat ones.
    names
        Their names; by default the text in the corner and ``column``.
    count
        A file (or, in Excel, a sheet) of the same layout with the contributors of each cell.
    totals, total, lower, upper, separator, sheet, encoding
        As in :func:`read_table`; ``total`` may be one code for rows and another for columns.
    response, frequency
        What the values are, and whether they are counts.

    Returns
    -------
    Table
        Blank fields and ``-`` are empty cells.
    """
    file = Path(source)
    grid = grid_of(file, separator, sheet, encoding)
    if len(grid) < 2 or len(grid[0]) < 2:
        raise UnreadableFile(f"{file.name!r} has no cross-table: codes and at least one value")
    titles = names or (word_of(grid[0][0]) or "row", "column")
    listed = cross(grid, file.name)
    if count is not None:
        # Another file, or another sheet of the same workbook.
        beside = not Path(count).is_file() and file.suffix.lower() in SHEETS
        source, page = (file, str(count)) if beside else (Path(count), None)
        counted = cross(grid_of(source, separator, page, encoding), file.name)
        if counted.codes != listed.codes:
            raise InputError("the table of counts has other rows or columns than the values")
        listed.count = counted.value
    marks = total if isinstance(total, tuple) else (total, total)
    made = [
        dimension_from(name, given, own, mark, totals)
        for name, given, own, mark in zip(titles, (rows, columns), listed.codes, marks, strict=True)
    ]
    return table_of(
        made,
        listed,
        where=repr(file.name),
        totals=totals,
        response=response,
        frequency=frequency,
        lower=lower,
        upper=upper,
        source=str(file),
    )


def cross(grid: Sequence[Sequence[Any]], name: str) -> Listed:
    """Return the cells of a cross-table, row by row; blank ones are left out."""
    heads = [word_of(x) for x in grid[0][1:]]
    while heads and not heads[-1]:
        heads.pop()
    if not all(heads) or len(set(heads)) < len(heads):
        raise UnreadableFile(f"{name!r}: a code in the first row is missing or stands twice")
    down, across, values = list[str](), list[str](), list[Any]()
    for line in grid[1:]:
        own = word_of(line[0])
        if not own:
            raise UnreadableFile(f"{name!r}: a code in the first column is missing")
        for code, x in zip(heads, line[1:], strict=False):
            if x is not None and str(x).strip() not in {"", "-"}:
                down.append(own)
                across.append(code)
                values.append(x)
    return Listed(codes=[down, across], value=numbers_in(values, name, "values"))


# -- reading files -------------------------------------------------------------------------------


def columns_of(
    file: Path, separator: str | None, sheet: str | None, encoding: str
) -> dict[str, list[Any]]:
    """Return a file as columns."""
    if file.suffix.lower() in {".parquet", ".pq"}:
        import pyarrow.parquet as pq

        require_file(file)
        return {str(k): list(v) for k, v in pq.read_table(file).to_pydict().items()}
    titles, *body = grid_of(file, separator, sheet, encoding)
    names = [word_of(t) for t in titles]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise UnreadableFile(f"{file.name!r}: the column {twice!r} stands twice")
    ragged = next((i for i, row in enumerate(body, 1) if len(row) != len(names)), None)
    if ragged is not None:
        raise UnreadableFile(
            f"{file.name!r}, record {ragged}: {len(body[ragged - 1])} fields under {len(names)} titles"
        )
    return {n: [row[i] for row in body] for i, n in enumerate(names)}


def grid_of(file: Path, separator: str | None, sheet: str | None, encoding: str) -> list[list[Any]]:
    """Return the rows of a text file or a sheet."""
    ending = file.suffix.lower()
    if ending in SHEETS:
        return workbook_rows(file, sheet)
    if ending not in TEXTS:
        raise UnreadableFile(
            f"{file.name!r} is no table file: .csv, .tsv, .txt, .parquet, .xlsx, .xls or .ods"
        )
    first = text_of(file, encoding).lstrip().partition("\n")[0]
    mark = separator or max(("\t", ";", ",", "|"), key=first.count)
    rows = rows_of(file, mark, encoding)
    if not rows:
        raise UnreadableFile(f"the file {file.name!r} is empty")
    comma = mark == ","
    return [[decimal_point(x) if not comma else x for x in row] for row in rows]


def decimal_point(text: str) -> str:
    """Return a number that was written with a decimal comma with a point; other text as it is."""
    if text.count(",") == 1 and "." not in text and plain_number(text) is not None:
        return text.replace(",", ".")
    return text


def word_of(x: Any) -> str:
    """Return a code as text; a whole number has no decimals."""
    if x is None:
        return ""
    if isinstance(x, float) and x == int(x):
        return str(int(x))
    if isinstance(x, dt.datetime) and x.time() == dt.time():
        return x.date().isoformat()
    return str(x).strip()


def numbers_in(values: Sequence[Any], name: str, column: object) -> Floats:
    """Return a column of numbers; blank and ``-`` are 0."""
    out = np.zeros(len(values))
    for i, x in enumerate(values):
        if x is None or x in {"", "-"}:
            continue
        number = float(x) if isinstance(x, int | float) else plain_number(str(x), comma=False)
        if number is None or np.isnan(number):
            raise UnreadableFile(f"{name!r}, column {column!r}, record {i + 1}: no number")
        out[i] = number
    return out


def statuses_in(values: Sequence[Any], name: str) -> npt.NDArray[np.int8]:
    """Return statuses from words, letters or numbers."""
    known = {str(int(s)): s for s in Status} | BY_WORD
    out = np.empty(len(values), dtype=np.int8)
    for i, x in enumerate(values):
        found = known.get(word_of(x).lower())
        if found is None:
            raise UnreadableFile(f"{name!r}, record {i + 1}: {word_of(x)!r} is no status")
        out[i] = found
    return out


# -- dimensions ----------------------------------------------------------------------------------


def dimension_from(
    name: str,
    given: GivenDimension,
    codes: Sequence[str],
    total: str | Mapping[str, str] | None,
    totals: Totals,
) -> Dimension:
    """Return the dimension of a column of codes."""
    if isinstance(given, Dimension):
        return given
    named = total.get(name) if isinstance(total, Mapping) else total
    occurring = list(dict.fromkeys(c for c in codes if c))
    lowered = {c.lower(): c for c in reversed(occurring)}
    mark = named or next((lowered[w] for w in USUAL_TOTALS if w in lowered), None)
    if isinstance(given, Hierarchy):
        return Dimension.from_hierarchy(name, given, total=mark or TOTAL)
    if isinstance(given, str | Path):
        if Path(given).suffix.lower() != ".hrc":
            raise InputError(f"the dimension {name!r} is given as a file that is no .hrc hierarchy")
        return hrc_dimension(given, name, total=mark or TOTAL)
    if given is not None:
        return Dimension.from_relations(name, given)
    if mark is None and totals == "check":
        raise InputError(
            f"no code of {name!r} is a total: name it with total=, or add totals up with "
            'totals="recompute"'
        )
    ground = [c for c in occurring if c != (mark or TOTAL)]
    return Dimension.flat(name, ground, total=mark or TOTAL)
