"""Regressions with draws from their posterior: linear, spline, logit, multinomial and count models.

A model is fitted once to the original records. Every copy draws coefficients from the large-sample posterior,
N(b, V), then values (Mitra, Reiter 2006, section 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import Infeasible, InputError
from tacit.numerics.algebra import dot, eigh
from tacit.numerics.elementary import exp, expit, log, power, softmax
from tacit.records.synthesis.sequential.variables import Given, Values
from tacit.stats.descent import find_least
from tacit.stats.designs import polynomial
from tacit.stats.regression import Fit, fit

#: Categories of a predictor with a dummy of their own; rarer ones share one.
LEVELS = 40
#: Coefficients of a multinomial model at most: their covariance is a square of them.
MOST = 3_000
#: Inner knots of a spline, at quantiles.
KNOTS = 8
#: Neighbours on either side from which a residual is drawn, at least.
NEAR = 15
#: Records whose likelihood is summed at a time.
CHUNK = 1 << 16
#: Prior precision of the coefficients of a multinomial model, in standard units: N(0, 2^2). Where a predictor tells
#: the category for certain the likelihood has no maximum; with a vague prior the draws would be anywhere.
RIDGE = 0.25
#: That of the constants, which say how frequent categories are.
FAINT = 1e-4


@dataclass(frozen=True)
class Design:
    """How predictors become columns: numbers as they are or as splines, dummies, and products of them.

    By predictor: the dummy (``levels``) that each of its codes belongs to, 0 for none; the ``knots`` of its spline, empty
    for none; and what stands for a missing number (``centre``). ``expand`` makes all products up to a degree.
    """

    levels: tuple[Ints, ...]
    knots: tuple[Floats, ...]
    centre: tuple[float, ...]
    expand: Callable[[Floats], Floats] | None = None

    def plain(self, given: Given) -> tuple[Floats, list[int]]:
        """Return the columns before products, and for each the predictor of its dummies (-1 for numbers)."""
        columns: list[Floats] = []
        groups: list[int] = []
        for j, (variable, values) in enumerate(given):
            if variable.numeric:
                assert values.numbers is not None
                x = np.where(values.codes == 0, values.numbers, self.centre[j])
                basis = spline_basis(x, self.knots[j]) if len(self.knots[j]) else x[:, None]
                columns.append(basis)
                groups += [-1] * basis.shape[1]
            level = self.levels[j][values.codes]
            top = int(self.levels[j].max(initial=0))
            if top:
                columns.append((level[:, None] == np.arange(1, top + 1)).astype(np.float64))
                groups += [j] * top
        n = len(given[0][1])
        return (np.column_stack(columns) if columns else np.zeros((n, 0))), groups

    def rows(self, given: Given) -> Floats:
        """Return the columns of the design without the constant."""
        x, _ = self.plain(given)
        return x if self.expand is None else self.expand(x)


def make_design(given: Given, *, degree: int, spline: bool) -> Design:
    """Return the design for predictors as they are in the original records."""
    levels, knots, centre = [], [], []
    for variable, values in given:
        counts = np.bincount(values.codes, minlength=variable.size)
        levels.append(rank_levels(counts, numeric=variable.numeric))
        if variable.numeric:
            assert values.numbers is not None
            known = values.numbers[values.codes == 0]
            centre.append(float(known.mean()) if len(known) else 0.0)
            knots.append(place_knots(known) if spline else np.zeros(0))
        else:
            centre.append(0.0)
            knots.append(np.zeros(0))
    design = Design(tuple(levels), tuple(knots), tuple(centre))
    if degree == 1 or spline or not given:
        return design
    x, groups = design.plain(given)
    return replace(design, expand=polynomial(x, degree, groups) if len(x) else None)


def design_rows(given: Given, *, degree: int, spline: bool = False) -> tuple[Design, Floats]:
    """Return the design and its columns; refused with nearly as many coefficients as records."""
    design = make_design(given, degree=degree, spline=spline)
    x = design.rows(given)
    refuse_few(len(x), x.shape[1])
    return design, x


def rank_levels(counts: Ints, *, numeric: bool) -> Ints:
    """Return the dummy of each code: none for the commonest, one for each other, the rarest together."""
    order = np.argsort(-counts, kind="stable")
    level = np.zeros(len(counts), dtype=np.int64)
    used = order[counts[order] > 0]
    level[used] = np.minimum(np.arange(len(used)), LEVELS)
    if numeric and counts[0] == 0:
        return np.zeros(len(counts), dtype=np.int64)
    if numeric:
        # State 0 is the ordinary number and never a dummy.
        rest = [c for c in used if c != 0]
        level[:] = 0
        level[rest] = np.arange(1, len(rest) + 1)
    return level


def place_knots(x: Floats) -> Floats:
    """Return the ends and inner knots of a cubic spline; none for few distinct values."""
    inner = np.unique(np.quantile(x, np.linspace(0, 1, KNOTS + 2))) if len(x) else np.zeros(0)
    return inner if len(inner) > 3 else np.zeros(0)


def spline_basis(x: Floats, knots: Floats) -> Floats:
    """Return a natural cubic spline basis: linear beyond the ends (Hastie, Tibshirani, Friedman 2009, 5.2.1)."""
    scale = max(float(knots[-1] - knots[0]), 1e-300)
    z, t = (x - knots[0]) / scale, (knots - knots[0]) / scale

    def above(j: int) -> Floats:
        gap = max(float(t[-1] - t[j]), 1e-12)
        return (power(np.maximum(z - t[j], 0.0), 3) - power(np.maximum(z - t[-1], 0.0), 3)) / gap

    last = above(len(t) - 2)
    return np.column_stack([z, *(above(j) - last for j in range(len(t) - 2))])


# -- numbers -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fitted:
    """A fitted regression."""

    design: Design
    fitted: Fit

    def draw_line(self, given: Given, rng: np.random.Generator, ratio: float = 1.0) -> Floats:
        """Return the linear predictor of records with coefficients drawn from their posterior."""
        # The covariance may be singular.
        covariance = self.fitted.covariance * ratio
        values, vectors = eigh((covariance + covariance.T) / 2)
        root = vectors * np.sqrt(np.clip(values, 0.0, None))
        b = self.fitted.coefficients
        beta = b + dot(root, rng.standard_normal(len(b)))
        return np.asarray(beta[0] + dot(self.design.rows(given), beta[1:]))


@dataclass(frozen=True)
class Numbers(Fitted):
    """A linear or spline model of a number.

    The spline draws residuals of records with nearly the same fitted value, so that spread and skewness may change along
    the curve; ``fitted`` and ``residuals`` are sorted by it.
    """

    kind: Literal["linear", "spline"]
    curve: Floats
    residuals: Floats

    def near_residuals(self, mean: Floats, rng: np.random.Generator) -> Floats:
        """Return residuals of records whose fitted value is among the nearest to each mean."""
        n = len(self.curve)
        half = min(max(NEAR, n // 100), (n - 1) // 2)
        at = np.searchsorted(self.curve, mean) + rng.integers(-half, half + 1, len(mean))
        # Reflected at the ends, where a window has one side only.
        at = np.abs(at)
        return self.residuals[np.clip(np.where(at > n - 1, 2 * (n - 1) - at, at), 0, n - 1)]

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return new numbers for records with these predictors."""
        n, free = len(given[0][1]), max(self.fitted.n - self.fitted.rank, 1)
        # sigma^2 = RSS / chi2(n - p), b ~ N(b_hat, sigma^2 (X'X)^-1).
        ratio = free / rng.chisquare(free)
        mean = self.draw_line(given, rng, ratio)
        if self.kind == "linear":
            noise = rng.standard_normal(n) * np.sqrt(self.fitted.dispersion * ratio)
        else:
            noise = self.near_residuals(mean, rng)
        return Values(np.zeros(n, dtype=np.int64), mean + noise)


