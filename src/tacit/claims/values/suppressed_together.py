"""The claim that a missing value stands nowhere else: with members, in linked columns, in a number of records."""

from __future__ import annotations

from itertools import permutations

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, has_rows
from tacit.engine.names import aggregate

KNOWN, LACKING = "__known__", "__lacking__"


@check_for("suppressed-together")
def is_missing_everywhere(frame: Frame, claim: Claim) -> bool:
    """Return True when no missing value can be read off beside it.

    A column that is not released tells nothing; where the household's number is not released, nobody sees
    who its members are.
    """
    given = claim.parameters
    there = set(frame.collect_schema().names())
    home = given.get("household")
    if home in there:
        if any(c in there and shown_by_members(frame, home, c) for c in given["constant"]):
            return False
        # A record that lacks its household's size and shows its number: the members can be counted.
        numbered = frame.filter(~nw.col(home).is_null())
        counting = [c for c in given["counting"] if c in there]
        if any(has_rows(numbered.filter(nw.col(c).is_null())) for c in counting):
            return False
    return not any(
        told_by(frame, one, other)
        for group in given["links"]
        for one, other in permutations([c for c in group if c in there], 2)
    )


def shown_by_members(frame: Frame, home: str, column: str) -> bool:
    """Return True when a member of some household lacks a value that another has."""
    lacking = nw.col(column).is_null().cast(nw.Int64)
    homes = aggregate(
        frame.filter(~nw.col(home).is_null()),
        [home],
        lacking.min().alias(KNOWN),
        lacking.max().alias(LACKING),
    )
    return has_rows(homes.filter(nw.col(KNOWN) != nw.col(LACKING)))


def told_by(frame: Frame, one: str, other: str) -> bool:
    """Return True when a record lacks one value and shows a linked one that stands beside at most one value."""
    values = frame.filter(~nw.col(one).is_null() & ~nw.col(other).is_null())
    pairs = aggregate(values, [other, one], nw.len().alias(LACKING))
    counted = aggregate(pairs, [other], nw.len().alias(KNOWN))
    several = counted.filter(nw.col(KNOWN) > 1).select(other)
    lacking = frame.filter(nw.col(one).is_null() & ~nw.col(other).is_null()).select(other)
    return has_rows(lacking.join(several, on=other, how="anti"))
