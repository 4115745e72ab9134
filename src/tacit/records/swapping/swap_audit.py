"""What a masking within cells did, cell by cell: means, ranges, and values that did not move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import pairs, weights_of
from tacit.data.values import as_frame, classes
from tacit.errors import InputError, require_columns
from tacit.fields import ColumnName, ColumnNames, PositiveInt
from tacit.records.swapping.microaggregated_swap import cell_ranges, name_cells
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure


@register
class SwapAudit(Measure):
    """What swapping within cells did to each cell: weighted means, ranges, and values that stayed.

    For every cell of ``by`` in the original, and every column: records, weighted mean before and after,
    smallest and largest value before and after, and the share of records whose value is the same. The
    value of the result is the largest share of unmoved values in a cell of at least ``min_cell`` records;
    smaller cells are counted. With ``means`` the weighted mean of every cell must have stayed, as
    microaggregated swapping promises.

    References
    ----------
    Trottini, Franconi, Polettini (2006), Italian household expenditure survey: a proposal for data
    dissemination, PSD 2006, LNCS 4302, 318-333, section 6.2.
    """

    kind: Literal["swap_audit"] = "swap_audit"
    columns: ColumnNames = Field(description="the numeric columns that were masked")
    by: tuple[ColumnName, ...] = Field(
        description="the columns whose classes are the cells within which values moved"
    )
    min_cell: PositiveInt = Field(
        default=3, description="cells with fewer records are counted as small"
    )
    means: bool = Field(
        default=False, description="require that the weighted mean of every cell is the same"
    )
    tolerance: Annotated[float, Field(ge=0)] = Field(
        default=1e-9, description="relative difference up to which means count as the same"
    )

    compares: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    on_weight = "used"
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "by": ["sex"]}
    number_fields = ("columns",)
    column_fields = ("columns",)

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> Result:
        original = other.original
        require_columns((*self.columns, *self.by), original.columns, "the original data")
        both = pairs(original, data, self.columns, self.kind)
        if not len(both.old):
            raise InputError(f"{self.kind} needs records that are in original and release")
        w, cells = weights_of(original)[both.old], classes(original, self.by)[0][both.old]
        found, first = np.unique(cells, return_index=True)
        words = name_cells(original, self.by, both.old[first]).tolist()
        names = dict(zip(found.tolist(), words, strict=True))
        rows: list[dict[str, Any]] = []
        for j, column in enumerate(self.columns):
            ctx.tick(f"auditing {column}")
            x, y = both.before[both.old, j], both.after[both.new, j]
            known = ~(np.isnan(x) | np.isnan(y))
            rows += audit_cells(column, x[known], y[known], w[known], cells[known], names)
        return self.result(rows)

    def result(self, rows: list[dict[str, Any]]) -> Result:
        """Put the result together."""
        large = [r for r in rows if r["records"] >= self.min_cell]
        moved = [
            r
            for r in rows
            if abs(r["mean after"] - r["mean before"]) > self.tolerance * r["mean size"]
        ]
        outside = sum(
            r["largest after"] > r["largest before"] or r["smallest after"] < r["smallest before"]
            for r in rows
        )
        frame = pa.Table.from_pylist(
            [{k: v for k, v in r.items() if k != "mean size"} for r in rows]
        )
        worst = max((r["share unchanged"] for r in large), default=0.0)
        return Result(
            kind=self.kind,
            title="Audit of swapping, by cell",
            value=worst,
            numbers={
                "cells": len(rows),
                f"cells of fewer than {self.min_cell} records": len(rows) - len(large),
                "cells of one record": sum(r["records"] == 1 for r in rows),
                "largest share unchanged in a cell": worst,
                "cells whose weighted mean changed": len(moved),
                "cells with values outside their range": outside,
            },
            frame=as_frame(frame),
            explanation=(
                "A value that did not move is disclosed to whoever finds its record; cells of few records "
                "have little to exchange."
            ),
            shortfall=(
                f"the weighted mean of {len(moved):,} cells is not what it was"
                if self.means and moved
                else ""
            ),
        )


def audit_cells(
    column: str, x: Floats, y: Floats, w: Floats, cells: Ints, names: Mapping[int, str]
) -> list[dict[str, Any]]:
    """Return one row for each cell of a column."""
    kinds, at = np.unique(cells, return_inverse=True)
    n = len(kinds)

    def added(values: Floats) -> Floats:
        return np.bincount(at, weights=values, minlength=n).astype(np.float64)

    heavy, count = added(w), np.bincount(at, minlength=n)
    before, after = cell_ranges(at, x, n), cell_ranges(at, y, n)
    told = {
        "records": count,
        "mean before": added(w * x) / heavy,
        "mean after": added(w * y) / heavy,
        "smallest before": before[0],
        "smallest after": after[0],
        "largest before": before[1],
        "largest after": after[1],
        "share unchanged": added((x == y).astype(np.float64)) / count,
        "mean size": added(w * np.abs(x)) / heavy,
    }
    lines = zip(kinds.tolist(), *(values.tolist() for values in told.values()), strict=True)
    return [
        {"column": column, "cell": names[kind], **dict(zip(told, line, strict=True))}
        for kind, *line in lines
    ]
