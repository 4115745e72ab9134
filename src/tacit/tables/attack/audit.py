"""The audit: what an attacker can conclude from a table as published."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.claims.gate import FREQUENCY, LEAST
from tacit.claims.outsiders import describe_outsiders, has_whole_counts
from tacit.context import Context
from tacit.data.cells.status import Status
from tacit.data.table import Table
from tacit.errors import InputError
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure, Where
from tacit.tables.attack.attacker import find_met_needs, make_informed_attacker, singletons, ticker
from tacit.tables.attack.exactness import deducing_pairs
from tacit.tables.attack.knowledge import (
    Intervals,
    Knowledge,
    by_subtable,
    find_least_movement,
    intervals_of,
    knowledge_of,
)
from tacit.tables.attack.reach import Tick
from tacit.tables.attack.standards import standards
from tacit.tables.attack.whole import find_whole_shortfalls, narrow_to_whole_numbers

if TYPE_CHECKING:
    from tacit.plot.chart import Chart

Codes = tuple[str, ...]

#: Cells named in print.
NAMED = 10


@dataclass(frozen=True, repr=False)
class AuditResult(Result):
    """What an attacker can conclude; ``frame`` has one row per cell that is not known exactly.

    Attributes
    ----------
    exposed
        Codes of the unsafe cells whose levels an outsider's interval does not reach.
    exact
        Codes of the hidden cells that an outsider can work out exactly.
    singletons
        (known, target): the only respondent of one cell can work out the other.
    undecided
        Unsafe cells on which the time limit left no verdict.
    lines
        Each exposed cell by its codes; the intervals, which may show the truth, are in ``frame``.
    """

    exposed: tuple[Codes, ...] = ()
    exact: tuple[Codes, ...] = ()
    singletons: tuple[tuple[Codes, Codes], ...] = ()
    undecided: tuple[Codes, ...] = ()
    lines: tuple[str, ...] = ()
    shape: tuple[tuple[str, Codes], ...] = field(default=())

    def plot(self) -> Chart:
        """Return the relative widths of the intervals: a heat map, or bars by code."""
        from tacit.tables.attack.audit_charts import widths_chart

        return widths_chart(self)

    def __repr__(self) -> str:
        named = "".join(f"\n  {line}" for line in self.lines)
        return super().__repr__() + (f"\n\nExposed:{named}" if named else "")


@register
class Audit(Measure[Table]):
    r"""Find the interval of every hidden cell that an attacker can work out.

    For each hidden cell p two linear programs over all relations of the table,
    :math:`\min y_p` and :math:`\max y_p` subject to :math:`M y = 0`, :math:`y_i = a_i` for published
    cells and :math:`l_i \le y_i \le u_i` for hidden ones. An unsafe cell is exposed when its interval
    does not reach its protection levels. Respondents who know their own cell attack as well.

    References
    ----------
    Fischetti and Salazar-Gonzalez (2001), Solving the cell suppression problem on tabular data with
    linear constraints, Management Science 47(7), 1008-1027, section 2.
    Giessing and Dittrich (2006), Harmonizing table protection: results of a study, in: Privacy in
    Statistical Databases, LNCS 4302, 35-47.
    """

    family: ClassVar[str] = "attacks"
    runs_on: ClassVar[Where] = "cells"

    kind: Literal["audit"] = "audit"
    better: ClassVar[Literal["lower", "higher"] | None] = "lower"

    scope: Literal["full", "subtable"] = Field(
        default="full", description="all relations together, or each subtable on its own"
    )
    cells: Literal["hidden", "unsafe"] = Field(
        default="hidden",
        description="the cells whose intervals are wanted: all hidden ones, or unsafe ones",
    )
    singletons: bool = Field(
        default=True, description="also attack as the only respondent of a hidden cell"
    )
    standards: bool = Field(
        default=False, description="also check the standards PS1, PS1*, PS2 and PS2* (slower)"
    )
    nonnegative: bool = Field(
        default=False,
        description="outsiders know that no value is negative, whatever the table's bounds",
    )
    rounding_base: Annotated[float, Field(gt=0)] | None = Field(
        default=None,
        description="published values that were changed lie less than this from the truth",
    )
    within: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None,
        description="published values that were changed lie within this share of the truth",
    )
    processes: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="processes at most, for large tables; by default one a processor"
    )
    time_limit: Annotated[float, Field(gt=0)] | None = Field(
        default=None, description="seconds; intervals not finished by then are given as limits"
    )

    def _measure(self, table: Table, other: Companions[Table], ctx: Context) -> AuditResult:
        del other
        return self.conclude(self.known(table), ctx)

    def known(self, table: Table) -> Knowledge:
        """Return what the attacker knows of a table."""
        return knowledge_of(
            table,
            nonnegative=self.nonnegative,
            rounding_base=self.rounding_base,
            within=self.within,
            singletons=self.singletons,
        )

    def conclude(self, known: Knowledge, ctx: Context) -> AuditResult:
        """Return what follows from what the attacker knows."""
        until = np.inf if self.time_limit is None else time.monotonic() + self.time_limit
        tick = ticker(ctx, "auditing the table")
        wanted = known.problem.primary if self.cells == "unsafe" else None
        found = self._intervals(known, wanted, tick, until)
        if has_whole_counts(known.problem.table):
            # Each subtable by itself is attacked by linear programs alone.
            attacked = (
                known.problem if self.scope == "full" else replace(known.problem, whole=False)
            )
            found = narrow_to_whole_numbers(attacked, known.hidden, found, tick)
        pairs = np.zeros((0, 2), dtype=np.int64)
        if self.singletons and time.monotonic() < until:
            pairs = respondent_pairs(known, tick, self.processes)
        kept = standards(known, tick) if self.standards and time.monotonic() < until else {}
        return audit_result(self.kind, known, found, pairs, kept)

    def _intervals(
        self, known: Knowledge, wanted: Flags | None, tick: Tick, until: float
    ) -> Intervals:
        source, origin = known, None
        if self.scope == "subtable":
            if not known.problem.table.is_product:
                raise InputError(
                    "scope='subtable' needs a table that is a full product of its dimensions; "
                    "use scope='full'"
                )
            source, origin = by_subtable(known)
            wanted = None if wanted is None else wanted[origin]
        found = intervals_of(
            source.problem, source.hidden, tick, cells=wanted, workers=self.processes, until=until
        )
        return found if origin is None else find_least_movement(found, origin)


def respondent_pairs(known: Knowledge, tick: Tick, workers: int | None = None) -> Ints:
    """Return rows (known, target) where a single respondent can deduce an unsafe cell.

    Pairs that share a relation are tried by linear programs with the bounds; ties of the whole system
    are read off its kernel.
    """
    p = known.problem
    attacker = make_informed_attacker(p, known.hidden, tick, workers=workers)
    short = [*singletons(attacker, tick), *find_whole_shortfalls(p, known.hidden, tick)]
    found = [(s.known, s.cell) for s in short if s.known >= 0]
    near = np.array(found, dtype=np.int64).reshape(-1, 2)
    far = deducing_pairs(p.table, known.hidden)
    return np.asarray(np.unique(np.concatenate([near, far]), axis=0), dtype=np.int64)


def audit_result(
    kind: str, known: Knowledge, found: Intervals, pairs: Ints, kept: dict[str, bool]
) -> AuditResult:
    """Put what was found into a result."""
    p, table, cells = known.problem, known.problem.table, found.cells
    unsafe = p.primary[cells]
    shown = find_met_needs(p, cells, found.down, found.up)
    possible = find_met_needs(p, cells, found.most_down, found.most_up)
    # An unsafe cell that is published as it is has no interval, and is as exposed as can be.
    bare = np.flatnonzero(p.primary & ~known.hidden)
    bad = np.concatenate([cells[unsafe & ~possible], bare])
    unclear = cells[unsafe & possible & ~shown]
    exact = cells[found.exact]
    n_unsafe = int(p.primary.sum())
    low, high = table.value[cells] - found.most_down, table.value[cells] + found.most_up
    numbers: dict[str, Any] = {
        "cells": len(table),
        "not known exactly": len(cells),
        "unsafe": n_unsafe,
        "exposed": len(bad),
        "worked out exactly": len(exact),
        "worked out by a respondent": len(pairs),
        "without limit": int(np.isinf(high - low).sum()),
        "narrowest interval": (
            float((high - low)[unsafe].min(initial=np.inf)) if unsafe.any() else None
        ),
        **count_small_cells(table, cells, high),
        **({"undecided at the time limit": len(unclear)} if len(unclear) else {}),
        **kept,
    }
    if numbers["narrowest interval"] == np.inf:
        numbers["narrowest interval"] = "no limit"
    return AuditResult(
        kind=kind,
        title="What an attacker can conclude",
        value=len(bad) / n_unsafe if n_unsafe else 0.0,
        numbers=numbers,
        frame=audit_frame(known, found, low, high, shown),
        explanation=explain_audit(n_unsafe, len(bad), len(pairs), len(unclear), table),
        exposed=tuple(table.codes(int(c)) for c in bad),
        exact=tuple(table.codes(int(c)) for c in exact),
        singletons=tuple((table.codes(int(a)), table.codes(int(b))) for a, b in pairs),
        undecided=tuple(table.codes(int(c)) for c in unclear),
        lines=tuple(
            f"{table.describe_cell(int(c))}: {explain_exposure(int(c), cells, exact)}"
            for c in bad[:NAMED]
        ),
        shape=tuple((d.name, d.codes) for d in table.dimensions),
        shortfall="What an attacker can conclude: unsafe cells are exposed" if len(bad) else "",
    )


def count_small_cells(table: Table, cells: Ints, high: Floats) -> dict[str, Any]:
    """Return of how many unsafe counts outsiders are sure that they lie below the n of a frequency rule.

    The levels keep a count from being known closely, and not that it is small.
    """
    least = [int(a.parameters.get("n", LEAST)) for a in table.history if a.kind == FREQUENCY]
    if not least or not has_whole_counts(table):
        return {}
    small = table.primary[cells] & (table.value[cells] > 0) & (high < max(least))
    return {"known to be below n": int(small.sum())}


def explain_exposure(cell: int, hidden: Ints, exact: Ints) -> str:
    """Return why a cell is exposed; no number, which might be the truth."""
    if cell not in hidden:
        return "published"
    return "can be worked out exactly" if cell in exact else "its interval is too narrow"


def audit_frame(
    known: Knowledge, found: Intervals, low: Floats, high: Floats, shown: Flags
) -> nw.DataFrame[Any]:
    """Return one row per cell: codes, interval, truth, and what was asked for."""
    import pyarrow as pa

    p, table, cells = known.problem, known.problem.table, found.cells
    unsafe = p.primary[cells]
    columns: dict[str, Any] = {
        k: pa.array(v, pa.string()) for k, v in codes_of_cells(table, cells).items()
    }
    value = table.value[cells]
    columns |= {
        "status": pa.array([Status(int(s)).word for s in table.status[cells]], pa.string()),
        "low": low,
        "high": high,
        "width": high - low,
        "value": value,
        "required_low": pa.array(value - p.need_down[cells], mask=~unsafe),
        "required_high": pa.array(value + p.need_up[cells], mask=~unsafe),
        "required_width": pa.array(p.need_width[cells], mask=~unsafe),
        "protected": pa.array(shown, mask=~unsafe),
        "exact": found.exact,
        "proven": found.proven,
    }
    return nw.from_native(pa.table(columns), eager_only=True)


def codes_of_cells(table: Table, cells: Ints) -> dict[str, list[str]]:
    """Return the codes of some cells by dimension."""
    every = table.columns_of_codes()
    return {name: np.asarray(codes, dtype=object)[cells].tolist() for name, codes in every.items()}


def explain_audit(unsafe: int, bad: int, pairs: int, unclear: int, table: Table) -> str:
    """Return what was found in a sentence or two."""
    if not unsafe:
        text = "No cell is unsafe."
    elif not bad:
        text = f"The interval of each of the {unsafe:,} unsafe cells reaches its protection levels"
        text += ", or could not be judged in time." if unclear else "."
    else:
        text = f"{bad:,} of {unsafe:,} unsafe cells can be estimated too closely."
    if pairs:
        text += f" {pairs:,} times a respondent can work out the cell of somebody else."
    if unsafe and table.changed is None and has_whole_counts(table):
        text += "".join(f" {known[0].upper()}{known[1:]}." for known in describe_outsiders(table))
    if table.changed is not None:
        text += " Published values were changed: intervals are of the true values behind them."
    return text
