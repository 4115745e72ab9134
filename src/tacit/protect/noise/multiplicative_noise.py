"""Multiplicative noise: every value is multiplied by a random factor around 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Floats, Numbers, as_numbers, not_numeric
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnNames, Secret
from tacit.protect.noise.outlier_to_median import nearest_whole
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import TOLERANCE, factor
from tacit.stats.noise import (
    Factors,
    factor_variance,
    lognormal_factors,
    truncated_factors,
    two_sided_factors,
)

#: Records drawn at a time, so that memory stays flat and a run can be stopped.
CHUNK = 1 << 19


@register
class MultiplicativeNoise(Method):
    """Multiply every value by a random factor of mean 1.

    The release holds y = x f, with f independent of x, E(f) = 1 and Var(f) = v, so that the error grows
    with the value: large firms and incomes, which additive noise leaves in the open, get large errors.
    Zeros stay zero and no value changes its sign. For f

    - ``lognormal``: ln f ~ N(-s^2 / 2, s^2), v = sd^2 = exp(s^2) - 1;
    - ``truncated``: normal of mean 1, cut symmetrically at 1 - limit and 1 + limit;
    - ``two_sided``: 1 + d or 1 - d, each with probability 1/2, d in [gap, limit] with falling density, so
      that no value is released almost as it is.

    Means are unbiased. E(y^2) = (1 + v) E(x^2), so users divide second moments by 1 + v (and products of
    two columns by 1 + Cov(f1, f2)); :func:`tacit.stats.noise.corrected_moments` does it, and v is stated.
    ``shared`` gives all columns of a record one factor, which keeps ratios and parts of a total;
    ``correlated`` gives the logarithms of the factors the correlations of those of the columns.

    References
    ----------
    Kim, Winkler (2003), Multiplicative noise for masking continuous data, Research Report Series
    (Statistics 2003-01), U.S. Bureau of the Census.
    Evans, Zayatz, Slanta (1998), Using noise for disclosure limitation of establishment tabular data,
    Journal of Official Statistics 14, 537-551.
    """

    kind: Literal["multiplicative_noise"] = "multiplicative_noise"
    columns: ColumnNames = Field(description="the numeric columns to multiply")
    distribution: Factors = Field("lognormal", description="distribution of the factors")
    sd: float = Field(
        0.1,
        gt=0,
        lt=1,
        description="standard deviation of the factors (lognormal), or before they are cut (truncated)",
    )
    gap: float = Secret(
        0.05, ge=0, lt=1, description="two_sided: smallest distance of a factor from 1"
    )
    limit: float = Secret(
        0.2, gt=0, lt=1, description="truncated, two_sided: largest distance of a factor from 1"
    )
    shared: bool = Field(False, description="multiply all columns of a record by one factor")
    correlated: bool = Field(
        False,
        description="lognormal: give the factors' logarithms the correlations of the columns' logarithms",
    )
    whole: bool = Field(
        True, description="keep whole-number columns whole, by rounding the noisy value"
    )

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("multiplicative noise",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"]}

    @model_validator(mode="after")
    def _consistent(self) -> MultiplicativeNoise:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        if self.distribution == "two_sided" and self.gap >= self.limit:
            raise ValueError("gap must be less than limit")
        if self.correlated and (self.shared or self.distribution != "lognormal"):
            raise ValueError("correlated goes with lognormal factors that are not shared")
        return self

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers."""
        return [*super().faults(data), *not_numeric(data, self.columns, self.kind)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        read = data.to_arrow(self.columns)
        table = [as_numbers(read.column(c), c) for c in self.columns]
        n = read.num_rows
        root = self.log_root(table) if self.correlated else None
        noisy = [np.empty(n) for _ in table]
        for start in range(0, n, CHUNK):
            ctx.tick("multiplying", start / n)
            at = slice(start, min(start + CHUNK, n))
            f = self.factors(at.stop - at.start, root, ctx.rng)
            for j, column in enumerate(table):
                noisy[j][at] = column.values[at] * f[:, 0 if self.shared else j]
        v = factor_variance(self.distribution, self.sd, self.gap, self.limit)
        ctx.note(distribution=self.distribution, factor_variance=v, shared=self.shared)
        return data.replace(
            {c: self.released(t, y) for c, t, y in zip(self.columns, table, noisy, strict=True)}
        )

    def factors(self, n: int, root: Floats | None, rng: np.random.Generator) -> Floats:
        """Return factors, one column each, or one column when they are shared."""
        shape = (n, 1 if self.shared else len(self.columns))
        match self.distribution:
            case "lognormal":
                z = rng.standard_normal(shape)
                return lognormal_factors(z if root is None else z @ root.T, self.sd)
            case "truncated":
                return truncated_factors(rng.random(shape), self.sd, self.limit)
            case _:
                return two_sided_factors(rng.random(shape), self.gap, self.limit)

    def log_root(self, table: list[Numbers]) -> Floats:
        """Return a root of the correlation matrix of the columns' logarithms."""
        known = np.logical_and.reduce([t.known for t in table])
        x = np.column_stack([t.values[known].astype(np.float64) for t in table])
        if len(x) < 2 or (x <= 0).any():
            raise InputError(
                "multiplicative_noise: correlated factors need at least two complete records and values above 0. Leave out correlated."
            )
        logs = np.log(x)
        spread = logs.std(axis=0)
        if (spread <= TOLERANCE).any():
            raise InputError(
                "multiplicative_noise: correlated factors need columns that vary. Leave out constant columns."
            )
        return factor(np.atleast_2d(np.corrcoef(logs, rowvar=False)))

    def released(self, column: Numbers, values: Floats) -> Any:
        """Return a noisy column, whole where it was and that is asked for."""
        whole = column.whole and self.whole
        return column.restore(nearest_whole(values) if whole else values)
