"""Every zero-restricted controlled rounding of a small table, by trying all."""

import itertools
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from tacit.data.cells.relations import roll_up
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.numerics.algebra import lstsq
from tacit.tables.rounding.half_rounding import NEAR, Floats, scale_to_bases


def every_rounding(table: Table, base: float) -> Iterator[Floats]:
    """Yield every zero-restricted controlled rounding of a small table, in bases."""
    t, low, high = scale_to_bases(table.value, base)
    ground = np.flatnonzero((low < high) & table.ground)
    if len(ground) > 20:
        raise InputError(
            "a table with more than 20 open ground cells has too many roundings to list"
        )
    fixed = table.ground & (low == high)
    m = table.equations
    for ups in itertools.product((0.0, 1.0), repeat=len(ground)):
        y = np.where(fixed, t, np.nan)
        y[ground] = low[ground] + np.array(ups)
        filled = fill_up_totals(table, y, m)
        if filled is not None and (filled >= low - NEAR).all() and (filled <= high + NEAR).all():
            yield filled


def fill_up_totals(table: Table, y: Floats, m: sparse.csr_array) -> Floats | None:
    """Return all cells from the ground cells; None when two definitions of a total disagree."""
    if table.is_product:
        base = y.reshape(table.shape)[np.ix_(*(d.leaves for d in table.dimensions))]
        full = roll_up(base, table.dimensions).ravel()
    else:
        full = y.copy()
        free = np.flatnonzero(np.isnan(full))
        if len(free):
            known = np.where(np.isnan(full), 0.0, full)
            full[free] = lstsq(m[:, free].toarray(), -(m @ known))[0]
    return full if (np.abs(m @ full) < 1e-6).all() else None
