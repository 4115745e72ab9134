"""The result of a comparison: one row per system, charts, a map, a recommendation and a report."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.alternatives.comparison.outcome import KEYS, KeyFacts, Outcome
from tacit.alternatives.printing import html_table, text_table
from tacit.errors import Infeasible, InputError, near_match
from tacit.plot.chart import Chart
from tacit.plot.families import bars, grouped_bars
from tacit.plot.maps.ru_map import ru_chart
from tacit.records.generalisation.precision import ACCOUNTINGS
from tacit.records.utility.information_loss import WORDS, InformationLoss
from tacit.result import Result, format_number
from tacit.spec import Measure, is_risk
from tacit.tables.compare.measures import (
    LOSSES,
    MEASURES,
    RISKS,
    describe_symbol,
    symbol_order,
)
from tacit.tables.compare.table_comparison import TableComparison, TableComparisonResult

if TYPE_CHECKING:
    from tacit.report.document import Document

#: Columns that are no measure.
PLAIN = ("system", "seconds", "reason")
SIDES: tuple[Side, ...] = ("risk", "utility")


@dataclass(frozen=True)
class Candidate:
    """A system on the risk-utility map."""

    method: str
    risk: float
    utility: float
    label: str = ""
    risk_interval: tuple[float, float] | None = None
    utility_interval: tuple[float, float] | None = None


@dataclass(frozen=True, repr=False)
class ComparisonResult(Result):
    """Several systems side by side.

    ``result["rounded"]["HD"]`` is one value of one system; ``frame`` has one row per system.

    Attributes
    ----------
    rows
        One outcome per system, in the order given.
    measures
        What was measured, by label.
    """

    rows: tuple[Outcome, ...] = ()
    measures: Mapping[str, Measure[Any]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Outcome:
        for row in self.rows:
            if row.name == name:
                return row
        names = [row.name for row in self.rows]
        hint = near_match(name, names) or f"Systems: {', '.join(names)}."
        raise InputError(f"no system {name!r} in the comparison. {hint}")

    # -- tables --------------------------------------------------------------------------------

    def table(self) -> list[dict[str, Any]]:
        """Return one dictionary per system; every one has the same entries."""
        rows = [row.row() for row in self.rows]
        full = max(rows, key=len)
        names = [*full, *dict.fromkeys(n for row in rows for n in row if n not in full)]
        for name in ("seconds", "reason"):
            # Nothing took time where all versions were given.
            if not any(row[name] for row in rows):
                names.remove(name)
        return [{name: row.get(name) for name in names} for row in rows]

    def by_measure(self, group: str | None = None) -> list[dict[str, Any]]:
        """Return one dictionary per measure: what it is, the original's value and every system's.

        ``group`` takes one group of a comparison of tables: risk, distance, totals, ...
        """
        rows = self.table()
        columns = [n for n in rows[0] if n != "system"]
        known = [n for n in columns if describe_symbol(n) is not None]
        chosen = [*(n for n in columns if n not in known), *sorted(known, key=symbol_order)]
        table = [
            {
                "group": (describe_symbol(n) or ("", n))[0],
                "symbol": n,
                "measure": (describe_symbol(n) or ("", n))[1],
                "original": self.original.get(n),
                **{row["system"]: row[n] for row in rows},
            }
            for n in chosen
        ]
        return table if group is None else [row for row in table if row["group"] == group]

    def details(self, measure: str) -> nw.DataFrame[Any]:
        """Return every number that a measure found, one row per system."""
        found = [(o.name, o.results[measure].numbers) for o in self.rows if measure in o.results]
        if not found:
            hint = near_match(measure, list(self.measures))
            raise InputError(
                f"no measure {measure!r} in the comparison. {hint or 'Measures: ' + ', '.join(self.measures)}"
            )
        rows = [{"system": name, **numbers} for name, numbers in found]
        return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {**super().to_dict(), "table": self.table(), "original": dict(self.original)}

    # -- versions of a table -------------------------------------------------------------------

    @property
    def frameworks(self) -> dict[str, TableComparisonResult]:
        """Return what a comparison of tables found, by system."""
        return {
            row.name: r
            for row in self.rows
            for r in row.results.values()
            if isinstance(r, TableComparisonResult)
        }

    @property
    def original(self) -> Mapping[str, float | None]:
        """Return what the original table has of the measures."""
        return next((r.original for r in self.frameworks.values()), {})

    # -- risk and utility ----------------------------------------------------------------------

    def axis(self, side: Side, name: str | None = None) -> tuple[str, Axis]:
        """Return a column to stand on an axis: the one named, or the first that there is."""
        axes = {n: a for n, a in axes_of(self.measures).items() if a.side == side}
        if name is not None:
            if name not in axes:
                raise InputError(f"no {side} {name!r} for the map; choose one of {', '.join(axes)}")
            return name, axes[name]
        if not axes:
            raise InputError(f"the comparison has no measure of {side}; give one in measures=")
        first = [
            next((n for n in measure_axes(label, m) if n in axes), "")
            for label, m in self.measures.items()
        ]
        shown = self.shown()
        found = next((n for n in first if n in shown), "") or next(n for n in first if n)
        return found, axes[found]

    def candidates(self, risk: str | None = None, loss: str | None = None) -> list[Candidate]:
        """Return where each system stands: its risk, and its utility or how far its loss is from none."""
        (r, across), (u, along) = self.axis("risk", risk), self.axis("utility", loss)
        return [
            Candidate(row.name, across.place(float(x)), along.place(float(y)))
            for row in self.rows
            if is_finite(x := row.values.get(r)) and is_finite(y := row.values.get(u))
        ]

    def recommend(
        self, max_risk: float, *, risk: str | None = None, loss: str | None = None
    ) -> str:
        """Return the system that loses least among those whose risk is at most ``max_risk``."""
        allowed = [c for c in self.candidates(risk, loss) if c.risk <= max_risk]
        if not allowed:
            raise Infeasible(
                f"no system has a risk of at most {format_number(float(max_risk))}; protect more, "
                "or accept more risk"
            )
        sign = self.sign(loss)
        return min(allowed, key=lambda c: (sign * c.utility, c.risk)).method

    def sign(self, loss: str | None = None) -> int:
        """Return 1 where less on the axis of utility is better, else -1."""
        return 1 if self.axis("utility", loss)[1].better == "lower" else -1

    # -- charts --------------------------------------------------------------------------------

    def plot(
        self,
        measure: str | None = None,
        *,
        risk: str | None = None,
        loss: str | None = None,
        max_risk: float | None = None,
        size: tuple[int, int] | None = None,
    ) -> Chart:
        """Return one measure as bars, or the map of risk and loss.

        With no argument: the map of a comparison of tables, precision for records with keys, and the
        first measure otherwise.
        """
        if measure is None and (self.frameworks or risk or loss or max_risk is not None):
            return self.map(risk, loss, max_risk, size)
        if measure is None and KEYS in self.measures:
            return self.precision_chart()
        return self.bar_chart(measure or next(iter(self.shown()), ""))

    def map(
        self, risk: str | None, loss: str | None, cap: float | None, size: tuple[int, int] | None
    ) -> Chart:
        """Return the risk-utility map of the systems."""
        (r, across), (u, along) = self.axis("risk", risk), self.axis("utility", loss)
        found = self.candidates(r, u)
        if not found:
            raise InputError(f"no system has both {r} and {u}, so there is no map to draw")
        chosen = None
        if cap is not None and any(c.risk <= cap for c in found):
            name = self.recommend(cap, risk=r, loss=u)
            chosen = next(c for c in found if c.method == name)
        return ru_chart(
            found,
            risk_label=across.words,
            utility_label=along.words,
            cap=cap,
            frontier=unbeaten(found, self.sign(u)),
            chosen=chosen,
            curves={},
            higher_utility_is_better=along.better == "higher",
            title="Risk and loss of each version" if self.frameworks else "Risk and utility",
            size=size,
        )

    def precision_chart(self) -> Chart:
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

    def bar_chart(self, column: str) -> Chart:
        """Return one column by system as bars."""
        axis = axes_of(self.measures).get(column)
        items = [
            (row.name, float(v)) for row in self.rows if is_finite(v := row.values.get(column))
        ]
        if axis is None or not items:
            raise InputError(
                f"no measure {column!r} in the comparison. Measures: {', '.join(self.shown())}."
            )
        return bars(
            items,
            title=f"{axis.side.title()} by system: {column}",
            subtitle=f"{axis.better} is better",
            y=axis.words,
        )

    def charts(self) -> Iterable[Chart]:
        """Return the chart of all, and a bar chart per measure, risk first."""
        shown = self.shown()
        if KEYS in self.measures or (self.frameworks and self.candidates()):
            yield self.plot()
        single = {
            label: m
            for label, m in self.measures.items()
            if not isinstance(m, KeyFacts | TableComparison)
        }
        first = {label: next(iter(measure_axes(label, m).items())) for label, m in single.items()}
        for column, _ in sorted(first.values(), key=lambda item: item[1].side != "risk"):
            if column in shown:
                yield self.bar_chart(column)

    def shown(self) -> list[str]:
        """Return the columns that have a number for at least one system."""
        rows = self.table()
        return [n for n in rows[0] if n not in PLAIN and any(is_finite(r[n]) for r in rows)]

    # -- words ---------------------------------------------------------------------------------

    def document(self, *, title: str = "", max_risk: float | None = None) -> Document:
        """Return the report, for the data holder: it compares with the original."""
        from tacit.report.compare import comparison

        return comparison(self, title=title, max_risk=max_risk)

    def printed(self) -> list[dict[str, Any]]:
        """Return the table as it prints: wide ones with a row per measure."""
        if KEYS in self.measures:
            return self.table()
        drop = {"group", "measure"} | (set() if self.original else {"original"})
        return [
            {
                "measure": row["symbol"],
                **{n: v for n, v in row.items() if n not in drop | {"symbol"}},
            }
            for row in self.by_measure()
        ]

    def __repr__(self) -> str:
        return f"{self.title}\n{'-' * len(self.title)}\n{text_table(self.printed())}"

    def _repr_html_(self) -> str:
        return f"<h4>{html.escape(self.title)}</h4>{html_table(self.printed())}"


def comparison_result(
    rows: tuple[Outcome, ...], measures: Mapping[str, Measure[Any]]
) -> ComparisonResult:
    """Put the result together."""
    draft = ComparisonResult(
        kind="comparison",
        title="Comparison of systems",
        value=float(sum(row.released is not None for row in rows)),
        explanation="The value is the number of systems that met their requirements.",
        rows=rows,
        measures=measures,
    )
    table = draft.table()
    columns = {name: [row[name] for row in table] for name in table[0]}
    frame = nw.from_native(pa.table(columns), eager_only=True)
    return ComparisonResult(**{**draft.__dict__, **judgement(draft), "frame": frame})


def judgement(draft: ComparisonResult) -> dict[str, Any]:
    """Return the best utility, the numbers on the axes, and the words for them."""
    sides = {axis.side for axis in axes_of(draft.measures).values()}
    named = [draft.axis(side) for side in SIDES if side in sides]
    numbers = {
        f"{row.name}: {axis.words}": row.values.get(column)
        for row in draft.rows
        for column, axis in named
    }
    if not named or named[-1][1].side != "utility":
        return {"numbers": numbers}
    column, axis = named[-1]
    places = [axis.place(float(v)) for row in draft.rows if is_finite(v := row.values.get(column))]
    if not places:
        return {"numbers": numbers}
    best = min(places) if axis.better == "lower" else max(places)
    return {
        "numbers": numbers,
        "value": best,
        "explanation": f"The value is the best among the systems: {axis.words} ({axis.better} is better).",
    }


def is_finite(value: Any) -> TypeGuard[float]:
    """Return True for a number that can be drawn."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)


