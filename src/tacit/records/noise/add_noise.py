"""Additive noise: every value gets a random increment of a stated distribution."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.in_blocks import change_each, column_moments, finite_numbers
from tacit.data.microdata import Microdata
from tacit.data.values import Numbers
from tacit.errors import WeakProtection
from tacit.fields import ColumnNames, KeepWhole, PositiveFloat
from tacit.records.noise.outlier_to_median import nearest_whole
from tacit.registry import register
from tacit.spec import Method

Distribution = Literal["normal", "uniform", "laplace"]


@register
class AddNoise(Method):
    """Add independent random noise of mean 0 and a stated standard deviation.

    The released value is ``x + e`` with e normal, uniform on an interval or Laplace. The standard
    deviation is given as ``sd``, or ``relative`` to the column's own. Means stay the same in expectation
    and variances grow by ``sd ** 2``, which an analyst can take out because the distribution is public;
    the draws are not. A column that is constant in declared households gets one increment per household.

    References
    ----------
    Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation,
    Proceedings of the ASA Section on Survey Research Methods, 370-374.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["add_noise"] = "add_noise"
    columns: ColumnNames = Field(description="the numeric columns that get noise")
    sd: PositiveFloat | None = Field(
        default=None, description="standard deviation of the noise; or give relative"
    )
    relative: PositiveFloat | None = Field(
        default=None, description="standard deviation of the noise as a share of the column's own"
    )
    distribution: Distribution = Field(default="normal", description="distribution of the noise")
    whole: KeepWhole = True

    keep_zeros: bool = Field(
        default=False,
        description="leave zeros as they are: those that mean 'none', such as no income",
    )

    on_household = "together"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("additive noise",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "sd": 2}
    number_fields = ("columns",)

    @model_validator(mode="after")
    def _one_size(self) -> AddNoise:
        if (self.sd is None) == (self.relative is None):
            raise ValueError("give either sd or relative")
        return self

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        sds = self.spreads(data, ctx)

        def noisy(table: pa.Table, c: str, rng: np.random.Generator) -> pa.Array:
            column = finite_numbers(table, c)
            e = noise(table.num_rows, sds[c], self.distribution, rng)
            x = column.values
            y = x + (np.where(x == 0, 0.0, e) if self.keep_zeros else e)
            return column.restore(nearest_whole(y) if column.whole and self.whole else y)

        result = change_each(data, self.columns, noisy, ctx)
        ctx.note(distribution=self.distribution, sd=sds)
        return result

    def spreads(self, data: Microdata, ctx: Context) -> dict[str, float]:
        """Return the standard deviation of each column's noise."""
        if self.sd is not None:
            return dict.fromkeys(self.columns, self.sd)
        found = column_moments(data, self.columns, ctx)
        for c, told in found.items():
            if told.n and told.sd[0] == 0:
                warnings.warn(
                    f"add_noise: column {c!r} is constant, so relative noise leaves it as it is; give sd",
                    WeakProtection,
                    stacklevel=4,
                )
        return {c: (self.relative or 0.0) * float(told.sd[0]) for c, told in found.items()}


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
