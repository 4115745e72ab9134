"""Fingerprints: one SHA-256 for the visible content of data, the same on every engine."""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.numerics.elementary import ten_to

if TYPE_CHECKING:
    from tacit.data.table import Table

#: Written into every fingerprint, so that a change of the rules below changes all of them.
VERSION = b"tacit fingerprint 2"

#: Records hashed at a time; part of the rules.
CHUNK = 1 << 16


@dataclass(frozen=True)
class Digests:
    """What a fingerprint is made of: the number of records, and kind and digest of each column."""

    records: int
    columns: Mapping[str, tuple[str, bytes]]

    def total(self) -> str:
        """Return the fingerprint: the digest of everything but the hidden row number."""
        visible = {n: told for n, told in self.columns.items() if n != ROW}
        digest = hashlib.sha256(VERSION)
        digest.update(np.array([self.records, len(visible)], dtype="<i8").tobytes())
        for name, (kind, content) in visible.items():
            title = name.encode()
            digest.update(np.array([len(title)], dtype="<i8").tobytes() + title)
            digest.update(kind.encode().ljust(16, b"\0") + content)
        return digest.hexdigest()


def fingerprint(data: Microdata | pa.Table) -> str:
    """Return the SHA-256 of column names, kinds of types, values and nulls, in record order.

    Types count by kind: integers of any width are one kind, as are text, large text and dictionaries.
    A column without any value has no kind. So the fingerprint does not depend on the engine, the file
    format or how the records are split in chunks. The records are read once, in bounded memory.
    """
    if isinstance(data, Microdata):
        return digests(data).total()
    return hash_batches(data.to_reader()).total()


#: Digests of frames that are still in use; a frame never changes.
KNOWN: weakref.WeakKeyDictionary[Any, tuple[tuple[str, ...], Digests]] = weakref.WeakKeyDictionary()


def digests(data: Microdata) -> Digests:
    """Return the digest of each column of some data, and of their row numbers."""
    native, names = data.frame.to_native(), tuple(data.columns)
    found = KNOWN.get(native)
    if found is None or found[0] != names:
        made = data.engine.in_order(data.frame, lambda reader: hash_batches(reader, names))
        found = KNOWN[native] = (names, made)
    return found[1]


def hash_batches(reader: pa.RecordBatchReader, names: Sequence[str] | None = None) -> Digests:
    """Return the digests of what a reader gives, columns in the order of their names."""
    listed = reader.schema.names if names is None else [*names, ROW]
    columns = {n: ColumnHash() for n in listed}
    records = 0
    for table in cut(reader, CHUNK):
        records += table.num_rows
        for name, column in columns.items():
            column.add(table.column(name))
    return Digests(records, {n: column.result() for n, column in columns.items()})


