"""The claim that no small count is published."""

from __future__ import annotations

import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.view import TableView


@check_for("no-small-counts", of="table")
def has_no_small_counts(table: TableView, claim: Claim) -> bool:
    """Return True when every published value is a whole count that is 0 or at least the base."""
    base = int(claim.parameters["base"])
    shown = table.published[~np.isnan(table.published)]
    whole = (shown == np.rint(shown)).all() and (shown >= 0).all()
    return bool(whole and not ((shown > 0) & (shown < base)).any())
