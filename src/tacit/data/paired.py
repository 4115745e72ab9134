"""Original and released numbers side by side, for measures that compare them record by record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tacit.data.microdata import Microdata
from tacit.data.values import Floats, Ints, as_numbers, read_numeric_column
from tacit.engine.base import ROW
from tacit.errors import InputError


@dataclass(frozen=True)
class Pairs:
    """Numeric columns of two files: all records of each, and where the shared ones stand.

    Attributes
    ----------
    before, after
        One row per record, one column per column; NaN where missing.
    old, new
        Positions of the records that are in both files, in ``before`` and in ``after``.
    """

    before: Floats
    after: Floats
    old: Ints
    new: Ints


def pairs(original: Microdata, released: Microdata, columns: Sequence[str], kind: str) -> Pairs:
    """Return the numbers of some columns in both files, linked by record."""
    if any(a.details.get("links_lost") for a in released.history[len(original.history) :]):
        raise InputError(
            f"{kind}: the records were put in random order, so they cannot be compared with the original. Measure before that step."
        )
    old = original.to_arrow(columns, with_row=True)
    new = released.to_arrow(columns, with_row=True)
    at_old, at_new = shared_positions(old.column(ROW).to_numpy(), new.column(ROW).to_numpy())
    return Pairs(matrix(old, columns), matrix(new, columns), at_old, at_new)


def shared_positions(old: Ints, new: Ints) -> tuple[Ints, Ints]:
    """Return where the numbers that stand in both arrays are found; both are ascending."""
    if np.array_equal(old, new):
        everyone = np.arange(len(old))
        return everyone, everyone
    _, at_old, at_new = np.intersect1d(old, new, assume_unique=True, return_indices=True)
    return at_old.astype(np.int64), at_new.astype(np.int64)


def matrix(table: pa.Table, columns: Sequence[str]) -> Floats:
    """Return columns of a table as an array with NaN where missing."""
    out = np.empty((table.num_rows, len(columns)))
    for i, c in enumerate(columns):
        column = as_numbers(table.column(c), c)
        out[:, i] = np.where(column.known, column.values, np.nan)
    return out


def shared_numeric(original: Microdata, released: Microdata) -> list[str]:
    """Return the numeric columns that original and release share; the weight is none of them."""
    old, new = original.frame.collect_schema(), released.frame.collect_schema()
    return [
        c
        for c in original.columns
        if c in released.columns
        and c != original.weight
        and old[c].is_numeric()
        and new[c].is_numeric()
    ]


def weights_of(data: Microdata) -> Floats:
    """Return the survey weights in record order; ones when none are declared."""
    if data.weight is None:
        return np.ones(len(data))
    column = read_numeric_column(data, data.weight)
    weights = column.values.astype(np.float64)
    if len(weights) and (not column.known.all() or (weights < 0).any() or weights.sum() <= 0):
        raise InputError(
            f"the weight column {data.weight!r} must be complete, without negative numbers, and not all 0"
        )
    return weights
