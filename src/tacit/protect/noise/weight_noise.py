"""Noise on the sampling weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Floats, Ints, classes, not_numeric, numbers
from tacit.errors import InputError, RoleMissing, SdcError
from tacit.fields import ColumnName
from tacit.registry import register
from tacit.spec import Method


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
    Hundepool et al., mu-ARGUS User's Manual, section on adding noise to the weight.
    """

    kind: Literal["weight_noise"] = "weight_noise"
    column: ColumnName | None = Field(
        None, description="the weight column; by default the one that is declared"
    )
    percent: float = Field(
        10.0, gt=0, lt=100, description="largest change of a weight, in per cent of it"
    )
    keep_total: bool = Field(
        True, description="scale the noisy weights so that they sum to what they did"
    )
    by: tuple[ColumnName, ...] = Field(
        (), description="keep the sum of the weights in each class of these columns"
    )

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("multiplicative noise",)
    example: ClassVar[Mapping[str, Any]] = {"column": "income", "percent": 5}

    def columns_named(self) -> tuple[str, ...]:
        """Return the weight and the columns that form classes."""
        return (*((self.column,) if self.column else ()), *self.by)

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
        column = numbers(data, name)
        w = column.values.astype(np.float64)
        if len(w) == 0:
            return data
        if not (column.known.all() and np.isfinite(w).all() and (w >= 0).all()):
            raise InputError(
                f"weight_noise: the weights in {name!r} must be complete, finite and not negative"
            )
        unit = classes(data, (data.household,))[0] if data.household else np.arange(len(w))
        noisy = w * (1.0 + self.draws(int(unit.max()) + 1, ctx.rng)[unit])
        if self.keep_total:
            noisy *= rescaling(w, noisy, classes(data, self.by)[0])
        ctx.note(
            percent=self.percent,
            keep_total=self.keep_total,
            largest_change_percent=100.0 * largest_change(w, noisy),
        )
        return data.replace({name: column.restore(noisy)})

    def draws(self, n: int, rng: np.random.Generator) -> Floats:
        """Return relative changes."""
        return rng.uniform(-self.percent / 100.0, self.percent / 100.0, n)


def rescaling(before: Floats, after: Floats, group: Ints) -> Floats:
    """Return for each record the factor that gives its class the old sum of weights."""
    old, new = (np.bincount(group, weights=w) for w in (before, after))
    return np.asarray(np.where(new > 0, old / np.where(new > 0, new, 1.0), 1.0)[group])


def largest_change(before: Floats, after: Floats) -> float:
    """Return the largest relative change of a weight."""
    positive = before > 0
    if not positive.any():
        return 0.0
    return float(np.abs(after[positive] / before[positive] - 1.0).max())
