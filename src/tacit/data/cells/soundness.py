"""Whether the relations of a table hold, and its values lie within their bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.arrays import Floats
from tacit.data.cells import relations
from tacit.errors import InputError, NotAdditive

if TYPE_CHECKING:
    from tacit.data.table import Table


def broken_relations(table: Table, values: Floats | None = None) -> list[tuple[int, float]]:
    """Return the relations that do not hold, with their gaps, largest first."""
    gap, allowed = relations.gaps(table.equations, table.value if values is None else values)
    wrong = np.flatnonzero(np.abs(gap) > allowed)
    return [(int(i), float(gap[i])) for i in wrong[np.argsort(-np.abs(gap[wrong]), kind="stable")]]


def equation_text(table: Table, row: int) -> str:
    """Return a relation in words: which total, over which dimension."""
    m = table.equations
    cells = m.indices[m.indptr[row] : m.indptr[row + 1]]
    signs = m.data[m.indptr[row] : m.indptr[row + 1]]
    parents = cells[signs < 0]
    parent = table.describe_cell(int(parents[0] if len(parents) else cells[0]))
    if not table.dimensions:
        return f"equation {row} ({parent} and {len(cells) - 1} others)"
    moved = [
        d.name
        for d, column in zip(table.dimensions, table.places[cells].T, strict=True)
        if len(np.unique(column)) > 1
    ]
    return f"{parent} over {', '.join(moved) or 'itself'}"


def require_sound(table: Table) -> None:
    """Raise when a relation does not hold or a value lies outside its bounds."""
    require_bounds(table)
    wrong = broken_relations(table)
    if wrong:
        listed = [f"{equation_text(table, i)} (gap {g:g})" for i, g in wrong[:10]]
        more = f" and {len(wrong) - 10:,} more" if len(wrong) > 10 else ""
        raise NotAdditive(
            f"{len(wrong):,} of {table.equations.shape[0]:,} sums of the table do not hold: "
            + "; ".join(listed)
            + more
        )


def require_bounds(table: Table) -> None:
    """Raise when a value lies outside what outsiders know of it."""
    slack = relations.TOLERANCE * np.maximum(1.0, np.abs(table.value))
    outside = np.flatnonzero(
        (table.value < table.lower - slack) | (table.value > table.upper + slack)
    )
    if len(outside):
        hint = (
            " Negative values need lower=, the bound that outsiders know."
            if (table.value < 0).any()
            else ""
        )
        raise InputError(
            f"{len(outside):,} cells lie outside their bounds, the first is "
            f"{table.describe_cell(int(outside[0]))}.{hint}"
        )
