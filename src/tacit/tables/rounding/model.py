"""The rounding problem of a table in whole numbers of bases, whatever its relations are.

Every cell a has a floor and a ceiling, the adjacent multiples of the base. Ground cells are free within
their own range; every other cell is a sum of ground cells. With x the steps above the floors of the
ground cells, a total's steps s = sum x should lie between ``low`` and ``high``, what its own adjacent
multiples leave when the floors of its ground cells are taken away.

References
----------
Salazar-Gonzalez (2006), A new approach to round tabular data, PSD 2006, LNCS 4302, 25-34.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.data.cells.relations import roll_up
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError

Secondary = Literal["nearest", "none", "random", "weights"]

#: A real value is a multiple of the base when it is this close to one, in bases.
CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class Basis:
    """Which cells of a table decide, and how all others follow from them."""

    table: Table
    #: Positions of the cells that are decided on.
    free: Ints
    #: Cells x free cells, for tables that are no product; None for a product.
    expansion: sparse.csr_array | None
    #: Relations between free cells that hold on top of the sums (rows x free cells).
    extra: sparse.csr_array

    def expand(self, values: npt.ArrayLike) -> Floats:
        """Return every cell from values of the free ones."""
        if self.expansion is not None:
            return np.asarray(self.expansion @ np.asarray(values))
        shape = [len(d.leaves) for d in self.table.dimensions]
        ground = np.asarray(values, dtype=np.float64).reshape(shape)
        return roll_up(ground, self.table.dimensions).ravel()

    def spread(self, steps: npt.ArrayLike) -> Ints:
        """Return every cell, in whole numbers, from those of the free ones."""
        return np.rint(self.expand(steps)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Model(Basis):
    """Everything the solvers need; arrays over all cells unless said otherwise."""

    #: To multiples of what the table is rounded.
    base: float
    #: Positions of the cells that follow from the free ones.
    margin: Ints
    #: The value in bases that every cell has when every free cell stands at its floor.
    start: Ints
    #: The range of the steps above ``start``: hard for free cells, for the others up to y bases more.
    low: Ints
    high: Ints
    #: Value less floor, in original units.
    residual: Floats
    #: The steps at which a cell stands at its own floor (0 for free cells).
    floor: Ints
    #: What the step from floor to ceiling costs in the secondary objective, and every step further away (0 for totals
    #: unless they count as well).
    cost: Floats
    unit: Floats
    #: Whether all values are whole numbers, and the base too.
    exact: bool

    @functools.cached_property
    def sums(self) -> sparse.csr_array:
        """Return the totals as sums of free cells: a row per total, a column per free cell."""
        if self.expansion is not None:
            return sparse.csr_array(self.expansion[self.margin])
        whole: Any = None
        for d in self.table.dimensions:
            whole = d.closure if whole is None else sparse.kron(whole, d.closure, format="csr")
        return sparse.csr_array(sparse.csr_array(whole)[self.margin])

    @functools.cached_property
    def right(self) -> Ints:
        """Return what the extra relations ask of the steps."""
        return -np.rint(self.extra @ self.start[self.free]).astype(np.int64)

    def values(self, steps: npt.ArrayLike) -> Floats:
        """Return the rounded table for steps of the free cells."""
        return self.base * (self.start + self.spread(steps)).astype(np.float64)

    def furthest(self, spread: Ints) -> int:
        """Return the most bases by which a total leaves its range, given the steps of every cell."""
        out = np.maximum(self.low - spread, spread - self.high)
        return int(out[self.margin].max(initial=0))

    def secondary(self, spread: Ints) -> float:
        """Return the cost of steps: w from floor to ceiling, a whole unit for each step beyond."""
        return float(price(self.cost, self.unit, spread - self.floor).sum())

    def shifted(self, more: int) -> Model:
        """Return the model in which free cells may move ``more`` bases further on either side."""
        low, high = self.low.copy(), self.high.copy()
        low[self.free] -= more
        high[self.free] += more
        if (self.start[self.free] >= 0).all():
            low[self.free] = np.maximum(low[self.free], -self.start[self.free])
        return replace(self, low=low, high=high)


def model_of(
    table: Table,
    base: float,
    *,
    secondary: Secondary = "nearest",
    count_totals: bool = False,
    free_zeros: bool = False,
    max_shift: int = 1,
    protection: bool = False,
    rng: np.random.Generator | None = None,
) -> Model:
    """State the rounding problem of a table; Infeasible names cells whose levels cannot be met with this base."""
    floors, ceilings, residual, exact = multiples(table.value, base)
    cells = basis(table)
    margin = np.setdiff1d(np.arange(len(table)), cells.free, assume_unique=True)
    start = cells.spread(floors[cells.free])
    low, high = floors - start, ceilings - start
    # Free cells stay at their adjacent multiples, or within ``max_shift`` bases, and are not made negative.
    free, multiple = cells.free, residual[cells.free] == 0
    least = np.where(floors[free] >= 0, -floors[free], 1 - max_shift)
    low[free] = np.maximum(1 - max_shift, least)
    high[free] = max_shift - multiple + (multiple if free_zeros else 0)
    if protection:
        protect(table, base, low, high, start, max_shift, exact=exact)
    cost, unit = costs(table, base, residual, secondary, rng)
    if not count_totals:
        cost[margin] = unit[margin] = 0.0
    return Model(
        **vars(cells),
        base=base,
        margin=margin,
        start=start,
        low=low,
        high=high,
        residual=residual,
        floor=floors - start,
        cost=cost,
        unit=unit,
        exact=exact,
    )


def price(cost: Floats, unit: Floats, steps: npt.NDArray[Any]) -> Floats:
    """Return what steps above the floor cost, convex when |cost| <= unit."""
    beyond = np.maximum(steps - 1, 0) + np.maximum(-steps, 0)
    return np.asarray(cost * np.clip(steps, 0, 1) + unit * beyond, dtype=np.float64)


def multiples(value: Floats, base: float) -> tuple[Ints, Ints, Floats, bool]:
    """Return floor and ceiling in bases, the residual, and whether all are whole numbers."""
    if np.isnan(value).any():
        raise InputError("a table with missing values cannot be rounded")
    whole = float(base).is_integer() and bool((value == np.rint(value)).all())
    if whole:
        units, b = value.astype(np.int64), int(base)
        floors = units // b
        left = (units - floors * b).astype(np.float64)
        return floors, floors + (left > 0), left, True
    share = value / base
    near = np.rint(share)
    even = np.abs(share - near) < CLOSE
    floors = np.where(even, near, np.floor(share)).astype(np.int64)
    left = np.where(even, 0.0, value - floors * base)
    return floors, floors + ~even, left, False


def protect(
    table: Table,
    base: float,
    low: Ints,
    high: Ints,
    start: Ints,
    max_shift: int,
    *,
    exact: bool,
) -> None:
    """Tighten the ranges so that the existence interval of each unsafe cell reaches its levels.

    A reader of a published z knows that the value lies less than (K + 1) bases from it, K + 1 being
    ``max_shift`` for ground cells; so z must not lie so far up that value - lower level is ruled out.
    """
    at = np.flatnonzero(table.primary)
    value = table.value[at]
    reach = base * np.where(table.ground[at], max_shift, 1) - (1.0 if exact else 0.0)
    down, up = levels_within_bounds(table, at)
    least = np.ceil((value + up - reach) / base - CLOSE).astype(np.int64) - start[at]
    most = np.floor((value - down + reach) / base + CLOSE).astype(np.int64) - start[at]
    low[at], high[at] = np.maximum(low[at], least), np.minimum(high[at], most)
    short = at[low[at] > high[at]]
    if len(short):
        listed = "; ".join(table.describe_cell(int(c)) for c in short[:10])
        raise Infeasible(
            f"{len(short):,} unsafe cells cannot reach their protection levels when rounded to base "
            f"{base:g} ({listed}): take a larger base or max_shift"
        )


def levels_within_bounds(table: Table, at: Ints) -> tuple[Floats, Floats]:
    """Return the levels of some cells below and above, as far as their bounds leave room."""
    value = table.value[at]
    down = np.minimum(table.lower_level[at], np.maximum(value - table.lower[at], 0.0))
    return down, np.minimum(table.upper_level[at], np.maximum(table.upper[at] - value, 0.0))


def costs(
    table: Table,
    base: float,
    residual: Floats,
    secondary: Secondary,
    rng: np.random.Generator | None,
) -> tuple[Floats, Floats]:
    """Return w = ceiling + floor - 2 value (or 2 times a random rounding of it), and the unit."""
    if secondary == "none":
        return np.zeros(len(table)), np.zeros(len(table))
    target = residual
    if secondary == "random":
        draws = (rng or np.random.default_rng()).random(len(table))
        target = np.where(draws * base < residual, base, 0.0)
    weight = np.ones(len(table))
    if secondary == "weights":
        if table.weight is None:
            raise InputError(
                "secondary='weights' needs a table with weights: table.with_weight(...)"
            )
        weight = table.weight
    return (base - 2 * target) * weight, base * weight


# -- which cells decide -----------------------------------------------------------------------------


def basis(table: Table) -> Basis:
    """Return the free cells, every cell as a sum of them, and the relations that are left over.

    In a product table the ground cells determine all others. Elsewhere cells are taken one relation
    after the other: a relation with a single unknown cell defines it; the rest are extra equations.
    """
    if table.is_product:
        free = np.flatnonzero(table.ground)
        return Basis(table, free, None, sparse.csr_array((0, len(free))))
    m = orient_relations(table.equations)
    known = np.ones(len(table), dtype=bool)
    entries = m.tocoo()
    known[entries.coords[1][entries.data < 0]] = False
    return Basis(table, *expand_free_cells(m, known))


def orient_relations(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return the relations with the sign at which a single cell stands against the others negative."""
    m = sparse.csr_array(matrix)
    m.eliminate_zeros()
    minus = np.asarray((m < 0).sum(axis=1)).ravel()
    plus = np.asarray((m > 0).sum(axis=1)).ravel()
    flip = np.where((plus == 1) & (minus > 1), -1.0, 1.0)
    return sparse.csr_array(sparse.diags_array(flip) @ m)


