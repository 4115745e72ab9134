"""The claim that in every class a sensitive column is distributed nearly as in all released records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.claims import Claim, check_for
from tacit.claims.classes import Frame, Rows


@check_for("t-closeness")
def is_close_to_the_whole(frame: Frame, claim: Claim) -> bool:
    """Return True when no class is farther than t from the whole, in the earth mover's distance."""
    p = claim.parameters
    distance = p.get("distance", "equal")
    missing = "ignore" if distance == "ordered" else None
    rows = Rows.of(frame, claim, missing)
    whole = rows.whole
    if not whole.sum():
        return True
    q = whole / whole.sum()
    for members in rows.classes():
        part = rows.part(members)
        moved = earth_moved(part / part.sum(), q, distance, rows.values, p)
        if moved > p["t"] + 1e-9:
            return False
    return True


def earth_moved(p: Floats, q: Floats, distance: str, values: Sequence[Any], given: Any) -> float:
    """Return the least work that turns one distribution into the other."""
    if distance == "ordered":
        listed = given.get("order")
        order = (
            np.argsort([listed.index(str(v)) for v in values])
            if listed
            else np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.int64)
        )
        steps = max(len(values) - 1, 1)
        return float(np.abs(np.cumsum((p - q)[order]))[:-1].sum()) / steps
    if distance == "hierarchical":
        # Moving mass to another branch costs one level after the other: the mean over levels of what differs.
        paths: dict[str, list[str]] = given["paths"]
        height = len(next(iter(paths.values()))) - 1
        total = 0.0
        for level in range(height):
            sums: dict[Any, float] = {}
            for v, share in zip(values, p - q, strict=True):
                label = (None,) if v is None else (paths[str(v)][level],)
                sums[label] = sums.get(label, 0.0) + float(share)
            total += sum(s for s in sums.values() if s > 0)
        return total / height
    return float(np.maximum(p - q, 0.0).sum())
