"""The claim that every published value is a multiple of a base near the true one."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Flags
from tacit.claims import Claim, check_for
from tacit.claims.view import TableView

#: A quotient this near to a whole number is one.
CLOSE = 1e-9


@check_for("rounded", of="table")
def is_rounded(table: TableView, claim: Claim) -> bool:
    """Return True when all are multiples, ground cells within ``max_shift`` bases, totals within y."""
    values, base = table.published, float(claim.parameters["base"])
    shift, y = int(claim.parameters["max_shift"]), int(claim.parameters["y"])
    if np.isnan(values).any():
        return False
    steps = np.rint(values / base)
    if (np.abs(values - steps * base) > CLOSE * base * np.maximum(1.0, np.abs(steps))).any():
        return False
    share = table.value / base
    near = np.rint(share)
    even = np.abs(share - near) <= CLOSE * np.maximum(1.0, np.abs(share))
    low = np.where(even, near, np.floor(share))
    high = np.where(even, near, np.ceil(share))
    ground = ~is_total(table.equations)
    slack = np.where(ground, shift - 1, y)
    top = slack + (ground & even & bool(claim.parameters["free_zeros"]))
    return bool(((steps >= low - slack) & (steps <= high + top)).all())


def is_total(equations: sparse.csr_array) -> Flags:
    """Return which cells stand alone against others in some relation."""
    m = sparse.coo_array(equations)
    rows, columns = m.coords
    total = np.zeros(m.shape[1], dtype=bool)
    for sign in (1, -1):
        own = np.sign(m.data) == sign
        alone = np.bincount(rows[own], minlength=m.shape[0]) == 1
        rest = np.bincount(rows[~own & (m.data != 0)], minlength=m.shape[0])
        # One against one: the cell that is written with a minus is the total.
        counts = alone & ((rest > 1) | (sign < 0))
        total[columns[own & counts[rows]]] = True
    return total