def expand_free_cells(
    m: sparse.csr_array, known: Flags
) -> tuple[Ints, sparse.csr_array, sparse.csr_array]:
    """Define the cells that are not known from those that are; a cell in no such chain is free."""
    n = m.shape[1]
    pattern = sparse.csr_array((np.ones(m.nnz), m.indices, m.indptr), shape=m.shape)
    known, rounds = known.copy(), []
    while True:
        unknown = pattern @ (~known).astype(np.float64)
        rows = np.flatnonzero(unknown == 1)
        if not len(rows):
            if known.all():
                break
            use = np.asarray(pattern.T @ (unknown > 0)).ravel()
            known[np.flatnonzero(~known)[np.argmax(use[~known])]] = True
            continue
        found = m[rows].tocoo()
        keep = ~known[found.coords[1]]
        cells, at = np.unique(found.coords[1][keep], return_index=True)
        picked, signs = found.coords[0][keep][at], found.data[keep][at]
        unit = np.abs(signs) == 1
        if not unit.all():
            # A multiple of a cell does not define it in whole numbers: it is free, and tied by a relation.
            known[cells[~unit]] = True
            cells, picked, signs = cells[unit], picked[unit], signs[unit]
        if len(cells):
            rounds.append((cells, rows[picked], signs))
            known[cells] = True
    defined = np.zeros(n, dtype=bool)
    for cells, _, _ in rounds:
        defined[cells] = True
    free = np.flatnonzero(~defined)
    eye = sparse.eye_array(n, format="csr")
    expansion = sparse.csr_array(eye[:, free])
    for cells, rows, signs in rounds:
        part = sparse.diags_array(-1.0 / signs) @ (m[rows] @ expansion)
        expansion = sparse.csr_array(expansion + eye[:, cells] @ part)
    left = sparse.csr_array(m @ expansion)
    left.data[np.abs(left.data) < 1e-9] = 0
    left.eliminate_zeros()
    return free, expansion, sparse.csr_array(left[np.diff(left.indptr) > 0])


