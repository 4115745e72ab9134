"""The additive relations of a table as one sparse matrix, and its decomposition into subtables."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.dimension import Dimension
from tacit.errors import InputError, NotAdditive

if TYPE_CHECKING:
    from tacit.data.table import Table

#: A relation holds when its gap is at most this share of the largest cell in it (at least of 1).
TOLERANCE = 1e-6


def product_equations(dimensions: Sequence[Dimension]) -> sparse.csr_array:
    """Return M with M @ value = 0 for the full product of the dimensions, cells in C order.

    For every dimension, every relation of it and every combination of codes of the others there is
    one row. The rows are redundant: never assume full row rank.
    """
    sizes = [len(d) for d in dimensions]
    blocks = [expand_over_axes(d.equations, sizes, i) for i, d in enumerate(dimensions) if d.sums]
    n = int(np.prod(sizes)) if sizes else 0
    if not blocks:
        return sparse.csr_array((0, n))
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def expand_over_axes(matrix: sparse.csr_array, sizes: Sequence[int], axis: int) -> sparse.csr_array:
    """Return a matrix on one axis, repeated for every combination of the other axes."""
    before = int(np.prod(sizes[:axis]))
    after = int(np.prod(sizes[axis + 1 :]))
    inner = sparse.kron(matrix, sparse.eye_array(after), format="csr") if after > 1 else matrix
    outer = sparse.kron(sparse.eye_array(before), inner, format="csr") if before > 1 else inner
    return sparse.csr_array(outer)


def independent_equations(dimensions: Sequence[Dimension]) -> sparse.csr_array:
    """Return linearly independent rows of the product's relations that span them all.

    The relations of a dimension are kept only where the codes of all earlier dimensions are ground
    codes. Exact when every dimension is a tree; otherwise rows of alternative groupings may still
    depend on each other.
    """
    sizes = [len(d) for d in dimensions]
    blocks = []
    for i, d in enumerate(dimensions):
        if not d.sums:
            continue
        outer: sparse.csr_array | None = None
        for e in dimensions[:i]:
            keep = sparse.eye_array(len(e), format="csr")[e.leaves]
            outer = keep if outer is None else sparse.csr_array(sparse.kron(outer, keep))
        block = d.equations
        if outer is not None:
            block = sparse.csr_array(sparse.kron(outer, block))
        after = int(np.prod(sizes[i + 1 :]))
        if after > 1:
            block = sparse.csr_array(sparse.kron(block, sparse.eye_array(after)))
        blocks.append(block)
    if not blocks:
        return sparse.csr_array((0, int(np.prod(sizes))))
    return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def gaps(matrix: sparse.csr_array, values: Floats) -> tuple[Floats, Floats]:
    """Return each relation's gap, and the gap that it is allowed."""
    gap = matrix @ values
    largest = np.asarray(abs(matrix) @ np.abs(values)) / 2
    return gap, TOLERANCE * np.maximum(1.0, largest)


def roll_up(base: Floats, dimensions: Sequence[Dimension]) -> Floats:
    """Return all cells of the product from its ground cells (an array with one axis per dimension)."""
    array = np.asarray(base, dtype=np.float64)
    for axis, d in enumerate(dimensions):
        moved = np.moveaxis(array, axis, 0)
        flat = np.ascontiguousarray(moved).reshape(moved.shape[0], -1)
        array = np.moveaxis((d.closure @ flat).reshape(len(d), *moved.shape[1:]), 0, axis)
    return np.ascontiguousarray(array)


@dataclass(frozen=True, eq=False)
class Subtable:
    """One unstructured subtable: a relation per dimension, its parent and children in each."""

    #: The cells as an array with one axis per dimension; the parent stands first on each axis.
    cells: Ints
    #: Sum of the depths of the parents; subtables of rank 0 hold the grand total.
    rank: int
    #: Which relation of each dimension it takes (-1 for a dimension of one code).
    sums: tuple[int, ...]


