"""Records in blocks: a fixed partition by row number, so that any engine gives the same result.

Block b holds the records whose row numbers lie in [b * BLOCK, (b + 1) * BLOCK). A function of a block sees
its records in order of row number, and draws from a generator that belongs to the block alone. So what
comes out depends neither on the engine nor on the number of workers, nor on how a frame is chunked; and
memory holds one block at a time.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit import errors

#: The hidden column that carries a record's number from reading to release.
ROW = "__row__"

#: Row numbers in a block. Part of what a seed means: another size would give other draws.
BLOCK = 1 << 16

T = TypeVar("T")


@dataclass(frozen=True)
class Done:
    """What a function made of one block."""

    #: The block's records afterwards, row number included; None where only the tally is wanted.
    table: pa.Table | None = None
    #: Numbers about the block, in a form that JSON can hold; never values of records that identify.
    tally: Mapping[str, Any] = field(default_factory=dict)


BlockFunction = Callable[[int, pa.Table], Done]
Tallies = list[Mapping[str, Any]]


@dataclass(frozen=True)
class Mapped:
    """The frame that a function of blocks gave, and its tallies in order of blocks."""

    frame: nw.LazyFrame[Any] | None
    tallies: Tallies

    @property
    def records(self) -> nw.LazyFrame[Any]:
        """Return the frame of a function that gives records."""
        assert self.frame is not None
        return self.frame


class OrderCheck:
    """Passes batches on while row numbers ascend, and remembers when they did not."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self.broken = False
        self.reader = pa.RecordBatchReader.from_batches(reader.schema, self.check(reader))

    def check(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Stop at the first record that comes too late."""
        last = -1
        for batch in batches:
            rows = batch.column(ROW).to_numpy()
            if len(rows) and (rows[0] <= last or not bool((rows[1:] > rows[:-1]).all())):
                self.broken = True
                raise errors.EngineError("records came out of order")
            last = int(rows[-1]) if len(rows) else last
            yield batch


def go_on() -> None:
    """Never stop."""


def split(
    batches: Iterable[pa.RecordBatch], tick: Callable[[], None] = go_on
) -> Iterator[tuple[int, pa.Table]]:
    """Yield each block of ordered batches with its records as one table."""
    open_block, parts = -1, list[pa.RecordBatch]()
    for batch in batches:
        blocks = batch.column(ROW).to_numpy() // BLOCK
        edges = [0, *(np.flatnonzero(np.diff(blocks)) + 1).tolist(), len(blocks)]
        for start, stop in itertools.pairwise(edges):
            if start == stop:
                continue
            if blocks[start] != open_block and parts:
                tick()
                yield open_block, as_table(parts)
                parts = []
            open_block = int(blocks[start])
            parts.append(batch.slice(start, stop - start))
    if parts:
        tick()
        yield open_block, as_table(parts)


def as_table(parts: Sequence[pa.RecordBatch]) -> pa.Table:
    """Return batches as a table of one chunk."""
    return pa.Table.from_batches(parts).combine_chunks()


def map_here(
    reader: pa.RecordBatchReader,
    function: BlockFunction,
    schema: pa.Schema | None,
    tick: Callable[[], None],
    keep: Callable[[pa.RecordBatchReader], nw.LazyFrame[Any]],
) -> Mapped:
    """Apply a function to ordered records in this process, one block after the other."""
    tallies: Tallies = []
    if schema is None:
        tallies.extend(function(block, table).tally for block, table in split(reader, tick))
        return Mapped(None, tallies)

    def made() -> Iterator[pa.RecordBatch]:
        for block, table in split(reader, tick):
            done = function(block, table)
            tallies.append(done.tally)
            assert done.table is not None
            yield from shape(done.table, schema).to_batches()

    return Mapped(keep(pa.RecordBatchReader.from_batches(schema, made())), tallies)


def shape(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with the columns and types of a schema."""
    picked = table.select(schema.names)
    return picked if picked.schema.equals(schema) else picked.cast(schema)


def pack(block: int, done: Done | errors.SdcError) -> str:
    """Return a block's tally, or its refusal, as text that travels between processes."""
    if isinstance(done, errors.SdcError):
        return json.dumps([block, None, [type(done).__name__, str(done)]])
    return json.dumps([block, dict(done.tally), None])


def unpack(texts: Iterable[str]) -> Tallies:
    """Return tallies in order of blocks; a refusal is raised again where the user is."""
    told = sorted((json.loads(text) for text in texts), key=lambda t: t[0])
    for _, _, refusal in told:
        if refusal is not None:
            kind = getattr(errors, refusal[0], errors.InputError)
            error = errors.SdcError.__new__(kind)
            Exception.__init__(error, refusal[1])
            raise error
    return [tally for _, tally, _ in told]
