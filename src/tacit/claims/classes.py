"""What the checks on records share: sizes of classes, by one group-by on the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from tacit.arrays import Ints
from tacit.engine.names import aggregate

Frame = nw.LazyFrame[Any]
SIZE = "__size__"


def class_sizes(frame: Frame, columns: Sequence[str]) -> Frame:
    """Return the classes of equal records, with the number of records in each; null equals null."""
    return aggregate(frame, columns, nw.len().alias(SIZE))


def smallest_class(frame: Frame, columns: Sequence[str]) -> int | None:
    """Return the size of the smallest class, or None when there are no rows."""
    sizes = class_sizes(frame, columns)
    found = sizes.select(nw.col(SIZE).min()).collect("pyarrow").item(0, SIZE)
    return None if found is None else int(found)


def label_text(value: Any) -> str | None:
    """Return a value as it is compared: 7, 7.0 and "7" are the same, dates in ISO form."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    return str(value)


def number_values(values: list[object]) -> Ints:
    """Return a number for each value, -1 for a missing one."""
    number: dict[object, int] = {None: -1}
    return np.array([number.setdefault(v, len(number)) for v in values], dtype=np.int64)
