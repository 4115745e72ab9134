"""The claim that every cell went to an adjacent multiple of a base."""

from __future__ import annotations

import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.view import TableView


@check_for("adjacent-multiples", of="table")
def adjacent(table: TableView, claim: Claim) -> bool:
    """Return True when every cell went to an adjacent multiple of the base and multiples stayed."""
    base = float(claim.parameters["base"])
    out = table.published / base
    true = table.value / base
    whole = np.abs(out - np.rint(out)) < 1e-6
    return bool((whole & (np.abs(out - true) < 1 - 1e-9)).all())
