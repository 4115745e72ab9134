"""Inversion and change factors: how far masking broke the link on one key.

Every function works on distinct pairs of an original and a masked code with the number of records
that hold the pair, never on records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Flags, Floats, Ints
from tacit.data.hierarchy import Hierarchy, ground_label
from tacit.errors import InputError

#: A weak-change factor: original value, masked value, to a number in [0, 1].
Change = Callable[[Any, Any], float]

#: Rank of a value that has no place in the order.
UNRANKED = -1


@dataclass(frozen=True)
class KeyFactor:
    """What masking did to one key, compared as ``kind``: ordered, unordered, prefix, tree or custom.

    ``icf`` is the inversion factor (ordered keys) or change factor (all others), in [0, 1]; ``inversions`` counts pairs of
    records whose order was turned round (None for keys without an order), ``changes`` linked records whose value differs,
    and ``strong`` those of them that have nothing left in common.
    """

    kind: str
    icf: float
    inversions: int | None
    changes: int
    strong: int

    @property
    def weak(self) -> int:
        """Return the changes after which the two values still share an ancestor below the root."""
        return self.changes - self.strong

    @property
    def order_preserving(self) -> bool:
        """Return True for an ordered key without a single inversion."""
        return self.inversions == 0


@dataclass(frozen=True)
class Pairs:
    """The distinct (original, masked) pairs of one key among linked records, with their counts.

    ``original`` and ``masked`` are codes into ``x`` and ``y``, the distinct values of the two files;
    the code after the last stands for a missing value.
    """

    original: Ints
    masked: Ints
    n: Ints
    x: pa.Array
    y: pa.Array

    @property
    def records(self) -> int:
        """Return r, the number of linked records."""
        return int(self.n.sum())

    def differ(self) -> Flags:
        """Return which pairs hold two different values; a whole number equals its text."""
        known = {text: code for code, text in enumerate(as_compared_texts(self.x))}
        same = np.array(
            [known.get(t, -1) for t in as_compared_texts(self.y)] + [len(self.x)], dtype=np.int64
        )
        return same[self.masked] != self.original


def as_compared_texts(values: pa.Array) -> list[str]:
    """Return values as the texts under which they are compared across files."""
    return [ground_label(v) for v in values.to_pylist()]


# -- ordered keys ------------------------------------------------------------------------------


def ordered_factor(pairs: Pairs, column: str) -> KeyFactor:
    """Return the inversion factor of an ordered key (Truta et al., formulas 2.3 to 2.5).

    A missing value has no order, so it takes part in no inversion.
    """
    r = pairs.records
    if r < 2:
        raise InputError(
            f"global_risk: the ordered key {column!r} needs at least two linked records to have an order"
        )
    x = ranks(pairs.x, column, "original")[pairs.original]
    y = ranks(pairs.y, column, "masked")[pairs.masked]
    placed = (x != UNRANKED) & (y != UNRANKED)
    inv = inversions(x[placed], y[placed], pairs.n[placed])
    changed = pairs.differ()
    changes = int(pairs.n[changed].sum())
    return KeyFactor("ordered", min(1.0, 4 * inv / (r * (r - 1))), inv, changes, changes)


def ranks(values: pa.Array, column: str, where: str) -> Ints:
    """Return the rank of each value of an ordered key, and ``UNRANKED`` for null, last."""
    if is_ordered(values.type):
        order = np.arange(len(values), dtype=np.int64)
    else:
        try:
            parsed = np.array([float(v) for v in values.to_pylist()], dtype=np.float64)
        except (TypeError, ValueError):
            parsed = np.array([np.nan])
        if np.isnan(parsed).any():
            raise InputError(
                f"global_risk: key {column!r} is declared ordered, but its values in the {where} data are "
                "neither numbers nor dates; recode them to numbers or declare another kind"
            )
        order = np.unique_inverse(parsed).inverse_indices.astype(np.int64)
    return np.append(order, UNRANKED)


def is_ordered(kind: pa.DataType) -> bool:
    """Return True for types whose values have a natural order."""
    numbers = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(numbers or pa.types.is_temporal(kind) or pa.types.is_boolean(kind))


def inversions(x: Ints, y: Ints, n: Ints) -> int:
    """Return the number of record pairs with x_i < x_j and y_i > y_j; ties are no inversion.

    x and y are ranks from 0 of distinct pairs before and after masking, n the records that hold each pair.
    """
    if not len(x):
        return 0
    order = np.lexsort((y, x))
    y, n = y[order], n[order]
    total = 0
    # By the bits of y, highest first: in groups of equal higher bits pairs stand in the order of x, and two of a group
    # that first differ at this bit are an inversion when the one with the bit set stands first.
    for bit in range(int(y.max()).bit_length() - 1, -1, -1):
        group, ones = y >> (bit + 1), (y >> bit) & 1
        starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
        before = np.concatenate(([0], np.cumsum(n * ones)))
        ahead = before[:-1] - np.repeat(before[starts], np.diff(np.append(starts, len(y))))
        total += int((n * ahead)[ones == 0].sum())
        order = np.argsort(y >> bit, kind="stable")
        y, n = y[order], n[order]
    return total


# -- keys without an order ---------------------------------------------------------------------


def change_factor(pairs: Pairs, kind: str, distances: Floats) -> KeyFactor:
    """Return the change factor (formulas 2.6 to 2.8) from weak-change factors of pairs that differ; of an unordered key these are 1."""
    wcf = np.where(pairs.differ(), distances, 0.0)
    changes = int(pairs.n[pairs.differ()].sum())
    strong = int(pairs.n[wcf >= 1].sum())
    # Equal values are added first, so the order of rows does not matter.
    found, inverse = np.unique(wcf, return_inverse=True)
    counts = np.bincount(inverse, weights=pairs.n)
    mean = float(min(1.0, (found * counts).sum() / pairs.n.sum()))
    return KeyFactor(kind, mean, None, changes, strong)


def prefix_distances(pairs: Pairs, length: int | None, column: str) -> Floats:
    """Return (length - common leading characters) / length for each pair; 1 against a missing value."""
    x, y = as_compared_texts(pairs.x), as_compared_texts(pairs.y)
    longest = max((len(t) for t in (x if length is None else [*x, *y])), default=1)
    if length is not None and longest > length:
        raise InputError(
            f"global_risk: key {column!r} has values longer than its prefix length {length}; give the length of its longest code"
        )
    size = max(longest if length is None else length, 1)
    left, right = letters(x, size), letters(y, size)
    agree = left[pairs.original] == right[pairs.masked]
    common = np.cumprod(agree & (left[pairs.original] != 0), axis=1).sum(axis=1)
    return (size - common) / size


def letters(values: list[str], size: int) -> npt.NDArray[np.uint32]:
    """Return values as rows of character codes, cut or filled with 0; a row of 0 for null, last."""
    padded = np.array([*(v[:size] for v in values), ""], dtype=f"<U{size}")
    return padded.view(np.uint32).reshape(len(values) + 1, size)


def tree_distances(pairs: Pairs, tree: Hierarchy) -> Floats:
    """Return, for each pair, the level of the lowest common ancestor as a share of the height.

    A value that is no label of the hierarchy, or is missing, has only the root above it: a strong change.
    """
    left = ancestors(as_compared_texts(pairs.x), tree, 0)
    right = ancestors(as_compared_texts(pairs.y), tree, 1)
    level = np.full(len(pairs.n), tree.height, dtype=np.int64)
    for at in range(tree.height - 1, -1, -1):
        level[left[at][pairs.original] == right[at][pairs.masked]] = at
    return level / tree.height


def ancestors(values: list[str], tree: Hierarchy, side: int) -> list[Ints]:
    """Return each level's ancestor of each value; below its own level a value has a number of its own.

    The numbers of their own differ between the two sides, so that they never agree.
    """
    places = [tree.nodes.get(v) for v in values] + [None]
    own = -1 - side - 2 * np.arange(len(places))
    return [
        np.array(
            [
                tree.climb(place, at) if place and place[0] <= at else own[i]
                for i, place in enumerate(places)
            ],
            dtype=np.int64,
        )
        for at in range(tree.height)
    ]


def custom_distances(pairs: Pairs, change: Change, column: str) -> Floats:
    """Return a caller's weak-change factor for each distinct pair, checked to lie in [0, 1]."""
    x, y = [*pairs.x.to_pylist(), None], [*pairs.y.to_pylist(), None]
    differ = pairs.differ()
    found = np.array(
        [float(change(x[i], y[j])) for i, j in zip(pairs.original, pairs.masked, strict=True)],
        dtype=np.float64,
    )
    if not bool(np.all((found >= 0) & (found <= 1))):
        raise InputError(
            f"global_risk: the change function of key {column!r} returned a number outside [0, 1]"
        )
    if bool(np.any(found[~differ] != 0)):
        raise InputError(
            f"global_risk: the change function of key {column!r} must return 0 for equal values"
        )
    return found
