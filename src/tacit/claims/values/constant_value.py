"""The claim that a column has one value in all records, such as the weight of a self-weighting sample."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame

OTHER = "__other__"


@check_for("constant-value")
def has_one_value(frame: Frame, claim: Claim) -> bool:
    """Return True when every record has the value, and none is missing."""
    value = claim.parameters["value"]
    for column in claim.columns:
        same = (nw.col(column) == nw.lit(value)).fill_null(value=False)
        other = frame.select((~same).cast(nw.Int64).sum().alias(OTHER)).collect("pyarrow")
        if other.item(0, OTHER):
            return False
    return True
