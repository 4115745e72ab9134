"""The records of a batch: read by their description, and made ready to be tabulated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.argus.work import Work
from tacit.data.cells.dimension import Dimension
from tacit.data.microdata import Microdata
from tacit.data.paths import require_file
from tacit.engine import get_engine
from tacit.errors import InputError
from tacit.io import argus
from tacit.io.hrc import dimension_of
from tacit.io.rda import Description, Variable
from tacit.io.read import assemble, read
from tacit.io.tab import FREQUENCY, read_tab

#: The column that says who asked for protection.
REQUEST_COLUMN = "__request__"
#: The code of records whose field is blank, where no missing code is described.
BLANK = "(blank)"


def read_records(file: Path, described: Description) -> Microdata:
    """Read records with their description; no column plays a role."""
    if described.spss or file.suffix.lower() == ".sav":
        data = read(str(file))
        absent = [v.name for v in described.variables if v.name not in data.columns]
        if absent:
            raise InputError(f"{file.name!r} has no variable {absent[0]!r}")
        return data
    require_file(file)
    engine = get_engine("duckdb")
    frame = engine.number_rows(engine.from_arrow(pa.table(fields_of(file, described))))
    return assemble(frame, engine, {}, str(file), lambda t: t)


def fields_of(file: Path, described: Description) -> dict[str, pa.Array]:
    """Return the fields of records of fixed or free format, numbers as such."""
    read_fields = argus.cut_fixed_fields if described.separator is None else argus.free_fields
    texts = read_fields(file, described, "utf-8")
    columns = {}
    for variable, text in zip(described.variables, texts, strict=True):
        own = text.slice(1) if described.names_in_front else text
        if variable.numeric:
            if described.separator != ",":
                own = pc.replace_substring(own, ",", ".")
            own = argus.parse_numbers(own, variable)
        columns[variable.name] = own
    return columns


def prepare_records(
    data: Microdata, work: Work, described: Description
) -> tuple[Microdata, list[str]]:
    """Return records ready to be tabulated: no blank codes, no missing codes among numbers."""
    notes, columns = list[str](), dict[str, Any]()
    for name in work.explanatory:
        v = described.variable(name)
        column = data.column(v.name)
        if column.null_count:
            columns[v.name] = pc.fill_null(pc.cast(column, pa.string()), blank_code(v))
            notes.append(
                f"{column.null_count:,} records have no code of {v.name!r}: {blank_code(v)!r}"
            )
    used = {work.response if not work.is_count else None, work.shadow, work.cost}
    for used_name in sorted(str(u) for u in used if u is not None):
        if used_name.startswith("-") or used_name.lower() == FREQUENCY:
            continue
        v = described.variable(used_name)
        column = data.column(v.name)
        if pa.types.is_string(column.type):
            raise InputError(f"{v.name!r} is not described as a number (<NUMERIC>)")
        codes = [float(m) for m in v.missing if re.fullmatch(r"-?\d+(\.\d+)?", m)]
        values = pc.cast(column, pa.float64())
        absent = pc.or_(pc.is_null(values), pc.is_in(values, pa.array(codes, pa.float64())))
        n = int(pc.sum(absent).as_py() or 0)
        if n:
            columns[v.name] = pc.if_else(absent, 0.0, values)
            notes.append(f"{n:,} records have no value of {v.name!r} and contribute 0")
    asked = described.first("REQUEST")
    if work.numbers("REQ"):
        if asked is None:
            raise InputError("the request rule needs a variable with <REQUEST>")
        codes_asked = [*asked.keywords["REQUEST"], "1"][:2]
        texts = pc.utf8_trim_whitespace(pc.cast(data.column(asked.name), pa.string()))
        flags = np.zeros(len(texts), dtype=np.int64)
        for value, code in enumerate(codes_asked, 1):
            hit = pc.fill_null(pc.equal(texts, code), False)
            flags = np.where(np.asarray(hit), value, flags)
        columns[REQUEST_COLUMN] = flags
    return (data.replace(columns) if columns else data), notes


def blank_code(variable: Variable) -> str:
    """Return the code under which records without a code stand."""
    return variable.missing[0] if variable.missing else BLANK


def span(data: Microdata, variable: Variable, folder: Path) -> Dimension:
    """Return the dimension of a spanning variable with the codes of the records."""
    codes = pc.unique(data.column(variable.name)).to_pylist()
    words = [str(c) for c in codes if c is not None]
    known = Variable(
        variable.name,
        variable.start,
        variable.length,
        (*variable.missing, BLANK) if BLANK in words else variable.missing,
        variable.keywords,
    )
    return dimension_of(known, words, folder)


def find_smallest_value(data: Microdata, column: str) -> float:
    """Return the smallest value of a column."""
    return float(pc.min(data.column(column)).as_py() or 0.0)


def find_lower_bound(work: Work, described: Description) -> float | None:
    """Return the lower bound of a ready table's cells: none when some are negative."""
    probe = read_tab(
        work.data,
        described,
        dimensions=work.explanatory,
        response=work.response,
        additivity=2,
        lower=-np.inf,
    )
    return -np.inf if bool((probe.value < 0).any()) else None
