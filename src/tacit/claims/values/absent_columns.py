"""The claim that columns are not released."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame


@check_for("absent-columns")
def has_no_such_columns(frame: Frame, claim: Claim) -> bool:
    """Return True when none of the columns is in the output."""
    return not set(claim.columns) & set(frame.collect_schema().names())
