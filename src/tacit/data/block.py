"""A block of numeric columns as one matrix, for methods that mask several numbers of a record together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats
from tacit.data.microdata import Microdata
from tacit.data.values import Numbers, as_numbers
from tacit.errors import InputError

Missing = Literal["refuse", "keep"]

#: Whole numbers beyond this cannot be told apart as floats.
WHOLE_LIMIT = 2**53
#: Squares and sums of larger numbers overflow.
LARGEST = 1e100


@dataclass(frozen=True)
class Block:
    """Numeric columns of some records."""

    #: Their names.
    columns: tuple[str, ...]
    #: The columns as they were.
    table: tuple[Numbers, ...]
    #: One row per record, one column per column; NaN where missing.
    values: Floats
    #: The records without a missing value: those that a method works on.
    complete: Flags

    @property
    def x(self) -> Floats:
        """Return the complete records."""
        return self.values if self.complete.all() else self.values[self.complete]

    def released(self, masked: Floats, *, whole: bool = False) -> dict[str, pa.Array]:
        """Return the columns with the complete records' values replaced by ``masked``.

        Records with a missing value keep what they have. ``whole`` rounds whole-number columns; without
        it they become numbers with decimals.
        """
        return {
            c: self.column_of(column, masked[:, j], whole=whole)
            for j, (c, column) in enumerate(zip(self.columns, self.table, strict=True))
        }

    def column_of(self, column: Numbers, masked: Floats, *, whole: bool) -> pa.Array:
        """Return one released column."""
        if column.whole and whole:
            rounded = np.sign(masked) * np.floor(np.abs(masked) + 0.5)
            new = column.values.copy()
            new[self.complete] = np.clip(rounded, -WHOLE_LIMIT, WHOLE_LIMIT).astype(np.int64)
        else:
            new = column.values.astype(np.float64)
            new[self.complete] = masked
        return column.restore(new)


def read_block(
    data: Microdata,
    columns: Sequence[str],
    kind: str,
    *,
    missing: Missing = "refuse",
    otherwise: str = ", or give missing='keep'",
) -> Block:
    """Return numeric columns as a block; refuse numbers too large, and missing ones when told so.

    ``otherwise`` says what a user may do instead of imputing missing values.
    """
    read = data.to_arrow(tuple(columns))
    table = tuple(as_numbers(read.column(c), c) for c in columns)
    values = np.empty((read.num_rows, len(columns)))
    for j, column in enumerate(table):
        values[:, j] = column.floats
    endless = [c for c, v in zip(columns, values.T, strict=True) if (np.abs(v) > LARGEST).any()]
    if endless:
        raise InputError(
            f"{kind}: {format_columns(endless)} holds infinite numbers, or numbers beyond 1e100. Clean or leave out such columns."
        )
    coarse = [
        c
        for c, column in zip(columns, table, strict=True)
        if column.whole and ((column.values > WHOLE_LIMIT) | (column.values < -WHOLE_LIMIT)).any()
    ]
    if coarse:
        raise InputError(
            f"{kind}: {format_columns(coarse)} holds whole numbers beyond 2^53, which arithmetic would change. Use another unit, or leave out such columns."
        )
    holed = [c for c, column in zip(columns, table, strict=True) if not column.known.all()]
    if holed and missing == "refuse":
        raise InputError(
            f"{kind}: {format_columns(holed)} has missing values. Impute them first{otherwise}."
        )
    return Block(tuple(columns), table, values, np.asarray(~np.isnan(values).any(axis=1)))


def list_maskable_columns(data: Microdata) -> tuple[str, ...]:
    """Return the numeric columns that are neither identifiers nor weight, household or stratum."""
    schema = data.frame.collect_schema()
    apart = {*data.identifiers, data.weight, data.household, data.stratum}
    return tuple(c for c in data.columns if c not in apart and schema[c].is_numeric())


def shared_maskable(original: Microdata, released: Microdata) -> list[str]:
    """Return the columns that a method may mask and that are numbers in the release as well."""
    schema = released.frame.collect_schema()
    return [
        c
        for c in list_maskable_columns(original)
        if c in released.columns and schema[c].is_numeric()
    ]


def format_columns(columns: Sequence[str]) -> str:
    """Return column names as they stand in a message."""
    return ", ".join(map(repr, columns))
