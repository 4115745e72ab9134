"""What copies and weights give away of synthesised design variables: strata, clusters and sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import stats

from tacit.arrays import Floats, Ints
from tacit.context import Context
from tacit.data.copies import split_copies
from tacit.data.lined_up import read_codes
from tacit.data.microdata import Microdata
from tacit.data.paired import shared_positions
from tacit.data.values import not_numeric, read_numeric_column, row_numbers
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, PositiveFloat
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure

#: Relative difference below which a weight, or a size computed from it, is taken for another.
SAME = 1e-9


@register
class DesignRisk(Measure):
    """Share of records whose original stratum, cluster or size the copies, or the weights, give away.

    For a ``column`` of categories the attacker takes the value that most of the m copies of a record show (of several the
    smallest); for a size the mean of the copies and the nearest size of the population, which is the register where one is
    given and the original otherwise. *Weight inversion*: a released weight that belongs to one category of the original
    alone tells it, and a size is total / (n w) where the sample was drawn in proportion to size. The value is the larger
    share.

    Records are followed by their place in the file, which is what an attacker may do with columns that were left alone.

    References
    ----------
    Mitra, Reiter (2006), Adjusting survey weights when altering identifying design variables via synthetic data, PSD 2006,
    LNCS 4302, 177-188, section 3.
    de Waal, Willenborg (1997), Statistical disclosure control and sampling weights, Journal of Official Statistics 13(4),
    417-434.
    """

    kind: Literal["design_risk"] = "design_risk"
    column: ColumnName | None = Field(
        default=None, description="the stratum, cluster or size; by default the stratum"
    )
    size: bool = Field(default=False, description="the column is a size, not a category")
    total: PositiveFloat | None = Field(
        default=None,
        description="sum of the sizes in the population; by default what the original weights estimate",
    )

    on_weight = "used"
    on_stratum = "used"
    compares: ClassVar[bool] = True
    on_copies: ClassVar[Literal["each", "together"]] = "together"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {"column": "job"}

    def judged(self, data: Microdata) -> str | None:
        """Return the column that is judged."""
        return self.column or data.stratum

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no column to judge, or a size without numbers."""
        if found := super().faults(data):
            return found
        column = self.judged(data)
        if column is None:
            return [InputError("design_risk: name the column, or declare a stratum")]
        return list(not_numeric(data, [column], self.kind)) if self.size else []

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> Result:
        del ctx
        self.check(other.original)
        column = self.judged(data)
        assert column is not None
        copies = split_copies(data)
        rows = row_numbers(other.original)
        places = [shared_positions(rows, row_numbers(c)) for c in copies]
        old = places[0][0]
        if any(not np.array_equal(old, p[0]) for p in places) or not len(old):
            raise InputError("design_risk: the copies do not hold the same records of the original")
        parts = [c.take(p[1]) for c, p in zip(copies, places, strict=True)]
        judge = self.judge_sizes if self.size else self.judge_categories
        numbers = judge(other, parts, old, column)
        shares = [v for k, v in numbers.items() if k.startswith("share")]
        return Result(
            kind=self.kind,
            title=f"Design variable {column}",
            value=max(shares),
            numbers={**numbers, "copies": len(copies), "records": len(old)},
            explanation=explain(numbers, column, size=self.size),
        )

    def judge_categories(
        self, other: Companions, parts: Sequence[Microdata], old: Ints, column: str
    ) -> dict[str, Any]:
        """Return shares of records whose category the mode, or the weight, gives away."""
        original = other.original.take(old)
        codes = read_codes([d.column(column) for d in (original, *parts)]).astype(np.int64)
        each = codes.reshape(1 + len(parts), len(old))
        mode = modes(each[1:])
        found: dict[str, Any] = {
            "share told by the commonest value": float((mode == each[0]).mean())
        }
        if original.weight is not None and all(p.weight for p in parts):
            before = weights(original)
            shares = [invert_categories(before, each[0], weights(p)) for p in parts]
            found["share told by the weight"] = float(np.mean(shares))
        return found

    def judge_sizes(
        self, other: Companions, parts: Sequence[Microdata], old: Ints, column: str
    ) -> dict[str, Any]:
        """Return shares of records whose size the mean of the copies, or the weight, gives away."""
        original = other.original.take(old)
        truth = numbers_of(original, column)
        mean = np.mean([numbers_of(p, column) for p in parts], axis=0)
        population = (
            numbers_of(other.register, column)
            if other.has_register and column in other.register.columns
            else truth
        )
        hit = np.isclose(nearest_value(population, mean), truth, rtol=SAME, atol=0.0)
        # Of several with the nearest size one is picked at random.
        ordered = np.sort(population)
        ties = np.searchsorted(ordered, truth, "right") - np.searchsorted(ordered, truth, "left")
        found: dict[str, Any] = {
            "share told by the nearest size": float((hit / np.maximum(ties, 1)).mean())
        }
        if original.weight is not None and all(p.weight for p in parts):
            total = self.total or float(weights(original) @ truth)
            n = len(other.original)
            told = [
                np.isclose(total / (n * weights(p)), truth, rtol=1e-6, atol=0.0).mean()
                for p in parts
            ]
            found["share told by the weight"] = float(np.mean(told))
        return found


def modes(each: Ints) -> Ints:
    """Return the commonest code of each record over copies x records; of several the smallest."""
    found: Ints = stats.mode(each, axis=0).mode
    return found


def invert_categories(before: Floats, codes: Ints, after: Floats) -> float:
    """Return the share of records whose released weight stood beside one category alone, which is their own."""
    rounded = np.round(np.log(before) / SAME).astype(np.int64)
    values, place = np.unique(rounded, return_inverse=True)
    low = np.full(len(values), np.iinfo(np.int64).max)
    high = np.full(len(values), -1)
    np.minimum.at(low, place.ravel(), codes)
    np.maximum.at(high, place.ravel(), codes)
    sought = np.round(np.log(after) / SAME).astype(np.int64)
    at = np.minimum(np.searchsorted(values, sought), len(values) - 1)
    told = (values[at] == sought) & (low[at] == high[at]) & (low[at] == codes)
    return float(told.mean())


def nearest_value(population: Floats, wanted: Floats) -> Floats:
    """Return the value of a list nearest to each wanted one; of two the smaller."""
    ordered = np.sort(population)
    at = np.clip(np.searchsorted(ordered, wanted), 1, max(len(ordered) - 1, 1))
    low, high = ordered[at - 1], ordered[np.minimum(at, len(ordered) - 1)]
    return np.where(wanted - low <= high - wanted, low, high)


def numbers_of(data: Microdata, column: str) -> Floats:
    """Return a complete column of sizes."""
    found = read_numeric_column(data, column)
    if not found.known.all():
        raise InputError(f"design_risk: sizes of column {column!r} must be known")
    return found.values.astype(np.float64)


def weights(data: Microdata) -> Floats:
    """Return weights above 0."""
    assert data.weight is not None
    found = numbers_of(data, data.weight)
    if not (found > 0).all():
        raise InputError("design_risk: survey weights must be above 0")
    return found


def explain(numbers: Mapping[str, Any], column: str, *, size: bool) -> str:
    """Return the outcome in plain words."""
    first = next(iter(numbers.values()))
    how = (
        "the nearest size to the mean of the copies" if size else "the value that most copies show"
    )
    said = [
        f"Taking {how}, an attacker finds the original {column!r} of {first:.1%} of the records."
    ]
    told = numbers.get("share told by the weight")
    if told is not None:
        said.append(
            f"The released weight tells it for {told:.1%}."
            if told
            else "The released weights tell it for nobody."
        )
    return " ".join(said)
