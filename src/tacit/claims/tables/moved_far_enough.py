"""The claim that every unsafe cell is published at least its level away from the truth."""

from __future__ import annotations

import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.view import TableView

#: The share of a level, and of a value, by which floats may fall short.
CLOSE, LAST_BITS = 1e-6, 1e-14


@check_for("moved-far-enough", of="table")
def moved_far_enough(table: TableView, claim: Claim) -> bool:
    """Return True when every unsafe cell is published at least its level away from the truth."""
    del claim
    for cell in np.flatnonzero(table.primary):
        value, shown = float(table.value[cell]), float(table.published[cell])
        down, up = float(table.lower_level[cell]), float(table.upper_level[cell])
        if np.isnan(shown):
            continue
        if down <= 0 and up <= 0:
            unit = 1.0 if table.frequency else 1e-3 * max(1.0, abs(value))
            down = up = max(float(table.sliding_level[cell]), unit)
        # A share of the level, and the last bits of the value: right for tables of any size.
        slack = CLOSE * max(down, up) + LAST_BITS * abs(value)
        risen = up > 0 and shown >= value + up - slack
        fallen = down > 0 and shown <= value - down + slack
        if not (risen or fallen):
            return False
    return True
