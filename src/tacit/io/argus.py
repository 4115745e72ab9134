"""mu-ARGUS record files: ``.asc`` with ``.rda``, and protected ``.saf`` with ``.rds``; fixed and free format.

Codes are text without the blanks around them; numbers are typed; missing codes stay in the data. What the
description says is kept in ``Column.format``, so that a file can be written back. Characters of a fixed
record that no variable describes are not read, and are written as blanks: what nobody has looked at must
not leave.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.roles import Column
from tacit.engine import text as parser
from tacit.engine.base import Engine
from tacit.errors import InputError, UnreadableFile
from tacit.io import FileFormat, Loaded, Options
from tacit.io.hrc import code_list
from tacit.io.lines import decode, file_beside, lines_of
from tacit.io.rda import Description, Variable, read_rda, write_word
from tacit.io.text import NUMBER

DESCRIPTION = {".asc": ".rda", ".saf": ".rds"}
RECORDS = {".rda": ".asc", ".rds": ".saf"}

FORMAT = FileFormat(
    "records",
    reads=(*DESCRIPTION, *RECORDS),
    writes=("asc", "saf"),
    rank=5,
    beside=DESCRIPTION,
)

LENIENT = (
    NUMBER.replace("^-?", "^[-+]?")
    .replace("(0|[1-9][0-9]{0,14})", "[0-9]{1,15}")
    .replace(r"[0-9]+)?|", r"[0-9]*)?|")
)

#: Keywords that the writer makes from what it knows; all others are carried along.
MADE = {
    "RECODEABLE",
    "NUMERIC",
    "DECIMALS",
    "WEIGHT",
    "HOUSE_ID",
    "CODELIST",
    "IDLEVEL",
    "SUPPRESSPRIORITY",
}


def read(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read records with their description, whichever of the two is named."""
    records, description = both_files(path, options)
    metadata = read_rda(description, tabular=False)
    encoding = options.encoding
    cut = cut_fixed_fields if metadata.separator is None else free_fields
    texts = cut(records, metadata, encoding)
    arrays, columns = {}, {}
    for variable, text in zip(metadata.variables, texts, strict=True):
        array = parse_numbers(text, variable) if variable.numeric else text
        arrays[variable.name] = array
        columns[variable.name] = describe(variable, metadata, array, description.parent)
    frame = engine.number_rows(engine.from_arrow(pa.table(arrays)))
    return Loaded(frame, columns, roles=read_declared_roles(metadata), source=str(records))


def both_files(path: Path, options: Options) -> tuple[Path, Path]:
    """Return the records and their description."""
    ending = path.suffix.lower()
    if ending in RECORDS:
        read_rda(path, tabular=False)
        records = file_beside(path.parent, path.stem + RECORDS[ending])
        if records is None:
            raise UnreadableFile(
                f"no records {path.stem + RECORDS[ending]!r} beside the description {path.name!r}; name the data file and pass metadata="
            )
        return records, path
    if options.metadata is not None:
        given = Path(options.metadata)
        found = given if given.is_file() else file_beside(path.parent, options.metadata)
        if found is None:
            raise UnreadableFile(f"no file {options.metadata!r}, given as metadata")
        return path, found
    found = file_beside(path.parent, path.stem + DESCRIPTION.get(ending, ".rda"))
    if found is None:
        raise UnreadableFile(
            f"no description {path.stem + DESCRIPTION.get(ending, '.rda')!r} beside {path.name!r}; pass metadata="
        )
    return path, found


def cut_fixed_fields(path: Path, metadata: Description, encoding: str) -> list[pa.Array]:
    """Cut records of fixed format; a record that ends early has blanks."""
    lines = [line for line in lines_of(decode(path, encoding)) if line.strip("\x1a ")]
    first = min((v.start or 1) + v.width - 1 for v in metadata.variables)
    short = sum(len(line) < first for line in lines)
    if short:
        raise UnreadableFile(
            f"{short:,} records of {path.name!r} end before the first variable does; is the description of another file?"
        )
    array = pa.array(lines, pa.string())
    return [
        field(pc.utf8_slice_codeunits(array, v.start - 1, v.start - 1 + v.width))
        for v in metadata.variables
        if v.start is not None
    ]


def free_fields(path: Path, metadata: Description, encoding: str) -> list[pa.Array]:
    """Split records of free format, one field per variable, in order."""
    names = [v.name for v in metadata.variables]
    try:
        path.read_bytes().decode(encoding)
    except (UnicodeDecodeError, LookupError):
        encoding = "cp1252" if parser.is_utf8(encoding) else encoding
    form = parser.Form(path, tuple(names), metadata.separator or ",", '"', False, encoding)
    table = form.parse()
    return [field(table.column(n).combine_chunks()) for n in names]


def field(text: pa.Array) -> pa.Array:
    """Return fields without the blanks around them; blank is null."""
    bare = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.equal(bare, ""), pa.scalar(None, pa.string()), bare)


