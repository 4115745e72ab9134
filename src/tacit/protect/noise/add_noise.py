"""Additive noise: every value gets a random increment of a stated distribution."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Floats, Numbers, not_numeric, numbers
from tacit.errors import SdcError, WeakProtection
from tacit.fields import ColumnNames, PositiveFloat
from tacit.protect.noise.outlier_to_median import nearest_whole
from tacit.registry import register
from tacit.spec import Method

Distribution = Literal["normal", "uniform", "laplace"]

#: Values drawn at a time, so that memory stays flat and a run can be stopped.
CHUNK = 1 << 20


@register
class AddNoise(Method):
    """Add independent random noise of mean 0 and a stated standard deviation.

    The released value is ``x + e`` with e normal, uniform on an interval or Laplace. The standard
    deviation is given as ``sd``, or ``relative`` to the column's own. Means stay the same in expectation
    and variances grow by ``sd ** 2``, which an analyst can take out because the distribution is public;
    the draws are not.

    References
    ----------
    Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation,
    Proceedings of the ASA Section on Survey Research Methods, 370-374.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["add_noise"] = "add_noise"
    columns: ColumnNames = Field(description="the numeric columns that get noise")
    sd: PositiveFloat | None = Field(
        None, description="standard deviation of the noise; or give relative"
    )
    relative: PositiveFloat | None = Field(
        None, description="standard deviation of the noise as a share of the column's own"
    )
    distribution: Distribution = Field("normal", description="distribution of the noise")
    whole: bool = Field(
        True, description="keep whole-number columns whole, by rounding the noisy value"
    )

    keep_zeros: bool = Field(
        False, description="leave zeros as they are: those that mean 'none', such as no income"
    )

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("additive noise",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "sd": 2}

    @model_validator(mode="after")
    def _one_size(self) -> AddNoise:
        if (self.sd is None) == (self.relative is None):
            raise ValueError("give either sd or relative")
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers."""
        return [*super().faults(data), *not_numeric(data, self.columns, self.kind)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        new, sds = {}, {}
        for c in self.columns:
            column = numbers(data, c)
            sds[c] = (
                self.sd
                if self.sd is not None
                else (self.relative or 0.0) * standard_deviation(column)
            )
            if sds[c] == 0 and column.known.any():
                warnings.warn(
                    f"add_noise: column {c!r} is constant, so relative noise leaves it as it is; give sd",
                    WeakProtection,
                    stacklevel=3,
                )
            noisy = self.noisy(column, sds[c], ctx)
            new[c] = column.restore(nearest_whole(noisy) if column.whole and self.whole else noisy)
        ctx.note(distribution=self.distribution, sd=sds)
        return data.replace(new)

    def noisy(self, column: Numbers, sd: float, ctx: Context) -> Floats:
        """Return a column with noise, drawn in chunks so that a run can be stopped."""
        n = len(column.values)
        out = np.empty(n)
        for start in range(0, n, CHUNK):
            ctx.tick("drawing noise", start / n)
            x = column.values[start : start + CHUNK]
            e = noise(len(x), sd, self.distribution, ctx.rng)
            out[start : start + CHUNK] = x + (np.where(x == 0, 0.0, e) if self.keep_zeros else e)
        return out


def standard_deviation(column: Numbers) -> float:
    """Return the standard deviation of the known values; 0 for fewer than two."""
    known = column.values if column.known.all() else column.values[column.known]
    return float(np.std(known, ddof=1)) if len(known) > 1 else 0.0


def noise(n: int, sd: float, distribution: Distribution, rng: np.random.Generator) -> Floats:
    """Return n draws of mean 0 and the given standard deviation."""
    match distribution:
        case "normal":
            return rng.normal(0.0, sd, n)
        case "uniform":
            return rng.uniform(-1.0, 1.0, n) * (sd * np.sqrt(3.0))
        case _:
            return rng.laplace(0.0, 1.0, n) * (sd / np.sqrt(2.0))
