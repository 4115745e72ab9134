"""Perturbation tables of the cell-key method: ``i;j;p;v;p_int_ub``, optionally with a type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError, UnreadableFile
from tacit.io.lines import number_at, open_atomically, rows_of, text_of, write_lines

COLUMNS = ("i", "j", "p", "v", "p_int_ub")
KINDS = ("all", "even", "odd")

#: Bounds of one i must end at 1, up to the digits that files are rounded to.
SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of one type as arrays: one line per i, padded to the longest.

    ``steps[g]`` is the i of line g, ``bounds[g]`` its growing bounds (padded with infinity), and
    ``change[g]`` what is added below each bound (padded with the last).
    """

    steps: Floats
    bounds: Floats
    change: Floats

    def at(self, line: Ints, keys: Floats) -> Floats:
        """Return the change on given lines: the first row whose bound exceeds the key."""
        row = np.zeros(len(keys), dtype=np.int64)
        for r in range(self.bounds.shape[1] - 1):
            row += self.bounds[line, r] <= keys
        last = np.isfinite(self.bounds).sum(axis=1) - 1
        return self.change[line, np.minimum(row, last[line])]


@dataclass(frozen=True, eq=False)
class PTable:
    """A perturbation table: what to add to a count (or step of a magnitude), given its cell key.

    Attributes
    ----------
    i, j, p, v, bound
        The rows of the file: original, target, probability, change ``j - i``, cumulative bound.
    kind
        ``all``, ``even`` or ``odd`` a row; magnitudes may have different rows for even and odd counts.
    source
        Where it was read.
    """

    i: Floats
    j: Floats
    p: Floats
    v: Floats
    bound: Floats
    kind: tuple[str, ...]
    source: str = "memory"
    blocks: Mapping[str, Block] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        kinds = np.array(self.kind)
        made = {k: block_of(self, kinds == k) for k in dict.fromkeys(self.kind)}
        object.__setattr__(self, "blocks", made)

    @classmethod
    def from_rows(
        cls,
        i: npt.ArrayLike,
        v: npt.ArrayLike,
        p: npt.ArrayLike,
        *,
        kind: Sequence[str] | str = "all",
        source: str = "memory",
    ) -> PTable:
        """Make one from originals, changes and probabilities; the bounds are cumulated."""
        starts, moves = np.asarray(i, dtype=float), np.asarray(v, dtype=float)
        share = np.asarray(p, dtype=float)
        kinds = (kind,) * len(starts) if isinstance(kind, str) else tuple(kind)
        bound = np.empty(len(starts))
        for key in dict.fromkeys(zip(starts, kinds, strict=True)):
            own = (starts == key[0]) & (np.array(kinds) == key[1])
            bound[own] = np.cumsum(share[own])
        return cls(starts, starts + moves, share, moves, bound, kinds, source)

    @property
    def largest(self) -> float:
        """Return the largest i with rows of its own; counts above it use its rows."""
        return float(self.i.max())

    @property
    def reach(self) -> float:
        """Return the largest change in either direction."""
        return float(np.abs(self.v).max())

    def block(self, kind: str = "all") -> Block:
        """Return the rows of a type; a table with rows for all serves even and odd as well."""
        found = self.blocks.get(kind) or self.blocks.get("all")
        if found is None:
            raise InputError(
                f"the perturbation table has no rows of type {kind!r}; it has {sorted(self.blocks)}"
            )
        return found

    def lookup(self, counts: npt.ArrayLike, keys: npt.ArrayLike, kind: str = "all") -> Floats:
        """Return what to add to each count.

        Parameters
        ----------
        counts
            The original counts; above the largest i its rows are used, and between two the lower's.
        keys
            Cell keys in [0, 1).
        kind
            The type of rows: ``all``, ``even`` or ``odd``.
        """
        own, x, k = self._given(counts, keys, kind)
        line = np.searchsorted(own.steps, x, side="right") - 1
        return own.at(line.astype(np.int64), k)

    def interpolate(self, steps: npt.ArrayLike, keys: npt.ArrayLike, kind: str = "all") -> Floats:
        """Return the change for steps of a magnitude, linear between the two nearest i."""
        own, x, k = self._given(steps, keys, kind)
        line = (np.searchsorted(own.steps, x, side="right") - 1).astype(np.int64)
        above = np.minimum(line + 1, len(own.steps) - 1)
        gap = own.steps[above] - own.steps[line]
        share = np.where(gap > 0, (x - own.steps[line]) / np.where(gap > 0, gap, 1.0), 0.0)
        return (1 - share) * own.at(line, k) + share * own.at(above, k)

    def _given(
        self, steps: npt.ArrayLike, keys: npt.ArrayLike, kind: str
    ) -> tuple[Block, Floats, Floats]:
        own = self.block(kind)
        x, k = np.broadcast_arrays(
            np.asarray(steps, dtype=np.float64), np.asarray(keys, dtype=np.float64)
        )
        if ((k < 0) | (k >= 1) | np.isnan(k)).any():
            raise InputError("cell keys must lie in [0, 1)")
        if (x < own.steps[0]).any() or np.isnan(x).any():
            raise InputError(
                f"the perturbation table begins at {own.steps[0]:g}; smaller counts have no rows"
            )
        return own, x.ravel(), k.ravel()


