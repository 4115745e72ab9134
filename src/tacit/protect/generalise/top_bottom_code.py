"""Top and bottom coding: values beyond a limit are replaced by one value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.claims import Claim
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import Flags, Floats, Numbers, not_numeric, numbers
from tacit.errors import Infeasible, SdcError
from tacit.fields import ColumnName, PositiveInt
from tacit.registry import register
from tacit.spec import Method


@register
class TopBottomCode(Method):
    """Replace values above a top limit, and below a bottom limit, by one value each.

    The limits are numbers, or the shares of records to be coded at each end (0.005 is the usual half
    per cent); with a share the limit is the largest value that leaves at most that share beyond it. What
    replaces a tail is the limit itself, a given number, or the tail's mean or median; the (weighted) mean
    keeps the column's mean. ``least`` refuses a tail of fewer records, which would still point at them.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346.
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, section 3.4.
    """

    kind: Literal["top_bottom_code"] = "top_bottom_code"
    column: ColumnName = Field(description="the numeric column")
    top: float | None = Field(None, allow_inf_nan=False, description="values above this are coded")
    bottom: float | None = Field(
        None, allow_inf_nan=False, description="values below this are coded"
    )
    top_share: float | None = Field(
        None, gt=0, lt=1, description="code at most this share of the records at the top instead"
    )
    bottom_share: float | None = Field(
        None, gt=0, lt=1, description="code at most this share of the records at the bottom instead"
    )
    replace: Literal["limit", "mean", "median"] = Field(
        "limit", description="what replaces the values of a tail"
    )
    top_value: float | None = Field(
        None, allow_inf_nan=False, description="the number that replaces the top tail instead"
    )
    bottom_value: float | None = Field(
        None, allow_inf_nan=False, description="the number that replaces the bottom tail instead"
    )
    least: PositiveInt = Field(1, description="records that a coded tail must have at least")

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("top and bottom coding",)
    example: ClassVar[Mapping[str, Any]] = {"column": "income", "top": 80}

    @model_validator(mode="after")
    def _consistent(self) -> TopBottomCode:
        ends = (("top", self.top, self.top_share), ("bottom", self.bottom, self.bottom_share))
        for end, limit, share in ends:
            if limit is not None and share is not None:
                raise ValueError(f"give {end} or {end}_share, not both")
        if all(limit is None and share is None for _, limit, share in ends):
            raise ValueError("give a top or a bottom limit, or a share")
        if self.top is not None and self.bottom is not None and self.top < self.bottom:
            raise ValueError("top must not lie below bottom")
        if (self.top_share or 0) + (self.bottom_share or 0) >= 1:
            raise ValueError("top_share and bottom_share must leave some records as they are")
        for end, limit, share in ends:
            if getattr(self, f"{end}_value") is not None and limit is None and share is None:
                raise ValueError(f"{end}_value needs a {end} limit or share")
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: a column without numbers."""
        return [*super().faults(data), *not_numeric(data, [self.column], self.kind)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        column = numbers(data, self.column)
        if not column.known.any():
            return data
        values = column.values.astype(np.float64)
        weights = weights_of(data)
        new, coded = values.copy(), {}
        tails = {
            "top": (upper_limit(values[column.known], self.top, self.top_share), 1.0),
            "bottom": (lower_limit(values[column.known], self.bottom, self.bottom_share), -1.0),
        }
        for end, (limit, sign) in tails.items():
            if limit is None:
                continue
            tail = column.known & (sign * values > sign * limit)
            self.require_enough(int(tail.sum()), end)
            given = getattr(self, f"{end}_value")
            new[tail] = limit if given is None else given
            if given is None and self.replace != "limit" and tail.any():
                new[tail] = middle_of(values[tail], weights[tail], self.replace)
            coded[end] = int(tail.sum())
        ctx.note(coded=coded)
        return data.replace({self.column: column.restore(kept_whole(column, new))})

    def require_enough(self, n: int, end: str) -> None:
        """Refuse a tail that is not empty and too small."""
        if 0 < n < self.least:
            raise Infeasible(
                f"top_bottom_code: the {end} tail of column {self.column!r} has fewer than {self.least} records. Move the limit inwards."
            )

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del data, result
        limits = {"low": self.bottom, "high": self.top}
        for name, given in (("low", self.bottom_value), ("high", self.top_value)):
            if given is not None or (limits[name] is not None and self.replace != "limit"):
                limits[name] = None
        if any(v is not None for v in limits.values()):
            yield Claim("within-limits", limits, "values", (self.column,))


def upper_limit(known: Floats, limit: float | None, share: float | None) -> float | None:
    """Return the top limit: given, or the smallest value with at most the share of records above."""
    if share is None:
        return limit
    ordered = np.sort(known)
    return float(ordered[len(ordered) - 1 - int(np.floor(share * len(ordered)))])


def lower_limit(known: Floats, limit: float | None, share: float | None) -> float | None:
    """Return the bottom limit: given, or the largest value with at most the share of records below."""
    found = upper_limit(-known, None if limit is None else -limit, share)
    return None if found is None else -found


def middle_of(values: Floats, weights: Floats, how: Literal["mean", "median", "limit"]) -> float:
    """Return the weighted mean or median of a tail."""
    if how == "mean":
        return float(np.average(values, weights=weights if weights.sum() > 0 else None))
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    low = order[np.searchsorted(passed, passed[-1] / 2, side="left")]
    high = order[min(np.searchsorted(passed, passed[-1] / 2, side="right"), len(order) - 1)]
    return float(values[low] / 2 + values[high] / 2)


def kept_whole(column: Numbers, values: Floats) -> Any:
    """Return whole numbers where the column has them and the coded values are whole as well."""
    at: Flags = column.known
    if column.whole and (values[at] == np.floor(values[at])).all():
        changed = values != column.values
        return np.where(changed, values, 0.0).astype(np.int64) + np.where(changed, 0, column.values)
    return values