def parse_numbers(text: pa.Array, variable: Variable) -> pa.Array:
    """Return numbers; a missing code that is no number becomes null."""
    fits = pc.match_substring_regex(text, LENIENT)
    codes = [m for m in variable.missing if not re.match(LENIENT.replace(r"\z", r"\Z"), m)]
    known = pc.is_in(text, pa.array(codes, pa.string()))
    bad = len(text) - (pc.sum(pc.or_(pc.fill_null(fits, True), known)).as_py() or 0)
    if bad:
        raise UnreadableFile(
            f"column {variable.name!r} is numeric by its description, and {bad:,} of its values are not numbers"
        )
    text = pc.if_else(known, pa.scalar(None, pa.string()), text)
    values = pc.cast(pc.replace_substring_regex(text, r"^\+|\.$", ""), pa.float64())
    whole = pc.all(pc.equal(values, pc.floor(values))).as_py() in {True, None}
    dotted = pc.any(pc.match_substring_regex(text, r"[.eE]")).as_py() is True
    whole = whole and not dotted and not variable.number("DECIMALS")
    return pc.cast(values, pa.int64()) if whole else values


def describe(variable: Variable, metadata: Description, array: pa.Array, folder: Path) -> Column:
    """Return what the description says about a column."""
    name = variable.word("CODELIST")
    listed = file_beside(folder, name) if name else None
    labels: Mapping[Any, str] = code_list(listed) if listed else {}
    missing: Sequence[Any] = variable.missing
    if not pa.types.is_string(array.type):
        kind = int if pa.types.is_integer(array.type) else float
        labels = {n: t for c, t in labels.items() if (n := as_number(c, kind)) is not None}
        missing = [n for c in missing if (n := as_number(c, kind)) is not None]
    layout = {
        "start": variable.start,
        "length": variable.width,
        "separator": metadata.separator,
        "decimals": variable.number("DECIMALS"),
        "idlevel": variable.number("IDLEVEL"),
        "suppression_weight": variable.number("SUPPRESSPRIORITY"),
        "codelist": name,
        "missing": list(variable.missing),
        "household_variable": variable.has("HOUSEHOLD") or None,
        "keywords": list_carried_keywords(variable),
        "recodable": variable.has("RECODEABLE") or None,
    }
    return Column(
        variable.name,
        labels=labels,
        missing=tuple(missing),
        format={k: v for k, v in layout.items() if v not in (None, [])},
    )


def list_carried_keywords(variable: Variable) -> list[list[str]]:
    """Return the keywords that the writer does not make itself, each with what follows it."""
    return [
        [keyword, " ".join(write_word(w) for w in words)]
        for keyword, words in variable.keywords.items()
        if keyword not in MADE
    ]


def as_number(code: str, kind: type) -> Any:
    """Return a code as a number, or None."""
    try:
        return kind(code)
    except ValueError:
        return None


def read_declared_roles(metadata: Description) -> dict[str, Any]:
    """Return the roles in the description: identification levels make keys."""
    keys = [v.name for v in metadata.variables if (v.number("IDLEVEL") or 0) > 0]
    roles: dict[str, Any] = {"keys": keys} if keys else {}
    for role, keyword in (("weight", "WEIGHT"), ("household", "HOUSE_ID")):
        if (found := metadata.first(keyword)) is not None:
            roles[role] = found.name
    return roles


@dataclass(frozen=True)
class Field:
    """One column ready to be written: its fields as text, its place, and its description."""

    column: Column
    text: pa.Array
    width: int
    decimals: int | None
    number: bool
    start: int = 0


def write(data: Any, path: Path, options: Options) -> None:
    """Write records, their description and code lists; null becomes the first missing code, else blanks."""
    table = data.to_arrow()
    fields = [make_field(data.columns[n], table.column(n)) for n in table.column_names]
    separators = [f.column.format.get("separator") for f in fields]
    separator = options.separator or next((s for s in separators if s), None)
    if separator is None:
        fields = assign_positions(fields)
        lines = format_fixed_lines(fields, table.num_rows)
    else:
        lines = free_lines(fields, separator)
    content = "".join(line + "\r\n" for line in lines.to_pylist())
    path.write_bytes(content.encode(best_encoding(content, options.encoding)))
    described = description(data, fields, separator, path)
    beside = path.with_suffix(DESCRIPTION[path.suffix.lower()])
    beside.write_bytes(described.encode(best_encoding(described, options.encoding)))


def best_encoding(text: str, asked: str) -> str:
    """Return the encoding: what was asked, else 8 bits a character where that can hold all."""
    if not parser.is_utf8(asked):
        return asked
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return "utf-8"
    return "cp1252"


