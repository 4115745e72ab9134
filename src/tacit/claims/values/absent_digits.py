"""The claim that codes have no more digits than were kept."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, released_values


@check_for("absent-digits")
def has_no_further_digits(frame: Frame, claim: Claim) -> bool:
    """Return True when no value of the columns is longer than what was kept."""
    keep = int(claim.parameters["keep"])
    return all(len(str(value)) <= keep for value in released_values(frame, claim.columns))
