"""The claim that on every set of few keys classes are large and tell little."""

from __future__ import annotations

from itertools import combinations

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame
from tacit.claims.registry import check_for
from tacit.claims.values_in_classes import Rows, count_values


@check_for("lkc-privacy")
def tells_little_on_few_keys(frame: Frame, claim: Claim) -> bool:
    """Return True when each set of at most L keys has classes of K, and no value with a share above C."""
    p = claim.parameters
    sets = [
        list(s)
        for size in range(1, min(p["known"], len(claim.columns)) + 1)
        for s in combinations(claim.columns, size)
    ]
    for columns in sets:
        sizes = count_values(frame, columns, p["sensitive"], p.get("k_weight"), "category")
        if any(float(sizes.amount[m].sum()) < p["k"] - 1e-9 for m in sizes.classes()):
            return False
        shares = count_values(frame, columns, p["sensitive"], p.get("weight"), "category")
        if not has_small_shares(shares, p["confidence"], p.get("missing", "category")):
            return False
    return True


def has_small_shares(rows: Rows, largest: float, missing: str) -> bool:
    """Return True when no value that counts exceeds the share in any class."""
    for members in rows.classes():
        total = float(rows.amount[members].sum())
        for value, amount in zip(rows.value[members], rows.amount[members], strict=True):
            counts = rows.values[value] is not None or missing == "category"
            if counts and float(amount) > (largest + 1e-8) * total:
                return False
    return True
