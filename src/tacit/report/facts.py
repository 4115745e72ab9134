"""What a report says about a release, computed from the data before and after: aggregates only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from tacit.data.changes import changes as count_changes
from tacit.data.copies import split_copies
from tacit.engine.memory import count_held
from tacit.engine.relational import N, counts
from tacit.engine.subsets import all_subsets, subset_counts, unordered_cells

if TYPE_CHECKING:
    from tacit.data.hierarchy import Hierarchy
    from tacit.data.microdata import Microdata


class Sizes(dict[int, int]):
    """How many classes there are of each size."""

    @property
    def records(self) -> int:
        """Return the number of records."""
        return sum(size * n for size, n in self.items())

    @property
    def classes(self) -> int:
        """Return the number of classes."""
        return sum(self.values())

    @property
    def smallest(self) -> int:
        """Return the size of the smallest class; 0 without records."""
        return min(self, default=0)

    @property
    def average(self) -> float | None:
        """Return the average class size."""
        return self.records / self.classes if self else None

    def below(self, k: int) -> int:
        """Return the records in classes smaller than k."""
        return sum(size * n for size, n in self.items() if size < k)

    @property
    def unique_share(self) -> float:
        """Return the share of records that are alone in their class."""
        return self.below(2) / max(self.records, 1)


@dataclass(frozen=True)
class ClassSizes:
    """Class sizes of one quasi-identifier before and after."""

    name: str
    columns: tuple[str, ...]
    before: Sizes
    after: Sizes
    k: int | None

    def rows(self) -> list[tuple[str, Any, Any]]:
        """Return the class sizes for a table: what, before, after."""
        was, now = self.before, self.after
        limits = {"unique records": 2}
        if self.k and self.k > 2:
            limits[f"records in classes below {self.k}"] = self.k
        return [
            ("records", was.records, now.records),
            ("classes", was.classes, now.classes),
            ("smallest class", was.smallest, now.smallest),
            ("average class", was.average, now.average),
            *((label, was.below(k), now.below(k)) for label, k in limits.items()),
        ]


def class_sizes(release: Any) -> list[ClassSizes]:
    """Return the class sizes on each quasi-identifier that is still in the release."""
    return [
        ClassSizes(
            name,
            columns,
            sizes_of(release.original, release.original.quasi[name]),
            sizes_of_copies(release.data, columns),
            find_claimed_size(release, name),
        )
        for name, columns in release.data.quasi.items()
        if name in release.original.quasi
    ]


def sizes_of_copies(data: Microdata, keys: tuple[str, ...]) -> Sizes:
    """Return the class sizes; of several synthetic copies those of the one with most unique records.

    Counted together, copies of one record would hide each other.
    """
    if data.copies is None:
        return sizes_of(data, keys)
    return max((sizes_of(copy, keys) for copy in split_copies(data)), key=lambda s: s.get(1, 0))


def sizes_of(data: Microdata, keys: tuple[str, ...]) -> Sizes:
    """Return how many classes there are of each size; only these totals leave the engine."""
    held = count_held(data.frame, keys)
    if held is not None:
        sizes = np.unique_counts(held[1])
        return Sizes(zip(sizes.values.tolist(), sizes.counts.tolist(), strict=True))
    classes = counts(data.frame, keys)
    totals = classes.group_by(N).agg(nw.len().cast(nw.Int64).alias("classes"))
    rows = totals.collect("pyarrow").rows(named=True)
    return Sizes(sorted((int(row[N]), int(row["classes"])) for row in rows))


def find_claimed_size(release: Any, quasi: str) -> int | None:
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


#: What is said of a column whose values were raised to different levels.
MIXED = "on average"


def levels(release: Any) -> list[tuple[str, float, int, str]]:
    """Return (column, level, height, meaning) for each column that a step could raise.

    Where a step raised single values, the level is their average.
    """
    reached: dict[str, float] = {}
    mixed: set[str] = set()
    for action in release.data.history:
        found = action.details.get("levels") or action.parameters.get("recode")
        for column, level in found.items() if tells_levels(found) else ():
            average, differs = average_level(level)
            reached[column] = max(average, reached.get(column, 0))
            if differs:
                mixed.add(column)
    rows = []
    for column, level in reached.items():
        hierarchy = release.original.hierarchies.get(column)
        height = hierarchy.height if hierarchy else max(int(level), 1)
        words = MIXED if column in mixed else describe_level(int(level), height, hierarchy)
        rows.append((column, level, height, words))
    return rows


def tells_levels(found: Any) -> bool:
    """Return True for levels of hierarchies, or counts by level; other steps have levels of their own."""

    def is_level(value: Any) -> bool:
        return isinstance(value, int) or (isinstance(value, str) and value.isdigit())

    return isinstance(found, Mapping) and all(
        all(map(is_level, v)) if isinstance(v, Mapping) else is_level(v) for v in found.values()
    )


def average_level(level: int | Mapping[Any, int]) -> tuple[float, bool]:
    """Return the average of a level or of counts by level, and whether values differ in level."""
    if not isinstance(level, Mapping):
        return int(level), False
    counts = {int(at): int(n) for at, n in level.items() if n}
    total = sum(counts.values())
    return sum(at * n for at, n in counts.items()) / max(total, 1), len(counts) > 1


def describe_level(level: int, height: int, hierarchy: Hierarchy | None) -> str:
    """Return what a level is, in words."""
    if level == 0:
        return "as collected"
    if level == height:
        return "suppressed"
    if hierarchy is None:
        return ""
    if level < len(hierarchy.names):
        return hierarchy.names[level]
    return describe_shape(hierarchy.labels[level])


def name_level(release: Any, column: str, level: int) -> str:
    """Return what a level is called, from the plan and the released values alone."""
    hierarchy = release.original.hierarchies.get(column)
    if level == 0:
        return "as collected"
    if hierarchy and level < len(hierarchy.names):
        return str(hierarchy.names[level])
    if column not in release.data.columns:
        return ""
    shown = release.data.codes(column).values.to_pylist()
    return describe_shape(v for v in shown if isinstance(v, str))


def describe_shape(labels: Iterable[str]) -> str:
    """Return how many characters are left of labels that all end in so many stars; empty for others."""
    shapes = {(len(label), len(label) - len(label.rstrip("*"))) for label in labels}
    if len(shapes) == 1:
        length, hidden = next(iter(shapes))
        if 0 < hidden < length:
            return f"first {length - hidden} of {length} characters"
    return ""


#: Techniques that treat all values of a column alike.
ALIKE = frozenset({"generalise values", "suppression (tuple)"})


def whole_levels(release: Any) -> dict[str, int]:
    """Return the level of each column that steps raised as a whole and changed in no other way."""
    before = release.original
    reached = {c: int(lv) for c, lv, _, meaning in levels(release) if meaning != MIXED}
    aimed = [
        (set(step.targets(before)), step.techniques)
        for step in release.plan.steps
        if isinstance(before, step.data_types())
    ]
    return {
        c: level
        for c, level in reached.items()
        if all({*techniques} <= ALIKE for columns, techniques in aimed if c in columns)
    }


@dataclass(frozen=True)
class Changes:
    """What differs between the original and the release.

    ``cells`` gives the changed values by released column. ``linked`` is False when a step has cut the link between records before and after.
    """

    records_before: int
    records_after: int
    dropped: int
    added: int
    removed: list[str]
    new: list[str]
    cells: dict[str, int]
    linked: bool


def count_changed(release: Any) -> Mapping[str, Any] | None:
    """Compare the original with the release, record by record; None where a step has cut the link."""
    if any(action.details.get("links_lost") for action in release.data.history):
        return None
    return count_changes(release.original, release.data)


def changes(release: Any, counted: Mapping[str, Any] | None = None) -> Changes:
    """Return what became of records and values; ``counted`` is what :func:`count_changed` gave."""
    before, after = release.original, release.data
    given = counted if counted is not None else count_changed(release)
    linked, found = given is not None, given or {}
    shared = [c for c in after.columns if c in before.columns] if linked else []
    cells = {c: int(found["cells"].get(c, 0)) for c in shared}
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


# -- combinations of keys ------------------------------------------------------------------------------

#: Combinations of up to this many keys are counted, and of this many keys at most.
LARGEST_COMBINATION, MOST_KEYS = 3, 15


@dataclass(frozen=True)
class Combination:
    """A set of keys with the records that are unique or in classes below k on it: before, after."""

    columns: tuple[str, ...]
    k: int
    unique: tuple[int, int]
    below: tuple[int, int]


def riskiest_combinations(release: Any, most: int) -> list[Combination]:
    """Return the combinations of keys on which most records stand out, the worst after protection first."""
    keys = [k for k in release.data.keys if k in release.original.columns][:MOST_KEYS]
    if not keys:
        return []
    k = max((find_claimed_size(release, name) or 2 for name in release.data.quasi), default=2)
    old, new = (rare_records(data, keys, k) for data in (release.original, release.data))
    found = [
        Combination(c, k, (old[c][0], new[c][0]), (old[c][1], new[c][1]))
        for c in all_subsets(keys, LARGEST_COMBINATION)
    ]
    found.sort(key=lambda c: (-c.unique[1], -c.below[1], -c.unique[0], len(c.columns)))
    return found[:most]


def rare_records(
    data: Microdata, keys: list[str], k: int
) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return, for each combination of keys, the unique records and those in classes below k."""
    cells = unordered_cells(data.frame, keys, data.engine)
    return {
        columns: (int((sizes == 1).sum()), int(sizes[sizes < k].sum()))
        for columns, sizes in subset_counts(cells, all_subsets(keys, LARGEST_COMBINATION))
    }
