"""The suppression problem of a table, in the form that every engine and the attacker work on."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.outsiders import has_whole_counts, outsider_bounds
from tacit.data.cells.dimension import Dimension, Sum
from tacit.data.cells.relations import Subtable, product_equations
from tacit.data.cells.status import is_fixed, is_secondary
from tacit.data.table import Table
from tacit.errors import Infeasible

#: An unsafe cell without levels must still not be deducible: it needs this share of its value.
SMALLEST_SHARE = 1e-3
#: Levels this near to a whole number are meant to be one.
WHOLE = 1e-6
#: No pair of cells.
NO_PAIRS: Ints = np.zeros((0, 2), dtype=np.int64)
#: Bounds farther than this many times the largest value or level are drawn nearer.
FAR = 100.0


@dataclass(frozen=True, eq=False)
class Problem:
    """Arrays over all cells; deviations d = y - value are what an attacker cannot rule out.

    With a set of hidden cells, d is possible when ``equations @ d = 0``, d = 0 on published cells and
    ``-down <= d <= up`` on hidden ones. A pattern protects an unsafe cell p when some possible d has
    d_p >= need_up[p], some has d_p <= -need_down[p], and the two together reach need_width[p].
    """

    table: Table
    equations: sparse.csr_array  # all relations
    #: How far outsiders think a cell could lie below and above its value (may be infinite).
    down: Floats
    up: Floats
    need_down: Floats  # the protection asked for, 0 where a cell is not unsafe
    need_up: Floats
    need_width: Floats
    cost: Floats  # the cost of hiding a cell
    primary: Flags  # cells that are unsafe
    forced: Flags  # cells that are to be hidden in any case
    fixed: Flags  # cells that may not be hidden
    #: Singletons: rows (known, target). The only respondent of ``known``, who can take its own value away, must not be
    #: able to deduce ``target``: with d_known = 0 some possible d has d_target != 0.
    pairs: Ints
    #: Whether unsafe cells are to be kept from single respondents at all.
    guards_singletons: bool = False
    #: Unsafe cells that need not be; None: no such cells.
    spared: Flags | None = None
    #: Whether all values are counts, which attackers know to be whole numbers.
    whole: bool = False

    @property
    def n(self) -> int:
        """Return the number of cells."""
        return len(self.cost)

    @functools.cached_property
    def by_cell(self) -> sparse.csc_array:
        """Return the relations by column."""
        return sparse.csc_array(self.equations)

    @functools.cached_property
    def start(self) -> Flags:
        """Return the cells that are hidden whatever is decided."""
        return self.primary | self.forced

    @functools.cached_property
    def suppressible(self) -> Flags:
        """Return the cells that may be hidden in addition."""
        return ~self.fixed & ~self.start & ((self.down > 0) | (self.up > 0))

    def price(self, hidden: Flags) -> float:
        """Return the cost of a pattern's secondary cells."""
        return float(self.cost[hidden & ~self.start].sum())

    def tiny(self, cells: npt.ArrayLike) -> Floats:
        """Return the smallest movement that counts as not deducible."""
        return tiny_range(self.table, np.asarray(cells))

    def of_cells(self, cells: Ints, equations: sparse.csr_array, **changed: Any) -> Problem:
        """Return the problem of some cells (perhaps several copies of one) with relations of their own."""
        given = {name: getattr(self, name)[cells] for name in BY_CELL if name not in changed}
        return replace(self, equations=equations, **{"pairs": NO_PAIRS, **given, **changed})

    def with_virtual_cells(
        self, relations: sparse.csr_array, value: npt.ArrayLike, **given: npt.ArrayLike
    ) -> Problem:
        """Return the problem with unsafe cells that no table has, bound by further relations.

        ``given`` are their bounds, needs and cost; 0 where nothing is given.
        """
        more = relations.shape[0]
        blank = sparse.csr_array((self.equations.shape[0], more))
        equations = sparse.csr_array(
            sparse.vstack([sparse.hstack([self.equations, blank]), relations], format="csr")
        )
        asked = {"primary": True, **given}

        def longer(array: npt.NDArray[Any], added: npt.ArrayLike) -> npt.NDArray[Any]:
            end = np.broadcast_to(np.asarray(added, dtype=array.dtype), (more,))
            return np.concatenate([array, end])

        table = self.table
        arrays: dict[str, Any] = {
            name: longer(getattr(self, name), asked.get(name, 0)) for name in BY_CELL
        }
        return replace(
            self,
            table=table_of_problem(
                longer(table.value, value), longer(table.count, -1), equations, table.frequency
            ),
            equations=equations,
            **arrays,
        )


