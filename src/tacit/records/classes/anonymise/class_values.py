"""Numeric keys that get one value a class: its mean, its median, or the interval that it spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal

import numpy as np
import pyarrow as pa

from tacit.arrays import Floats, Ints
from tacit.data.hierarchies.intervals import text
from tacit.data.microdata import Microdata
from tacit.engine.codes import dense_ids, encode
from tacit.stats.class_models import sum_by

Aggregate = Literal["mean", "median", "interval"]


def aggregate_classes(
    data: Microdata, keys: Sequence[str], how: Mapping[str, Aggregate], weight: str | None
) -> Microdata:
    """Return the data with each column of ``how`` replaced by one value in each class of the keys.

    Missing values are left out; a class that has no others stays missing. ``weight`` names the column by
    which means and medians are weighted.
    """
    if not how:
        return data
    table = data.to_arrow(list(dict.fromkeys([*keys, *how, *([weight] if weight else [])])))
    coded = [encode(table.column(k)) for k in keys]
    classes, count = dense_ids([c.codes for c in coded], [c.size for c in coded])
    amounts = np.ones(table.num_rows)
    if weight is not None:
        amounts = table.column(weight).to_numpy(zero_copy_only=False).astype(np.float64)
        # In a class without any weight all records count the same.
        amounts = np.where(sum_by(classes, amounts, count)[classes] > 0, amounts, 1.0)
    columns = {}
    for name, wanted in how.items():
        column = table.column(name)
        x = column.to_numpy(zero_copy_only=False).astype(np.float64)
        known = ~np.isnan(x)
        # Sorted by value, sums do not depend on the order of the records.
        order = np.lexsort([amounts, x, classes])
        order = order[known[order]]
        whole = pa.types.is_integer(column.type)
        found = summarise(classes[order], x[order], amounts[order], count, wanted, whole)
        columns[name] = found.take(pa.array(classes))
    return data.replace(columns)


def summarise(
    classes: Ints, x: Floats, amounts: Floats, count: int, how: Aggregate, whole: bool
) -> pa.Array:
    """Return one value a class, null where it has none; rows ascend by class and value."""
    if not len(classes):
        return pa.nulls(count, pa.string() if how == "interval" else pa.float64())
    begins = np.flatnonzero(np.diff(classes, prepend=-1))
    present = classes[begins]
    ends = np.append(begins[1:], len(classes))
    place = np.full(count, -1, dtype=np.int64)
    place[present] = np.arange(len(present))
    if how == "interval":
        spans = [span(a, b, whole) for a, b in zip(x[begins], x[ends - 1], strict=True)]
        values = pa.array(spans, pa.string())
    elif how == "mean":
        sums = np.add.reduceat(amounts * x, begins) / np.add.reduceat(amounts, begins)
        # Rounding must not carry a mean out of its class.
        values = pa.array(np.clip(sums, x[begins], x[ends - 1]))
    else:
        values = pa.array(middle(x, amounts, begins, ends))
    return values.take(pa.array(place, mask=place < 0))


def middle(x: Floats, amounts: Floats, begins: Ints, ends: Ints) -> Floats:
    """Return the median of each class: the mean of the values on both sides of half the weight."""
    total = np.cumsum(amounts)
    before = total[begins] - amounts[begins]
    half = before + (total[ends - 1] - before) / 2
    room = 1e-12 * max(float(total[-1]), 1.0)
    low = np.minimum(np.searchsorted(total, half - room), ends - 1)
    high = np.minimum(np.searchsorted(total, half + room), ends - 1)
    return np.asarray((x[low] + x[high]) / 2)


def span(low: float, high: float, whole: bool) -> str:
    """Return an interval as text, both ends in it; a single value as itself."""
    first, last = (text(Decimal(repr(int(v) if whole else float(v)))) for v in (low, high))
    if low == high:
        return first
    if not whole:
        return f"[{first}, {last}]"
    return f"{first} to {last}" if low < 0 else f"{first}-{last}"
