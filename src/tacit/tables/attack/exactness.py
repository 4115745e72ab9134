"""Exact disclosure without linear programs: what the relations alone determine.

With random vectors of the kernel of the hidden cells' relations over a large prime field, a cell that is 0
in all of them is determined, and two cells whose entries keep one ratio determine each other. A cell that
is free passes for determined, or two independent cells for tied, with probability about 1 / 2^61 each.
Bounds are not used here: a cell squeezed between its bounds is found by the linear programs.
"""

from __future__ import annotations

import heapq

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Ints
from tacit.data.cells.relations import components
from tacit.data.table import Table
from tacit.tables.attack.systems import drop_repeated_relations, shrink
from tacit.tables.suppress.problem import touched_rows
from tacit.tables.suppress.propose_gauss import residues

#: A Mersenne prime.
PRIME = 2**61 - 1
Row = dict[int, int]


def determined(equations: sparse.sparray, hidden: Flags) -> Flags:
    """Return which hidden cells follow exactly from the published ones by the relations alone."""
    labels = parallel_classes(equations, hidden)
    return np.asarray(hidden & (labels == 0))


def parallel_classes(equations: sparse.sparray, hidden: Flags) -> Ints:
    """Return the class of each hidden cell: who knows one cell of a class can deduce all of it.

    The label is -1 where a cell is published, 0 where it is determined.
    """
    cells = np.flatnonzero(hidden)
    labels = np.full(len(hidden), -1, dtype=np.int64)
    if not len(cells):
        return labels
    m = touched_rows(sparse.csc_array(equations), cells)
    free = np.full(len(cells), np.inf)
    m, own, _, low, _ = shrink(m, -free, free)
    first, second = kernel_vectors(drop_repeated_relations(m), len(low))
    keys = [
        (0, 0) if a == 0 and b == 0 else (1, b * pow(a, -1, PRIME) % PRIME) if a else (2, 0)
        for a, b in zip(first, second, strict=True)
    ]
    number: dict[tuple[int, int], int] = {(0, 0): 0}
    unknown = np.array([number.setdefault(k, len(number)) for k in keys], dtype=np.int64)
    labels[cells] = np.where(own >= 0, np.append(unknown, 0)[own], 0)
    return labels


def deducing_pairs(table: Table, hidden: Flags) -> Ints:
    """Return rows (known, target): the only respondent of a hidden cell can deduce an unsafe one.

    The whole system is used, so the two cells need not share a relation; cells that anybody can deduce
    are left out.
    """
    labels = parallel_classes(table.equations, hidden)
    owner = table.owner
    known = np.flatnonzero(hidden & table.singleton & (labels > 0))
    target = np.flatnonzero(hidden & table.primary & (labels > 0))
    by_label: dict[int, list[int]] = {}
    for cell in target.tolist():
        by_label.setdefault(int(labels[cell]), []).append(cell)
    pairs = [
        (cell, other)
        for cell in known.tolist()
        for other in by_label.get(int(labels[cell]), ())
        if owner[other] != owner[cell]
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def kernel_vectors(m: sparse.csr_array, n: int) -> tuple[list[int], list[int]]:
    """Return two random vectors of the kernel over the prime field."""
    rng = np.random.default_rng(61)
    # Two parts of 31 and 30 bits: a number below 2^61.
    draws = rng.integers(0, 2**31, (2, n)).astype(object) * 2**30 + rng.integers(0, 2**30, (2, n))
    vectors = [[int(v) % PRIME for v in row] for row in draws]
    if not m.shape[0]:
        return vectors[0], vectors[1]
    _, label = components(m)
    rows = modular_rows(m)
    blocks: dict[int, list[Row]] = {}
    for row in rows:
        blocks.setdefault(int(label[next(iter(row))]), []).append(row)
    for block in blocks.values():
        for pivot, row in reversed(eliminate_rows(block)):
            scale = -pow(row[pivot], -1, PRIME)
            for vector in vectors:
                rest = sum(a * vector[j] for j, a in row.items() if j != pivot)
                vector[pivot] = rest * scale % PRIME
    return vectors[0], vectors[1]


def modular_rows(m: sparse.csr_array) -> list[Row]:
    """Return the rows of a matrix over the prime field."""
    data = residues(m.data, PRIME).tolist()
    columns, ends = m.indices.tolist(), m.indptr.tolist()
    rows = []
    for i in range(m.shape[0]):
        part = slice(ends[i], ends[i + 1])
        row = {j: a for j, a in zip(columns[part], data[part], strict=True) if a}
        if row:
            rows.append(row)
    return rows


def eliminate_rows(rows: list[Row]) -> list[tuple[int, Row]]:
    """Eliminate; return (pivot column, row) in the order in which pivots were taken.

    The shortest row goes first, with the column of it that is in fewest other rows (Markowitz).
    """
    where: dict[int, set[int]] = {}
    for i, row in enumerate(rows):
        for j in row:
            where.setdefault(j, set()).add(i)
    queue = [(len(row), i) for i, row in enumerate(rows)]
    heapq.heapify(queue)
    taken: list[tuple[int, Row]] = []
    gone = [False] * len(rows)
    while queue:
        size, i = heapq.heappop(queue)
        row = rows[i]
        if gone[i] or size != len(row) or not row:
            continue
        gone[i] = True
        pivot = min(row, key=lambda j: (len(where[j]), j))
        for j in row:
            where[j].discard(i)
        inverse = pow(row[pivot], -1, PRIME)
        for k in list(where[pivot]):
            combine(rows[k], row, rows[k][pivot] * inverse % PRIME, k, where)
            heapq.heappush(queue, (len(rows[k]), k))
        taken.append((pivot, row))
    return taken


def combine(target: Row, row: Row, factor: int, k: int, where: dict[int, set[int]]) -> None:
    """Subtract a multiple of one row from another, keeping track of where columns stand."""
    for j, a in row.items():
        new = (target.get(j, 0) - factor * a) % PRIME
        if new:
            if j not in target:
                where[j].add(k)
            target[j] = new
        elif j in target:
            del target[j]
            where[j].discard(k)
