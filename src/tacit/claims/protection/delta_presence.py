"""The claim that nobody can tell with much certainty whether a person of a register is in the release."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, match_people


@check_for("delta-presence")
def hides_presence(frame: Frame, claim: Claim) -> bool:
    """Return True when the presence of every member of the register lies between the two limits."""
    p = claim.parameters
    pairs, elsewhere = match_people(frame, claim)
    if p["delta_min"] > 0 and elsewhere:
        return False
    return all(
        members > 0 and p["delta_min"] - 1e-8 <= records / members <= p["delta_max"] + 1e-8
        if records
        else p["delta_min"] <= 0 or members == 0
        for records, members in pairs
    )
