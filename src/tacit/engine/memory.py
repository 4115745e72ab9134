"""Frames that read an Arrow table as it lies in memory: what need not be fetched, and its codes.

An embedded engine works on such a table without copying it. Fetching it through the engine, or grouping its
texts again for each question, costs many times what reading it does; so the table is remembered with the
frame, and each column is coded once, when first asked for. Both are freed with the frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Ints
from tacit.engine.coded import Coded, combine_codes, encode, separate

#: Types that come back from the engine as they went; a table of these alone may stand for its frame.
ROUND_TRIPS = (
    *(pa.bool_(), pa.string(), pa.date32(), pa.timestamp("us"), pa.float32(), pa.float64()),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
)

#: Types whose codes group values as an engine does (0.0 and -0.0 are one value, but two codes).
CODED = tuple(t for t in ROUND_TRIPS if not pa.types.is_floating(t))


#: Values that are looked at to see whether a column has few.
SAMPLE = 4096


@dataclass(frozen=True, eq=False)
class Held:
    """A table in memory and the codes of its columns, made when first asked for."""

    table: pa.Table
    codes: dict[str, Coded] = field(default_factory=dict)

    def coded(self, name: str) -> Coded:
        """Return a column as integer codes."""
        if name not in self.codes:
            self.codes[name] = encode(self.table.column(name))
        return self.codes[name]


_held: WeakKeyDictionary[Any, Held] = WeakKeyDictionary()


def hold(native: Any, table: pa.Table) -> None:
    """Remember the table that an engine's own frame reads, if fetching it would give the same."""
    if all(column.type in ROUND_TRIPS for column in table.schema):
        _held[native] = Held(table)


def held_table(frame: nw.LazyFrame[Any]) -> pa.Table | None:
    """Return the table that a frame reads, or None when it must be fetched."""
    found = _held.get(frame.to_native())
    return None if found is None else found.table


def held_codes(frame: nw.LazyFrame[Any], names: Sequence[str]) -> list[Coded] | None:
    """Return columns as codes, or None when the frame is not in memory or its values do not code."""
    found = _held.get(frame.to_native())
    if found is None or any(found.table.schema.field(n).type not in CODED for n in names):
        return None
    return [found.coded(n) for n in names]


def reorder_held(frame: nw.LazyFrame[Any], order: Ints) -> pa.Table | None:
    """Return the records of a table in memory in another order; None when it must be fetched.

    Texts that occur often are moved as codes: moving the texts themselves costs many times as much.
    """
    found = _held.get(frame.to_native())
    if found is None:
        return None
    moved = pa.array(order)
    columns = {
        n: found.coded(n).decode(found.coded(n).codes[order])
        if pa.types.is_string(column.type) and repeats(column)
        else column.take(moved)
        for n, column in zip(found.table.column_names, found.table.columns, strict=True)
    }
    return pa.table(columns, schema=found.table.schema)


def repeats(column: pa.ChunkedArray) -> bool:
    """Return True when the first values of a column occur several times."""
    first = column.slice(0, SAMPLE)
    return len(first) > 0 and len(pc.unique(first)) <= len(first) // 4


def count_held(frame: nw.LazyFrame[Any], keys: Sequence[str]) -> tuple[list[Coded], Ints] | None:
    """Return the distinct key tuples, coded and ascending, and their counts; None when not at hand."""
    columns = held_codes(frame, keys) if keys else None
    if columns is None or math.prod(c.size for c in columns) >= 2**62:
        return None
    sizes = [c.size for c in columns]
    ids, n = count_ids(*combine_codes([c.codes for c in columns], sizes))
    parts = zip(separate(ids, sizes), columns, strict=True)
    return [Coded(codes, c.values) for codes, c in parts], n.astype(np.int64)


def count_ids(ids: Ints, bound: int) -> tuple[Ints, Ints]:
    """Return the integers that occur, ascending, and how often; a dense table where it is small enough."""
    if bound > 4 * len(ids):
        return np.unique(ids, return_counts=True)
    n = np.bincount(ids, minlength=bound)
    found = np.flatnonzero(n)
    return found, n[found]
