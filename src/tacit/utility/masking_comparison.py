"""Many ways of masking one data set, in one table of risk and utility measures."""

from __future__ import annotations

import html
import math
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from tacit.data.microdata import Microdata
from tacit.errors import Cancelled, InputError, SdcError, SdcWarning, near_match
from tacit.plot.chart import Chart
from tacit.plot.families import bars
from tacit.result import Result
from tacit.spec import Measure
from tacit.utility.comparison import System, html_table, protect, text_table
from tacit.utility.moments.information_loss import WORDS, InformationLoss, InformationLossResult


def compare_masking(
    data: Microdata,
    methods: Mapping[str, System],
    measures: Sequence[Measure] = (),
    seed: int | None = None,
) -> MaskingComparison:
    """Mask the same data in several ways and lay risk and utility side by side.

    Parameters
    ----------
    data
        The data to mask.
    methods
        What to compare, by name: methods, plans, or functions from data to data.
    measures
        Risk and utility measures; by default information loss. Each adds its value as a column, and
        information loss a column for each of its measures.
    seed
        Seed given to every method and measure, so that a comparison can be repeated.

    Returns
    -------
    MaskingComparison
        One row a method. A method or measure that cannot do its work keeps its place, with the reason.

    References
    ----------
    Templ (2006), Software development for SDC in R, PSD 2006, LNCS 4302, 347-359, section 6.
    """
    if not methods:
        raise InputError(
            "compare_masking: give at least one method, e.g. {'mdav': tacit.Mdav(k=3)}"
        )
    gauges = labelled(measures or (InformationLoss.model_validate({}),))
    outcomes = tuple(masked(data, name, method, gauges, seed) for name, method in methods.items())
    draft = MaskingComparison(
        kind="masking_comparison",
        title="Comparison of masking methods",
        value=float(sum(o.released is not None for o in outcomes)),
        numbers={o.name: len(o.results) for o in outcomes},
        explanation="One row a method; measures of risk and utility as columns.",
        outcomes=outcomes,
        measures=gauges,
    )
    rows = draft.table()
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    frame = nw.from_native(pa.table(columns), eager_only=True)
    return MaskingComparison(**{**draft.__dict__, "frame": frame})


@dataclass(frozen=True)
class Masked:
    """What one method did.

    Attributes
    ----------
    released
        The masked data; None when the method could not be applied.
    results
        What the measures found, by label.
    reasons
        Why something is missing, in sentences.
    warnings
        What method and measures warned of.
    """

    name: str
    released: Microdata | None = None
    results: Mapping[str, Result] = field(default_factory=dict)
    seconds: float = 0.0
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def row(self) -> dict[str, Any]:
        """Return the outcome as a row of the table."""
        entries: dict[str, Any] = {}
        for label, result in self.results.items():
            if isinstance(result, InformationLossResult):
                entries |= result.values
            else:
                entries[label] = result.value
        return {
            "method": self.name,
            **entries,
            "seconds": self.seconds,
            "reason": " ".join(self.reasons) or None,
        }


