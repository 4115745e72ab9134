"""The claim that published intervals hold the truth."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Flags
from tacit.claims import Claim, check_for
from tacit.claims.view import TableView


@check_for("intervals-hold-the-truth", of="table")
def intervals_are_true(table: TableView, claim: Claim) -> bool:
    """Return True when every interval holds the true and the published value of its cell."""
    del claim
    return table.interval is not None and bool(holds_truth(table).all())


def holds_truth(table: TableView) -> Flags:
    """Return which cells have no interval, or one that holds their true and their published value."""
    low, high = np.asarray(table.interval).T
    slack = 1e-9 * np.abs(table.value)
    true = (table.value >= low - slack) & (table.value <= high + slack)
    shown = table.published
    own = np.isnan(shown) | ((shown >= low - slack) & (shown <= high + slack))
    return np.isnan(low) | (true & own)
