"""What a report says about a release, computed from the data before and after: aggregates only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from tacit.engine.memory import count_held
from tacit.engine.relational import N, counts
from tacit.ledger import changes as count_changes
from tacit.registry import lookup

if TYPE_CHECKING:
    from tacit.data.hierarchy import Hierarchy
    from tacit.data.microdata import Microdata
    from tacit.release import Release

Sizes = Mapping[int, int]


@dataclass(frozen=True)
class ClassSizes:
    """Class sizes of one quasi-identifier before and after: the number of classes of each size."""

    name: str
    columns: tuple[str, ...]
    before: Sizes
    after: Sizes
    k: int | None

    @staticmethod
    def records(sizes: Sizes) -> int:
        """Return the number of records."""
        return sum(size * n for size, n in sizes.items())

    @staticmethod
    def classes(sizes: Sizes) -> int:
        """Return the number of classes."""
        return sum(sizes.values())

    @classmethod
    def average(cls, sizes: Sizes) -> float | None:
        """Return the average class size."""
        return cls.records(sizes) / cls.classes(sizes) if sizes else None

    @staticmethod
    def below(sizes: Sizes, k: int) -> int:
        """Return the records in classes smaller than k."""
        return sum(size * n for size, n in sizes.items() if size < k)

    @property
    def smallest_before(self) -> int:
        """Return the size of the smallest class before; 0 without records."""
        return min(self.before, default=0)

    @property
    def smallest_after(self) -> int:
        """Return the size of the smallest class after; 0 without records."""
        return min(self.after, default=0)

    @property
    def unique_share_before(self) -> float:
        """Return the share of records that were alone in their class."""
        return self.below(self.before, 2) / max(self.records(self.before), 1)

    @property
    def unique_share_after(self) -> float:
        """Return the share of released records that are alone in their class."""
        return self.below(self.after, 2) / max(self.records(self.after), 1)


def class_sizes(release: Release) -> list[ClassSizes]:
    """Return the class sizes on each quasi-identifier that is still in the release."""
    return [
        ClassSizes(
            name,
            columns,
            sizes_of(release.original, release.original.quasi[name]),
            sizes_of(release.data, columns),
            asked_for(release, name),
        )
        for name, columns in release.data.quasi.items()
        if name in release.original.quasi
    ]


def sizes_of(data: Microdata, keys: tuple[str, ...]) -> dict[int, int]:
    """Return how many classes there are of each size; only these totals leave the engine."""
    held = count_held(data.frame, keys)
    if held is not None:
        sizes = np.unique_counts(held[1])
        return dict(zip(sizes.values.tolist(), sizes.counts.tolist(), strict=True))
    classes = counts(data.frame, keys)
    totals = classes.group_by(N).agg(nw.len().cast(nw.Int64).alias("classes"))
    rows = totals.collect("pyarrow").rows(named=True)
    return {int(row[N]): int(row["classes"]) for row in sorted(rows, key=lambda row: int(row[N]))}


def asked_for(release: Release, quasi: str) -> int | None:
    """Return the class size that was claimed for a quasi-identifier, or else measured against."""
    claimed = [
        int(claim.parameters["k"])
        for claim in release.claims
        if claim.model == "k-anonymity" and claim.quasi_identifier == quasi
    ]
    measured = [
        int(m.k) for m in release.plan.measures if m.kind == "k_anonymity" and hasattr(m, "k")
    ]
    return max(claimed or measured, default=None)


def levels(release: Release) -> list[tuple[str, float, int, str]]:
    """Return (column, level, height, meaning) for each column that a step could raise.

    Where a step raised single values, the level is their average.
    """
    reached: dict[str, float] = {}
    mixed: set[str] = set()
    for action in release.data.history:
        found = action.details.get("levels") or action.parameters.get("recode")
        for column, level in found.items() if isinstance(found, Mapping) else ():
            average, differs = average_level(level)
            reached[column] = max(average, reached.get(column, 0))
            if differs:
                mixed.add(column)
    rows = []
    for column, level in reached.items():
        hierarchy = release.original.hierarchies.get(column)
        height = hierarchy.height if hierarchy else max(int(level), 1)
        words = "on average" if column in mixed else meaning(int(level), height, hierarchy)
        rows.append((column, level, height, words))
    return rows


def average_level(level: int | Mapping[Any, int]) -> tuple[float, bool]:
    """Return the average of a level or of counts by level, and whether values differ in level."""
    if not isinstance(level, Mapping):
        return int(level), False
    counts = {int(at): int(n) for at, n in level.items() if n}
    total = sum(counts.values())
    return sum(at * n for at, n in counts.items()) / max(total, 1), len(counts) > 1


def meaning(level: int, height: int, hierarchy: Hierarchy | None) -> str:
    """Return what a level is, in words."""
    if level == 0:
        return "as collected"
    if level == height:
        return "suppressed"
    if hierarchy is None:
        return ""
    if level < len(hierarchy.names):
        return hierarchy.names[level]
    shapes = {
        (len(label), len(label) - len(label.rstrip("*"))) for label in hierarchy.labels[level]
    }
    if len(shapes) == 1:
        length, hidden = next(iter(shapes))
        if 0 < hidden < length:
            return f"first {length - hidden} of {length} characters"
    return ""


@dataclass(frozen=True)
class Changes:
    """What differs between the original and the release.

    ``cells`` gives the changed values by released column; None where the count would tell a secret
    parameter. ``linked`` is False when a step has cut the link between records before and after.
    """

    records_before: int
    records_after: int
    dropped: int
    added: int
    removed: list[str]
    new: list[str]
    cells: dict[str, int | None]
    linked: bool


def changes(release: Release) -> Changes:
    """Compare the original with the release, record by record where that is still possible."""
    before, after = release.original, release.data
    linked = not any(action.details.get("links_lost") for action in after.history)
    found: Mapping[str, Any] = count_changes(before, after) if linked else {}
    cells: dict[str, int | None] = {}
    if linked:
        hidden = secretly_changed(release)
        shared = [c for c in after.columns if c in before.columns]
        cells = {c: None if c in hidden else int(found["cells"].get(c, 0)) for c in shared}
    n_after = len(after)
    return Changes(
        records_before=release.ledger.records,
        records_after=n_after,
        dropped=found.get("dropped", max(release.ledger.records - n_after, 0)),
        added=found.get("added", max(n_after - release.ledger.records, 0)),
        removed=[c for c in before.columns if c not in after.columns],
        new=[c for c in after.columns if c not in before.columns],
        cells=cells,
        linked=linked,
    )


def secretly_changed(release: Release) -> set[str]:
    """Return the columns changed by steps with secret parameters: a count might tell a rate."""
    return {
        column
        for entry in release.ledger.entries
        if lookup(entry.kind).secret_fields()
        for column in entry.changes.get("cells", ())
    }
