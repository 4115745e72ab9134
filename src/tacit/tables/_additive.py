"""The claim that a changed table still adds up."""

from __future__ import annotations

import numpy as np

from tacit.data.claims import Claim, check_for
from tacit.data.table import Table


@check_for("additive")
def adds_up(table: Table, claim: Claim) -> bool:
    """Return True when every relation among published cells holds."""
    del claim
    published = table.published
    hidden = np.isnan(published)
    gap = table.equations @ np.where(hidden, 0.0, published)
    size = abs(table.equations) @ np.where(hidden, 0.0, np.abs(published))
    complete = ~(abs(table.equations) @ hidden.astype(np.float64) > 0)
    return bool((np.abs(gap[complete]) <= 1e-6 * np.maximum(1.0, size[complete])).all())
