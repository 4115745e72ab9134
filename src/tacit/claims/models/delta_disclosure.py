"""The claim that no class makes a sensitive value much more, or much less, likely than all released records do."""

from __future__ import annotations

import numpy as np

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame
from tacit.claims.registry import check_for
from tacit.claims.values_in_classes import count_values


@check_for("delta-disclosure")
def changes_little(frame: Frame, claim: Claim) -> bool:
    """Return True when every ratio of shares lies strictly between 2^-delta and 2^delta."""
    p = claim.parameters
    rows = count_values(
        frame, claim.columns, p["sensitive"], p.get("weight"), p.get("missing", "category")
    )
    whole = np.bincount(rows.value, weights=rows.amount, minlength=len(rows.values))
    most = 2.0 ** p["delta"]
    for members in rows.classes():
        part = np.bincount(rows.value[members], weights=rows.amount[members], minlength=len(whole))
        ratio = (part / part.sum()) / (whole / whole.sum())
        if p.get("absent", "violates") == "ignored":
            ratio = ratio[part > 0]
        if ratio.min() <= 1 / most or ratio.max() >= most:
            return False
    return True
