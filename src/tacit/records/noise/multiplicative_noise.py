"""Multiplicative noise: every value is multiplied by a random factor around 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.in_blocks import (
    Change,
    ChangeBlock,
    Draws,
    block_moments,
    change_columns,
    change_records,
    constant_in_households,
    draws_of,
    finite_numbers,
    fold_records,
    moments,
)
from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.fields import ColumnNames, KeepWhole, Secret
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import exp, log, log1p, ndtr, ndtri
from tacit.records.noise.outlier_to_median import nearest_whole
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import TOLERANCE, factor

Factors = Literal["lognormal", "truncated", "two_sided"]


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
    two columns by 1 + Cov(f1, f2)); :func:`tacit.stats.corrected_moments` does it, and v is stated.
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
    distribution: Factors = Field(default="lognormal", description="distribution of the factors")
    sd: float = Field(
        default=0.1,
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
    shared: bool = Field(
        default=False, description="multiply all columns of a record by one factor"
    )
    correlated: bool = Field(
        default=False,
        description="lognormal: give the factors' logarithms the correlations of the columns' logarithms",
    )
    whole: KeepWhole = True

    on_household = "together"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("multiplicative noise",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"]}
    number_fields = ("columns",)

    @model_validator(mode="after")
    def _consistent(self) -> MultiplicativeNoise:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        if self.distribution == "two_sided" and self.gap >= self.limit:
            raise ValueError("gap must be less than limit")
        if self.correlated and (self.shared or self.distribution != "lognormal"):
            raise ValueError("correlated goes with lognormal factors that are not shared")
        return self

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        root = self.log_root(data, ctx) if self.correlated else None
        together = self.shared or self.correlated

        def make(columns: Sequence[str]) -> ChangeBlock:
            return partial(multiply_block, self, columns, root, draws_of(ctx))

        if together and set(constant_in_households(data, self.columns)) != set(self.columns):
            # Factors that belong together are drawn together: by record, unless all are of the household.
            result, _ = change_records(data, make(self.columns), ctx)
        else:
            result, _ = change_columns(data, self.columns, make, ctx)
        v = factor_variance(self.distribution, self.sd, self.gap, self.limit)
        ctx.note(distribution=self.distribution, factor_variance=v, shared=self.shared)
        return result

    def factors(self, n: int, width: int, root: Floats | None, rng: np.random.Generator) -> Floats:
        """Return factors, one row per record."""
        match self.distribution:
            case "lognormal":
                z = rng.standard_normal((n, width))
                return lognormal_factors(z if root is None else dot(z, root.T), self.sd)
            case "truncated":
                return truncated_factors(rng.random((n, width)), self.sd, self.limit)
            case _:
                return two_sided_factors(rng.random((n, width)), self.gap, self.limit)

    def log_root(self, data: Microdata, ctx: Context) -> Floats:
        """Return a root of the correlation matrix of the columns' logarithms."""

        def tell(_block: int, table: pa.Table) -> Mapping[str, Any]:
            columns = [finite_numbers(table, c) for c in self.columns]
            known = np.logical_and.reduce([t.known for t in columns])
            x = np.column_stack([t.values[known].astype(np.float64) for t in columns])
            positive = bool((x > 0).all())
            return {"ok": positive, "logs": block_moments(log(x if positive else np.abs(x) + 1))}

        tallies = fold_records(data, self.columns, tell, ctx)
        found = moments(tallies, "logs", len(self.columns))
        if found.n < 2 or not all(t["ok"] for t in tallies):
            raise InputError(
                "multiplicative_noise: correlated factors need at least two complete records and values above 0. Leave out correlated."
            )
        if (found.sd <= TOLERANCE).any():
            raise InputError(
                "multiplicative_noise: correlated factors need columns that vary. Leave out constant columns."
            )
        return factor(found.correlation)


def multiply_block(
    spec: MultiplicativeNoise,
    columns: Sequence[str],
    root: Floats | None,
    draws: Draws,
    block: int,
    table: pa.Table,
) -> Change:
    """Return a block's columns times their factors; columns that draw by themselves have own streams."""
    n, new = table.num_rows, {}
    if spec.shared or spec.correlated:
        joint = spec.factors(n, 1 if spec.shared else len(columns), root, draws(block, 0))
        factors = [joint[:, 0 if spec.shared else j] for j in range(len(columns))]
    else:
        streams = [draws(block, spec.columns.index(c)) for c in columns]
        factors = [spec.factors(n, 1, None, rng)[:, 0] for rng in streams]
    for c, f in zip(columns, factors, strict=True):
        column = finite_numbers(table, c)
        noisy = column.values * f
        new[c] = column.restore(nearest_whole(noisy) if column.whole and spec.whole else noisy)
    return Change(new)


def lognormal_factors(z: Floats, sd: float) -> Floats:
    """Return factors of mean 1 and standard deviation sd from standard normal numbers."""
    log_variance = log1p(sd**2)
    return np.asarray(exp(np.sqrt(log_variance) * z - log_variance / 2.0))


def truncated_factors(u: Floats, sd: float, limit: float) -> Floats:
    """Return normal factors of mean 1, cut to 1 - limit .. 1 + limit, from uniform numbers."""
    edge = ndtr(limit / sd)
    return np.asarray(1.0 + sd * ndtri((1.0 - edge) + u * (2.0 * edge - 1.0)))


def two_sided_factors(u: Floats, gap: float, limit: float) -> Floats:
    """Return factors between gap and limit away from 1, either side as likely, most of them near the gap."""
    up = u >= 0.5
    rest = np.where(up, 2.0 * u - 1.0, 2.0 * u)
    distance = gap + (limit - gap) * (1.0 - np.sqrt(1.0 - rest))
    return np.asarray(np.where(up, 1.0 + distance, 1.0 - distance))


def factor_variance(distribution: Factors, sd: float, gap: float, limit: float) -> float:
    """Return the variance of the factors."""
    match distribution:
        case "lognormal":
            return sd**2
        case "truncated":
            t = limit / sd
            density = exp(-(t**2) / 2.0) / np.sqrt(2.0 * np.pi)
            return float(sd**2 * (1.0 - 2.0 * t * density / (2.0 * ndtr(t) - 1.0)))
        case _:
            width = limit - gap
            return gap**2 + 2.0 * gap * width / 3.0 + width**2 / 6.0


def corrected_moments(y: Floats, factor_covariance: Floats) -> tuple[Floats, Floats]:
    """Return mean and covariance of the original, estimated from values that were multiplied by noise.

    With y = x f, f independent of x, of mean 1 and covariance V, E(y_i y_j) = (1 + V_ij) E(x_i x_j), so
    that the second moments are divided by 1 + V_ij before the means are taken off.
    """
    mean = y.mean(axis=0)
    second = dot(y.T, y) / len(y) / (1.0 + np.asarray(factor_covariance))
    return mean, (second - np.outer(mean, mean)) * (len(y) / (len(y) - 1.0))
