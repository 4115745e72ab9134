"""The claim that published intervals hold the truth."""

from __future__ import annotations

import numpy as np

from tacit.claims.claim import Claim
from tacit.claims.registry import check_for
from tacit.claims.view import TableView


@check_for("intervals-hold-the-truth", of="table")
def intervals_hold(table: TableView, claim: Claim) -> bool:
    """Return True when every interval holds the true and the published value of its cell."""
    del claim
    if table.interval is None:
        return False
    low, high = table.interval.T
    has = ~np.isnan(low)
    slack = 1e-6 * np.maximum(1.0, np.abs(table.value))
    true = (table.value >= low - slack) & (table.value <= high + slack)
    shown = table.published
    own = np.isnan(shown) | ((shown >= low - slack) & (shown <= high + slack))
    return bool((true & own)[has].all())
