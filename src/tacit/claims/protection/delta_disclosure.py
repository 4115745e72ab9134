"""The claim that no class makes a sensitive value much more, or much less, likely than all released records do."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, Rows


@check_for("delta-disclosure")
def changes_little(frame: Frame, claim: Claim) -> bool:
    """Return True when every ratio of shares lies strictly between 2^-delta and 2^delta."""
    p = claim.parameters
    rows = Rows.of(frame, claim)
    whole = rows.whole
    most = 2.0 ** p["delta"]
    for members in rows.classes():
        part = rows.part(members)
        ratio = (part / part.sum()) / (whole / whole.sum())
        if p.get("absent", "violates") == "ignored":
            ratio = ratio[part > 0]
        if ratio.min() <= 1 / most or ratio.max() >= most:
            return False
    return True
