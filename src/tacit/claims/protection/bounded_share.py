"""The claim that no sensitive value has a large share of any class."""

from __future__ import annotations

from typing import Any

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, Rows, exceeds_share


@check_for("bounded-share")
def has_small_shares(frame: Frame, claim: Claim) -> bool:
    """Return True when each value that counts has at most the share alpha of each class."""
    p = claim.parameters
    named, ignores = p.get("values"), p.get("missing", "category") == "ignore"

    def counts(label: Any) -> bool:
        if label is None:
            return not ignores and named is None
        return named is None or str(label) in named

    return not exceeds_share(Rows.of(frame, claim, "category"), p["alpha"], counts)
