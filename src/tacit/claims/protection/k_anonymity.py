"""The claim that every combination of key values occurs in at least k records."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, smallest_class


@check_for("k-anonymity")
def has_large_classes(frame: Frame, claim: Claim) -> bool:
    """Return True when every combination of values on the columns occurs in at least k records."""
    size = smallest_class(frame, claim.columns)
    return size is None or size >= claim.parameters["k"]
