"""Controlled tabular adjustment of least discrimination information."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field, field_validator
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.cta import adjusted_claims, safe_values
from tacit.tables.adjust.directions import Movement, TieRule
from tacit.tables.adjust.ipf import Totals
from tacit.tables.adjust.mdi import (
    MOST_EXHAUSTIVE,
    Outcome,
    Search,
    Tick,
    blocking,
    discrimination_information,
    random_pattern,
    within_bounds,
)
from tacit.tables.rounding.model import Basis, basis, first_fit, orient_relations

Margins = Literal["one_way", "all"] | tuple[tuple[str | int, ...], ...]
Share = Annotated[float, Field(gt=0, lt=1)]

#: What stands in for a zero that may change, as a share of the smallest positive cell.
TRACE = 1e-3


@register
class AdjustMdi(Method[Table]):
    """Move unsafe cells to safe values at the least loss of discrimination information.

    Every unsafe ground cell goes to its value minus the lower level or plus the upper level, and all
    other ground cells are fitted by iterative proportional fitting so that the chosen totals stay. Among
    the patterns of directions one with a small

        K(A) = sum A log(A / O)

    is looked for: each slab of the table chooses for its unsafe cells, the majority decides, then single
    directions are reversed while that lowers K, and optionally random patterns are tried. A heuristic
    (``history[-1].details["status"]``), unless ``search="exhaustive"``. By default the one-way totals are
    kept (in linked tables and bare equations all totals); other totals are recomputed. Zeros stay.

    References
    ----------
    Cox, Orelien and Shah (2006), A method for preserving statistical distributions subject to controlled
    tabular adjustment, PSD 2006, LNCS 4302, 1-11. The text and the formula of its rule for ties contradict
    each other (``tie_rule``); in its test of convergence the total must be what the unsafe cells leave.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["adjust_mdi"] = "adjust_mdi"
    margins: Margins = Field(
        default="one_way",
        description="the totals to keep: one_way (of every dimension), all, or a list of sets of "
        "dimensions, by name or number",
    )
    tol: Annotated[float, Field(gt=0)] = Field(
        default=1e-8, description="relative gap of a kept total at which the fitting stops"
    )
    max_iter: Annotated[int, Field(ge=1)] = Field(
        default=1000, description="cycles of fitting at most"
    )
    paper_ipf: bool = Field(
        default=False,
        description="stop fitting at a gap of 0.25, or after 25 cycles, as in the paper",
    )
    max_enum: Annotated[int, Field(ge=1, le=22)] = Field(
        default=16, description="unsafe cells of a slab up to which all its choices are tried"
    )
    tie_rule: TieRule = Field(
        default="smaller_entropy_change",
        description="for ties of the vote: the direction of the smaller entropy change, the one of the "
        "printed formula, of the smaller divergence, or evaluate_both of the first two",
    )
    flip_passes: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="passes of one-cell flips; by default until nothing changes"
    )
    search: Literal["heuristic", "exhaustive"] = Field(
        default="heuristic",
        description=f"exhaustive: prove the best pattern (up to {MOST_EXHAUSTIVE} unsafe cells)",
    )
    random_search: Annotated[int, Field(ge=0)] | tuple[Share, Share] | None = Field(
        default=None,
        description="random patterns without success after which to stop: a number, or (p, alpha) to "
        "find one of the best share p with probability alpha",
    )
    enough: float | None = Field(default=None, description="stop searching once K is at most this")
    objective_cells: Literal["all", "nonsensitive"] = Field(
        default="all", description="the cells that enter K (nonsensitive: sum A log(A/O) - A + O)"
    )
    allow_zero_change: bool = Field(
        default=False,
        description="let zeros change: a thousandth of the smallest cell stands in for them",
    )

    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("controlled tabular adjustment",)

    @field_validator("margins")
    @classmethod
    def _not_empty(cls, value: Margins) -> Margins:
        if not isinstance(value, str) and not all(value):
            raise ValueError("must not hold an empty set of dimensions")
        return value

    def _apply(self, table: Table, ctx: Context) -> Table:
        ground = basis(table)
        movement, cells = movement_of(
            table,
            ground,
            self.margins,
            whole=self.objective_cells == "all",
            zeros=self.allow_zero_change,
        )
        if not movement.n:
            ctx.note(status="nothing to move", information=0.0, unsafe=0)
            return table.with_changed(table.value)
        if self.search == "exhaustive" and len(movement.open) > MOST_EXHAUSTIVE:
            raise InputError(
                f"an exhaustive search goes up to {MOST_EXHAUSTIVE} unsafe cells that may go either "
                f"way; this table has {len(movement.open):,}"
            )
        search = Search(movement, self, lambda share: ctx.tick(self.title(), share))
        outcome = search.run(ctx.rng)
        if outcome is None:
            raise make_infeasible_error(table, ground, movement, cells)
        free = within_bounds(movement, outcome.pattern, max_iter=self.max_iter, tol=self.tol)
        if free is None:
            raise Infeasible(
                "the fitted cells leave the bounds that outsiders know and cannot be brought back: "
                "widen the bounds, or use adjust"
            )
        values = table.value[ground.free].copy()
        values[cells.free] = free
        values[cells.fixed] = movement.safe(outcome.pattern.up)
        ctx.note(**self.summary(movement, outcome, values, table.value[ground.free]))
        return table.with_changed(ground.expand(values))

    def summary(
        self, m: Movement, outcome: Outcome, values: Floats, original: Floats
    ) -> dict[str, Any]:
        """Return what goes into the ledger."""
        proven = self.search == "exhaustive" and not self.paper_ipf
        return {
            "status": "optimal" if proven else "heuristic",
            "information": outcome.pattern.information,
            "information_by_definition": discrimination_information(values, original)
            if not self.allow_zero_change
            else None,
            "trace": outcome.trace,
            "unsafe": m.n,
            "raised": int(outcome.pattern.up.sum()),
            "patterns_fitted": outcome.fitted,
            "patterns_infeasible": outcome.infeasible,
            "flips": outcome.flips,
            "fit_cycles": outcome.pattern.fit.cycles,
            "fit_gap": outcome.pattern.fit.error,
        }

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        return adjusted_claims(result)


