"""Linked tables: several tables whose shared cells are one, as one system of relations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.classifications import Joint, join_dimensions
from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.status import Status, is_primary
from tacit.data.cells.unpublished import add_overlaps, fit_overlaps
from tacit.data.microdata import Microdata
from tacit.data.table import Contributors, Table
from tacit.errors import InputError

#: The fields of a table that say how far an interval must reach.
LEVELS = ("lower_level", "upper_level", "sliding_level")
#: What stands for the contributors of cells that no table has.
UNKNOWN = {"count": -1, "who": -1}


def link(
    *tables: Table,
    variables: Mapping[str, Dimension] | None = None,
    data: Microdata | None = None,
) -> Table:
    """Join tables into one whose cells are named by all their dimensions together.

    A dimension that a table lacks stands at its total. Cells of the same name are one cell: their
    values must agree; a cell that is unsafe in one table is unsafe in all, with the largest levels.
    ``extra["parts"]`` holds, for each table, the positions of its cells in the joined table.

    Tables may classify one variable differently (regions by county, groups of regions, counties).
    Dimensions of one name are one variable, and so is a dimension whose codes and margins are all found
    in another; what else belongs together is said by ``variables`` or seen in ``data``. Where codes overlap, what they
    have in common is added as cells that are hidden in any case (``extra["unpublished"]``).

    Parameters
    ----------
    tables
        Two or more tables of one response.
    variables
        The name of a table's dimension to a dimension that holds its codes: names with the same dimension
        are classifications of one variable.
    data
        The records, with columns of the dimensions' names: a column whose codes tell those of another is
        a classification of the same variable.

    Raises
    ------
    InputError
        When tables are of different responses, a shared cell has two values, or classifications of one
        variable cannot be brought together.
    """
    if len(tables) < 2:
        raise InputError("link needs at least two tables")
    if len({t.response for t in tables}) > 1:
        raise InputError("linked tables must have the same response")
    joints = join_dimensions(tables, variables, data)
    places = np.concatenate([locate_in_joint(table, joints) for table in tables])
    sizes = [len(j.dimension) for j in joints]
    ids = np.ravel_multi_index(tuple(places.T), sizes)
    unique, first, own = np.unique(ids, return_index=True, return_inverse=True)
    n = len(unique)
    ends = np.cumsum([len(t) for t in tables])
    parts = tuple(np.split(own, ends[:-1]))
    refuse_differences(tables, parts, n)
    overlaps = add_overlaps(
        [j.dimension for j in joints], places[first], coarse_axes(tables, joints)
    )
    more = overlaps.added
    levels = {
        name: pad(largest([getattr(t, name) for t in tables], parts, n), more, 0.0)
        for name in LEVELS
    }
    blocks = []
    for table, part in zip(tables, parts, strict=True):
        m = table.equations
        shape = (m.shape[0], n + more)
        blocks.append(sparse.csr_array((m.data, part[m.indices], m.indptr), shape=shape))
    # Of shared cells, what the first table has.
    value = np.concatenate([t.value for t in tables])[first]
    # Whoever has all tables knows the best of what each of them says.
    lower = largest([t.lower for t in tables], parts, n)
    upper = -largest([-np.asarray(t.upper) for t in tables], parts, n)
    # Sums of one table's cells may be cells of another.
    mixed = [
        axis
        for axis, j in enumerate(joints)
        if len({(d.codes, d.sums) for t in tables for d in t.dimensions if d.name in j.codes}) > 1
    ]
    blocks.append(equations_of(overlaps.dimensions, overlaps.places, complete=mixed))
    blocks.append(overlaps.equations)
    equations = distinct_rows(sparse.csr_array(sparse.vstack(blocks, format="csr")))
    if more:
        value = np.concatenate([value, fit_overlaps(overlaps, equations, value, lower)])
    weight = None
    if all(t.weight is not None for t in tables):
        weight = pad(np.concatenate([np.asarray(t.weight) for t in tables])[first], more, 0.0)
    return Table.from_cells(
        overlaps.dimensions,
        value,
        count=pad(largest([t.count for t in tables], parts, n), more, -1).astype(np.int64),
        status=pad(merge_status(tables, parts, n), more, Status.SECONDARY),
        weight=weight,
        lower=pad(lower, more, -np.inf if (lower < 0).any() else 0.0),
        upper=pad(upper, more, np.inf),
        coordinates=overlaps.places,
        equations=equations,
        contributors=merge_contributors([t.contributors for t in tables], first, more),
        holdings=merge_contributors([t.holdings for t in tables], first, more),
        response=tables[0].response,
        frequency=tables[0].frequency,
        extra={
            "parts": parts,
            "unpublished": np.arange(n + more) >= n,
            "variables": {j.dimension.name: tuple(j.codes) for j in joints},
            "apart": () if variables or data else dimensions_apart(tables, joints),
        },
        **levels,
    )


def dimensions_apart(tables: Sequence[Table], joints: Sequence[Joint]) -> tuple[str, ...]:
    """Return pairs of dimensions that no table has together: nothing says whether one classifies the other."""
    names = [set(j.codes) for j in joints]
    return tuple(
        f"{one.dimension.name} and {two.dimension.name}"
        for (i, one), (k, two) in itertools.combinations(enumerate(joints), 2)
        if not any(names[i] & set(t.names) and names[k] & set(t.names) for t in tables)
    )


def coarse_axes(tables: Sequence[Table], joints: Sequence[Joint]) -> list[int]:
    """Return the dimensions of which some table has not all ground codes: only there codes can overlap."""
    found = []
    for axis, j in enumerate(joints):
        ground = {j.dimension.codes[i] for i in j.dimension.leaves}
        each = [
            {j.codes[d.name][c] for c in d.codes}
            for t in tables
            for d in t.dimensions
            if d.name in j.codes
        ]
        if any(not ground <= codes for codes in each):
            found.append(axis)
    return found


def pad(array: npt.NDArray[Any], more: int, by: float) -> npt.NDArray[Any]:
    """Return an array over cells with entries for cells that no table has."""
    return np.concatenate([array, np.full(more, by, dtype=array.dtype)])


def split(linked: Table, tables: Sequence[Table]) -> tuple[Table, ...]:
    """Copy the pattern, levels and published values of a linked table back to its tables."""
    parts = linked.extra["parts"]
    return tuple(
        table.with_(
            status=linked.status[part],
            **{name: getattr(linked, name)[part] for name in LEVELS},
            changed=None if linked.changed is None else linked.changed[part],
            interval=None if linked.interval is None else linked.interval[part],
            history=linked.history,
        )
        for table, part in zip(tables, parts, strict=True)
    )


def locate_in_joint(table: Table, joints: Sequence[Joint]) -> Ints:
    """Return each cell's place in the joined dimensions; absent ones stand at the total."""
    columns = []
    for j in joints:
        own = [i for i, d in enumerate(table.dimensions) if d.name in j.codes]
        if own:
            mine = table.dimensions[own[0]]
            codes = j.codes[mine.name]
            at = np.array([j.dimension.position[codes[c]] for c in mine.codes], dtype=np.int64)
            columns.append(at[table.places[:, own[0]]])
        else:
            columns.append(np.full(len(table), j.dimension.total, dtype=np.int64))
    return np.stack(columns, axis=1)


