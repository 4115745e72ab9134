"""Group disclosure: all units of a margin fall in few categories."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import InputError, SdcError
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.rules.nesting import DisclosingDimensions, dimension_faults


@register
class GroupDisclosure(Measure[Table]):
    r"""Margins whose units (nearly) all fall in few categories.

    When all inhabitants of a region that a table counts are ill, the table reveals it for each of them,
    however many they are: no threshold on counts finds it. For every relation, parent = sum of children,
    with counts :math:`n = \sum_j n_j`, the share of the largest ``categories`` children is compared with
    ``share``. It is a warning: whether the category is sensitive, only the statistician knows.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346, section 2.3.3.
    """

    family: ClassVar[str] = "attacks"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["group_disclosure"] = "group_disclosure"
    share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=1.0, description="share of a margin's units from which it is reported"
    )
    categories: Annotated[int, Field(ge=1)] = Field(
        default=1, description="number of categories in which they may fall together"
    )
    dimensions: DisclosingDimensions = ()
    least: Annotated[int, Field(ge=1)] = Field(
        default=1, description="margins with fewer units than this are left to other rules"
    )

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: units must be counted, and the dimensions exist."""
        found = super()._faults(data)
        if not data.frequency and (data.count < 0).all():
            found.append(InputError(f"{self.kind} needs the number of contributors of each cell"))
        return found + dimension_faults(self.kind, data, self.dimensions)

    def _measure(self, table: Table, other: Companions[Table], ctx: Context) -> Result:
        del other, ctx
        counts = counts_of(table)
        rows, total, share, largest = find_concentrated_relations(
            table.equations, counts, self.categories
        )
        axes = np.array(axes_of(table, rows, largest), dtype=object)
        wanted = (
            np.isin(axes, self.dimensions) if self.dimensions else np.ones(len(rows), dtype=bool)
        )
        examined = int(wanted.sum())
        picked = np.flatnonzero(wanted & (share >= self.share - 1e-12) & (total >= self.least))
        frame = self._frame(
            table, rows[picked], axes[picked].tolist(), share[picked], largest[picked]
        )
        return Result(
            kind=self.kind,
            title="Group disclosure",
            value=float(len(picked)),
            numbers={
                "margins examined": examined,
                "margins that disclose their group": len(picked),
                "share of them": len(picked) / examined if examined else 0.0,
            },
            frame=frame,
            explanation=(
                "In these margins (nearly) everybody falls in the same category: the table reveals it for "
                "each of them, whatever the rules on small counts say."
            ),
        )

    def _frame(
        self, table: Table, rows: Ints, axes: list[str], share: Floats, largest: Ints
    ) -> nw.DataFrame[Any]:
        """Return the margins with their largest category."""
        parents = parents_of(table.equations)[rows]
        category = [
            table.codes(int(c))[table.names.index(a)] if a else table.describe_cell(int(c))
            for c, a in zip(largest, axes, strict=True)
        ]
        columns = {
            "margin": [table.describe_cell(int(p)) for p in parents],
            "dimension": axes,
            "category": pa.array(category, pa.string()),
            "share": share,
            "margin hidden": table.hidden[parents],
            "category hidden": table.hidden[largest],
        }
        return nw.from_native(pa.table(columns), eager_only=True)


def counts_of(table: Table) -> Floats:
    """Return the number of units in each cell."""
    if table.frequency and (table.count < 0).all():
        return table.value
    return np.maximum(table.count, 0).astype(np.float64)


def parents_of(equations: sparse.csr_array) -> Ints:
    """Return the parent of each relation: the first cell with coefficient -1."""
    parents = np.full(equations.shape[0], -1, dtype=np.int64)
    row = np.repeat(np.arange(equations.shape[0]), np.diff(equations.indptr))
    minus = np.flatnonzero(equations.data < 0)[::-1]
    parents[row[minus]] = equations.indices[minus]
    return parents


def find_concentrated_relations(
    equations: sparse.csr_array, counts: Floats, categories: int
) -> tuple[Ints, Floats, Floats, Ints]:
    """Return relations with a positive parent, its count, the share of its largest children, and the largest.

    Relations with no more children than ``categories`` say nothing and are left out.
    """
    row = np.repeat(np.arange(equations.shape[0]), np.diff(equations.indptr))
    child = equations.data > 0
    row, cell = row[child], equations.indices[child].astype(np.int64)
    order = np.lexsort((cell, -counts[cell], row))
    row, cell = row[order], cell[order]
    if not len(row):
        none = np.zeros(0, dtype=np.int64)
        return none, none.astype(float), none.astype(float), none
    starts = np.flatnonzero(np.r_[True, row[1:] != row[:-1]])
    sizes = np.diff(np.r_[starts, len(row)])
    rank = np.arange(len(row)) - np.repeat(starts, sizes)
    inside = np.add.reduceat(np.where(rank < categories, counts[cell], 0.0), starts)
    total = np.add.reduceat(counts[cell], starts)
    keep = (sizes > categories) & (total > 0)
    share = inside[keep] / total[keep]
    return row[starts][keep], total[keep], share, cell[starts][keep]


def axes_of(table: Table, rows: Ints, cells: Ints) -> list[str]:
    """Return the dimension in which each relation's parent differs from one of its children.

    Empty when there is no such dimension, or more than one.
    """
    if not table.dimensions:
        return [""] * len(rows)
    parents = parents_of(table.equations)[rows]
    moved = table.places[parents] != table.places[cells]
    names = np.where(moved.sum(axis=1) == 1, moved.argmax(axis=1), len(table.names))
    return [(*table.names, "")[i] for i in names]
