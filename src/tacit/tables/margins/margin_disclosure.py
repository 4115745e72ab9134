"""What the totals of a table give away about the cells that are not published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field

from tacit.context import Context
from tacit.data.table import Table
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.margins.two_way import (
    Disclosed,
    Margins,
    capped,
    classify_cells_directly,
    narrow,
    raised,
)

Floats = npt.NDArray[np.float64]
Threshold = Annotated[float, Field(gt=0)]

#: Every cell is spelled out in the frame up to this size.
SPELLED = 200_000


@register
class MarginDisclosure(Measure[Table]):
    """Four kinds of disclosure when only the totals of a table are published.

    From the sharp bounds lo, hi of each inner cell: *existence* (lo > 0), *upward* (lo > tau_up),
    *downward* (hi < tau_down) and *approximation* (hi - lo < tau_approx); all comparisons are strict.
    In a flat two-way table lo = max(0, R + C - T) and hi = min(R, C), and the cells at risk are found
    from the totals alone: existence and upward cells lie on one line, downward and approximation cells
    fill whole lines. Other tables are bounded cell by cell with linear programs over their relations;
    for whole numbers these bounds may be wider than the sharp ones (see ``entry_uniqueness``).

    References
    ----------
    Lu, Li and Wu (2006), Disclosure analysis for two-way contingency tables, PSD 2006, LNCS 4302, 57-67.
    The printed justification of its Procedure 1 says upper bound where the lower bound is meant, and the
    last paragraph of its section 4 swaps the two geometries.
    """

    kind: Literal["margin_disclosure"] = "margin_disclosure"
    tau_up: Threshold = Field(default=1.0, description="a lower bound above this discloses")
    tau_down: Threshold = Field(default=1.0, description="an upper bound below this discloses")
    tau_approx: Threshold = Field(default=1.0, description="bounds closer than this disclose")
    method: Literal["auto", "lines", "cells"] = Field(
        default="auto",
        description="find lines from the totals (flat two-way tables), or look at every cell",
    )

    family: ClassVar[str] = "attacks"
    runs_on: ClassVar[Where] = "cells"

    def _measure(self, table: Table, other: Companions[Table], ctx: Context) -> Result:
        del other
        flat = (
            table.is_product
            and len(table.shape) == 2
            and all(d.is_flat and len(d) > 1 for d in table.dimensions)
            and bool((table.lower == 0).all())
            and bool((table.value >= 0).all())
        )
        if flat:
            margins = margins_of(table)
            found = {
                "existence": raised(margins),
                "upward": raised(margins, self.tau_up),
                "downward": capped(margins, self.tau_down),
                "approximation": narrow(margins, self.tau_approx),
            }
            if self.method == "cells":
                low, high = margins.all_bounds()
                sets = self.flags(low, high, margins.tolerance)
                found = {k: from_mask(v) for k, v in sets.items()}
            frame = two_way_frame(table, margins, found)
            geometry = {k: v.words() for k, v in found.items()}
            counts = {k: len(v) for k, v in found.items()}
            cells = len(margins.rows) * len(margins.columns)
        else:
            ground = np.flatnonzero(table.ground & ~table.empty)
            low, high = linear_bounds(table, ground, ctx)
            tolerance = 1e-6 * max(1.0, float(np.abs(table.value).max(initial=0.0)))
            sets = self.flags(low, high, tolerance)
            counts = {k: int(v.sum()) for k, v in sets.items()}
            geometry, cells = {}, len(ground)
            frame = general_frame(table, ground, low, high, sets)
        numbers: dict[str, Any] = {"cells not published": cells}
        for name, n in counts.items():
            numbers[f"{name}: cells"] = n
        return MarginDisclosureResult(
            kind=self.kind,
            title="Disclosure by totals",
            value=max(counts.values()) / cells if cells else 0.0,
            numbers=numbers,
            frame=frame,
            explanation="; ".join(f"{k}: {v}" for k, v in geometry.items())
            or "Bounds by linear programs over all relations of the table.",
            geometry=geometry,
            counts=counts,
            shortfall=self.shortfall(counts),
        )

    def shortfall(self, counts: Mapping[str, int]) -> str:
        """Return which of the thresholds that were given cells do not keep, in a sentence."""
        thresholds = {"upward": "tau_up", "downward": "tau_down", "approximation": "tau_approx"}
        missed = [k for k, name in thresholds.items() if self.asked(name) and counts[k]]
        return f"Disclosure by totals: cells are disclosed ({', '.join(missed)})" if missed else ""

    def flags(self, low: Floats, high: Floats, tolerance: float) -> dict[str, Any]:
        """Return the four sets by looking at every cell."""
        given = {"upward": self.tau_up, "downward": self.tau_down, "approximation": self.tau_approx}
        return classify_cells_directly(low, high, given, tolerance)


@dataclass(frozen=True, repr=False)
class MarginDisclosureResult(Result):
    """The cells at risk of each kind, and where they lie."""

    geometry: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the number of cells of each kind."""
        return bars(
            [(k, float(v)) for k, v in self.counts.items()],
            title="Cells disclosed by the totals",
            y="cells",
        )