# -- networks -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Network:
    """Every cell as an arc; the relations are the balance of the nodes."""

    nodes: int
    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]


def network_of(table: Table) -> Network | None:
    """Return the network of a table of one or two dimensions, at most one with subtotals; else None."""
    if not table.is_product or len(table.dimensions) > 2:
        return None
    simple = all(
        d.is_tree and len(d.roots) == 1 and d.sums and not any(s.signs for s in d.sums)
        for d in table.dimensions
    )
    if not simple or (not any(d.is_flat for d in table.dimensions[-2:]) and len(table.shape) == 2):
        return None
    if len(table.dimensions) == 1:
        # Ground cells leave node 0 and gather up the tree.
        parent, number = find_parents(table, 0)
        tail = np.where(number >= 0, number + 1, 0)
        head = np.where(parent >= 0, number[parent] + 1, 0)
        return Network(int(number.max()) + 2, tail.astype(np.int32), head.astype(np.int32))
    tree = 1 if table.dimensions[0].is_flat else 0
    return cross_network(table, tree)


def find_parents(table: Table, axis: int) -> tuple[Ints, Ints]:
    """Return the parent of each code of a tree (-1 for the root), and a number for each parent."""
    d = table.dimensions[axis]
    parent = np.full(len(d), -1, dtype=np.int64)
    for s in d.sums:
        parent[list(s.children)] = s.parent
    number = np.full(len(d), -1, dtype=np.int64)
    number[sorted(d.parents)] = np.arange(len(d.parents))
    return parent, number


