"""SIMEX: regressions on released data, corrected for the noise and the blanking that they went through."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats
from tacit.context import Context
from tacit.data.block import read_block
from tacit.data.microdata import Microdata
from tacit.data.values import as_frame, not_numeric
from tacit.errors import Approximate, InputError, SdcError
from tacit.fields import ColumnName, ColumnNames, PositiveFloat, PositiveInt
from tacit.plot.chart import Chart
from tacit.plot.lines import extrapolation
from tacit.registry import register
from tacit.result import Result
from tacit.spec import Companions, Measure
from tacit.stats.correction.retention import trim_weights
from tacit.stats.correction.simex_fit import (
    LAMBDAS,
    Extrapolant,
    SimexFit,
    linear_simex,
    regression_estimator,
    simex,
)
from tacit.stats.regression import Family

#: Weights above this are worth a warning: single records then decide the result.
HEAVY = 50.0


@register
class Simex(Measure):
    """Regression on released data, corrected for known noise and for records left out.

    Noise of known variance in the covariates is taken out by simulation and extrapolation: more noise, of
    lambda times the variance, is added, the mean estimate over ``draws`` is followed as a function of
    lambda, and the curve is read off at lambda = -1. Selection by blanking is taken out by weighting every
    fit with one over the retention probability. The quadratic extrapolant is the paper's; it leaves a
    bias when the noise is large, which the rational one, a + b / (c + lambda), does not for linear
    models. Standard errors come from a bootstrap over records.

    References
    ----------
    Flossmann, Lechner (2006), Combining blanking and noise addition as a data disclosure limitation
    method, PSD 2006, LNCS 4302, 152-163.
    Cook, Stefanski (1994), Simulation-extrapolation estimation in parametric measurement error models,
    Journal of the American Statistical Association 89, 1314-1328.
    """

    kind: Literal["simex"] = "simex"
    response: ColumnName = Field(description="the dependent column")
    covariates: ColumnNames = Field(description="the explaining columns")
    noise: Mapping[ColumnName, float] = Field(
        default_factory=dict,
        description="variance of the noise in each covariate that has some, as the release tells",
    )
    probability: ColumnName | None = Field(
        default=None, description="the column of retention probabilities, for weights"
    )
    model: Family = Field(default="linear", description="the regression model")
    extrapolant: Extrapolant = Field(default="quadratic", description="the curve in lambda")
    lambdas: tuple[float, ...] = Field(
        default=LAMBDAS, description="multiples of the noise added, 0 among them"
    )
    draws: PositiveInt = Field(default=50, description="draws of noise at each multiple")
    bootstrap: int = Field(
        default=200, ge=0, description="bootstrap samples for standard errors; 0 for none"
    )
    max_weight: PositiveFloat | None = Field(
        default=None, description="cut weights at this; fewer errors by chance for some bias"
    )

    family: ClassVar[str] = "utility"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    example: ClassVar[Mapping[str, Any]] = {
        "response": "income",
        "covariates": ["age"],
        "noise": {"age": 4},
        "bootstrap": 10,
        "draws": 5,
    }

    @model_validator(mode="after")
    def _consistent(self) -> Simex:
        if not any(value == 0 for value in self.lambdas) or any(v < 0 for v in self.lambdas):
            raise ValueError("lambdas must hold 0 and otherwise only positive numbers")
        if strangers := [c for c in self.noise if c not in self.covariates]:
            raise ValueError(f"noise names columns that are no covariates: {', '.join(strangers)}")
        if any(not (v >= 0 and np.isfinite(v)) for v in self.noise.values()):
            raise ValueError("noise variances must be at least 0")
        if self.response in self.covariates:
            raise ValueError("the response cannot be a covariate")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns of the model."""
        more = (self.probability,) if self.probability else ()
        return (self.response, *self.covariates, *more)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: columns without numbers."""
        return [*super().faults(data), *not_numeric(data, self.columns_named(), self.kind)]

    def _measure(self, data: Microdata, other: Companions, ctx: Context) -> SimexResult:
        del other
        block = read_block(data, self.columns_named(), self.kind, otherwise="")
        y, x = block.values[:, 0], block.values[:, 1 : 1 + len(self.covariates)]
        if len(y) < x.shape[1] + 3:
            raise InputError(
                "simex: too few records; at least two more than coefficients are needed."
            )
        if np.linalg.matrix_rank(x - x.mean(axis=0)) < x.shape[1]:
            raise InputError(
                "simex: the covariates depend on each other linearly, or one is constant. Leave some out."
            )
        p = block.values[:, -1] if self.probability else np.ones(len(y))
        weights = trim_weights(p, self.max_weight)
        if weights.max() > HEAVY:
            warnings.warn(
                f"simex: some records weigh more than {HEAVY:g}, so single records decide the result; give max_weight to trade some bias for less chance",
                Approximate,
                stacklevel=4,
            )
        found = self.fitted(x, y, weights, ctx.rng)
        naive = regression_estimator(y, np.ones(len(y)), self.model)(x)
        errors = self.standard_errors(x, y, weights, ctx)
        terms = ("(constant)", *self.covariates)
        shown = [float("nan")] * len(terms) if errors is None else errors.tolist()
        spread = {} if errors is None else dict(zip(terms, shown, strict=True))
        frame = pa.table(
            {
                "term": list(terms),
                "naive": naive,
                "weighted": found.naive,
                "corrected": found.corrected,
                "standard_error": pa.array(shown, pa.float64()),
            }
        )
        shift = float(np.abs(found.corrected[1:] - naive[1:]).max())
        return SimexResult(
            kind=self.kind,
            title=f"Corrected regression of {self.response}",
            value=shift,
            numbers={
                "records": len(y),
                **{f"{t}": c for t, c in zip(terms, found.corrected.tolist(), strict=True)},
                **{f"{t}, standard error": e for t, e in spread.items()},
                "largest correction of a slope": shift,
            },
            frame=as_frame(frame),
            explanation="The estimates that the data would give without the noise that was added and with the records that were left out; the value is the largest correction of a slope.",
            terms=terms,
            fit=found,
            naive=naive,
            errors=errors,
        )

    def fitted(self, x: Floats, y: Floats, weights: Floats, rng: np.random.Generator) -> SimexFit:
        """Return the corrected fit; without extrapolation when there is no noise."""
        noise = np.diag([self.noise.get(c, 0.0) for c in self.covariates])
        if not noise.any():
            estimate = regression_estimator(y, weights, self.model)(x)
            kept, grid = np.zeros(len(estimate), dtype=bool), np.zeros(1)
            return SimexFit(grid, estimate[None], estimate, estimate, self.extrapolant, kept)
        options: dict[str, Any] = {
            "rng": rng,
            "lambdas": self.lambdas,
            "draws": self.draws,
            "extrapolant": self.extrapolant,
        }
        if self.model == "linear":
            return linear_simex(x, y, weights, noise, **options)
        return simex(regression_estimator(y, weights, self.model), x, noise, **options)

    def standard_errors(self, x: Floats, y: Floats, weights: Floats, ctx: Context) -> Floats | None:
        """Return the bootstrap standard errors of the corrected estimates."""
        if self.bootstrap < 2:
            return None
        found = []
        for b in range(self.bootstrap):
            ctx.tick("bootstrap", b / self.bootstrap)
            at = ctx.rng.integers(0, len(y), len(y))
            if np.linalg.matrix_rank(x[at] - x[at].mean(axis=0)) < x.shape[1]:
                continue
            found.append(self.fitted(x[at], y[at], weights[at], ctx.rng).corrected)
        return np.std(found, axis=0, ddof=1) if len(found) > 1 else None


@dataclass(frozen=True, repr=False)
class SimexResult(Result):
    """Estimates without correction (``naive``), corrected (``fit.corrected``) and their standard errors."""

    terms: tuple[str, ...] = ()
    fit: SimexFit | None = None
    naive: Floats | None = None
    errors: Floats | None = None

    @property
    def corrected(self) -> Mapping[str, float]:
        """Return the corrected estimates by term."""
        assert self.fit is not None
        return dict(zip(self.terms, self.fit.corrected.tolist(), strict=True))

    def plot(self) -> Chart:
        """Return each estimate as a function of lambda, with the extrapolated point at -1."""
        assert self.fit is not None
        simulated = [
            (t, float(v), float(e), "simulated")
            for t, column in zip(self.terms, self.fit.curve.T, strict=True)
            for v, e in zip(self.fit.lambdas, column, strict=True)
        ]
        found = zip(self.terms, self.fit.corrected, strict=True)
        told = "; ".join(f"{t} {e:.4g}" for t, e in self.corrected.items())
        return extrapolation(
            [*simulated, *((t, -1.0, float(e), "extrapolated") for t, e in found)],
            title=self.title,
            subtitle="-1 is no noise, 0 the data as released, above 0 noise was added",
            x="noise added (lambda)",
            alt=f"Estimates as a function of added noise; extrapolated: {told}.",
        )
