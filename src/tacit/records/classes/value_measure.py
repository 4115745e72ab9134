"""What measures of sensitive values within classes share: one number a class, a limit, and the records beyond it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import RoleMissing, SdcError
from tacit.fields import EachQuasi, SensitiveColumns
from tacit.plot.chart import Chart
from tacit.plot.families import columns
from tacit.records.classes.class_values import (
    ClassValues,
    Missing,
    MissingValues,
    class_table,
    columns_of_interest,
    shortfall,
    values_in_classes,
)
from tacit.result import Result
from tacit.spec import Companions, Measure, Role
from tacit.stats import class_models

Bins = Callable[[Floats, Ints, float], list[tuple[str, int, bool]]]


class OfSensitive(Measure):
    """Base of measures of sensitive values within classes."""

    needs: ClassVar[frozenset[Role]] = frozenset({"keys"})
    axis: ClassVar[str] = "share of records that violate"

    if TYPE_CHECKING:
        sensitive: SensitiveColumns
        quasi: EachQuasi
        missing: Missing

    def _faults(self, data: Microdata) -> list[SdcError]:
        """Add: no sensitive column."""
        found = super()._faults(data)
        if self.sensitive is None and not data.sensitive:
            found.append(
                RoleMissing(
                    f"{self.kind} needs sensitive columns, and the data declare none. Declare them with "
                    "tacit.read(..., sensitive=...), or name one with sensitive=."
                )
            )
        return found


class SensitiveMeasure(OfSensitive):
    """The usual fields of such measures."""

    sensitive: SensitiveColumns = None
    quasi: EachQuasi = None
    missing: MissingValues = "category"


class Looked(NamedTuple):
    """What a measure saw of some data: its parts, the worst of them, and the records beyond the limit."""

    parts: Sequence[ClassPart]
    worst: ClassPart
    violations: int
    share: float


class ClassMeasure(OfSensitive):
    """Base of measures that give each class one number by its sensitive values."""

    #: The name of the model with its parameters, the field that holds the limit, and what the number of a class is called.
    heading: ClassVar[str] = ""
    limit_field: ClassVar[str] = ""
    figure: ClassVar[str] = ""
    explanation: ClassVar[str] = ""
    #: True when the number of the worst class is compared before and after, instead of the share that violates.
    by_extreme: ClassVar[bool] = False

    @property
    def limit(self) -> float:
        """Return the limit that was asked for."""
        found: float = getattr(self, self.limit_field)
        return found

    def looked_at(self, data: Microdata) -> Sequence[str]:
        """Return the names of the columns whose values count."""
        return columns_of_interest(data, self.sensitive)

    def count(self, data: Microdata, keys: Sequence[str], column: str) -> ClassValues:
        """Return how often each value occurs in each class."""
        return values_in_classes(data, keys, column, self.missing)

    def figures(self, found: ClassValues) -> Floats:
        """Return the number of each class."""
        raise NotImplementedError

    def is_within(self, figures: Floats, room: float = class_models.TOLERANCE) -> Flags:
        """Return which numbers are within the limit."""
        return figures <= self.limit + room

    def part(self, quasi: str, column: str, found: ClassValues) -> ClassPart:
        """Return what one column shows on one quasi-identifier."""
        figures = self.figures(found)
        bad = self.violates(found, figures)
        return ClassPart(
            quasi=quasi,
            column=column,
            keys=tuple(found.keys),
            sizes=found.sizes,
            figures=figures,
            extreme=self.extreme(figures),
            violations=int(found.sizes[bad].sum()),
            frame=class_table(found, self.detail(figures, bad)),
        )

    def violates(self, found: ClassValues, figures: Floats) -> Flags:
        """Return the classes that violate the model."""
        del found
        return ~self.is_within(figures)

    def extreme(self, figures: Floats) -> float:
        """Return the number of the worst class; 0 when there are no records."""
        return float(figures.max(initial=0.0))

    def detail(self, figures: Floats, bad: Flags) -> dict[str, Any]:
        """Return what is told of each class."""
        return {self.figure: figures, "violates": bad}

    def rank(self, part: ClassPart) -> tuple[float, ...]:
        """Return by what parts are compared: the worst ranks highest."""
        return part.extreme, part.violations

    def tell(self, looked: Looked) -> dict[str, Any]:
        """Return the numbers that the result begins with after records and classes."""
        raise NotImplementedError

    def _result(self, made: type[R], data: Microdata, ctx: Context, **more: Any) -> R:
        """Return the result for every sensitive column on every quasi-identifier."""
        parts = []
        for name, keys in data.quasi_identifiers(self.quasi).items():
            for column in self.looked_at(data):
                ctx.tick(f"{self.figure} of {column} on {name}")
                parts.append(self.part(name, column, self.count(data, keys, column)))
        worst = max(parts, key=self.rank)
        violations = max(part.violations for part in parts)
        share = max(part.violations / part.records if part.records else 0.0 for part in parts)
        columns = ", ".join(dict.fromkeys(p.column for p in parts))
        title = f"{self.heading.format(**vars(self))} of {columns}"
        missed = shortfall(title, violations, worst.records, self.limit)
        return made(
            kind=self.kind,
            title=title,
            value=worst.extreme if self.by_extreme else share,
            numbers={
                "records": worst.records,
                "classes": len(worst.sizes),
                **self.tell(Looked(parts, worst, violations, share)),
            },
            frame=worst.frame,
            explanation=self.explanation,
            shortfall=missed if self.asked(self.limit_field) else "",
            parts=tuple(parts),
            requested=self.limit,
            **more,
        )


class ValueMeasure(SensitiveMeasure, ClassMeasure):
    """Base of those whose number is larger when the values of a class tell more."""

    explanation: ClassVar[str] = (
        "The value compared before and after is the share of records in classes that violate the limit, for the "
        "worst sensitive column and quasi-identifier."
    )

    def tell(self, looked: Looked) -> dict[str, Any]:
        """Return the largest number, and how many records violate."""
        return {
            f"largest {self.figure}": looked.worst.extreme,
            f"records in classes that violate {self.limit:g}": looked.violations,
            "share of them": looked.share,
        }

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> ValueResult:
        del other
        return self._result(ValueResult, data, ctx, figure=self.figure)


@dataclass(frozen=True)
class ClassPart:
    """One number a class, for one sensitive column on one quasi-identifier.

    ``extreme`` is the number of the worst class; ``violations`` counts records in classes beyond the limit.
    """

    quasi: str
    column: str
    keys: tuple[str, ...]
    sizes: Ints
    figures: Floats
    extreme: float
    violations: int
    frame: nw.DataFrame[Any]
    #: The largest share of one value in any class, where that was looked at.
    largest_share: float = 0.0

    @property
    def records(self) -> int:
        """Return the records looked at."""
        return int(self.sizes.sum())


P = TypeVar("P", bound=ClassPart)
R = TypeVar("R", bound="ClassResult[Any]")


@dataclass(frozen=True, repr=False)
class ClassResult(Result, Generic[P]):
    """Numbers by class; ``smaller_is_worse`` says which end is the worst."""

    parts: tuple[P, ...] = ()
    requested: float = 0.0
    smaller_is_worse = False

    @property
    def extreme(self) -> float:
        """Return the worst number over classes, sensitive columns and quasi-identifiers."""
        return self.worst_first()[0].extreme

    @property
    def violations(self) -> int:
        """Return the records in classes beyond what was asked for, for the worst column."""
        return max(part.violations for part in self.parts)

    @property
    def by_column(self) -> Mapping[str, float]:
        """Return the worst number of each sensitive column, in their order."""
        found = dict.fromkeys((part.column for part in self.parts), 0.0)
        return found | {part.column: part.extreme for part in reversed(self.worst_first())}

    def worst_first(self) -> list[P]:
        """Return the parts, the worst first."""
        sign = 1 if self.smaller_is_worse else -1
        return sorted(self.parts, key=lambda part: sign * part.extreme)

    def plot(self) -> Chart:
        """Return records by the number of their class, for the worst column."""
        return next(iter(self.charts()))

    def _charts(self, bins: Bins, title: str, x: str, more: str = "") -> Iterable[Chart]:
        """Return one chart per column and quasi-identifier, worst first."""
        for part in self.worst_first():
            yield columns(
                bins(part.figures, part.sizes, self.requested),
                title=f"Records by {title.format(part.column)}",
                subtitle=f"{part.quasi}: {', '.join(part.keys)}{more}",
                x=x,
            )


@dataclass(frozen=True, repr=False)
class ValueResult(ClassResult[ClassPart]):
    """Numbers by class, for each quasi-identifier and sensitive column."""

    figure: str = ""

    @property
    def largest(self) -> float:
        """Return the largest number over classes, sensitive columns and quasi-identifiers."""
        return self.extreme

    def charts(self) -> Iterable[Chart]:
        """Return one chart per column and quasi-identifier, worst first."""
        x = f"{self.figure} of the record's class"
        return self._charts(limit_bins, f"{self.figure} of {{}}", x)


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
