"""The claim that weights sum to known totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame
from tacit.engine.names import aggregate

AMOUNT = "__amount__"


@check_for("margins-met")
def sums_to_totals(frame: Frame, claim: Claim) -> bool:
    """Return True when the weights of every listed category sum to its total.

    A record that lacks a column of the margin may belong to any category: what such records weigh may be missing from
    the sums, and no more. Synthetic copies in one file are judged each by itself.
    """
    copies = claim.parameters.get("copies")
    if copies is None:
        return is_met_by(frame, claim)
    if copies not in frame.collect_schema().names():
        return False
    counted = aggregate(frame, [copies], nw.len().alias(AMOUNT)).collect("pyarrow")
    numbers = counted.get_column(copies).to_list()
    return None not in numbers and all(
        is_met_by(frame.filter(nw.col(copies) == number), claim) for number in numbers
    )


def is_met_by(frame: Frame, claim: Claim) -> bool:
    """Return True when the weights of some records sum to all totals."""
    weight = nw.col(claim.parameters["weight"])
    room = float(claim.parameters.get("tolerance", 1e-6))
    for table in claim.parameters["margins"]:
        columns = [c for c in table if c != "count"]
        sums = aggregate(frame, columns, weight.sum().alias(AMOUNT)).collect("pyarrow")
        found = [sums.get_column(c).to_list() for c in columns]
        amounts = [float(a) for a in sums.get_column(AMOUNT).to_list()]
        if not is_met(table, columns, list(zip(*found, strict=True)), amounts, room):
            return False
    return True


def is_met(
    table: Mapping[str, Sequence[Any]],
    columns: Sequence[str],
    found: Sequence[tuple[Any, ...]],
    amounts: Sequence[float],
    room: float,
) -> bool:
    """Return True when sums by category, and what lacks a category, agree with the totals."""
    wanted: dict[tuple[str, ...], float] = {}
    for i, count in enumerate(table["count"]):
        wanted[tuple(str(table[c][i]) for c in columns)] = float(count)
    left = dict(wanted)
    lacking = 0.0
    for values, amount in zip(found, amounts, strict=True):
        name = tuple(str(v) for v in values)
        if name in left:
            left[name] -= amount
        elif any(v is None for v in values):
            lacking += amount
        elif amount:
            return False
    over = [r for name, r in left.items() if r < -room * max(wanted[name], 1.0)]
    short = sum(max(r, 0.0) for r in left.values())
    return not over and abs(short - lacking) <= room * max(sum(wanted.values()), 1.0)
