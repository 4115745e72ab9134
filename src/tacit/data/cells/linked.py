"""Linked tables: several tables whose shared cells are one, as one system of relations."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.status import is_primary
from tacit.data.table import Contributors, Table
from tacit.errors import InputError

Ints = npt.NDArray[np.int64]


def link(*tables: Table) -> Table:
    """Join tables into one whose cells are named by all their dimensions together.

    A dimension that a table lacks stands at its total. Cells of the same name are one cell: their
    values must agree; a cell that is unsafe in one table is unsafe in all, with the largest levels.
    ``extra["parts"]`` holds, for each table, the positions of its cells in the joined table.

    Raises
    ------
    InputError
        When tables are of different responses, or a shared cell has two values.
    """
    if len(tables) < 2:
        raise InputError("link needs at least two tables")
    if len({t.response for t in tables}) > 1:
        raise InputError("linked tables must have the same response")
    merged: dict[str, Dimension] = {}
    for table in tables:
        for d in table.dimensions:
            merged[d.name] = merged[d.name].merged(d) if d.name in merged else d
    dimensions = tuple(merged.values())
    keys = [locate_in_joint(table, dimensions) for table in tables]
    every = np.concatenate(keys)
    sizes = [len(d) for d in dimensions]
    ids = np.ravel_multi_index(tuple(every.T), sizes)
    unique, first, own = np.unique(ids, return_index=True, return_inverse=True)
    ends = np.cumsum([len(t) for t in tables])
    parts = tuple(np.split(own, ends[:-1]))
    refuse_differences(tables, parts, len(unique))
    pick = functools.partial(merge_arrays, tables, first)
    status = merge_status(tables, parts, len(unique))
    levels = {
        name: largest([getattr(t, name) for t in tables], parts, len(unique))
        for name in ("lower_level", "upper_level", "sliding_level")
    }
    blocks = [
        move_relations(t.equations, p, len(unique)) for t, p in zip(tables, parts, strict=True)
    ]
    return Table.from_cells(
        dimensions,
        pick("value"),
        count=largest([t.count for t in tables], parts, len(unique)).astype(np.int64),
        status=status,
        weight=None if any(t.weight is None for t in tables) else pick("weight"),
        lower=pick("lower"),
        upper=pick("upper"),
        coordinates=every[first],
        equations=distinct_rows(sparse.csr_array(sparse.vstack(blocks, format="csr"))),
        contributors=merge_contributors([t.contributors for t in tables], first),
        holdings=merge_contributors([t.holdings for t in tables], first),
        response=tables[0].response,
        frequency=tables[0].frequency,
        extra={"parts": parts},
        **levels,
    )


def split(linked: Table, tables: Sequence[Table]) -> tuple[Table, ...]:
    """Copy the pattern, levels and published values of a linked table back to its tables."""
    parts = linked.extra["parts"]
    return tuple(
        table.with_(
            status=linked.status[part],
            lower_level=linked.lower_level[part],
            upper_level=linked.upper_level[part],
            sliding_level=linked.sliding_level[part],
            changed=None if linked.changed is None else linked.changed[part],
            interval=None if linked.interval is None else linked.interval[part],
            history=linked.history,
        )
        for table, part in zip(tables, parts, strict=True)
    )


def locate_in_joint(table: Table, dimensions: Sequence[Dimension]) -> npt.NDArray[np.int64]:
    """Return each cell's place in the joined dimensions; absent ones stand at the total."""
    columns = []
    own = {d.name: i for i, d in enumerate(table.dimensions)}
    for d in dimensions:
        if d.name in own:
            mine = table.dimensions[own[d.name]]
            at = np.array([d.position[c] for c in mine.codes], dtype=np.int64)
            columns.append(at[table.places[:, own[d.name]]])
        else:
            columns.append(np.full(len(table), d.total, dtype=np.int64))
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