def refuse_differences(tables: Sequence[Table], parts: Sequence[Ints], n: int) -> None:
    """Raise when a shared cell has different values in two tables."""
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    for table, part in zip(tables, parts, strict=True):
        np.minimum.at(low, part, table.value)
        np.maximum.at(high, part, table.value)
    apart = np.flatnonzero(high - low > 1e-6 * np.maximum(1.0, np.abs(high)))
    if len(apart):
        names = []
        for cell in apart[:10]:
            for table, part in zip(tables, parts, strict=True):
                at = np.flatnonzero(part == cell)
                if len(at):
                    names.append(table.describe_cell(int(at[0])))
                    break
        raise InputError(
            f"{len(apart):,} shared cells have different values in the linked tables: "
            + "; ".join(names)
        )


def merge_status(tables: Sequence[Table], parts: Sequence[Ints], n: int) -> npt.NDArray[np.int8]:
    """Return the status of joined cells: unsafe wins, then must be published, then the rest."""
    rank = np.full(n, -1)
    status = np.ones(n, dtype=np.int8)
    for table, part in zip(tables, parts, strict=True):
        own = np.select([is_primary(table.status), table.secondary, table.fixed], [3, 2, 1], 0)
        better = own > rank[part]
        rank[part[better]] = own[better]
        status[part[better]] = table.status[better]
    return status


