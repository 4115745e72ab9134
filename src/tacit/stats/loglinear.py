"""Hierarchical log-linear models of a sparse table of counts.

A model is a list of margins, each a tuple of axes; the fitted table has the margins of the counts and no further
interaction. Decomposable models are products of margins, computed at the occupied cells alone; others are fitted by
iterative proportional fitting on the whole grid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.optimize import brentq

from tacit.arrays import Floats, Ints
from tacit.stats.margins import GridMargin, sweep_margins

Margin = tuple[int, ...]
Tick = Callable[[], None]

#: Cells of the largest grid that is held in memory.
GRID = 20_000_000
#: Fitting ends when no margin is off by more than this share of the total.
TOLERANCE = 1e-9
CYCLES = 2000
#: Where the coefficient of a covariate that is at most 1 is looked for.
STEEP = 60.0


class GridTooLarge(Exception):
    """The model needs the whole grid, and that has more cells than fit."""


@dataclass(frozen=True)
class Counts:
    """Occupied cells of a table: codes by axis, and what is in them."""

    #: One row per cell, one column per axis.
    codes: Ints
    #: Categories of each axis; every one occurs.
    sizes: tuple[int, ...]
    #: What is fitted: counts, or sums of weights.
    n: Floats

    @property
    def total(self) -> float:
        """Return the sum over the table."""
        return float(self.n.sum())

    @property
    def cells(self) -> int:
        """Return the cells of the whole grid."""
        return math.prod(self.sizes)

    @property
    def places(self) -> Ints:
        """Return the place of each occupied cell in the flattened grid."""
        return np.ravel_multi_index(tuple(self.codes.T), self.sizes)

    def margin(self, axes: Margin) -> tuple[Floats, Ints]:
        """Return a margin, flattened, and the place in it of each occupied cell."""
        if not axes:
            return np.array([self.total]), np.zeros(len(self.n), dtype=np.int64)
        sizes = [self.sizes[a] for a in axes]
        place = np.ravel_multi_index(tuple(self.codes[:, a] for a in axes), sizes)
        sums = np.bincount(place, weights=self.n, minlength=math.prod(sizes))
        return sums.astype(np.float64), place.astype(np.int64)


@dataclass(frozen=True)
class Fit:
    """A fitted model."""

    margins: tuple[Margin, ...]
    #: Fitted means of the occupied cells.
    mu: Floats
    #: The whole fitted table, where it was needed.
    table: Floats | None = None
    #: Largest difference of a margin from its target, as a share of the total; 0 for a closed form.
    gap: float = 0.0


def main_effects(axes: int) -> tuple[Margin, ...]:
    """Return the margins of the independence model."""
    return tuple((a,) for a in range(axes))


def two_way(axes: int) -> tuple[Margin, ...]:
    """Return all pairs; with one axis the axis."""
    return tuple(combinations(range(axes), 2)) if axes > 1 else main_effects(axes)


def reduce_margins(margins: Sequence[Margin], axes: int) -> tuple[Margin, ...]:
    """Return the margins that no other contains; an axis that none names gets one of its own."""
    made = {tuple(sorted(set(m))) for m in margins} | set(main_effects(axes))
    kept = [m for m in made if not any(set(m) < set(other) for other in made)]
    return tuple(sorted(kept, key=lambda m: (len(m), m)))


def join_tree(margins: Sequence[Margin]) -> list[tuple[Margin, Margin]] | None:
    """Return margins with their separators when the model is decomposable, else None.

    Margins are taken by the largest overlap with those taken before; the model is decomposable exactly when each overlap
    with all of them lies within one of them.
    """
    left = list(margins)
    taken = [left.pop(0)]
    tree: list[tuple[Margin, Margin]] = [(taken[0], ())]
    while left:
        best = max(left, key=lambda m: max(len(set(m) & set(t)) for t in taken))
        left.remove(best)
        union = {a for t in taken for a in t}
        shared = tuple(sorted(set(best) & union))
        if not any(set(shared) <= set(t) for t in taken):
            return None
        taken.append(best)
        tree.append((best, shared))
    return tree


def fit(
    counts: Counts,
    margins: Sequence[Margin],
    *,
    offset: tuple[Floats, float] | None = None,
    start: Floats | None = None,
    whole: bool = False,
    tick: Tick = lambda: None,
) -> Fit:
    """Fit the hierarchical log-linear model whose table shares some margins with the counts.

    ``offset`` holds factors of the means that are known: of the occupied cells, and of all empty ones. Fitting goes on from
    ``start``, a fitted table of a smaller model; with ``whole`` the whole table is returned too.
    """
    margins = reduce_margins(margins, len(counts.sizes))
    tree = join_tree(margins) if offset is None else None
    if tree is not None and not whole:
        return Fit(margins, closed_form(counts, tree))
    if counts.cells > GRID:
        raise GridTooLarge
    if tree is not None:
        table = spread_form(counts, tree)
        return Fit(margins, table.ravel()[counts.places], table)
    if start is None:
        start = np.ones(counts.sizes)
        if offset is not None:
            start *= offset[1]
            start.ravel()[counts.places] = offset[0]
    table, gap = fit_proportionally(counts, margins, start, tick)
    return Fit(margins, table.ravel()[counts.places], table, gap)


def closed_form(counts: Counts, tree: Sequence[tuple[Margin, Margin]]) -> Floats:
    """Return the means of occupied cells: the product of margins over that of separators."""
    mu = np.full(len(counts.n), counts.total)
    for margin, shared in tree:
        sums, place = counts.margin(margin)
        mu *= sums[place] / counts.total
        sums, place = counts.margin(shared)
        mu /= sums[place] / counts.total
    return mu


def spread_form(counts: Counts, tree: Sequence[tuple[Margin, Margin]]) -> Floats:
    """Return the means of all cells of the grid."""
    table = np.full(counts.sizes, counts.total)
    for margin, shared in tree:
        table *= GridMargin.of(margin, counts.margin(margin)[0] / counts.total, counts.sizes).total
        below = GridMargin.of(shared, counts.margin(shared)[0] / counts.total, counts.sizes).total
        table *= np.divide(1.0, below, out=np.zeros_like(below), where=below > 0)
    return table


def fit_proportionally(
    counts: Counts, margins: Sequence[Margin], start: Floats, tick: Tick
) -> tuple[Floats, float]:
    """Scale a table to each margin in turn until all agree; return it with the largest gap that is left."""
    shape = counts.sizes
    targets = [GridMargin.of(m, counts.margin(m)[0], shape) for m in margins]
    table, gap = start, math.inf
    for sweep in sweep_margins(start, targets, CYCLES):
        tick()
        table, gap = sweep.values, sweep.gap / counts.total
        if gap <= TOLERANCE:
            break
    return table, gap


def fit_with_covariate(
    counts: Counts, margins: Sequence[Margin], covariate: Floats, tick: Tick = lambda: None
) -> Fit:
    """Fit a model with one number per occupied cell as a further predictor; it is 0 in empty cells.

    For a given coefficient the other parameters follow by proportional fitting; the likelihood that is left is concave in
    the coefficient, whose score is bracketed.
    """
    z = covariate / covariate.max()
    seen: dict[float, Fit] = {}

    def score(slope: float) -> float:
        seen[slope] = fit(counts, margins, offset=(np.exp(slope * z), 1.0), tick=tick)
        return float((z * (counts.n - seen[slope].mu)).sum())

    low, high = -1.0, 1.0
    while score(high) > 0:
        low, high = high, 2 * high
        if high > STEEP:
            # Occupied cells are told from empty ones by the covariate alone: the best fit lies at infinity.
            return seen[low]
    while score(low) < 0 and low > -STEEP:
        low, high = 2 * low, low
    root = float(brentq(score, low, high, xtol=1e-8))
    score(root)
    return seen[root]


# -- which model -------------------------------------------------------------------------------------------


def minimum_error(fitted: Fit, counts: Counts, fraction: float) -> tuple[float, float]:
    r"""Return the minimum-error statistic B of a fitted model, and B over its standard error.

    Skinner and Shlomo (2008): an estimate of the bias of tau_1,

    .. math:: B = \sum_k \lambda_k e^{-\lambda_k} (1-\pi)
       \{ (f_k - \pi\lambda_k) + (1-\pi) [(f_k - \pi\lambda_k)^2 - f_k] / (2\pi) \},

    over all cells of the grid; it is positive when the model is too simple, negative when it is too rich. Under the
    model its variance is the sum of the squared factors times mu + 2 c^2 mu^2, with mu = pi lambda, c = (1-pi)/(2 pi).
    """
    assert fitted.table is not None
    c = (1 - fraction) / (2 * fraction)
    mu = fitted.table.ravel()
    lam = mu / fraction
    factor = lam * np.exp(-lam) * (1 - fraction)
    whole = float((factor * (c * mu**2 - mu)).sum())
    f, m, a = counts.n, fitted.mu, factor[counts.places]
    seen = float((a * ((f - m) + c * ((f - m) ** 2 - f) - (c * m**2 - m))).sum())
    variance = float((factor**2 * (mu + 2 * c**2 * mu**2)).sum())
    bias = whole + seen
    return bias, bias / math.sqrt(variance) if variance > 0 else 0.0


@dataclass(frozen=True)
class Step:
    """One step of a forward search: the margin that was added, and the statistic after it."""

    added: Margin
    bias: float
    ratio: float


def search_forward(
    counts: Counts, fraction: float, tick: Tick = lambda: None
) -> tuple[Fit, list[Step]]:
    """Add, from independence on, the pair that brings the statistic nearest to 0, while that helps."""
    axes = len(counts.sizes)
    best = fit(counts, main_effects(axes), whole=True)
    path = [Step((), *minimum_error(best, counts, fraction))]
    left: list[Margin] = list(combinations(range(axes), 2))
    while left:
        tried = []
        for pair in left:
            tick()
            made = fit(counts, (*best.margins, pair), whole=True, start=best.table, tick=tick)
            tried.append((Step(pair, *minimum_error(made, counts, fraction)), made))
        step, made = min(tried, key=lambda t: (abs(t[0].ratio), t[0].added))
        if abs(step.ratio) >= abs(path[-1].ratio):
            break
        left.remove(step.added)
        path.append(step)
        best = made
    return best, path
