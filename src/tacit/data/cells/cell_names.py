"""Cells of a table by name: one by position, codes, array index or mapping; sets of them by masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.arrays import Flags
from tacit.data.cells.dimension import Dimension
from tacit.errors import InputError, near_match

if TYPE_CHECKING:
    from tacit.data.table import Table


#: One cell: its position, its codes, or its array index (one number per dimension).
CellName = int | Sequence[str] | Sequence[int] | Mapping[str, str]
#: A set of cells: dimension to code or codes.
Mask = Mapping[str, str | tuple[str, ...]]


def cell_index(table: Table, cell: CellName) -> int:
    """Return the position of one cell, named by position, codes, array index or mapping."""
    if isinstance(cell, int | np.integer):
        if not 0 <= cell < len(table):
            raise InputError(f"there is no cell {int(cell)}; the table has {len(table):,}")
        return int(cell)
    if isinstance(cell, Mapping):
        unknown = set(cell) - set(table.names)
        if unknown:
            raise InputError(f"no dimension {min(unknown)!r}; there are {table.names}")
        cell = [cell.get(d.name, d.codes[d.total]) for d in table.dimensions]
    if len(cell) != len(table.dimensions):
        raise InputError(
            f"a cell of this table is named by {len(table.dimensions)} codes ({table.names})"
        )
    place = [code_index(d, c) for d, c in zip(table.dimensions, cell, strict=True)]
    if table.coordinates is None:
        return int(np.ravel_multi_index(place, table.shape))
    found = table._lookup.get(tuple(place))
    if found is None:
        raise InputError(f"the table has no cell {tuple(cell)}")
    return found


def code_index(dimension: Dimension, code: Any) -> int:
    """Return the position of a code; an empty text is the total."""
    if isinstance(code, int | np.integer):
        if not -len(dimension) <= code < len(dimension):
            raise InputError(f"{dimension.name!r} has no position {int(code)}")
        return int(code) % len(dimension)
    if code == "" and "" not in dimension.position:
        return dimension.total
    if code not in dimension.position:
        raise InputError(
            f"the dimension {dimension.name!r} has no code {code!r}. "
            f"{near_match(str(code), dimension.codes)}".strip()
        )
    return dimension.position[code]


def at_totals(table: Table) -> Flags:
    """Return which cells stand at the total of each dimension: cells x dimensions."""
    return np.asarray(table.places == [d.total for d in table.dimensions])


def in_margin(table: Table, names: Sequence[str]) -> Flags:
    """Return the cells of a crossing of some dimensions: all others stand at their totals."""
    rest = [i for i, name in enumerate(table.names) if name not in names]
    return np.asarray(at_totals(table)[:, rest].all(axis=1))


def match_masks(table: Table, masks: Sequence[Mask], field: str) -> Flags:
    """Return which cells match at least one mask; a dimension that a mask leaves out is free."""
    inside = np.zeros(len(table), dtype=bool)
    for one in masks:
        unknown = sorted(set(one) - set(table.names))
        if unknown:
            raise InputError(f"{field} names the dimension {unknown[0]!r}; there are {table.names}")
        fits = np.ones(len(table), dtype=bool)
        for axis, dimension in enumerate(table.dimensions):
            codes = one.get(dimension.name)
            if codes is None:
                continue
            listed = (codes,) if isinstance(codes, str) else codes
            places = [code_index(dimension, code) for code in listed]
            fits &= np.isin(table.places[:, axis], places)
        inside |= fits
    return inside
