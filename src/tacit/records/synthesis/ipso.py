"""IPSO: information preserving statistical obfuscation."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats
from tacit.context import Context
from tacit.data.block import Missing, list_maskable_columns, read_block
from tacit.data.microdata import Microdata
from tacit.data.values import not_numeric
from tacit.errors import DisclosureRefused, Infeasible, InputError, SdcError, WeakProtection
from tacit.fields import ColumnName, ColumnNames
from tacit.numerics.algebra import dot, lstsq, solve, svd
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.moments import TOLERANCE, factor, scale_of

#: Share of a column's variance explained by the columns left alone from which on it is as good as given.
DETERMINED = 0.999
#: Categories of one given column beyond which indicators for each are no longer a regression.
CATEGORIES = 1000


@register
class Ipso(Method):
    """Replace numeric columns by draws from their regression on the columns left alone (IPSO).

    X are the columns left alone with a constant, Y those replaced, B the least-squares coefficients, E
    the residuals, H the projection on X, and Z random normal numbers. Variant *A* releases the fitted
    values X B, with ``noise`` those plus normal noise of the residual covariance; *B* releases
    X B + (I - H) Z, whose regression on X has the same coefficients B; *C* releases
    X B + (I - H) Z K'^-1 L' with K K' = Z'(I - H)Z and L L' = E'E, whose residual covariance is that of
    the original too. With C everybody who fits Y on X gets the same coefficients, standard errors and
    covariances, yet no value is anybody's. That B (and for C the residual covariance) are kept is
    recomputed at the end.

    A without noise is the weakest: an intruder who knows Y finds most records where the columns are
    correlated (78 % in the EIA file); see :class:`~tacit.records.linkage.distance_linkage.DistanceLinkage`.

    References
    ----------
    Burridge (2003), Information preserving statistical obfuscation, Statistics and Computing 13, 321-327.
    Torra, Abowd, Domingo-Ferrer (2006), Using Mahalanobis distance-based record linkage for disclosure
    risk assessment, PSD 2006, LNCS 4302, 233-242; section 4.
    """

    kind: Literal["ipso"] = "ipso"
    columns: ColumnNames = Field(description="the numeric columns that are replaced")
    given: tuple[ColumnName, ...] = Field(
        default=(),
        description="the columns on which they are regressed; by default all other numeric columns that are neither identifiers nor weight, household or stratum. Text columns count as categories",
    )
    variant: Literal["A", "B", "C"] = Field(
        default="C",
        description="A: fitted values; B: keeps the regression coefficients; C: keeps the residual covariance as well",
    )
    noise: bool = Field(
        default=False,
        description="with variant A, add noise of the residual covariance to the fitted values",
    )
    missing: Missing = Field(
        default="refuse",
        description="refuse columns with missing values, or keep records with one as they are and replace the rest",
    )

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("synthetic values",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["income"], "given": ["age", "sex"]}
    column_fields = ("columns", "given")

    @model_validator(mode="after")
    def _consistent(self) -> Ipso:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("columns must name each column once")
        if set(self.columns) & set(self.given):
            raise ValueError("given must not name a column that is replaced")
        if self.noise and self.variant != "A":
            raise ValueError("noise is for variant A; B and C draw their own")
        return self

    def conditions(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns on which the others are regressed."""
        return self.given or tuple(c for c in list_maskable_columns(data) if c not in self.columns)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers, nothing to regress on."""
        if found := super().faults(data):
            return found
        if not self.conditions(data):
            found.append(
                InputError(
                    f"{self.kind}: no numeric column is left to regress on; name some in given"
                )
            )
        return [*found, *not_numeric(data, self.columns, self.kind)]

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        given = self.conditions(data)
        schema = data.frame.collect_schema()
        numbers = tuple(c for c in given if schema[c].is_numeric())
        block = read_block(data, (*self.columns, *numbers), self.kind, missing=self.missing)
        if not block.complete.any():
            return data
        q = len(self.columns)
        y, x = block.x[:, :q], [block.x[:, q:]]
        x += [indicators(data, c, block.complete) for c in given if c not in numbers]
        released = self.drawn(np.column_stack(x), y, ctx)
        masked = block.x.copy()
        masked[:, :q] = released
        values = block.released(masked)
        return data.replace({c: values[c] for c in self.columns})

    def drawn(self, x: Floats, y: Floats, ctx: Context) -> Floats:
        """Return the values released, what they keep having been recomputed; warn where they are nearly the true ones."""
        if len(y) < 3:
            raise Infeasible(f"{self.kind}: a regression needs at least three complete records")
        fit = regress(x, y)
        ctx.tick("drawing", 0.5)
        if self.variant == "C":
            released = ipso_c(fit, ctx.rng.standard_normal(y.shape))
        elif self.variant == "B":
            released = ipso_b(fit, residual_noise(fit, ctx.rng))
        else:
            released = fit.fitted + residual_noise(fit, ctx.rng) if self.noise else fit.fitted
        # The noise of variant A shifts the coefficients: that is what B is for.
        if not self.noise and not same_regression(x, y, released, covariance=self.variant == "C"):
            raise DisclosureRefused(
                f"{self.kind}: the regression of the released columns is not that of the original. "
                "Rescale columns of very different sizes, or leave out nearly dependent ones."
            )
        explained = dict(zip(self.columns, fit.explained.tolist(), strict=True))
        ctx.note(
            columns=list(self.columns),
            explained=explained,
        )
        close = [c for c, share in explained.items() if share > DETERMINED]
        if close:
            warnings.warn(
                f"{self.kind}: the columns left alone determine {', '.join(map(repr, close))} almost "
                "exactly, so the released values are nearly the true ones",
                WeakProtection,
                stacklevel=4,
            )
        return released


def indicators(data: Microdata, column: str, complete: Flags) -> Floats:
    """Return one 0/1 column a category; a missing value is a category of its own."""
    coded = data.codes(column)
    if coded.size > CATEGORIES:
        raise InputError(
            f"ipso: column {column!r} has more than {CATEGORIES:,} categories. Recode it or leave it out."
        )
    seen, at = np.unique(coded.codes[complete], return_inverse=True)
    return np.asarray(np.eye(len(seen))[at.ravel()], dtype=np.float64)


# -- on arrays -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Regression:
    """Least squares of the columns Y on the design (1, X): fitted values X1 B, residuals Y - X1 B, and orthonormal columns that span the design, H = basis basis'."""

    fitted: Floats
    residuals: Floats
    basis: Floats

    @property
    def explained(self) -> Floats:
        """Return the share of each column's variance that the design explains; 0 of a constant one."""
        left = (self.residuals**2).sum(axis=0)
        spread = ((self.fitted - self.fitted.mean(axis=0)) ** 2).sum(axis=0) + left
        return np.where(spread > 0, 1 - left / np.where(spread > 0, spread, 1.0), 0.0)

    def off_design(self, z: Floats) -> Floats:
        """Return (I - H) z; done twice, since once leaves rounding behind."""
        for _ in range(2):
            z = z - dot(self.basis, dot(self.basis.T, z))
        return z


