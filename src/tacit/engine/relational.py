"""Relational steps, written once for every engine.

Rules learnt by measurement: counts are attached by a window or by joins on codes, never by a join on
raw keys (nulls do not match in a join); counts are cast to Int64; nothing is rounded, cast from float
to integer, hashed or drawn at random inside an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa
import pyarrow.compute as pc

from tacit.engine.base import Engine
from tacit.engine.exact_sums import sum_columns
from tacit.engine.memory import held_codes, held_table
from tacit.engine.names import aggregate

Frame = nw.LazyFrame[Any]

N = "__n__"
W = "__w__"


def counts(frame: Frame, keys: Sequence[str], weight: str | None = None) -> Frame:
    """Return one row per class with its size ``__n__`` (and the sum of weights ``__w__``)."""
    size = nw.len().cast(nw.Int64).alias(N)
    if weight is None:
        return aggregate(frame, keys, size)
    return sum_columns(frame, keys, {W: weight}, size)


def attach_counts(frame: Frame, keys: Sequence[str], name: str = N) -> Frame:
    """Return the frame with the size of each record's class in a new column."""
    return frame.with_columns(nw.len().over(*keys).cast(nw.Int64).alias(name))


def count_rows(frame: Frame) -> int:
    """Return the number of rows."""
    table = held_table(frame)
    if table is not None:
        return int(table.num_rows)
    return int(frame.select(nw.len().alias(N)).collect("pyarrow").item(0, N))


def count_where(frame: Frame, conditions: Sequence[nw.Expr]) -> list[int]:
    """Return how many rows meet each condition, counted in one pass."""
    if not conditions:
        return []
    sums = [e.cast(nw.Int64).sum().alias(f"c{i}") for i, e in enumerate(conditions)]
    return [int(n or 0) for n in frame.select(*sums).collect("pyarrow").row(0)]


def fetch_distinct(frame: Frame, column: str) -> pa.Array:
    """Return the distinct values of a column that are not null, in ascending order."""
    coded = held_codes(frame, [column])
    if coded is not None:
        return coded[0].values
    # A group-by, not unique(): on SQL engines that becomes a window, ten times slower.
    known = frame.select(column).filter(~nw.col(column).is_null())
    table = aggregate(known, [column], nw.len().alias(N)).collect("pyarrow")
    array = table.to_native().column(column).combine_chunks()
    return array.take(pc.sort_indices(array))


def recode(frame: Frame, column: str, mapping: pa.Table, engine: Engine) -> Frame:
    """Replace a column's values by ``mapping`` (columns ``old`` and ``new``); null stays null.

    A value that the mapping lacks becomes null: callers make sure that it lacks none.
    """
    old, new = "__old__", "__new__"
    table = engine.from_arrow(mapping.rename_columns([old, new]))
    order = frame.collect_schema().names()
    joined = frame.join(table, left_on=column, right_on=old, how="left")
    return joined.with_columns(nw.col(new).alias(column)).select(*order)


def distinct_per_class(frame: Frame, keys: Sequence[str], column: str) -> Frame:
    """Return one row per class: its size and how many different values of ``column`` it holds.

    A null counts as one value of its own.
    """
    pairs = class_values(frame, keys, column)
    return aggregate(
        pairs,
        keys,
        nw.len().cast(nw.Int64).alias("distinct"),
        nw.col(N).sum().cast(nw.Int64).alias(N),
    )


def class_values(frame: Frame, keys: Sequence[str], column: str) -> Frame:
    """Return one row per class and value of ``column``, with the number of records ``__n__``."""
    return aggregate(frame, [*keys, column], nw.len().cast(nw.Int64).alias(N))


def drop_matching(frame: Frame, keys: Sequence[str], gone: pa.Table, engine: Engine) -> Frame:
    """Drop the records whose key tuple stands in ``gone``; a null equals a null.

    Joins do not match nulls, so a key that is null somewhere in ``gone`` is compared as text with a
    mark beside it.
    """
    order = frame.collect_schema().names()
    nullable = [k for k in keys if gone.column(k).null_count]

    def marked(part: Frame) -> Frame:
        texts = [nw.col(k).cast(nw.String).fill_null("").alias(f"__text_{k}__") for k in nullable]
        marks = [nw.col(k).is_null().alias(f"__null_{k}__") for k in nullable]
        return part.with_columns(*texts, *marks) if nullable else part

    on = [k for k in keys if k not in nullable]
    on += [f"__{what}_{k}__" for k in nullable for what in ("text", "null")]
    listed = marked(engine.from_arrow(gone)).select(*on)
    return marked(frame).join(listed, on=on, how="anti").select(*order)