def random_information(
    m: Movement, size: int, rng: np.random.Generator, tick: Tick = lambda _: None
) -> Floats:
    """Return K of random patterns (infinite ones left out)."""
    search = Search(m, AdjustMdi(), tick)
    found = [search.fit(random_pattern(m, rng)).information for _ in range(size)]
    return np.array([k for k in found if np.isfinite(k)])


class Split(NamedTuple):
    """Positions among the ground cells of those that are fitted and those that are moved."""

    free: Ints
    fixed: Ints


def movement_of(
    table: Table, ground: Basis, margins: Margins, *, whole: bool = True, zeros: bool = False
) -> tuple[Movement, Split]:
    """State the problem on the ground cells of a table."""
    refuse(table, ground)
    value = table.value[ground.free].copy()
    if zeros and (value == 0).any() and (value > 0).any():
        value[value == 0] = TRACE * value[value > 0].min()
    unsafe = table.primary[ground.free]
    every_low, every_high, falls, rises = safe_values(table)
    low, high = every_low[ground.free], every_high[ground.free]
    can_fall, can_rise = falls[ground.free], rises[ground.free]
    moves = unsafe & (high > low)
    if (moves & (value == 0)).any():
        first = int(ground.free[np.flatnonzero(moves & (value == 0))[0]])
        raise InputError(
            f"the unsafe cell {table.describe_cell(first)} is 0, and no factor moves a zero: set "
            "allow_zero_change=True, or use adjust"
        )
    held = table.fixed[ground.free] & ~table.empty[ground.free]
    free = np.flatnonzero(~moves & ~held & (value > 0) & ~(unsafe & ~moves))
    fixed = np.flatnonzero(moves)
    totals = kept_totals(table, ground, margins)
    # Cells that stay as they are leave the rest of their totals to the others.
    used = np.zeros(len(value), dtype=bool)
    used[free] = used[fixed] = True
    target = totals.sums(value) - totals.sums(np.where(used, 0.0, value))
    slabs = totals_by(table, one_way(table)) if table.is_product else totals
    movement = Movement(
        free=np.ascontiguousarray(value[free]),
        totals=totals.of(free),
        fixed=value[fixed],
        groups=totals.of(fixed),
        low=low[fixed],
        high=high[fixed],
        can_fall=can_fall[fixed],
        can_rise=can_rise[fixed],
        target=target,
        slabs=slabs.of(free),
        fixed_slabs=slabs.of(fixed),
        lower=table.lower[ground.free][free],
        upper=table.upper[ground.free][free],
        whole=whole,
    )
    return movement, Split(free, fixed)


def refuse(table: Table, ground: Basis) -> None:
    """Refuse what discrimination information has no meaning for."""
    if (table.value[ground.free] < 0).any():
        cell = int(ground.free[np.flatnonzero(table.value[ground.free] < 0)[0]])
        raise InputError(
            f"adjust_mdi needs values that are not negative ({table.describe_cell(cell)} is): use adjust"
        )
    inner = np.zeros(len(table), dtype=bool)
    inner[ground.free] = True
    totals = np.flatnonzero(table.primary & ~inner)
    moving = totals[(table.lower_level[totals] > 0) | (table.upper_level[totals] > 0)]
    if len(moving):
        raise InputError(
            f"adjust_mdi moves ground cells only, and the total {table.describe_cell(int(moving[0]))} "
            "is unsafe: use adjust"
        )


# -- totals --------------------------------------------------------------------------------------------


def kept_totals(table: Table, ground: Basis, margins: Margins) -> Totals:
    """Return the totals to keep over the ground cells."""
    if table.is_product:
        return totals_by(table, kept_sets(table, margins))
    if isinstance(margins, str):
        return relation_totals(table, ground)
    raise InputError(
        "sets of dimensions to keep need a table that is a full product; linked tables and "
        "bare equations keep all their totals"
    )


