"""Columns as NumPy arrays and back, for methods that work on the records in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Floats, Ints
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.codes import Cells, densify, group_ids
from tacit.engine.relational import count_where
from tacit.errors import InputError, RoleMissing


@dataclass(frozen=True)
class Numbers:
    """A numeric column."""

    #: int64 for whole-number columns, else float64; where nothing is known, 0.
    values: npt.NDArray[Any]
    #: False where the value is missing.
    known: Flags
    #: The column's own Arrow type.
    type: pa.DataType

    @property
    def whole(self) -> bool:
        """Return True for a column of whole numbers."""
        return self.values.dtype == np.int64

    @property
    def floats(self) -> Floats:
        """Return the numbers as floats, NaN where one is missing."""
        return np.where(self.known, self.values, np.nan).astype(np.float64, copy=False)

    def restore(self, values: npt.NDArray[Any]) -> pa.Array:
        """Return values as an Arrow array, in the column's own type where they fit it."""
        if values.dtype == np.float64 and np.isinf(values[self.known]).any():
            if np.isinf(self.values[self.known]).any():
                raise InputError(
                    "a column holds infinite values; leave them out or make them missing"
                )
            raise InputError(
                "this gives numbers beyond what a computer holds: a parameter is too large for these data"
            )
        array = pa.array(values, mask=~self.known)
        if self.whole and values.dtype != np.int64:
            return array
        return array.cast(self.type)


def is_number(kind: pa.DataType) -> bool:
    """Return True for types of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def read_numeric_column(data: Microdata, column: str) -> Numbers:
    """Return a numeric column in record order."""
    return as_numbers(data.column(column), column)


def as_numbers(array: pa.ChunkedArray | pa.Array, column: str) -> Numbers:
    """Return an Arrow column of numbers as NumPy arrays."""
    known = pc.is_valid(array).to_numpy(zero_copy_only=False)
    whole = pa.types.is_integer(array.type)
    try:
        cast = array.cast(pa.int64() if whole else pa.float64())
    except pa.ArrowInvalid:
        raise InputError(
            f"column {column!r} holds whole numbers beyond 64 bits; store it as numbers with decimals"
        ) from None
    values = pc.fill_null(cast, 0).to_numpy(zero_copy_only=False)
    return Numbers(values, known.astype(bool), array.type)


def not_numeric(data: Microdata, columns: Iterable[str], kind: str) -> list[InputError]:
    """Return a fault for every column that exists but holds no numbers."""
    schema = data.frame.collect_schema()
    return [
        InputError(f"{kind}: column {c!r} does not hold numbers")
        for c in columns
        if c in data.columns and not schema[c].is_numeric()
    ]


def target_faults(
    data: Microdata, targets: Sequence[str], kind: str, lack: str
) -> list[InputError]:
    """Return the fault of having no columns to work on, or one twice, and of every one without numbers."""
    fine = targets and len(set(targets)) == len(targets)
    none = [] if fine else [InputError(f"{kind}: {lack}")]
    return [*none, *not_numeric(data, targets, kind)]


#: Numbers whose squares, and sums of these, stay within the range of a double.
MODERATE = (1e-150, 1e150)


def household_faults(spec: Any, data: Microdata, more: str = "") -> list[RoleMissing]:
    """Return that a step which works on households has none: they are neither named nor declared."""
    if spec.household is not None or data.household is not None:
        return []
    return [
        RoleMissing(
            f"{spec.kind} needs a household, and the data declare none. Declare it with tacit.read(..., household=...), "
            f"or name the column{more}."
        )
    ]


def extreme_columns(data: Microdata) -> list[str]:
    """Return the columns that hold numbers whose squares leave the range of a double."""
    schema = data.frame.collect_schema()
    names = [c for c in data.columns if schema[c].is_float()]
    low, high = MODERATE
    sizes = [nw.col(c).abs() for c in names]
    beyond = count_where(data.frame, [(s > high) | ((s > 0) & (s < low)) for s in sizes])
    return [c for c, n in zip(names, beyond, strict=True) if n]


def classes(data: Microdata, columns: Sequence[str]) -> tuple[Ints, int]:
    """Return a class number 0, 1, ... a record for the classes of some columns; one class for none."""
    if not columns:
        return np.zeros(len(data), dtype=np.int64), 1
    coded = [data.codes(c) for c in columns]
    ids, _ = group_ids([c.codes for c in coded], [c.size for c in coded])
    return densify(ids)


def tuples_at(data: Microdata, cells: Cells, at: Ints, levels: Mapping[str, int]) -> pa.Table:
    """Return the key tuples of some cells as they stand when each key is raised to its level."""
    columns = {}
    for key, level in levels.items():
        ground = cells.keys[key].decode(cells.keys[key].codes[at])
        columns[key] = data.hierarchy(key).raise_values(ground, level) if level else ground
    return pa.table(columns)


def row_numbers(data: Microdata) -> Ints:
    """Return the hidden row numbers in record order."""
    table = data.engine.to_arrow(data.frame.select(ROW))
    return np.sort(table.column(ROW).to_numpy().astype(np.int64))


#: Row numbers given after reading start at multiples of this, so that none was ever another record's.
GENERATION = 1 << 52


def unused_row_number(data: Microdata) -> int:
    """Return a row number from which no record, present or dropped, has ever carried one."""
    top = data.frame.select(nw.col(ROW).max()).collect("pyarrow").item(0, ROW)
    return GENERATION * (1 if top is None else int(top) // GENERATION + 1)


def drop_stale_descriptions(
    data: Microdata, columns: Iterable[str], *, lose: str | None = None
) -> Microdata:
    """Return the data with descriptions that no longer fit new values taken off some columns.

    Value labels, missing codes and the format of the file of origin belong to the old values;
    ``lose`` names a role that the columns give up as well.
    """
    changed = {
        c: replace(
            data.columns[c],
            roles=data.columns[c].roles - {lose},
            labels={},
            missing=(),
            format={},
        )
        for c in columns
    }
    return data.with_columns_described(changed)


def as_frame(columns: Mapping[str, Any] | pa.Table) -> nw.DataFrame[Any]:
    """Return columns, or a table, as an eager frame: the detail of a result."""
    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    return nw.from_native(table, eager_only=True)
