"""The claim that what is published still adds up."""

from __future__ import annotations

import numpy as np

from tacit.claims import Claim, check_for
from tacit.claims.view import TableView


@check_for("additive", of="table")
def adds_up(table: TableView, claim: Claim) -> bool:
    """Return True when every relation among published cells holds.

    Values that are multiples of a ``base`` are compared as whole numbers, others to within rounding of
    floats.
    """
    published = table.published
    base = claim.parameters.get("base")
    if base is not None:
        steps = np.rint(published / float(base))
        return bool(not np.isnan(steps).any() and (table.equations @ steps == 0).all())
    hidden = np.isnan(published)
    gap = table.equations @ np.where(hidden, 0.0, published)
    size = abs(table.equations) @ np.where(hidden, 0.0, np.abs(published))
    complete = ~(abs(table.equations) @ hidden.astype(np.float64) > 0)
    return bool((np.abs(gap[complete]) <= 1e-9 * size[complete]).all())
