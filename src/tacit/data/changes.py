"""What a step did to records: how many went or came, and how many cells of each column changed."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from tacit.data.fingerprint import digests
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW


def changes(before: Microdata, after: Microdata) -> dict[str, Any]:
    """Return how many records were dropped or added and how many cells changed, by column.

    Columns whose digests agree are the same; only the others are joined and compared, on the engine.
    """
    if after.history and after.history[-1].details.get("links_lost"):
        return {"records_before": len(before), "records_after": len(after), "links_lost": True}
    old, new = digests(before), digests(after)
    shared = [c for c in after.columns if c in before.columns]
    aligned = old.columns[ROW] == new.columns[ROW] and old.records == new.records
    asked = [c for c in shared if not aligned or old.columns[c] != new.columns[c]]
    kept, cells = compare(before, after, asked) if asked or not aligned else (old.records, {})
    return {
        "records_before": old.records,
        "records_after": new.records,
        "dropped": old.records - kept,
        "added": new.records - kept,
        "columns_removed": [c for c in before.columns if c not in after.columns],
        "columns_added": [c for c in after.columns if c not in before.columns],
        "cells": {c: n for c, n in cells.items() if n},
    }


def compare(before: Microdata, after: Microdata, columns: list[str]) -> tuple[int, dict[str, int]]:
    """Return how many records are in both, and how many of them differ in each column."""
    left = before.frame.select(ROW, *[nw.col(c).alias(f"b{i}") for i, c in enumerate(columns)])
    right = after.frame.select(ROW, *[nw.col(c).alias(f"a{i}") for i, c in enumerate(columns)])
    joined = left.join(right, on=ROW, how="inner")
    schema = joined.collect_schema()
    counts = [nw.len().cast(nw.Int64).alias("kept")]
    counts += [
        differs(f"b{i}", f"a{i}", same=schema[f"b{i}"] == schema[f"a{i}"]).alias(f"n{i}")
        for i in range(len(columns))
    ]
    facts = joined.select(*counts).collect("pyarrow").rows(named=True)[0]
    return int(facts["kept"]), {c: int(facts[f"n{i}"] or 0) for i, c in enumerate(columns)}


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
