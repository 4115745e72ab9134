"""Databases, read only: SQLite, DuckDB files, PostgreSQL.

Nothing is ever written to a database, and no message holds a password.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.paths import require_file
from tacit.engine.base import Engine
from tacit.errors import InputError, UnreadableFile, near_match, require
from tacit.io import FileFormat, Loaded, Options
from tacit.io.frames import plain_table
from tacit.io.text import check_names

FORMAT = FileFormat("records", reads=(".db", ".sqlite", ".sqlite3", ".duckdb"), rank=6)

CHUNK = 50_000

SQLITE_MAGIC = b"SQLite format 3\0"
#: DuckDB's mark stands after a checksum.
DUCKDB_MAGIC = b"DUCK"


#: What a query may begin with.
SELECTS = {"SELECT", "WITH", "VALUES", "TABLE", "FROM"}

#: Parts of a query in which no statement can end: comments, texts, names in quotes.
OPAQUE = re.compile(
    r"""--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$|\b[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*\"""",
    re.DOTALL,
)


def is_url(source: Any) -> bool:
    """Return True for a database address such as ``sqlite:///survey.db``."""
    return isinstance(source, str) and "://" in source


def read(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read a query's or a table's records from a database file."""
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(SQLITE_MAGIC):
        return load_table(read_sqlite(path, options), engine)
    if start[8:12] == DUCKDB_MAGIC:
        return read_duckdb(path, options, engine)
    raise UnreadableFile(f"{path.name!r} is neither an SQLite nor a DuckDB database, or is damaged")


def read_url(url: str, options: Options, engine: Engine) -> Loaded:
    """Read from a database address."""
    parts = urlsplit(url)
    if parts.scheme in {"sqlite", "duckdb"}:
        path = Path(unquote(url.split("://", 1)[1].split("?", 1)[0]).removeprefix("/"))
        require_file(path)
        return Loaded(read(path, options, engine).frame, source=str(path))
    if parts.scheme in {"postgresql", "postgres"}:
        found = load_table(read_postgres(url, options), engine)
        return Loaded(found.frame, source=public_address(url))
    hint = near_match(parts.scheme, ["sqlite", "duckdb", "postgresql"])
    raise UnreadableFile(
        f"no reader for {parts.scheme}:// addresses; there are sqlite, duckdb and postgresql. {hint}".strip()
    )


def public_address(url: str) -> str:
    """Return an address without user and password."""
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def load_table(table: pa.Table, engine: Engine) -> Loaded:
    """Put a table on the engine."""
    names = check_names(table.column_names, "the query's result")
    return Loaded(engine.number_rows(engine.from_arrow(plain_table(table.rename_columns(names)))))


def statement(options: Options, tables: Sequence[str], name: str) -> str:
    """Return the SQL to run: the query, the table, or the only table there is."""
    if options.query and options.table:
        raise InputError("give a query or a table, not both")
    if options.query:
        return one_select(options.query)
    table = options.table or (tables[0] if len(tables) == 1 else None)
    if table is None:
        held = (
            f"holds the tables {', '.join(map(repr, tables[:20]))}" if tables else "holds no tables"
        )
        raise UnreadableFile(f"{name!r} {held}; say which with table= or query=")
    if table not in tables:
        raise UnreadableFile(
            f"no table {table!r} in {name!r}. {near_match(table, tables) or 'Tables: ' + ', '.join(tables[:20]) + '.'}"
        )
    return 'SELECT * FROM "' + table.replace('"', '""') + '"'


def one_select(query: str) -> str:
    """Return a query that is one SELECT; anything else could do more than read.

    A read-only transaction does not stop ``COPY ... TO PROGRAM``, nor a second statement that ends it.
    """
    bare = OPAQUE.sub(" ", query).strip().rstrip(";").strip()
    first = re.match(r"[(\s]*([A-Za-z]+)", bare)
    if re.search(r"[;'\"]|\$\$", bare) or first is None or first.group(1).upper() not in SELECTS:
        raise UnreadableFile(
            "the query is not valid SQL, or not one SELECT; databases are only read"
        )
    return query.strip().rstrip(";")


def read_sqlite(path: Path, options: Options) -> pa.Table:
    """Read SQLite in chunks; a column of mixed types becomes text."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with sqlite3.connect(address, uri=True) as connection:
            connection.execute("PRAGMA query_only = ON")
            found = connection.execute(
                "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
            cursor = connection.execute(statement(options, [r[0] for r in found], path.name))
            if cursor.description is None:
                raise InputError("the query returns no records; only SELECT is of use here")
            names = check_names([d[0] for d in cursor.description], "the query's result")
            chunks = list(sqlite_chunks(cursor, names))
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise query_fault(path.name, error) from None
    finally:
        if "connection" in locals():
            connection.close()
    return pa.table({n: unify_chunks([chunk[j] for chunk in chunks]) for j, n in enumerate(names)})


def sqlite_chunks(cursor: sqlite3.Cursor, names: Sequence[str]) -> Iterator[list[pa.Array]]:
    """Yield the columns of each chunk of records."""
    rows = cursor.fetchmany(CHUNK)
    if not rows:
        yield [pa.array([], pa.null()) for _ in names]
    while rows:
        columns = zip(zip(*rows, strict=True), names, strict=True)
        yield [sqlite_array(values, name) for values, name in columns]
        rows = cursor.fetchmany(CHUNK)


def sqlite_array(values: Sequence[Any], name: str) -> pa.Array:
    """Return one chunk of a column; SQLite types values, not columns."""
    kinds = {type(v) for v in values} - {type(None)}
    if bytes in kinds:
        raise UnreadableFile(
            f"column {name!r} holds binary data, not values; leave it out of the query"
        )
    if kinds <= {int}:
        return pa.array(values, pa.int64()) if kinds else pa.nulls(len(values))
    if kinds <= {int, float}:
        return pa.array(values, pa.float64())
    return pa.array([None if v is None else str(v) for v in values], pa.string())


def unify_chunks(chunks: Sequence[pa.Array]) -> pa.ChunkedArray:
    """Return chunks of several types in the one that holds them all."""
    kinds = {c.type for c in chunks} - {pa.null()}
    known = (kind for kind in (pa.string(), pa.float64()) if kind in kinds)
    target = next(known, pa.int64() if kinds else pa.string())
    return pa.chunked_array([pc.cast(c, target) for c in chunks], target)


def load_stream(relation: Any, engine: Engine) -> Loaded:
    """Put a query's result on the engine batch by batch, where it takes a stream: it need not fit into memory."""
    with relation.to_arrow_reader(CHUNK) as reader:
        try:
            frame = engine.adopt(plain_batches(reader))
        except pa.ArrowInvalid:
            # Whole numbers beyond 64 bits in a late batch: the column as a whole becomes text.
            frame = None
    return load_table(relation.to_arrow_table(), engine) if frame is None else Loaded(frame)


def plain_batches(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Return a stream of records in the few types that every engine holds alike."""
    names = check_names(reader.schema.names, "the query's result")
    schema = plain_table(reader.schema.empty_table().rename_columns(names)).schema

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            table = pa.Table.from_batches([batch]).rename_columns(names)
            yield from plain_table(table).cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def read_duckdb(path: Path, options: Options, engine: Engine) -> Loaded:
    """Read a DuckDB file, opened read-only and shut off from other files."""
    import duckdb

    try:
        with duckdb.connect(
            str(path), read_only=True, config={"enable_external_access": "false"}
        ) as connection:
            query = "SELECT table_name FROM information_schema.tables ORDER BY 1"
            tables = [r[0] for r in connection.execute(query).fetchall()]
            return load_stream(connection.sql(statement(options, tables, path.name)), engine)
    except (duckdb.Error, AttributeError) as error:
        raise query_fault(path.name, error) from None


def read_postgres(url: str, options: Options) -> pa.Table:
    """Read PostgreSQL: through DuckDB's extension where it is installed, else through ADBC."""
    import duckdb

    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        try:
            connection.execute("LOAD postgres")
        except duckdb.Error:
            return read_postgres_adbc(url, options)
        return read_postgres_duckdb(connection, url, options)


def read_postgres_duckdb(connection: Any, url: str, options: Options) -> pa.Table:
    """Read through DuckDB's extension, attached read-only."""
    import duckdb

    from tacit.engine.duckdb import literal

    name = public_address(url)
    try:
        connection.execute(f"ATTACH {literal(url)} AS source (TYPE postgres, READ_ONLY)")
        if options.query:
            inner = literal(one_select(options.query))
            query = f"SELECT * FROM postgres_query('source', {inner})"
            return connection.sql(query).to_arrow_table()
        tables = [r[0] for r in connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_catalog = 'source' ORDER BY 1"
        ).fetchall()]  # fmt: skip
        connection.execute("USE source")
        return connection.sql(statement(options, tables, name)).to_arrow_table()
    except duckdb.Error as error:
        raise query_fault(name, error) from None


def read_postgres_adbc(url: str, options: Options) -> pa.Table:
    """Read through the Arrow driver of PostgreSQL, in a transaction that may not write."""
    try:
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise require("adbc-driver-postgresql", "postgres", "reading PostgreSQL") from None
    name = public_address(url)
    try:
        with dbapi.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
            cursor.execute(
                "SELECT table_name FROM information_schema.tables "
                "WHERE table_schema = ANY (current_schemas(false)) ORDER BY 1"
            )
            tables = [row[0] for row in cursor.fetchall()]
            cursor.execute(statement(options, tables, name))
            return plain_numerics(cursor.fetch_arrow_table())
    except Error as error:
        raise query_fault(name, error) from None


def plain_numerics(table: pa.Table) -> pa.Table:
    """Return the table with PostgreSQL's numeric, which arrives as text of a named type, as numbers."""
    for i, field in enumerate(table.schema):
        kind = (field.metadata or {}).get(b"ADBC:postgresql:typname", b"")
        if kind == b"numeric" or "numeric" in str(field.type):
            column = table.column(i)
            text = pc.cast(storage(column), pa.string())
            table = table.set_column(i, field.name, pc.cast(text, pa.float64()))
    return table


def storage(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without its extension type."""
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return pa.chunked_array([c.storage for c in column.chunks], column.type.storage_type)


def query_fault(name: str, error: Exception) -> UnreadableFile:
    """Return why a database gave nothing; its own message can quote values and passwords."""
    text = str(error).lower()
    changes = ("read-only", "readonly", "read only", "permission", "query_only")
    if any(word in text for word in changes):
        return UnreadableFile(
            f"the query on {name!r} tries to change something; databases are only read"
        )
    reasons = {
        "no such table": "it names a table that does not exist",
        "catalog error": "it names a table that does not exist",
        "no such column": "it names a column that does not exist",
        "binder error": "it names a column that does not exist",
        "syntax": "it is not valid SQL",
        "parser error": "it is not valid SQL",
        "not a database": "the file is damaged",
        "malformed": "the file is damaged",
        "locked": "another program holds the database",
        "lock": "another program holds the database",
        "connect": "there is no connection to the database",
    }
    reason = next((r for key, r in reasons.items() if key in text), "the database refused it")
    return UnreadableFile(f"the query on {name!r} failed: {reason}")
