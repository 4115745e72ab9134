"""Complements: what a relation gives away about its hidden cells taken together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.cells.contributions import merge
from tacit.data.cells.status import is_hidden
from tacit.data.table import Table
from tacit.errors import SdcError
from tacit.registry import lookup, register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.attack.group_disclosure import parents_of
from tacit.tables.rules.concentration import JudgedLevel, Level, judged_at_level, level_faults
from tacit.tables.rules.rule import Rule, cells_to_judge


@register
class Complements(Measure[Table]):
    """Unsafe unions of hidden cells: a published parent minus its published children.

    Where a total is published, the sum of its hidden parts is published as well: anybody can subtract
    the others. That union is judged by the rule as if it were a cell: a contributor who has a share in
    several of its parts is added up first. A union that is unsafe (one dominant firm behind all hidden
    cells of a line) is a disclosure that no interval on the single cells shows.

    References
    ----------
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley.
    """

    family: ClassVar[str] = "attacks"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["complements"] = "complements"
    rule: Literal["p_percent", "pq", "dominance", "minimum_frequency"] = Field(
        default="p_percent", description="the rule by which the unions are judged"
    )
    parameters: Mapping[str, Any] = Field(
        default_factory=dict, description="the parameters of the rule, as far as they differ"
    )
    level: JudgedLevel = "auto"
    least: Annotated[int, Field(ge=1)] = Field(
        default=2,
        description="hidden cells of a union; 1 reports single cells that can be subtracted as well",
    )

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: contributions must be known, and fit the rule."""
        found = super()._faults(data)
        found += level_faults(self.kind, data, self.level)
        if not found:
            found += self._rule().faults(data)
        return found

    def _rule(self) -> Rule:
        made = lookup(self.rule)(**{**self.parameters, "level": "record"})
        assert isinstance(made, Rule)
        return made

    def _measure(self, table: Table, other: Companions[Table], ctx: Context) -> Result:
        del other
        rows, cells, groups = unions(table, self.least)
        judged, exact = union_table(table, rows, cells, groups, self.level)
        unsafe = (
            self._rule()._judge(judged, ctx).unsafe & (judged.value != 0)
            if len(rows)
            else np.zeros(0, dtype=bool)
        )
        at = np.flatnonzero(unsafe)
        parents = parents_of(table.equations)[rows[at]]
        frame = pa.table(
            {
                "relation": pa.array([table.equation_text(int(r)) for r in rows[at]], pa.string()),
                "published total": pa.array(
                    [table.describe_cell(int(p)) for p in parents], pa.string()
                ),
                "hidden cells": np.bincount(groups, minlength=len(rows))[at].astype(np.int64),
                "exact": exact[at],
            }
        )
        return Result(
            kind=self.kind,
            title="Unsafe unions of hidden cells",
            value=float(len(at)),
            numbers={
                "unions of hidden cells": len(rows),
                "unsafe unions": len(at),
                "judged on all contributions": int(exact.sum()),
            },
            frame=nw.from_native(frame, eager_only=True),
            explanation=(
                "A published total minus its published parts is the sum of its hidden parts. An unsafe "
                "union needs one more hidden cell, or a larger protection level, in its line. Where not "
                "exact, holdings may be larger than the kept contributions show."
            ),
        )


def unions(table: Table, least: int) -> tuple[Ints, Ints, Ints]:
    """Return relations with a published parent and hidden children: rows, the hidden cells, their group.

    Equal sets of hidden cells are listed once.
    """
    m = table.equations
    hidden = is_hidden(table.status)
    row = np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))
    lost = hidden[m.indices] & (m.data > 0)
    open_rows = np.ones(m.shape[0], dtype=bool)
    open_rows[row[hidden[m.indices] & (m.data < 0)]] = False
    keep = lost & open_rows[row]
    row, cell = row[keep], m.indices[keep].astype(np.int64)
    n = np.bincount(row, minlength=m.shape[0])
    enough = n[row] >= least
    row, cell = row[enough], cell[enough]
    rows, group = np.unique(row, return_inverse=True)
    seen: dict[bytes, int] = {}
    order = np.lexsort((cell, group))
    group, cell = group[order], cell[order]
    blocks = np.split(cell, np.flatnonzero(np.diff(group)) + 1) if len(cell) else []
    for i, block in enumerate(blocks):
        seen.setdefault(block.tobytes(), i)
    first = np.array(sorted(seen.values()), dtype=np.int64)
    new = np.full(len(rows), -1)
    new[first] = np.arange(len(first))
    kept = new[group] >= 0
    return rows[first], cell[kept], new[group[kept]]


def union_table(
    table: Table, rows: Ints, cells: Ints, groups: Ints, level: Level
) -> tuple[Table, Flags]:
    """Return a bare table whose cells are the unions, and which of them are known exactly."""
    given = judged_at_level(table, level)
    name = "contributors" if given is table.contributors else "holdings"
    disjoint = name in table.extra.get("disjoint", ())
    merged = merge(given, cells, groups, len(rows), disjoint=disjoint)

    def added(values: npt.NDArray[Any]) -> Floats:
        return np.bincount(groups, weights=values[cells], minlength=len(rows)).astype(np.float64)

    extra = {
        name: added(np.asarray(table.extra[name]))
        for name in ("rule_total", "weighted_count")
        if name in table.extra
    }
    behind = merged.contributors
    union = cells_to_judge(
        added(table.value), behind.count, table, contributors=behind, extra=extra
    )
    return union, merged.exact