def make_field(column: Column, values: pa.ChunkedArray) -> Field:
    """Return a column as text fields, with the width they need."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    text, decimals = as_texts(array, column.format.get("decimals"))
    if pc.any(pc.match_substring_regex(text, r"[\r\n]")).as_py():
        raise InputError(
            f"column {column.name!r} holds line ends, which a record of mu-ARGUS cannot; write CSV or Parquet"
        )
    codes = missing_codes(column)
    text = pc.fill_null(text, codes[0] if codes else "")
    widest = max(pc.max(pc.utf8_length(text)).as_py() or 0, *(len(c) for c in codes), 1)
    is_number = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    width = max(widest, int(column.format.get("length", 0)))
    return Field(column, text, width, decimals, is_number)


def missing_codes(column: Column) -> list[str]:
    """Return at most two missing codes, as they are written."""
    codes = column.format.get("missing") or [str(m) for m in column.missing if m is not None]
    return [str(c) for c in codes][:2]


def as_texts(array: pa.Array, decimals: int | None) -> tuple[pa.Array, int | None]:
    """Return values as text; numbers with decimals get the declared places, else as many as they need."""
    if pa.types.is_floating(array.type):
        encoded = array.dictionary_encode()
        values = encoded.dictionary.to_pylist()
        if decimals is None:
            shortest = [np.format_float_positional(v, trim="-") for v in values]
            decimals = max((len(t.partition(".")[2]) for t in shortest), default=0)
        texts = pa.array([f"{v:.{decimals}f}" for v in values], pa.string())
        return texts.take(encoded.indices), max(decimals, 1)
    if pa.types.is_boolean(array.type):
        array = pc.cast(array, pa.int8())
    return pc.cast(array, pa.string()), None


def assign_positions(fields: Sequence[Field]) -> list[Field]:
    """Give each field its place: the one it came from while all still fit there, else one after the other."""
    kept = all(
        f.column.format.get("start") and f.width == f.column.format.get("length") for f in fields
    )
    result, position = [], 1
    for f in fields:
        start = int(f.column.format["start"]) if kept else position
        result.append(replace(f, start=start))
        position += f.width
    return result


def format_fixed_lines(fields: Sequence[Field], n_rows: int) -> pa.Array:
    """Return records of fixed format; fields stand to the right, gaps are blank."""
    parts: list[Any] = [pa.array([""] * n_rows, pa.string())]
    position = 1
    for f in sorted(fields, key=lambda one: one.start):
        parts.append(" " * (f.start - position))
        parts.append(pc.utf8_lpad(f.text, width=f.width, padding=" "))
        position = f.start + f.width
    return pc.binary_join_element_wise(*parts, "")


def free_lines(fields: Sequence[Field], separator: str) -> pa.Array:
    """Return records of free format; a field that holds the separator or a quote is quoted."""
    special = f'[{re.escape(separator)}"]'
    texts = []
    for f in fields:
        doubled = pc.replace_substring(f.text, '"', '""')
        quoted = pc.binary_join_element_wise('"', doubled, '"', "")
        texts.append(pc.if_else(pc.match_substring_regex(f.text, special), quoted, f.text))
    return texts[0] if len(texts) == 1 else pc.binary_join_element_wise(*texts, separator)


def description(data: Any, fields: Sequence[Field], separator: str | None, path: Path) -> str:
    """Return the description of the records, and write the code lists beside it."""
    safe = path.suffix.lower() == ".saf"
    lines = [] if separator is None else [f'<SEPARATOR>  "{separator}"']
    for f in fields:
        if '"' in f.column.name:
            raise InputError(
                f"column {f.column.name!r}: a mu-ARGUS name cannot hold a quotation mark"
            )
        place = "" if separator is not None else f"{f.start} "
        codes = " ".join(write_word(c) for c in missing_codes(f.column))
        lines.append(f"{write_word(f.column.name)} {place} {f.width} {codes}".rstrip())
        lines += [f"  {line}" for line in keyword_lines(data, f, path, safe=safe)]
    return "".join(line + "\r\n" for line in lines)


def keyword_lines(data: Any, f: Field, path: Path, *, safe: bool) -> list[str]:
    """Return the keywords of one variable, and write its labels as a code list beside the description."""
    column, layout = f.column, f.column.format
    is_key = column.name in data.keys
    lines = []
    if column.name == data.household:
        lines.append("<HOUSE_ID>")
    elif not f.number or is_key or layout.get("recodable"):
        lines.append("<RECODABLE>")
    if f.number:
        lines.append("<NUMERIC>")
    if f.decimals is not None:
        lines.append(f"<DECIMALS> {f.decimals}")
    if column.name == data.weight:
        lines.append("<WEIGHT>")
    if column.labels:
        name = f"{path.stem}_{re.sub(r'[^A-Za-z0-9_-]', '_', column.name)}.cdl"
        text = "".join(f"{code!s:>{f.width}},{label}\r\n" for code, label in column.labels.items())
        path.with_name(name).write_bytes(text.encode(best_encoding(text, "utf-8")))
        lines.append(f'<CODELIST> "{name}"')
    if not safe:
        # Declared keys stand in the description, so that reading it declares them again.
        level = layout.get("idlevel") or 1 if is_key else 0
        if "<RECODABLE>" in lines:
            weight = layout.get("suppression_weight", 50)
            lines += [f"<IDLEVEL> {level}", f"<SUPPRESSPRIORITY> {weight}"]
    lines += [f"<{keyword}> {rest}".rstrip() for keyword, rest in layout.get("keywords", ())]
    return lines
