"""What a step changed in records: how many were dropped or added, and how many cells differ."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from tacit.data.microdata import Microdata
from tacit.engine import relational
from tacit.engine.base import ROW


def changes(before: Microdata, after: Microdata) -> dict[str, Any]:
    """Return how many records were dropped or added and how many cells changed, by column."""
    if after.history and after.history[-1].details.get("links_lost"):
        return {"records_before": len(before), "records_after": len(after), "links_lost": True}
    shared = [c for c in after.columns if c in before.columns]
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
    kept = int(facts["kept"])
    return {
        "records_before": len(before),
        "records_after": relational.count_rows(after.frame),
        "dropped": len(before) - kept,
        "added": relational.count_rows(after.frame) - kept,
        "columns_removed": [c for c in before.columns if c not in after.columns],
        "columns_added": [c for c in after.columns if c not in before.columns],
        "cells": {c: int(facts[f"n{i}"] or 0) for i, c in enumerate(shared) if facts[f"n{i}"]},
    }


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
