"""Hierarchy: how the values of a column generalise, level by level, to one top."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.errors import HierarchyError

#: The top of a hierarchy: the suppressed value.
TOP = "*"

MAX_FAULTS = 20


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A value generalisation hierarchy (VGH): a rooted tree with all ground values at level 0.

    Make one with the builders and readers of :mod:`tacit.hierarchy`, or from paths:

    >>> zip_code = Hierarchy.from_paths([["02138", "0213*", "*"], ["02139", "0213*", "*"]])
    >>> zip_code.height
    2

    Attributes
    ----------
    labels
        The distinct labels of each level, ground level first.
    parents
        For each level below the top: the position, in the next level, of each label's parent.
    ground
        The values of the data that the ground labels stand for (typed), once bound to data.
    names
        Names of the levels, if the source gives any.
    """

    labels: tuple[tuple[str, ...], ...]
    parents: tuple[npt.NDArray[np.int32], ...]
    ground: pa.Array | None = None
    names: tuple[str, ...] = field(default=())

    @classmethod
    def from_paths(
        cls, paths: Iterable[Sequence[str]], *, pad: bool = False, names: Sequence[str] = (), where: str = "hierarchy"
    ) -> Hierarchy:
        """Build from one path a ground value: the value, its parent, ..., the top.

        Parameters
        ----------
        paths
            The paths; a repeated path is allowed, a second different path for a value is a fault.
        pad
            Fill short paths by repeating the last label below the top, instead of refusing them.
        names
            Names of the levels.
        where
            How to name the source in messages.

        Raises
        ------
        HierarchyError
            With every fault: several tops, missing paths, uneven depth, a value with two paths, a
            level that splits a group of the level below.
        """
        rows = [tuple(str(v) for v in path) for path in paths]
        if pad:
            rows = padded(rows)
        faults = path_faults(rows)
        if faults:
            raise HierarchyError(f"{where} is not a valid hierarchy", faults)
        depth = len(rows[0])
        labels: list[tuple[str, ...]] = []
        parents: list[npt.NDArray[np.int32]] = []
        positions = [{label: i for i, label in enumerate(dict.fromkeys(row[level] for row in rows))} for level in range(depth)]
        for level, position in enumerate(positions):
            labels.append(tuple(position))
            if level + 1 < depth:
                up = np.zeros(len(position), dtype=np.int32)
                for row in rows:
                    up[position[row[level]]] = positions[level + 1][row[level + 1]]
                parents.append(up)
        return cls(tuple(labels), tuple(parents), names=tuple(names))

    # -- shape ---------------------------------------------------------------------------------

    @property
    def height(self) -> int:
        """Return the number of levels above the ground."""
        return len(self.parents)

    @property
    def top(self) -> str:
        """Return the label of the top."""
        return self.labels[-1][0]

    def __len__(self) -> int:
        return len(self.labels[0])

    def __repr__(self) -> str:
        sizes = " -> ".join(str(len(level)) for level in self.labels)
        return f"Hierarchy(height={self.height}, values per level: {sizes})"

    @functools.cached_property
    def up(self) -> tuple[npt.NDArray[np.int32], ...]:
        """Return for each level the position, in that level, of each ground value's ancestor."""
        maps = [np.arange(len(self), dtype=np.int32)]
        for parent in self.parents:
            maps.append(parent[maps[-1]])
        return tuple(maps)

    @functools.cached_property
    def position(self) -> Mapping[str, int]:
        """Return the position of each ground label."""
        return {label: i for i, label in enumerate(self.labels[0])}

    # -- questions -------------------------------------------------------------------------------

    def path(self, value: Any) -> tuple[str, ...]:
        """Return a ground value's path to the top."""
        i = self.position[ground_label(value)]
        return tuple(self.labels[level][self.up[level][i]] for level in range(self.height + 1))

    def at(self, level: int) -> dict[str, str]:
        """Return each ground label's label at a level."""
        return {label: self.labels[level][self.up[level][i]] for label, i in self.position.items()}

    def leaves(self, label: str, level: int) -> tuple[str, ...]:
        """Return the ground labels below a label of a level."""
        code = self.labels[level].index(label)
        return tuple(self.labels[0][i] for i in np.flatnonzero(self.up[level] == code))

    def level_of(self, value: Any, released: Any) -> int | None:
        """Return the lowest level at which ``released`` is the label of ground ``value``; None if it never is."""
        text = ground_label(released)
        return next((level for level, label in enumerate(self.path(value)) if label == text), None)

    # -- data --------------------------------------------------------------------------------------

    def bind(self, values: pa.Array, column: str) -> Hierarchy:
        """Return the hierarchy bound to the data's distinct values; refuse when some are not covered.

        Ground labels that do not occur in the data stay.
        """
        texts = [ground_label(v) for v in values.to_pylist()]
        missing = sum(t not in self.position for t in texts)
        if missing:
            raise HierarchyError(
                f"the hierarchy of column {column!r} does not cover {missing} of the {len(texts)} "
                "different values in the data. Add their paths, or check the column's type and coding."
            )
        typed: list[Any] = [None] * len(self)
        for value, text in zip(values.to_pylist(), texts, strict=True):
            typed[self.position[text]] = value
        return Hierarchy(self.labels, self.parents, pa.array(typed, type=values.type), self.names)

    def mapping(self, level: int) -> pa.Table:
        """Return the table (``old``, ``new``) that raises bound data to a level."""
        assert self.ground is not None, "bind the hierarchy to data first"
        if not 0 <= level <= self.height:
            raise HierarchyError(f"level {level} does not exist: the hierarchy has levels 0 to {self.height}")
        new = pa.array(np.array(self.labels[level], dtype=object)[self.up[level]], type=pa.string())
        known = self.ground.is_valid()
        return pa.table({"old": self.ground.filter(known), "new": new.filter(known)})

    def lift(self, values: pa.Array) -> list[npt.NDArray[np.int32]]:
        """Return, for coded ground ``values``, each level's map from value code to label position.

        One entry more than there are values: null keeps a code of its own, one above the labels.
        """
        at = np.array([self.position[ground_label(v)] for v in values.to_pylist()], dtype=np.int32)
        return [np.append(self.up[level][at], np.int32(len(self.labels[level]))) for level in range(self.height + 1)]


