r"""Separated text (CSV, TSV). Types are inferred so that nothing is lost.

A column becomes integer only when every value is written as one (no leading zeros, no plus sign, at
most 18 digits), and number only when every value is a plain decimal; all else stays text. So ``02139``
stays ``02139`` and ``09/20/65`` is not taken for a date. In a column of numbers the marks ``NA``,
``NaN`` and ``.`` are missing values; in a column of text they are text, unless the caller says
otherwise (``missing=["NA"]``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from tacit.engine import text as parser
from tacit.engine.arrow import set_columns, sort_by_row
from tacit.engine.base import ROW, Engine
from tacit.engine.memory import held_table
from tacit.engine.names import check_names as refuse_names
from tacit.errors import InputError, UnreadableFile, require_columns
from tacit.events import can_interrupt
from tacit.io import FileFormat, Loaded, Options

FORMAT = FileFormat(
    "records",
    reads=(".csv", ".tsv", ".txt"),
    writes=("csv", "tsv"),
    rank=1,
    strips_titles=(".csv", ".tsv", ".txt"),
    sees_types=True,
)

# ``\z`` and not ``$``: on some engines ``$`` also matches before a last line feed.
INTEGER = r"^(0|-?[1-9][0-9]{0,17})\z"
# Exponents that a double holds: beyond them a number would become zero or infinite.
EXPONENT = r"([eE](\+?(0?[0-9]{1,2}|1[0-9]{2}|2[0-8][0-9])|-(0?[0-9]{1,2}|[12][0-9]{2}|30[0-8])))?"
NUMBER = rf"^-?((0|[1-9][0-9]{{0,14}})(\.[0-9]+)?|\.[0-9]+){EXPONENT}\z"

#: What a caller may force: leading zeros and signs are then allowed.
FORCED: Mapping[str, str] = {
    "integer": r"^[-+]?[0-9]{1,18}\z",
    "number": rf"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+){EXPONENT}\z",
    "date": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\z",
}

#: Marks of a missing value in a column of numbers.
MARKS = ("NA", "NaN", ".")

#: Records that are looked at first when types are inferred.
SAMPLE = 4096

SEPARATORS = (",", ";", "\t", "|")

UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read a text file on the engine."""
    encoding = encoding_of(path, options.encoding)
    separator = options.separator or (
        "\t" if path.suffix.lower() == ".tsv" else guess_separator(first_line(path, encoding))
    )
    if len(separator) != 1 or len(options.quote) > 1 or not is_plain(separator + options.quote):
        raise InputError(
            "separator must be one plain (ASCII) character, and quote one or empty; neither ends a line"
        )
    names = column_names(path, separator, options, encoding)
    form = parser.Form(path, tuple(names), separator, options.quote, options.header, encoding)
    frame = engine.scan_text(form)
    return Loaded(infer(engine.materialise(frame), names, options, engine))


def encoding_of(path: Path, given: str) -> str:
    """Return the encoding, which a byte order mark overrides; refuse what is no text at all."""
    with path.open("rb") as file:
        start = file.read(1 << 16)
    if start.startswith(UTF16):
        return "utf-16"
    if b"\0" in start and "16" not in given and "32" not in given:
        raise UnreadableFile(f"{path.name!r} is not a text file")
    return given


def first_line(path: Path, encoding: str) -> str:
    """Return the first line that is not blank."""
    try:
        with path.open(encoding="utf-8-sig" if parser.is_utf8(encoding) else encoding) as file:
            return next((line for line in file if line.strip()), "")
    except (UnicodeError, LookupError):
        raise parser.not_encoded(path, encoding) from None


def is_plain(text: str) -> bool:
    """Return True for characters that a parser takes as marks."""
    return text.isascii() and not set(text) & set("\0\r\n")


def guess_separator(line: str) -> str:
    """Return the separator that occurs most often in the header."""
    return max(SEPARATORS, key=line.count)


def column_names(path: Path, separator: str, options: Options, encoding: str) -> list[str]:
    """Return the names in the first record; blank ones become V1, V2, ...; double ones are refused."""
    first = parser.records(path, separator, options.quote, encoding, 1)
    if not first:
        raise UnreadableFile(f"the file {path.name!r} holds only blank lines")
    titles = first[0] if options.header else [""] * len(first[0])
    return check_names(titles, path.name)


