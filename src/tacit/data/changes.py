"""How data differ from what they were: records dropped or added, cells changed, by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.data.fingerprint import digests
from tacit.data.microdata import Microdata
from tacit.data.paired import shared_positions
from tacit.engine.base import ROW
from tacit.engine.memory import held_table


def changes(before: Microdata, after: Microdata) -> dict[str, Any]:
    """Return how many records were dropped or added and how many cells changed, by column."""
    if after.history and after.history[-1].details.get("links_lost"):
        return {"records_before": len(before), "records_after": len(after), "links_lost": True}
    shared = [c for c in after.columns if c in before.columns]
    here = comparable_tables(before, after, shared)
    kept, cells = (
        count_by_digests(before, after, shared) if here is None else count_in_memory(*here, shared)
    )
    n_before, n_after = len(before), len(after)
    return {
        "records_before": n_before,
        "records_after": n_after,
        "dropped": n_before - kept,
        "added": n_after - kept,
        "columns_removed": [c for c in before.columns if c not in after.columns],
        "columns_added": [c for c in after.columns if c not in before.columns],
        "cells": {c: n for c, n in cells.items() if n},
    }


def comparable_tables(
    before: Microdata, after: Microdata, shared: Sequence[str]
) -> tuple[pa.Table, pa.Table] | None:
    """Return both tables when they are in memory, of equal types, and no record is there twice."""
    tables = held_table(before.frame), held_table(after.frame)
    if tables[0] is None or tables[1] is None:
        return None
    old = before.to_arrow(shared, with_row=True)
    new = after.to_arrow(shared, with_row=True)
    rows = new.column(ROW).to_numpy()
    twice = len(rows) > 1 and bool((rows[1:] == rows[:-1]).any())
    return (old, new) if old.schema.types == new.schema.types and not twice else None


def count_in_memory(
    old: pa.Table, new: pa.Table, shared: Sequence[str]
) -> tuple[int, Mapping[str, int]]:
    """Count the records in both tables and the cells that differ; a column left alone costs nothing."""
    at_old, at_new = shared_positions(old.column(ROW).to_numpy(), new.column(ROW).to_numpy())

    def matched(table: pa.Table, at: np.ndarray, column: str) -> pa.ChunkedArray:
        values = table.column(column)
        return values if len(at) == len(values) else values.take(pa.array(at))

    return len(at_old), {
        c: count_differences(matched(old, at_old, c), matched(new, at_new, c)) for c in shared
    }


def count_differences(old: pa.ChunkedArray, new: pa.ChunkedArray) -> int:
    """Count the rows in which two columns of one type differ; null equals null."""
    if old.equals(new):
        return 0
    value_change = pc.fill_null(pc.not_equal(old, new), False)
    null_change = pc.not_equal(pc.is_null(old), pc.is_null(new))
    return int(pc.sum(pc.or_(null_change, value_change)).as_py() or 0)


def count_by_digests(
    before: Microdata, after: Microdata, shared: Sequence[str]
) -> tuple[int, Mapping[str, int]]:
    """Count on the engine, but leave out columns that the digests of both frames show to be the same."""
    old, new = digests(before), digests(after)
    aligned = old.records == new.records and old.columns[ROW] == new.columns[ROW]
    asked = [c for c in shared if not aligned or old.columns[c] != new.columns[c]]
    if aligned and not asked:
        return old.records, {}
    return count_on_engine(before, after, asked)


def count_on_engine(
    before: Microdata, after: Microdata, shared: Sequence[str]
) -> tuple[int, Mapping[str, int]]:
    """Count the records in both frames and the cells that differ, with one join on the engine."""
    left = before.frame.select(ROW, *[nw.col(c).alias(f"b{i}") for i, c in enumerate(shared)])
    right = after.frame.select(ROW, *[nw.col(c).alias(f"a{i}") for i, c in enumerate(shared)])
    joined = left.join(right, on=ROW, how="inner")
    schema = joined.collect_schema()
    counts = [nw.len().cast(nw.Int64).alias("kept")]
    counts += [
        differs(f"b{i}", f"a{i}", same=schema[f"b{i}"] == schema[f"a{i}"]).alias(f"n{i}")
        for i in range(len(shared))
    ]
    facts = joined.select(*counts).collect("pyarrow").rows(named=True)[0]
    return int(facts["kept"]), {c: int(facts[f"n{i}"] or 0) for i, c in enumerate(shared)}


def differs(old: str, new: str, *, same: bool) -> nw.Expr:
    """Count the rows in which two columns differ; null equals null."""
    a, b = (
        (nw.col(old), nw.col(new))
        if same
        else (nw.col(old).cast(nw.String), nw.col(new).cast(nw.String))
    )
    null_change = nw.col(old).is_null() != nw.col(new).is_null()
    value_change = (a != b).fill_null(value=False)
    return (null_change | value_change).cast(nw.Int64).sum()