@runtime_checkable
class Rule(Protocol):
    """A rule that builds a hierarchy once the values of the data are known."""

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of these ground values."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan."""
        ...


def ground_label(value: Any) -> str:
    """Return the text under which a value of the data stands in a hierarchy."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        text: str = value.isoformat()
        return text.removesuffix("T00:00:00")
    return str(value)


def padded(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Fill short paths by repeating the label below the top."""
    depth = max((len(r) for r in rows), default=0)
    return [r if len(r) in (0, depth) else (*r[:-1], *(r[-2:-1] or r[:1]) * (depth - len(r)), r[-1]) for r in rows]


def path_faults(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return every fault of a set of paths; lines are counted from 1 and labels are not quoted."""
    if not rows:
        return ["it has no paths"]
    faults: list[str] = []
    depth = max(len(row) for row in rows)
    seen: dict[str, tuple[str, ...]] = {}
    for i, row in enumerate(rows, 1):
        if not row or any(not label for label in row):
            faults.append(f"path {i}: a label is missing")
        elif len(row) != depth:
            faults.append(f"path {i}: {len(row)} levels where others have {depth} (uneven depth; pad=True fills it)")
        elif seen.setdefault(row[0], row) != row:
            faults.append(f"path {i}: its value already has another path")
    whole = [row for row in rows if len(row) == depth and all(row)]
    tops = {row[-1] for row in whole}
    if len(tops) > 1:
        faults.append(f"it has {len(tops)} tops where one is needed (add a level '{TOP}' above them)")
    if depth < 2:
        faults.append(f"it has no level above the ground (add a top '{TOP}')")
    for level in range(1, depth - 1):
        parent: dict[str, str] = {}
        split = {row[level] for row in whole if parent.setdefault(row[level], row[level + 1]) != row[level + 1]}
        if split:
            faults.append(f"level {level}: {len(split)} of its labels have more than one parent at level {level + 1} (a level splits a lower group)")
    if len(faults) > MAX_FAULTS:
        faults = [*faults[:MAX_FAULTS], f"... and {len(faults) - MAX_FAULTS} more faults"]
    return faults
