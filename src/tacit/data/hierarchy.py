"""Hierarchy: how the values of a column generalise, level by level, to one top."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Ints
from tacit.errors import HierarchyError
from tacit.reveal import reveal

#: The top of a hierarchy: the suppressed value.
TOP = "*"

#: How many faults of one sort are listed before the rest are only counted.
MAX_FAULTS = 20

Codes = npt.NDArray[np.int32]


class Coded(NamedTuple):
    """One level of a set of paths: a code per path, and the label of each code in order of appearance."""

    codes: Codes
    labels: tuple[str, ...]


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
    parents: tuple[Codes, ...]
    ground: pa.Array | None = None
    names: tuple[str, ...] = field(default=())

    @classmethod
    def from_paths(
        cls,
        paths: Iterable[Sequence[Any]],
        *,
        pad: bool = False,
        top: bool | str = False,
        names: Sequence[str] = (),
        where: str = "hierarchy",
        lines: Sequence[int] | None = None,
    ) -> Hierarchy:
        """Build from one path per ground value: the value, its parent, ..., the top.

        Parameters
        ----------
        paths
            The paths; a repeated path is allowed, a second different path for a value is a fault.
        pad
            Fill short paths by repeating the last label below the top, instead of refusing them.
        top
            Add this label above every path (True adds ``*``).
        names
            Names of the levels.
        where
            How to name the source in messages.
        lines
            The line of the source on which each path stands, for messages.

        Raises
        ------
        HierarchyError
            With every fault: several tops, missing paths, uneven depth, a value with two paths, a
            level that splits a group of the level below.
        """
        above = () if top is False else (TOP if top is True else str(top),)
        rows = [(*map(ground_label, path), *above) for path in paths]
        if pad:
            rows = pad_paths(rows)
        faults = path_faults(rows, lines)
        if faults:
            raise HierarchyError(f"{where} is not a valid hierarchy", faults)
        return cls._from_coded([code_labels(column) for column in zip(*rows, strict=True)], names)

    @classmethod
    def from_columns(
        cls,
        columns: Sequence[Sequence[str]],
        *,
        top: str = TOP,
        names: Sequence[str] = (),
        where: str = "hierarchy",
    ) -> Hierarchy:
        """Build from one column of labels a level, ground first, with a single top above them.

        Unlike a file, the values of data may be none at all: the hierarchy is then empty.
        """
        levels = [code_labels(column) for column in columns]
        n = len(levels[0].codes)
        levels.append(Coded(np.zeros(n, dtype=np.int32), (top,)))
        faults = level_faults(levels, name_path(None))
        if faults:
            raise HierarchyError(f"{where} is not a valid hierarchy", faults)
        return cls._from_coded(levels, names)

    @classmethod
    def _from_coded(cls, levels: Sequence[Coded], names: Sequence[str]) -> Hierarchy:
        parents = []
        for below, above in itertools.pairwise(levels):
            up = np.zeros(len(below.labels), dtype=np.int32)
            up[below.codes] = above.codes
            parents.append(up)
        return cls(tuple(level.labels for level in levels), tuple(parents), names=tuple(names))

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
    def up(self) -> tuple[Codes, ...]:
        """Return for each level the position, in that level, of each ground value's ancestor."""
        maps = [np.arange(len(self), dtype=np.int32)]
        for parent in self.parents:
            maps.append(parent[maps[-1]])
        return tuple(maps)

    @functools.cached_property
    def position(self) -> Mapping[str, int]:
        """Return the position of each ground label."""
        return {label: i for i, label in enumerate(self.labels[0])}

    @functools.cached_property
    def level_names(self) -> tuple[str, ...]:
        """Return a name for each level: the given ones, or ``level 0``, ``level 1``, ..."""
        if len(self.names) == len(self.labels):
            return self.names
        return tuple(f"level {level}" for level in range(len(self.labels)))

    # -- questions -------------------------------------------------------------------------------

    def path(self, value: Any) -> tuple[str, ...]:
        """Return a ground value's path to the top."""
        i = self.position.get(ground_label(value))
        if i is None:
            raise HierarchyError("that value is not a ground value of the hierarchy")
        return tuple(self.labels[level][self.up[level][i]] for level in range(self.height + 1))

    def at(self, level: int) -> dict[str, str]:
        """Return each ground label's label at a level."""
        self._check_level(level)
        return {label: self.labels[level][self.up[level][i]] for label, i in self.position.items()}

    def leaves(self, label: str, level: int) -> tuple[str, ...]:
        """Return the ground labels below a label of a level."""
        self._check_level(level)
        if label not in self.labels[level]:
            raise HierarchyError(f"level {level} of the hierarchy has no such label")
        code = self.labels[level].index(label)
        return tuple(self.labels[0][i] for i in np.flatnonzero(self.up[level] == code))

    def level_of(self, value: Any, released: Any) -> int | None:
        """Return the lowest level at which ``released`` is the label of ground ``value``; None if it never is."""
        text = ground_label(released)
        return next((level for level, label in enumerate(self.path(value)) if label == text), None)

    def _check_level(self, level: int) -> None:
        if not 0 <= level <= self.height:
            raise HierarchyError(
                f"level {level} does not exist: the hierarchy has levels 0 to {self.height}"
            )

    # -- data --------------------------------------------------------------------------------------

    def bind(self, values: pa.Array, column: str) -> Hierarchy:
        """Return the hierarchy bound to the data's distinct values; refuse when some are not covered.

        Ground labels that do not occur in the data stay.
        """
        texts = ground_labels(values)
        at = pc.index_in(texts, value_set=self._ground_texts)
        if at.null_count:
            missing = texts.filter(at.is_null()).to_pylist()
            raise HierarchyError(
                f"the hierarchy of column {column!r} does not cover {len(missing)} of the {len(texts)} "
                f"different values in the data. {mismatch_hint(missing, self.position, column)} "
                + reveal(f"Values of {column!r} that the hierarchy lacks", missing)
            )
        where = np.full(len(self), -1, dtype=np.int64)
        where[at.to_numpy(zero_copy_only=False)] = np.arange(len(values))
        typed = values.take(pa.array(where, mask=where < 0))
        return Hierarchy(self.labels, self.parents, typed, self.names)

    def mapping(self, level: int) -> pa.Table:
        """Return the table (``old``, ``new``) that raises bound data to a level."""
        assert self.ground is not None, "bind the hierarchy to data first"
        self._check_level(level)
        known = self.ground.is_valid()
        new = pa.array(self.labels[level], type=pa.string()).take(pa.array(self.up[level]))
        return pa.table({"old": self.ground.filter(known), "new": new.filter(known)})

    def lift(self, values: pa.Array) -> list[Codes]:
        """Return, for coded ground ``values``, each level's map from value code to label position.

        One entry more than there are values: null keeps a code of its own, one above the labels, until
        the top, where a missing and a suppressed value are the same.
        """
        texts = ground_labels(values)
        at = pc.index_in(texts, value_set=self._ground_texts)
        if at.null_count:
            return self._lift_labels(texts.to_pylist())
        codes = at.to_numpy(zero_copy_only=False).astype(np.int32)
        below = [
            np.append(self.up[level][codes], np.int32(len(self.labels[level])))
            for level in range(self.height)
        ]
        return [*below, np.zeros(len(codes) + 1, dtype=np.int32)]

    def _lift_labels(self, texts: Sequence[str]) -> list[Codes]:
        """Lift values of which some stand above the ground already; below its own level a label is itself."""
        places = [self.nodes.get(text) for text in texts]
        strange = sum(place is None for place in places)
        if strange:
            raise HierarchyError(
                f"{strange} of the different values are no labels of the hierarchy; "
                "generalise before steps that replace values"
            )
        maps = []
        for level in range(self.height):
            own = len(self.labels[level]) + 1 + np.arange(len(texts))
            climbed = [
                self.climb(place, level) if place and place[0] <= level else own[i]
                for i, place in enumerate(places)
            ]
            maps.append(np.array([*climbed, len(self.labels[level])], dtype=np.int32))
        return [*maps, np.zeros(len(texts) + 1, dtype=np.int32)]

    @functools.cached_property
    def nodes(self) -> Mapping[str, tuple[int, int]]:
        """Return (level, position) of each label; a label that recurs on several levels is the lowest."""
        found: dict[str, tuple[int, int]] = {}
        for level, labels in enumerate(self.labels):
            for position, label in enumerate(labels):
                found.setdefault(label, (level, position))
        return found

    def climb(self, node: tuple[int, int], level: int) -> int:
        """Return the position of a node's ancestor at a level, or its own when it stands above."""
        at, position = node
        for parent in self.parents[at:level]:
            position = int(parent[position])
        return position

    def label_at(self, value: Any, level: int) -> str:
        """Return the label of a value at a level; one that stands higher already keeps its own."""
        node = self.nodes[ground_label(value)]
        return self.labels[max(level, node[0])][self.climb(node, level)]

    def raise_values(self, values: pa.Array, level: int) -> pa.Array:
        """Return the labels of values at a level; null stays null below the top.

        A value that stands higher already keeps its label.
        """
        if level == self.height:
            return pa.array([self.top] * len(values), pa.string())
        known = values.unique().drop_null()
        found = pa.array([self.label_at(v, level) for v in known.to_pylist()], pa.string())
        return found.take(pc.index_in(values, value_set=known))

    def lowest(self, values: pa.Array) -> int:
        """Return the lowest level at which one of the values stands; the top when there are none."""
        levels = [self.nodes[ground_label(v)][0] for v in values.to_pylist()]
        return min(levels, default=self.height)

    @functools.cached_property
    def _ground_texts(self) -> pa.Array:
        return pa.array(self.labels[0], type=pa.string())

    # -- looking -------------------------------------------------------------------------------------

    def paths(self) -> list[tuple[str, ...]]:
        """Return every path, ground value first."""
        columns = [
            np.array(labels, dtype=object)[up]
            for labels, up in zip(self.labels, self.up, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def to_arrow(self) -> pa.Table:
        """Return one row per ground value and one column per level."""
        columns = [
            pa.array(labels, type=pa.string()).take(pa.array(up))
            for labels, up in zip(self.labels, self.up, strict=True)
        ]
        return pa.table(columns, names=list(self.level_names))

    def to_dict(self) -> dict[str, Any]:
        """Return the hierarchy, with all its labels, as it stands in a plan.

        A hierarchy that a rule built from data holds the values of the data: keep the rule's own
        ``to_dict`` in plans that travel.
        """
        names = {"names": list(self.names)} if self.names else {}
        return {"kind": "paths", "paths": [list(path) for path in self.paths()], **names}

    def describe(self, limit: int = 40) -> str:
        """Return the tree as text, top first, at most ``limit`` lines; counts are of ground values."""
        lines = list(itertools.islice(self._tree_lines(self.height, 0, ""), limit + 1))
        if len(lines) > limit:
            lines[limit:] = [f"... {len(self):,} ground values in all"]
        return "\n".join(lines)

    def _tree_lines(self, level: int, code: int, indent: str) -> Iterator[str]:
        label = self.labels[level][code]
        # A label repeated by padding is one node to a reader.
        while level and (below := self._children[level - 1][code]).size == 1:
            if self.labels[level - 1][below[0]] != label:
                break
            level, code = level - 1, int(below[0])
        size = f"  ({int(np.count_nonzero(self.up[level] == code)):,})" if level else ""
        yield f"{indent}{label}{size}"
        if level:
            for child in self._children[level - 1][code]:
                yield from self._tree_lines(level - 1, int(child), indent + "  ")

    @functools.cached_property
    def _children(self) -> tuple[list[Ints], ...]:
        """Return for each level below the top the positions of each parent's children."""
        groups = []
        for parent, above in zip(self.parents, self.labels[1:], strict=True):
            order = np.argsort(parent, kind="stable")
            bounds = np.cumsum(np.bincount(parent, minlength=len(above)))[:-1]
            groups.append(np.split(order, bounds))
        return tuple(groups)


@runtime_checkable
class Rule(Protocol):
    """A rule that builds a hierarchy once the values of the data are known."""

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of these ground values."""

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan."""


# -- labels ----------------------------------------------------------------------------------------


def ground_label(value: Any) -> str:
    """Return the text under which a value of the data stands in a hierarchy."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        text: str = value.isoformat()
        return text.removesuffix("T00:00:00")
    return str(value)


def ground_labels(values: pa.Array) -> pa.Array:
    """Return the texts under which the values of a column stand in a hierarchy."""
    kind = values.type
    same_text = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_integer,
        pa.types.is_date,
    )
    if any(check(kind) for check in same_text):
        return pc.cast(values, pa.string())
    return pa.array([ground_label(v) for v in values.to_pylist()], type=pa.string())


#: Ways in which codes are often written differently: how they are made equal, and what to say.
DIFFERENCES: Sequence[tuple[Callable[[str], str], str]] = (
    (str.strip, "with blanks around them removed"),
    (str.casefold, "when upper and lower case are not told apart"),
    (
        lambda t: t.strip().lstrip("0"),
        "with leading zeros removed; to keep zeros read the column as text: types={{{column!r}: 'text'}}",
    ),
    (lambda t: t.removesuffix(".0"), "without a closing '.0'"),
    (
        lambda t: t.replace(" ", "-").replace("_", "-").casefold(),
        "when blanks, hyphens and underscores are not told apart",
    ),
)


def mismatch_hint(missing: Sequence[str], known: Iterable[str], column: str) -> str:
    """Return what to do about uncovered values, naming the difference in coding if one explains them."""
    labels = list(known)
    for same, words in DIFFERENCES:
        folded = {same(label) for label in labels}
        found = sum(same(text) in folded for text in missing)
        if found:
            some = "They" if found == len(missing) else "Some of them"
            return f"{some} would be covered {words.format(column=column)}."
    return "Add their paths, or check the column's type and coding."


def pad_paths(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Fill short paths, and gaps in them, by repeating the label below."""
    depth = max((len(r) for r in rows), default=0)
    padded = []
    for row in rows:
        if 0 < len(row) < depth:
            row = (*row[:-1], *(row[-2:-1] or row[:1]) * (depth - len(row)), row[-1])
        filled: list[str] = []
        for label in row:
            filled.append(label or (filled[-1] if filled else ""))
        padded.append(tuple(filled))
    return padded


# -- faults ----------------------------------------------------------------------------------------


def code_labels(column: Sequence[str]) -> Coded:
    """Code one level's labels in the order in which they appear."""
    encoded = pa.array(column, type=pa.string()).dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return Coded(codes, tuple(encoded.dictionary.to_pylist()))


def name_path(
    lines: Sequence[int] | None, kept: Sequence[int] | None = None
) -> Callable[[int], str]:
    """Return how to name a path in a message: by its line if there are lines, else by its number."""

    def name(i: int) -> str:
        row = i if kept is None else kept[i]
        return f"path {row + 1}" if lines is None else f"line {lines[row]}"

    return name


def path_faults(rows: Sequence[tuple[str, ...]], lines: Sequence[int] | None = None) -> list[str]:
    """Return every fault of a set of paths; labels are not quoted."""
    if not rows:
        return ["it has no paths"]
    depth = max(len(row) for row in rows)
    name = name_path(lines)
    gaps = [i for i, row in enumerate(rows) if not row or not all(row)]
    uneven = [i for i, row in enumerate(rows) if len(row) != depth and row and all(row)]
    faults = list_faults([f"{name(i)}: a label is missing" for i in gaps])
    faults += list_faults(
        [
            f"{name(i)}: {len(rows[i])} levels where others have {depth} (uneven depth; pad=True fills it)"
            for i in uneven
        ]
    )
    if depth < 2:
        faults.append(f"it has no level above the ground (top=True adds the top '{TOP}')")
    kept = [i for i, row in enumerate(rows) if len(row) == depth and all(row)]
    if kept and depth > 1:
        whole = [code_labels(column) for column in zip(*(rows[i] for i in kept), strict=True)]
        faults += level_faults(whole, name_path(lines, kept))
    return faults


def level_faults(levels: Sequence[Coded], name: Callable[[int], str]) -> list[str]:
    """Return the faults of whole paths: values with two paths, several tops, split groups."""
    _, first = np.unique(levels[0].codes, return_index=True)
    start = first[levels[0].codes]
    other = np.zeros(len(start), dtype=bool)
    for level in levels[1:]:
        other |= level.codes != level.codes[start]
    faults = list_faults(
        [f"{name(int(i))}: its value already has another path" for i in np.flatnonzero(other)]
    )
    n_tops = len(levels[-1].labels)
    if n_tops > 1:
        faults.append(
            f"it has {n_tops} tops where one is needed (top=True adds '{TOP}' above them)"
        )
    for number, (below, above) in enumerate(itertools.pairwise(levels[1:]), 1):
        parent = np.zeros(len(below.labels), dtype=np.int32)
        parent[below.codes] = above.codes
        n_split = len(np.unique(below.codes[parent[below.codes] != above.codes]))
        if n_split:
            faults.append(
                f"level {number}: {n_split} of its labels have more than one parent at level "
                f"{number + 1} (a level splits a lower group)"
            )
    clashes = sum(
        label_clashes(levels[low], levels[high])
        for low, high in itertools.combinations(range(len(levels)), 2)
    )
    if clashes:
        faults.append(
            f"{clashes} labels stand on two levels in different branches, so that a released label "
            "would have two meanings (give the groups other names)"
        )
    return faults


def label_clashes(below: Coded, above: Coded) -> int:
    """Return how many labels of two levels are the same text without one generalising to the other."""
    shared = set(below.labels) & set(above.labels)
    if not shared:
        return 0
    at = {label: code for code, label in enumerate(above.labels)}
    target = np.array([at.get(label, -1) for label in below.labels], dtype=np.int32)[below.codes]
    return len(np.unique(target[(target >= 0) & (target != above.codes)]))


def list_faults(faults: Sequence[str]) -> list[str]:
    """Return the first faults of one sort, and how many more there are."""
    if len(faults) <= MAX_FAULTS:
        return list(faults)
    return [*faults[:MAX_FAULTS], f"... and {len(faults) - MAX_FAULTS} more of this sort"]


# -- rules whose parameters stand in a plan as they are ----------------------------------------------


@dataclass(frozen=True)
class PlainRule:
    """A rule that a plan writes as its kind and its parameters."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as it stands in a plan; parameters at their defaults are left out."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        told = {f.name: given[f.name] for f in fields(self) if given[f.name] != f.default}
        return {
            "kind": self.kind,
            **{k: list(v) if isinstance(v, tuple) else v for k, v in told.items()},
        }
