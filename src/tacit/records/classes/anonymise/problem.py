"""The lattice problem: coded cells, how codes climb, and the state of the cells at a node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.data.hierarchy import Hierarchy, ground_label, ground_labels
from tacit.data.microdata import Microdata
from tacit.engine.codes import Cells, cells
from tacit.errors import ColumnNotFound, InputError
from tacit.records.classes.anonymise.grouping import Codes, Merged, merge_classes
from tacit.reveal import reveal
from tacit.stats.class_models import sum_by


class People(NamedTuple):
    """The members of the register in each class, and those in none."""

    n: Ints
    elsewhere: int


@dataclass(frozen=True)
class Members:
    """The members of the register at one node: merged codes, and how many have them.

    A member belongs to a class when its ground values climb to the labels of the class. A missing value is a
    value of its own below the top, so that nobody is taken for a candidate who may be none.
    """

    codes: Codes
    n: Ints
    #: People of the classes of a set of keys, counted when first asked for.
    counted: dict[tuple[int, ...], People] = field(default_factory=dict)

    def climbed(self, codes: Codes, sizes: Sequence[int]) -> Members:
        """Return the members at a higher node, where they have these codes."""
        merged = merge_classes(codes, sizes, self.n)
        return Members(merged.codes, merged.n)

    def people(self, places: tuple[int, ...], classes: Codes, sizes: Sequence[int]) -> People:
        """Return the members of each class, whose codes on some of the keys all differ."""
        if places not in self.counted:
            both = np.concatenate([classes, self.codes[:, places]]).astype(np.int32)
            n = np.concatenate([np.zeros(len(classes), dtype=np.int64), self.n])
            # The classes come first, so that they keep their numbers.
            found = merge_classes(np.ascontiguousarray(both), sizes, n)
            here = found.n[: len(classes)]
            self.counted[places] = People(here, int(self.n.sum() - here.sum()))
        return self.counted[places]


def place_values(
    key: str, texts: pa.Array, hierarchy: Hierarchy, other: Hierarchy | None
) -> list[Codes]:
    """Return, for each level, the code of each value of the register, and of null after the last.

    Labels have the codes of the data's hierarchy. Values that it lacks climb by the register's own hierarchy, of
    the same height; labels of these alone get codes beyond all others.
    """
    labels = texts.to_pylist()
    own = other if other is not None and other.height == hierarchy.height else None
    trees = [hierarchy if t in hierarchy.position else own for t in labels]
    strange = [
        t for t, tree in zip(labels, trees, strict=True) if tree is None or t not in tree.position
    ]
    if strange:
        raise InputError(
            f"the hierarchy of key {key!r} does not cover {len(strange)} of the {len(labels)} different values in the "
            "register. Give the data a hierarchy that covers both, for example as a file. "
            + reveal(f"Values of {key!r} in the register that the hierarchy lacks", strange)
        )
    levels = []
    for level in range(hierarchy.height):
        known = {label: i for i, label in enumerate(hierarchy.labels[level])}
        null = len(known)
        # Codes right above null belong to values of the data that stand above this level.
        first = null + 1 + len(hierarchy.nodes)
        more: dict[str, int] = {}
        codes = []
        for text, tree in zip(labels, trees, strict=True):
            assert tree is not None
            label = tree.labels[level][tree.up[level][tree.position[text]]]
            codes.append(
                known[label] if label in known else more.setdefault(label, first + len(more))
            )
        levels.append(np.array([*codes, null], dtype=np.int32))
    return [*levels, np.zeros(len(labels) + 1, dtype=np.int32)]


Levels = tuple[int, ...]


@dataclass(frozen=True)
class Climb:
    """How the codes of one key climb its hierarchy."""

    #: For each level below the top: the code, one level up, of each code.
    parents: tuple[Codes, ...]
    #: For each level: how many ground values of the hierarchy stand below each code.
    leaves: tuple[Ints, ...]
    #: The number of ground values of the hierarchy.
    domain: int

    @property
    def height(self) -> int:
        """Return the number of levels above the ground."""
        return len(self.parents)

    def lift(self, codes: Codes, low: int, high: int) -> Codes:
        """Return codes of one level at a higher one."""
        for parent in self.parents[low:high]:
            codes = parent[codes]
        return codes


class Counted:
    """Records and, where there are weights, their sums."""

    n: Ints
    weight: Floats | None

    def amounts(self, weighted: bool) -> Floats:
        """Return sums of weights, or numbers of records."""
        if weighted and self.weight is not None:
            return self.weight
        return self.n.astype(np.float64)


@dataclass(frozen=True)
class Values(Counted):
    """How often each value of a column occurs in each class: one row per class and value, in any order."""

    of_class: Ints
    value: Ints
    n: Ints
    weight: Floats | None

    def merged(self, classes: Ints, n_classes: int, size: int) -> Values:
        """Return the rows after classes were merged; ``size`` bounds the values."""
        rows = np.stack([classes[self.of_class], self.value], axis=1).astype(np.int32)
        found = merge_classes(rows, (n_classes, size), self.n, self.weight)
        codes = found.codes.astype(np.int64)
        return Values(codes[:, 0], codes[:, 1], found.n, found.weight)

    def within(self, take: Flags) -> Values:
        """Return some of the rows."""
        if take.all():
            return self
        weight = None if self.weight is None else self.weight[take]
        return Values(self.of_class[take], self.value[take], self.n[take], weight)


@dataclass(frozen=True)
class State(Counted):
    """The cells of the data, merged at the levels of one node."""

    #: The level of each key.
    levels: Levels
    #: One row per class, one column per key.
    codes: Codes
    #: Records and sum of weights of each class.
    n: Ints
    weight: Floats | None
    #: For each sensitive column, how often its values occur in each class.
    values: Mapping[str, Values]
    #: For each class: sums and sums of squares of numeric keys, one pair of columns a key.
    moments: Floats | None = None
    #: The members of a population register at these levels, where there is one.
    members: Members | None = None
    #: For each class: the sum over records of log n of their ground values, where entropy is lost.
    ground: Floats | None = None

    def __len__(self) -> int:
        return len(self.n)

    def merged(
        self, levels: Levels, rows: Merged, sizes: Mapping[str, int], members: Members | None = None
    ) -> State:
        """Return the state at other levels, where these rows are left; ``sizes`` bounds the values of each column."""
        ids, count = rows.ids, len(rows.n)
        values = {c: v.merged(ids, count, sizes[c]) for c, v in self.values.items()}
        moments = None
        if self.moments is not None:
            moments = np.stack([sum_by(ids, m, count) for m in self.moments.T], axis=1)
        ground = None if self.ground is None else sum_by(ids, self.ground, count)
        return State(levels, rows.codes, rows.n, rows.weight, values, moments, members, ground)


@dataclass(frozen=True)
class Problem:
    """Everything that a search on the lattice needs, without frames."""

    #: The names of the keys, one axis of the lattice each.
    keys: tuple[str, ...]
    #: How the codes of each key climb.
    climbs: tuple[Climb, ...]
    #: The lowest and highest node that are allowed.
    low: Levels
    high: Levels
    #: The state of the cells at the lowest node.
    base: State
    #: The positions of the keys of each quasi-identifier.
    groups: tuple[tuple[int, ...], ...]
    #: The number of different values of each sensitive column, null included.
    sizes: Mapping[str, int]
    #: The cells as counted, at ground level.
    cells: Cells
    #: For each key: the ground code of each of the column's codes.
    ground: tuple[Codes, ...]
    #: For each cell as counted: its class in the base state.
    base_class: Ints

    @property
    def n_nodes(self) -> int:
        """Return the number of nodes of the lattice."""
        count = 1
        for low, high in zip(self.low, self.high, strict=True):
            count *= high - low + 1
        return count

    @property
    def records(self) -> int:
        """Return the number of records."""
        return int(self.base.n.sum())

    def total(self, weighted: bool) -> float:
        """Return the number of records, or the sum of their weights."""
        return float(self.base.amounts(weighted).sum())

    def code_sizes(self, levels: Levels) -> list[int]:
        """Return a bound on the codes of each key at its level."""
        return [len(c.leaves[level]) for c, level in zip(self.climbs, levels, strict=True)]

    def raise_state(self, state: State, levels: Levels) -> tuple[State, Ints]:
        """Return the state at a higher node, and the class there of each class here."""
        if levels == state.levels:
            return state, np.arange(len(state), dtype=np.int64)
        sizes = self.code_sizes(levels)
        codes = self.climb_codes(state.codes, state.levels, levels)
        merged = merge_classes(codes, sizes, state.n, state.weight)
        members = state.members
        if members is not None:
            members = members.climbed(self.climb_codes(members.codes, state.levels, levels), sizes)
        return state.merged(levels, merged, self.sizes, members), merged.ids

    def climb_codes(self, codes: Codes, low: Levels, high: Levels) -> Codes:
        """Return rows of codes of one node at a higher one."""
        climbed = codes.copy()
        for j, climb in enumerate(self.climbs):
            if low[j] != high[j]:
                climbed[:, j] = climb.lift(climbed[:, j], low[j], high[j])
        return climbed

    def people(self, state: State, places: tuple[int, ...], classes: Codes) -> People | None:
        """Return how many members of the register each class of some keys could be, if there is a register."""
        if state.members is None:
            return None
        sizes = self.code_sizes(state.levels)
        return state.members.people(places, classes, [sizes[j] for j in places])


def build_problem(
    data: Microdata,
    groups: Sequence[Sequence[str]],
    sensitive: Sequence[str],
    limits: Mapping[str, tuple[int, int]],
    numbers: Sequence[str] = (),
    register: Microdata | None = None,
) -> Problem:
    """Count the records once on the engine, and code everything else as integers."""
    keys = tuple(dict.fromkeys(c for group in groups for c in group))
    columns = list(dict.fromkeys([*keys, *sensitive]))
    found = cells(data.frame, columns, data.weight)
    lifts = {k: data.hierarchy(k).lift(found.keys[k].values) for k in keys}
    placed: dict[str, list[Codes]] = {}
    if register is not None:
        if lacking := [k for k in keys if k not in register.columns]:
            raise ColumnNotFound(lacking, list(register.columns), "the register")
        people = cells(register.frame, keys)
        for k, coded in people.keys.items():
            texts = ground_labels(coded.values)
            placed[k] = place_values(k, texts, data.hierarchy(k), register.hierarchies.get(k))
    climbs = tuple(
        make_climb(data.hierarchy(k), found.keys[k].values, lifts[k], placed.get(k, ()))
        for k in keys
    )
    lowest = [data.hierarchy(k).lowest(found.keys[k].values) for k in keys]
    low = tuple(max(limits.get(k, (0, 0))[0], lowest[j]) for j, k in enumerate(keys))
    high = tuple(
        max(min(limits[k][1] if k in limits else climb.height, climb.height), low[j])
        for j, (k, climb) in enumerate(zip(keys, climbs, strict=True))
    )

    def at_low(ground: Iterable[Codes]) -> Codes:
        lifted = [c.lift(g, 0, lo) for c, g, lo in zip(climbs, ground, low, strict=True)]
        return np.stack(lifted, axis=1).astype(np.int32)

    sizes = {c: found.keys[c].size for c in sensitive}
    bounds = [len(climb.leaves[lo]) for climb, lo in zip(climbs, low, strict=True)]
    codes = at_low(lifts[k][0][found.keys[k].codes] for k in keys)
    merged = merge_classes(codes, bounds, found.n, found.weight)
    alone = np.arange(len(found), dtype=np.int64)
    values = {
        c: Values(alone, found.keys[c].codes.astype(np.int64), found.n, found.weight).merged(
            merged.ids, len(merged.n), sizes[c]
        )
        for c in sensitive
    }
    moments = sum_moments(found, numbers, merged.ids, len(merged.n))
    members = None
    if register is not None:
        theirs = at_low(placed[k][0][coded.codes] for k, coded in people.keys.items())
        members = Members(theirs, people.n).climbed(theirs, bounds)
    base = State(low, merged.codes, merged.n, merged.weight, values, moments, members)
    places = tuple(tuple(keys.index(c) for c in group) for group in groups)
    ground = tuple(lifts[k][0] for k in keys)
    return Problem(
        keys, climbs, low, high, base, places, sizes, found, ground, base_class=merged.ids
    )


def make_climb(
    hierarchy: Hierarchy, values: pa.Array, lift: Sequence[Codes], others: Sequence[Codes] = ()
) -> Climb:
    """Return how the codes of a key climb: its labels, null, and values that stand above the ground.

    ``others`` has the codes of further values at each level, which no record has.
    """
    size = [
        1 + max(int(codes.max(initial=0)) for codes in both)
        for both in (zip(lift, others, strict=True) if others else ((codes,) for codes in lift))
    ]
    parents = []
    for level in range(len(lift) - 1):
        up = np.zeros(size[level], dtype=np.int32)
        for known in (others, lift) if others else (lift,):
            up[known[level]] = known[level + 1]
        parents.append(up)
    texts = [ground_label(v) for v in values.to_pylist()]
    leaves = []
    for level, codes in enumerate(lift):
        covered = np.ones(size[level], dtype=np.int64)
        counts = np.bincount(hierarchy.up[level], minlength=len(hierarchy.labels[level]))
        shared = min(len(counts), len(covered))
        covered[:shared] = counts[:shared]
        # A value that stands above this level already keeps its own code and all that it covers.
        own = np.flatnonzero(codes[:-1] > len(hierarchy.labels[level]))
        for i in own:
            at, position = hierarchy.nodes[texts[i]]
            covered[codes[i]] = int((hierarchy.up[at] == position).sum())
        leaves.append(covered)
    return Climb(tuple(parents), tuple(leaves), len(hierarchy))


def sum_moments(found: Cells, numbers: Sequence[str], ids: Ints, count: int) -> Floats | None:
    """Return sums and sums of squares of numeric keys by class; a missing value counts as the mean."""
    if not numbers:
        return None
    columns = []
    for name in numbers:
        key = found.keys[name]
        values = np.append(key.values.to_numpy(zero_copy_only=False).astype(np.float64), np.nan)
        x = values[key.codes]
        x = np.where(np.isnan(x), np.average(x[~np.isnan(x)], weights=found.n[~np.isnan(x)]), x)
        columns += [
            sum_by(ids, found.n * x, count),
            sum_by(ids, found.n * x * x, count),
        ]
    return np.stack(columns, axis=1)
