"""The claim that no class makes a sensitive value much more likely than all released records do."""

from __future__ import annotations

import math

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, Rows


@check_for("beta-likeness")
def gains_little(frame: Frame, claim: Claim) -> bool:
    """Return True when no value's share exceeds, in any class, its share among all by more than the bound."""
    p = claim.parameters
    rows = Rows.of(frame, claim)
    whole = rows.whole
    for members in rows.classes():
        total = float(rows.amount[members].sum())
        for value, amount in zip(rows.value[members], rows.amount[members], strict=True):
            share = float(whole[value] / whole.sum())
            bound = p["beta"]
            if p.get("variant", "enhanced") == "enhanced":
                bound = min(bound, -math.log(share))
            if float(amount) / total > share * (1 + bound + 1e-8):
                return False
    return True