def margins_of(table: Table) -> Margins:
    """Return the totals of a flat two-way table."""
    array = table.value.reshape(table.shape)
    rows, columns = table.dimensions
    return Margins.of(array[rows.leaves, columns.total], array[rows.total, columns.leaves])


def from_mask(mask: npt.NDArray[np.bool_]) -> Disclosed:
    """Return a set of cells given by flags."""
    return Disclosed((mask.shape[0], mask.shape[1]), part=np.argwhere(mask))


def two_way_frame(
    table: Table, margins: Margins, found: Mapping[str, Disclosed]
) -> nw.DataFrame[Any] | None:
    """Return every cell with its bounds; None for a table that is too large to spell out."""
    m, n = len(margins.rows), len(margins.columns)
    if m * n > SPELLED:
        return None
    low, high = margins.all_bounds()
    rows, columns = table.dimensions
    i, j = np.divmod(np.arange(m * n), n)
    data: dict[str, Any] = {
        rows.name: np.asarray(rows.codes, dtype=object)[rows.leaves[i]].tolist(),
        columns.name: np.asarray(columns.codes, dtype=object)[columns.leaves[j]].tolist(),
        "low": low.ravel(),
        "high": high.ravel(),
        "width": (high - low).ravel(),
        **{name: lines.mask().ravel() for name, lines in found.items()},
    }
    return nw.from_native(pa.table(data), eager_only=True)


def linear_bounds(
    table: Table, cells: npt.NDArray[np.int64], ctx: Context
) -> tuple[Floats, Floats]:
    """Return the attacker's bounds of ground cells when everything else is published."""
    from tacit.tables.attack.attacker import Attacker
    from tacit.tables.suppress.problem import problem_of

    bare = table.with_(
        status=np.where(table.empty, table.status, 1).astype(np.int8), changed=None, interval=None
    )
    problem = problem_of(bare, singletons=False)
    hidden = np.zeros(len(table), dtype=bool)
    hidden[cells] = True
    attacker = Attacker(problem, hidden)
    low, high = np.empty(len(cells)), np.empty(len(cells))
    for k, cell in enumerate(map(int, cells)):
        if k % 50 == 0:
            ctx.tick("bounding cells", k / len(cells))
        low[k] = table.value[cell] - attacker.reach(cell, up=False)
        high[k] = table.value[cell] + attacker.reach(cell, up=True)
    return low, high


def general_frame(
    table: Table,
    cells: npt.NDArray[np.int64],
    low: Floats,
    high: Floats,
    sets: Mapping[str, npt.NDArray[np.bool_]],
) -> nw.DataFrame[Any]:
    """Return the bounded cells of any table."""
    codes = {
        k: np.asarray(v, dtype=object)[cells].tolist() for k, v in table.columns_of_codes().items()
    }
    data = {**codes, "low": low, "high": high, "width": high - low, **sets}
    return nw.from_native(pa.table(data), eager_only=True)
