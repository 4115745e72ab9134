"""The order in which the cells of a table are written: one sorted by value tells which hidden cell is larger.

Codes stand as their classification lists them. Where a dimension without levels runs up or down with the values of a line
that has a hidden cell, its codes are written in their own order instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tacit.arrays import Ints

if TYPE_CHECKING:
    from tacit.data.cells.dimension import Dimension
    from tacit.data.table import Table

#: In ``extra`` of a table about to be written: no order that tells values is kept.
BY_CODE = "written_by_code"
#: Fewer different values in a line run up or down too often by chance.
FEWEST = 4


def code_orders(table: Table) -> list[Ints]:
    """Return, for each dimension, its codes in the order in which they are written."""
    asked = bool(table.extra.get(BY_CODE))
    return [
        by_code(d) if asked and tells_values(table, axis) else np.arange(len(d))
        for axis, d in enumerate(table.dimensions)
    ]


def written_cells(table: Table) -> Ints:
    """Return the cells that are part of the publication, in the order in which they are written."""
    shown = np.flatnonzero(~table.unpublished)
    if not table.extra.get(BY_CODE) or not table.dimensions:
        return shown
    ranks = [
        np.argsort(order)[table.places[shown, i]] for i, order in enumerate(code_orders(table))
    ]
    return shown[np.lexsort(ranks[::-1])]


def tells_values(table: Table, axis: int) -> bool:
    """Return True when codes of one level stand in the order of the values of a line with a hidden cell."""
    dimension = table.dimensions[axis]
    if not dimension.is_flat or len(dimension.roots) != 1 or not table.hidden.any():
        return False
    below = np.flatnonzero(table.places[:, axis] != dimension.total)
    others = np.delete(table.places[below], axis, axis=1)
    _, line = np.unique(others, axis=0, return_inverse=True)
    order = np.lexsort((table.places[below, axis], line.ravel()))
    cells, line = below[order], line.ravel()[order]
    value, starts = table.value[cells], np.flatnonzero(np.diff(line, prepend=-1))
    inside = np.append(line[1:] == line[:-1], False)
    step = np.append(np.diff(value), 0.0) * inside
    up, down, moves, secret = (
        np.add.reduceat(x.astype(np.int64), starts)
        for x in (step > 0, step < 0, step != 0, table.hidden[cells])
    )
    return bool(((moves >= FEWEST - 1) & ((up == 0) | (down == 0)) & (secret > 0)).any())


def by_code(dimension: Dimension) -> Ints:
    """Return the codes of a dimension without levels in their own order, the total where it is."""
    found = np.arange(len(dimension))
    below = found[found != dimension.total]
    found[below] = sorted(below, key=lambda i: by_numbers(dimension.codes[i]))
    return found


def by_numbers(code: str) -> list[tuple[int, int, str]]:
    """Return what puts codes in order, with numbers in them by size: ``5-9`` before ``10-14``."""
    parts = re.findall(r"[0-9]+|[^0-9]+", code)
    return [(0, int(p), "") if p[0] in "0123456789" else (1, 0, p) for p in parts]
