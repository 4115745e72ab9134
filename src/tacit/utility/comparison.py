"""Comparison: several ways of protecting the same data, side by side."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.data.microdata import Microdata
from tacit.engine.relational import N, counts
from tacit.errors import Infeasible, InputError, RoleMissing
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.result import Result, format_number
from tacit.spec import Measure, Method
from tacit.utility.levels.precision import ACCOUNTINGS, ColumnLoss, Precision, PrecisionResult


@runtime_checkable
class PlanLike(Protocol):
    """Anything that runs on data and returns the protected data, or a release that holds them."""

    def run(self, data: Microdata, *, seed: int | None = None) -> Any:
        """Run on data."""
        ...


System = Method | PlanLike | Callable[[Microdata], Microdata]


def compare(
    data: Microdata,
    systems: Mapping[str, System],
    measures: Sequence[Measure] = (),
    *,
    k: int | None = None,
    seed: int | None = None,
) -> ComparisonResult:
    """Protect the same data in several ways and lay the results side by side.

    This is the table of Sweeney's Figure 34 (precision, and whether k-anonymity holds), extended by what
    explains the two: records dropped, cells suppressed, levels, unique records left, seconds.

    Parameters
    ----------
    data
        The data to protect; they need keys.
    systems
        What to compare, by name: methods, plans, or functions from data to data.
    measures
        Further measures; each adds its value as a column.
    k
        The class size to judge by; adds a column that says whether it is met.
    seed
        Seed given to every system, so that a comparison can be repeated.

    Returns
    -------
    ComparisonResult
        One row a system. A system that cannot meet its own requirement keeps its row, with the reason.

    References
    ----------
    Sweeney (2000), Foundations of privacy protection from a computer science perspective, Figure 34.
    """
    if not systems:
        raise InputError("compare: give at least one system, e.g. {'Datafly': tacit.Datafly(k=2)}")
    if not data.keys:
        raise RoleMissing(
            "compare needs keys, and the data declare none. Declare them with tacit.read(..., keys=...)."
        )
    rows = tuple(outcome(data, name, system, measures, seed) for name, system in systems.items())
    return comparison_result(rows, k)


@dataclass(frozen=True)
class Outcome:
    """What one system did.

    Attributes
    ----------
    name
        The system's name in the comparison.
    released
        The protected data; None when the system could not meet its requirement.
    k
        The size of the smallest class over all keys together.
    uniques
        Released records that are alone in their class.
    loss
        Precision, levels, dropped and suppressed.
    values
        The values of further measures, by title.
    seconds
        How long the system took.
    reason
        Why there is no result.
    """

    name: str
    released: Microdata | None = None
    k: int = 0
    uniques: int = 0
    loss: PrecisionResult | None = None
    values: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    reason: str = ""

    def row(self, k: int | None) -> dict[str, Any]:
        """Return the outcome as a row of the table."""
        met = {} if k is None else {f"k >= {k}": None if self.loss is None else self.k >= k}
        if self.loss is None:
            return {"system": self.name, **met, "seconds": self.seconds, "reason": self.reason}
        return {
            "system": self.name,
            **{f"precision ({a})": self.loss.accountings[a] for a in ACCOUNTINGS},
            "k": self.k,
            **met,
            "uniques": self.uniques,
            "dropped": self.loss.counts.dropped,
            "suppressed cells": self.loss.suppressed,
            "levels": ", ".join(f"{c} {level_range(p)}" for c, p in self.loss.losses.items()),
            **self.values,
            "seconds": self.seconds,
            "reason": self.reason,
        }


@dataclass(frozen=True, repr=False)
class ComparisonResult(Result):
    """Several systems side by side; ``rows`` has one outcome a system, in the order given."""

    rows: tuple[Outcome, ...] = ()
    requested: int | None = None

    def __getitem__(self, name: str) -> Outcome:
        for row in self.rows:
            if row.name == name:
                return row
        raise InputError(
            f"no system {name!r} in the comparison. Systems: {', '.join(r.name for r in self.rows)}."
        )

    def table(self) -> list[dict[str, Any]]:
        """Return one dictionary a system; every one has the same entries."""
        rows = [row.row(self.requested) for row in self.rows]
        full = max(rows, key=len)
        names = [*full, *dict.fromkeys(n for row in rows for n in row if n not in full)]
        if not any(row.get("reason") for row in rows):
            names.remove("reason")
        return [{name: row.get(name) for name in names} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {**super().to_dict(), "table": self.table()}

    def plot(self) -> Chart:
        """Return the precision of each system in the three accountings."""
        return grouped_bars(
            (
                (row.name, name, row.loss.accountings[name])
                for row in self.rows
                if row.loss is not None
                for name in ACCOUNTINGS
            ),
            title="Precision by system",
            subtitle="1: every value as it was; 0: nothing left",
            y="precision",
            texts="{:.3f}".format,
        )

    def __repr__(self) -> str:
        return f"{self.title}\n{'-' * len(self.title)}\n{text_table(self.table())}"

    def _repr_html_(self) -> str:
        return f"<h4>{html.escape(self.title)}</h4>{html_table(self.table())}"


def outcome(
    data: Microdata, name: str, system: System, measures: Sequence[Measure], seed: int | None
) -> Outcome:
    """Run one system and measure what it released."""
    begun = time.perf_counter()
    try:
        released = protect(data, system, seed)
    except Infeasible as error:
        return Outcome(name, seconds=time.perf_counter() - begun, reason=str(error))
    seconds = time.perf_counter() - begun
    loss = Precision(accounting="strict", columns=None).measure(released, original=data)
    assert isinstance(loss, PrecisionResult)
    smallest, uniques = class_facts(released, data.keys)
    values = {m.kind: m.measure(released, original=data, seed=seed).value for m in measures}
    return Outcome(name, released, smallest, uniques, loss, values, seconds)


def protect(data: Microdata, system: System, seed: int | None) -> Microdata:
    """Return the data as one system protects them."""
    if isinstance(system, Method):
        return system.apply(data, seed=seed).materialise()
    made = system.run(data, seed=seed) if isinstance(system, PlanLike) else system(data)
    released = made if isinstance(made, Microdata) else getattr(made, "data", None)
    if not isinstance(released, Microdata):
        raise InputError(
            f"compare: a system returned {type(made).__name__} where protected data were expected"
        )
    return released.materialise()


def class_facts(released: Microdata, keys: Sequence[str]) -> tuple[int, int]:
    """Return the smallest class over all keys that are left, and the unique records; on the engine."""
    left = [key for key in keys if key in released.columns]
    if not left:
        n = len(released)
        return n, int(n == 1)
    sizes = counts(released.frame, left)
    facts = sizes.select(
        nw.col(N).min().alias("k"), (nw.col(N) == 1).cast(nw.Int64).sum().alias("uniques")
    )
    k, uniques = facts.collect("pyarrow").row(0)
    return int(k or 0), int(uniques or 0)


def comparison_result(rows: tuple[Outcome, ...], k: int | None) -> ComparisonResult:
    """Put the result together."""
    precisions = {row.name: row.loss.value for row in rows if row.loss is not None}
    draft = ComparisonResult(
        kind="comparison",
        title="Comparison of systems",
        value=max(precisions.values(), default=0.0),
        numbers=precisions,
        explanation="Precision is in the strict accounting: every private record counts, a dropped one as lost.",
        rows=rows,
        requested=k,
    )
    table = draft.table()
    columns = {name: [row[name] for row in table] for name in table[0]}
    frame = nw.from_native(pa.table(columns), eager_only=True)
    return ComparisonResult(**{**draft.__dict__, "frame": frame})


def level_range(loss: ColumnLoss) -> str:
    """Return a column's level in the release, as one number or a range."""
    return f"{loss.lowest}" if loss.lowest == loss.highest else f"{loss.lowest}-{loss.highest}"


def text_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as aligned text."""
    lines = [list(rows[0]), *([format_number(v) for v in row.values()] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def html_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as an HTML table."""
    head = "".join(f"<th style='text-align:left'>{html.escape(name)}</th>" for name in rows[0])
    body = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(format_number(v))}</td>" for v in row.values())
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