def fit_numbers(
    target: Values, given: Given, *, kind: Literal["linear", "spline"], degree: int
) -> Numbers:
    """Fit a linear or spline model to numbers."""
    assert target.numbers is not None
    design, x = design_rows(given, degree=degree, spline=kind == "spline")
    model = fit(x, target.numbers)
    order = np.argsort(model.fitted, kind="stable")
    left = (target.numbers - model.fitted)[order]
    return Numbers(design, model, kind, model.fitted[order], left)


@dataclass(frozen=True)
class Counts(Fitted):
    """A Poisson model of a count, with a gamma factor where counts spread more than that."""

    size: float

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return new counts for records with these predictors."""
        mean = exp(np.minimum(self.draw_line(given, rng), 30.0))
        if np.isfinite(self.size):
            mean = mean * rng.gamma(self.size, 1.0 / self.size, len(mean))
        return Values(np.zeros(len(mean), dtype=np.int64), rng.poisson(mean).astype(np.float64))


def fit_counts(target: Values, given: Given, *, name: str, degree: int) -> Counts:
    """Fit a Poisson model; the spread beyond it by the method of moments."""
    y = target.numbers
    assert y is not None
    if (y < 0).any() or (y != np.rint(y)).any():
        raise InputError(
            f"synthesise: column {name!r} holds numbers that are no counts; use the method linear or cart"
        )
    design, x = design_rows(given, degree=degree)
    model = fit(x, y, "poisson")
    mean = np.maximum(model.fitted, 1e-9)
    # Var = mu + mu^2 / size.
    excess = float(((y - mean) ** 2 - mean).sum())
    size = float((mean**2).sum()) / excess if excess > 0 else np.inf
    widened = model.covariance * max(float(((y - mean) ** 2 / mean).mean()), 1.0)
    return Counts(design, replace(model, covariance=widened), max(size, 1e-3))


# -- categories ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Logit(Fitted):
    """A logit model of two categories."""

    pair: Ints

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return new categories for records with these predictors."""
        chance = expit(self.draw_line(given, rng))
        return Values(self.pair[(rng.random(len(chance)) < chance).astype(np.int64)])


