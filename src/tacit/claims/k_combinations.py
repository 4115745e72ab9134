"""The claim that every complete value of some combinations of columns occurs in at least k records."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame, smallest_class
from tacit.claims.registry import check_for


@check_for("k-combinations")
def has_frequent_combinations(frame: Frame, claim: Claim) -> bool:
    """Return True when every complete value of each listed combination occurs in at least k records."""
    for combination in claim.parameters["combinations"]:
        complete = frame
        for column in combination:
            complete = complete.filter(~nw.col(column).is_null())
        size = smallest_class(complete, combination)
        if size is not None and size < claim.parameters["k"]:
            return False
    return True
