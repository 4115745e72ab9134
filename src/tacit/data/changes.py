"""How data differ from what they were: records dropped or added, cells changed, by column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Ints
from tacit.data.fingerprint import digests
from tacit.data.microdata import Microdata
from tacit.data.paired import held_tables, shared_positions
from tacit.engine.base import ROW
from tacit.engine.coded import Coded
from tacit.engine.memory import held_codes

#: Types whose values every engine writes as the same text.
WRITTEN_ALIKE = (
    pa.string(),
    pa.bool_(),
    pa.date32(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
)


def changes(before: Microdata, after: Microdata) -> dict[str, Any]:
    """Return how many records were dropped or added and how many cells changed, by column."""
    if after.history and after.history[-1].details.get("links_lost"):
        return {"records_before": len(before), "records_after": len(after), "links_lost": True}
    shared = [c for c in after.columns if c in before.columns]
    kept, cells = count_kept(before, after, shared)
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


def count_kept(
    before: Microdata, after: Microdata, shared: Sequence[str]
) -> tuple[int, Mapping[str, int]]:
    """Return how many records are in both, and how many cells of each column changed."""
    return count_in_memory(before, after, shared) or count_by_digests(before, after, shared)


def comparable_tables(
    before: Microdata, after: Microdata, shared: Sequence[str]
) -> tuple[pa.Table, pa.Table] | None:
    """Return both tables when they are in memory, of types that compare, and no record is there twice."""
    here = held_tables(before, after)
    types = [[table.schema.field(c).type for table in here] for c in shared] if here else []
    alike = all(a == b or (a in WRITTEN_ALIKE and b in WRITTEN_ALIKE) for a, b in types)
    return here if alike else None


def count_in_memory(
    before: Microdata, after: Microdata, shared: Sequence[str]
) -> tuple[int, Mapping[str, int]] | None:
    """Count the records in both tables and the cells that differ; None when they must be fetched.

    A column left alone costs nothing, and columns of few values are compared by their codes.
    """
    here = comparable_tables(before, after, shared)
    if here is None:
        return None
    at_old, at_new = shared_positions(*(table.column(ROW).to_numpy() for table in here))

    def count(column: str) -> int:
        old, new = (table.column(column) for table in here)
        if len(at_old) == len(old) == len(new) and old.type == new.type and old.equals(new):
            return 0
        coded = held_codes(before.frame, [column]), held_codes(after.frame, [column])
        if coded[0] is not None and coded[1] is not None:
            return count_different_codes(coded[0][0], coded[1][0], at_old, at_new)
        return count_differences(old.take(pa.array(at_old)), new.take(pa.array(at_new)))

    return len(at_old), {c: count(c) for c in shared}


def count_different_codes(old: Coded, new: Coded, at_old: Ints, at_new: Ints) -> int:
    """Count the rows in which two coded columns differ; null equals null."""
    values = old.values, new.values
    if values[0].type != values[1].type:
        values = values[0].cast(pa.string()), values[1].cast(pa.string())
    place = pc.fill_null(pc.index_in(values[1], value_set=values[0]), -1).to_numpy()
    as_old = np.append(place, old.null)
    return int((as_old[new.codes[at_new]] != old.codes[at_old]).sum())


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
