"""The claim that households are numbered 1, 2, ... without gaps, so that a number tells nothing of an older one."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame
from tacit.engine.names import aggregate

N, LOW, HIGH = "__n__", "__low__", "__high__"


@check_for("numbered-in-order")
def has_numbers_in_order(frame: Frame, claim: Claim) -> bool:
    """Return True when there are as many households as the largest number says, and 1 is the smallest.

    Nobody can read a number where the column is gone.
    """
    (home,) = claim.columns
    schema = frame.collect_schema()
    if home not in schema.names():
        return True
    if not schema[home].is_integer():
        return False
    homes = aggregate(frame.select(home), [home], nw.len().alias(N))
    told = homes.select(
        nw.len().cast(nw.Int64).alias(N), nw.col(home).min().alias(LOW), nw.col(home).max().alias(HIGH)
    ).collect("pyarrow")  # fmt: skip
    n, low, high = (told.item(0, c) for c in (N, LOW, HIGH))
    return n == 0 or (low == 1 and high == n)
