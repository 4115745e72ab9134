"""Directions of minimum discrimination information: what is moved, the vote of slabs, and ties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.numerics.elementary import log
from tacit.tables.adjust.ipf import Totals

TieRule = Literal["smaller_entropy_change", "printed", "kl", "evaluate_both"]


def eta(p: Floats) -> Floats:
    """Return p log p, 0 at 0."""
    return np.asarray(p * log(np.where(p > 0, p, 1.0)))


@dataclass(frozen=True, eq=False)
class Movement:
    """What is to be moved and what is to be kept, on ground cells with positive values."""

    #: The values of the cells that absorb the change, and the totals that they share.
    free: Floats
    totals: Totals
    #: The values of the unsafe cells, and their totals.
    fixed: Floats
    groups: Totals
    #: The safe values below and above.
    low: Floats
    high: Floats
    #: Which of the two are allowed.
    can_fall: Flags
    can_rise: Flags
    #: The kept totals, of all cells together.
    target: Floats
    #: The slabs that vote: the same form as the totals.
    slabs: Totals
    fixed_slabs: Totals
    #: Bounds of the free cells.
    lower: Floats
    upper: Floats
    #: Whether K is over all cells, or over the free ones.
    whole: bool = True

    @property
    def n(self) -> int:
        """Return the number of unsafe cells."""
        return len(self.fixed)

    @property
    def open(self) -> Ints:
        """Return the unsafe cells that may go either way."""
        return np.flatnonzero(self.can_fall & self.can_rise)

    def price(self, values: Floats) -> Floats:
        """Return what each unsafe cell adds to K: a log(a/o) - a + o."""
        if not self.whole:
            return np.zeros(self.n)
        return xlogx(values, self.fixed) - values + self.fixed

    def safe(self, up: Flags) -> Floats:
        """Return the safe values of a pattern."""
        return np.where(up, self.high, self.low)

    def left(self, values: Floats) -> Floats:
        """Return what the free cells must add up to."""
        return self.target - self.groups.sums(values)


def xlogx(a: Floats, o: Floats) -> Floats:
    """Return a log(a / o), 0 where a is 0."""
    ratio = np.divide(a, o, out=np.ones_like(a), where=(a > 0) & (o > 0))
    return np.asarray(a * log(ratio))


def votes(m: Movement, max_enum: int) -> npt.NDArray[np.int8]:
    """Return, for each pass of slabs and unsafe cell, 1 (up), 0 (down) or -1 (in no slab)."""
    found = np.full((len(m.slabs.labels), m.n), -1, dtype=np.int8)
    rest = m.slabs.sums(m.free)
    whole = rest + m.fixed_slabs.sums(m.fixed)
    for a, row in enumerate(m.fixed_slabs.labels):
        order = np.argsort(row, kind="stable")
        order = order[row[order] >= 0]
        cuts = np.flatnonzero(np.diff(row[order])) + 1
        for cells in np.split(order, cuts):
            if len(cells):
                slab = int(row[cells[0]])
                found[a, cells] = slab_choice(m, cells, whole[slab], rest[slab], max_enum)
    return found


def slab_choice(m: Movement, cells: Ints, whole: float, rest: float, max_enum: int) -> Flags:
    """Return the directions that keep one slab's total at the least divergence."""
    up = ~m.can_fall[cells]
    either = np.flatnonzero(m.can_fall[cells] & m.can_rise[cells])
    settled = np.setdiff1d(np.arange(len(cells)), either)
    values = m.safe(~m.can_fall)[cells]
    spent = float(values[settled].sum())
    low, high, o = m.low[cells[either]], m.high[cells[either]], m.fixed[cells[either]]
    below, above = xlogx(low, o), xlogx(high, o)
    slab = Slab(whole - spent, rest, low, high, below, above)
    up[either] = slab.enumerate_choices() if len(either) <= max_enum else slab.sweep_choices()
    return up


