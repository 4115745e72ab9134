"""The claim that a column has no other categories than the named ones."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, released_values


@check_for("categories")
def has_allowed_categories(frame: Frame, claim: Claim) -> bool:
    """Return True when no category lies beyond the allowed ones; missing values may be there."""
    allowed = set(claim.parameters["allowed"])
    return all(str(value) in allowed for value in released_values(frame, claim.columns))
