"""Noise on the sampling weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.in_blocks import (
    Change,
    change_households,
    change_records,
    draws_of,
    fold_records,
    strata,
)
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers, not_numeric
from tacit.engine.class_index import ClassIndex
from tacit.engine.relational import count_rows
from tacit.errors import InputError, RoleMissing, SdcError
from tacit.fields import ColumnName
from tacit.registry import register
from tacit.spec import Method

#: The hidden column of factors.
FACTOR = "__factor__"


@register
class WeightNoise(Method):
    """Multiply sampling weights by random factors within a percentage of 1.

    Weights can identify: a weight that occurs once names its stratum, often its stratum's smallest cell.
    Every weight becomes

        w' = w (1 + u),    u uniform on -percent/100 .. percent/100,

    and, with ``keep_total``, all weights of a class of ``by`` are then divided by one number so that they
    sum to what they did. Members of a household share one factor where a household is declared.

    References
    ----------
    Hundepool (2006), The ARGUS software in CENEX, PSD 2006, LNCS 4302, 334-346.
    Hundepool et al., mu-ARGUS User's Manual.
    """

    kind: Literal["weight_noise"] = "weight_noise"
    column: ColumnName | None = Field(
        default=None, description="the weight column; by default the one that is declared"
    )
    percent: float = Field(
        default=10.0, gt=0, lt=100, description="largest change of a weight, in per cent of it"
    )
    keep_total: bool = Field(
        default=True, description="scale the noisy weights so that they sum to what they did"
    )
    by: tuple[ColumnName, ...] = Field(
        default=(), description="keep the sum of the weights in each class of these columns"
    )

    on_household = "together"
    on_weight = "changed"
    on_stratum = "by"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("multiplicative noise",)
    example: ClassVar[Mapping[str, Any]] = {"column": "income", "percent": 5}
    column_fields = ("column", "by")

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the weight."""
        name = self.column or data.weight
        return () if name is None else (name,)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no weight, one without numbers."""
        found = super().faults(data)
        name = self.column or data.weight
        if name is None:
            return [
                *found,
                RoleMissing(
                    "weight_noise needs a weight. Declare it with tacit.read(..., weight=...) or name column."
                ),
            ]
        return [*found, *not_numeric(data, [name], self.kind)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        name = self.column or data.weight
        assert name is not None
        if not len(data):
            return data
        weight = nw.col(name).cast(nw.Float64)
        bad = weight.is_null() | (weight < 0) | (weight > np.finfo(np.float64).max)
        if count_rows(data.frame.filter(bad)):
            raise InputError(
                f"weight_noise: the weights in {name!r} must be complete, finite and not negative"
            )
        with_factors = self.draw_factors(data, ctx)
        index, _ = strata(data, self.by)
        scale = (
            self.scales(with_factors, name, index, ctx) if self.keep_total else np.ones(index.size)
        )

        def change(_block: int, table: pa.Table) -> Change:
            column = as_numbers(table.column(name), name)
            w = column.values.astype(np.float64)
            noisy = w * table.column(FACTOR).to_numpy() * scale[index.find(table)]
            positive = w > 0
            largest = float(np.abs(noisy[positive] / w[positive] - 1.0).max(initial=0.0))
            return Change({name: column.restore(noisy)}, tally={"largest": largest})

        result, told = change_records(with_factors, change, ctx)
        ctx.note(
            percent=self.percent,
            keep_total=self.keep_total,
            largest_change_percent=100.0 * max(t["largest"] for t in told),
        )
        return result.drop([FACTOR])

    def draw_factors(self, data: Microdata, ctx: Context) -> Microdata:
        """Return the data with one factor per record or household, in a hidden column."""
        draws, share = draws_of(ctx), self.percent / 100.0

        def change(block: int, table: pa.Table) -> Change:
            u = draws(block, 0).uniform(-share, share, table.num_rows)
            return Change({FACTOR: pa.array(1.0 + u)})

        if data.household is None:
            return change_records(data, change, ctx)[0]
        return change_households(data, (FACTOR,), change, ctx)[0]

    def scales(self, data: Microdata, name: str, index: ClassIndex, ctx: Context) -> Floats:
        """Return for each class the factor that gives it the old sum of weights."""

        def tell(_block: int, table: pa.Table) -> Mapping[str, Any]:
            group = index.find(table)
            w = as_numbers(table.column(name), name).values.astype(np.float64)
            noisy = w * table.column(FACTOR).to_numpy()
            here, place = np.unique(group, return_inverse=True)
            sums = [np.bincount(place, weights=v).tolist() for v in (w, noisy)]
            return {"classes": here.tolist(), "old": sums[0], "new": sums[1]}

        old, new = np.zeros(index.size), np.zeros(index.size)
        for told in fold_records(data, [name, FACTOR, *self.by], tell, ctx):
            old[told["classes"]] += told["old"]
            new[told["classes"]] += told["new"]
        return np.where(new > 0, old / np.where(new > 0, new, 1.0), 1.0)
