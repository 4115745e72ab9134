"""The claim that members of a household have one value of a column, so that no vote among them tells another."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, has_rows
from tacit.engine.names import aggregate

VALUES, HOMES = "__values__", "__homes__"


@check_for("constant-in-households")
def has_one_value_a_household(frame: Frame, claim: Claim) -> bool:
    """Return True when every household shows one value of each column, missing being one too."""
    home = claim.parameters["household"]
    there = set(frame.collect_schema().names())
    copies = claim.parameters.get("copies")
    homes = [home] if copies is None else [home, copies]
    if not there.issuperset(homes):
        return True
    known = frame.filter(~nw.col(home).is_null())
    for column in there.intersection(claim.columns):
        pairs = aggregate(known, [*homes, column], nw.len().alias(HOMES))
        values = aggregate(pairs, homes, nw.len().alias(VALUES))
        if has_rows(values.filter(nw.col(VALUES) > 1)):
            return False
    return True
