"""Cells one by one, from whatever holds them: a Table, records, a frame or a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.table import Table
from tacit.engine.codes import encode
from tacit.errors import ColumnNotFound, InputError
from tacit.tables.compare.layout import Declared, Side, declared_side, full_side, names_of

if TYPE_CHECKING:
    from tacit.tables.compare.table_comparison import TableComparison

MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Entries:
    """Cells with a category of every variable each; what is not listed is 0."""

    #: The variables.
    names: tuple[str, ...]
    #: For each variable, the category of each cell, and its categories as text.
    codes: tuple[Ints, ...]
    categories: tuple[tuple[str, ...], ...]
    #: The values; NaN is withheld.
    value: Floats
    #: How many stand behind each cell, where values are not counts.
    units: Floats | None = None
    #: For each variable, the category that is its total, if any.
    totals: tuple[str | None, ...] = ()
    #: True when cells were counted from records: a line that is not there is then empty.
    records: bool = False


def entries_of_table(
    table: Table, rows: Sequence[str], columns: Sequence[str], *, truth: bool
) -> Entries:
    """Return the ground cells and margins of a table; variables left out are taken at their total."""
    unknown = [n for n in (*rows, *columns) if n not in table.names]
    if unknown:
        raise ColumnNotFound(unknown, list(table.names), "the table")
    kept = np.ones(len(table), dtype=bool)
    for at, d in enumerate(table.dimensions):
        wanted = np.zeros(len(d), dtype=bool)
        wanted[d.total] = True
        if d.name in rows or d.name in columns:
            wanted[d.leaves] = True
        kept &= wanted[table.places[:, at]]
    spanning = [table.names.index(n) for n in (*rows, *columns)]
    own = [table.dimensions[i] for i in spanning]
    counted = not table.frequency and bool((table.count[kept] >= 0).all())
    return Entries(
        (*rows, *columns),
        tuple(table.places[kept, i].astype(np.int64) for i in spanning),
        tuple(d.codes for d in own),
        (table.value if truth else table.published)[kept],
        table.count[kept].astype(np.float64) if counted else None,
        tuple(d.codes[d.total] for d in own),
    )


def entries_of_records(
    data: Microdata, rows: Sequence[str], columns: Sequence[str], value: str | None
) -> Entries:
    """Return the cells of records: one group-by on the engine; a missing value is a category."""
    names = (*rows, *columns)
    if not names:
        raise InputError(
            "a table of microdata needs rows= and columns=, the variables that span it"
        )
    if len(set(names)) < len(names):
        raise InputError("a variable stands both in the rows and in the columns of the table")
    missing = [n for n in (*names, *([value] if value else ())) if n not in data.columns]
    if missing:
        raise ColumnNotFound(missing, list(data.columns), "the data")
    if value is not None and not data.frame.collect_schema()[value].is_numeric():
        raise InputError(f"column {value!r} is not numeric, so it cannot be summed in the cells")
    cells = data.cells(names, weight=value)
    counts = cells.n.astype(np.float64)
    return Entries(
        names,
        tuple(cells.keys[n].codes.astype(np.int64) for n in names),
        tuple(as_labels(cells.keys[n].values) for n in names),
        counts if cells.weight is None else np.nan_to_num(cells.weight),
        None if cells.weight is None else counts,
        (None,) * len(names),
        records=True,
    )


def entries_of_frame(source: Any, reading: TableComparison) -> Entries:
    """Return the cells of a frame or file: one line per cell where a value is named, else one per row."""
    table = read_frame(source, reading.marks)
    rows, columns, total = reading.rows, reading.columns, reading.total
    if reading.value is None:
        return entries_of_wide(table, rows, columns, total)
    units = reading.contributors if isinstance(reading.contributors, str) else None
    return entries_of_long(table, names_of(rows), names_of(columns), reading.value, units, total)


def read_frame(source: Any, marks: Sequence[str]) -> pa.Table:
    """Return a file or frame as an Arrow table; marks of suppression become null."""
    from tacit.io.read import read

    options: dict[str, Any] = {"missing": list(marks)} if marks else {}
    if isinstance(source, str | Path) or marks or not isinstance(source, pa.Table):
        return read(source, **options).to_arrow()
    return source


def entries_of_long(
    table: pa.Table,
    rows: Sequence[str],
    columns: Sequence[str],
    value: str,
    contributors: str | None,
    total: str | None,
) -> Entries:
    """Return the cells of a frame with one line per cell."""
    names = (*rows, *columns)
    require_columns(table, [*names, value, *([contributors] if contributors else [])])
    if not columns:
        raise InputError("a table in long form needs columns=, the variables that span its columns")
    coded = [encode(table.column(n)) for n in names]
    return Entries(
        names,
        tuple(c.codes.astype(np.int64) for c in coded),
        tuple(as_labels(c.values) for c in coded),
        column_numbers(table, value),
        None if contributors is None else np.nan_to_num(column_numbers(table, contributors)),
        (total,) * len(names),
    )


def entries_of_wide(
    table: pa.Table, rows: Declared | None, columns: Declared | None, total: str | None
) -> Entries:
    """Return the cells of a frame with one line per row; columns that are not labels hold cells."""
    labels = [] if isinstance(rows, Mapping) else names_of(rows)
    require_columns(table, labels)
    inside = [n for n in table.column_names if n not in labels and n != total]
    if not inside:
        raise InputError("the table has no cells")
    down, across = wide_rows(table, rows, labels), wide_columns(columns, inside)
    if len({tuple(c[i] for c in down.codes) for i in range(table.num_rows)}) < table.num_rows:
        raise InputError("two rows of the table have the same labels")
    width, categories, codes = len(inside), across.categories, across.codes
    if total is not None and total in table.column_names:
        inside, width = [*inside, total], width + 1
        codes = tuple(np.append(c, len(own)) for c, own in zip(codes, categories, strict=True))
        categories = tuple((*own, total) for own in categories)
    values = np.column_stack([column_numbers(table, n) for n in inside])
    return Entries(
        (*down.names, *across.names),
        (
            *(np.repeat(c, width) for c in down.codes),
            *(np.tile(c, table.num_rows) for c in codes),
        ),
        (*down.categories, *categories),
        values.ravel(),
        totals=(total,) * (len(down.names) + len(across.names)),
    )


def wide_rows(table: pa.Table, rows: Declared | None, labels: Sequence[str]) -> Side:
    """Return what the lines of a wide frame stand for: labels in order of appearance, or as declared."""
    if not labels:
        return declared_side(rows, table.num_rows, "row")
    coded = [pc.dictionary_encode(table.column(n).combine_chunks()) for n in labels]
    codes = [
        pc.fill_null(c.indices, len(c.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
        for c in coded
    ]
    return Side(tuple(labels), tuple(codes), tuple(as_labels(c.dictionary) for c in coded))


def wide_columns(columns: Declared | None, inside: Sequence[str]) -> Side:
    """Return what the columns of a wide frame stand for: their names, or combinations as declared."""
    if isinstance(columns, Mapping):
        return declared_side(columns, len(inside), "column")
    return full_side({(names_of(columns) or ["column"])[0]: inside})


def require_columns(table: pa.Table, names: Sequence[str]) -> None:
    """Refuse columns that a frame does not have."""
    missing = [n for n in names if n not in table.column_names]
    if missing:
        raise ColumnNotFound(missing, table.column_names, "the table")


def column_numbers(table: pa.Table, name: str) -> Floats:
    """Return a column as numbers, NaN where it is null."""
    try:
        column = table.column(name).cast(pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {name!r} of the table holds cells that are not numbers; name marks of "
            "suppression with marks=, and columns with labels with rows="
        ) from None
    return np.asarray(column.to_numpy(), dtype=np.float64)


def as_labels(values: pa.Array) -> tuple[str, ...]:
    """Return values as labels, and one more for null."""
    return (*(str(v) for v in values.to_pylist()), MISSING)
