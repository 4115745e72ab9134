"""What it costs to hide each cell of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.numerics import elementary

if TYPE_CHECKING:
    from tacit.data.table import Table


def hiding_costs(table: Table, cost: str = "value", power: float = 1.0) -> Floats:
    """Return the cost of hiding each cell, always positive.

    Parameters
    ----------
    cost
        ``value`` (absolute value; the table's own weights where it has some), ``unit``,
        ``frequency``, ``log`` (log(1 + value)), or ``weight``.
    power
        Exponent; 0 gives log(1 + cost), as tau-ARGUS' lambda does.
    """
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
