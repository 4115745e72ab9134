"""Small count rounding: no published count below the base, sums near, and everything still adds up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

import tacit.tables.adjust.additive  # noqa: F401 - the check of the claim
from tacit.arrays import Flags, Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import Infeasible, InputError
from tacit.fields import ColumnName
from tacit.registry import register
from tacit.spec import Method, Where
from tacit.tables.rounding.small_counts import Problem, Sums, round_small


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
        values = sums.spread(ground).astype(np.float64)
        ctx.note(**deviations(table, values, shown, problem, up))
        return table.with_changed(np.where(shown, values, np.nan))

    def _claims(self, table: Table, result: Table) -> Iterable[Claim]:
        del table
        about = result.names or ("equations",)
        yield Claim("no-small-counts", {"base": self.base}, "all published cells", about)
        if not np.isnan(result.published).any():
            yield Claim("additive", {"base": 1}, "all relations", about)


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
    at_total = np.stack(
        [table.places[:, i] == d.total for i, d in enumerate(table.dimensions)], axis=1
    )
    shown = np.zeros(len(table), dtype=bool)
    for margin in margins:
        rest = [i for i, name in enumerate(table.names) if name not in margin]
        shown |= at_total[:, rest].all(axis=1)
    return shown


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
