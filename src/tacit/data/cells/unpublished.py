"""Cells that no table publishes, and that bind those that are published.

Counties and groups of regions overlap: what a county and a group have in common is published nowhere, and still
binds them both. Such cells are added to linked tables as cells that are hidden in any case, so that an attacker who
knows how the classifications are made up is taken into account.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tacit.arrays import Floats, Ints
from tacit.data.cells.dimension import Dimension, Sum
from tacit.errors import InputError


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Cells with those that no table publishes after them."""

    #: The dimensions, with codes for parts of overlapping codes where there were none.
    dimensions: tuple[Dimension, ...]
    #: All cells x dimensions; the cells given come first.
    places: Ints
    #: The relations that the added cells have with the others.
    equations: sparse.csr_array
    #: How many cells were given.
    given: int

    @property
    def added(self) -> int:
        """Return how many cells were added."""
        return len(self.places) - self.given


def add_overlaps(dimensions: Sequence[Dimension], places: Ints, axes: Sequence[int]) -> Overlaps:
    """Return the cells with what overlapping codes of one dimension (of ``axes``) have in common.

    Where the codes of a dimension that stand beside each other in the tables (with all other dimensions at
    the same codes) overlap without being sums of each other, the parts of all of them are added.
    """
    given = len(places)
    dims = list(dimensions)
    rows: list[tuple[Ints, Floats]] = []
    cells = np.asarray(places, dtype=np.int64)
    for axis in axes:
        dims[axis], cells, more = split_overlaps(dims, cells, axis)
        rows += more
    indptr = np.concatenate([[0], np.cumsum([len(c) for c, _ in rows])]).astype(np.int64)
    equations = sparse.csr_array(
        (
            np.concatenate([v for _, v in rows]) if rows else np.zeros(0),
            np.concatenate([c for c, _ in rows]) if rows else np.zeros(0, dtype=np.int64),
            indptr,
        ),
        shape=(len(rows), len(cells)),
    )
    return Overlaps(tuple(dims), cells, equations, given)


def split_overlaps(
    dims: Sequence[Dimension], cells: Ints, axis: int
) -> tuple[Dimension, Ints, list[tuple[Ints, Floats]]]:
    """Return a dimension with codes of parts, the cells with those of parts, and their relations."""
    d = dims[axis]
    others = [i for i in range(cells.shape[1]) if i != axis]
    contexts, member = np.unique(cells[:, others], axis=0, return_inverse=True)
    order = np.argsort(member, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(member, minlength=len(contexts)))[:-1])
    known: dict[bytes, bool] = {}
    tangled = []
    for i, group in enumerate(groups):
        key = np.sort(cells[group, axis]).tobytes()
        if key not in known:
            known[key] = has_overlaps(d, set(cells[group, axis].tolist()))
        if known[key]:
            tangled.append(i)
    if not tangled:
        return d, cells, []
    pieces, inside, d = parts_of(d, np.unique(cells[:, axis]))
    at = {tuple(row): i for i, row in enumerate(cells.tolist())}
    extra: list[list[int]] = []

    def find(code: int, context: Ints) -> int:
        row = [0] * cells.shape[1]
        row[axis] = code
        for i, place in zip(others, context.tolist(), strict=True):
            row[i] = place
        key = tuple(row)
        if key not in at:
            at[key] = len(at)
            extra.append(row)
        return at[key]

    rows: list[tuple[Ints, Floats]] = []
    found: dict[tuple[int, ...], list[int]] = {}
    for i in tangled:
        own = [find(p, contexts[i]) for p in pieces]
        found[tuple(contexts[i].tolist())] = own
        for cell in groups[i].tolist():
            terms = {own[k]: float(s) for k, s in inside[int(cells[cell, axis])].items()}
            if cell not in terms:
                keys = np.array([cell, *terms], dtype=np.int64)
                rows.append((keys, np.array([-1.0, *terms.values()])))
    rows += sums_over_contexts([dims[i] for i in others], found)
    if extra:
        cells = np.concatenate([cells, np.array(extra, dtype=np.int64)])
    return d, cells, rows


