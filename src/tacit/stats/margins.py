"""Numbers fitted to margins: by proportional fitting, or with weights changed as little as possible.

A margin is a group number for each cell and a total for each group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import NamedTuple

import numpy as np
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.numerics.algebra import dot, lstsq
from tacit.numerics.elementary import exp, log

Tick = Callable[[str, float | None], None]


@dataclass(frozen=True)
class Margin:
    """What the cells of each group must sum to."""

    group: Ints
    total: Floats

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the values of each group."""
        return np.bincount(self.group, weights=values, minlength=len(self.total)).astype(np.float64)

    def spread(self, factors: Floats) -> Floats:
        """Return the factor of each cell from those of the groups."""
        return factors[self.group]

    def distance(self, values: Floats) -> float:
        """Return the largest deviation from a total, relative to the total (to 1 for totals below 1)."""
        far = np.abs(self.sums(values) - self.total) / np.maximum(np.abs(self.total), 1.0)
        return float(far.max(initial=0.0))


@dataclass(frozen=True)
class GridMargin:
    """What the cells of a grid must sum to over some of its axes; the total keeps those axes, of length 1."""

    over: tuple[int, ...]
    total: Floats

    @classmethod
    def of(cls, axes: Sequence[int], total: Floats, shape: Sequence[int]) -> GridMargin:
        """Return the margin of the axes that are kept; its totals may be flat."""
        over = tuple(a for a in range(len(shape)) if a not in axes)
        return cls(over, total.reshape([1 if a in over else n for a, n in enumerate(shape)]))

    def sums(self, values: Floats) -> Floats:
        """Return the sums over the axes."""
        return np.asarray(values.sum(axis=self.over, keepdims=True))

    def spread(self, factors: Floats) -> Floats:
        """Return the factors as they multiply the grid."""
        return factors


class Sweep(NamedTuple):
    """Values after a sweep over the margins, the largest gap that it met, and its number from 1."""

    values: Floats
    gap: float
    number: int


def sweep_margins(
    start: Floats, margins: Sequence[Margin | GridMargin], most: int, *, empty: float = 0.0
) -> Iterator[Sweep]:
    """Scale cells to one margin after the other (iterative proportional fitting); who asks for sweeps says when to end.

    The values are changed in place from sweep to sweep. A group without anything is multiplied by ``empty``: 0 where its
    total cannot be met, 1 where it is left, and then its gap does not count.
    """
    values = start.astype(np.float64)
    for number in islice(count(1), most):
        gap = 0.0
        for margin in margins:
            sums = margin.sums(values)
            some = sums > 0
            off = np.abs(sums - margin.total)
            gap = max(gap, float((np.where(some, off, 0.0) if empty else off).max(initial=0.0)))
            factor = np.divide(margin.total, sums, out=np.full_like(sums, empty), where=some)
            values *= margin.spread(factor)
        yield Sweep(values, gap, number)


@dataclass(frozen=True)
class Fit:
    """Fitted values, sweeps used and the largest relative deviation left."""

    values: Floats
    rounds: int
    residual: float
    met: bool


def fit_proportionally(
    start: Floats, margins: Sequence[Margin], *, tolerance: float = 1e-8, most: int = 500
) -> Fit:
    """Scale the cells to one margin after the other until all fit.

    The result is start x a factor for each group of each margin, so that odds ratios which no margin fixes stay.
    Zeros stay zero.
    """
    fit = Fit(start.astype(np.float64), 0, np.inf, met=False)
    for values, _, rounds in sweep_margins(start, margins, most):
        residual = max((m.distance(values) for m in margins), default=0.0)
        fit = Fit(values, rounds, residual, residual <= tolerance)
        if fit.met:
            break
    return fit


@dataclass(frozen=True)
class Curve:
    """How far a weight moves: the ratio g(u) at u = x'lambda, its slope, and its integral from 0.

    ``linear`` is 1 + u, ``rake`` is exp(u); both are cut off at the bounds.
    """

    kind: str
    low: float = -np.inf
    high: float = np.inf

    def ratio(self, u: Floats) -> Floats:
        """Return g(u)."""
        free = 1.0 + u if self.kind == "linear" else exp(np.minimum(u, 700.0))
        return np.clip(free, self.low, self.high)

    def slope(self, u: Floats) -> Floats:
        """Return g'(u), 0 where a bound holds."""
        g = self.ratio(u)
        inside = (g > self.low) & (g < self.high)
        return np.where(inside, 1.0 if self.kind == "linear" else g, 0.0)

    def steepest(self, u: Floats) -> Floats:
        """Return the slope that is nowhere exceeded: that of the curve without bounds, or at the upper bound."""
        if self.kind == "linear":
            return np.ones_like(u)
        return np.full_like(u, self.high) if np.isfinite(self.high) else self.ratio(u)

    def area(self, u: Floats) -> Floats:
        """Return the integral of g, up to a constant."""
        first, last = self.ends()
        inside = np.clip(u, first, last)
        grown = inside + inside**2 / 2 if self.kind == "linear" else exp(inside)
        below = np.where(u < first, (u - first) * self.low if np.isfinite(first) else 0.0, 0.0)
        above = np.where(u > last, (u - last) * self.high if np.isfinite(last) else 0.0, 0.0)
        return grown + below + above

    def ends(self) -> tuple[float, float]:
        """Return the u at which the bounds are reached."""
        if self.kind == "linear":
            return self.low - 1.0, self.high - 1.0
        with np.errstate(divide="ignore"):
            first = float(log(max(self.low, 0.0))) if np.isfinite(self.low) else -np.inf
        last = float(log(self.high)) if np.isfinite(self.high) else 700.0
        return first, last