def cut(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Yield tables of exactly this many records, but for the last."""
    held: list[pa.RecordBatch] = []
    n = 0
    for batch in batches:
        start = 0
        while batch.num_rows - start >= size - n:
            held.append(batch.slice(start, size - n))
            yield pa.Table.from_batches(held)
            start += size - n
            held, n = [], 0
        if start < batch.num_rows:
            held.append(batch.slice(start))
            n += batch.num_rows - start
    if held:
        yield pa.Table.from_batches(held)


class ColumnHash:
    """The digest of one column, chunk after chunk: validity, then values."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._kind = ""
        self._empty = True

    def add(self, column: pa.ChunkedArray) -> None:
        """Take in the next chunk."""
        array = plain_array(column)
        self._kind, values = normal_form(array)
        if array.null_count < len(array):
            self._empty = False
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        self._digest.update(np.packbits(valid).tobytes())
        for part in values:
            self._digest.update(part)

    def result(self) -> tuple[str, bytes]:
        """Return the kind of the column and its digest; a column without a value has neither."""
        return ("empty", b"") if self._empty else (self._kind, self._digest.digest())


def plain_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, dictionaries decoded and NaN as null."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # nothing but empty chunks
        array = pa.array([], column.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    return array


def normal_form(array: pa.Array) -> tuple[str, Iterator[bytes | memoryview]]:
    """Return the kind of an array and its values as bytes; the values under nulls are set to zero."""
    kind = array.type
    if pa.types.is_boolean(kind):
        return "boolean", iterate_fixed_width(array, pa.int64())
    if pa.types.is_integer(kind):
        return "integer", whole_numbers(array)
    if pa.types.is_floating(kind):
        # Adding zero makes -0.0 and 0.0 the same bytes.
        return "number", iterate_fixed_width(pc.add(pc.cast(array, pa.float64()), 0.0))
    if pa.types.is_date(kind):
        days = pc.cast(array, pa.date32())
        return "date", iterate_fixed_width(days, pa.int32(), pa.int64())
    if pa.types.is_timestamp(kind):
        moment = pa.timestamp("us", tz=kind.tz)
        return "timestamp", iterate_fixed_width(array, moment, pa.int64())
    if pa.types.is_time(kind):
        return "time", iterate_fixed_width(array, pa.time64("us"), pa.int64())
    if pa.types.is_duration(kind):
        return "duration", iterate_fixed_width(array, pa.duration("us"), pa.int64())
    if pa.types.is_decimal(kind):
        return "decimal", variable(pc.cast(array, pa.string()))
    if pa.types.is_nested(kind):
        texts = [
            None if v is None else json.dumps(v, default=str, sort_keys=True)
            for v in array.to_pylist()
        ]
        return "nested", variable(pa.array(texts, pa.large_string()))
    return "text", variable(array)


def whole_numbers(array: pa.Array) -> Iterator[bytes | memoryview]:
    """Yield integers of any width; chunks with some beyond 64 bits with sign go as text."""
    try:
        return iterate_fixed_width(pc.cast(array, pa.int64()))
    except pa.ArrowInvalid:
        return variable(pc.cast(array, pa.string()))


def iterate_fixed_width(array: pa.Array, *steps: pa.DataType) -> Iterator[bytes | memoryview]:
    """Yield the bytes of values of fixed width, cast step by step before."""
    for step in steps:
        array = pc.cast(array, step, safe=False)
    numbers = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
    ordered = np.ascontiguousarray(numbers, dtype=numbers.dtype.newbyteorder("<"))
    yield ordered.data.cast("B")


def variable(array: pa.Array) -> Iterator[bytes | memoryview]:
    """Yield lengths and bytes of text; the lengths keep neighbours apart."""
    binary = pc.fill_null(pc.cast(array, pa.large_binary()), b"")
    offsets = np.frombuffer(binary.buffers()[1], dtype=np.int64)[
        binary.offset : binary.offset + len(binary) + 1
    ]
    yield np.diff(offsets).astype("<i8").tobytes()
    content = binary.buffers()[2]
    if content is not None:
        yield memoryview(content)[int(offsets[0]) : int(offsets[-1])]


def table_fingerprint(table: Table) -> str:
    """Return the SHA-256 of a table's codes, values, status, levels and published values.

    Values count to nine significant digits: sums differ in the last ones from machine to machine.
    """
    digest = hashlib.sha256(VERSION + b" table")
    for d in table.dimensions:
        digest.update(json.dumps([d.name, list(d.codes)], ensure_ascii=False).encode())
    parts = [
        table.value,
        table.published,
        table.lower_level,
        table.upper_level,
        table.sliding_level,
    ]
    if table.interval is not None:
        parts += [table.interval[:, 0], table.interval[:, 1]]
    digest.update(table.status.astype("<i1").tobytes())
    for part in parts:
        digest.update(significant(np.asarray(part, dtype=np.float64)).astype("<f8").tobytes())
    return digest.hexdigest()


def significant(values: np.ndarray, digits: int = 9) -> np.ndarray:
    """Round to significant digits; NaN and infinities stay."""
    finite = np.isfinite(values) & (values != 0)
    out = values.copy()
    scale = ten_to(digits - 1 - np.floor(np.log10(np.abs(values[finite]))))
    out[finite] = np.round(values[finite] * scale) / scale
    return out + 0.0
