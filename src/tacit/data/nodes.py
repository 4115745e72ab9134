"""Labels of a hierarchy for values that may have been generalised already."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.errors import HierarchyError


def raise_labels(hierarchy: Hierarchy, values: Iterable[Any], level: int, column: str) -> list[str]:
    """Return the labels of present values at a level; a value that is above it already stays."""
    if not 0 <= level <= hierarchy.height:
        raise HierarchyError(
            f"level {level} of column {column!r} does not exist: its hierarchy has levels 0 to {hierarchy.height}"
        )
    present = list(values)
    strange = sum(ground_label(v) not in hierarchy.nodes for v in present)
    if strange:
        raise HierarchyError(
            f"{strange} of the different values in column {column!r} are no labels of its hierarchy; "
            "generalise before steps that replace values"
        )
    return [hierarchy.label_at(v, level) for v in present]
