"""What the checks against a population register share: its members by released class."""

from __future__ import annotations

from tacit.claims.claim import Claim
from tacit.claims.classes import SIZE, Frame, class_sizes, label_text

Label = tuple[str | None, ...]


def match_people(frame: Frame, claim: Claim) -> tuple[list[tuple[int, int]], int]:
    """Return records and register members of every class, released or in the register, and the members elsewhere."""
    table = class_sizes(frame, claim.columns).collect("pyarrow").to_native()
    texts = [[label_text(v) for v in table.column(c).to_pylist()] for c in claim.columns]
    released: dict[Label, int] = {}
    for label, n in zip(zip(*texts, strict=True), table.column(SIZE).to_pylist(), strict=True):
        released[label] = released.get(label, 0) + n
    counted = claim.parameters["people"]
    members = {tuple(row[:-1]): int(row[-1]) for row in counted["classes"]}
    pairs = [(released.get(c, 0), members.get(c, 0)) for c in released.keys() | members.keys()]
    return pairs, int(counted["elsewhere"])