@dataclass(frozen=True, repr=False)
class MaskingComparison(Result):
    """Several ways of masking side by side; ``outcomes`` has one entry a method, in the order given."""

    outcomes: tuple[Masked, ...] = ()
    measures: Mapping[str, Measure] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Masked:
        for outcome in self.outcomes:
            if outcome.name == name:
                return outcome
        raise InputError(
            f"no method {name!r} in the comparison. Methods: {', '.join(o.name for o in self.outcomes)}."
        )

    def table(self) -> list[dict[str, Any]]:
        """Return one dictionary a method; every one has the same entries."""
        rows = [o.row() for o in self.outcomes]
        full = max(rows, key=len)
        names = [*full, *dict.fromkeys(n for row in rows for n in row if n not in full)]
        if not any(row["reason"] for row in rows):
            names.remove("reason")
        return [{name: row.get(name) for name in names} for row in rows]

    def details(self, measure: str) -> nw.DataFrame[Any]:
        """Return every number that a measure found, one row a method."""
        found = [
            (o.name, o.results[measure].numbers) for o in self.outcomes if measure in o.results
        ]
        if not found:
            hint = near_match(measure, list(self.measures))
            raise InputError(
                f"no measure {measure!r} in the comparison. {hint or 'Measures: ' + ', '.join(self.measures)}"
            )
        rows = [{"method": name, **numbers} for name, numbers in found]
        return nw.from_native(pa.Table.from_pylist(rows), eager_only=True)

    def plot(self, measure: str | None = None) -> Chart:
        """Return one measure by method as bars; by default the first."""
        label = measure or self.shown()[0]
        rows = [(row["method"], row.get(label)) for row in self.table()]
        items = [(name, float(v)) for name, v in rows if v is not None and is_finite(v)]
        if not items:
            raise InputError(
                f"no measure {label!r} in the comparison. Measures: {', '.join(self.shown())}."
            )
        gauge = self.measures.get(label) or next(
            m for m in self.measures.values() if isinstance(m, InformationLoss)
        )
        family = gauge.family
        better = gauge.better or ("lower" if family == "risk" else "higher")
        return bars(
            items,
            title=f"{'Risk' if family == 'risk' else 'Utility'} by method: {label}",
            subtitle=f"{better} is better",
            y=WORDS.get(label, label),
        )

    def charts(self) -> Iterable[Chart]:
        """Return a bar chart a measure, risk first."""
        order = sorted(self.measures, key=lambda label: self.measures[label].family != "risk")
        for label in order:
            columns = [label] if label in self.shown() else ["il1"]
            yield from (self.plot(c) for c in columns if c in self.shown())

    def shown(self) -> list[str]:
        """Return the measures that have a number for at least one method."""
        rows = self.table()
        return [
            n
            for n in rows[0]
            if n not in ("method", "seconds", "reason") and any(is_finite(r[n]) for r in rows)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data."""
        return {**super().to_dict(), "table": self.table()}

    def turned(self) -> list[dict[str, Any]]:
        """Return the table with a row a measure and a column a method, as it prints."""
        rows = self.table()
        return [
            {"measure": name, **{row["method"]: row[name] for row in rows}}
            for name in rows[0]
            if name != "method"
        ]

    def __repr__(self) -> str:
        return f"{self.title}\n{'-' * len(self.title)}\n{text_table(self.turned())}"

    def _repr_html_(self) -> str:
        return f"<h4>{html.escape(self.title)}</h4>{html_table(self.turned())}"


def labelled(measures: Sequence[Measure]) -> dict[str, Measure]:
    """Return the measures by kind, numbered where a kind comes more than once."""
    found: dict[str, Measure] = {}
    for measure in measures:
        same = sum(m.kind == measure.kind for m in found.values())
        found[f"{measure.kind} {same + 1}" if same else measure.kind] = measure
    return found


def masked(
    data: Microdata,
    name: str,
    method: System,
    measures: Mapping[str, Measure],
    seed: int | None,
) -> Masked:
    """Mask the data in one way and measure the outcome."""
    reasons: list[str] = []
    results: dict[str, Result] = {}
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            released = protect(data, method, seed)
        except Cancelled:
            raise
        except SdcError as error:
            return Masked(name, seconds=time.perf_counter() - begun, reasons=(str(error),))
        seconds = time.perf_counter() - begun
        for label, measure in measures.items():
            try:
                results[label] = measure.measure(released, original=data, seed=seed)
            except Cancelled:
                raise
            except SdcError as error:
                reasons.append(f"{label}: {error}")
    told = tuple(
        dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, SdcWarning))
    )
    return Masked(name, released, results, seconds, tuple(reasons), told)


def is_finite(value: Any) -> bool:
    """Return True for a number that can be drawn."""
    return isinstance(value, int | float) and math.isfinite(value)