def block_of(table: PTable, rows: Flags) -> Block:
    """Arrange the rows of one type, and refuse bounds that do not grow to 1."""
    steps = np.unique(table.i[rows])
    groups = [np.flatnonzero(rows & (table.i == step)) for step in steps]
    widest = max(len(g) for g in groups)
    bounds = np.full((len(steps), widest), np.inf)
    change = np.zeros((len(steps), widest))
    for line, own in enumerate(groups):
        limit = table.bound[own]
        if (np.diff(limit) < 0).any() or (limit < 0).any() or abs(limit[-1] - 1) > SLACK:
            raise InputError(
                f"perturbation table, rows of i = {steps[line]:g}: the cumulative bounds must grow to 1"
            )
        bounds[line, : len(own)] = limit
        change[line] = table.v[own[-1]]
        change[line, : len(own)] = table.v[own]
    return Block(steps, bounds, change)


def read_ptable(path: str | Path, *, separator: str | None = None) -> PTable:
    """Read a perturbation table for the cell-key method.

    Parameters
    ----------
    path
        A text file with a header and the columns i, j, p, v and the cumulative upper bound, in this
        order; a sixth column gives the type of a row (``all``, ``even`` or ``odd``).
    separator
        What parts the fields; by default ``;``, or a tab or comma when the header has one.

    Raises
    ------
    UnreadableFile
        Naming the record where a number is missing.
    InputError
        When the bounds of some i do not grow to 1.
    """
    name = Path(path).name
    first = text_of(path).partition("\n")[0]
    mark = separator or next((s for s in (";", "\t", ",") if s in first), ";")
    header, *body = rows_of(path, mark)
    if len(header) not in {5, 6} or header[0].lower() != "i":
        raise UnreadableFile(
            f"{name!r}: a perturbation table begins with the titles {';'.join(COLUMNS)}[;type]"
        )
    ragged = next((n for n, row in enumerate(body, 2) if len(row) != len(header)), None)
    if ragged or not body:
        raise UnreadableFile(f"{name!r}, record {ragged or 2}: {len(header)} fields are expected")
    columns = [
        np.array([number_at(r[c], f"{name!r}, record {n}") for n, r in enumerate(body, 2)])
        for c in range(5)
    ]
    kinds = tuple(r[5].lower() for r in body) if len(header) == 6 else ("all",) * len(body)
    strange = next((n for n, k in enumerate(kinds, 2) if k not in KINDS), None)
    if strange:
        raise UnreadableFile(f"{name!r}, record {strange}: the type is all, even or odd")
    i, j, p, v, bound = columns
    return PTable(i, j, p, v, bound, kinds, str(path))


def write_ptable(table: PTable, path: str | Path) -> None:
    """Write a perturbation table with all its digits."""
    typed = set(table.kind) != {"all"}
    lines = [";".join((*COLUMNS, "type") if typed else COLUMNS)]
    for row in zip(table.i, table.j, table.p, table.v, table.bound, table.kind, strict=True):
        fields = [f"{x:.17g}" if x != round(x) else str(int(x)) for x in row[:5]]
        lines.append(";".join([*fields, row[5]] if typed else fields))
    with open_atomically(path) as room:
        write_lines(room, lines)