def kept_sets(table: Table, margins: Margins) -> list[tuple[int, ...]]:
    """Return the sets of dimensions by whose ground codes totals are kept."""
    axes = range(len(table.shape))
    if margins == "one_way" or (margins == "all" and len(axes) == 1):
        return one_way(table)
    if margins == "all":
        return [tuple(a for a in axes if a != out) for out in axes]
    return [axis_numbers(table, chosen) for chosen in margins]


def one_way(table: Table) -> list[tuple[int, ...]]:
    """Return each dimension by itself; of a one-way table its grand total."""
    axes = range(len(table.shape))
    return [(a,) for a in axes] if len(axes) > 1 else [()]


def axis_numbers(table: Table, chosen: Sequence[str | int]) -> tuple[int, ...]:
    """Return the numbers of some dimensions."""
    found = []
    for name in chosen:
        if isinstance(name, int):
            if not 0 <= name < len(table.shape):
                raise InputError(f"margins: there is no dimension {name}")
            found.append(name)
        elif name in table.names:
            found.append(table.names.index(name))
        else:
            raise InputError(f"margins: no dimension {name!r}; there are {table.names}")
    if len(set(found)) == len(table.shape):
        raise InputError("margins: a set of all dimensions would keep every cell as it is")
    return tuple(found)


def totals_by(table: Table, sets: Sequence[tuple[int, ...]]) -> Totals:
    """Return the totals by the ground codes of sets of dimensions."""
    shape = [len(d.leaves) for d in table.dimensions]
    n = int(np.prod(shape))
    places = np.unravel_index(np.arange(n), shape)
    passes = []
    for chosen in sets:
        sizes = [shape[a] for a in chosen]
        label = (
            np.ravel_multi_index([places[a] for a in chosen], sizes) if sizes else np.zeros(n, int)
        )
        passes.append((label.astype(np.int32), int(np.prod(sizes))))
    return Totals.stacked(passes, n)


def relation_totals(table: Table, ground: Basis) -> Totals:
    """Return every total of the relations over the ground cells, in passes without shared cells."""
    m = orient_relations(table.equations)
    children = m.copy()
    children.data = np.where(children.data < 0, 0.0, children.data)
    children.eliminate_zeros()
    several = np.asarray((m < 0).sum(axis=1)).ravel() != 1
    assert ground.expansion is not None
    rows = sparse.csr_array(children @ ground.expansion)
    rows.data[np.abs(rows.data) < 1e-9] = 0
    rows.eliminate_zeros()
    if several.any() or (np.abs(rows.data - 1) > 1e-9).any():
        raise InputError(
            "adjust_mdi needs relations in which a total is the sum of its parts, each taken once: "
            "use adjust"
        )
    return Totals.stacked(disjoint_passes(rows), rows.shape[1])


def disjoint_passes(rows: sparse.csr_array) -> list[tuple[npt.NDArray[np.int32], int]]:
    """Put totals into passes in which no two share a cell, first fit; equal ones are taken once."""
    cells = [np.sort(own) for own in np.split(rows.indices, rows.indptr[1:-1])]
    first = {own.tobytes(): i for i, own in reversed(list(enumerate(cells))) if len(own)}
    kept = np.sort(np.array(list(first.values()), dtype=np.int64))
    slot = first_fit(rows[kept], np.arange(len(kept)))
    passes = []
    for s in range(int(slot.max(initial=-1)) + 1):
        label = np.full(rows.shape[1], -1, dtype=np.int32)
        members = kept[slot == s]
        for number, i in enumerate(members):
            label[cells[i]] = number
        passes.append((label, len(members)))
    return passes


def make_infeasible_error(table: Table, ground: Basis, m: Movement, cells: Split) -> Infeasible:
    """Return the error that names the totals in the way."""
    found = blocking(m)
    names = [total_name(table, ground, m, cells, int(g)) for g in found[:8]]
    more = f" and {len(found) - 8} more" if len(found) > 8 else ""
    where = f"; in the way: {', '.join(names)}{more}" if names else ""
    return Infeasible(
        f"no pattern of directions leaves the other cells room to keep the totals{where}. Keep fewer "
        "margins, lower the levels, or use adjust"
    )


def total_name(table: Table, ground: Basis, m: Movement, cells: Split, total: int) -> str:
    """Return a kept total in words: the codes that its cells share."""
    free = cells.free[(m.totals.labels == total).any(axis=0)]
    fixed = cells.fixed[(m.groups.labels == total).any(axis=0)]
    under = ground.free[np.concatenate([free, fixed])]
    if not table.dimensions:
        return f"the total over {', '.join(table.describe_cell(int(c)) for c in under[:4])}"
    shared = [
        f"{d.name} = {d.codes[int(column[0])]}"
        for d, column in zip(table.dimensions, table.places[under].T, strict=True)
        if len(np.unique(column)) == 1 and len(d.leaves) > 1
    ]
    return " x ".join(shared) or "the grand total"
