"""SPSS, Stata and SAS: files that carry labels, missing codes and formats along with the values.

Codes of missing answers stay in the data as they are and are listed in ``Column.missing``. Stata's and
SAS's lettered missing values (``.a`` to ``.z``) have no number of their own: they get those under which
Stata itself stores them in a long integer, 2147483622 for ``.a``, 2147483623 for ``.b`` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.roles import Column
from tacit.engine.base import Engine
from tacit.errors import InputError, UnreadableFile, require
from tacit.io import FileFormat, Loaded, Options
from tacit.io.frames import plain_table
from tacit.io.text import check_names

FORMAT = FileFormat(
    "records",
    reads=(".sav", ".zsav", ".dta", ".sas7bdat", ".xpt"),
    writes=("sav", "zsav", "dta"),
    rank=4,
)

READERS: Mapping[str, str] = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}

#: What Stata stores in a long integer for ``.``; the letters follow.
STATA_MISSING = 2_147_483_621
#: Used instead where data reach beyond it.
FAR_MISSING = 10**15
#: Largest value that Stata's long integer holds.
STATA_LARGEST = 2_147_483_620

EXACT = 2**53

WHOLE = re.compile(r"^(F\d+(\.0)?|%-?0?\d+\.0f|BEST\d*|N\d+)$", re.IGNORECASE)


def package(suffix: str) -> Any:
    """Return the package that knows these files."""
    try:
        import pyreadstat
    except ImportError:
        raise require("pyreadstat", "files", f"{suffix} files") from None
    return pyreadstat


def read(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read a file with its labels, missing codes and formats."""
    ending = path.suffix.lower()
    stat = package(ending)
    extra: dict[str, Any] = {} if ending == ".xpt" else {"user_missing": True}
    if options.encoding.lower() not in {"utf-8", "utf8"}:
        extra["encoding"] = options.encoding
    try:
        values, meta = getattr(stat, READERS[ending])(str(path), output_format="dict", **extra)
    except (
        stat.ReadstatError,
        stat.PyreadstatError,
        UnicodeError,
        OSError,
        ValueError,
        OverflowError,
    ):
        raise UnreadableFile(
            f"{path.name!r} is not a {ending} file, is damaged, or is encoded otherwise than it says (encoding='latin-1'?)"
        ) from None
    names = check_names(list(values), path.name)
    arrays: dict[str, pa.Array] = {}
    columns: dict[str, Column] = {}
    for name, raw in zip(names, values, strict=True):
        arrays[name], columns[name] = one_column(name, values[raw], meta, raw)
    frame = engine.number_rows(engine.from_arrow(plain_table(pa.table(arrays))))
    return Loaded(frame, columns)


def one_column(name: str, values: Sequence[Any], meta: Any, raw: str) -> tuple[pa.Array, Column]:
    """Return a column's values and what the file says about it."""
    letters = [str(v) for v in (meta.missing_user_values or {}).get(raw, ())]
    codes = letter_codes(values, letters) if letters else {}
    if codes:
        values = [codes.get(v, v) if isinstance(v, str) else v for v in values]
    stored = str((meta.readstat_variable_types or {}).get(raw, ""))
    shown = str((meta.original_variable_types or {}).get(raw) or "")
    array = to_array(values, stored, shown)
    whole = pa.types.is_integer(array.type)
    labels = {
        cast_code(codes.get(c, c), whole): str(t)
        for c, t in ((meta.variable_value_labels or {}).get(raw) or {}).items()
    }
    told = (meta.missing_ranges or {}).get(raw, ())
    pairs = [(r["lo"], r["hi"]) if isinstance(r, Mapping) else (r, r) for r in told]
    ranges = [(low, high) for low, high in pairs if low != high]
    discrete = [low for low, high in pairs if low == high]
    missing = [cast_code(m, whole) for m in (*codes.values(), *discrete)]
    missing += [
        cast_code(m, whole) for low, high in ranges for m in select_within_range(array, low, high)
    ]
    layout = {
        "shown": shown,
        "stored": stored,
        "measure": (meta.variable_measure or {}).get(raw),
        "width": (meta.variable_display_width or {}).get(raw),
        "letters": {letter: cast_code(code, whole) for letter, code in codes.items()},
        "missing_ranges": [list(r) for r in ranges],
    }
    return array, Column(
        name,
        label=(meta.column_names_to_labels or {}).get(raw) or "",
        labels=labels,
        missing=tuple(dict.fromkeys(missing)),
        format={k: v for k, v in layout.items() if v},
    )


