"""Controlled tabular adjustment: the nearest additive table in which unsafe cells have moved enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.cells.cell_names import in_margin
from tacit.data.cells.relations import independent_equations
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError, LimitReached
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.adjust.cta import (
    Adjusted,
    adjust_absolute,
    adjust_squares,
    adjusted_claims,
    find_blocking_levels,
    find_decimals,
    needs,
    safe_values,
    scale_steps,
    whole_deviations,
)
from tacit.tables.adjust.programs import Adjustment, Clock
from tacit.tables.rounding.model import basis

Cell = int | tuple[str | int, ...]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]

#: The weight of the slack of a range in a quadratic program, against a typical cell.
SLACK = 1e-6


@register
class Adjust(Method[Table]):
    """Replace unsafe cells by safe values and change the others as little as possible.

    With deviations z of the published from the true values, M the relations and l, u the bounds::

        minimise  sum w_i |z_i|   (l1; relative: w_i / |a_i|; l2: w_i z_i^2)
        M z = 0,   l <= a + z <= u,   z_i >= upper level or z_i <= -lower level for unsafe i

    The direction of each unsafe cell is a yes-or-no decision. It is searched from the signs of a
    relaxation by reversals of single cells, then by branch and bound until the gap or the time limit is
    reached;
    ``history[-1].details`` has the distance, its proven lower bound and the gap. Zeros and cells that must
    be published stay as they are. Quality constraints keep totals, the mean, and the slope and covariance
    with the original, exactly or within a bound.

    References
    ----------
    Dandekar and Cox (2002), Synthetic tabular data: an alternative to complementary cell suppression,
    manuscript, U.S. Energy Information Administration.
    Castro (2006), Minimum-distance controlled perturbation methods for large-scale tabular data
    protection, European Journal of Operational Research 171, 39-52.
    Cox, Kelly and Patil (2004), Balancing quality and confidentiality for multivariate tabular data,
    PSD 2004, LNCS 3050, 87-98.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["adjust"] = "adjust"
    norm: Literal["l1", "l2", "relative"] = Field(
        default="l1",
        description="l1: sum of |z|, relative: sum of |z| / |value|, l2: sum of squares",
    )
    cost: Literal["auto", "unit", "weight"] = Field(
        default="auto",
        description="weights: the table's own where it has some (auto), none, or required",
    )
    keep: Literal["nothing", "grand_total", "totals"] = Field(
        default="nothing", description="totals that may not change: none, the grand total, or all"
    )
    keep_cells: tuple[Cell, ...] = Field(
        default=(), description="further cells that may not change"
    )
    keep_margins: tuple[tuple[str, ...], ...] = Field(
        default=(), description="sets of dimensions; the totals by each of them may not change"
    )
    keep_levels: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        default=(), description="levels (0 is the grand total) whose cells may not change"
    )
    mean_within: NotNegative | None = Field(
        default=None, description="largest |sum of z| over ground cells: 0 keeps their mean"
    )
    slope_within: NotNegative | None = Field(
        default=None,
        description="largest |sum of (value - mean) z| over ground cells: 0 keeps the regression "
        "slope on the original at 1",
    )
    capacity: Positive | None = Field(
        default=None, description="largest |z| of cells that are not unsafe, absolute"
    )
    capacity_percent: Positive | None = Field(
        default=None, description="the same, in per cent of the value"
    )
    capacity_errors: Positive | None = Field(
        default=None,
        description='the same, in standard errors (the table\'s extra["se"]); usually 2',
    )
    beyond: bool = Field(
        default=True,
        description="unsafe cells may move further than their levels, else exactly that far",
    )
    method: Literal["exact", "heuristic"] = Field(
        default="exact", description="end with branch and bound, or with the reversals"
    )
    time_limit: Positive = Field(
        default=20.0, description="seconds; the best safe table so far is kept, with its gap"
    )
    gap: NotNegative = Field(default=1e-6, description="relative gap at which the search may end")
    decimals: Literal["table", "any"] = Field(
        default="table",
        description="table: no more decimals than the table's own values, since others would mark the cells that were "
        "changed; any: the nearest table, whatever its decimals",
    )

    techniques: ClassVar[tuple[str, ...]] = ("controlled tabular adjustment",)

    def _apply(self, table: Table, ctx: Context) -> Table:
        model = self._model(table)
        if not len(model.problem.unsafe):
            ctx.note(status="nothing to move", distance=0.0, bound=0.0, gap=0.0, unsafe=0)
            return table.with_changed(table.value)
        clock = Clock(self.time_limit, lambda: ctx.tick(self.title()), ctx.should_stop)
        search = adjust_squares if self.norm == "l2" else adjust_absolute
        found = search(model.problem, self.method == "exact", clock, self.gap)
        ctx.tick(self.title())
        if found is None:
            raise make_impossible_error(table, model)
        if found.status == "unknown":
            raise LimitReached(
                f"no adjustment was found in {self.time_limit:g} s and none is proven impossible: raise "
                "time_limit, or loosen the quality constraints"
            )
        decimals = find_decimals(table) if self.decimals == "table" else None
        if decimals is None:
            z = found.point.z[: len(model.cells)] * model.scale
        else:
            z = whole_deviations(
                model.problem,
                found.point,
                float(scale_steps(np.array(model.scale), decimals)),
                len(model.cells),
                square=self.norm == "l2",
                clock=clock,
            )
        published = model.published(table, z, decimals)
        ctx.note(**self.summary(table, model, found, published))
        return table.with_changed(published)

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        return adjusted_claims(result)

    def _model(self, table: Table) -> Model:
        """State the problem in units of a typical level."""
        _, _, can_fall, can_rise = safe_values(table)
        down, up = needs(table)
        unsafe = table.primary
        still = self.kept_cells(table)
        clash = np.flatnonzero(still & unsafe)
        if len(clash):
            raise Infeasible(
                f"{table.describe_cell(int(clash[0]))} is unsafe and may not stay as it is, yet it is "
                "among the cells to keep"
            )
        below, above = self._ranges(table, unsafe, down, up)
        moving = ~still & ((below < 0) | (above > 0))
        cells = np.flatnonzero(moving)
        scale = float(np.median(np.maximum(down, up)[unsafe])) if unsafe.any() else 1.0
        place = np.flatnonzero(unsafe[cells])
        matrix, slack = self._rows(table, cells, scale)
        weight = self._weights(table)[cells]
        typical = float(np.median(weight)) if len(weight) else 1.0
        slack_weight = SLACK * typical if self.norm == "l2" else 0.0
        at = cells[place]
        problem = Adjustment(
            matrix=matrix,
            weight=np.append(weight, np.full(len(slack), slack_weight)),
            low=np.append(below[cells] / scale, -slack),
            high=np.append(above[cells] / scale, slack),
            unsafe=place,
            down=down[at] / scale,
            up=up[at] / scale,
            can_fall=can_fall[at],
            can_rise=can_rise[at],
        )
        return Model(problem, cells, scale)

    def _weights(self, table: Table) -> Floats:
        """Return the weight of each cell's deviation."""
        if self.cost == "weight" and table.weight is None:
            raise InputError("cost='weight' needs a table with weights")
        if table.weight is None or self.cost == "unit":
            weight = np.ones(len(table))
        else:
            weight = np.array(table.weight, dtype=np.float64)
        if self.norm == "relative":
            size = np.abs(table.value)
            smallest = size[size > 0].min(initial=1.0)
            weight = weight / np.maximum(size, smallest)
        # A cell that costs nothing could move without end.
        least = 1e-6 * weight[weight > 0].min(initial=1.0)
        return np.maximum(weight, least)

    def kept_cells(self, table: Table) -> Flags:
        """Return the cells that may not change."""
        still = table.fixed | (table.empty & ~table.primary)
        still |= (table.value == 0) & ~table.primary
        if self.keep == "totals":
            still |= ~table.ground
        if self.keep == "grand_total":
            still[grand_total(table)] = True
        if self.keep_cells:
            still[table.positions(list(self.keep_cells))] = True
        if self.keep_margins or self.keep_levels:
            still |= self._by_dimension(table)
        return still

    def _by_dimension(self, table: Table) -> Flags:
        """Return the cells of the margins and levels to keep."""
        if not table.dimensions:
            raise InputError("keep_margins and keep_levels need a table with dimensions")
        found = np.zeros(len(table), dtype=bool)
        for chosen in self.keep_margins:
            unknown = set(chosen) - set(table.names)
            if unknown:
                raise InputError(
                    f"keep_margins: no dimension {min(unknown)!r}; there are {table.names}"
                )
            found |= in_margin(table, chosen)
        level = np.zeros(len(table), dtype=np.int64)
        for d, column in zip(table.dimensions, table.places.T, strict=True):
            level += d.depth[column]
        return found | np.isin(level, self.keep_levels)

    def _ranges(
        self, table: Table, unsafe: Flags, down: Floats, up: Floats
    ) -> tuple[Floats, Floats]:
        """Return how far each cell may move."""
        below, above = table.lower - table.value, table.upper - table.value
        most = np.full(len(table), np.inf)
        if self.capacity is not None:
            most = np.minimum(most, self.capacity)
        if self.capacity_percent is not None:
            most = np.minimum(most, self.capacity_percent / 100 * np.abs(table.value))
        if self.capacity_errors is not None:
            most = np.minimum(most, self.capacity_errors * standard_errors(table))
        below = np.where(unsafe, below, np.maximum(below, -most))
        above = np.where(unsafe, above, np.minimum(above, most))
        if not self.beyond:
            below, above = np.where(unsafe, -down, below), np.where(unsafe, up, above)
        return np.minimum(below, 0.0), np.maximum(above, 0.0)

    def _rows(self, table: Table, cells: Ints, scale: float) -> tuple[sparse.csr_array, Floats]:
        """Return relations and quality constraints on the movable cells, and the slack of ranges."""
        trees = table.is_product and all(d.is_tree for d in table.dimensions)
        every = independent_equations(table.dimensions) if trees else table.equations
        rows = sparse.csr_array(every[:, cells])
        rows = sparse.csr_array(rows[np.diff(rows.indptr) > 0])
        inner = table.ground[cells].astype(np.float64)
        extra, slack = [], []
        if self.mean_within is not None:
            extra.append(inner)
            slack.append(self.mean_within / scale)
        if self.slope_within is not None:
            known = table.ground & ((table.value != 0) | table.primary)
            mean = float(table.value[table.ground].mean()) if known.any() else 0.0
            spread = (table.value[cells] - mean) * inner
            size = max(float(np.abs(spread).max(initial=0.0)), 1e-300)
            extra.append(spread / size)
            slack.append(self.slope_within / scale / size)
        if not extra:
            return rows, np.zeros(0)
        ranged = np.flatnonzero(np.array(slack) > 0)
        ties = -sparse.eye_array(len(extra), format="csr")[:, ranged]
        quality = sparse.csr_array(np.stack(extra))
        none = sparse.csr_array((rows.shape[0], len(ranged)))
        whole = sparse.vstack(
            [sparse.hstack([rows, none]), sparse.hstack([quality, ties])], format="csr"
        )
        return sparse.csr_array(whole), np.array(slack)[ranged]

    def summary(
        self, table: Table, model: Model, found: Adjusted, published: Floats
    ) -> dict[str, Any]:
        """Return what goes into the ledger."""
        unit = model.scale**2 if self.norm == "l2" else model.scale
        z = published - table.value
        bound = max(0.0, found.bound * unit)
        moved = np.append(
            z[model.cells] / model.scale, np.zeros(model.problem.n - len(model.cells))
        )
        decimals = find_decimals(table) if self.decimals == "table" else None
        # Slacks of ranges cost next to nothing and move nothing that is published.
        distance = unit * (
            found.point.value
            if decimals is None
            else model.problem.norm(moved, square=self.norm == "l2")
        )
        gap = (distance - bound) / distance if distance > 0 else 0.0
        on_grid = decimals is not None and found.status == "optimal" and gap > max(self.gap, 1e-6)
        return {
            # The bound is that of any decimals.
            "status": "best found with the decimals of the table" if on_grid else found.status,
            "distance": distance,
            "bound": bound,
            "decimals": "any" if decimals is None else decimals,
            "gap": gap,
            "unsafe": len(model.problem.unsafe),
            "raised": int((z[table.primary] > 0).sum()),
            "changed": int((np.abs(z) > 1e-9 * np.maximum(1.0, np.abs(table.value))).sum()),
            "largest_change": float(np.abs(z).max(initial=0.0)),
            **{k: v * unit if isinstance(v, float) else v for k, v in found.facts.items()},
        }


