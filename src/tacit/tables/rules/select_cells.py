"""Publishing some cells of a table only."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator
from scipy import sparse

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.cells.cell_names import Mask, match_masks
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.registry import register
from tacit.spec import Method, Where


@register
class SelectCells(Method[Table]):
    """Publish some cells of a table only; the relations among them still bind.

    A table of every level is often published in part: totals by region, and inner cells of some regions. What
    is left out is no longer published anywhere, but stays in the confidential table as cells that are hidden
    whatever is decided: every relation that follows from the full table by eliminating them holds among the
    published cells, and an attacker knows as well that what is left out is not negative. Rules, suppression, audit and
    gate take all of that into account; the released files hold the published cells only.

    References
    ----------
    Fischetti and Salazar-Gonzalez (2001), Solving the cell suppression problem on tabular data with
    linear constraints, Management Science 47(7), 1008-1027, section 2.
    """

    family: ClassVar[str] = "tables"
    runs_on: ClassVar[Where] = "cells"
    prepares: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("selection of cells",)

    kind: Literal["select_cells"] = "select_cells"
    example: ClassVar[Mapping[str, Any]] = {"totals": True}

    keep: tuple[Mask, ...] = Field(
        default=(),
        description="masks (dimension to codes): only cells that match one of them are published",
    )
    drop: tuple[Mask, ...] = Field(
        default=(),
        description="masks (dimension to codes): cells that match one of them are not published",
    )
    totals: bool = Field(
        default=False, description="publish totals only: no cell that is the sum of no others"
    )

    @model_validator(mode="after")
    def _something(self) -> SelectCells:
        """Refuse a selection that selects nothing."""
        if not (self.keep or self.drop or self.totals):
            raise ValueError("say which cells are published: keep, drop or totals")
        return self

    def _apply(self, table: Table, ctx: Context) -> Table:
        if table.changed is not None or table.interval is not None or table.secondary.any():
            raise InputError(
                "select_cells: the table is protected already; select cells before it is"
            )
        gone = table.unpublished.copy()
        if self.keep:
            gone |= ~match_masks(table, self.keep, "keep")
        if self.drop:
            gone |= match_masks(table, self.drop, "drop")
        if self.totals:
            gone |= table.ground
        frozen = np.flatnonzero(gone & (table.status == Status.PROTECTED))
        if len(frozen):
            raise InputError(
                f"select_cells: {table.describe_cell(int(frozen[0]))} must be published and is left out"
            )
        if gone.all():
            raise InputError("select_cells: no cell would be published")
        status = np.where(gone & ~table.primary, Status.SECONDARY, table.status).astype(np.int8)
        ctx.note(cells=len(table), published=int((~gone).sum()))
        return table.with_(status=status, extra={**table.extra, "unpublished": gone})


def implied_relations(table: Table) -> sparse.csr_array:
    """Return relations over all cells that bind published ones only, and from which all such follow.

    Cells that are not published are eliminated from the relations of the table, in exact arithmetic.
    """
    order = np.argsort(~table.unpublished, kind="stable").tolist()
    place = {cell: i for i, cell in enumerate(order)}
    first = int(table.unpublished.sum())
    m = table.equations
    pivots: dict[int, dict[int, Fraction]] = {}
    for i in range(m.shape[0]):
        at = slice(m.indptr[i], m.indptr[i + 1])
        row = {
            place[c]: Fraction(v).limit_denominator(10**6)
            for c, v in zip(m.indices[at].tolist(), m.data[at].tolist(), strict=True)
        }
        while row:
            lead = min(row)
            known = pivots.get(lead)
            if known is None:
                scale = row[lead]
                pivots[lead] = {c: v / scale for c, v in row.items()}
                break
            factor = row[lead]
            for c, v in known.items():
                left = row.get(c, Fraction(0)) - factor * v
                if left:
                    row[c] = left
                else:
                    row.pop(c, None)
    kept = [row for lead, row in sorted(pivots.items()) if lead >= first]
    rows = np.repeat(np.arange(len(kept)), [len(r) for r in kept])
    columns = np.array([order[c] for r in kept for c in r], dtype=np.int64)
    values: Floats = np.array([float(v) for r in kept for v in r.values()])
    return sparse.csr_array((values, (rows, columns)), shape=(len(kept), len(table)))
