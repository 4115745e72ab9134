"""The claim that re-identification is unlikely, for any record, on average, or for most of the records."""

from __future__ import annotations

from tacit.claims import Claim, check_for
from tacit.claims.classes import SIZE, Frame, class_sizes


@check_for("attack-risk")
def is_hard_to_find(frame: Frame, claim: Claim) -> bool:
    """Return True when the highest, the mean and the share of high probabilities are within their limits."""
    p = claim.parameters
    sizes = class_sizes(frame, claim.columns).collect("pyarrow").get_column(SIZE).to_list()
    fraction = p.get("fraction", 1.0)
    records = sum(sizes)
    if not records:
        return True
    # A record in a class of n is found with probability fraction / n, and there are n of them.
    mean = fraction * len(sizes) / records
    high = sum(n for n in sizes if fraction / n > p.get("threshold", 1.0) + 1e-9) / records
    return (
        ("highest" not in p or fraction / min(sizes) <= p["highest"] + 1e-8)
        and ("average" not in p or mean <= p["average"] + 1e-8)
        and ("at_risk" not in p or high <= p["at_risk"] + 1e-8)
    )