def cross_network(table: Table, axis: int) -> Network:
    """Return the network of a tree by a flat dimension.

    Flow runs from node 0 down the tree of row totals, through the ground cells, and for every column up
    the tree again to node 0.
    """
    flat = table.dimensions[1 - axis]
    parent, number = find_parents(table, axis)
    codes, columns, total = len(parent), len(flat), flat.total
    t, c = np.meshgrid(np.arange(codes), np.arange(columns), indexing="ij")
    up = 1 + codes
    inner_tail = np.where(number[t] >= 0, up + number[t] * columns + c, 1 + t)
    inner_head = np.where(parent[t] >= 0, up + number[parent[t]] * columns + c, 0)
    is_total = c == total
    tail = np.where(is_total, np.where(parent[t] >= 0, 1 + parent[t], 0), inner_tail)
    head = np.where(is_total, 1 + t, inner_head)
    if axis == 1:
        tail, head = tail.T, head.T
    nodes = up + int(number.max() + 1) * columns
    return Network(
        nodes,
        np.ascontiguousarray(tail, dtype=np.int32).ravel(),
        np.ascontiguousarray(head, dtype=np.int32).ravel(),
    )


# -- the layout of the search -------------------------------------------------------------------------


class Layout(NamedTuple):
    """Totals by movable cell in slots: two totals of one slot share no cell."""

    #: The movable cells, as positions among the free cells.
    cells: Ints
    #: Movable cells x slots: the total (the last row number means none) and its sign.
    rows: npt.NDArray[np.int32]
    signs: npt.NDArray[np.int8]
    #: The movable cells of each total.
    members: npt.NDArray[np.int32]
    starts: Ints
    #: Movable cells x a few: their smallest totals, in which partners for swaps are found.
    near: npt.NDArray[np.int32]


def layout_of(model: Model) -> Layout:
    """Return the totals and extra relations by movable cell."""
    cells = np.flatnonzero(model.high[model.free] > model.low[model.free])
    m = sparse.csr_array(sparse.vstack([model.sums, model.extra], format="csr")[:, cells])
    m.sort_indices()
    slot = slots_of(model, m)
    entries = m.tocoo()
    count = int(slot.max(initial=-1)) + 1
    rows = np.full((len(cells), max(count, 1)), m.shape[0], dtype=np.int32)
    signs = np.zeros(rows.shape, dtype=np.int8)
    at = slot[entries.coords[0]]
    rows[entries.coords[1], at] = entries.coords[0]
    signs[entries.coords[1], at] = entries.data
    sizes = np.r_[np.diff(m.indptr), 2**31 - 1]
    q = min(rows.shape[1], max(1, len(model.table.dimensions)))
    size = np.where(sizes[rows] > 1, sizes[rows], 2**31 - 1)
    order = np.argsort(size, axis=1, kind="stable")[:, :q] if rows.shape[1] > q else None
    near = rows if order is None else np.take_along_axis(rows, order, axis=1)
    members = m.indices.astype(np.int32)
    return Layout(
        cells, rows, signs, members, m.indptr.astype(np.int64), np.ascontiguousarray(near)
    )


def slots_of(model: Model, m: sparse.csr_array) -> Ints:
    """Return a slot for every total, such that those of one slot have no cell in common."""
    table = model.table
    if table.is_product and all(d.is_tree for d in table.dimensions):
        depth = [d.depth for d in table.dimensions]
        # Ground codes of every depth share one slot, so that no slot stays almost empty.
        leaf = [
            np.where(np.isin(np.arange(len(d)), d.leaves), 0, depth[i] + 1)
            for i, d in enumerate(table.dimensions)
        ]
        place = np.unravel_index(model.margin, table.shape)
        key = np.zeros(len(model.margin), dtype=np.int64)
        for axis, p in enumerate(place):
            key = key * (int(leaf[axis].max()) + 1) + leaf[axis][p]
        return np.asarray(np.unique(key, return_inverse=True)[1], dtype=np.int64)
    return first_fit(m, np.argsort(-np.diff(m.indptr), kind="stable"))


def first_fit(m: sparse.csr_array, order: Ints) -> Ints:
    """Colour the rows of a matrix greedily in an order, so that those of one colour share no column."""
    slot = np.zeros(m.shape[0], dtype=np.int64)
    used = np.zeros((m.shape[1], 8), dtype=bool)
    for row in order:
        own = m.indices[m.indptr[row] : m.indptr[row + 1]]
        taken = used[own].any(axis=0)
        free = np.flatnonzero(~taken)
        if not len(free):
            used = np.concatenate([used, np.zeros_like(used)], axis=1)
            free = np.array([len(taken)])
        slot[row] = free[0]
        used[own, free[0]] = True
    return np.asarray(np.unique(slot, return_inverse=True)[1], dtype=np.int64)
