"""The claim that members of a household have one value of a column, so that no vote among them tells another."""

from __future__ import annotations

import narwhals.stable.v2 as nw

from tacit.claims.claim import Claim
from tacit.claims.classes import Frame, has_rows
from tacit.claims.registry import check_for
from tacit.engine.names import aggregate

VALUES, HOMES = "__values__", "__homes__"


@check_for("constant-in-households")
def has_one_value_a_household(frame: Frame, claim: Claim) -> bool:
    """Return True when every household shows one value of each column, missing being one too."""
    home = claim.parameters["household"]
    there = set(frame.collect_schema().names())
    copies = claim.parameters.get("copies")
    homes = [home] if copies is None else [home, copies]
    return not there.issuperset(homes) or not any(
        c in there and differs_in_a_household(frame, homes, c) for c in claim.columns
    )


def differs_in_a_household(frame: Frame, homes: list[str], column: str) -> bool:
    """Return True when some household, of a copy where there are several, has two values of a column."""
    known = frame.filter(~nw.col(homes[0]).is_null())
    pairs = aggregate(known, [*homes, column], nw.len().alias(HOMES))
    return has_rows(aggregate(pairs, homes, nw.len().alias(VALUES)).filter(nw.col(VALUES) > 1))