def check_names(titles: Sequence[str], source: str) -> list[str]:
    """Return column names: stripped, blanks filled; a name that occurs twice is an error."""
    names = [t.strip() or f"V{j + 1}" for j, t in enumerate(titles)]
    refuse_names(names, repr(source), UnreadableFile)
    return names


def infer(
    frame: nw.LazyFrame[Any], names: list[str], options: Options, engine: Engine
) -> nw.LazyFrame[Any]:
    """Cast each column to the narrowest type that keeps every value."""
    require_columns(options.types, names, "the file")
    if options.missing:
        codes = [str(m) for m in options.missing]
        known = [nw.when(~nw.col(n).is_in(codes)).then(nw.col(n)).alias(n) for n in names]
        frame = frame.with_columns(*known)
    kinds = infer_kinds(frame, names, options.types)
    if (held := held_table(frame)) is not None and not options.types:
        numbers = {n: cast_column(held.column(n), k) for n, k in kinds.items() if k != "text"}
        return engine.from_arrow(set_columns(held, numbers)) if numbers else frame
    casts = {n: cast(n, kind) for n, kind in kinds.items() if kind != "text"}
    if not casts and not options.missing:
        return frame
    return materialise_cast(engine, frame, casts)


def infer_kinds(
    frame: nw.LazyFrame[Any], names: Sequence[str], types: Mapping[str, str]
) -> dict[str, str]:
    """Return the type of each column.

    Patterns are slow. One value that is no number makes a column text, so some records settle most
    columns, and only the others are counted in full.
    """
    held = held_table(frame)
    if held is not None and not types:
        return {n: column_kind(held.column(n)) for n in names}
    first = count_forms(frame.head(SAMPLE), names, types)
    unsettled = [n for j, n in enumerate(names) if n in types or not is_text(j, first)]
    counted = count_forms(frame, unsettled, types) if unsettled else {}
    found = {n: kind_of(n, j, counted, types) for j, n in enumerate(unsettled)}
    return {n: found.get(n, "text") for n in names}


def column_kind(column: pa.ChunkedArray) -> str:
    """Return the type of a column in memory: the same answer, without counting what is settled already."""
    sample = column.slice(0, SAMPLE)
    forms = {"integer": INTEGER, "number": NUMBER}
    possible = [k for k, form in forms.items() if every_value_fits(sample, form) is not False]
    if possible and len(pc.unique(sample)) <= len(sample) // 2:
        column = pa.chunked_array([pc.unique(column)])
    return next((k for k in possible if every_value_fits(column, forms[k])), "text")


def every_value_fits(column: pa.ChunkedArray, pattern: str) -> bool | None:
    """Return True when every value but marks has the form and some do; None where only marks are known."""
    fits = pc.match_substring_regex(column, pattern)
    known = len(column) - column.null_count
    fitting = int(pc.sum(fits).as_py() or 0)
    if fitting < known:
        marks = pc.is_in(column, pa.array(MARKS, column.type))
        known -= int(pc.sum(marks).as_py() or 0)
    if not fitting:
        return None if not known else False
    return fitting == known


def is_text(j: int, counted: Mapping[str, int]) -> bool:
    """Return True when some values of a column are no integers, and some are no numbers."""
    known = counted[f"any{j}"] - counted[f"mark{j}"]
    return counted[f"integer{j}"] < known and counted[f"number{j}"] < known


def count_forms(
    frame: nw.LazyFrame[Any], names: Sequence[str], types: Mapping[str, str]
) -> Mapping[str, int]:
    """Count, in one pass, how many values of each column have which form."""
    checks: list[nw.Expr] = []
    for j, name in enumerate(names):
        column = nw.col(name)
        forms = {"any": ~column.is_null(), "mark": column.is_in(list(MARKS))}
        if name in types:
            forms["fit"] = column.str.contains(FORCED.get(types[name], ""))
        else:
            forms |= {
                "integer": column.str.contains(INTEGER),
                "number": column.str.contains(NUMBER),
            }
        checks += [
            nw.when(form).then(nw.lit(1)).sum().cast(nw.Int64).alias(f"{kind}{j}")
            for kind, form in forms.items()
        ]
    row: dict[str, int | None] = frame.select(*checks).collect("pyarrow").rows(named=True)[0]
    return {key: value or 0 for key, value in row.items()}


