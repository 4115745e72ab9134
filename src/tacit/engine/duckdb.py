"""The embedded engine: DuckDB, in this process, spilling to disk when memory is short."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.engine import blocks, text
from tacit.engine.arrow import sort_by_row
from tacit.engine.blocks import BLOCK, ROW, BlockFunction, Mapped, T
from tacit.engine.memory import held_table, hold
from tacit.engine.scratch import IN_MEMORY, Scratch, write_parquet
from tacit.events import can_interrupt
from tacit.limits import be_frugal, memory_limit, thread_count

#: Parts of a query plan, as DuckDB draws it, that give rows in another order than they take them.
REORDERS = re.compile(
    r"╭─ [^─\n]*(?:Join|Window|Aggregate|Group)|\b[A-Z_]*(?:JOIN|WINDOW|AGGREGATE|GROUP_BY)\b"
)


def quote_identifier(name: str) -> str:
    """Return an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def literal_path(path: Path) -> str:
    """Return a path in which DuckDB sees no pattern: a name with ``[1]`` or ``*`` is that file alone."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def settings_within(limit: int | None) -> dict[str, str | bool | int | float | list[str]]:
    """Return DuckDB's settings under a limit on memory: a third of it, as the records lie outside, and few threads."""
    found: dict[str, str | bool | int | float | list[str]] = {}
    if limit is not None:
        found["memory_limit"] = f"{limit // 3}B"
    threads = thread_count()
    return found if threads is None else {**found, "threads": threads}


def in_memory_within(limit: int | None) -> int:
    """Return the bytes up to which a frame stays in memory."""
    return IN_MEMORY if limit is None else min(IN_MEMORY, limit // 8)


class DuckDbEngine:
    """DuckDB in this process: small frames live in memory, large ones in files of a scratch folder.

    ``TACIT_DUCKDB_MEMORY`` limits what DuckDB itself may use (such as ``4GB``).
    """

    name = "duckdb"

    def __init__(self) -> None:
        be_frugal()
        self._connection = duckdb.connect(":memory:", config=settings_within(memory_limit()))
        # Reading must never leave this machine by itself.
        self._connection.execute("SET autoinstall_known_extensions = false")
        self._scratch = Scratch(in_memory_within(memory_limit()))
        self._connection.execute(f"SET temp_directory = {literal(str(self._scratch.folder))}")
        if limit := os.environ.get("TACIT_DUCKDB_MEMORY"):
            self._connection.execute(f"SET memory_limit = {literal(limit)}")
        #: Relations that are computed already, so that nothing computes them again.
        self._kept: weakref.WeakSet[duckdb.DuckDBPyRelation] = weakref.WeakSet()
        can_interrupt(self)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """Return the connection, for reading files with DuckDB's own extensions."""
        return self._connection

    def interrupt(self) -> None:
        """End the query that runs, if one does."""
        self._connection.interrupt()

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

    def scan_text(self, form: text.Form) -> nw.LazyFrame[Any]:
        """Read separated text, every field a string, strictly: a ragged line is an error."""
        if form.path.stat().st_size > self._scratch.in_memory:
            return self.keep(text.number_rows(form.stream()))
        return self.number_rows(self.from_arrow(form.parse()))

    def from_arrow(self, table: pa.Table) -> nw.LazyFrame[Any]:
        """Take an Arrow table, in order of ROW, without copying it when it is in order."""
        if ROW in table.column_names:
            table = sort_by_row(table)
        relation = self._connection.from_arrow(table)
        self._kept.add(relation)
        hold(relation, table)
        return wrap(relation)

    def adopt(self, native: Any) -> nw.LazyFrame[Any] | None:
        """Take a stream of records, or a DuckDB relation; it may belong to another connection, so it is copied."""
        if isinstance(native, pa.RecordBatchReader):
            return self.keep(text.number_rows(native))
        if not isinstance(native, duckdb.DuckDBPyRelation):
            return None
        return self.number_rows(self.keep(native.to_arrow_reader(BLOCK)))

    def number_rows(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Add row numbers in the present order (DuckDB keeps insertion order)."""
        held = held_table(frame)
        if held is not None:
            rows = pa.array(np.arange(held.num_rows, dtype=np.int64))
            return self.from_arrow(held.append_column(ROW, rows))
        return wrap(frame.to_native().project(f"*, row_number() OVER () - 1 AS {ROW}"))

    def materialise(self, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Compute once, in order of ROW; the rows are freed with the last frame made from them."""
        if frame.to_native() in self._kept:
            return frame
        return self.in_order(frame, self.keep)

    def keep(self, reader: pa.RecordBatchReader) -> nw.LazyFrame[Any]:
        """Return what a reader gives as a frame: in memory, or in a scratch file when it is too much."""
        kept = self._scratch.keep(reader)
        if isinstance(kept, pa.Table):
            return self.from_arrow(kept)
        # The file goes when the marker goes; an empty part of the query ties it to every frame made from it.
        path, marker = kept
        source = literal(str(path))
        relation = self._connection.sql(
            f"SELECT * FROM read_parquet({source}) UNION ALL SELECT * FROM marker"
        )
        del marker
        self._kept.add(relation)
        return wrap(relation)

    def in_order(self, frame: nw.LazyFrame[Any], consume: Callable[[pa.RecordBatchReader], T]) -> T:
        """Hand over batches as DuckDB gives them; should they be out of order, sort and start again.

        What joins or groups loses the order sooner or later, often after much was consumed in vain: that is
        sorted from the start.
        """
        relation = frame.to_native()
        held = held_table(frame)
        if held is not None:
            return consume(held.to_reader())
        if ROW not in relation.columns:
            with relation.to_arrow_reader(BLOCK) as reader:
                return consume(reader)
        if not REORDERS.search(relation.explain()):
            with relation.to_arrow_reader(BLOCK) as reader:
                check = blocks.OrderCheck(reader)
                try:
                    return consume(check.reader)
                except Exception:
                    # What read the batches may have put the error into words of its own.
                    if not check.broken:
                        raise
        with relation.order(ROW).to_arrow_reader(BLOCK) as reader:
            return consume(reader)

    def map_blocks(
        self,
        frame: nw.LazyFrame[Any],
        function: BlockFunction,
        schema: pa.Schema | None,
        tick: Callable[[], None] = blocks.go_on,
    ) -> Mapped:
        """Apply a function to one block after the other."""
        return self.in_order(
            frame, lambda reader: blocks.map_here(reader, function, schema, tick, self.keep)
        )

    def to_arrow(self, frame: nw.LazyFrame[Any]) -> pa.Table:
        """Fetch as an Arrow table."""
        return frame.to_native().to_arrow_table()

    def write_parquet(
        self, frame: nw.LazyFrame[Any], path: Path, metadata: Mapping[bytes, bytes] | None = None
    ) -> None:
        """Write one Parquet file, row group by row group."""
        names = [n for n in frame.collect_schema().names() if n != ROW]
        self.in_order(frame, lambda reader: write_parquet(reader, names, path, metadata or {}))

    def close(self) -> None:
        """Close the connection and remove the scratch folder."""
        self._connection.close()
        self._scratch.close()


def wrap(relation: duckdb.DuckDBPyRelation) -> nw.LazyFrame[Any]:
    """Return a relation as a narwhals lazy frame."""
    return nw.from_native(relation)
