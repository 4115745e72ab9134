"""Steps that refuse missing values and would meet them, known before any work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from tacit.data.block import format_columns
from tacit.data.microdata import Microdata
from tacit.spec import Method


def missing_faults(steps: Sequence[Method[Any]], data: Microdata) -> list[str]:
    """Return which steps would refuse the missing values of columns that no step before them touches."""
    touched: set[str] = set()
    asked: list[tuple[int, Method[Any], list[str]]] = []
    for i, step in enumerate(steps, 1):
        if step.acts_on() is not Microdata:
            continue
        mine = [c for c in step.targets(data) if c in data.columns]
        policy = getattr(step, "missing", None)
        if policy == "refuse":
            asked.append((i, step, [c for c in mine if c not in touched]))
        # Neither who refuses nor who keeps missing values fills them.
        touched |= set() if policy in ("refuse", "keep") else set(mine)
    holed = find_columns_with_missing(data, sorted({c for *_, columns in asked for c in columns}))
    return [
        f"step {i} ({step.kind}): {format_columns(bad)} has missing values. Impute them first, or see its parameter "
        "'missing'."
        for i, step, columns in asked
        if (bad := [c for c in columns if c in holed])
    ]


def find_columns_with_missing(data: Microdata, columns: Sequence[str]) -> set[str]:
    """Return those of some columns that lack a value somewhere."""
    if not columns:
        return set()
    sums = [
        nw.col(c).is_null().cast(nw.Int64).sum().alias(f"__m{j}__") for j, c in enumerate(columns)
    ]
    counts = data.frame.select(*sums).collect("pyarrow").rows()[0]
    return {c for c, n in zip(columns, counts, strict=True) if n}
