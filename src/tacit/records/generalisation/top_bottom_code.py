"""Top and bottom coding: values beyond a limit are replaced by one value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, FiniteFloat, model_validator

from tacit.arrays import Floats
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.in_blocks import (
    Change,
    change_records,
    finite_numbers,
    fold_records,
    unit_frame,
)
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers
from tacit.engine.exact_sums import sum_columns
from tacit.engine.relational import count_rows
from tacit.errors import Infeasible, InputError
from tacit.fields import ColumnName, OpenShare, PositiveInt
from tacit.registry import register
from tacit.spec import Method

V, W = "__value__", "__weight__"


@register
class TopBottomCode(Method):
    """Replace values above a top limit, and below a bottom limit, by one value each.

    The limits are numbers, or the shares of records to be coded at each end (0.005 is the usual half
    per cent); with a share the limit is the largest value that leaves at most that share beyond it. What
    replaces a tail is the limit itself, a given number, or the tail's mean or median; the (weighted) mean
    keeps the column's mean. ``least`` refuses a tail of fewer records, which would still point at them;
    where the column is constant in declared households, it counts households.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346.
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley.
    """

    kind: Literal["top_bottom_code"] = "top_bottom_code"
    column: ColumnName = Field(description="the numeric column")
    top: FiniteFloat | None = Field(default=None, description="values above this are coded")
    bottom: FiniteFloat | None = Field(default=None, description="values below this are coded")
    top_share: OpenShare | None = Field(
        default=None, description="code at most this share of the records at the top instead"
    )
    bottom_share: OpenShare | None = Field(
        default=None, description="code at most this share of the records at the bottom instead"
    )
    replace: Literal["limit", "mean", "median"] = Field(
        default="limit", description="what replaces the values of a tail"
    )
    top_value: FiniteFloat | None = Field(
        default=None, description="the number that replaces the top tail instead"
    )
    bottom_value: FiniteFloat | None = Field(
        default=None, description="the number that replaces the bottom tail instead"
    )
    least: PositiveInt = Field(
        default=1, description="records that a coded tail must have at least"
    )

    on_household = "by_value"
    takes_copies: ClassVar[bool] = True
    on_weight = "used"
    techniques: ClassVar[tuple[str, ...]] = ("top and bottom coding",)
    example: ClassVar[Mapping[str, Any]] = {"column": "income", "top": 80}
    number_fields = ("column",)

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

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        ends = {"top": 1.0, "bottom": -1.0}
        limits = {end: self.limit_of(data, end, sign) for end, sign in ends.items()}
        tails, coded = [], {}
        for end, sign in ends.items():
            if (limit := limits[end]) is None:
                continue
            beyond = orient_column(self.column, sign) > sign * limit
            n = count_rows(data.frame.filter(beyond))
            units = count_rows(unit_frame(data, [self.column]).filter(beyond)) if n else 0
            if 0 < units < self.least:
                raise Infeasible(
                    f"top_bottom_code: the {end} tail of column {self.column!r} has fewer than {self.least} records. Move the limit inwards."
                )
            coded[end] = n
            if n:
                tails.append((sign, limit, self.value_of(data, end, sign, limit, ctx)))
        if coded:
            ctx.note(coded=coded)
        if not tails:
            return data

        def code_block(_block: int, table: pa.Table) -> Change:
            """Return the column with its tails coded; whole where it was and the codes are."""
            found = as_numbers(table.column(self.column), self.column)
            values = found.values.astype(np.float64)
            whole = found.whole and all(value == np.floor(value) for _, _, value in tails)
            new = found.values.copy() if whole else values.copy()
            for sign, limit, value in tails:
                new[found.known & (sign * values > sign * limit)] = value
            return Change({self.column: found.restore(new)})

        return change_records(data, code_block, ctx)[0]

    def limit_of(self, data: Microdata, end: str, sign: float) -> float | None:
        """Return a limit: given, or the value with at most the share of records beyond it."""
        share = getattr(self, f"{end}_share")
        if share is None:
            given = getattr(self, end)
            return None if given is None else float(given)
        value = orient_column(self.column, sign).alias(V)
        known = data.frame.select(value).filter(~nw.col(V).is_null())
        beyond = int(np.floor(share * count_rows(known)))
        last = known.sort(V, descending=True).head(beyond + 1).select(nw.col(V).min())
        found = last.collect("pyarrow").item(0, V)
        return None if found is None else sign * float(found)

    def value_of(self, data: Microdata, end: str, sign: float, limit: float, ctx: Context) -> float:
        """Return what replaces a tail that is not empty."""
        given = getattr(self, f"{end}_value")
        if given is not None or self.replace == "limit":
            return limit if given is None else float(given)
        refuse_weights(data)
        tail = data.filter(orient_column(self.column, sign) > sign * limit)
        if self.replace == "mean":
            return tail_mean(tail, self.column, ctx)
        weight = nw.lit(1.0) if data.weight is None else nw.col(data.weight).cast(nw.Float64)
        values = tail.frame.select(nw.col(self.column).cast(nw.Float64).alias(V), weight.alias(W))
        table = sum_columns(values, [V], {W: W}).collect("pyarrow").to_native()
        return middle_of(*(table.column(c).to_numpy() for c in (V, W)))

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del data, result
        limits = {"low": self.bottom, "high": self.top}
        for name, given in (("low", self.bottom_value), ("high", self.top_value)):
            if given is not None or (limits[name] is not None and self.replace != "limit"):
                limits[name] = None
        if any(v is not None for v in limits.values()):
            yield Claim("within-limits", limits, "values", (self.column,))


def orient_column(column: str, sign: float) -> nw.Expr:
    """Return the column, turned round for the bottom, so that a tail lies above its limit."""
    return nw.col(column).cast(nw.Float64) * sign


def refuse_weights(data: Microdata) -> None:
    """Refuse weights that are missing, negative or all 0."""
    if data.weight is None:
        return
    w = nw.col(data.weight)
    facts = (w.is_null() | (w < 0)).cast(nw.Int64).sum().alias("bad"), w.max().alias("most")
    told = data.frame.select(*facts).collect("pyarrow").rows(named=True)[0]
    if told["bad"] or told["most"] == 0:
        raise InputError(
            f"the weight column {data.weight!r} must be complete, without negative numbers, and not all 0"
        )


def tail_mean(tail: Microdata, column: str, ctx: Context) -> float:
    """Return the weighted mean of a tail; unweighted where its weights are all 0."""
    weight = tail.weight

    def tell(_block: int, table: pa.Table) -> Mapping[str, Any]:
        x = finite_numbers(table, column).values.astype(np.float64)
        w = np.ones(len(x)) if weight is None else as_numbers(table.column(weight), weight).values
        return {"n": len(x), "x": float(x.sum()), "w": float(w.sum()), "wx": float((w * x).sum())}

    told = fold_records(tail, [column, *([weight] if weight else [])], tell, ctx)
    total = {key: math.fsum(t[key] for t in told) for key in ("n", "x", "w", "wx")}
    return total["wx"] / total["w"] if total["w"] > 0 else total["x"] / total["n"]


def middle_of(values: Floats, weights: Floats) -> float:
    """Return the weighted median of a tail."""
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    low = order[np.searchsorted(passed, passed[-1] / 2, side="left")]
    high = order[min(np.searchsorted(passed, passed[-1] / 2, side="right"), len(order) - 1)]
    return float(values[low] / 2 + values[high] / 2)
