"""Parts of the comparison of estimates: files, groups, rows and their chart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.plot.chart import Chart
from tacit.plot.families import grouped_bars
from tacit.plot.parts import short_number
from tacit.records.utility.matched import CommonCodes
from tacit.stats.estimates import (
    Estimate,
    combine_imputations,
    duncan_utility,
    interval_overlap,
    percent_difference,
    ratio_estimate,
    standardised_difference,
)

#: What estimates from replicate weights deviate from.
Centre = Literal["estimate", "mean"]
#: Name of the group of everybody.
ALL = "all"


@dataclass(frozen=True)
class File:
    """Numbers, weights and row numbers of one file."""

    numbers: Mapping[str, Floats]
    weights: Floats
    rows: Ints
    #: The completed data set that each record belongs to, where there are several.
    implicate: Ints | None = None
    #: Replicates x records.
    replicates: Floats | None = None

    def values(self, column: str, inside: Flags) -> tuple[Floats, Floats]:
        """Return the known numbers of some records, with their weights."""
        x = self.numbers[column]
        use = inside & np.isfinite(x) & (self.weights > 0)
        return x[use], self.weights[use]

    def ratio(self, above: str, below: str, inside: Flags) -> Estimate:
        """Return the ratio of two totals over records that have both."""
        x, y = self.numbers[above], self.numbers[below]
        use = inside & np.isfinite(x) & np.isfinite(y)
        return ratio_estimate(x[use], y[use], self.weights[use])


def estimate_over(
    file: File, inside: Flags, of: Callable[[File, Flags], Estimate], scale: float, centre: Centre
) -> Estimate:
    """Return an estimate with the error that replicate weights show, combined over implicates.

    ``of`` gives the estimate from some records of a file by its weights; squared deviations of the replicates, from the
    estimate or from their own mean, are multiplied by ``scale``.
    """
    if file.implicate is None:
        return estimate_by_replicates(file, inside, of, scale, centre)
    parts = [
        estimate_by_replicates(file, inside & (file.implicate == number), of, scale, centre)
        for number in np.unique(file.implicate)
    ]
    combined = combine_imputations(
        [np.array([e.value]) for e in parts], [np.array([[e.error**2]]) for e in parts]
    )
    return Estimate(float(combined.values[0]), float(combined.standard_errors[0]))


def estimate_by_replicates(
    file: File, inside: Flags, of: Callable[[File, Flags], Estimate], scale: float, centre: Centre
) -> Estimate:
    """Return an estimate; its error comes from replicate weights where there are any."""
    whole = of(file, inside)
    if file.replicates is None:
        return whole
    values = np.array([of(replace(file, weights=w), inside).value for w in file.replicates])
    middle = whole.value if centre == "estimate" else float(values.mean())
    return Estimate(whole.value, math.sqrt(scale * float(((values - middle) ** 2).sum())))


@dataclass(frozen=True)
class Group:
    """A group of records: which column forms it, its name, and who is in it in either file."""

    column: str
    label: str
    old: Flags
    new: Flags

    @property
    def name(self) -> str:
        """Return the label with its column."""
        return ALL if self.column == ALL else f"{self.column} {self.label}"


class Compared:
    """An estimate from the original and from the masked file."""

    old: Estimate
    new: Estimate

    @property
    def percent(self) -> float:
        """Return the percent difference; NaN where the original is 0."""
        return percent_difference(self.old.value, self.new.value)

    @property
    def standardised(self) -> float:
        """Return the difference in standard errors of the original."""
        return standardised_difference(self.old, self.new)

    @property
    def overlap(self) -> float:
        """Return the overlap of the 95 % confidence intervals."""
        return interval_overlap(self.old, self.new)


def mean_of(values: Iterable[float]) -> float:
    """Return the mean of the finite ones."""
    known = [v for v in values if math.isfinite(v)]
    return float(np.mean(known)) if known else math.nan


@dataclass(frozen=True)
class Row(Compared):
    """One estimate from both files."""

    column: str
    statistic: str
    group: Group
    records: tuple[int, int]
    old: Estimate
    new: Estimate

    def entry(self) -> dict[str, Any]:
        """Return the row as it stands in the frame."""
        return {
            "column": self.column,
            "statistic": self.statistic,
            "group by": self.group.column,
            "group": self.group.label,
            "records, original": self.records[0],
            "records, masked": self.records[1],
            "original": self.old.value,
            "masked": self.new.value,
            "percent difference": self.percent,
            "Duncan utility": duncan_utility(self.old.value, self.new.value),
            "difference in standard errors": self.standardised,
            "overlap of intervals": self.overlap,
        }


def percent_bars(rows: Sequence[Row], column: str) -> Chart:
    """Return bars of percent differences by group, one colour per statistic (Figures 1 and 2)."""
    return grouped_bars(
        ((r.group.name, r.statistic, r.percent) for r in rows if math.isfinite(r.percent)),
        title=f"Percent differences of {column}",
        subtitle="100 (original - masked) / original; left of 0: larger after masking",
        y="percent difference",
        texts=lambda v: f"{short_number(v)} %",
        step=15,
        alt=f"Percent differences of {column} by group",
    )


def classes_of_both(codes: CommonCodes) -> Iterator[tuple[str, Flags, Flags]]:
    """Yield the classes of a column that occur: name, and who is in it in either file."""
    for code, name in enumerate([*codes.labels, "missing"]):
        old, new = codes.old == code, codes.new == code
        if old.any() or new.any():
            yield name, old, new
