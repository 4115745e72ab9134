"""Correlated noise: additive noise with the correlation structure of the data themselves."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import Numbers, as_numbers
from tacit.errors import InputError, WeakProtection
from tacit.fields import ColumnName, ColumnNames, KeepWhole, Secret
from tacit.numerics.algebra import dot, eigvalsh
from tacit.numerics.elementary import ndtr
from tacit.records.noise.outlier_to_median import nearest_whole
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import (
    TOLERANCE,
    as_covariance,
    exact_moments,
    factor,
    weighted_covariance,
)
from tacit.stats.ranks import spearman_to_pearson

Distribution = Literal["normal", "uniform", "laplace"]
Bounds = tuple[float | None, float | None]

#: Records drawn at a time, so that memory stays flat and a run can be stopped.
CHUNK = 1 << 18


@register
class CorrelatedNoise(Method):
    """Add noise whose covariance is a multiple of that of the masked columns.

    With Sigma_11 the covariance of the masked columns the release holds

        Y = X + e,    E(e) = 0,    Cov(e) = lambda^2 Sigma_11,    e independent of X.

    Means stay the same in expectation, Cov(Y) = (1 + lambda^2) Sigma_11, correlations between masked
    columns stay, and a correlation with an unmasked column shrinks by 1 / sqrt(1 + lambda^2). A user who
    knows lambda^2 can undo all of that; ``reveal`` puts it into the public statement.

    ``uniform`` noise has uniform margins joined by a normal copula, ``laplace`` noise is elliptical with
    Laplace margins; both have the stated covariance. Elliptical noise (normal and Laplace) also keeps
    every linear relation between the masked columns, such as a total of parts, up to rounding.

    ``exact`` adjusts the draws so that the released *sample* has the mean of the original and exactly
    (1 + lambda^2) times its covariance. ``keep_variance`` is Kim's second step: the noisy values are
    shrunk about the mean by 1 / sqrt(1 + lambda^2), which restores the variances.

    References
    ----------
    Kim (1986), A method for limiting disclosure in microdata based on random noise and transformation,
    Proceedings of the ASA Section on Survey Research Methods, 370-374.
    Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U confidentiality map,
    Technical Report 121, National Institute of Statistical Sciences; equation (3.1).
    """

    kind: Literal["correlated_noise"] = "correlated_noise"
    columns: ColumnNames = Field(description="the numeric columns that get noise, together")
    lambda_squared: float = Secret(
        ge=0,
        allow_inf_nan=False,
        description="covariance of the noise as a multiple of the columns' own covariance",
    )
    distribution: Distribution = Field(default="normal", description="distribution of the noise")
    covariance: tuple[tuple[float, ...], ...] | None = Secret(
        None,
        description="covariance matrix of the columns, in their order; by default that of the data, weighted where a weight is declared",
    )
    exact: bool = Field(
        default=False,
        description="make the released sample's mean and covariance exactly what they are in expectation",
    )
    keep_variance: bool = Field(
        default=False,
        description="shrink the noisy values about the mean so that variances stay the same",
    )
    whole: KeepWhole = True
    bounds: Mapping[ColumnName, Bounds] = Field(
        default_factory=dict,
        description="lowest and highest released value of a column; what falls outside is set to the bound",
    )
    missing: Literal["refuse", "keep"] = Field(
        default="refuse",
        description="refuse columns with missing values, or keep them missing and mask the rest",
    )
    reveal: bool = Field(
        default=True, description="state lambda_squared publicly, so that users can correct"
    )

    on_weight = "used"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("additive noise",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"], "lambda_squared": 0.15}
    number_fields = ("columns",)

    @model_validator(mode="after")
    def _consistent(self) -> CorrelatedNoise:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        strangers = [c for c in self.bounds if c not in self.columns]
        if strangers:
            raise ValueError(f"bounds name columns that get no noise: {', '.join(strangers)}")
        if any(lo is not None and hi is not None and lo > hi for lo, hi in self.bounds.values()):
            raise ValueError("bounds need the lowest value first")
        if self.covariance is not None:
            if len(self.covariance) != len(self.columns):
                raise ValueError("covariance must have one row per column")
            as_covariance(self.covariance)
        return self

    def to_dict(self, *, public: bool = False) -> dict[str, Any]:
        """Return the parameters; the public ones hold lambda_squared when it is revealed."""
        found = super().to_dict(public=public)
        if public and self.reveal:
            found["lambda_squared"] = self.lambda_squared
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        read = data.to_arrow(self.columns)
        table = [as_numbers(read.column(c), c) for c in self.columns]
        if len(table[0].values) == 0:
            return data
        complete = self.complete(table)
        x = np.column_stack([column.values.astype(np.float64) for column in table])
        known = x if complete.all() else x[complete]
        weights = weights_of(data)[complete]
        covariance = self.covariance_of(known, weights)
        if self.lambda_squared == 0:
            warnings.warn(
                "correlated_noise: lambda_squared is 0, so no noise is added and the values are released as they are",
                WeakProtection,
                stacklevel=3,
            )
        noisy = self.noise_for(x, complete, weights, covariance, ctx)
        noisy += x
        if self.keep_variance:
            center = np.average(known, axis=0, weights=weights) if complete.any() else 0.0
            noisy = center + (noisy - center) / np.sqrt(1.0 + self.lambda_squared)
        ctx.note(columns=list(self.columns), distribution=self.distribution, exact=self.exact)
        if self.reveal:
            ctx.note(lambda_squared=self.lambda_squared)
        names = zip(self.columns, table, noisy.T, strict=True)
        return data.replace({c: self.released(c, column, values) for c, column, values in names})

    def complete(self, table: Sequence[Numbers]) -> Flags:
        """Return the records without missing values; refuse any when told so."""
        holed = [c for c, column in zip(self.columns, table, strict=True) if not column.known.all()]
        if holed and self.missing == "refuse":
            raise InputError(
                f"correlated_noise: {', '.join(map(repr, holed))} has missing values. Impute them first, or give missing='keep'."
            )
        return np.logical_and.reduce([column.known for column in table])

    def covariance_of(self, x: Floats, weights: Floats) -> Floats:
        """Return the covariance that the noise is a multiple of."""
        if self.covariance is not None:
            return as_covariance(self.covariance)
        if len(x) < 2:
            raise InputError(
                "correlated_noise needs at least two complete records to estimate the covariance; give covariance=."
            )
        covariance = weighted_covariance(x, weights)
        if not np.isfinite(covariance).all():
            raise InputError("correlated_noise: the columns hold infinite or too large numbers")
        constant = np.ptp(x, axis=0) == 0
        if constant.any():
            named = ", ".join(
                repr(c) for c, flat in zip(self.columns, constant, strict=True) if flat
            )
            raise InputError(
                f"correlated_noise: {named} is constant, so noise in proportion to its variance would leave it as it is. Leave it out, or give covariance=."
            )
        return covariance

    def noise_for(
        self, x: Floats, complete: Flags, weights: Floats, covariance: Floats, ctx: Context
    ) -> Floats:
        """Return the noise of every record."""
        noise = draw_correlated(len(x), self.lambda_squared * covariance, self.distribution, ctx)
        if self.exact and self.lambda_squared > 0:
            target = self.lambda_squared * covariance
            noise[complete] = exact_moments(
                noise[complete], x[complete], weights, target, kind=self.kind
            )
        return noise

    def released(self, name: str, column: Numbers, values: Floats) -> pa.Array:
        """Return a noisy column in its own type, within its bounds."""
        low, high = self.bounds.get(name, (None, None))
        kept = np.clip(values, low, high) if (low, high) != (None, None) else values
        try:
            if column.whole and self.whole:
                return column.restore(nearest_whole(np.clip(kept, -(2.0**62), 2.0**62)))
            return column.restore(kept)
        except pa.ArrowInvalid:
            raise InputError(
                f"correlated_noise: column {name!r} cannot hold some noisy values in its type; give bounds= for it"
            ) from None


# -- on arrays -------------------------------------------------------------------------------------


def draw_correlated(n: int, covariance: Floats, distribution: Distribution, ctx: Context) -> Floats:
    """Return n draws (one per row) of mean 0 and the given covariance, drawn in chunks."""
    sds = np.sqrt(np.diag(covariance))
    uniform = distribution == "uniform"
    root = factor(copula_correlation(covariance, sds) if uniform else covariance)
    out = np.empty((n, len(covariance)))
    for start in range(0, n, CHUNK):
        ctx.tick("drawing noise", start / n)
        stop = min(start + CHUNK, n)
        z = dot(ctx.rng.standard_normal((stop - start, root.shape[1])), root.T)
        if uniform:
            z = (2.0 * ndtr(z) - 1.0) * (np.sqrt(3.0) * sds)
        elif distribution == "laplace":
            # A normal vector times the root of a standard exponential has Laplace margins, and the
            # covariance of the normal one (Kotz, Kozubowski, Podgorski 2001, section 5.1).
            z *= np.sqrt(ctx.rng.standard_exponential(stop - start))[:, None]
        out[start:stop] = z
    return out


def copula_correlation(covariance: Floats, sds: Floats) -> Floats:
    """Return the normal correlations behind uniform margins with the given correlations.

    Normal scores with correlation 2 sin(pi rho / 6) give uniforms with correlation rho (Pearson 1907).
    """
    scale = np.where(sds > 0, sds, 1.0)
    normal = spearman_to_pearson(np.clip(covariance / np.outer(scale, scale), -1.0, 1.0))
    np.fill_diagonal(normal, 1.0)
    if eigvalsh(normal)[0] < -TOLERANCE:
        raise InputError(
            "correlated_noise: no uniform noise with a normal copula has the correlations of these columns; give distribution='normal' or 'laplace'."
        )
    return normal
