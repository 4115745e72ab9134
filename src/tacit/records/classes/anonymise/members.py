"""A population register on the lattice: how many of its members could be each released class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tacit.arrays import Ints
from tacit.data.hierarchy import Hierarchy, ground_labels
from tacit.data.microdata import Microdata
from tacit.engine.codes import cells
from tacit.errors import ColumnNotFound, InputError
from tacit.records.classes.anonymise.grouping import Codes, merge_classes
from tacit.reveal import reveal


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


def count_members(
    register: Microdata, keys: Sequence[str]
) -> tuple[Mapping[str, pa.Array], Codes, Ints]:
    """Count the register once on its engine: the texts of each key's values, codes by cell, and members."""
    lacking = [k for k in keys if k not in register.columns]
    if lacking:
        raise ColumnNotFound(lacking, list(register.columns), "the register")
    found = cells(register.frame, list(keys), None)
    texts = {k: ground_labels(found.keys[k].values) for k in keys}
    codes = np.stack([found.keys[k].codes for k in keys], axis=1).astype(np.int32)
    return texts, codes, found.n


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