def merge_arrays(tables: Sequence[Table], first: Ints, name: str) -> npt.NDArray[np.float64]:
    """Return one array of the joined cells, from the first table that has each."""
    return np.concatenate([np.asarray(getattr(t, name)) for t in tables])[first]


def merge_status(tables: Sequence[Table], parts: Sequence[Ints], n: int) -> npt.NDArray[np.int8]:
    """Return the status of joined cells: unsafe wins, then must be published, then the rest."""
    rank = np.full(n, -1)
    status = np.ones(n, dtype=np.int8)
    for table, part in zip(tables, parts, strict=True):
        own = np.where(
            is_primary(table.status), 3, np.where(table.secondary, 2, np.where(table.fixed, 1, 0))
        )
        better = own > rank[part]
        rank[part[better]] = own[better]
        status[part[better]] = table.status[better]
    return status


def largest(
    arrays: Sequence[npt.NDArray[np.generic]], parts: Sequence[Ints], n: int
) -> npt.NDArray[np.float64]:
    """Return the largest entry of each joined cell."""
    out = np.full(n, -np.inf)
    for array, part in zip(arrays, parts, strict=True):
        np.maximum.at(out, part, np.asarray(array, dtype=np.float64))
    return out


def merge_contributors(given: Sequence[Contributors | None], first: Ints) -> Contributors | None:
    """Return the contributors of joined cells, when every table knows its own."""
    known = [c for c in given if c is not None]
    if len(known) < len(given):
        return None
    t = min(c.t for c in known)

    def stack(name: str) -> npt.NDArray[np.generic] | None:
        parts = [getattr(c, name) for c in known]
        if any(p is None for p in parts):
            return None
        return np.concatenate([p if p.ndim == 1 else p[:, :t] for p in parts])[first]

    return Contributors(*(stack(n) for n in ("count", "top", "who", "weight", "asked", "waived")))  # type: ignore[arg-type]


def move_relations(matrix: sparse.csr_array, part: Ints, n: int) -> sparse.csr_array:
    """Return relations on the joined cells."""
    return sparse.csr_array(
        (matrix.data, part[matrix.indices], matrix.indptr), shape=(matrix.shape[0], n)
    )


def distinct_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix without repeated rows."""
    matrix.sort_indices()
    seen: dict[bytes, int] = {}
    for i in range(matrix.shape[0]):
        at = slice(matrix.indptr[i], matrix.indptr[i + 1])
        seen.setdefault(matrix.indices[at].tobytes() + matrix.data[at].tobytes(), i)
    return matrix[list(seen.values())]


def equations_of(
    dimensions: Sequence[Dimension], coordinates: npt.NDArray[np.int32]
) -> sparse.csr_array:
    """Return the relations among listed cells: a sum is taken where its parent is a cell.

    Children that are not listed are empty cells.
    """
    sizes = [len(d) for d in dimensions]
    ids = np.ravel_multi_index(tuple(coordinates.T.astype(np.int64)), sizes)
    order = np.argsort(ids, kind="stable")
    strides = np.array([int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))], dtype=np.int64)
    rows, columns, values, n_rows = [], [], [], 0
    for axis, d in enumerate(dimensions):
        for s in d.sums:
            parents = np.flatnonzero(coordinates[:, axis] == s.parent)
            if not len(parents):
                continue
            own = n_rows + np.arange(len(parents))
            n_rows += len(parents)
            rows.append(own)
            columns.append(parents)
            values.append(np.full(len(parents), -1.0))
            for child, sign in zip(s.children, s.signs or (1,) * len(s.children), strict=True):
                target = ids[parents] + (child - s.parent) * strides[axis]
                at = np.searchsorted(ids[order], target).clip(max=len(ids) - 1)
                found = ids[order[at]] == target
                rows.append(own[found])
                columns.append(order[at][found])
                values.append(np.full(int(found.sum()), float(sign)))
    if not rows:
        return sparse.csr_array((0, len(ids)))
    return sparse.csr_array(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
        shape=(n_rows, len(ids)),
    )


__all__ = ["Sum", "equations_of", "link", "split"]
