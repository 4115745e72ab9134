"""What the totals of a table give away about the cells that are not published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.table import Table
from tacit.errors import InputError, SdcError
from tacit.fields import Secret
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.plot.lines import lines as line_chart
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.attack.audit import codes_of_cells
from tacit.tables.margins.two_way import (
    Disclosed,
    Margins,
    capped,
    classify_cells_directly,
    narrow,
    raised,
)

Positive = Annotated[float, Field(gt=0)]
Cell = tuple[str, ...]


def flatten_array(given: Any) -> Any:
    """Return an array or nested list of thresholds as one list, cell by cell."""
    if isinstance(given, np.ndarray | list | tuple):
        return tuple(np.asarray(given, dtype=np.float64).ravel().tolist())
    return given


#: One threshold for all cells, or one for each inner cell in the order of the table.
Threshold = Annotated[Positive | tuple[Positive, ...], BeforeValidator(flatten_array)]

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
    for whole numbers these bounds may be wider than the sharp ones (see ``entry_uniqueness``). Zeros are not
    known, in tables of any form, unless ``known_zeros`` says so; known ones bound the other cells.

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
    protected: Literal["all", "unsafe"] | tuple[Cell, ...] = Secret(
        default="all",
        description="the inner cells that are looked at: all, the unsafe ones, or a list of their codes",
    )
    known_zeros: bool = Field(
        default=False, description="outsiders know which inner cells are empty, in any table"
    )
    method: Literal["auto", "lines", "cells"] = Field(
        default="auto",
        description="find lines from the totals (flat two-way tables), or look at every cell",
    )

    family: ClassVar[str] = "attacks"
    runs_on: ClassVar[Where] = "cells"

    @property
    def by_lines(self) -> bool:
        """Return True when all cells are asked alike, so that lines can answer for them."""
        alike = all(
            isinstance(t, float | int) for t in (self.tau_up, self.tau_down, self.tau_approx)
        )
        return alike and self.protected == "all" and not self.known_zeros

    def _faults(self, data: Table) -> list[SdcError]:
        """Return what is wrong: thresholds must fit the cells, and lines the question."""
        found = super()._faults(data)
        inner = int(data.ground.sum())
        for name in ("tau_up", "tau_down", "tau_approx"):
            given = getattr(self, name)
            if isinstance(given, tuple) and len(given) != inner:
                found.append(
                    InputError(
                        f"{self.kind}: {name} has {len(given):,} thresholds, and the table has {inner:,} inner "
                        "cells; give one for each, in the order of the table, or one for all"
                    )
                )
        if self.method == "lines" and not (self.by_lines and is_flat_two_way(data)):
            found.append(
                InputError(
                    f"{self.kind}: method='lines' takes flat two-way tables with one threshold for all cells, "
                    "no choice of cells and no known zeros; use method='cells'"
                )
            )
        return found

    def _measure(
        self, table: Table, other: Companions[Table], ctx: Context
    ) -> MarginDisclosureResult:
        del other
        geometry: dict[str, str] = {}
        flat = is_flat_two_way(table)
        if flat and self.by_lines and self.method != "cells":
            margins = margins_of(table)
            found = {
                "existence": raised(margins),
                "upward": raised(margins, number(self.tau_up)),
                "downward": capped(margins, number(self.tau_down)),
                "approximation": narrow(margins, number(self.tau_approx)),
            }
            frame = two_way_frame(table, margins, found)
            geometry = {k: v.words() for k, v in found.items()}
            counts = {k: len(v) for k, v in found.items()}
            cells = len(margins.rows) * len(margins.columns)
        else:
            ground = np.flatnonzero(table.ground)
            chosen = self.chosen(table, ground)
            if flat and not self.known_zeros:
                margins = margins_of(table)
                low, high = (a.ravel() for a in margins.all_bounds())
                tolerance = margins.tolerance
            else:
                low, high = linear_bounds(table, ground, ctx, known_zeros=self.known_zeros)
                tolerance = 1e-6 * max(1.0, float(np.abs(table.value).max(initial=0.0)))
            sets = {k: v[chosen] for k, v in self.flags(low, high, tolerance).items()}
            counts = {k: int(v.sum()) for k, v in sets.items()}
            cells = len(chosen)
            frame = general_frame(table, ground[chosen], low[chosen], high[chosen], sets)
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
            or (
                "Bounds in closed form, cell by cell."
                if flat and not self.known_zeros
                else "Bounds by linear programs over all relations of the table."
            ),
            geometry=geometry,
            counts=counts,
            shortfall=self.shortfall(counts),
        )

    def chosen(self, table: Table, ground: Ints) -> Ints:
        """Return the places, among the inner cells, of those that are looked at."""
        if self.protected == "all":
            wanted = np.ones(len(ground), dtype=bool)
        elif self.protected == "unsafe":
            wanted = table.primary[ground]
        else:
            at = table.positions(list(self.protected))
            outer = at[~table.ground[at]]
            if len(outer):
                raise InputError(
                    f"{self.kind}: {table.describe_cell(int(outer[0]))} is a total, which is published; "
                    "name inner cells"
                )
            wanted = np.isin(ground, at)
        if self.known_zeros:
            wanted = wanted & ~table.empty[ground]
        return np.flatnonzero(wanted)

    def shortfall(self, counts: Mapping[str, int]) -> str:
        """Return which of the thresholds that were given cells do not keep, in a sentence."""
        thresholds = {"upward": "tau_up", "downward": "tau_down", "approximation": "tau_approx"}
        missed = [k for k, name in thresholds.items() if self.asked(name) and counts[k]]
        return f"Disclosure by totals: cells are disclosed ({', '.join(missed)})" if missed else ""

    def flags(self, low: Floats, high: Floats, tolerance: float) -> dict[str, Any]:
        """Return the four sets by looking at every cell."""
        given = {"upward": self.tau_up, "downward": self.tau_down, "approximation": self.tau_approx}
        # A tuple has one threshold for each inner cell, in the order of the table.
        return classify_cells_directly(low, high, given, tolerance)


@dataclass(frozen=True, repr=False)
class MarginDisclosureResult(Result):
    """The cells at risk of each kind, and where they lie.

    :meth:`curve` says how their number falls or grows with the threshold.
    """

    geometry: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)

    def plot(self) -> Chart:
        """Return the number of cells of each kind."""
        return bars(
            [(k, float(v)) for k, v in self.counts.items()],
            title="Cells disclosed by the totals",
            y="cells",
        )

    def curve(
        self, kind: str = "approximation", thresholds: Sequence[float] | None = None
    ) -> list[tuple[float, int]]:
        """Return how many cells one threshold for all would disclose, for each of some thresholds.

        Parameters
        ----------
        kind
            ``upward``, ``downward`` or ``approximation``.
        thresholds
            The thresholds; by default those at which the number changes, 50 of them at most.
        """
        columns = {"upward": "low", "downward": "high", "approximation": "width"}
        if kind not in columns:
            raise InputError(f"there is no curve of {kind!r}: {', '.join(columns)}")
        if self.frame is None:
            raise InputError("the table is too large to spell out its cells; there is no curve")
        sizes = np.sort(self.frame[columns[kind]].to_numpy().astype(np.float64))
        if thresholds is None:
            steps = np.unique(sizes[np.isfinite(sizes)])
            kept = (
                steps[np.unique(np.linspace(0, len(steps) - 1, 50).astype(int))]
                if len(steps)
                else steps
            )
            # Comparisons are strict: the number below changes just above a size, that above at it.
            thresholds = kept.tolist()
        if kind == "upward":
            found = len(sizes) - np.searchsorted(sizes, thresholds, side="right")
        else:
            found = np.searchsorted(sizes, thresholds, side="left")
        return list(zip(map(float, thresholds), found.tolist(), strict=True))

    def plot_curve(self) -> Chart:
        """Return the number of cells disclosed as the threshold varies, a line for each kind."""
        kinds = ("upward", "downward", "approximation")
        points = [(kind, x, float(n)) for kind in kinds for x, n in self.curve(kind)]
        return line_chart(
            points,
            title="Cells disclosed by the totals",
            x="threshold",
            y="cells",
            by="kind",
            steps=True,
        )


def number(threshold: float | tuple[float, ...]) -> float:
    """Return a threshold that is one for all cells."""
    assert not isinstance(threshold, tuple)
    return threshold


def is_flat_two_way(table: Table) -> bool:
    """Return True for a two-way table of ground codes and totals, none of it negative."""
    return (
        table.is_product
        and len(table.shape) == 2
        and all(d.is_flat and len(d) > 1 for d in table.dimensions)
        and bool((table.lower == 0).all())
        and bool(np.isinf(table.upper).all())
        and bool((table.value >= 0).all())
    )


def margins_of(table: Table) -> Margins:
    """Return the totals of a flat two-way table."""
    array = table.value.reshape(table.shape)
    rows, columns = table.dimensions
    return Margins.of(array[rows.leaves, columns.total], array[rows.total, columns.leaves])


def two_way_frame(
    table: Table, margins: Margins, found: Mapping[str, Disclosed]
) -> nw.DataFrame[Any] | None:
    """Return every cell with its bounds; None for a table that is too large to spell out."""
    if len(margins.rows) * len(margins.columns) > SPELLED:
        return None
    low, high = (a.ravel() for a in margins.all_bounds())
    sets = {name: lines.mask().ravel() for name, lines in found.items()}
    return general_frame(table, np.flatnonzero(table.ground), low, high, sets)


def linear_bounds(
    table: Table, cells: Ints, ctx: Context, *, known_zeros: bool
) -> tuple[Floats, Floats]:
    """Return the attacker's bounds of ground cells when everything else is published."""
    from tacit.claims.outsiders import WHOLE_TABLE_HIDES_ZEROS
    from tacit.tables.attack.attacker import Attacker
    from tacit.tables.suppress.problem import problem_of

    # Nobody has hidden a cell here: one that is not published may be 0.
    bare = table.with_(
        status=np.ones(len(table), dtype=np.int8),
        changed=None,
        interval=None,
        extra={**table.extra, WHOLE_TABLE_HIDES_ZEROS: True},
    )
    problem = problem_of(bare, singletons=False)
    hidden = np.zeros(len(table), dtype=bool)
    hidden[cells] = True
    if known_zeros:
        hidden &= ~table.empty
    attacker = Attacker(problem, hidden)
    low, high = table.value[cells].copy(), table.value[cells].copy()
    for k, cell in enumerate(map(int, cells)):
        if k % 50 == 0:
            ctx.tick("bounding cells", k / len(cells))
        if hidden[cell]:
            low[k] -= attacker.reach(cell, up=False)
            high[k] += attacker.reach(cell, up=True)
    return low, high


def general_frame(
    table: Table,
    cells: Ints,
    low: Floats,
    high: Floats,
    sets: Mapping[str, Flags],
) -> nw.DataFrame[Any]:
    """Return the bounded cells of any table."""
    codes = codes_of_cells(table, cells)
    data = {**codes, "low": low, "high": high, "width": high - low, **sets}
    return nw.from_native(pa.table(data), eager_only=True)