def letter_codes(values: Sequence[Any], letters: Sequence[str]) -> dict[str, int]:
    """Return a number for each lettered missing value."""
    largest = max((v for v in values if isinstance(v, int | float)), default=0)
    base = STATA_MISSING if largest <= STATA_LARGEST else FAR_MISSING
    # SAS's ``._`` comes after z.
    places = [ord(one.lower()) - ord("a") if one.isalpha() else 26 for one in letters]
    return {letter: base + 1 + place for letter, place in zip(letters, places, strict=True)}


def to_array(values: Sequence[Any], stored: str, shown: str) -> pa.Array:
    """Return values in the type the file means: whole numbers were stored as floats, blanks are null."""
    if stored == "string":
        return pa.array([v or None for v in values], pa.string())
    array = pa.array(values, from_pandas=True)
    if pa.types.is_null(array.type):
        return pc.cast(array, pa.float64() if stored in {"double", "float"} else pa.int64())
    if pa.types.is_floating(array.type) and WHOLE.match(shown) and is_whole(array):
        return pc.cast(array, pa.int64())
    return array


def is_whole(array: pa.Array) -> bool:
    """Return True when every number is whole and small enough to be exact."""
    numbers = pc.drop_null(array).to_numpy(zero_copy_only=False)
    return bool(np.all((np.abs(numbers) < EXACT) & (numbers == np.floor(numbers))))


def cast_code(value: Any, whole: bool) -> Any:
    """Return a code in the type of its column."""
    if isinstance(value, float) and whole and value.is_integer():
        return int(value)
    if isinstance(value, int) and not whole:
        return float(value)
    return value


def select_within_range(array: pa.Array, low: float, high: float) -> list[Any]:
    """Return the values that occur within a range of missing codes."""
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        return []
    inside = pc.and_(pc.greater_equal(array, low), pc.less_equal(array, high))
    found = pc.unique(array.filter(inside))
    return sorted(v for v in found.to_pylist() if v is not None)


def write(data: Any, path: Path, options: Options) -> None:
    """Write SPSS or Stata with labels, missing codes and formats."""
    del options
    stat = package(path.suffix)
    try:
        import polars as pl
    except ImportError:
        raise require("polars", "files", f"writing {path.suffix} files") from None
    table = data.to_arrow()
    stata = path.suffix.lower() == ".dta"
    described = {
        n: drop_unfitting_codes(data.columns[n], table.column(n).type, stata=stata)
        for n in table.column_names
    }
    series = {
        n: to_series(pl, table.column(n), described[n], stata=stata) for n in table.column_names
    }
    common: dict[str, Any] = {
        "column_labels": {n: c.label for n, c in described.items() if c.label},
        "variable_value_labels": {
            n: value_labels(c, table.column(n).type) for n, c in described.items() if c.labels
        },
        "variable_format": {
            n: f for n, c in described.items() if (f := display(c, table.column(n), stata=stata))
        },
    }
    if stata:
        common["missing_user_values"] = {
            n: list(c.format["letters"]) for n, c in described.items() if c.format.get("letters")
        }
    else:
        common["missing_ranges"] = {n: m for n, c in described.items() if (m := spss_missing(c, n))}
        common["variable_measure"] = {
            n: c.format["measure"] for n, c in described.items() if c.format.get("measure")
        }
        common["compress"] = path.suffix.lower() == ".zsav"
    frame = pl.DataFrame(series)
    try:
        (stat.write_dta if stata else stat.write_sav)(frame, str(path), **common)
    except (stat.ReadstatError, stat.PyreadstatError) as error:
        raise InputError(
            f"cannot write {path.name!r}: {writer_fault(error, table.column_names)}"
        ) from None