@dataclass(frozen=True, eq=False)
class Slab:
    """One slab: what its unsafe and other cells must add up to, and the costs of both directions."""

    whole: float
    rest: float
    low: Floats
    high: Floats
    below: Floats
    above: Floats

    def cost(self, moved: Floats, own: Floats) -> Floats:
        """Return K of the slab for sums and own costs of its unsafe cells; infinite where impossible."""
        left = self.whole - moved
        scale = 1e-12 * max(1.0, abs(self.whole))
        if self.rest <= 0:
            return np.where(np.abs(left) <= 1e3 * scale, own, np.inf)
        kept = np.maximum(left, 0.0)
        return np.where(left < -scale, np.inf, own + xlogx(kept, np.full_like(kept, self.rest)))

    def cheapest(self, cost: Floats, moved: Floats) -> int:
        """Return the choice of least cost; where all are impossible, that whose sum is nearest."""
        return int(np.argmin(cost if np.isfinite(cost).any() else np.abs(self.whole - moved)))

    def enumerate_choices(self) -> Flags:
        """Return the best of all choices."""
        moved, own = np.zeros(1), np.zeros(1)
        for i in range(len(self.low)):
            moved = np.concatenate([moved + self.low[i], moved + self.high[i]])
            own = np.concatenate([own + self.below[i], own + self.above[i]])
        best = self.cheapest(self.cost(moved, own), moved)
        return (best >> np.arange(len(self.low)) & 1).astype(bool)

    def sweep_choices(self) -> Flags:
        """Return the best Lagrangian choice, improved by flips.

        K is a sum of own costs and a convex function of the sum: all Lagrangian choices raise the cells
        in the order of extra cost by unit of movement.
        """
        width = np.maximum(self.high - self.low, 1e-300)
        order = np.argsort((self.above - self.below) / width, kind="stable")
        moved = self.low.sum() + np.cumsum(np.append(0.0, (self.high - self.low)[order]))
        own = self.below.sum() + np.cumsum(np.append(0.0, (self.above - self.below)[order]))
        cost = self.cost(moved, own)
        count = self.cheapest(cost, moved)
        up = np.zeros(len(self.low), dtype=bool)
        up[order[:count]] = True
        return self.flip_cells(up, float(cost[count]))

    def flip_cells(self, up: Flags, cost: float) -> Flags:
        """Flip single cells while that lowers the cost."""
        for _ in range(20 * len(up)):
            sign = np.where(up, -1.0, 1.0)
            moved = np.where(up, self.high, self.low).sum() + sign * (self.high - self.low)
            own = np.where(up, self.above, self.below).sum() + sign * (self.above - self.below)
            trial = self.cost(moved, own)
            best = int(np.argmin(trial))
            if not trial[best] < cost - 1e-12 * max(1.0, abs(cost)):
                break
            up[best], cost = not up[best], float(trial[best])
        return up


def starts(m: Movement, rule: TieRule, max_enum: int) -> Iterator[Flags]:
    """Yield the patterns that the vote gives (two for ``evaluate_both``)."""
    ballots = votes(m, max_enum)
    cast = (ballots >= 0).sum(axis=0)
    ups = (ballots == 1).sum(axis=0)
    tied = 2 * ups == cast
    rules: tuple[TieRule, ...] = (rule,)
    if rule == "evaluate_both":
        rules = ("smaller_entropy_change", "printed") if tied.any() else ("printed",)
    for one in rules:
        up = np.where(tied, tie_up(m, one), 2 * ups > cast)
        yield np.where(m.can_fall & m.can_rise, up, m.can_rise)


def tie_up(m: Movement, rule: TieRule) -> Flags:
    """Return which cells a tie rule sends up."""
    if rule == "kl":
        above, below = xlogx(m.high, m.fixed) - m.high, xlogx(m.low, m.fixed) - m.low
        return np.asarray(above <= below)
    above, below = np.abs(eta(m.high) - eta(m.fixed)), np.abs(eta(m.low) - eta(m.fixed))
    return np.asarray(above >= below if rule == "printed" else above < below)
