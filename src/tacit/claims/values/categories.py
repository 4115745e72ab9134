"""The claim that a column has no other categories than the named ones."""

from __future__ import annotations

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame, class_sizes
from tacit.claims.registry import check_for


@check_for("categories")
def has_allowed_categories(frame: Frame, claim: Claim) -> bool:
    """Return True when no category lies beyond the allowed ones; missing values may be there."""
    allowed = set(claim.parameters["allowed"])
    for column in claim.columns:
        found = class_sizes(frame, [column]).collect("pyarrow").get_column(column).to_list()
        if any(value is not None and str(value) not in allowed for value in found):
            return False
    return True
