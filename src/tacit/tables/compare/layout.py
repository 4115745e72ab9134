"""Which category of which variable each row and each column of a comparison stands for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.engine.codes import dense_ids
from tacit.errors import ColumnNotFound, InputError

#: How the lines of one side are declared: names, or names with their categories or their number.
Declared = str | Sequence[str] | Mapping[str, int | Sequence[Any]]
#: How lines are picked: a position, a label, several of them, or categories by variable.
Pick = int | str | Sequence[int | str] | Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Side:
    """The rows or the columns: for each variable, slowest first, its categories and those of the lines."""

    names: tuple[str, ...]
    codes: tuple[Ints, ...]
    categories: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.codes[0])

    @property
    def is_full(self) -> bool:
        """Return True when every combination of categories has its line."""
        return len(self) == math.prod(len(c) for c in self.categories)

    def labels(self) -> list[str]:
        """Return one label per line."""
        texts = [
            np.asarray(c, dtype=object)[k] for c, k in zip(self.categories, self.codes, strict=True)
        ]
        return [" / ".join(line) for line in zip(*texts, strict=True)]

    def pick(self, where: Pick) -> Flags:
        """Return which lines are meant by positions, labels, or categories by variable."""
        chosen = np.zeros(len(self), dtype=bool)
        if isinstance(where, Mapping):
            chosen[:] = True
            for name, wanted in where.items():
                chosen &= self._among(name, wanted)
            return chosen
        for item in [where] if isinstance(where, int | str) else where:
            chosen[self._position(item)] = True
        return chosen

    def _among(self, name: str, wanted: Any) -> Flags:
        if name not in self.names:
            raise ColumnNotFound([name], list(self.names), "the variables of this side")
        single = isinstance(wanted, str) or not isinstance(wanted, Sequence)
        texts = [str(w) for w in ([wanted] if single else wanted)]
        at = self.names.index(name)
        known = self.categories[at]
        absent = [t for t in texts if t not in known]
        if absent:
            raise InputError(f"variable {name!r} has no category {absent[0]!r}")
        return np.isin(self.codes[at], [known.index(t) for t in texts])

    def _position(self, item: int | str) -> int:
        if isinstance(item, str):
            labels = self.labels()
            if item not in labels:
                raise ColumnNotFound([item], labels, "the table")
            return labels.index(item)
        if not -len(self) <= item < len(self):
            raise InputError(f"there is no line {item}: the table has {len(self):,} on this side")
        return int(item)


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows, the distributions that are compared, and columns, their cells."""

    rows: Side
    columns: Side

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        return len(self.rows), len(self.columns)

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the spanning variables, rows first."""
        return (*self.rows.names, *self.columns.names)

    def categories(self, variable: str) -> tuple[str, ...]:
        """Return the categories of a variable."""
        side = self.rows if variable in self.rows.names else self.columns
        return side.categories[side.names.index(variable)]

    def cell_codes(self, variable: str) -> Ints:
        """Return the category of every cell on a variable, row by row."""
        if variable in self.rows.names:
            return np.repeat(self.rows.codes[self.rows.names.index(variable)], len(self.columns))
        return np.tile(self.columns.codes[self.columns.names.index(variable)], len(self.rows))

    def rearrange_cells(self, cells: Floats, rows: Sequence[str], columns: Sequence[str]) -> Floats:
        """Return cells summed over all but some variables, with those as rows and columns."""
        unknown = [v for v in (*rows, *columns) if v not in self.variables]
        if unknown:
            raise ColumnNotFound(unknown, list(self.variables), "the table")
        sides = []
        for names in (rows, columns):
            codes = [self.cell_codes(v) for v in names]
            sides.append(
                observed_side(names, codes, [self.categories(v) for v in names], cells.size)
            )
        (down, i), (across, j) = sides
        shape = (len(down), len(across))
        total = np.bincount(i * shape[1] + j, cells.ravel(), minlength=math.prod(shape))
        return total.astype(np.float64).reshape(shape)


def full_side(variables: Mapping[str, Sequence[str]]) -> Side:
    """Return every combination of categories, the first variable slowest."""
    sizes = [len(c) for c in variables.values()]
    lines = np.arange(math.prod(sizes), dtype=np.int64)
    codes = np.unravel_index(lines, sizes) if lines.size else [lines] * len(sizes)
    return Side(
        tuple(variables),
        tuple(np.asarray(c, dtype=np.int64) for c in codes),
        tuple(tuple(c) for c in variables.values()),
    )


def observed_side(
    names: Sequence[str], codes: Sequence[Ints], categories: Sequence[Sequence[str]], n: int
) -> tuple[Side, Ints]:
    """Return the combinations that occur among n entries, in order of their codes, and each entry's line."""
    if not names:
        return full_side({"all": ("all",)}), np.zeros(n, dtype=np.int64)
    ids, n_lines = dense_ids(list(codes), [len(c) for c in categories])
    first = np.zeros(n_lines, dtype=np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    order = np.lexsort([c[first] for c in reversed(codes)]) if n_lines else first
    place = np.empty(n_lines, dtype=np.int64)
    place[order] = np.arange(n_lines)
    lines = tuple(c[first][order] for c in codes)
    return Side(tuple(names), lines, tuple(tuple(c) for c in categories)), place[ids]


def declared_side(given: Declared | None, n: int, default: str) -> Side:
    """Return the lines 0 .. n-1 as the user declares them, or say that the numbers disagree."""
    if given is None or (not isinstance(given, Mapping) and not given):
        given = default
    if not isinstance(given, Mapping):
        names = names_of(given) or [default]
        if len(names) > 1:
            raise InputError(
                f"the {default} variables need their numbers of categories: "
                f"{default}s={{'name': number, ...}}, the slowest first"
            )
        given = {names[0]: n}
    side = full_side({str(k): category_names(v) for k, v in given.items()})
    if len(side) != n:
        raise InputError(
            f"the categories declared for the {default}s multiply to {len(side):,}, "
            f"but the table has {n:,} {default}s"
        )
    return side


def category_names(given: int | Sequence[Any]) -> tuple[str, ...]:
    """Return categories as text; a number stands for the categories 1, 2, ..."""
    if isinstance(given, int):
        return tuple(str(i + 1) for i in range(given))
    return tuple(str(g) for g in given)


def names_of(given: Declared | None) -> list[str]:
    """Return the names of a declaration."""
    if given is None:
        return []
    return [given] if isinstance(given, str) else [str(g) for g in given]
