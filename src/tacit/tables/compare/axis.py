"""The two sides of a table: which category of which variable each line stands for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.engine.codes import dense_ids
from tacit.errors import ColumnNotFound, InputError

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: How the lines of one side are declared: names, or names with their categories or their number.
Declared = str | Sequence[str] | Mapping[str, int | Sequence[Any]]
#: How lines are picked: a position, a label, several of them, or categories by variable.
Pick = int | str | Sequence[int | str] | Mapping[str, Any]

MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Axis:
    """The rows or the columns of a table.

    Attributes
    ----------
    names
        The variables that span this side, the one that varies slowest first.
    codes
        For each variable, the category of each line.
    categories
        For each variable, its categories as text.
    """

    names: tuple[str, ...]
    codes: tuple[Ints, ...]
    categories: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.codes[0])

    @classmethod
    def product(cls, variables: Mapping[str, Sequence[str]]) -> Axis:
        """Return every combination of categories, the first variable slowest."""
        sizes = [len(c) for c in variables.values()]
        lines = np.arange(math.prod(sizes), dtype=np.int64)
        codes = np.unravel_index(lines, sizes) if lines.size else [lines] * len(sizes)
        return cls(
            tuple(variables),
            tuple(np.asarray(c, dtype=np.int64) for c in codes),
            tuple(tuple(c) for c in variables.values()),
        )

    @classmethod
    def declared(cls, given: Declared | None, n: int, default: str) -> Axis:
        """Return the lines 0 .. n-1 as the user declares them, or say that the numbers disagree."""
        if given is None or (not isinstance(given, Mapping) and not given):
            given = default
        if isinstance(given, str):
            given = {given: n}
        if not isinstance(given, Mapping):
            if len(given) > 1:
                raise InputError(
                    f"the {default} variables need their numbers of categories: "
                    f"{default}s={{'name': number, ...}}, the slowest first"
                )
            given = {given[0]: n}
        axis = cls.product({str(k): category_names(v) for k, v in given.items()})
        if len(axis) != n:
            raise InputError(
                f"the categories declared for the {default}s multiply to {len(axis):,}, "
                f"but the table has {n:,} {default}s"
            )
        return axis

    @property
    def is_full(self) -> bool:
        """Return True when every combination of categories has its line."""
        return len(self) == math.prod(len(c) for c in self.categories)

    def code_of(self, name: str) -> Ints:
        """Return the category of each line on one variable."""
        return self.codes[self.names.index(name)]

    def labels(self) -> list[str]:
        """Return one label a line."""
        texts = [
            np.asarray(c, dtype=object)[k] for c, k in zip(self.categories, self.codes, strict=True)
        ]
        return [" / ".join(line) for line in zip(*texts, strict=True)]

    def take(self, lines: npt.NDArray[Any]) -> Axis:
        """Return some of the lines, in that order."""
        return Axis(self.names, tuple(c[lines] for c in self.codes), self.categories)

    def trimmed(self) -> Axis:
        """Return the same lines without categories that no line has."""
        codes, categories = [], []
        for code, names in zip(self.codes, self.categories, strict=True):
            used = np.bincount(code, minlength=len(names)) > 0
            codes.append((np.cumsum(used) - 1)[code].astype(np.int64))
            categories.append(tuple(n for n, u in zip(names, used, strict=True) if u))
        return Axis(self.names, tuple(codes), tuple(categories))

    def same(self, other: Axis) -> bool:
        """Return True when both sides have the same lines in the same order."""
        return (
            len(self) == len(other)
            and self.categories == other.categories
            and all(np.array_equal(a, b) for a, b in zip(self.codes, other.codes, strict=True))
        )

    def pick(self, where: Pick) -> Flags:
        """Return which lines are meant by positions, labels, or categories by variable."""
        chosen = np.zeros(len(self), dtype=bool)
        if isinstance(where, Mapping):
            chosen[:] = True
            for name, wanted in where.items():
                chosen &= self._among(name, wanted)
            return chosen
        items = [where] if isinstance(where, int | str) else list(where)
        for item in items:
            chosen[self._position(item)] = True
        return chosen

    def _among(self, name: str, wanted: Any) -> Flags:
        if name not in self.names:
            raise ColumnNotFound([name], list(self.names), "the variables of this side")
        single = isinstance(wanted, str) or not isinstance(wanted, Sequence)
        texts = [str(w) for w in ([wanted] if single else wanted)]
        known = self.categories[self.names.index(name)]
        absent = [t for t in texts if t not in known]
        if absent:
            raise InputError(f"variable {name!r} has no category {absent[0]!r}")
        return np.isin(self.code_of(name), [known.index(t) for t in texts])

    def _position(self, item: int | str) -> int:
        if isinstance(item, str):
            labels = self.labels()
            if item not in labels:
                raise ColumnNotFound([item], labels, "the table")
            return labels.index(item)
        if not -len(self) <= item < len(self):
            raise InputError(f"there is no line {item}: the table has {len(self):,} on this side")
        return int(item)


def category_names(given: int | Sequence[Any]) -> tuple[str, ...]:
    """Return categories as text; a number stands for the categories 1, 2, ..."""
    return (
        tuple(str(i + 1) for i in range(given))
        if isinstance(given, int)
        else tuple(str(g) for g in given)
    )


def observed(
    names: Sequence[str], codes: Sequence[Ints], categories: Sequence[Sequence[str]]
) -> tuple[Axis, Ints]:
    """Return the combinations that occur, in order of their codes, and the line of each entry."""
    if not names:
        line = np.zeros(len(codes[0]) if codes else 0, dtype=np.int64)
        return Axis(("all",), (np.zeros(1, dtype=np.int64),), (("all",),)), line
    ids, n = dense_ids(list(codes), [len(c) for c in categories])
    first = np.zeros(n, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    order = np.lexsort([c[first] for c in reversed(codes)]) if n else first
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    lines = tuple(c[first][order] for c in codes)
    return Axis(tuple(names), lines, tuple(tuple(c) for c in categories)), place[ids]