def subtables(dimensions: Sequence[Dimension]) -> Iterator[Subtable]:
    """Yield the subtables of a product table, those nearest to the grand total first."""
    sizes = [len(d) for d in dimensions]
    choices: list[list[tuple[int, int, Ints]]] = []
    for d in dimensions:
        own = [
            (i, int(d.depth[s.parent]), np.array([s.parent, *s.children], dtype=np.int64))
            for i, s in enumerate(d.sums)
        ]
        choices.append(own or [(-1, 0, np.arange(len(d), dtype=np.int64))])
    ranked = sorted(
        itertools.product(*(range(len(c)) for c in choices)),
        key=lambda pick: (sum(choices[a][i][1] for a, i in enumerate(pick)), pick),
    )
    for pick in ranked:
        parts = [choices[a][i] for a, i in enumerate(pick)]
        grid = np.ix_(*(codes for _, _, codes in parts))
        cells = np.ravel_multi_index(grid, sizes).astype(np.int64)
        yield Subtable(cells, sum(rank for _, rank, _ in parts), tuple(i for i, _, _ in parts))


def components(matrix: sparse.csr_array) -> tuple[int, Ints]:
    """Return the connected components of the columns of a matrix: how many, and each column's."""
    pattern = sparse.csr_array(
        (np.ones(matrix.nnz, dtype=np.int8), matrix.indices, matrix.indptr), shape=matrix.shape
    )
    graph = sparse.block_array([[None, pattern], [pattern.T, None]], format="csr")
    _, labels = connected_components(graph, directed=False)
    ids, own = np.unique(labels[matrix.shape[0] :], return_inverse=True)
    return len(ids), own.astype(np.int64)


@functools.cache
def letters(limit: int) -> tuple[str, ...]:
    """Return names for axes without one."""
    return tuple(f"axis {i + 1}" for i in range(limit))


def linked_singletons(equations: sparse.csr_array, lone: Flags) -> Ints:
    """Return a number for each cell, equal where a singleton total has one singleton part."""
    n = len(lone)
    m = equations.tocoo()
    row, cell, sign = m.coords[0], m.coords[1], m.data
    parent = np.full(equations.shape[0], -1, dtype=np.int64)
    at = (sign < 0) & lone[cell]
    parent[row[at]] = cell[at]
    ends = (sign > 0) & lone[cell] & (parent[row] >= 0)
    tied = sparse.csr_array(
        (np.ones(int(ends.sum()), dtype=np.int8), (parent[row[ends]], cell[ends])), shape=(n, n)
    )
    return np.asarray(connected_components(tied, directed=False)[1], dtype=np.int64)


# -- whether relations hold, and values lie within their bounds -------------------------------------


def broken_relations(table: Table, values: Floats | None = None) -> list[tuple[int, float]]:
    """Return the relations that do not hold, with their gaps, largest first."""
    gap, allowed = gaps(table.equations, table.value if values is None else values)
    wrong = np.flatnonzero(np.abs(gap) > allowed)
    return [(int(i), float(gap[i])) for i in wrong[np.argsort(-np.abs(gap[wrong]), kind="stable")]]


def equation_text(table: Table, row: int) -> str:
    """Return a relation in words: which total, over which dimension."""
    m = table.equations
    cells = m.indices[m.indptr[row] : m.indptr[row + 1]]
    signs = m.data[m.indptr[row] : m.indptr[row + 1]]
    parents = cells[signs < 0]
    parent = table.describe_cell(int(parents[0] if len(parents) else cells[0]))
    if not table.dimensions:
        return f"equation {row} ({parent} and {len(cells) - 1} others)"
    moved = [
        d.name
        for d, column in zip(table.dimensions, table.places[cells].T, strict=True)
        if len(np.unique(column)) > 1
    ]
    return f"{parent} over {', '.join(moved) or 'itself'}"


def require_sound(table: Table) -> None:
    """Raise when a relation does not hold or a value lies outside its bounds."""
    require_bounds(table)
    wrong = broken_relations(table)
    if wrong:
        listed = [f"{equation_text(table, i)} (gap {g:g})" for i, g in wrong[:10]]
        more = f" and {len(wrong) - 10:,} more" if len(wrong) > 10 else ""
        raise NotAdditive(
            f"{len(wrong):,} of {table.equations.shape[0]:,} sums of the table do not hold: "
            + "; ".join(listed)
            + more
        )


def require_bounds(table: Table) -> None:
    """Raise when a value lies outside what outsiders know of it."""
    slack = TOLERANCE * np.maximum(1.0, np.abs(table.value))
    outside = np.flatnonzero(
        (table.value < table.lower - slack) | (table.value > table.upper + slack)
    )
    if len(outside):
        hint = (
            " Negative values need lower=, the bound that outsiders know."
            if (table.value < 0).any()
            else ""
        )
        raise InputError(
            f"{len(outside):,} cells lie outside their bounds, the first is "
            f"{table.describe_cell(int(outside[0]))}.{hint}"
        )
