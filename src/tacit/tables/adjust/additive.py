"""The claim that a changed table still adds up."""

from __future__ import annotations

import numpy as np

from tacit.data.claims import Claim, check_for
from tacit.data.table import Table


@check_for("additive")
def adds_up(table: Table, claim: Claim) -> bool:
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
    return bool((np.abs(gap[complete]) <= 1e-6 * np.maximum(1.0, size[complete])).all())


def additive_claim(table: Table, base: float | None = None) -> Claim:
    """Return the claim that every relation holds between the published values."""
    parameters = {} if base is None else {"base": base}
    return Claim("additive", parameters, "all published cells", table.names or ("equations",))
