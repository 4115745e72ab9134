"""What the protection of a table costs its users: cells hidden, values changed, by level."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.table import Table
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where

#: Bounds of the classes of relative change, in per cent (Giessing and Dittrich 2006, Table 4).
EDGES = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0)


@register
class CellLoss(Measure[Table]):
    """Cells hidden and values changed by protection, in number, in value and by level.

    For a suppressed table: how many cells are hidden, unsafe and secondary, and the share of their
    value among all ground cells. For a changed table: the distribution of |published - true| / |true|
    over classes, the mean and the largest change. Both by level, the sum of the depths of a cell's codes
    (0 is the grand total). The compared value is the share of information kept: 1 minus the hidden
    share of cells, or 1 minus the mean relative change (at least 0).

    References
    ----------
    Giessing and Dittrich (2006), Harmonizing table protection: results of a study, PSD 2006,
    LNCS 4302, 35-47.
    """

    kind: Literal["cell_loss"] = "cell_loss"
    family: ClassVar[str] = "utility"
    runs_on: ClassVar[Where] = "cells"

    def _measure(self, table: Table, other: Companions[Table], ctx: Context) -> CellLossResult:
        del other, ctx
        published, hidden = table.published, table.hidden
        full = ~table.empty
        change = relative_change(table.value, published)
        ground = table.ground & full
        value = np.abs(table.value)
        n = int(full.sum())
        hidden_share = float(hidden.sum()) / n if n else 0.0
        numbers: dict[str, Any] = {
            "cells": len(table),
            "cells that are not empty": n,
            "unsafe cells": int(table.primary.sum()),
            "hidden cells": int(hidden.sum()),
            "of them secondary": int((hidden & ~table.primary).sum()),
            "share of cells hidden": hidden_share,
            "share of ground value hidden": share(
                value[hidden & ground].sum(), value[ground].sum()
            ),
        }
        seen = full & ~hidden
        kept = 1.0 - hidden_share
        if table.changed is not None:
            moved = change[seen]
            numbers |= {
                "cells changed": int((moved > 0).sum()),
                "mean change (per cent)": float(100 * moved.mean()) if len(moved) else 0.0,
                "largest change (per cent)": float(100 * moved.max()) if len(moved) else 0.0,
                "sum of changes": float(np.abs(published - table.value)[seen].sum()),
            }
            kept *= max(0.0, 1.0 - float(moved.mean()) if len(moved) else 1.0)
        if table.interval is not None:
            width = table.interval[:, 1] - table.interval[:, 0]
            numbers["cells with an interval"] = int(np.isfinite(width).sum())
        by_level = level_rows(table, change)
        return CellLossResult(
            kind=self.kind,
            title="Loss in cells",
            value=kept,
            numbers=numbers,
            frame=nw.from_native(pa.Table.from_pylist(by_level), eager_only=True),
            explanation=(
                "Level 0 is the grand total; each step down a hierarchy adds one. The compared value is "
                "the share of information kept."
            ),
            classes=change_classes(change[seen]) if table.changed is not None else {},
            levels={row["level"]: row["hidden"] for row in by_level},
        )


@dataclass(frozen=True, repr=False)
class CellLossResult(Result):
    """Cells hidden by level, and classes of change."""

    classes: Mapping[str, int] = field(default_factory=dict)
    levels: Mapping[int, int] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the classes of change, or the hidden cells by level."""
        if self.classes:
            return bars(
                list(self.classes.items()),
                title="Published cells by relative change",
                x="change in per cent",
                y="cells",
            )
        return bars(
            [(str(k), float(v)) for k, v in self.levels.items()],
            title="Hidden cells by level",
            x="level (0 is the grand total)",
            y="hidden cells",
        )


def relative_change(value: Floats, published: Floats) -> Floats:
    """Return |published - value| / |value|; a change from 0 counts as 1."""
    gap = np.abs(published - value)
    size = np.abs(value)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(size > 0, gap / size, np.where(gap > 0, 1.0, 0.0))
    # Sums of floats differ in the last digits without having been changed.
    return np.where(ratio < 1e-12, 0.0, ratio)


def change_classes(change: Floats) -> dict[str, int]:
    """Return how many cells fall in each class of change."""
    percent = 100 * change
    counts = {"0": int((percent == 0).sum())}
    for low, high in itertools.pairwise(EDGES):
        counts[f"{low:g}-{high:g}"] = int(((percent > low) & (percent <= high)).sum())
    counts[f">{EDGES[-1]:g}"] = int((percent > EDGES[-1]).sum())
    return counts


def level_rows(table: Table, change: Floats) -> list[dict[str, Any]]:
    """Return one row per level: cells, unsafe, hidden, mean change."""
    level = np.zeros(len(table), dtype=np.int64)
    for i, d in enumerate(table.dimensions):
        level += d.depth[table.places[:, i]]
    rows = []
    hidden, full = table.hidden, ~table.empty
    for depth in np.unique(level).tolist():
        at = level == depth
        seen = at & full & ~hidden
        rows.append(
            {
                "level": int(depth),
                "cells": int((at & full).sum()),
                "unsafe": int((at & table.primary).sum()),
                "hidden": int((at & hidden).sum()),
                "secondary": int((at & hidden & ~table.primary).sum()),
                "share hidden": share(float((at & hidden).sum()), float((at & full).sum())),
                "value hidden": share(
                    np.abs(table.value[at & hidden]).sum(), np.abs(table.value[at]).sum()
                ),
                "mean change": float(change[seen].mean()) if seen.any() else 0.0,
            }
        )
    return rows


def share(part: float, whole: float) -> float:
    """Return a share; 0 of nothing."""
    return float(part) / float(whole) if whole else 0.0