def calibrate_ratios(
    weights: Floats,
    margins: Sequence[Margin],
    curve: Curve,
    *,
    tolerance: float = 1e-8,
    most: int = 200,
) -> Fit:
    """Return the ratios new / old of least distance with which the weighted sums meet every margin.

    Deville and Särndal's calibration: g = F(x'lambda), with lambda found by Newton steps that are halved while the
    concave dual does not grow.
    """
    design = make_design(margins, len(weights))
    wanted = np.concatenate([m.total for m in margins])
    # Each equation counts relative to its total, so that small groups are met as closely as large ones.
    scale = 1.0 / np.maximum(np.abs(wanted), 1.0)
    design = sparse.csr_matrix(dot(design, sparse.diags(scale)))
    wanted = wanted * scale
    multipliers = np.zeros(design.shape[1])

    def dual(at: Floats) -> float:
        return float(dot(wanted, at) - dot(weights, curve.area(dot(design, at))))

    rounds, residual = 0, np.inf
    while rounds < most:
        u = np.asarray(dot(design, multipliers))
        short = wanted - np.asarray(dot(design.T, weights * curve.ratio(u)))
        residual = float(np.abs(short).max(initial=0.0))
        if residual <= tolerance:
            break
        rounds += 1
        # Newton's step; where bounds hold almost everywhere it leads nowhere, and the steepest possible curvature
        # everywhere gives a shorter step that always climbs.
        for slope in (curve.slope(u), curve.steepest(u)):
            curved = (dot(dot(design.T, sparse.diags(weights * slope)), design)).toarray()
            step = lstsq(curved, short, rcond=1e-11)[0]
            size = climb(dual, multipliers, step, float(dot(short, step)))
            if size:
                break
        if not size:
            break
        multipliers = multipliers + size * step
    ratio = curve.ratio(np.asarray(dot(design, multipliers)))
    return Fit(ratio, rounds, residual, residual <= tolerance)


def climb(
    dual: Callable[[Floats], float], start: Floats, step: Floats, gain: float, least: float = 1e-3
) -> float:
    """Return how much of a step raises a concave function enough, halving it; 0 when none does."""
    if not np.isfinite(step).all() or float(np.abs(step).max(initial=0.0)) > 1e8:
        return 0.0
    value = dual(start)
    room = 1e-13 * abs(value)
    size = 1.0
    while size >= least:
        if dual(start + size * step) >= value + 1e-4 * size * gain - room:
            return size
        size /= 2
    return 0.0


def make_design(margins: Sequence[Margin], n_cells: int) -> sparse.csr_matrix:
    """Return one row per cell with a 1 for its group of every margin."""
    starts = np.cumsum([0, *(len(m.total) for m in margins)])
    rows = np.tile(np.arange(n_cells), len(margins))
    places = [m.group + s for m, s in zip(margins, starts, strict=False)]
    columns = np.concatenate(places) if places else np.zeros(0, dtype=np.int64)
    ones = np.ones(len(rows))
    return sparse.csr_matrix((ones, (rows, columns)), shape=(n_cells, int(starts[-1])))


def can_meet(
    weights: Floats, margins: Sequence[Margin], low: float, high: float, tolerance: float = 1e-8
) -> bool:
    """Return whether any ratios within the bounds meet the margins, by linear programming."""
    from scipy.optimize import linprog

    design = make_design(margins, len(weights))
    wanted = np.concatenate([m.total for m in margins])
    room = tolerance * np.maximum(np.abs(wanted), 1.0)
    equations = (dot(design.T, sparse.diags(weights))).tocsr()
    found = linprog(
        np.zeros(len(weights)),
        A_ub=sparse.vstack([equations, -equations]),
        b_ub=np.concatenate([wanted + room, room - wanted]),
        bounds=(None if np.isinf(low) else low, None if np.isinf(high) else high),
        method="highs",
    )
    return bool(found.status == 0)
