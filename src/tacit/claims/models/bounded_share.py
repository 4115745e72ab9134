"""The claim that no sensitive value has a large share of any class."""

from __future__ import annotations

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame
from tacit.claims.registry import check_for
from tacit.claims.values_in_classes import count_values


@check_for("bounded-share")
def has_small_shares(frame: Frame, claim: Claim) -> bool:
    """Return True when each value that counts has at most the share alpha of each class."""
    p = claim.parameters
    rows = count_values(frame, claim.columns, p["sensitive"], p.get("weight"), "category")
    named, ignores = p.get("values"), p.get("missing", "category") == "ignore"
    for members in rows.classes():
        total = float(rows.amount[members].sum())
        for value, amount in zip(rows.value[members], rows.amount[members], strict=True):
            label = rows.values[value]
            if label is None and (ignores or named is not None):
                continue
            if named is not None and str(label) not in named:
                continue
            if float(amount) > (p["alpha"] + 1e-8) * total:
                return False
    return True
