"""What measures of sensitive values within classes share: one number a class, a limit, and the records beyond it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import SdcError
from tacit.fields import EachQuasi, SensitiveColumns
from tacit.plot.chart import Chart
from tacit.plot.families import columns
from tacit.records.classes.class_result import ClassPart, ClassResult
from tacit.records.classes.class_values import (
    ClassValues,
    Missing,
    class_table,
    columns_of_interest,
    sensitive_faults,
    shortfall,
    values_in_classes,
)
from tacit.spec import Companions, Measure, Role


class SensitiveMeasure(Measure):
    """Base of measures of sensitive values within classes."""

    sensitive: SensitiveColumns = None
    quasi: EachQuasi = None
    missing: Missing = Field(
        default="category",
        description="a missing sensitive value counts as a value of its own, or its record is left out",
    )

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    axis: ClassVar[str] = "share of records that violate"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no sensitive column."""
        return [*super().faults(data), *sensitive_faults(data, self.sensitive, self.kind)]


class ValueMeasure(SensitiveMeasure):
    """Base of measures that give each class one number, larger when its sensitive values tell more."""

    #: The field that holds the limit, and what the number of a class is called.
    limit_field: ClassVar[str] = ""
    figure: ClassVar[str] = ""

    @property
    def limit(self) -> float:
        """Return the limit that was asked for."""
        return float(getattr(self, self.limit_field))

    def count(self, data: Microdata, keys: Sequence[str], column: str) -> ClassValues:
        """Return how often each value occurs in each class."""
        return values_in_classes(data, keys, column, self.missing)

    def figures(self, found: ClassValues) -> Floats:
        """Return the number of each class."""
        raise NotImplementedError

    def violates(self, found: ClassValues, figures: Floats) -> Flags:
        """Return the classes that are beyond the limit."""
        raise NotImplementedError

    def heading(self) -> str:
        """Return the name of the model."""
        raise NotImplementedError

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> ValueResult:
        del other
        parts = []
        for name, keys in data.quasi_identifiers(self.quasi).items():
            for column in columns_of_interest(data, self.sensitive):
                ctx.tick(f"{self.figure} of {column} on {name}")
                parts.append(self.part(name, column, self.count(data, keys, column)))
        worst = max(parts, key=lambda part: (part.largest, part.violations))
        violations = max(part.violations for part in parts)
        share = max(part.violations / part.records if part.records else 0.0 for part in parts)
        title = f"{self.heading()} of {', '.join(dict.fromkeys(p.column for p in parts))}"
        return ValueResult(
            kind=self.kind,
            title=title,
            value=share,
            numbers={
                "records": worst.records,
                "classes": len(worst.sizes),
                f"largest {self.figure}": worst.largest,
                f"records in classes that violate {self.limit:g}": violations,
                "share of them": share,
            },
            frame=worst.frame,
            explanation=(
                "The value compared before and after is the share of records in classes that violate the limit, for the "
                "worst sensitive column and quasi-identifier."
            ),
            shortfall=shortfall(title, violations, worst.records, self.limit)
            if self.asked(self.limit_field)
            else "",
            parts=tuple(parts),
            requested=self.limit,
            figure=self.figure,
        )

    def part(self, quasi: str, column: str, found: ClassValues) -> ValuePart:
        """Return what one column shows on one quasi-identifier."""
        figures = self.figures(found)
        bad = self.violates(found, figures)
        return ValuePart(
            quasi=quasi,
            column=column,
            keys=tuple(found.keys),
            sizes=found.sizes,
            figures=figures,
            largest=float(figures.max(initial=0.0)),
            violations=int(found.sizes[bad].sum()),
            frame=class_table(found, {self.figure: figures, "violates": bad}),
        )


@dataclass(frozen=True)
class ValuePart(ClassPart):
    """One number a class, for one sensitive column on one quasi-identifier."""

    figures: Floats
    largest: float

    @property
    def extreme(self) -> float:
        """Return the largest number."""
        return self.largest


@dataclass(frozen=True, repr=False)
class ValueResult(ClassResult[ValuePart]):
    """Numbers by class, for each quasi-identifier and sensitive column."""

    figure: str = ""

    @property
    def largest(self) -> float:
        """Return the largest number over classes, sensitive columns and quasi-identifiers."""
        return self.extreme

    def charts(self) -> Iterable[Chart]:
        """Return one chart per column and quasi-identifier, worst first."""
        for part in self.worst_first():
            yield columns(
                limit_bins(part.figures, part.sizes, self.requested),
                title=f"Records by {self.figure} of {part.column}",
                subtitle=f"{part.quasi}: {', '.join(part.keys)}",
                x=f"{self.figure} of the record's class",
            )


def limit_bins(figures: Floats, sizes: Ints, limit: float) -> list[tuple[str, int, bool]]:
    """Return (label, records, beyond the limit) in four equal steps up to the limit and three beyond it."""
    steps = (
        [0.0, *(limit * x for x in (0.25, 0.5, 0.75, 1, 2, 4)), np.inf] if limit else [0.0, np.inf]
    )
    rows = [] if limit else [("0", int(sizes[figures <= 0].sum()), False)]
    for low, high in itertools.pairwise(steps):
        inside = (figures > low) & (figures <= high)
        if limit and not low:
            inside |= figures <= 0
        label = f"over {low:.3g}" if np.isinf(high) else f"to {high:.3g}"
        rows.append((label, int(sizes[inside].sum()), low >= limit))
    return rows
