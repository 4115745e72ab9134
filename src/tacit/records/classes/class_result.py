"""Results of measures that give each class one number: by quasi-identifier and sensitive column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import narwhals.stable.v2 as nw

from tacit.arrays import Ints
from tacit.plot.chart import Chart
from tacit.result import Result


@dataclass(frozen=True)
class ClassPart:
    """One sensitive column on one quasi-identifier; ``violations`` counts records in classes beyond the limit."""

    quasi: str
    column: str
    keys: tuple[str, ...]
    sizes: Ints
    violations: int
    frame: nw.DataFrame[Any]

    @property
    def records(self) -> int:
        """Return the records looked at."""
        return int(self.sizes.sum())

    @property
    def extreme(self) -> float:
        """Return the number of the worst class."""
        raise NotImplementedError


P = TypeVar("P", bound=ClassPart)


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
