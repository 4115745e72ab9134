"""What the columns of a comparison say: risk or utility, in which direction, and in which words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.alternatives.comparison.outcome import KeyFacts
from tacit.records.generalisation.precision import ACCOUNTINGS
from tacit.records.utility.information_loss import WORDS, InformationLoss
from tacit.spec import Measure, is_risk
from tacit.tables.compare.measures import LOSSES, MEASURES, RISKS
from tacit.tables.compare.table_comparison import TableComparison

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
