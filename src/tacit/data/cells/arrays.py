"""Arrays as the cells of a table: one axis per dimension, or one entry per cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.data.cells import relations
from tacit.data.cells.dimension import Dimension
from tacit.errors import InputError


def with_dimensions(
    values: npt.ArrayLike,
    totals: bool,
    names: Sequence[str] | None,
    codes: Sequence[Sequence[str]] | None,
    count: npt.ArrayLike | None,
) -> tuple[Floats, list[Dimension], npt.ArrayLike | None]:
    """Return values and counts with totals on every axis, and the dimensions of the axes."""
    array = as_cells(values)
    if array.ndim < 1 or min(array.shape) < (2 if totals else 1):
        raise InputError(
            "an array with totals needs at least two entries on each axis"
            if totals
            else "the array has no cells"
        )
    labels = names or relations.letters(array.ndim)
    dimensions = []
    for axis, size in enumerate(array.shape):
        ground = codes[axis] if codes else [str(i + 1) for i in range(size - totals)]
        dimensions.append(Dimension.flat(labels[axis], ground, last=True))
    if not totals:
        array = relations.roll_up(array, dimensions)
        if count is not None:
            count = relations.roll_up(as_cells(count), dimensions)
    return array, dimensions, count


def as_cells(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return cells as an array of numbers, or say why they are none."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            "the array does not hold the cells of a table: it needs numbers, and as many in every row"
        ) from None


def spread_over_cells(value: npt.ArrayLike, n: int, dtype: Any = np.float64) -> npt.NDArray[Any]:
    """Return one entry per cell; a single number takes no memory."""
    array = np.asarray(value, dtype=dtype)
    if array.ndim == 0:
        return np.broadcast_to(array, (n,))
    flat = array.ravel()
    if len(flat) != n:
        raise InputError(f"{len(flat):,} entries were given for {n:,} cells")
    return flat