def largest(arrays: Sequence[npt.NDArray[np.generic]], parts: Sequence[Ints], n: int) -> Floats:
    """Return the largest entry of each joined cell."""
    out = np.full(n, -np.inf)
    for array, part in zip(arrays, parts, strict=True):
        np.maximum.at(out, part, np.asarray(array, dtype=np.float64))
    return out


def merge_contributors(
    given: Sequence[Contributors | None], first: Ints, more: int
) -> Contributors | None:
    """Return the contributors of joined cells, when every table knows its own."""
    known = [c for c in given if c is not None]
    if len(known) < len(given):
        return None
    t = min(c.t for c in known)

    def stack(name: str) -> Any:
        parts = [getattr(c, name) for c in known]
        if any(p is None for p in parts):
            return None
        stacked = np.concatenate([p if p.ndim == 1 else p[:, :t] for p in parts])[first]
        rest = np.full((more, *stacked.shape[1:]), UNKNOWN.get(name, 0), dtype=stacked.dtype)
        return np.concatenate([stacked, rest])

    return Contributors(**{f.name: stack(f.name) for f in fields(Contributors)})


def distinct_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix without repeated rows."""
    matrix.sort_indices()
    seen: dict[bytes, int] = {}
    for i in range(matrix.shape[0]):
        at = slice(matrix.indptr[i], matrix.indptr[i + 1])
        seen.setdefault(matrix.indices[at].tobytes() + matrix.data[at].tobytes(), i)
    return matrix[list(seen.values())]


def equations_of(
    dimensions: Sequence[Dimension],
    coordinates: npt.NDArray[np.integer[Any]],
    *,
    complete: Sequence[int] | None = None,
) -> sparse.csr_array:
    """Return the relations among listed cells: a sum is taken where its parent is a cell.

    Children that are not listed are empty cells. With ``complete``, only sums over these dimensions are taken,
    and none that lacks a child.
    """
    sizes = [len(d) for d in dimensions]
    ids = np.ravel_multi_index(tuple(coordinates.T.astype(np.int64)), sizes)
    order = np.argsort(ids, kind="stable")
    ranked = ids[order]
    strides = np.array([int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))], dtype=np.int64)

    def find(parents: Ints, steps: int) -> tuple[Ints, Flags]:
        target = ids[parents] + steps
        at = np.searchsorted(ranked, target).clip(max=len(ids) - 1)
        return order[at], ranked[at] == target

    rows, columns, values, n_rows = [], [], [], 0
    for axis, d in enumerate(dimensions):
        if complete is not None and axis not in complete:
            continue
        for s in d.sums:
            steps = [(child - s.parent) * int(strides[axis]) for child in s.children]
            parents = np.flatnonzero(coordinates[:, axis] == s.parent)
            if complete is not None and len(parents):
                parents = parents[np.all([find(parents, step)[1] for step in steps], axis=0)]
            if not len(parents):
                continue
            own = n_rows + np.arange(len(parents))
            n_rows += len(parents)
            rows.append(own)
            columns.append(parents)
            values.append(np.full(len(parents), -1.0))
            for step, sign in zip(steps, s.signs or (1,) * len(steps), strict=True):
                at, found = find(parents, step)
                rows.append(own[found])
                columns.append(at[found])
                values.append(np.full(int(found.sum()), float(sign)))
    if not rows:
        return sparse.csr_array((0, len(ids)))
    return sparse.csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(n_rows, len(ids)),
    )


__all__ = ["Sum", "equations_of", "link", "split"]
