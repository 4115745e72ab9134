"""The claim that no value of a column lies beyond its limits."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame


@check_for("within-limits")
def lies_within_limits(frame: Frame, claim: Claim) -> bool:
    """Return True when no value of the columns lies beyond the limits."""
    low, high = claim.parameters["low"], claim.parameters["high"]
    for column in claim.columns:
        ends = frame.select(
            nw.col(column).min().alias("low"), nw.col(column).max().alias("high")
        ).collect("pyarrow")
        least, most = ends.item(0, "low"), ends.item(0, "high")
        if isinstance(least, str):
            return False  # a later step made texts of the numbers
        if least is not None and (
            (low is not None and least < low) or (high is not None and most > high)
        ):
            return False
    return True
