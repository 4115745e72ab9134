"""The optimum over all sets of input channels, by generating columns.

For a fixed set the safe assignments form a cone. Each of its extreme rays uses at most one
channel more than there are rules, and moving a ray to the set of the channels that it uses lowers
its cost. Small sets therefore suffice, and a linear program with a row for each input channel and
a column for each ray has the same optimum as equations (11)-(16) over every subset. Columns are
found by :mod:`tacit.records.channels.pricing`; the bound is that of Farley (1990): prices divided by
1 + slack are feasible in the dual.

References
----------
Garfinkel, Gopal, Thompson (2007), Information Systems Research 18(1), 23-41, section 6.
Farley, A. A. (1990), "A note on bounding a class of linear programming problems, including
cutting stock problems", Operations Research 38(5), 922-923.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats
from tacit.records.channels.cone import Cone, full_rays
from tacit.records.channels.local import improve, rank_within
from tacit.records.channels.master import Master
from tacit.records.channels.pricing import price, price_milp
from tacit.time_limits import is_past

Progress = Callable[[str, float], None]

_TREE_RULES = 6
_PROOF = 1e-9
_SMALL = 400
_LONG = 120.0
# A search at prices divided by 1 + ease is quick and proves a weaker bound; large problems climb.
_EASES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.0)


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where column generation ended: the master, its value and the bound, in units of size."""

    master: Master
    value: float
    bound: float
    prices: Floats
    rounds: int

    @property
    def proven(self) -> bool:
        """Whether value and bound meet."""
        return self.bound >= self.value * (1 - 2 * _PROOF) - 1e-12


def generate(
    cone: Cone, *, time_limit: float | None = None, tick: Progress | None = None
) -> Optimum:
    """Generate columns until no set improves, or the time is up.

    Without a limit, up to 400 input channels are solved to the end; more get two minutes.
    """
    if time_limit is None and len(cone.m) > _SMALL:
        time_limit = _LONG
    run = _Run(cone, time_limit, tick)
    _pairs(cone, run.master)
    run.approach()
    run.prove()
    return Optimum(run.master, run.value, min(run.bound, run.value), run.prices, run.rounds)


class _Run:
    """The state of one column generation."""

    def __init__(self, cone: Cone, time_limit: float | None, tick: Progress | None) -> None:
        self.cone, self.tick = cone, tick
        self.small = len(cone.m) <= _SMALL
        self.begun = time.monotonic()
        self.time_limit = time_limit
        self.master = Master(cone)
        self.value, self.bound, self.rounds = float("inf"), 0.0, 0
        self.prices: Floats = np.zeros(len(cone.m))

    def is_late(self, share: float = 1.0) -> bool:
        return is_past(self.deadline(share))

    def deadline(self, share: float = 1.0) -> float | None:
        return None if self.time_limit is None else self.begun + share * self.time_limit

    def tell(self, what: str) -> None:
        self.rounds += 1
        if self.tick is not None:
            done = self.bound / self.value if 0 < self.value < np.inf else 0.0
            self.tick(f"round {self.rounds}: {what}, gap {1 - done:.2%}", done)

    def approach(self) -> None:
        """Add columns near those in use until that yields little, at central prices if large."""
        before, n = np.inf, len(self.cone.m)
        while not self.is_late(0.7):
            if self.small:
                value, prices = self.master.solve()
            else:
                prices = self.master.central_prices()
                value = float(prices @ self.cone.m)
                self.master.raise_penalties(2, least=1e-4)
            if self.master.n_columns > 12 * n:
                self.master = self.master.prune_rays(prices, 4 * n)
            found = improve(self.cone, prices, self.master.find_promising_rays(prices, n), each=2)
            added = sum(self.master.add(*rays) for rays in found.values())
            self.tell(f"{added} rays near those in use")
            slow = abs(value - before) < 1e-3 * value and added < n
            if added < n // 20 or slow:
                if not self.master.raise_penalties():
                    return
                before = np.inf
            else:
                before = value

    def prove(self) -> None:
        """Search all sets at the prices of the optimum, until nothing improves."""
        self.solve()
        eases = [0.0] if self.small else list(_EASES)
        while eases and not self.is_late():
            if self.search(eases[0]) == 0:
                eases.pop(0)
                continue
            if not self.small:
                self.approach()
            self.solve()

    def solve(self) -> None:
        """Solve the master with nobody left out."""
        if not self.small:
            self.master.solve_from_scratch()
        self.value, self.prices = self.master.solve()
        while self.master.raise_penalties():
            self.value, self.prices = self.master.solve()

    def search(self, ease: float) -> int:
        """Search with prices divided by 1 + ease; add what improves and update the bound."""
        if self.is_late() or self.bound >= self.value / (1 + ease) * (1 - _PROOF):
            return 0
        prices = self.prices / (1 + ease)
        if self.cone.n_rules > _TREE_RULES:
            found = price_milp(self.cone, prices, deadline=self.deadline())
        else:
            found = price(self.cone, prices, deadline=self.deadline())
        dual = float(prices @ self.cone.m)
        self.bound = max(self.bound, dual / (1 + found.slack))
        added = sum(self.master.add(found.sets[n], found.rays[n]) for n in found.sets)
        self.tell(f"{added} rays of all")
        return added


def _pairs(cone: Cone, master: Master, each: int = 20) -> None:
    """Start from pairs: for each channel those that protect a risky one at the least cost."""
    risky = np.flatnonzero(cone.risky)
    sets = np.column_stack(
        [np.repeat(risky, len(cone.m)), np.tile(np.arange(len(cone.m)), len(risky))]
    )
    sets = sets[sets[:, 0] != sets[:, 1]]
    where, rays = full_rays(cone, sets)
    sets, cost = sets[where], cone.psi(sets[where]) / rays[:, 0]
    price_of = np.full(len(cone.m), np.inf)
    np.minimum.at(price_of, sets[:, 0], cost)
    possible = price_of[np.isfinite(price_of)]
    usual = possible.max() if len(possible) else float(len(cone.m))
    master.penalise(3 * np.where(np.isfinite(price_of), price_of, usual)[risky])
    order = np.argsort(cost, kind="stable")
    near = rank_within(sets[order, 0]) < each
    near |= rank_within(sets[order, 1]) < each // 2
    chosen = order[near]
    members, at = np.sort(sets[chosen], axis=1), np.argsort(sets[chosen], axis=1, kind="stable")
    master.add(members, np.take_along_axis(rays[chosen], at, axis=1))