def drop_unfitting_codes(column: Column, kind: pa.DataType, *, stata: bool) -> Column:
    """Return the description without codes of another type: a column that was recoded keeps its title.

    Stata has no labels for text.
    """
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    fits = {
        code: text
        for code, text in column.labels.items()
        if isinstance(code, str) != number and (number or not stata)
    }
    missing = tuple(m for m in column.missing if isinstance(m, str) != number)
    layout = column.format
    if not number:
        layout = {k: v for k, v in layout.items() if k not in {"letters", "missing_ranges"}}
    return replace(column, labels=fits, missing=missing, format=layout)


def writer_fault(error: Exception, names: Sequence[str]) -> str:
    """Return why the format refuses the data, by column where that is known."""
    text = str(error)
    named = [n for n in names if n and n in text]
    reason = "the format cannot hold it"
    if "name" in text.lower():
        reason = "names must begin with a letter and hold letters, digits and '_'"
    return f"column {named[0]!r}: {reason}" if named else reason


def to_series(pl: Any, column: pa.ChunkedArray, described: Column, *, stata: bool) -> Any:
    """Return a column as the writer takes it."""
    kind = column.type
    letters = described.format.get("letters") if stata else None
    if letters and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        back = {code: letter for letter, code in letters.items()}
        return pl.Series([back.get(v, v) for v in column.to_pylist()], dtype=pl.Object)
    if pa.types.is_boolean(kind):
        column = pc.cast(column, pa.int32())
    elif pa.types.is_integer(kind):
        column = stored_integers(column, described.name, stata=stata)
    elif pa.types.is_timestamp(kind) and kind.tz is not None:
        column = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.timestamp("us"))
    series = pl.from_arrow(column)
    # A column without any value still needs a type that the writer knows.
    return series.cast(pl.String) if series.dtype == pl.Null else series


def stored_integers(column: pa.ChunkedArray, name: str, *, stata: bool) -> pa.ChunkedArray:
    """Return integers as the format stores them: long where they fit, else double."""
    limits = pc.min_max(column).as_py()
    largest = max(abs(limits["min"] or 0), abs(limits["max"] or 0))
    if largest >= EXACT:
        raise InputError(
            f"column {name!r} holds integers beyond 2^53, which the format cannot store exactly; write Parquet or CSV"
        )
    long = stata and largest <= STATA_LARGEST
    return pc.cast(column, pa.int32() if long else pa.float64())


def value_labels(column: Column, kind: pa.DataType) -> dict[Any, str]:
    """Return value labels in the type of the column, letters put back."""
    letters = {code: letter for letter, code in (column.format.get("letters") or {}).items()}
    whole = pa.types.is_integer(kind)
    return {letters.get(code, cast_code(code, whole)): text for code, text in column.labels.items()}


def display(column: Column, values: pa.ChunkedArray, *, stata: bool) -> str | None:
    """Return the display format: that of the file of origin if it fits, else one that keeps the type."""
    kind, shown = values.type, str(column.format.get("shown") or "")
    own = shown.startswith("%") == stata and bool(shown)
    if pa.types.is_integer(kind):
        if own and (WHOLE.match(shown) or stata):
            return shown
        large = (pc.max(pc.abs(values)).as_py() or 0) > STATA_LARGEST
        return ("%18.0f" if large else None) if stata else "F16.0" if large else "F8.0"
    if not own or not pa.types.is_floating(kind):
        return None
    return None if WHOLE.match(shown) and not is_whole(values.combine_chunks()) else shown


def spss_missing(column: Column, name: str) -> list[Any]:
    """Return missing codes as SPSS takes them: three single ones, or one range and one single."""
    ranges = [{"lo": low, "hi": high} for low, high in column.format.get("missing_ranges") or ()]
    single = [
        m
        for m in column.missing
        if isinstance(m, str) or not any(r["lo"] <= m <= r["hi"] for r in ranges)
    ]
    if len(ranges) > 1 or len(single) > (1 if ranges else 3):
        raise InputError(
            f"column {name!r} has more missing codes than SPSS can declare (three, or one and a range)"
        )
    return [*ranges, *single]