def fit_logit(target: Values, given: Given, *, name: str, degree: int) -> Any:
    """Fit a logit model; a column that varies not is drawn as it is."""
    pair = np.unique(target.codes)
    if len(pair) > 2:
        raise InputError(
            f"synthesise: the method logit is for two categories, and column {name!r} has more; use multinomial or cart"
        )
    if len(pair) < 2:
        return Constant(int(pair[0]) if len(pair) else 0)
    design, x = design_rows(given, degree=degree)
    model = fit(x, (target.codes == pair[1]).astype(np.float64), "logit")
    # Of separated records the likelihood has no maximum, and the covariance no meaning: the draw is the fit.
    covariance = model.covariance * (not model.separated)
    return Logit(design, replace(model, covariance=covariance), pair)


@dataclass(frozen=True)
class Constant:
    """A column of one category."""

    code: int

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return that category."""
        del rng
        return Values(np.full(len(given[0][1]), self.code, dtype=np.int64))


@dataclass(frozen=True)
class Multinomial:
    """A multinomial logit model; coefficients in standard units, one row a category but the first."""

    design: Design
    centre: Floats
    spread: Floats
    beta: Floats
    root: Floats
    classes: Ints

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return new categories for records with these predictors."""
        shift = dot(self.root, rng.standard_normal(len(self.root)))
        beta = self.beta + shift.reshape(self.beta.shape)
        x = (self.design.rows(given) - self.centre) / self.spread
        out = np.empty(len(x), dtype=np.int64)
        for begin in range(0, len(x), CHUNK):
            part = x[begin : begin + CHUNK]
            eta = np.column_stack([np.zeros(len(part)), beta[:, 0] + dot(part, beta[:, 1:].T)])
            sums = np.cumsum(softmax(eta), axis=1)
            picked = (rng.random(len(part))[:, None] > sums).sum(axis=1)
            out[begin : begin + CHUNK] = np.minimum(picked, len(self.classes) - 1)
        return Values(self.classes[out])


def fit_multinomial(target: Values, given: Given, *, name: str, degree: int) -> Any:
    """Fit a multinomial logit model by its posterior under a weak prior, and its covariance."""
    classes, y = np.unique(target.codes, return_inverse=True)
    y = y.ravel()
    if len(classes) < 2:
        return Constant(int(classes[0]) if len(classes) else 0)
    design = make_design(given, degree=degree, spline=False)
    x = design.rows(given)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    use = spread > 1e-9 * np.maximum(np.abs(centre), 1e-300)
    spread = np.where(use, spread, np.inf)
    k, p = len(classes) - 1, x.shape[1] + 1
    if k * p > MOST:
        raise Infeasible(
            f"synthesise: a multinomial model of column {name!r} has {k * p:,} coefficients; merge categories, name fewer predictors, or use cart"
        )
    refuse_few(len(x), p)
    z = np.column_stack([np.ones(len(x)), (x - centre) / spread])

    ridge = np.full((k, p), RIDGE)
    ridge[:, 0] = FAINT

    def loss(flat: Floats) -> tuple[float, Floats]:
        beta = flat.reshape(k, p)
        value, slope = 0.5 * float((ridge * beta**2).sum()), ridge * beta
        for begin in range(0, len(z), CHUNK):
            part, label = z[begin : begin + CHUNK], y[begin : begin + CHUNK]
            eta = np.column_stack([np.zeros(len(part)), dot(part, beta.T)])
            top = eta.max(axis=1)
            total = top + log(exp(eta - top[:, None]).sum(axis=1))
            value += float((total - eta[np.arange(len(part)), label]).sum())
            gap = exp(eta - total[:, None])
            gap[np.arange(len(part)), label] -= 1.0
            slope = slope + dot(gap[:, 1:].T, part)
        return value, slope.ravel()

    beta = find_least(loss, np.zeros(k * p)).reshape(k, p)
    information = np.diag(ridge.ravel())
    for begin in range(0, len(z), CHUNK):
        part = z[begin : begin + CHUNK]
        eta = np.column_stack([np.zeros(len(part)), dot(part, beta.T)])
        chance = softmax(eta)[:, 1:]
        for a in range(k):
            for b in range(a, k):
                weight = chance[:, a] * ((a == b) - chance[:, b])
                block = dot((part * weight[:, None]).T, part)
                information[a * p : (a + 1) * p, b * p : (b + 1) * p] += block
                if a != b:
                    information[b * p : (b + 1) * p, a * p : (a + 1) * p] += block.T
    return Multinomial(design, centre, spread, beta, root_of(information), classes)


def root_of(information: Floats) -> Floats:
    """Return a root of the inverse; directions that the data say nothing of are not drawn along."""
    values, vectors = eigh(information)
    told = values > 1e-8 * values[-1]
    return np.asarray(dot(vectors[:, told] / np.sqrt(values[told]), vectors[:, told].T))


def refuse_few(n: int, p: int) -> None:
    """Refuse a model with nearly as many coefficients as records."""
    if n < p + 3:
        raise Infeasible(
            f"synthesise: a regression with {p + 1} coefficients needs more than {n} records. Name fewer predictors, or use cart."
        )
