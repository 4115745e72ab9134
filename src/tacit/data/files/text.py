"""Separated text (CSV, TSV). Types are inferred so that nothing is lost.

A column becomes integer only when every value is written as one (no leading zeros, no plus sign), and
number only when every value is a plain decimal; all else stays text. So ``02139`` stays ``02139`` and
``09/20/65`` is not taken for a date.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.files import Loaded, Options
from tacit.engine.base import ROW, Engine
from tacit.errors import InputError, UnreadableFile

INTEGER = r"^-?(0|[1-9][0-9]{0,17})$"
NUMBER = r"^-?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][-+]?[0-9]+)?$"
SEPARATORS = (",", ";", "\t", "|")


def read(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read a text file on the engine."""
    header = first_line(path, options)
    separator = options.separator or ("\t" if path.suffix.lower() == ".tsv" else guess_separator(header))
    frame = engine.scan_text(path, separator=separator, quote=options.quote, header=options.header)
    frame = engine.materialise(frame)
    names = [n for n in frame.collect_schema().names() if n != ROW]
    return Loaded(infer(frame, names, options))


def first_line(path: Path, options: Options) -> str:
    """Return the first line, or say that the file is no text of that encoding."""
    try:
        with path.open(encoding="utf-8-sig" if options.encoding == "utf-8" else options.encoding) as file:
            return file.readline()
    except UnicodeDecodeError:
        raise UnreadableFile(f"{path.name!r} is not {options.encoding} text. Say how it is encoded, e.g. encoding='latin-1'.") from None


def guess_separator(line: str) -> str:
    """Return the separator that occurs most often in the header."""
    return max(SEPARATORS, key=line.count)


def infer(frame: nw.LazyFrame[Any], names: list[str], options: Options) -> nw.LazyFrame[Any]:
    """Cast each column to the narrowest type that keeps every value."""
    if options.missing:
        codes = list(options.missing)
        frame = frame.with_columns(*[nw.when(~nw.col(n).is_in(codes)).then(nw.col(n)).alias(n) for n in names])
    checks = [nw.col(n).str.contains(INTEGER).all().alias(f"i{j}") for j, n in enumerate(names)]
    checks += [nw.col(n).str.contains(NUMBER).all().alias(f"f{j}") for j, n in enumerate(names)]
    checks += [(~nw.col(n).is_null()).any().alias(f"a{j}") for j, n in enumerate(names)]
    facts = frame.select(*checks).collect("pyarrow").rows(named=True)[0]
    casts = []
    for j, name in enumerate(names):
        forced = options.types.get(name)
        if forced == "text" or (forced is None and not facts[f"a{j}"]):
            continue
        if forced == "integer" or (forced is None and facts[f"i{j}"]):
            casts.append(nw.col(name).cast(nw.Int64))
        elif forced == "number" or (forced is None and facts[f"f{j}"]):
            casts.append(nw.col(name).cast(nw.Float64))
    return frame.with_columns(*casts) if casts else frame


def write(data: Any, path: Path, options: Options) -> None:
    """Write separated text; null is an empty field."""
    import pyarrow.csv as pa_csv

    table = data.to_arrow()
    separator = options.separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    ready = {n: text_column(table.column(n)) for n in table.column_names}
    choice = pa_csv.WriteOptions(delimiter=separator, quoting_style="needed")
    pa_csv.write_csv(pa.table(ready), path, choice)


def text_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as CSV can hold it."""
    return pc.cast(column, pa.string()) if pa.types.is_temporal(column.type) else column


__all__ = ["InputError", "read", "write"]