def unbeaten(found: Sequence[Candidate], sign: int) -> list[Candidate]:
    """Return the candidates that no other beats in risk and utility, by rising risk."""
    kept: list[Candidate] = []
    for c in sorted(found, key=lambda c: (c.risk, sign * c.utility)):
        if not kept or sign * c.utility < sign * kept[-1].utility:
            kept.append(c)
    return kept


Side = Literal["risk", "utility"]


@dataclass(frozen=True)
class Axis:
    """One column that can stand on an axis."""

    #: What it is.
    words: str
    #: Whether it tells of risk or of utility.
    side: Side
    #: Which values are better.
    better: Literal["lower", "higher"]
    #: The value of data that were not changed, where the distance from it counts.
    neutral: float | None = None

    def place(self, value: float) -> float:
        """Return where a value stands on the axis."""
        return value if self.neutral is None else abs(value - self.neutral)


def axes_of(measures: Mapping[str, Measure[Any]]) -> dict[str, Axis]:
    """Return the axes by column; those that a map shows unless others are named come first."""
    found: dict[str, Axis] = {}
    for label, measure in measures.items():
        found |= measure_axes(label, measure)
    return found


def measure_axes(label: str, measure: Measure[Any]) -> dict[str, Axis]:
    """Return the axes of one measure by column."""
    if isinstance(measure, KeyFacts):
        words = {f"precision ({a})": f"precision ({a})" for a in ("strict", *ACCOUNTINGS)}
        return {
            **{c: Axis(w, "utility", "higher") for c, w in words.items()},
            "uniques": Axis("unique records", "risk", "lower"),
        }
    if isinstance(measure, InformationLoss):
        names = sorted(WORDS, key=lambda n: n != "il1")
        return {n: Axis(WORDS[n], "utility", measure.better or "higher") for n in names}
    if isinstance(measure, TableComparison):
        return framework_axes(measure)
    side: Side = "risk" if is_risk(type(measure)) else "utility"
    better = measure.better or ("lower" if side == "risk" else "higher")
    return {label: Axis(label, side, better)}


def framework_axes(measure: TableComparison) -> dict[str, Axis]:
    """Return the axes of a comparison of tables, those that its fields name first."""
    risks = sorted(RISKS, key=lambda s: s != measure.risk)
    losses = sorted(LOSSES, key=lambda s: s != measure.loss)
    return {
        **{s: Axis(MEASURES[s][1], "risk", "lower") for s in risks},
        **{s: Axis(loss_words(s), "utility", "lower", LOSSES[s]) for s in losses},
    }


def loss_words(symbol: str) -> str:
    """Return a loss of the framework in words."""
    away = LOSSES[symbol] == 0 and symbol in ("HD", "AAD", "RAD")
    return f"{symbol}: {MEASURES[symbol][1]}{'' if away else ', distance from no change'}"
