"""Cells of a table called unsafe, hidden or to be published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.data.cells.status import Status, is_fixed, is_primary, is_secondary
from tacit.errors import InputError

if TYPE_CHECKING:
    from tacit.data.table import Table


def protect_cells(
    table: Table,
    cells: Any,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    sliding: npt.ArrayLike,
    status: Status,
) -> Table:
    """Call cells unsafe, with the distances to which an attacker's interval must reach."""
    at = table.positions(cells)
    for name, level in (("lower", lower), ("upper", upper), ("sliding", sliding)):
        if (np.asarray(level, dtype=float) < 0).any() or np.isnan(level).any():
            raise InputError(f"the {name} protection level must not be negative")
    frozen = at[table.status[at] == Status.PROTECTED]
    if len(frozen):
        raise InputError(
            f"{table.describe_cell(int(frozen[0]))} must be published and cannot be unsafe as well"
        )
    table = table.with_status(at, status)
    levels = {}
    for name, level in (
        ("lower_level", lower),
        ("upper_level", upper),
        ("sliding_level", sliding),
    ):
        array = np.array(getattr(table, name), dtype=np.float64)
        array[at] = level
        levels[name] = array
    return table.with_(**levels)


def hide_cells(table: Table, cells: Any) -> Table:
    """Return the pattern in which exactly the unsafe cells and these ones are hidden."""
    states = table.status.copy()
    states[is_secondary(states)] = Status.SAFE
    at = table.positions(cells)
    at = at[~is_primary(states[at])]
    held = at[is_fixed(states[at])]
    if len(held):
        raise InputError(
            f"{table.describe_cell(int(held[0]))} is empty or must be published; it cannot be hidden"
        )
    states[at] = Status.SECONDARY
    return table.with_(status=states, changed=None, interval=None)


def freeze_cells(table: Table, cells: Any) -> Table:
    """Say that some cells must be published."""
    at = table.positions(cells)
    unsafe = at[table.primary[at]]
    if len(unsafe):
        raise InputError(
            f"{table.describe_cell(int(unsafe[0]))} is unsafe: it cannot be published as it is"
        )
    return table.with_status(at[~table.empty[at]], Status.PROTECTED)
