"""The largest rows of every group: an aggregate where the engine has one, a window elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from tacit.engine.base import ROW

Frame = nw.LazyFrame[Any]

#: DuckDB's ``max_by`` with a count takes fewer than a million.
LARGEST_AGGREGATE = 1_000_000

AT, FOUND, SIZE = "__at__", "__found__", "__size__"


def keep_largest(frame: Frame, keys: Sequence[str], size: str, n: int) -> Frame:
    """Return the n rows of each group that are largest by a column without nulls; ties to the smaller ROW.

    The aggregate holds n rows a group and passes over the rows once. The window sorts all of them, which
    took eleven times as long on a million rows.
    """
    if frame.implementation.is_duckdb() and n < LARGEST_AGGREGATE:
        return aggregate_largest(frame, keys, size, n)
    return window_largest(frame, keys, size, n)


def aggregate_largest(frame: Frame, keys: Sequence[str], size: str, n: int) -> Frame:
    """Return the largest rows with DuckDB's ``max_by(row, order, n)``; structs compare field by field."""
    from tacit.engine.duckdb import quote_identifier, wrap

    names = frame.collect_schema().names()
    by = ", ".join(quote_identifier(k) for k in keys)
    rest = ", ".join(
        f"{quote_identifier(c)} := {quote_identifier(c)}" for c in names if c not in keys
    )
    order = f"struct_pack(a := {quote_identifier(size)}, b := -{quote_identifier(ROW)})"
    found = f"unnest(max_by(struct_pack({rest}), {order}, {n})) AS {FOUND}"
    grouped = frame.to_native().aggregate(f"{by}, {found}", by)
    return wrap(grouped.project(f"{by}, unnest({FOUND})")).select(*names)


def window_largest(frame: Frame, keys: Sequence[str], size: str, n: int) -> Frame:
    """Return the largest rows by numbering each group's rows in descending order."""
    names = frame.collect_schema().names()
    ranked = frame.with_columns((-nw.col(size)).alias(SIZE)).with_columns(
        nw.col(ROW).cum_count().over(*keys, order_by=[SIZE, ROW]).alias(AT)
    )
    return ranked.filter(nw.col(AT) <= n).select(*names)