@dataclass(frozen=True, eq=False)
class Model:
    """The problem, the cells of its columns, and the unit of its deviations."""

    problem: Adjustment
    cells: Ints
    scale: float

    def published(self, table: Table, z: Floats, decimals: int | None) -> Floats:
        """Return the adjusted cells, with sums that hold to the last digit; ``z`` in steps of the decimals."""
        cells = basis(table)
        moved = np.zeros(len(table))
        moved[self.cells] = z
        if decimals is None:
            values = np.clip(table.value + moved, table.lower, table.upper)
            return cells.expand(values[cells.free])
        steps = np.rint(scale_steps(table.value, decimals)) + moved
        return scale_steps(np.rint(cells.expand(steps[cells.free])), -decimals)


def standard_errors(table: Table) -> Floats:
    """Return the standard errors of the cells."""
    if "se" not in table.extra:
        raise InputError('capacity_errors needs standard errors: with_(extra={"se": array})')
    errors = np.asarray(table.extra["se"], dtype=np.float64).ravel()
    if len(errors) != len(table):
        raise InputError(f"{len(errors):,} standard errors were given for {len(table):,} cells")
    if np.isnan(errors).any() or (errors < 0).any():
        raise InputError("standard errors must not be negative or missing")
    return errors


def grand_total(table: Table) -> Ints:
    """Return the grand total, or the cells that are part of no other in bare equations."""
    if table.dimensions:
        return np.flatnonzero(in_margin(table, ()))
    entries = table.equations.tocoo()
    parent, child = np.zeros(len(table), dtype=bool), np.zeros(len(table), dtype=bool)
    parent[entries.coords[1][entries.data < 0]] = True
    child[entries.coords[1][entries.data > 0]] = True
    return np.flatnonzero(parent & ~child)


def make_impossible_error(table: Table, model: Model) -> Infeasible:
    """Return the error that names the unsafe cells in the way."""
    cells = model.cells[model.problem.unsafe[find_blocking_levels(model.problem, 10.0)]]
    names = "; ".join(table.describe_cell(int(c)) for c in cells[:10])
    more = f" and {len(cells) - 10} more" if len(cells) > 10 else ""
    return Infeasible(
        "no adjustment moves every unsafe cell far enough within the bounds and quality constraints"
        f"{f'; in the way: {names}{more}' if names else ''}. Keep fewer totals, or widen bounds and "
        "capacities"
    )
