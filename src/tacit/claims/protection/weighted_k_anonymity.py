"""The claim that in every combination of key values the weights sum to at least k."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame
from tacit.engine.names import aggregate

AMOUNT = "__amount__"


@check_for("weighted-k-anonymity")
def has_heavy_classes(frame: Frame, claim: Claim) -> bool:
    """Return True when the weights of every combination of values sum to k or more."""
    weight = nw.col(claim.parameters["weight"])
    sums = aggregate(frame, claim.columns, weight.sum().alias(AMOUNT))
    least = sums.select(nw.col(AMOUNT).min()).collect("pyarrow").item(0, AMOUNT)
    return least is None or float(least) >= claim.parameters["k"] - 1e-9
