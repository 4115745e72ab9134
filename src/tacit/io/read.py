"""``tacit.read``: any file or frame becomes Microdata with roles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.hierarchies.load import for_column
from tacit.data.links import counts_members
from tacit.data.microdata import Microdata
from tacit.data.paths import require_file
from tacit.data.roles import SINGLE, Column, Links
from tacit.engine import relational
from tacit.engine.arrow import set_columns
from tacit.engine.base import ROW, Engine, get_engine
from tacit.engine.memory import held_table
from tacit.engine.names import check_usable
from tacit.errors import InputError, require_columns
from tacit.events import Job, Listener, Phase, Stop, ignore_event, never
from tacit.fields import name_as_text
from tacit.io import Loaded, Options, clean, format_of, frames, sql, text

Names = str | Sequence[str]

DEFAULT_ENGINE = "duckdb"
#: Share of households whose size a column must give to be declared as their size.
SOME_COUNTED = 0.5


def read(
    source: Any,
    *,
    identifiers: Names = (),
    keys: Names | Mapping[str, Sequence[str]] = (),
    sensitive: Names = (),
    weight: str | None = None,
    household: str | None = None,
    stratum: str | None = None,
    copy_number: str | None = None,
    links: Sequence[str] | Sequence[Sequence[str]] = (),
    hierarchies: Mapping[str, Any] | None = None,
    engine: str | Engine = "duckdb",
    on_event: Listener = ignore_event,
    should_stop: Stop = never,
    **options: Any,
) -> Microdata:
    """Read a file or take a frame, and say what its columns are.

    Parameters
    ----------
    source
        The path of a file (CSV, Parquet, Excel, SPSS, Stata, SAS, mu-ARGUS, SQLite, DuckDB), the
        address of a database (``sqlite:///survey.db``, ``postgresql://...``), or a frame: pandas,
        Polars, Arrow, DuckDB relation, Spark, or a dict of columns.
    identifiers
        Columns that name a person or firm directly; they never leave.
    keys
        Key columns (a quasi-identifier): what an intruder may know. A mapping declares several named
        quasi-identifiers, each of which must meet a requirement by itself.
    sensitive
        Columns whose value must not become known.
    weight, household, stratum
        Columns with the sampling weight, the household and the stratum of a record.
    copy_number
        Column that numbers the copies of synthetic data, when a file holds several.
    links
        Groups of columns that tell each other, such as ``[["region", "nuts"], ["age", "birth_year"]]``; one
        group may be a plain list. In a group with the household column the others count its members:
        ``["household", "size"]``. Methods treat linked columns together, or warn before work.
    hierarchies
        How columns generalise: a rule or hierarchy from :mod:`tacit.hierarchy`, or the path of a file.
    engine
        ``"duckdb"`` or ``"spark"``, or an engine. A Spark frame stays on Spark by itself.
    on_event, should_stop
        Called with events, and asked whether to stop, while reading; see :mod:`tacit.events`.
    **options
        How to read the file: see :class:`tacit.io.Options`.

    Returns
    -------
    Microdata
        Immutable; the source is never written to.
    """
    job = Job(on_event, should_stop, (Phase("read", "Reading the data"),))

    def work() -> Microdata:
        job.begin("read")
        # A Spark frame stays on Spark unless another engine is asked for.
        stays = engine == DEFAULT_ENGINE and frames.is_spark(source)
        backend = get_engine("spark" if stays else engine) if isinstance(engine, str) else engine
        data, declared = load(source, backend, clean(options))
        quasi = named_keys(keys or declared.get("keys", ()))
        roles: dict[str, Names | None] = {
            "identifiers": identifiers,
            "keys": tuple(dict.fromkeys(c for group in quasi.values() for c in group)),
            "sensitive": sensitive,
            "weight": declared.get("weight") if weight is None else weight,
            "household": declared.get("household") if household is None else household,
            "stratum": stratum,
            "copy_number": copy_number,
        }
        known = with_links(with_roles(data, roles, quasi), links)
        return with_hierarchies(known, hierarchies or {})

    return job.watch(work)


def load(source: Any, engine: Engine, options: Options) -> tuple[Microdata, Mapping[str, Any]]:
    """Return the data without roles, and the roles that the file itself declares."""
    if isinstance(source, Microdata):
        return source, {}
    if isinstance(source, str | Path):
        loaded, own_types = load_file(source, options, engine)
        frame = loaded.frame if own_types else adapt(loaded.frame, options, engine)
        where = loaded.source or str(Path(source).expanduser())
        data = assemble(frame, engine, loaded.columns, where, lambda table: table)
        return data, loaded.roles
    if frames.is_frame(source):
        frame, back = frames.load(source, engine)
        return assemble(adapt(frame, options, engine), engine, {}, "memory", back), {}
    raise InputError(
        f"cannot read a {type(source).__name__}: give a path or a frame (pandas, Polars, Arrow, DuckDB, Spark)"
    )


def load_file(source: str | Path, options: Options, engine: Engine) -> tuple[Loaded, bool]:
    """Read a file or a database; the flag says that types and missing codes are already seen to."""
    if sql.is_url(source):
        return sql.read_url(str(source), options, engine), False
    path = Path(source).expanduser()
    require_file(path)
    form = format_of(path)
    return form.load_reader()(path, options, engine), form.sees_types


def adapt(frame: nw.LazyFrame[Any], options: Options, engine: Engine) -> nw.LazyFrame[Any]:
    """Apply missing codes and forced types to a frame that came with types of its own."""
    schema = frame.collect_schema()
    require_columns(options.types, [n for n in schema.names() if n != ROW], "the data")
    names = [n for n in schema.names() if n != ROW] if options.missing else []
    blanks = [null_missing_codes(n, schema[n], options.missing) for n in names]
    chosen = [expression for expression in blanks if expression is not None]
    if chosen:
        frame = frame.with_columns(*chosen)
    for name, kind in options.types.items():
        frame = force(frame, name, schema[name], kind, engine)
    return engine.materialise(frame) if chosen or options.types else frame


def null_missing_codes(name: str, kind: Any, missing: Sequence[Any]) -> nw.Expr | None:
    """Return the column with missing codes as null, or None when no code is of its type."""
    codes: list[Any] = []
    if kind == nw.String:
        codes = [str(m) for m in missing]
    elif kind.is_numeric():
        codes = [number for m in missing if (number := as_number(m)) is not None]
    return nw.when(~nw.col(name).is_in(codes)).then(nw.col(name)).alias(name) if codes else None


def as_number(code: Any) -> float | None:
    """Return a code as a number, if it is one."""
    try:
        return int(code) if float(code).is_integer() else float(code)
    except (TypeError, ValueError, OverflowError):
        return None


def force(
    frame: nw.LazyFrame[Any], name: str, kind: Any, wanted: str, engine: Engine
) -> nw.LazyFrame[Any]:
    """Return the frame with one column of another type."""
    if kind == nw.String:
        return text.infer(frame, [name], Options(types={name: wanted}), engine)
    if wanted == "text" and kind.is_integer():
        return frame.with_columns(nw.col(name).cast(nw.String))
    if wanted == "number" and kind.is_numeric():
        return frame.with_columns(nw.col(name).cast(nw.Float64))
    if (wanted, True) in {("integer", kind.is_integer()), ("date", kind == nw.Date)}:
        return frame
    raise InputError(f"column {name!r} is of type {kind} and cannot be read as {wanted}")


def assemble(
    frame: nw.LazyFrame[Any], engine: Engine, columns: Mapping[str, Column], source: str, back: Any
) -> Microdata:
    """Put data together; NaN becomes null once, here, and types become those every engine has."""
    schema = frame.collect_schema()
    names = [n for n in schema.names() if n != ROW]
    if not names:
        raise InputError("the data have no columns")
    check_usable(names, engine.name)
    nested = [n for n in names if isinstance(schema[n], nw.List | nw.Struct | nw.Array)]
    if nested:
        raise InputError(
            f"column {nested[0]!r} holds lists or structures, not single values; spread it over columns"
        )
    held = held_table(frame)
    if held is not None:
        # The same to a table in memory, so that it stays there; most often nothing is to be done.
        pairs = {n: (column := held.column(n), settle_column(column)) for n in names}
        changed = {n: new for n, (old, new) in pairs.items() if new is not old}
        frame = engine.from_arrow(set_columns(held, changed)) if changed else frame
    else:
        small = find_fitting_columns(frame, [n for n in names if is_wide(schema[n])])
        changes = [c for n in names if (c := cast_to_common_type(n, schema[n], small)) is not None]
        if changes:
            frame = frame.with_columns(*changes)
    described = {n: columns.get(n, Column(n)) for n in names}
    return Microdata(frame, described, engine, source=source, to_own=back)


def settle_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in a type that every engine treats alike; itself when it is in one."""
    kind = column.type
    if pa.types.is_integer(kind):
        return column if kind == pa.int64() else column.cast(pa.int64())
    if not pa.types.is_floating(kind):
        return column
    if kind != pa.float64():
        column = column.cast(pa.float64())
    if pc.any(pc.is_nan(column)).as_py():
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    chunks = (c.to_numpy(zero_copy_only=False) for c in column.chunks)
    negative_zero = any(((values == 0) & np.signbit(values)).any() for values in chunks)
    return pc.add(column, 0.0) if negative_zero else column


def is_wide(kind: Any) -> bool:
    """Return True for whole numbers that may need more than 64 bits with sign."""
    whole = kind.is_decimal() and getattr(kind, "scale", 1) == 0
    return bool(whole or kind in {nw.UInt64, nw.Int128, nw.UInt128})


def find_fitting_columns(frame: nw.LazyFrame[Any], wide: Sequence[str]) -> frozenset[str]:
    """Return the wide columns whose values nevertheless fit 64 bits."""
    if not wide:
        return frozenset()
    size = [nw.col(n).cast(nw.Float64).abs().max().alias(n) for n in wide]
    row = frame.select(*size).collect("pyarrow").rows(named=True)[0]
    return frozenset(n for n in wide if (row[n] or 0) < 2**63)


def cast_to_common_type(name: str, kind: Any, small: frozenset[str]) -> nw.Expr | None:
    """Return a column in a type that every engine treats alike, or None when it is in one."""
    column = nw.col(name)
    if is_wide(kind):
        # Whole numbers beyond 64 bits are codes, not amounts: as text they stay exact.
        return column.cast(nw.Int64 if name in small else nw.String).alias(name)
    if kind.is_float():
        # A NaN is no value, and -0.0 is 0.0: they look alike in every table and file.
        zero = nw.when(column == 0.0).then(nw.lit(0.0)).otherwise(column)
        known = nw.when(~column.is_nan()).then(zero)
        return (known if kind == nw.Float64 else known.cast(nw.Float64)).alias(name)
    if kind.is_decimal():
        return column.cast(nw.Float64).alias(name)
    if kind.is_integer() and kind != nw.Int64:
        return column.cast(nw.Int64).alias(name)
    if kind in {nw.Categorical, nw.Enum}:
        return column.cast(nw.String).alias(name)
    return None


def named_keys(keys: Names | Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return named quasi-identifiers; a plain list is the one named ``keys``."""
    if isinstance(keys, Mapping):
        return {str(name): as_tuple(group) for name, group in keys.items()}
    group = as_tuple(keys)
    return {"keys": group} if group else {}


def as_tuple(names: Names | None) -> tuple[str, ...]:
    """Return one name or many as a tuple; a number names the column that a frame numbers so."""
    if names is None:
        return ()
    several = isinstance(names, Iterable) and not isinstance(names, str)
    texts = tuple(name_as_text(n) for n in (names if several else (names,)))
    if not all(isinstance(n, str) for n in texts):
        raise InputError("roles name columns: give a name or a list of names")
    return texts


def with_roles(
    data: Microdata, roles: Mapping[str, Names | None], quasi: Mapping[str, tuple[str, ...]]
) -> Microdata:
    """Return the data with roles given to columns."""
    lists = {role: as_tuple(names) for role, names in roles.items()}
    named = (n for names in lists.values() for n in names)
    require_columns(named, data.columns, "the data")
    clash = sorted(set(lists["identifiers"]) & set(lists["keys"]))
    if clash:
        raise InputError(
            f"column {clash[0]!r} is both an identifier and a key; identifiers are removed, keys are kept: choose one"
        )
    for role in SINGLE:
        if len(lists.get(role, ())) > 1:
            raise InputError(f"only one column can be the {role}")
    columns = {}
    for name, column in data.columns.items():
        own = frozenset(role for role, names in lists.items() if name in names)
        columns[name] = replace(column, roles=own)
    result = replace(data, columns=columns, quasi=dict(quasi))
    check_weight(result)
    check_keys(result)
    return result


def with_links(data: Microdata, links: Sequence[str] | Sequence[Sequence[str]]) -> Microdata:
    """Return the data with groups of linked columns; groups that share a column become one."""
    groups = join_groups(link_groups(links), data.household)
    require_columns((c for group in groups for c in group), data.columns, "the data")
    named = [c for group in groups for c in group if c in data.identifiers]
    if named:
        raise InputError(
            f"links: column {named[0]!r} is an identifier, which tells every other column; identifiers never leave, so leave it out"
        )
    result = replace(data, links=groups)
    counting = counts_members(result, result.counting, least=SOME_COUNTED)
    wrong = [c for c in result.counting if c not in counting]
    if wrong and len(data):
        raise InputError(
            f"links: column {wrong[0]!r} stands with the household, but is not the number of records in most households; link it with the column that tells it, or leave it out"
        )
    return result


def link_groups(links: Sequence[str] | Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return groups of names; a plain list of names is one group."""
    if isinstance(links, str):
        raise InputError(f"links: {links!r} alone is linked with nothing; give groups of columns")
    if links and all(isinstance(one, str) for one in links):
        links = [cast("Sequence[str]", links)]
    groups = [tuple(dict.fromkeys(as_tuple(group))) for group in links]
    if any(len(group) < 2 for group in groups):
        raise InputError("links: each group must name at least two columns")
    return groups


def join_groups(groups: Sequence[tuple[str, ...]], home: str | None) -> Links:
    """Return groups without a common column; those with the household stay apart, since they count members."""
    joined: list[tuple[str, ...]] = []
    for group in groups:
        shared = [g for g in joined if set(g) & set(group) and (home in g) == (home in group)]
        joined = [g for g in joined if g not in shared]
        joined.append(tuple(dict.fromkeys(c for g in (*shared, group) for c in g)))
    return tuple(joined)


def check_keys(data: Microdata) -> None:
    """Refuse a key column without any value: it says nothing, and is most often a wrong column."""
    keys = data.keys
    if not keys:
        return
    there = [~nw.col(c).is_null() for c in (ROW, *keys)]
    records, *known = relational.count_where(data.frame, there)
    empty = [k for k, n in zip(keys, known, strict=True) if records and not n]
    if empty:
        what = f"key column {empty[0]!r} has"
        if len(empty) > 1:
            what = f"key columns {', '.join(map(repr, empty))} have"
        raise InputError(f"{what} no values at all; leave it out of the keys")


def check_weight(data: Microdata) -> None:
    """Refuse weights that are not positive numbers."""
    if data.weight is None:
        return
    if not data.frame.collect_schema()[data.weight].is_numeric():
        raise InputError(f"weight column {data.weight!r} is not numeric")
    column = nw.col(data.weight)
    bad = relational.count_rows(data.frame.filter(column.is_null() | (column <= 0)))
    if bad:
        raise InputError(
            f"weight column {data.weight!r} has values that are missing, zero or negative; every record needs a positive weight"
        )


def with_hierarchies(data: Microdata, hierarchies: Mapping[str, Any]) -> Microdata:
    """Return the data with hierarchies bound to the values that occur."""
    if not isinstance(hierarchies, Mapping):
        raise InputError("hierarchies must be a mapping of column names to hierarchies")
    hierarchies = {name_as_text(n): given for n, given in hierarchies.items()}
    require_columns(hierarchies, data.columns, "the data")
    bound = {
        name: for_column(given, relational.fetch_distinct(data.frame, name), name)
        for name, given in hierarchies.items()
    }
    return replace(data, hierarchies={**data.hierarchies, **bound})