#: The arrays of a problem that have one entry a cell.
BY_CELL = (
    "down", "up", "need_down", "need_up", "need_width", "cost", "primary", "forced", "fixed",
)  # fmt: skip


def table_of_problem(
    value: Floats, count: Ints, equations: sparse.csr_array, frequency: bool
) -> Table:
    """Return the little that a problem asks of its table: values, contributors and what sort it is."""
    zero = np.broadcast_to(np.float64(0.0), value.shape)
    return Table(
        dimensions=(),
        value=value,
        count=count,
        status=np.ones(len(value), dtype=np.int8),
        lower=zero,
        upper=zero,
        lower_level=zero,
        upper_level=zero,
        sliding_level=zero,
        given=equations,
        frequency=frequency,
    )


def problem_of(
    table: Table,
    *,
    cost: str = "value",
    power: float = 1.0,
    singletons: bool = True,
    spared: Flags | None = None,
    published: bool = False,
) -> Problem:
    """State the suppression problem of a table; ``spared`` are no targets of single respondents.

    Changed values and intervals are not looked at, since a pattern takes their place; with ``published`` they are.

    Infeasible names the unsafe cells whose levels reach beyond what outsiders know already.
    """
    table = table if published else table.with_(changed=None, interval=None)
    primary = table.primary
    every = np.arange(len(table))
    least = np.where(primary, tiny_range(table, every), 0.0)
    low, high = outsider_bounds(table)
    down, up = np.maximum(table.value - low, 0.0), np.maximum(high - table.value, 0.0)
    whole = table.changed is None and has_whole_counts(table)
    levels = [table.lower_level, table.upper_level, table.sliding_level]
    lower_level, upper_level, sliding_level = map(in_whole_units, levels) if whole else levels
    # Nobody can be made to think that a cell lies below what all know to be its least.
    need_down = np.where(primary, np.minimum(lower_level, down), 0.0)
    need_up = np.where(primary, upper_level, 0.0)
    # A cell whose levels ask for nothing, or for nothing that is possible, must still not be deducible.
    nothing = (need_down == 0) & (need_up == 0) & (sliding_level == 0)
    need_width = np.where(primary, np.maximum(sliding_level, np.where(nothing, least, 0.0)), 0.0)
    short = np.flatnonzero(primary & (need_up > up * (1 + 1e-9)))
    if len(short):
        listed = "; ".join(table.describe_cell(int(c)) for c in short[:10])
        raise Infeasible(
            f"{len(short):,} unsafe cells cannot be protected by any pattern: their upper level "
            f"reaches beyond the bound that outsiders know ({listed})"
        )
    far = FAR * max(float(np.abs(a).max(initial=1.0)) for a in (table.value, need_up, need_width))
    return Problem(
        table=table,
        equations=table.equations,
        down=draw_near(down, far),
        up=draw_near(up, far),
        need_down=need_down,
        need_up=need_up,
        need_width=need_width,
        cost=table.costs(cost, power),
        primary=primary,
        forced=is_secondary(table.status),
        fixed=is_fixed(table.status) & ~primary,
        pairs=leave_out_targets(singleton_pairs(table), spared) if singletons else NO_PAIRS,
        guards_singletons=singletons,
        spared=spared,
        whole=whole,
    )


