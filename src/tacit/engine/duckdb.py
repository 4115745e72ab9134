"""The embedded engine: DuckDB, in this process, spilling to disk when memory is short."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.engine import text
from tacit.engine.base import ROW
from tacit.engine.memory import held_table, hold


def quoted(name: str) -> str:
    """Return an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def literal_path(path: Path) -> str:
    """Return a path in which DuckDB sees no pattern: a name with ``[1]`` or ``*`` is that file alone."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


class DuckDbEngine:
    """DuckDB in memory; every call uses a cursor of one connection."""

    name = "duckdb"

    def __init__(self) -> None:
        self._connection = duckdb.connect(":memory:")
        # Reading must never leave this machine by itself.
        self._connection.execute("SET autoinstall_known_extensions = false")

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Return the connection, for reading files with DuckDB's own extensions."""
        return self._connection

    def scan_parquet(self, path: Path) -> nw.LazyFrame[Any]:
        """Read Parquet; the row number comes from the file itself, so the scan stays parallel."""
        if path.is_dir():
            source = literal(f"{literal_path(path)}/**/*.parquet")
            return self.number_rows(
                wrap(self._connection.sql(f"SELECT * FROM read_parquet({source})"))
            )
        source = literal(literal_path(path))
        return wrap(
            self._connection.sql(
                f"SELECT * EXCLUDE (file_row_number), file_row_number AS {ROW} "
                f"FROM read_parquet({source}, file_row_number = true)"
            )
        )

    def scan_text(
        self,
        path: Path,
        *,
        names: Sequence[str],
        separator: str,
        quote: str,
        header: bool,
        encoding: str,
    ) -> nw.LazyFrame[Any]:
        """Read separated text, every field a string, strictly: a ragged line is an error."""
        table = text.parse(
            path, names, separator=separator, quote=quote, header=header, encoding=encoding
        )
        return self.number_rows(self.from_arrow(table))

    def from_arrow(self, table: pa.Table) -> nw.LazyFrame[Any]:
        """Take an Arrow table without copying it."""
        relation = self._connection.from_arrow(table)
        hold(relation, table)
        return wrap(relation)

    def adopt(self, native: Any) -> nw.LazyFrame[Any] | None:
        """Take a DuckDB relation; it may belong to another connection, so it travels as Arrow."""
        if not isinstance(native, duckdb.DuckDBPyRelation):
            return None
        return self.number_rows(self.from_arrow(native.to_arrow_table()))

    def number_rows(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Add row numbers in the present order (DuckDB keeps insertion order)."""
        held = held_table(frame)
        if held is not None:
            rows = pa.array(np.arange(held.num_rows, dtype=np.int64))
            return self.from_arrow(held.append_column(ROW, rows))
        return wrap(frame.to_native().project(f"*, row_number() OVER () - 1 AS {ROW}"))

    def materialise(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Compute once; the rows live in Arrow memory and are freed with the frame."""
        return frame if held_table(frame) is not None else self.from_arrow(self.to_arrow(frame))

    def to_arrow(self, frame: nw.LazyFrame[Any]) -> pa.Table:
        """Fetch as an Arrow table."""
        return frame.to_native().to_arrow_table()

    def write_parquet(self, frame: nw.LazyFrame[Any], path: Path) -> None:
        """Write one Parquet file."""
        frame.to_native().write_parquet(str(path), compression="zstd")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def wrap(relation: duckdb.DuckDBPyRelation) -> nw.LazyFrame[Any]:
    """Return a relation as a narwhals lazy frame."""
    return nw.from_native(relation)