def regress(x: Floats, y: Floats) -> Regression:
    """Regress the columns of y on those of x and a constant; columns of x may depend on each other."""
    z = scale_of(x).there(x)
    left, values, _ = svd(np.column_stack([np.ones(len(x)), z]))
    basis = left[:, values > TOLERANCE * values[0]]
    shift = y.mean(axis=0)
    fitted = shift + dot(basis, dot(basis.T, y - shift))
    return Regression(fitted, y - fitted, basis)


def residual_noise(fit: Regression, rng: np.random.Generator) -> Floats:
    """Draw normal noise with the covariance of the residuals."""
    root = factor(dot(fit.residuals.T, fit.residuals) / len(fit.residuals))
    return np.asarray(dot(rng.standard_normal(fit.fitted.shape), root.T), dtype=np.float64)


def ipso_b(fit: Regression, z: Floats) -> Floats:
    """Return fitted values plus (I - H) Z: regression on X gives the same coefficients."""
    return fit.fitted + fit.off_design(z)


def ipso_c(fit: Regression, z: Floats) -> Floats:
    """Return fitted values plus (I - H) Z K^-T L': coefficients and residual covariance are the same.

    K K' = Z'(I - H)Z and L L' = E'E, E the residuals.
    """
    n, q = fit.fitted.shape
    rank = fit.basis.shape[1]
    if n < rank + q:
        raise InputError(
            f"IPSO C needs at least {rank + q} complete records: one for each column replaced and each "
            "independent column given, and one more. Name fewer columns."
        )
    draws = fit.off_design(z)
    k = factor(dot(draws.T, draws))
    standard = fit.off_design(np.asarray(solve(k, draws.T).T, dtype=np.float64))
    # Once more, since K of nearly dependent draws leaves rounding behind.
    again = solve(factor(dot(standard.T, standard)), standard.T).T
    return fit.fitted + dot(again, factor(dot(fit.residuals.T, fit.residuals)).T)


def same_regression(
    x: Floats, y: Floats, released: Floats, *, covariance: bool, tolerance: float = 1e-6
) -> bool:
    """Recompute by least squares whether coefficients, and the residual covariance, are the same.

    Coefficients are compared by what they fit, in standard deviations of the column.
    """
    design = np.column_stack([np.ones(len(x)), scale_of(x).there(x)])
    unit = np.where(y.std(axis=0) > 0, y.std(axis=0), 1.0)
    both = np.column_stack([y, released]) / np.tile(unit, 2)
    centre = both[:, : y.shape[1]].mean(axis=0)
    both = both - np.tile(centre, 2)
    coefficients, *_ = lstsq(design, both, rcond=TOLERANCE)
    q = y.shape[1]
    fits = dot(design, coefficients)
    if np.abs(fits[:, :q] - fits[:, q:]).max(initial=0.0) > tolerance:
        return False
    left = both - fits
    gap = dot(left[:, :q].T, left[:, :q]) - dot(left[:, q:].T, left[:, q:])
    return not covariance or bool(np.abs(gap).max(initial=0.0) <= tolerance * len(x))
