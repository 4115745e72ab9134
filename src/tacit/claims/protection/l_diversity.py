"""The claim that every class holds at least l well-represented values of a sensitive column."""

from __future__ import annotations

import math

import numpy as np

from tacit.arrays import Floats
from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, Rows


@check_for("l-diversity")
def has_diverse_values(frame: Frame, claim: Claim) -> bool:
    """Return True when every class is l-diverse: distinct, by entropy, or recursive (c, l)."""
    p = claim.parameters
    rows = Rows.of(frame, claim)
    return all(
        is_diverse(rows.amount[c], p["l"], p.get("variant", "distinct"), p.get("c", 3.0))
        for c in rows.classes()
    )


def is_diverse(amounts: Floats, wanted: float, variant: str, c: float) -> bool:
    """Return True when a class with these amounts of its values is diverse enough."""
    if variant == "distinct":
        return len(amounts) >= wanted
    if variant == "entropy":
        # -sum p log p >= log l; equal shares meet l exactly, up to the last binary digits.
        total = float(amounts.sum())
        entropy = -sum(float(a) / total * math.log(float(a) / total) for a in amounts)
        return entropy >= math.log(wanted) - 1e-9
    ordered = np.sort(amounts)[::-1]
    tail = float(ordered[math.ceil(wanted) - 1 :].sum())
    first = float(ordered[0])
    return wanted <= 1 or c * tail - first > 1e-9 * first
