"""Small count rounding: no published count below the base, sums near, and everything still adds up.

With x_i = 1 when count c_i goes up to the base b and 0 when it goes down, the deviation of a published
cell r is d_r = sum over its changed ground cells of (b x_i - c_i). The energy is the sum of d_r^2 (or d_r^4,
which looks at the largest ones). It is a heuristic; d_r is congruent to -sum c_i modulo b, which bounds the
energy from below.

References
----------
Kirkpatrick, Gelatt, Vecchi (1983), Optimization by simulated annealing, Science 220, 671-680.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.cells.cell_names import in_margin
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError
from tacit.fields import ColumnName
from tacit.numerics import elementary
from tacit.numerics.kernels import Kernels
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.claims import claim_on
from tacit.tables.rounding.model import basis
from tacit.tables.rounding.search import LEHMER, PRIME

Tick = Callable[[float], None]

#: Temperatures of the first and last sweep, in squared bases; stages between them.
HOT, COLD, STAGES = 1.0, 0.02, 40
#: Proposals for each changed cell in all, and elementary steps at most.
TRIES, EFFORT = 1000, 6_000_000_000
#: Cells whose sums are looked up at a time.
BLOCK = 100_000


@register
class RoundSmallCounts(Method[Table]):
    """Change ground counts below the base to 0 or the base, with all sums as near as possible.

    Only ground cells that show in a published count of 1..b-1 are changed; larger counts stay. Which of
    them go up is chosen so that

        sum over published cells of (new - old)^2

    is small (``focus="sum"``), or the sum of fourth powers, which keeps the largest deviation down
    (``focus="largest"``). Totals are added up from the changed ground cells, so that the table stays
    additive, and no published count lies in 1..b-1. The choice is a heuristic search with random numbers
    from the seed; the history has the deviations, and a bound that no choice can beat.

    References
    ----------
    Langsrud and Heldal (2018), An algorithm for small count rounding of tabular data, Privacy in
    Statistical Databases, Valencia.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["round_small_counts"] = "round_small_counts"
    base: Annotated[int, Field(ge=2)] = Field(default=3, description="the rounding base b")
    margins: tuple[tuple[ColumnName, ...], ...] = Field(
        default=(),
        description="the crossings of dimensions that are published, each a list of names; by default "
        "all cells",
    )
    focus: Literal["sum", "largest"] = Field(
        default="sum", description="keep squared deviations small in sum, or the largest ones"
    )

    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("rounding",)

    def _apply(self, table: Table, ctx: Context) -> Table:
        require_counts(table)
        shown = find_published_cells(table, self.margins)
        require_changeable(table, shown, self.base)
        sums = Sums(table, shown)
        ground, problem, up = round_small(
            sums,
            self.base,
            int(ctx.rng.integers(1, 2**31 - 2)),
            fourth=self.focus == "largest",
            tick=lambda share: ctx.tick("choosing counts", share),
        )
        values = sums.basis.spread(ground).astype(np.float64)
        ctx.note(**deviations(table, values, shown, problem, up))
        return table.with_changed(np.where(shown, values, np.nan))

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        yield claim_on(result, "no-small-counts", {"base": self.base})
        if not np.isnan(result.published).any():
            yield claim_on(result, "additive", {"base": 1}, "all relations")


def require_counts(table: Table) -> None:
    """Refuse values that are no counts."""
    if (table.value < 0).any() or (table.value != np.rint(table.value)).any():
        raise InputError(
            "small counts can be rounded only in a table of whole numbers that are not negative"
        )


def find_published_cells(table: Table, margins: tuple[tuple[str, ...], ...]) -> Flags:
    """Return which cells are published: all, or those of some crossings of dimensions."""
    if not margins:
        return np.ones(len(table), dtype=bool)
    unknown = sorted({name for margin in margins for name in margin} - set(table.names))
    if unknown:
        raise InputError(f"the table has no dimension {unknown[0]!r}; it has {table.names}")
    return np.any([in_margin(table, margin) for margin in margins], axis=0)


def require_changeable(table: Table, shown: Flags, base: int) -> None:
    """Refuse small counts that must be published as they are."""
    small = shown & (table.value > 0) & (table.value < base)
    held = np.flatnonzero(small & (table.status == Status.PROTECTED))
    if len(held):
        raise Infeasible(
            f"{len(held):,} counts below the base must be published as they are, the first is "
            f"{table.describe_cell(int(held[0]))}: let them change or take a smaller base"
        )


def deviations(
    table: Table, values: Floats, shown: Flags, problem: Problem, up: npt.NDArray[np.int8]
) -> dict[str, Any]:
    """Return how far published cells moved, and what no choice can beat."""
    away = np.abs(values - table.value)
    margin = shown & ~table.ground
    d = problem.deviations(up)
    least = problem.nearest()
    ground = shown & table.ground
    return {
        "changed_ground_cells": len(problem.cells),
        "largest_deviation_of_margins": int(away[margin].max(initial=0)),
        "mean_deviation_of_margins": float(away[margin].mean()) if margin.any() else 0.0,
        "largest_deviation_of_ground_cells": int(away[ground].max(initial=0)),
        "sum_of_squares": int((d**2).sum()),
        "sum_of_squares_bound": int((least**2).sum()),
        "largest_deviation_bound": int(least.max(initial=0)),
        "change_of_total": int(values[np.argmax(table.value)] - table.value.max(initial=0.0))
        if len(table)
        else 0,
    }


