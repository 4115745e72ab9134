"""The claim that the relations of each subtable leave every unsafe cell what was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim, check_for
from tacit.claims.attack.attacker import is_protected
from tacit.claims.attack.needs import Needs
from tacit.claims.outsiders import solves_in_whole_numbers
from tacit.claims.tables.protected_in_table import narrow_possible_range
from tacit.claims.view import TableView

#: Subtables are looked at together up to this many cells.
TOGETHER = 100_000
#: What a copy has of its cell.
BY_CELL = ("value", "lower_level", "upper_level", "sliding_level", "primary", "singleton")


@dataclass(frozen=True, eq=False)
class Copies:
    """Subtables side by side: a cell of the table has a copy in each, with relations of its own."""

    cells: Ints
    value: Floats
    lower_level: Floats
    upper_level: Floats
    sliding_level: Floats
    primary: Flags
    singleton: Flags
    owner: Ints
    equations: sparse.csr_array
    frequency: bool


@check_for("protected-in-subtables", of="table")
def leaves_what_was_asked_in_subtables(table: TableView, claim: Claim) -> bool:
    """Return True when no subtable by itself gives away more of an unsafe cell than was claimed.

    The parameters are those of ``protected-in-table``.
    """
    down, up = narrow_possible_range(table, claim.parameters.get("apriori"))
    intervals = bool(claim.parameters.get("intervals"))
    guarded = bool(claim.parameters.get("singletons"))
    whole = solves_in_whole_numbers(table)
    for copies in copies_of(table, guarded=guarded):
        at = copies.cells
        needs = Needs.of(copies, down[at]) if intervals else Needs.least(copies)
        room = (down[at], up[at])
        if not is_protected(
            copies, table.hidden[at], room, needs, singletons=guarded, whole=whole, far=False
        ):
            return False
    return True


def copies_of(table: TableView, *, guarded: bool) -> Iterator[Copies]:
    """Yield the subtables with unsafe cells, many at a time."""
    primary = table.primary
    cells: list[Ints] = []
    rows: list[sparse.coo_array] = []
    for subtable in table.subtables():
        at = subtable.cells.ravel()
        if primary[at].any():
            cells.append(at)
            rows.append(relations_of(table, subtable))
        if sum(map(len, cells)) > TOGETHER:
            yield side_by_side(table, cells, rows, guarded=guarded)
            cells, rows = [], []
    if cells:
        yield side_by_side(table, cells, rows, guarded=guarded)


def relations_of(table: TableView, subtable: object) -> sparse.coo_array:
    """Return the relations of a subtable: along each axis the first code is the sum of the others."""
    cells, sums = subtable.cells, subtable.sums  # type: ignore[attr-defined]
    number = np.arange(cells.size).reshape(cells.shape)
    entries, columns, first = [], [], 0
    lengths = []
    for axis, which in enumerate(sums):
        if which < 0:
            continue
        lines = np.moveaxis(number, axis, -1).reshape(-1, cells.shape[axis])
        signs = table.dimensions[axis].sums[which].signs or (1,) * (lines.shape[1] - 1)
        columns.append(lines.ravel())
        entries.append(np.tile([-1.0, *signs], len(lines)))
        lengths.append(np.repeat(np.arange(first, first + len(lines)), lines.shape[1]))
        first += len(lines)
    if not columns:
        return sparse.coo_array((0, cells.size))
    return sparse.coo_array(
        (np.concatenate(entries), (np.concatenate(lengths), np.concatenate(columns))),
        shape=(first, cells.size),
    )


def side_by_side(
    table: TableView, cells: list[Ints], rows: list[sparse.coo_array], *, guarded: bool
) -> Copies:
    """Return some subtables as one view."""
    at = np.concatenate(cells)
    return Copies(
        cells=at,
        owner=table.owner[at] if guarded else np.full(len(at), -1, dtype=np.int64),
        equations=sparse.csr_array(sparse.block_diag(rows, format="csr")),
        frequency=table.frequency,
        **{name: getattr(table, name)[at] for name in BY_CELL},
    )
