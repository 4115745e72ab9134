"""The claim that a changed table still adds up."""

from __future__ import annotations

from tacit.claims import Claim
from tacit.data.table import Table


def additive_claim(table: Table, base: float | None = None) -> Claim:
    """Return the claim that every relation holds between the published values."""
    parameters = {} if base is None else {"base": base}
    return Claim("additive", parameters, "all published cells", table.names or ("equations",))
