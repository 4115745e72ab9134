"""Cells of a table called unsafe, hidden or to be published, and what it costs to hide each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.data.cells.status import Status, is_fixed, is_primary, is_secondary
from tacit.errors import InputError
from tacit.numerics import elementary

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
    given = {"lower": lower, "upper": upper, "sliding": sliding}
    for name, level in given.items():
        if (np.asarray(level, dtype=float) < 0).any() or np.isnan(level).any():
            raise InputError(f"the {name} protection level must not be negative")
    frozen = at[table.status[at] == Status.PROTECTED]
    if len(frozen):
        raise InputError(
            f"{table.describe_cell(int(frozen[0]))} must be published and cannot be unsafe as well"
        )
    table = table.with_status(at, status)
    levels = {f"{name}_level": np.array(getattr(table, f"{name}_level"), float) for name in given}
    for array, level in zip(levels.values(), given.values(), strict=True):
        array[at] = level
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


def hiding_costs(table: Table, cost: str = "value", power: float = 1.0) -> Floats:
    """Return the cost of hiding each cell, as :meth:`Table.costs` says."""
    if cost == "weight" or (cost == "value" and table.weight is not None):
        base = np.ones(len(table)) if table.weight is None else table.weight
    elif cost == "value":
        base = np.abs(table.value)
    elif cost == "unit":
        base = np.ones(len(table))
    elif cost == "frequency":
        if (table.count < 0).all():
            raise InputError("cost='frequency' needs the contributors of each cell")
        base = np.maximum(table.count, 0).astype(np.float64)
    elif cost == "log":
        base = elementary.log1p(np.abs(table.value))
    else:
        raise InputError(f"there is no cost {cost!r}: value, unit, frequency, log or weight")
    if (base < 0).any() or np.isnan(base).any():
        raise InputError("the costs of cells must not be negative or missing")
    with np.errstate(over="ignore"):
        scaled = elementary.log1p(base) if power == 0 else elementary.power(base, power)
    if not np.isfinite(scaled).all():
        raise InputError(
            f"power={power:g} is too large for the costs of these cells: they leave the range of numbers. Take a "
            "smaller power, or cost='log'."
        )
    smallest = scaled[scaled > 0].min(initial=1.0)
    return np.maximum(scaled, min(1.0, smallest) * 1e-3)
