"""Claims about the published values of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.claims import Claim
from tacit.data.table import Table


def claim_on(
    table: Table,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    cells: str = "all published cells",
    assumptions: tuple[str, ...] = (),
) -> Claim:
    """Return a claim about some cells of a table."""
    about = table.names or ("equations",)
    return Claim(model, dict(parameters or {}), cells, about, assumptions)


def additive_claim(table: Table, base: float | None = None) -> Claim:
    """Return the claim that every relation holds between the published values."""
    return claim_on(table, "additive", {} if base is None else {"base": base})
