"""Scratch files: frames too large for memory wait on disk while they are needed, and no longer.

They hold confidential records. The folder can be read by its owner alone, a file goes with the last frame
made from it, and the folder goes when the engine is closed, or, where its process was killed, when the next
begins. ``TACIT_SCRATCH`` names a place for it.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tacit.storage.own_folders import make_own_folder

#: Frames up to this many bytes stay in memory.
IN_MEMORY = 1 << 29

#: Records in a row group of a released file.
ROW_GROUP = 1 << 20


#: A scratch file, which is deleted when the empty table beside it is freed.
Kept = tuple[Path, pa.Table]


class Scratch:
    """A private folder of Parquet files."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self.in_memory = in_memory
        place = Path(os.environ.get("TACIT_SCRATCH") or tempfile.gettempdir())
        self._in_use: int | None
        self.folder, self._in_use = make_own_folder("tacit-", place)
        self._owner = os.getpid()
        self._numbers = itertools.count()

    def keep(self, reader: pa.RecordBatchReader) -> pa.Table | Kept:
        """Return what a reader gives as a table, or in a file when it is more than memory should hold."""
        held: list[pa.RecordBatch] = []
        size = 0
        for batch in reader:
            held.append(batch)
            size += batch.nbytes
            if size > self.in_memory:
                return self.spill(held, reader)
        return pa.Table.from_batches(held, reader.schema)

    def spill(self, held: list[pa.RecordBatch], reader: pa.RecordBatchReader) -> Kept:
        """Write what was held and what is still to come into a file."""
        path = self.folder / f"{next(self._numbers)}.parquet"
        try:
            # Row groups as small as blocks keep what is read at a time small.
            with pq.ParquetWriter(path, reader.schema, compression="lz4") as writer:
                while held:
                    writer.write_batch(held.pop(0))
                for batch in reader:
                    writer.write_batch(batch)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        marker = reader.schema.empty_table()
        weakref.finalize(marker, path.unlink, missing_ok=True)
        return path, marker

    def close(self) -> None:
        """Remove the folder; a forked child leaves its parent's alone."""
        if os.getpid() == self._owner and self._in_use is not None:
            os.close(self._in_use)
            self._in_use = None
            shutil.rmtree(self.folder, ignore_errors=True)


def write_parquet(
    reader: pa.RecordBatchReader, names: Sequence[str], path: Path, metadata: Mapping[bytes, bytes]
) -> None:
    """Write some columns of what a reader gives as one Parquet file for release."""
    schema = pa.schema([reader.schema.field(n) for n in names], metadata=dict(metadata))
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in gather_batches(reader, ROW_GROUP):
            writer.write_table(table.select(names).cast(schema))


def gather_batches(reader: pa.RecordBatchReader, rows: int) -> Iterator[pa.Table]:
    """Yield tables of about this many rows, for row groups of a sensible size."""
    held: list[pa.RecordBatch] = []
    for batch in reader:
        held.append(batch)
        if sum(b.num_rows for b in held) >= rows:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
