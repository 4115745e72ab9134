"""The claim that on every set of few keys classes are large and tell little."""

from __future__ import annotations

from itertools import combinations

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, count_values, exceeds_share


@check_for("lkc-privacy")
def tells_little_on_few_keys(frame: Frame, claim: Claim) -> bool:
    """Return True when each set of at most L keys has classes of K, and no value with a share above C."""
    p = claim.parameters
    sets = [
        list(s)
        for size in range(1, min(p["known"], len(claim.columns)) + 1)
        for s in combinations(claim.columns, size)
    ]
    ignores = p.get("missing", "category") != "category"
    for columns in sets:
        sizes = count_values(frame, columns, p["sensitive"], p.get("k_weight"), "category")
        if any(float(sizes.amount[m].sum()) < p["k"] - 1e-9 for m in sizes.classes()):
            return False
        shares = count_values(frame, columns, p["sensitive"], p.get("weight"), "category")
        if exceeds_share(shares, p["confidence"], lambda v: v is not None or not ignores):
            return False
    return True
