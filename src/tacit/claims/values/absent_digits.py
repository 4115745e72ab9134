"""The claim that codes have no more digits than were kept."""

from __future__ import annotations

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame, class_sizes
from tacit.claims.registry import check_for


@check_for("absent-digits")
def has_no_further_digits(frame: Frame, claim: Claim) -> bool:
    """Return True when no value of the columns is longer than what was kept."""
    keep = int(claim.parameters["keep"])
    for column in claim.columns:
        values = class_sizes(frame, [column]).collect("pyarrow").get_column(column).to_list()
        if any(value is not None and len(str(value)) > keep for value in values):
            return False
    return True