def kind_of(name: str, j: int, counted: Mapping[str, int], types: Mapping[str, str]) -> str:
    """Return the type of a column: the forced one if every value fits it, else the narrowest."""
    values, marks = counted[f"any{j}"], counted[f"mark{j}"]
    if name in types:
        kind = types[name]
        unfit = values - marks - counted[f"fit{j}"]
        if kind != "text" and unfit:
            raise make_misfit_error(name, kind, unfit)
        return kind
    for kind in ("integer", "number"):
        fitting = counted[f"{kind}{j}"]
        if fitting and fitting + marks == values:
            return kind
    return "text"


def make_misfit_error(name: str, kind: str, n: int) -> InputError:
    """Return the error for values that do not fit a forced type; they are counted, not quoted."""
    forms = {"date": "a date written as YYYY-MM-DD", "integer": "a whole number"}
    form = forms.get(kind, "a number")
    values = "1 value is" if n == 1 else f"{n:,} values are"
    return InputError(
        f"column {name!r}: {values} not {form}. Name missing codes with missing=[...], or read it as text."
    )


def cast(name: str, kind: str) -> nw.Expr:
    """Return a column with its marks as null, cast."""
    column = nw.when(~nw.col(name).is_in(list(MARKS))).then(nw.col(name))
    if kind == "date":
        return column.str.to_datetime(format="%Y-%m-%d").dt.date().alias(name)
    return column.cast(nw.Int64 if kind == "integer" else nw.Float64).alias(name)


def cast_column(column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    """Return a column in memory, whose values are known to have the form, with its marks as null, cast."""
    marks = pc.is_in(column, pa.array(MARKS, column.type))
    if pc.any(marks).as_py():
        column = pc.if_else(marks, pa.scalar(None, column.type), column)
    return column.cast(pa.int64() if kind == "integer" else pa.float64())


def materialise_cast(
    engine: Engine, frame: nw.LazyFrame[Any], casts: Mapping[str, nw.Expr]
) -> nw.LazyFrame[Any]:
    """Compute the casts; an engine's message could quote a value, so it is not passed on."""
    try:
        held = held_table(frame)
        if held is None:
            return engine.materialise(frame.with_columns(*casts.values()) if casts else frame)
        new = engine.to_arrow(frame.select(*casts.values(), ROW).sort(ROW))
    except Exception:  # noqa: BLE001 - every engine has its own class
        raise InputError(
            "a value does not fit the type asked for its column (a date that is not in the calendar?)"
        ) from None
    return engine.from_arrow(set_columns(sort_by_row(held), {n: new.column(n) for n in casts}))


def write(data: Any, path: Path, options: Options) -> None:
    """Write records as separated text, batch by batch."""
    data.engine.in_order(
        data.frame, lambda reader: write_table(reader, path, options, list(data.columns))
    )


def write_table(
    table: pa.Table | pa.RecordBatchReader,
    path: Path,
    options: Options,
    names: Sequence[str] | None = None,
) -> None:
    """Write separated text; null is an empty field, and text is quoted only where it must be."""
    import duckdb

    from tacit.engine.duckdb import quote_identifier

    separator = options.separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    with duckdb.connect() as connection:
        can_interrupt(connection)
        listed = table.schema.names if names is None else names
        relation = connection.from_arrow(table).project(", ".join(map(quote_identifier, listed)))
        relation.write_csv(
            str(path),
            sep=separator,
            quotechar=options.quote,
            escapechar=options.quote,
            header=options.header,
            na_rep="",
            overwrite=True,
        )
    if not parser.is_utf8(options.encoding):
        recode(path, options.encoding)


def recode(path: Path, encoding: str) -> None:
    """Change the encoding of a file that was just written."""
    try:
        content = path.read_text("utf-8").encode(encoding)
    except (UnicodeEncodeError, LookupError):
        raise InputError(
            f"some text cannot be written as {encoding}; write UTF-8 instead"
        ) from None
    path.write_bytes(content)


__all__ = ["InputError", "read", "write"]
