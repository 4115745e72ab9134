"""What one system did, and the facts that explain a release of records by its keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.records.generalisation.precision import (
    ACCOUNTINGS,
    ColumnLoss,
    Precision,
    PrecisionResult,
)
from tacit.records.utility.information_loss import InformationLossResult
from tacit.report.facts import sizes_of
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.tables.compare.table_comparison import TableComparisonResult

#: The label of the facts about keys, which stand first in a comparison of records.
KEYS = "keys"


class KeyFacts(Measure):
    """Precision in three accountings, the smallest class, unique records, drops and levels."""

    family: ClassVar[str] = "utility"
    compares: ClassVar[bool] = True
    better: ClassVar[Literal["lower", "higher"] | None] = "higher"

    kind: Literal["keys"] = "keys"
    k: int | None = None

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> KeyFactsResult:
        del ctx
        loss = Precision(accounting="strict", columns=None).measure(data, original=other.original)
        assert isinstance(loss, PrecisionResult)
        smallest, uniques = class_facts(data, other.original.keys)
        met = {} if self.k is None else {f"k >= {self.k}": smallest >= self.k}
        values = {
            **{f"precision ({a})": loss.accountings[a] for a in ACCOUNTINGS},
            "k": smallest,
            **met,
            "uniques": uniques,
            "dropped": loss.counts.dropped,
            "suppressed cells": loss.suppressed,
            "levels": ", ".join(f"{c} {level_range(p)}" for c, p in loss.losses.items()),
        }
        return KeyFactsResult(
            kind=self.kind,
            title=self.title(),
            value=loss.value,
            numbers=values,
            values=values,
            loss=loss,
        )


@dataclass(frozen=True, repr=False)
class KeyFactsResult(Result):
    """The facts by column of the comparison (``values``), and the whole loss of precision (``loss``)."""

    values: Mapping[str, Any] = field(default_factory=dict)
    loss: PrecisionResult | None = None


@dataclass(frozen=True)
class Outcome:
    """What one system did.

    Attributes
    ----------
    name
        The system's name in the comparison.
    released
        The protected data; None when the system could not meet its requirement.
    results
        What the measures found, by label.
    seconds
        How long the system took.
    reasons
        Why something is missing, in sentences.
    warnings
        What the system and the measures warned of.
    """

    name: str
    released: Any = None
    results: Mapping[str, Result] = field(default_factory=dict)
    seconds: float = 0.0
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Any]:
        """Return every value by its column in the comparison."""
        return {n: v for label, r in self.results.items() for n, v in columns_of(label, r).items()}

    def __getitem__(self, column: str) -> Any:
        if column not in self.values:
            raise InputError(
                f"no value {column!r} of {self.name}. Values: {', '.join(self.values)}."
            )
        return self.values[column]

    def __contains__(self, column: object) -> bool:
        return column in self.values

    @property
    def loss(self) -> PrecisionResult | None:
        """Return precision, levels, dropped and suppressed; None where the data have no keys."""
        found = self.results.get(KEYS)
        return found.loss if isinstance(found, KeyFactsResult) else None

    @property
    def k(self) -> int:
        """Return the size of the smallest class over all keys together."""
        return int(self.values.get("k", 0))

    @property
    def uniques(self) -> int:
        """Return how many released records are alone in their class."""
        return int(self.values.get("uniques", 0))

    def row(self) -> dict[str, Any]:
        """Return the outcome as a row of the table."""
        reason = " ".join(self.reasons) or None
        return {"system": self.name, **self.values, "seconds": self.seconds, "reason": reason}


def columns_of(label: str, result: Result) -> dict[str, Any]:
    """Return the columns that a measure adds to a comparison: most add their value."""
    if isinstance(result, KeyFactsResult | InformationLossResult | TableComparisonResult):
        return dict(result.values)
    return {label: result.value}


def class_facts(released: Microdata, keys: Sequence[str]) -> tuple[int, int]:
    """Return the smallest class over all keys that are left, and the unique records; on the engine."""
    left = [key for key in keys if key in released.columns]
    if not left:
        n = len(released)
        return n, int(n == 1)
    sizes = sizes_of(released, tuple(left))
    return sizes.smallest, sizes.get(1, 0)


def level_range(loss: ColumnLoss) -> str:
    """Return a column's level in the release, as one number or a range."""
    return f"{loss.lowest}" if loss.lowest == loss.highest else f"{loss.lowest}-{loss.highest}"