def in_whole_units(levels: Floats) -> Floats:
    """Return the levels of counts: one of 1.2 asks for a movement of 2."""
    return np.ceil(np.asarray(levels, dtype=np.float64) - WHOLE)


def draw_near(room: Floats, far: float) -> Floats:
    """Return finite bounds no farther than some distance: no movement is as large, and programs lose digits."""
    return np.where(np.isfinite(room), np.minimum(room, far), room)


def tiny_range(table: Table, cells: Ints) -> Floats:
    """Return one unit of a table of counts, else a thousandth of the value (at least of 1)."""
    if table.frequency:
        return np.ones(len(cells))
    return SMALLEST_SHARE * np.maximum(1.0, np.abs(table.value[cells]))


def leave_out_targets(pairs: Ints, spared: Flags | None) -> Ints:
    """Return the pairs (known, target) whose target is not spared."""
    return pairs if spared is None else pairs[~spared[pairs[:, 1]]]


def subtable_equations(dimensions: Sequence[Dimension], sub: Subtable) -> sparse.csr_array:
    """Return the relations of one subtable, whose parents stand first."""
    signs = tuple(
        d.sums[i].signs if i >= 0 else None for d, i in zip(dimensions, sub.sums, strict=True)
    )
    return plain_equations(sub.cells.shape, signs)


@functools.lru_cache(maxsize=4096)
def plain_equations(
    shape: tuple[int, ...], signs: tuple[tuple[int, ...] | None, ...]
) -> sparse.csr_array:
    """Return the relations of a subtable by its shape and signs; None: an axis without a sum."""
    dimensions = []
    for n, sign in zip(shape, signs, strict=True):
        codes = tuple(map(str, range(n)))
        sums = () if sign is None else (Sum(0, tuple(range(1, n)), sign),)
        dimensions.append(Dimension("", codes, sums))
    return product_equations(dimensions)


def find_entries(start: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Return where the entries of some columns of a compressed matrix are, and how many each has."""
    first = start[columns]
    length = start[columns + 1] - first
    ends = np.cumsum(length)
    return np.repeat(first - ends + length, length) + np.arange(length.sum()), length


def incidence(m: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix with 1 in place of every entry."""
    return sparse.csr_array((np.ones(m.nnz), m.indices, m.indptr), shape=m.shape)


def inner_rows(by_cell: sparse.csc_array, lengths: Ints, cells: Ints) -> sparse.csr_array:
    """Return the relations that hold no other cells than these, on these; ``lengths`` of all relations."""
    inside = sparse.csr_array(by_cell[:, cells])
    return inside[np.flatnonzero((np.diff(inside.indptr) == lengths) & (lengths > 0))]


def touched_rows(matrix: sparse.sparray, cells: Ints) -> sparse.csr_array:
    """Return the relations that hold some of these cells, on these."""
    inside = sparse.csr_array(matrix[:, cells])
    return sparse.csr_array(inside[np.diff(inside.indptr) > 0])


def singleton_pairs(table: Table) -> Ints:
    """Return (known, target) for cells that share a relation, where known is a singleton and target is unsafe.

    The respondent of ``known`` must not learn a ``target`` of somebody else. Only cells of one
    respondent can be known exactly by somebody, so only they act as ``known``, unsafe or hidden for others; every
    unsafe cell of one other respondent, or of several, can be a target. A ``known`` that is published rests anyway.
    """
    lone = table.singleton & (table.primary | ~is_fixed(table.status))
    if not lone.any():
        return NO_PAIRS
    rows = incidence(table.equations)
    known = np.flatnonzero(lone)
    targets = np.flatnonzero(table.primary)
    shared = (rows[:, known].T @ rows[:, targets]).tocoo()
    a, b = known[shared.coords[0]], targets[shared.coords[1]]
    owner = table.owner
    keep = (a != b) & (owner[a] != owner[b])
    pairs = np.stack([a[keep], b[keep]], axis=1)
    return np.asarray(np.unique(pairs, axis=0), dtype=np.int64)
