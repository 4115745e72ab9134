"""``tacit.read``: any file or frame becomes Microdata with roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.data.files import Options, format_of, frames, require_file
from tacit.data.hierarchies.load import load as load_hierarchy
from tacit.data.hierarchy import Hierarchy
from tacit.data.microdata import Microdata
from tacit.data.roles import SINGLE, Column
from tacit.engine import relational
from tacit.engine.base import ROW, Engine, get_engine
from tacit.errors import ColumnNotFound, HierarchyError, InputError

Names = str | Sequence[str]


def read(
    source: Any,
    *,
    identifiers: Names = (),
    keys: Names | Mapping[str, Sequence[str]] = (),
    sensitive: Names = (),
    weight: str | None = None,
    household: str | None = None,
    stratum: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    engine: str | Engine = "duckdb",
    **options: Any,
) -> Microdata:
    """Read a file or take a frame, and say what its columns are.

    Parameters
    ----------
    source
        A path, or a frame: pandas, Polars, Arrow, DuckDB relation, Spark.
    identifiers
        Columns that name a person or firm directly; they never leave.
    keys
        Key columns (a quasi-identifier): what an intruder may know. A mapping declares several named
        quasi-identifiers, each of which must meet a requirement by itself.
    sensitive
        Columns whose value must not become known.
    weight, household, stratum
        Columns with the sampling weight, the household and the stratum of a record.
    hierarchies
        How columns generalise: a rule or hierarchy from :mod:`tacit.hierarchy`, or the path of a file.
    engine
        ``"duckdb"`` or ``"spark"``, or an engine.
    **options
        How to read the file: see :class:`tacit.data.files.Options`.

    Returns
    -------
    Microdata
        Immutable; the source is never written to.
    """
    backend = get_engine(engine) if isinstance(engine, str) else engine
    data = load(source, backend, Options(**clean(options)))
    quasi = named_keys(keys)
    roles: dict[str, Names | None] = {
        "identifiers": identifiers,
        "keys": tuple(dict.fromkeys(c for group in quasi.values() for c in group)),
        "sensitive": sensitive,
        "weight": weight,
        "household": household,
        "stratum": stratum,
    }
    return with_hierarchies(with_roles(data, roles, quasi), hierarchies or {})


def clean(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return file options with lists as tuples; refuse unknown ones."""
    known = set(Options.__dataclass_fields__)
    unknown = sorted(set(options) - known)
    if unknown:
        raise InputError(f"tacit.read has no option {', '.join(unknown)}. Options: {', '.join(sorted(known))}.")
    return {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}


def load(source: Any, engine: Engine, options: Options) -> Microdata:
    """Return the data without roles."""
    if isinstance(source, Microdata):
        return source
    if isinstance(source, str | Path):
        path = Path(source)
        require_file(path)
        loaded = format_of(path).read(path, options, engine)
        return assemble(loaded.frame, engine, loaded.columns, str(path), lambda table: table)
    if frames.is_frame(source):
        frame, back = frames.load(source, engine)
        return assemble(frame, engine, {}, "memory", back)
    raise InputError(f"cannot read a {type(source).__name__}: give a path or a frame (pandas, Polars, Arrow, DuckDB, Spark)")


def assemble(frame: nw.LazyFrame[Any], engine: Engine, columns: Mapping[str, Column], source: str, back: Any) -> Microdata:
    """Put data together; NaN becomes null once, here."""
    schema = frame.collect_schema()
    names = [n for n in schema.names() if n != ROW]
    if not names:
        raise InputError("the data have no columns")
    floats = [n for n in names if schema[n].is_float()]
    if floats:
        frame = frame.with_columns(*[nw.when(~nw.col(n).is_nan()).then(nw.col(n)).alias(n) for n in floats])
    described = {n: columns.get(n, Column(n)) for n in names}
    return Microdata(frame, described, engine, source=source, to_own=back)


def named_keys(keys: Names | Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return named quasi-identifiers; a plain list is the one named ``keys``."""
    if isinstance(keys, Mapping):
        return {str(name): as_tuple(group) for name, group in keys.items()}
    group = as_tuple(keys)
    return {"keys": group} if group else {}


def as_tuple(names: Names | None) -> tuple[str, ...]:
    """Return one name or many as a tuple."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def with_roles(data: Microdata, roles: Mapping[str, Names | None], quasi: Mapping[str, tuple[str, ...]]) -> Microdata:
    """Return the data with roles given to columns."""
    lists = {role: as_tuple(names) for role, names in roles.items()}
    missing = [n for names in lists.values() for n in names if n not in data.columns]
    if missing:
        raise ColumnNotFound(dict.fromkeys(missing), list(data.columns), "the data")
    clash = sorted(set(lists["identifiers"]) & set(lists["keys"]))
    if clash:
        raise InputError(f"column {clash[0]!r} is both an identifier and a key; identifiers are removed, keys are kept: choose one")
    for role in SINGLE:
        if len(lists.get(role, ())) > 1:
            raise InputError(f"only one column can be the {role}")
    columns = {
        name: replace(column, roles=frozenset(role for role, names in lists.items() if name in names))
        for name, column in data.columns.items()
    }
    result = replace(data, columns=columns, quasi=dict(quasi))
    check_weight(result)
    return result


def check_weight(data: Microdata) -> None:
    """Refuse weights that are not positive numbers."""
    if data.weight is None:
        return
    if not data.frame.collect_schema()[data.weight].is_numeric():
        raise InputError(f"weight column {data.weight!r} is not numeric")
    column = nw.col(data.weight)
    bad = relational.count_rows(data.frame.filter(column.is_null() | (column <= 0)))
    if bad:
        raise InputError(f"weight column {data.weight!r} has values that are missing, zero or negative; every record needs a positive weight")


def with_hierarchies(data: Microdata, hierarchies: Mapping[str, Any]) -> Microdata:
    """Return the data with hierarchies bound to the values that occur."""
    missing = [n for n in hierarchies if n not in data.columns]
    if missing:
        raise ColumnNotFound(missing, list(data.columns), "the data")
    bound = {name: bind(data, name, given) for name, given in hierarchies.items()}
    return replace(data, hierarchies={**data.hierarchies, **bound})


def bind(data: Microdata, column: str, given: Any) -> Hierarchy:
    """Return a hierarchy bound to a column; a path or a plan's words are looked up first."""
    values: pa.Array = relational.distinct(data.frame, column)
    try:
        found = load_hierarchy(given)
        hierarchy = found if isinstance(found, Hierarchy) else found.build(values.to_pylist())
    except HierarchyError as error:
        raise error.of_column(column) from None
    return hierarchy.bind(values, column)


def column_list(names: Iterable[str]) -> str:
    """Return column names for a message."""
    return ", ".join(repr(n) for n in names)
