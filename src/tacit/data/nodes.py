"""Labels of a hierarchy at any level: which node a released value stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.errors import HierarchyError

Node = tuple[int, int]


def nodes(hierarchy: Hierarchy) -> dict[str, Node]:
    """Return (level, position) of each label; a label that recurs on several levels is the lowest."""
    return dict(hierarchy.nodes)


def raised(hierarchy: Hierarchy, values: Iterable[Any], level: int, column: str) -> list[str]:
    """Return the labels of present values at a level; a value that is above it already stays."""
    if not 0 <= level <= hierarchy.height:
        raise HierarchyError(
            f"level {level} of column {column!r} does not exist: its hierarchy has levels 0 to {hierarchy.height}"
        )
    known = nodes(hierarchy)
    texts = [ground_label(v) for v in values]
    strange = sum(t not in known for t in texts)
    if strange:
        raise HierarchyError(
            f"{strange} of the different values in column {column!r} are no labels of its hierarchy; "
            "generalise before steps that replace values"
        )
    return [
        hierarchy.labels[max(level, known[t][0])][climb(hierarchy, known[t], level)] for t in texts
    ]


def climb(hierarchy: Hierarchy, node: Node, level: int) -> int:
    """Return the position of a node's ancestor at a level, or its own when it is above."""
    return hierarchy.climb(node, level)
