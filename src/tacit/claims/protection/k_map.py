"""The claim that every released record could be at least k members of a population register."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, match_people


@check_for("k-map")
def has_many_candidates(frame: Frame, claim: Claim) -> bool:
    """Return True when every released class has at least k members in the register."""
    pairs, _ = match_people(frame, claim)
    return all(members >= claim.parameters["k"] for records, members in pairs if records)
