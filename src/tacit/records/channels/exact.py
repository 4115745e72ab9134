"""The optimum over all sets of input channels, by generating columns.

For a fixed set the safe assignments form a cone. Each of its extreme rays uses at most one
channel more than there are rules, and moving a ray to the set of the channels that it uses lowers
its cost. Small sets therefore suffice, and a linear program with a row for each input channel and
a column for each ray has the same optimum as equations (11)-(16) over every subset. Columns are
found by :mod:`tacit.records.channels.pricing`; the bound is that of Farley (1990): prices divided by
1 + slack are feasible in the dual.

A fast heuristic feeds the master problem before the search proves that nothing is left. Each set has multipliers
``mu`` of its tight rules, at which all its members are worth the same; channels worth most at that point, net of
their size, are tried.

References
----------
Garfinkel, Gopal, Thompson (2007), Information Systems Research 18(1), 23-41, section 6.
Farley, A. A. (1990), "A note on bounding a class of linear programming problems, including
cutting stock problems", Operations Research 38(5), 922-923.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.channels.cone import Cone, full_rays
from tacit.records.channels.lp import Master
from tacit.records.channels.pricing import price, price_milp
from tacit.stats.ranks import rank_within
from tacit.time_limits import is_past

Progress = Callable[[str, float], None]

_TREE_RULES = 6
_PROOF = 1e-9
_SMALL = 400
_LONG = 120.0
# A search at prices divided by 1 + ease is quick and proves a weaker bound; large problems climb.
_EASES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.0)


def generate(
    cone: Cone, *, time_limit: float | None = None, tick: Progress | None = None
) -> Generation:
    """Generate columns until no set improves, or the time is up.

    Without a limit, up to 400 input channels are solved to the end; more get two minutes.
    """
    if time_limit is None and len(cone.m) > _SMALL:
        time_limit = _LONG
    run = Generation(cone, time_limit, tick)
    _pairs(cone, run.master)
    run.approach()
    run.prove()
    run.bound = min(run.bound, run.value)
    return run


class Generation:
    """A column generation: the master, its value and the bound, in units of size, prices and rounds so far."""

    def __init__(self, cone: Cone, time_limit: float | None, tick: Progress | None) -> None:
        self.cone, self.tick = cone, tick
        self.small = len(cone.m) <= _SMALL
        self.begun = time.monotonic()
        self.time_limit = time_limit
        self.master = Master(cone)
        self.value, self.bound, self.rounds = float("inf"), 0.0, 0
        self.prices: Floats = np.zeros(len(cone.m))

    @property
    def proven(self) -> bool:
        """Whether value and bound meet."""
        return self.bound >= self.value * (1 - 2 * _PROOF) - 1e-12

    def is_late(self, share: float = 1.0) -> bool:
        """Return True when this share of the time is up."""
        return is_past(self.deadline(share))

    def deadline(self, share: float = 1.0) -> float | None:
        """Return the moment at which this share of the time is up, if there is a limit."""
        return None if self.time_limit is None else self.begun + share * self.time_limit

    def tell(self, what: str) -> None:
        """Count a round, and report it."""
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
            found = improve(self.cone, prices, self.master.find_promising_rays(prices, n))
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


def _pairs(cone: Cone, master: Master) -> None:
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
    near = (rank_within(sets[order, 0]) < 20) | (rank_within(sets[order, 1]) < 10)
    chosen = order[near]
    members, at = np.sort(sets[chosen], axis=1), np.argsort(sets[chosen], axis=1, kind="stable")
    master.add(members, np.take_along_axis(rays[chosen], at, axis=1))


# -- improving sets near the sets in use: add a channel to them, or exchange one ---------------------


_TOLERANCE = 1e-9
_CHUNK = 1000
#: Channels tried beside each set; and sets beside each channel, a quarter of that.
_WIDTH = 20
#: Improving rays kept for every input channel.
_BEST = 2


def improve(
    cone: Cone, prices: Floats, columns: dict[int, tuple[Ints, Floats]]
) -> dict[int, tuple[Ints, Floats]]:
    """Return improving rays near the given ones, by number of members: the best for every input channel."""
    tried: dict[int, list[Ints]] = {}
    for n, (sets, rays) in columns.items():
        for at in range(0, len(sets), _CHUNK):
            some = slice(at, at + _CHUNK)
            line, partner = _partners(cone, prices, sets[some], rays[some])
            for new in _variants(sets[some][line], partner, grow=n <= cone.n_rules):
                tried.setdefault(new.shape[1], []).append(new)
    found = {}
    for n, parts in tried.items():
        kept = _improving(cone, prices, keep_distinct_sets(np.concatenate(parts), len(cone.m)))
        if len(kept[0]):
            found[n] = kept
    return found


def _partners(cone: Cone, prices: Floats, sets: Ints, rays: Floats) -> tuple[Ints, Ints]:
    """Pair each set with the channels worth most beside it, and each channel with its best sets.

    Worth is taken at the multipliers of the set's tight rules.
    """
    G = cone.G[:, sets]
    tight = np.abs(np.einsum("lnj,nj->nl", G, rays)) < 1e-9
    level = np.ones((*sets.shape, 1))
    system = np.concatenate([G.transpose(1, 2, 0) * tight[:, None, :], level], axis=2)
    solution = np.einsum("nij,nj->ni", np.linalg.pinv(system), prices[sets])
    mu = np.maximum(solution[:, :-1], 0.0)
    cost = cone.psi(sets)[:, None] + cone.m[None, :]
    score = (prices[None, :] - mu @ cone.G) / cost
    np.put_along_axis(score, sets.astype(np.int64), -np.inf, axis=1)
    chosen = np.zeros(score.shape, dtype=np.bool_)
    for axis, best in ((1, _WIDTH), (0, _WIDTH // 4)):
        best = min(best, score.shape[axis])
        top = np.argsort(-score, axis=axis, kind="stable").take(range(best), axis=axis)
        np.put_along_axis(chosen, top, True, axis=axis)
    chosen &= np.isfinite(score)
    line, partner = np.nonzero(chosen)
    return line, partner


def _variants(sets: Ints, partner: Ints, *, grow: bool) -> list[Ints]:
    """Return the sets with the partner added, and with one member exchanged for it."""
    made = [np.sort(np.column_stack([sets, partner]), axis=1)] if grow else []
    for i in range(sets.shape[1]):
        exchanged = sets.astype(np.int64)
        exchanged[:, i] = partner
        made.append(np.sort(exchanged, axis=1))
    return made


def keep_distinct_sets(sets: Ints, n_channels: int) -> Ints:
    """Each line once; lines are sorted sets of channels."""
    if n_channels ** sets.shape[1] > 2**62:
        return np.unique(sets, axis=0)
    powers = n_channels ** np.arange(sets.shape[1], dtype=np.int64)
    return sets[np.unique(sets @ powers, return_index=True)[1]]


def _improving(cone: Cone, prices: Floats, sets: Ints) -> tuple[Ints, Floats]:
    sets = sets[cone.risky[sets].any(axis=1)]
    where, rays = full_rays(cone, sets)
    members = sets[where]
    ratio = (prices[members] * rays).sum(axis=1) / cone.psi(members) - 1
    good = np.flatnonzero(ratio > _TOLERANCE)
    good = good[np.argsort(-ratio[good], kind="stable")]
    kept = np.zeros(len(good), dtype=np.bool_)
    for i in range(sets.shape[1]):
        kept |= rank_within(members[good, i]) < _BEST
    return members[good[kept]], rays[good[kept]]