def has_overlaps(dimension: Dimension, codes: set[int]) -> bool:
    """Return True when codes overlap that are not sums of others beside them."""
    sums = {s.parent for s in dimension.sums if codes.issuperset(s.children)}
    atoms = sorted(codes - sums)
    cover = abs(dimension.closure[atoms])
    return bool(atoms) and bool((np.asarray(cover.sum(axis=0)) > 1).any())


def parts_of(
    dimension: Dimension, codes: Ints
) -> tuple[list[int], dict[int, dict[int, int]], Dimension]:
    """Return the parts into which codes cut the ground codes, each code as parts, and the dimension.

    Ground codes that lie in the same codes make one part; a part that has no code of its own gets one.
    """
    closure = np.asarray(dimension.closure[codes].toarray())
    signs, member = np.unique(closure, axis=1, return_inverse=True)
    used = np.flatnonzero((signs != 0).any(axis=0))
    whole = dimension.closure.toarray() != 0
    names, sums = list(dimension.codes), list(dimension.sums)
    pieces: list[int] = []
    for k in used.tolist():
        inside = member.ravel() == k
        same = np.flatnonzero((whole == inside).all(axis=1))
        if len(same):
            pieces.append(int(same[0]))
            continue
        leaves = dimension.leaves[inside]
        text = " + ".join(dimension.codes[c] for c in leaves)
        names.append(text if text not in names else f"{text} (part)")
        sums.append(Sum(len(names) - 1, tuple(leaves.tolist())))
        pieces.append(len(names) - 1)
    inside_of = {
        int(code): {i: int(signs[row, k]) for i, k in enumerate(used.tolist()) if signs[row, k]}
        for row, code in enumerate(codes.tolist())
    }
    if len(names) > len(dimension):
        dimension = with_parts(dimension, names, sums)
    return pieces, inside_of, dimension


def with_parts(dimension: Dimension, names: list[str], sums: list[Sum]) -> Dimension:
    """Return a dimension with more codes; a part of the total is one beside what is left of it."""
    parts = set(range(len(dimension), len(names)))
    inside = {c for s in sums if s.parent in parts for c in s.children}
    rest = [int(c) for c in dimension.leaves if int(c) not in inside]
    sums.append(Sum(dimension.total, (*sorted(parts), *rest)))
    return Dimension(dimension.name, tuple(names), tuple(sums), dimension.labels)


def sums_over_contexts(
    dims: Sequence[Dimension], found: dict[tuple[int, ...], list[int]]
) -> list[tuple[Ints, Floats]]:
    """Return the relations of parts along the other dimensions, where all terms are there."""
    rows = []
    for context, own in found.items():
        for axis, d in enumerate(dims):
            for s in d.sums:
                if s.parent != context[axis]:
                    continue
                below = [(*context[:axis], c, *context[axis + 1 :]) for c in s.children]
                if not all(b in found for b in below):
                    continue
                signs = np.array([-1.0, *(s.signs or (1,) * len(s.children))])
                for k, cell in enumerate(own):
                    rows.append((np.array([cell, *(found[b][k] for b in below)]), signs))
    return rows


def fit_overlaps(
    overlaps: Overlaps, equations: sparse.csr_array, value: Floats, lower: Floats
) -> Floats:
    """Return values of the added cells that fit those of the tables: any will do for an attacker.

    What an attacker holds possible does not depend on the point from which movements are counted. Where there are
    none the tables are not of one population, and are refused.
    """
    n = overlaps.given
    touched = np.flatnonzero(np.diff(sparse.csr_array(equations[:, n:]).indptr))
    part = sparse.csr_array(equations[touched])
    free = part[:, n:]
    least = None if (lower < 0).any() else 0.0
    found = linprog(
        np.zeros(overlaps.added),
        A_eq=free,
        b_eq=-(part[:, :n] @ value),
        bounds=(least, None),
        method="highs",
    )
    if found.status != 0:
        raise InputError(
            "the linked tables are not of one population: no figures for what their classifications "
            "have in common fit the values of all tables"
        )
    near = np.rint(found.x)
    return np.asarray(np.where(np.abs(found.x - near) < 1e-6, near, found.x), dtype=np.float64)
