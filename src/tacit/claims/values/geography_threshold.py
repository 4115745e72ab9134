"""The claim that no geographic unit below a number of inhabitants can be told, by itself or by subtraction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, class_sizes


@check_for("geography-threshold")
def shows_no_small_unit(frame: Frame, claim: Claim) -> bool:
    """Return True when every shown unit, and every rest of a shown unit, has enough inhabitants or none.

    Labels of the release that are codes of units stand for these; any other label stands for what is left of
    the unit above it. Any set that can be had from the shown ones by adding and subtracting is made of such
    parts.
    """
    least = int(claim.parameters["at_least"])
    tree = plant([(tuple(u[:-1]), int(u[-1])) for u in claim.parameters["units"]])
    columns = list(claim.columns)
    found = class_sizes(frame, columns).select(*columns).collect("pyarrow").rows()
    labels = {tuple(None if v is None else str(v) for v in row) for row in found}
    return is_safe(tree, labels, 0, least)


def plant(units: list[tuple[tuple[str, ...], int]]) -> dict[str, Any]:
    """Return the units as nested mappings: ``people`` and ``below`` by code."""
    root: dict[str, Any] = {"people": 0, "below": {}}
    for codes, people in units:
        node = root
        node["people"] += people
        for code in codes:
            node = node["below"].setdefault(code, {"people": 0, "below": {}})
            node["people"] += people
    return root


def is_safe(
    node: Mapping[str, Any], labels: set[tuple[str | None, ...]], depth: int, least: int
) -> bool:
    """Return True when the parts of a unit that labels tell apart are each large enough."""
    if not labels or depth == len(next(iter(labels))):
        return True
    named = {row[depth] for row in labels}
    shown = {code: below for code, below in node["below"].items() if code in named}
    if any(below["people"] < least for below in shown.values()):
        return False
    rest = node["people"] - sum(below["people"] for below in shown.values())
    if shown and 0 < rest < least:
        return False
    # A label that names no unit of this parent must not be split further down.
    for code in named - set(shown) - {None}:
        deeper = {row[depth + 1 :] for row in labels if row[depth] == code}
        known = [below["below"] for below in node["below"].values()]
        if any(part in codes for row in deeper for part in row[:1] for codes in known):
            return False
    return all(
        is_safe(below, {r for r in labels if r[depth] == code}, depth + 1, least)
        for code, below in shown.items()
    )
