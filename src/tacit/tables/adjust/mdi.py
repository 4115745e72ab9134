"""Minimum discrimination information adjustment: slab votes, one-cell flips, random and full search.

Unsafe cells go to a safe value below or above, all others are fitted to what is left of the kept totals.
The pattern of directions is chosen by a vote of the slabs, improved by flips, and optionally searched at
random or in full. Flips that cannot help are ruled out by the dual bound of :mod:`tacit.tables.adjust.ipf`,
which leaves the course of the search as it would be if all were fitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError
from tacit.numerics.algebra import dot
from tacit.numerics.elementary import exp, log
from tacit.solve import Highs, LinearModel
from tacit.tables.adjust.directions import Movement, eta, starts, xlogx
from tacit.tables.adjust.ipf import (
    CONVERGED,
    KERNELS,
    LARGEST,
    STUCK,
    TIRED,
    Fit,
    Totals,
    fit_totals,
    steps_of_lam,
)

if TYPE_CHECKING:
    from tacit.tables.adjust.adjust_mdi import AdjustMdi

Tick = Callable[[float | None], None]

#: Directions up to which every pattern may be tried.
MOST_EXHAUSTIVE = 20
#: Patterns fitted between two looks at the clock.
LOOK = 256
#: Accepted flips after which the second derivatives are recomputed.
STALE = 20
#: A flip must lower K by more than this share of max(1, K).
GAIN = 1e-12


# -- information ---------------------------------------------------------------------------------------


def discrimination_information(
    adjusted: npt.ArrayLike, original: npt.ArrayLike, *, normalised: bool = False
) -> float:
    """Return the Kullback-Leibler divergence I(a : o) = sum a log(a / o).

    Parameters
    ----------
    adjusted, original
        Two tables of the same shape without negative entries; 0 log 0 is 0, and the divergence is
        infinite where the original is 0 and the adjusted value is not.
    normalised
        Divide each table by its sum first.
    """
    a = np.asarray(adjusted, dtype=np.float64).ravel()
    o = np.asarray(original, dtype=np.float64).ravel()
    if a.shape != o.shape:
        raise InputError("the two tables must have the same number of cells")
    if not (np.isfinite(a).all() and np.isfinite(o).all()) or min(a.min(), o.min()) < 0:
        raise InputError("discrimination information needs values that are not negative or missing")
    if normalised:
        if not (a.sum() > 0 and o.sum() > 0):
            raise InputError("a table without any positive value cannot be normalised")
        a, o = a / a.sum(), o / o.sum()
    used = a > 0
    if (o[used] == 0).any():
        return math.inf
    return float((a[used] * log(a[used] / o[used])).sum())


def entropy(values: npt.ArrayLike, *, normalised: bool = True) -> float:
    """Return the entropy - sum p log p of a table, by default of its shares."""
    p = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(p).all() or (p < 0).any():
        raise InputError("entropy needs values that are not negative or missing")
    if normalised:
        if not p.sum() > 0:
            raise InputError("a table without any positive value cannot be normalised")
        p = p / p.sum()
    return float(-eta(p).sum())


def random_search_size(p: float, alpha: float) -> int:
    """Return how many random patterns find one of the best share ``p`` with probability ``alpha``.

    m = ceil(log(1 - alpha) / log(1 - p)); p = 0.001 and alpha = 0.99 give 4603.
    """
    if not (0 < p < 1 and 0 < alpha < 1):
        raise InputError("the share and the probability of a random search lie between 0 and 1")
    # A ratio that is whole but for rounding errors is not rounded up once more.
    return max(1, math.ceil(math.log1p(-alpha) / math.log1p(-p) - 1e-9))


# -- the problem ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class Pattern:
    """Directions, the fit that belongs to them, and its divergence."""

    up: Flags
    fit: Fit
    target: Floats
    information: float


@dataclass(eq=False)
class Outcome:
    """The best pattern, and how it was reached."""

    pattern: Pattern
    trace: dict[str, float]  # K after each part of the search
    fitted: int
    infeasible: int
    flips: int


class Search:
    """The best pattern so far, and the ways of looking for a better one."""

    def __init__(self, m: Movement, rules: AdjustMdi, tick: Tick) -> None:
        self.m, self.rules, self.tick = m, rules, tick
        self.fitted = self.infeasible = self.flips = 0
        self.base = float(m.free.sum())

    def run(self, rng: np.random.Generator) -> Outcome | None:
        """Return the best pattern found; None when none of those tried is feasible."""
        m, rules = self.m, self.rules
        trace: dict[str, float] = {}
        tried = [self.fit(up) for up in starts(m, rules.tie_rule, rules.max_enum)]
        trace["heuristic"] = min(t.information for t in tried)
        if math.isinf(trace["heuristic"]):
            up = feasible_pattern(m)
            if up is None:
                return None
            tried.append(self.fit(up))
        improved = [self.flip(t) for t in tried if math.isfinite(t.information)]
        if not improved:
            return None
        best = min(improved, key=lambda t: t.information)
        trace["flips"] = best.information
        if rules.random_search:
            best = self.at_random(best, rng)
            trace["random_search"] = best.information
        if rules.search == "exhaustive":
            best = self.through(best)
            trace["exhaustive"] = best.information
        best = self.polish_best(best)
        return Outcome(best, trace, self.fitted, self.infeasible, self.flips)

    def fit(self, up: Flags, warm: tuple[Floats, Floats] | None = None) -> Pattern:
        """Fit the free cells to a pattern; its divergence is infinite where that is impossible."""
        m, rules = self.m, self.rules
        values = m.safe(up)
        target = m.left(values)
        self.fitted += 1
        if self.fitted % LOOK == 0:
            self.tick(None)
        tol, most = (0.25, 25) if rules.paper_ipf else (rules.tol, rules.max_iter)
        cells, lam = (m.free, None) if warm is None else warm
        found = fit_totals(
            cells, m.totals, target, lam=lam, tol=tol, max_iter=most, absolute=rules.paper_ipf
        )
        if found.state == STUCK and warm is not None:
            found = fit_totals(m.free, m.totals, target, tol=tol, max_iter=most)
        done = found.state == CONVERGED or (rules.paper_ipf and found.state == TIRED)
        if not done:
            self.infeasible += 1
            return Pattern(up, found, target, math.inf)
        return Pattern(up, found, target, self.information(found, target, values))

    def information(self, found: Fit, target: Floats, values: Floats) -> float:
        """Return K: by the dual, whose error is of second order, or by its definition."""
        own = float(self.m.price(values).sum())
        if self.rules.paper_ipf:
            p = found.cells
            return own + float((xlogx(p, self.m.free) - p + self.m.free).sum())
        return own + float(dot(found.lam, target) - found.cells.sum()) + self.base

    def flip(self, best: Pattern) -> Pattern:
        """Reverse one cell after the other and keep what lowers K, for as many passes as asked for."""
        most = self.rules.flip_passes
        turn = 0
        while most is None or turn < most:
            self.tick(None)
            turn += 1
            before = self.flips
            best = self.plain_pass(best) if self.rules.paper_ipf else self.pass_over(best)
            if self.flips == before or self.is_enough(best):
                break
        return best

    def plain_pass(self, best: Pattern) -> Pattern:
        """Fit every flip from the start, as printed."""
        for s in self.m.open:
            up = best.up.copy()
            up[s] = not up[s]
            trial = self.fit(up)
            if trial.information < best.information - GAIN * max(1.0, best.information):
                best, self.flips = trial, self.flips + 1
        return best

    def pass_over(self, best: Pattern) -> Pattern:
        """Fit the flips that the dual bound does not rule out."""
        order, place = self.m.open, 0
        steps = self.steps(best)
        since = 0
        while place < len(order):
            limit = best.information - GAIN * max(1.0, best.information)
            if steps is not None:
                place = self.scan(best, order, place, steps, limit)
                if place < 0:
                    break
            trial = self.flip_cells(best, int(order[place]), steps)
            if trial.information < limit:
                best, self.flips, since = trial, self.flips + 1, since + 1
                if since >= max(STALE, self.m.totals.count // 10):
                    steps, since = self.steps(best), 0
            place += 1
        return best

    def steps(self, best: Pattern) -> Floats | None:
        """Return how lam answers to one unit more in each unsafe cell."""
        if not len(self.m.open):
            return None
        return steps_of_lam(
            best.fit.cells, self.m.totals, -incidence(self.m.groups, self.m.n).toarray()
        )

    def scan(self, best: Pattern, order: Ints, first: int, steps: Floats, limit: float) -> int:
        """Return the next place in ``order`` whose flip might lower K, or -1."""
        m = self.m
        now, then = m.safe(best.up), m.safe(~best.up)
        own = m.price(now)
        prize = self.base + own.sum() - own + m.price(then)
        return int(
            KERNELS.pick(float(len(order) - first) * m.totals.labels.size)["scan"](
                order,
                first,
                then - now,
                prize,
                best.fit.cells,
                m.totals.labels,
                best.fit.lam,
                best.target,
                steps,
                m.groups.labels,
                limit,
            )
        )

    def flip_cells(self, best: Pattern, s: int, steps: Floats | None) -> Pattern:
        """Fit the pattern with one cell reversed, from the factors at hand."""
        up = best.up.copy()
        up[s] = not up[s]
        if steps is None:
            return self.fit(up, (best.fit.cells, best.fit.lam))
        change = self.m.safe(up)[s] - self.m.safe(best.up)[s]
        move = np.clip(change * steps[:, s], -LARGEST, LARGEST)
        scaled = best.fit.cells * np.append(exp(move), 1.0)[self.m.totals.labels].prod(axis=0)
        return self.fit(up, (scaled, best.fit.lam + move))

    def at_random(self, best: Pattern, rng: np.random.Generator) -> Pattern:
        """Draw patterns; restart the count after each that is better."""
        size = self.rules.random_search or 0
        most = left = random_search_size(*size) if isinstance(size, tuple) else size
        while left > 0 and not self.is_enough(best):
            trial = self.fit(random_pattern(self.m, rng))
            left -= 1
            if trial.information < best.information - GAIN * max(1.0, best.information):
                best = self.flip(trial)
                left = most
        return best

    def through(self, best: Pattern) -> Pattern:
        """Go through all patterns; those that the dual bound rules out are not fitted."""
        m, places = self.m, self.m.open
        steps = self.steps(best)
        shifted = KERNELS.pick(float(m.totals.labels.size << len(places)))["shifted"]
        now = m.safe(best.up)
        for code in range(1 << len(places)):
            if code % (16 * LOOK) == 0:
                self.tick(code / (1 << len(places)))
            up = best.up.copy()
            up[places] = (code >> np.arange(len(places)) & 1).astype(bool)
            values = m.safe(up)
            if steps is not None and math.isfinite(best.information):
                move = np.clip(dot(steps, values - now), -LARGEST, LARGEST)
                target = best.target - m.groups.sums(values - now)
                bound = dot(best.fit.lam + move, target) + m.price(values).sum() + self.base
                bound -= shifted(best.fit.cells, m.totals.labels, exp(move))
                if bound >= best.information - GAIN * max(1.0, best.information):
                    continue
            trial = self.fit(up)
            if trial.information < best.information - GAIN * max(1.0, abs(best.information)):
                best, now = trial, values
                steps = self.steps(best)
        return best

    def polish_best(self, best: Pattern) -> Pattern:
        """Fit the best pattern once more, as closely as numbers allow."""
        if self.rules.paper_ipf:
            return best
        fit = best.fit
        closer = fit_totals(
            fit.cells, self.m.totals, best.target, lam=fit.lam, tol=1e-13, max_iter=200
        )
        if not closer.error < fit.error:
            return best
        closer.state, closer.cycles = CONVERGED, fit.cycles + closer.cycles
        return Pattern(best.up, closer, best.target, best.information)

    def is_enough(self, best: Pattern) -> bool:
        """Return True when K is as low as the user asks for."""
        return self.rules.enough is not None and best.information <= self.rules.enough


def random_pattern(m: Movement, rng: np.random.Generator) -> Flags:
    """Return random directions, where there is a choice."""
    return np.where(m.can_fall & m.can_rise, rng.random(m.n) < 0.5, m.can_rise)


# -- feasibility and bounds ----------------------------------------------------------------------------


def feasible_pattern(m: Movement) -> Flags | None:
    """Return directions that leave the free cells room, by an integer program; None if there are none."""
    for least in (1e-2, 1e-6, 0.0):
        found = direction_program(m, least).solve(time_limit=60.0)
        if found.x is not None:
            up = found.x[len(m.free) :] > 0.5
            return np.where(m.can_fall & m.can_rise, up, m.can_rise)
    return None


def direction_program(m: Movement, least: float = 0.0, *, elastic: bool = False) -> Highs:
    """Return the program: free cells and directions meet the kept totals, or miss them at a price (``elastic``)."""
    n, more = len(m.free), 2 * m.totals.count if elastic else 0
    slack = 0.0 if elastic else 1e-9 * max(1.0, float(np.abs(m.target).max(initial=0.0)))
    moves = dot(incidence(m.groups, m.n), sparse.diags_array(m.high - m.low))
    eye = sparse.eye_array(m.totals.count, format="csr")
    blocks = [incidence(m.totals, n), moves, *([eye, -eye] if elastic else [])]
    right = m.left(m.low)
    return Highs(
        LinearModel.of(
            np.r_[np.zeros(n + m.n), np.ones(more)],
            sparse.hstack(blocks, format="csc"),
            right - slack,
            right + slack,
            np.r_[least * m.free, np.where(m.can_fall, 0.0, 1.0), np.zeros(more)],
            np.r_[
                np.where(elastic | (m.free > 0), np.inf, 0.0),
                np.where(m.can_rise, 1.0, 0.0),
                np.full(more, np.inf),
            ],
            integer=np.repeat([False, True, False], [n, m.n, more]),
        )
    )


def incidence(totals: Totals, n: int) -> sparse.csr_array:
    """Return the totals as a sparse matrix."""
    rows = totals.labels.ravel()
    columns = np.tile(np.arange(n), len(totals.labels))
    keep = rows >= 0
    shape = (totals.count, n)
    return sparse.csr_array((np.ones(int(keep.sum())), (rows[keep], columns[keep])), shape=shape)


def blocking(m: Movement) -> Ints:
    """Return the totals that the nearest choice of directions leaves unmet, by an elastic program."""
    found = direction_program(m, elastic=True).solve(time_limit=10.0)
    if found.x is None:
        return np.zeros(0, dtype=np.int64)
    slack = found.x[len(m.free) + m.n :].reshape(2, -1).sum(axis=0)
    return np.flatnonzero(slack > 1e-7 * max(1.0, float(np.abs(m.target).max(initial=0.0))))


def within_bounds(m: Movement, best: Pattern, *, max_iter: int, tol: float) -> Floats | None:
    """Return the I-projection with bounds on the free cells; None when it does not converge.

    Coordinate ascent on the dual: p = clip(o exp(M' lam), lower, upper), and in each pass every total's
    lam is set so that its cells meet the target.
    """
    p = best.fit.cells
    if ((p >= m.lower) & (p <= m.upper)).all():
        return p
    labels, g = m.totals.labels, m.totals.count
    lam = np.zeros(g)
    scale = np.maximum(best.target, 1e-12 * max(1.0, float(best.target.max(initial=0.0))))
    for _ in range(max_iter):
        worst = 0.0
        for row in labels:
            inside = np.flatnonzero(row >= 0)
            own = row[inside]
            weight = np.append(lam, 0.0)[labels[:, inside]].sum(axis=0) - lam[own]
            base = m.free[inside] * exp(np.clip(weight, -700, 700))
            low, high = np.full(g, -60.0), np.full(g, 60.0)
            used = np.unique(own)

            def sums(
                at: Floats, base: Floats = base, own: Ints = own, inside: Ints = inside
            ) -> Floats:
                cells = np.clip(base * exp(at[own]), m.lower[inside], m.upper[inside])
                return np.asarray(np.bincount(own, cells, g), dtype=np.float64)

            gap = np.abs(sums(lam) - best.target)[used] / scale[used]
            worst = max(worst, float(gap.max(initial=0.0)))
            for _ in range(60):
                middle = (low + high) / 2
                over = sums(middle) > best.target
                low, high = np.where(over, low, middle), np.where(over, middle, high)
            lam[used] = ((low + high) / 2)[used]
        if worst <= tol:
            factor = np.append(lam, 0.0)[labels].sum(axis=0)
            return np.clip(m.free * exp(factor), m.lower, m.upper)
    return None
