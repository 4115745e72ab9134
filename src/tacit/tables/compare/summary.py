"""Summary statistics of a table and of what was suppressed in it (section 2.1)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats
from tacit.stats.small_cells import is_small
from tacit.tables.compare.distributions import Distributions


@dataclass(frozen=True)
class Sizes:
    """Average, extremes and standard error of the cells of the whole table or of each line."""

    average: Floats
    smallest: Floats
    largest: Floats
    standard_error: Floats


def sizes(cells: Floats, axis: int | None = None) -> Sizes:
    """Return cell sizes overall (``axis`` None), by row (1) or by column (0).

    The standard error is that of the average, s / sqrt(n) with the divisor n - 1 in s; for a single
    cell it is undefined and given as NaN.
    """
    n = cells.size if axis is None else cells.shape[axis]
    spread = cells.std(axis=axis, ddof=1) if n > 1 else np.full(np.shape(cells.mean(axis)), np.nan)
    return Sizes(
        np.asarray(cells.mean(axis=axis)),
        np.asarray(cells.min(axis=axis)),
        np.asarray(cells.max(axis=axis)),
        np.asarray(spread / np.sqrt(n)),
    )


def summary(table: Distributions, small: Collection[int] = (1, 2)) -> dict[str, float | None]:
    """Return the summary block: sizes, small cells, zeros, contributors and total information.

    Total information is the sum of the cells: the number of units of a frequency table, the sum of
    the values of a magnitude table.
    """
    cells = table.cells
    row_means, column_means = cells.mean(axis=1), cells.mean(axis=0)
    error = float(sizes(cells).standard_error)
    known = table.knows_units
    return {
        "rows": cells.shape[0],
        "columns": cells.shape[1],
        "cells": cells.size,
        "small_cells": int(is_small(table.units_behind(), small).sum()) if known else None,
        "zeros": int((cells == 0).sum()),
        "contributors": float(table.units_behind().sum()) if known else None,
        "total": float(cells.sum()),
        "average": float(cells.mean()),
        "standard_error": None if np.isnan(error) else error,
        "smallest": float(cells.min()),
        "largest": float(cells.max()),
        "row_average_low": float(row_means.min()),
        "row_average_high": float(row_means.max()),
        "column_average_low": float(column_means.min()),
        "column_average_high": float(column_means.max()),
    }


def suppression(original: Distributions, protected: Distributions) -> dict[str, float | None]:
    """Return what is withheld: internal cells, margins, and the units and information in them."""
    mask = protected.hidden
    margins = [m for m in (protected.row_totals, protected.column_totals) if m is not None]
    units: float | None = 0.0
    if mask is not None:
        units = float(original.units_behind()[mask].sum()) if original.knows_units else None
    return {
        "suppressed_cells": 0 if mask is None else int(mask.sum()),
        "suppressed_margins": int(sum(np.isnan(m).sum() for m in margins)),
        "suppressed_contributors": units,
        "suppressed_information": 0.0 if mask is None else float(original.cells[mask].sum()),
    }
