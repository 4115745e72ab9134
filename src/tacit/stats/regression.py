"""Weighted regression: least squares, and logit, probit and Poisson models by iterated weighted least squares.

Cross-products are summed over chunks of rows and the expanded design is never held as a whole, so that a
polynomial in many columns can be fitted to millions of records. Columns are centred and scaled inside;
coefficients are given back in the units of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import xlogy

from tacit.arrays import Flags, Floats
from tacit.errors import InputError
from tacit.numerics.algebra import dot, inv
from tacit.numerics.elementary import exp, log, ndtr, ndtri

Family = Literal["linear", "logit", "probit", "poisson"]
#: Turns some rows of the data into rows of the design, without the constant.
Expand = Callable[[Floats], Floats]

#: Numbers of the expanded design held at a time: what fits into a processor's cache.
CHUNK_CELLS = 200_000
#: A column whose part not explained by the columns before it has less than this share of its variance
#: counts as a linear combination of them.
ALIASED = 1e-11
#: Linear predictors are kept within this of 0: beyond it a probability is 0 or 1 in double precision.
PREDICTOR_LIMIT = {"linear": np.inf, "logit": 30.0, "probit": 8.0, "poisson": 500.0}
#: A column whose spread is below this share of its mean is constant.
FLAT = 1e-12
#: Linear predictors that still move by this much when the deviance stands still run off to infinity.
DIVERGING_STEP = 0.1
HALVINGS = 30


@dataclass(frozen=True)
class Fit:
    """A fitted regression."""

    family: Family
    #: The constant first (when there is one), then one a column of the design; 0 where aliased.
    coefficients: Floats
    #: Their covariance; 0 where aliased.
    covariance: Floats
    #: The fitted mean of each record.
    fitted: Floats
    #: True for columns that are linear combinations of columns before them, and were left out.
    aliased: Flags
    #: Of the model, and of the constant alone (of zero where there is no constant).
    deviance: float
    null_deviance: float
    #: Residual variance for ``linear``, else 1.
    dispersion: float
    n: int
    iterations: int
    #: False when the iterations were capped.
    converged: bool
    #: True when a logit or probit model predicts some records with certainty: the likelihood then
    #: has no maximum, and coefficients and standard errors mean nothing beyond that.
    separated: bool
    intercept: bool

    @property
    def standard_errors(self) -> Floats:
        """Return the standard errors of the coefficients."""
        return np.asarray(np.sqrt(np.clip(np.diag(self.covariance), 0.0, None)))

    @property
    def rank(self) -> int:
        """Return the number of coefficients that could be told apart."""
        return int((~self.aliased).sum())

    def linear_predictor(self, x: Floats) -> Floats:
        """Return the linear predictor for rows of the design without the constant."""
        x = x[:, None] if x.ndim == 1 else x
        slopes = self.coefficients[1:] if self.intercept else self.coefficients
        start = self.coefficients[0] if self.intercept else 0.0
        return np.asarray(start + dot(x, slopes))

    def predict(self, x: Floats) -> Floats:
        """Return the mean for rows of the design without the constant."""
        return mean_of(self.linear_predictor(x), self.family)


def fit(
    x: Floats,
    y: Floats,
    family: Family = "linear",
    weights: Floats | None = None,
    *,
    expand: Expand | None = None,
    intercept: bool = True,
    robust: bool = False,
    max_iterations: int = 50,
    tolerance: float = 1e-9,
) -> Fit:
    """Fit a generalised linear model by (iterated) weighted least squares.

    ``x`` has one row per record, and no column for the constant; ``expand`` turns some of its rows into rows of the design, e.g. a
    polynomial. The response is any number, 0/1 or shares for ``logit`` and ``probit``, not negative for ``poisson``; records of
    weight 0 do not count. With ``robust`` the covariance is that of the sandwich formula (with n / (n - rank)), as for
    survey weights. The iterations end when the deviance changes by less than the share ``tolerance``.
    """
    rows = Rows.of(x, y, weights, expand, intercept=intercept, family=family)
    design = rows.scaled()
    now = design.start(family)
    converged, iterations, moved = False, 0, 0.0
    while iterations < max_iterations and not converged:
        iterations += 1
        before, now = now, design.step(now, family)
        moved = float(np.abs(now.eta - before.eta).max())
        converged = abs(now.deviance - before.deviance) <= tolerance * (now.deviance + 0.1)
    inverse, aliased = inverse_of(now.information)
    n = int((rows.w > 0).sum())
    free = n - int((~aliased).sum())
    dispersion = (now.deviance / free if free > 0 else np.nan) if family == "linear" else 1.0
    covariance = dispersion * inverse
    if robust:
        spread = n / free if free > 0 else np.nan
        covariance = dot(dot(spread * inverse, design.squared_scores(now.eta, family)), inverse)
    diverged = bool((np.abs(now.eta) >= PREDICTOR_LIMIT[family]).any()) or moved > DIVERGING_STEP
    back = design.units()
    return Fit(
        family=family,
        coefficients=dot(back, np.where(aliased, 0.0, now.beta)),
        covariance=dot(dot(back, covariance), back.T),
        fitted=mean_of(now.eta, family),
        aliased=aliased,
        deviance=now.deviance,
        null_deviance=null_deviance(rows, family),
        dispersion=float(dispersion),
        n=n,
        iterations=iterations,
        converged=converged,
        separated=family in ("logit", "probit") and diverged,
        intercept=intercept,
    )


@dataclass(frozen=True)
class Rows:
    """The records of a regression."""

    x: Floats
    y: Floats
    w: Floats
    expand: Expand | None
    intercept: bool

    @classmethod
    def of(
        cls,
        x: Floats,
        y: Floats,
        weights: Floats | None,
        expand: Expand | None,
        *,
        intercept: bool,
        family: Family,
    ) -> Rows:
        """Return the records, or refuse what no model can be fitted to."""
        x = np.asarray(x, dtype=np.float64)
        x = x[:, None] if x.ndim == 1 else x
        y = np.asarray(y, dtype=np.float64)
        w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
        if len(x) != len(y) or len(w) != len(y):
            raise InputError(
                "regression: covariates, response and weights must have one row per record."
            )
        if not (np.isfinite(x).all() and np.isfinite(y).all() and np.isfinite(w).all()):
            raise InputError("regression: missing or infinite numbers. Leave such records out.")
        if (w < 0).any() or not w.sum() > 0:
            raise InputError("regression: weights must not be negative, nor all 0.")
        if family in ("logit", "probit") and (y.min() < 0 or y.max() > 1):
            raise InputError(f"regression: a {family} model needs a response between 0 and 1.")
        if family == "poisson" and y.min() < 0:
            raise InputError("regression: a poisson model needs a response that is not negative.")
        return cls(x, y, w, expand, intercept)

    def chunks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield rows of the design with the constant, some at a time."""
        width = self.width()
        size = max(1, CHUNK_CELLS // max(1, width))
        for begin in range(0, len(self.y), size):
            part = slice(begin, min(begin + size, len(self.y)))
            design = self.x[part] if self.expand is None else self.expand(self.x[part])
            out = np.ones((len(design), width))
            out[:, int(self.intercept) :] = design
            yield part, out

    def width(self) -> int:
        """Return the number of columns of the design."""
        plain = self.x.shape[1] if self.expand is None else self.expand(self.x[:1]).shape[1]
        return int(plain) + self.intercept

    def scaled(self) -> Scaled:
        """Return the design centred (when there is a constant) and scaled."""
        total, width = self.w.sum(), self.width()
        mean = sum((dot(self.w[s], d) for s, d in self.chunks()), np.zeros(width)) / total
        centre = mean * (np.arange(width) > 0) if self.intercept else np.zeros(width)
        square = sum((dot(self.w[s], (d - centre) ** 2) for s, d in self.chunks()), np.zeros(width))
        size = np.sqrt(square / total)
        flat = size <= FLAT * np.abs(mean)
        return Scaled(self, centre, np.where(flat, 1.0, size), flat)


@dataclass(frozen=True)
class State:
    """Coefficients of the scaled design, and what the likelihood says there."""

    beta: Floats
    eta: Floats
    deviance: float
    information: Floats
    score: Floats


@dataclass(frozen=True)
class Scaled:
    """A design in standard units; ``flat`` columns carry nothing beyond the constant."""

    rows: Rows
    centre: Floats
    size: Floats
    flat: Flags

    def chunks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield rows of the scaled design, some at a time."""
        for part, design in self.rows.chunks():
            design -= self.centre
            design /= self.size
            design[:, self.flat] = 0.0
            yield part, design

    def start(self, family: Family) -> State:
        """Return the state before any coefficient: predictors from the responses themselves.

        The score holds the working response, so that the first step leads from 0 to coefficients.
        """
        mean = starting_mean(self.rows, family)
        return self.state(np.zeros(len(self.size)), family, eta=link_of(mean, family))

    def state(self, beta: Floats, family: Family, eta: Floats | None = None) -> State:
        """Return the likelihood's state in one pass over the records."""
        rows, width, limit = self.rows, len(beta), PREDICTOR_LIMIT[family]
        information, score = np.zeros((width, width)), np.zeros(width)
        deviance, found = 0.0, np.empty(len(rows.y))
        for part, design in self.chunks():
            at = np.clip(dot(design, beta), -limit, limit) if eta is None else eta[part]
            y, w, found[part] = rows.y[part], rows.w[part], at
            mean = mean_of(at, family)
            slope, variance = slope_of(at, family), variance_of(mean, family)
            working = w * slope**2 / variance
            residual = w * slope * (y - mean) / variance
            score += dot(residual if eta is None else residual + working * at, design)
            deviance += deviance_of(y, mean, w, family)
            root = design * np.sqrt(working)[:, None]
            information += dot(root.T, root)
        return State(beta, found, deviance, information, score)

    def step(self, now: State, family: Family) -> State:
        """Return the state after a Newton step, halved until the deviance does not grow."""
        step = dot(inverse_of(now.information)[0], now.score)
        first = not now.beta.any()
        for _ in range(HALVINGS):
            new = self.state(now.beta + step, family)
            if first or new.deviance <= now.deviance * (1 + 1e-12) + 1e-12:
                break
            step = step / 2
        return new

    def squared_scores(self, eta: Floats, family: Family) -> Floats:
        """Return the sum of the records' scores times themselves."""
        rows = self.rows
        mean = mean_of(eta, family)
        residual = rows.w * slope_of(eta, family) * (rows.y - mean) / variance_of(mean, family)
        total = np.zeros((len(self.size), len(self.size)))
        for part, design in self.chunks():
            design *= residual[part, None]
            total += dot(design.T, design)
        return total

    def units(self) -> Floats:
        """Return the matrix that turns coefficients of the scaled design into those of the design."""
        back = np.diag(1.0 / self.size)
        if self.rows.intercept:
            back[0, 1:] = -self.centre[1:] / self.size[1:]
        return back


def null_deviance(rows: Rows, family: Family) -> float:
    """Return the deviance of the constant alone; of a predictor of 0 where there is no constant."""
    mean = float(np.average(rows.y, weights=rows.w))
    centre = mean if rows.intercept else float(mean_of(np.zeros(1), family)[0])
    return deviance_of(rows.y, np.full(len(rows.y), centre), rows.w, family)


def inverse_of(gram: Floats) -> tuple[Floats, Flags]:
    """Return the inverse of a Gram matrix without its aliased columns, whose rows are 0, and which those are.

    Columns enter in their order, as in a sweep: the first of two equal ones stays.
    """
    diagonal = np.diag(gram).copy()
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    unit = gram / np.outer(scale, scale)
    width = len(unit)
    lower = np.zeros((width, width))
    aliased = np.zeros(width, dtype=bool)
    for j in range(width):
        rest = unit[j, j] - dot(lower[j, :j], lower[j, :j])
        if rest <= ALIASED:
            aliased[j] = True
            continue
        lower[j, j] = np.sqrt(rest)
        lower[j + 1 :, j] = (unit[j + 1 :, j] - dot(lower[j + 1 :, :j], lower[j, :j])) / lower[j, j]
    kept = np.flatnonzero(~aliased)
    root = inv(lower[np.ix_(kept, kept)])
    inverse = np.zeros((width, width))
    inverse[np.ix_(kept, kept)] = dot(root.T, root) / np.outer(scale[kept], scale[kept])
    return inverse, aliased


def starting_mean(rows: Rows, family: Family) -> Floats:
    """Return means from which the iterations start."""
    centre = float(np.average(rows.y, weights=rows.w))
    if family == "linear":
        return np.zeros(len(rows.y))
    if family == "poisson":
        return (rows.y + max(centre, 1e-3)) / 2
    return (rows.y + np.clip(centre, 0.05, 0.95)) / 2


def mean_of(eta: Floats, family: Family) -> Floats:
    """Return the mean at a linear predictor."""
    if family == "linear":
        return eta
    if family == "logit":
        return np.asarray(1.0 / (1.0 + exp(-np.clip(eta, -700, 700))))
    return np.asarray(ndtr(eta) if family == "probit" else exp(np.clip(eta, -700, 700)))


def link_of(mean: Floats, family: Family) -> Floats:
    """Return the linear predictor at a mean."""
    if family == "linear":
        return mean
    if family == "logit":
        return np.asarray(log(mean) - log(1.0 - mean))
    return np.asarray(ndtri(mean) if family == "probit" else log(mean))


def slope_of(eta: Floats, family: Family) -> Floats:
    """Return the derivative of the mean by the linear predictor."""
    mean = mean_of(eta, family)
    if family == "linear":
        return np.ones(len(eta))
    if family == "logit":
        return np.maximum(mean * (1 - mean), 1e-14)
    return mean if family == "poisson" else exp(-0.5 * eta**2) / np.sqrt(2 * np.pi)


def variance_of(mean: Floats, family: Family) -> Floats:
    """Return the variance of the response at a mean, kept off 0."""
    if family == "linear":
        return np.ones(len(mean))
    if family == "poisson":
        return np.maximum(mean, 1e-300)
    return np.maximum(mean * (1 - mean), 1e-14)


def deviance_of(y: Floats, mean: Floats, weights: Floats, family: Family) -> float:
    """Return the deviance; the residual sum of squares for ``linear``."""
    if family == "linear":
        return float(dot(weights, (y - mean) ** 2))
    if family == "poisson":
        mean = np.maximum(mean, 1e-300)
        return float(dot(2 * weights, xlogy(y, y / mean) - (y - mean)))
    mean = np.clip(mean, 1e-300, 1 - 1e-16)
    return float(dot(2 * weights, xlogy(y, y / mean) + xlogy(1 - y, (1 - y) / (1 - mean))))