# -- the choice -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """The changed ground cells of a table and the published cells that they are part of."""

    #: b.
    base: int
    #: Positions of the changed cells, and their counts.
    cells: Ints
    counts: Ints
    #: The published cells of each changed cell: ``rows[at[i]:at[i + 1]]``.
    at: Ints
    rows: npt.NDArray[np.int32]
    #: The changed cells of each published cell.
    starts: Ints
    members: npt.NDArray[np.int32]
    #: Position in the table of each row.
    published: Ints

    def deviations(self, up: npt.NDArray[np.int8]) -> Ints:
        """Return d of each published cell."""
        return self.sums(self.base * up.astype(np.int64) - self.counts)

    def nearest(self) -> Ints:
        """Return the smallest |d| that a published cell can have whatever the others do."""
        rest = self.sums(self.counts) % self.base
        return np.minimum(rest, self.base - rest)

    def sums(self, changed: Ints) -> Ints:
        """Return the sum over the changed cells of each published cell."""
        total = np.concatenate([[0], np.cumsum(changed[self.members])])
        return np.asarray(np.diff(total[self.starts]))


class Sums:
    """Which published cells every ground cell is part of."""

    def __init__(self, table: Table, published: Flags) -> None:
        self.table, self.shown = table, published
        self.basis = basis(table)
        self.ways: sparse.csr_array | None = None
        if self.basis.expansion is not None:
            require_plain(self.basis.expansion.data, self.basis.extra.shape[0])
            self.ways = sparse.csr_array(self.basis.expansion.T)
        else:
            for d in table.dimensions:
                left = abs(d.equations @ d.closure).sum() if d.sums else 0
                require_plain(d.closure.data, int(left > 0))
            self.above = [pad_ancestors(sparse.csc_array(d.closure)) for d in table.dimensions]

    def of(self, ground: Ints) -> tuple[Ints, Ints]:
        """Return for some ground cells (as positions among them) the published cells they are part of."""
        if self.ways is not None:
            part = sparse.csr_array(self.ways[ground])
            sizes, cells = np.diff(part.indptr), part.indices.astype(np.int64)
            who = np.repeat(np.arange(len(ground)), sizes)
            keep = self.shown[cells]
            return who[keep], cells[keep]
        pieces = [
            self.block(ground[i : i + BLOCK], i) for i in range(0, max(len(ground), 1), BLOCK)
        ]
        return np.concatenate([p[0] for p in pieces]), np.concatenate([p[1] for p in pieces])

    def block(self, ground: Ints, first: int) -> tuple[Ints, Ints]:
        """Return the same for a block of cells of a product table: every combination of codes above."""
        shape = [len(d.leaves) for d in self.table.dimensions]
        place = np.unravel_index(ground, shape)
        cells = np.zeros((len(ground), 1), dtype=np.int64)
        for d, above, own in zip(self.table.dimensions, self.above, place, strict=True):
            codes = above[own]
            wide = cells[:, :, None] * len(d) + codes[:, None, :]
            wide[(cells[:, :, None] < 0) | (codes[:, None, :] < 0)] = -1
            cells = wide.reshape(len(ground), cells.shape[1] * codes.shape[1])
        who = np.repeat(np.arange(first, first + len(ground)), cells.shape[1])
        flat = cells.ravel()
        keep = flat >= 0
        keep[keep] = self.shown[flat[keep]]
        return who[keep], flat[keep]


def require_plain(coefficients: Floats, extra: int) -> None:
    """Refuse tables whose cells are not plain sums of ground cells."""
    if extra or (coefficients != 1).any():
        raise InputError(
            "small counts can be rounded only where every cell is a sum of ground cells, each once; this "
            "table has differences or totals with several unrelated definitions. Make one table of all "
            "dimensions and name the crossings to publish (margins), or use controlled_rounding"
        )


def pad_ancestors(closure: sparse.csc_array) -> Ints:
    """Return the codes above each ground code (itself included), padded with -1."""
    sizes = np.diff(closure.indptr)
    out = np.full((len(sizes), int(sizes.max(initial=1))), -1, dtype=np.int64)
    leaf = np.repeat(np.arange(len(sizes)), sizes)
    slot = np.arange(closure.nnz) - np.repeat(closure.indptr[:-1], sizes)
    out[leaf, slot] = closure.indices
    return out


def problem_of(sums: Sums, base: int, chosen: Ints, counts: Ints) -> Problem:
    """State the problem for the chosen ground cells (positions among the free ones)."""
    who, cells = sums.of(chosen)
    published, row = np.unique(cells, return_inverse=True)
    m = sparse.csr_array(
        (np.ones(len(who), dtype=np.int8), (who, row)), shape=(len(chosen), len(published))
    )
    t = sparse.csr_array(m.T)
    return Problem(
        base,
        chosen,
        counts[chosen],
        m.indptr.astype(np.int64),
        m.indices.astype(np.int32),
        t.indptr.astype(np.int64),
        t.indices.astype(np.int32),
        published,
    )


