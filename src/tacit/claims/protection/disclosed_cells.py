"""The claim that at most k values are disclosed: of each record, of each attribute, or in total."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame


@check_for("disclosed-cells")
def discloses_few(frame: Frame, claim: Claim) -> bool:
    """Return True when no more than k values of the columns are there, counted as the claim says."""
    k, per = int(claim.parameters["k"]), claim.parameters["per"]
    there = [
        (~nw.col(c).is_null()).cast(nw.Int64).alias(f"c{i}") for i, c in enumerate(claim.columns)
    ]
    names = [f"c{i}" for i in range(len(there))]
    flags = frame.select(*there)
    if per == "record":
        width = nw.sum_horizontal(*names).max().alias("most")
        return int(flags.select(width).collect("pyarrow").item(0, "most") or 0) <= k
    sums = flags.select(*[nw.col(c).sum() for c in names]).collect("pyarrow").rows()[0]
    counts = [int(s or 0) for s in sums]
    return (sum(counts) if per == "total" else max(counts, default=0)) <= k
