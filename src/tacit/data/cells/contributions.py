"""Contributions to cells: the largest ones, merged by identity and rolled up along dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.dimension import Dimension
from tacit.data.table import Contributors
from tacit.stats.ranks import rank_within

#: Entries of the sparse product that are held in memory at once.
CHUNK = 10_000_000


@dataclass(frozen=True, eq=False)
class Entries:
    """Contributions, one row each."""

    #: The cell to which it goes.
    cell: Ints
    #: The unit (record, respondent or holding) that makes it; negative when unknown.
    who: Ints
    #: The contribution, unweighted.
    value: Floats
    #: The contribution times its sampling weight.
    weighted: Floats
    #: A sampling weight for contributions of 0, which give no ratio of the two.
    weight: Floats
    #: The code of the request for protection, 0 for none.
    asked: npt.NDArray[np.int8]
    #: Whether the unit waived protection.
    waived: Flags

    def __len__(self) -> int:
        return len(self.cell)

    def take(self, rows: Ints | Flags) -> Entries:
        """Return some of the entries."""
        return Entries(*(getattr(self, name)[rows] for name in FIELDS))

    def moved(self, cell: Ints) -> Entries:
        """Return the entries with other cells."""
        return replace(self, cell=cell)


FIELDS = ("cell", "who", "value", "weighted", "weight", "asked", "waived")


def concatenate_entries(*parts: Entries) -> Entries:
    """Return entries one after the other."""
    return Entries(*(np.concatenate([getattr(p, name) for p in parts]) for name in FIELDS))


def largest(entries: Entries, t: int) -> Entries:
    """Return the t largest entries of each cell by absolute value, sorted by cell and size.

    Ties go to the smaller ``who``, so that the answer does not depend on the order of rows.
    """
    if len(entries) and entries.cell.max() * 4 < len(entries):
        entries = entries.take(among_largest(entries.cell, np.abs(entries.value), t))
    order = np.lexsort((entries.who, -np.abs(entries.value), entries.cell))
    cell = entries.cell[order]
    return entries.take(order[rank_within(cell) < t])


def among_largest(cell: Ints, size: Floats, t: int) -> Flags:
    """Return the entries that can be among the t largest of their cell: far fewer to sort."""
    bound = np.full(int(cell.max()) + 1, np.inf)
    for _ in range(t):
        smaller = size < bound[cell]
        bound = np.full(len(bound), -1.0)
        np.maximum.at(bound, cell[smaller], size[smaller])
    return np.asarray(size >= bound[cell])


def merge_contributions(entries: Entries) -> Entries:
    """Return one entry per cell and unit: contributions added, requests kept, waivers only if all waived.

    Entries of unknown units stay apart.
    """
    known = entries.take(entries.who >= 0)
    if not len(known):
        return entries
    order = np.lexsort((known.who, known.cell))
    known = known.take(order)
    starts = np.flatnonzero(
        np.r_[True, (known.cell[1:] != known.cell[:-1]) | (known.who[1:] != known.who[:-1])]
    )
    merged = Entries(
        known.cell[starts],
        known.who[starts],
        np.add.reduceat(known.value, starts),
        np.add.reduceat(known.weighted, starts),
        np.maximum.reduceat(known.weight, starts),
        np.maximum.reduceat(known.asked, starts),
        np.logical_and.reduceat(known.waived, starts),
    )
    return concatenate_entries(merged, entries.take(entries.who < 0))


def expand_axis(
    ids: Ints, sizes: Sequence[int], axis: int, up: sparse.csr_array
) -> tuple[Ints, Ints]:
    """Return, with the leaf on one axis replaced by each code above it, the row that each came from, and its new cell.

    ``ids`` are cells of an array of the given sizes; ``up`` says to which codes each leaf belongs (leaves x codes).
    """
    after = int(np.prod(sizes[axis + 1 :], dtype=np.int64))
    leaf = (ids // after) % sizes[axis]
    before, inner = ids // (after * sizes[axis]), ids % after
    n_up = np.diff(up.indptr)[leaf].astype(np.int64)
    row = np.repeat(np.arange(len(ids)), n_up)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(n_up) - n_up, n_up)
    code = up.indices[up.indptr[leaf][row] + offset].astype(np.int64)
    return row, (before[row] * up.shape[1] + code) * after + inner[row]


def ancestors(dimensions: Sequence[Dimension]) -> list[sparse.csr_array]:
    """Return, for each dimension, leaves x codes: which codes each leaf adds to."""
    return [sparse.csr_array(d.closure.T) for d in dimensions]


def roll_up_largest(entries: Entries, dimensions: Sequence[Dimension], t: int) -> Entries:
    """Return the t largest entries of every cell, for units that are in one ground cell only.

    The largest of a sum are among the largest of its parts, so each axis is rolled up in turn and
    cut to t: exact, and never larger than t entries a cell.
    """
    sizes = [len(d.leaves) for d in dimensions]
    found = largest(entries, t)
    for axis, up in enumerate(ancestors(dimensions)):
        row, cell = expand_axis(found.cell, sizes, axis, up)
        found = largest(found.take(row).moved(cell), t)
        sizes[axis] = up.shape[1]
    return found


def incidence(ground: Ints, dimensions: Sequence[Dimension]) -> sparse.csr_array:
    """Return ground cells x all cells: the cells to which each of some ground cells adds."""
    sizes = [len(d.leaves) for d in dimensions]
    row, cell = np.arange(len(ground)), ground
    for axis, up in enumerate(ancestors(dimensions)):
        step, cell = expand_axis(cell, sizes, axis, up)
        row = row[step]
        sizes[axis] = up.shape[1]
    n = int(np.prod(sizes, dtype=np.int64))
    return sparse.csr_array((np.ones(len(row)), (row, cell)), shape=(len(ground), n))


def roll_up_spread(
    entries: Entries, dimensions: Sequence[Dimension], t: int
) -> tuple[Entries, Ints]:
    """Return the t largest of every cell, and their number, for units in several ground cells.

    A unit's contributions are added up in each marginal cell before they are ranked there. Worked on
    in blocks of units, so that memory does not grow with their number.
    """
    n = int(np.prod([len(d) for d in dimensions], dtype=np.int64))
    count = np.zeros(n, dtype=np.int64)
    order = np.argsort(entries.who, kind="stable")
    entries = entries.take(order)
    ground, column = np.unique(entries.cell, return_inverse=True)
    above = incidence(ground, dimensions)
    starts = np.flatnonzero(np.r_[True, entries.who[1:] != entries.who[:-1]])
    row = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(entries)]))
    work = np.cumsum(np.diff(above.indptr)[column])
    found = entries.take(np.zeros(0, dtype=np.int64))
    first = 0
    while first < len(starts):
        done = work[starts[first] - 1] if starts[first] else 0
        last = int(np.searchsorted(work[starts], done + CHUNK, side="right"))
        last = min(max(last, first + 1), len(starts))
        stop = starts[last] if last < len(starts) else len(entries)
        part = slice(starts[first], stop)
        mine = entries.take(np.arange(part.start, part.stop))
        block = product_entries(mine, row[part] - first, column[part], above)
        count += np.bincount(block.cell, minlength=n)
        found = largest(concatenate_entries(found, block), t)
        first = last
    return found, count


def product_entries(entries: Entries, row: Ints, column: Ints, above: sparse.csr_array) -> Entries:
    """Return one entry per unit and cell of the whole table, as a product of sparse matrices."""
    shape = (int(row.max()) + 1, above.shape[0])
    who = np.zeros(shape[0], dtype=np.int64)
    who[row] = entries.who

    def rolled(values: npt.ArrayLike) -> sparse.coo_array:
        # The imaginary part counts, so that contributions which cancel out keep their place.
        own = sparse.csr_array((np.asarray(values) + 1j, (row, column)), shape=shape)
        out = own @ above
        out.sort_indices()
        return out.tocoo()

    value = rolled(entries.value)
    unit, cell = (a.astype(np.int64) for a in value.coords)
    weight = np.zeros(shape[0])
    np.maximum.at(weight, row, entries.weight)
    asked, waived = np.zeros(len(cell), dtype=np.int8), np.zeros(len(cell), dtype=bool)
    for code in (1, 2):
        if (entries.asked >= code).any():
            asked += (rolled(entries.asked >= code).data.real > 0).astype(np.int8)
    if entries.waived.any():
        waived = np.asarray(rolled(~entries.waived).data.real == 0)
    plain = bool((entries.weight == 1).all())
    return Entries(
        cell,
        who[unit],
        value.data.real,
        value.data.real if plain else rolled(entries.weighted).data.real,
        weight[unit],
        asked,
        waived,
    )


def spread_out(entries: Entries) -> Flags:
    """Return which entries belong to units that stand in more than one cell."""
    _, own, times = np.unique(entries.who, return_inverse=True, return_counts=True)
    return np.asarray(times[own] > 1)


def as_contributors(
    entries: Entries,
    count: Ints,
    t: int,
    *,
    weighted: bool = False,
    requests: bool = False,
    waivers: bool = False,
) -> Contributors:
    """Return sorted entries, at most t a cell, as arrays of cells x t."""
    shape = (len(count), t)
    at = (entries.cell, rank_within(entries.cell))

    def filled(values: npt.NDArray[Any], nothing: float) -> npt.NDArray[Any]:
        out = np.full(shape, nothing, dtype=values.dtype)
        out[at] = values
        return out

    # The weight by which each contribution goes into the total.
    x = entries.value
    ratio = np.divide(entries.weighted, x, out=np.full(len(x), -1.0), where=x != 0)
    weight = np.where(ratio >= 0, ratio, entries.weight)
    return Contributors(
        count=count,
        top=filled(x, 0.0),
        who=filled(entries.who, -1),
        weight=filled(weight, 0.0) if weighted else None,
        asked=filled(entries.asked, 0) if requests else None,
        waived=filled(entries.waived, False) if waivers else None,
    )


def as_entries(given: Contributors, cells: Ints) -> Entries:
    """Return the largest contributions of some cells as entries; entry i of ``cells`` is cell i."""
    part = given.take(cells)
    t = part.t
    own = np.repeat(np.arange(len(cells)), t)
    there = np.arange(t)[None, :] < np.minimum(part.count, t)[:, None]
    # Where the count is unknown a positive contribution shows that there is one.
    there |= part.top != 0
    keep = there.ravel()
    x = part.top.ravel()[keep]
    weight = np.ones(len(x)) if part.weight is None else part.weight.ravel()[keep]
    asked = np.zeros(len(x)) if part.asked is None else part.asked.ravel()[keep]
    waived = np.zeros(len(x)) if part.waived is None else part.waived.ravel()[keep]
    return Entries(
        own[keep],
        part.who.ravel()[keep].astype(np.int64),
        x,
        x * weight,
        weight,
        np.asarray(asked, dtype=np.int8),
        np.asarray(waived, dtype=bool),
    )


@dataclass(frozen=True, eq=False)
class Merged:
    """Contributors of unions of disjoint cells."""

    #: Their largest contributions. Where not ``exact``, a unit may be larger than shown, and the
    #: count is the least that there can be.
    contributors: Contributors
    #: Which unions are known exactly: always when units stand in one cell only, or when the stored
    #: contributions are all there are.
    exact: Flags


def merge(
    given: Contributors, cells: Ints, group: Ints, n: int, *, disjoint: bool = False
) -> Merged:
    """Merge the contributors of cells into n groups by identity; ``group`` is that of each cell.

    ``disjoint`` says that a unit stands in one ground cell only (records), so that counts add up.
    """
    t = given.t
    entries = as_entries(given, cells)
    entries = entries.moved(group[entries.cell])
    together = entries if disjoint else merge_contributions(entries)
    found = largest(together, t)
    counts = given.count[cells]
    parts = np.bincount(group, minlength=n)
    total = np.bincount(group, weights=np.maximum(counts, 0), minlength=n).astype(np.int64)
    unknown = np.zeros(n, dtype=bool)
    np.logical_or.at(unknown, group, counts < 0)
    if disjoint:
        exact = np.ones(n, dtype=bool)
        count = total
    else:
        complete = np.ones(n, dtype=bool)
        hidden_units = (counts > t) | ((given.who[cells] < 0) & (given.top[cells] != 0)).any(axis=1)
        np.logical_and.at(complete, group, ~hidden_units)
        exact = complete | (parts <= 1)
        least = np.zeros(n, dtype=np.int64)
        np.maximum.at(least, group, counts)
        listed = np.bincount(together.cell, minlength=n)
        count = np.where(exact, np.where(parts <= 1, total, listed), np.maximum(least, listed))
    count = np.where(unknown, -1, count)
    out = as_contributors(
        found,
        count.astype(np.int64),
        t,
        weighted=given.weight is not None,
        requests=given.asked is not None,
        waivers=given.waived is not None,
    )
    return Merged(out, exact)