def round_small(
    sums: Sums, base: int, seed: int, *, fourth: bool = False, tick: Tick | None = None
) -> tuple[Ints, Problem, npt.NDArray[np.int8]]:
    """Return new ground counts, none of which lets a published cell lie in 1..base-1.

    Only ground cells of published cells in that range are changed; where changing them makes another
    published cell small, its ground cells are added and all are chosen again.
    """
    counts = np.rint(sums.table.value[sums.basis.free]).astype(np.int64)
    little = (counts > 0) & (counts < base)
    values = np.rint(sums.table.value).astype(np.int64)
    chosen = np.zeros(len(counts), dtype=bool)
    while True:
        bad = sums.shown & (values > 0) & (values < base)
        others = np.flatnonzero(little & ~chosen)
        who, cells = sums.of(others)
        chosen[others[who[bad[cells]]]] = True
        problem = problem_of(sums, base, np.flatnonzero(chosen), counts)
        up = solve(problem, seed, fourth=fourth, tick=tick)
        new = counts.copy()
        new[problem.cells] = base * up.astype(np.int64)
        values = sums.basis.spread(new)
        if not (sums.shown & (values > 0) & (values < base)).any():
            return new, problem, up


def solve(
    problem: Problem, seed: int, *, fourth: bool = False, tick: Tick | None = None
) -> npt.NDArray[np.int8]:
    """Return which cells go up: a start that carries remainders on, then annealing, best kept."""
    m = len(problem.cells)
    offset = seed % problem.base
    sums = (np.concatenate([[0], np.cumsum(problem.counts)]) + offset) // problem.base
    best = np.diff(sums).astype(np.int8)
    if m == 0:
        return best
    width = 2 * max(1.0, len(problem.rows) / m)
    tries = int(max(1, min(TRIES * m, EFFORT / width) // STAGES))
    kernel = KERNELS.pick(tries * STAGES * width)["anneal"]
    up, d = best.copy(), problem.deviations(best)
    power = 4 if fourth else 2
    least = energy(d, power)
    state = seed % (PRIME - 1) + 1
    unit = float(problem.base**power)
    for stage in range(STAGES + 1):
        share = stage / (STAGES - 1)
        # The last stage only goes down.
        hot = 0.0 if stage == STAGES else HOT * (COLD / HOT) ** share
        if tick is not None:
            tick(stage / (STAGES + 1))
        state = kernel(
            up,
            d,
            problem.base,
            problem.at,
            problem.rows,
            problem.starts,
            problem.members,
            hot * unit,
            tries,
            state,
            fourth,
        )
        now = energy(d, power)
        if now < least:
            least, best = now, up.copy()
    return best


def energy(d: Ints, power: int) -> float:
    """Return the sum of powers of deviations."""
    return float(elementary.power(d, power).sum())


# -- the kernel ----------------------------------------------------------------------------------------


def cost(d: Any, at: Any, rows: Any, i: int, step: int, fourth: bool) -> float:
    """Return what moving one cell by a step adds to the energy."""
    total = 0.0
    for k in range(at[i], at[i + 1]):
        v = d[rows[k]]
        if fourth:
            old, new = float(v) * float(v), float(v + step) * float(v + step)
            total += new * new - old * old
        else:
            total += float(step * (2 * v + step))
    return total


def shift(d: Any, at: Any, rows: Any, i: int, step: int) -> None:
    """Move one cell by a step."""
    for k in range(at[i], at[i + 1]):
        d[rows[k]] += step


def anneal(
    up: Any,
    d: Any,
    base: int,
    at: Any,
    rows: Any,
    starts: Any,
    members: Any,
    hot: float,
    tries: int,
    state: int,
    fourth: bool,
) -> int:
    """Try flips and swaps at one temperature; return the state of the generator."""
    m = len(up)
    for _ in range(tries):
        state = state * LEHMER % PRIME
        i = state % m
        step = -base if up[i] else base
        change = cost(d, at, rows, i, step, fourth)
        j = -1
        state = state * LEHMER % PRIME
        if state % 2 == 0 and at[i + 1] > at[i]:
            # A partner that goes the other way, from one of the sums that the cell is part of.
            state = state * LEHMER % PRIME
            row = rows[at[i] + state % (at[i + 1] - at[i])]
            state = state * LEHMER % PRIME
            j = members[starts[row] + state % (starts[row + 1] - starts[row])]
            if up[j] == up[i]:
                j = -1
        if j >= 0:
            shift(d, at, rows, i, step)
            change += cost(d, at, rows, j, -step, fourth)
            shift(d, at, rows, i, -step)
        state = state * LEHMER % PRIME
        if change <= 0.0 or (hot > 0.0 and state < PRIME * math.exp(-change / hot)):
            shift(d, at, rows, i, step)
            up[i] = 1 - up[i]
            if j >= 0:
                shift(d, at, rows, j, -step)
                up[j] = 1 - up[j]
    return state


KERNELS = Kernels(globals(), cost, shift, anneal)
