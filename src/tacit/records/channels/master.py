"""The master problem of column generation: rays as columns, input channels as rows."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.errors import SolverError
from tacit.records.channels.cone import Cone
from tacit.records.channels.lp import LINEAR
from tacit.solve import Highs, LinearModel


class Master:
    """A linear program over rays that grows by columns and restarts from its last basis.

    Rows are equations (12) for risky channels and (13) for safe ones, in units of size. The
    all-channel set, always safe, is the first column, so the program is feasible. A risky subject
    may also be left out at a penalty, which keeps prices moderate while good columns are few; the
    penalties are raised until nobody is left out.
    """

    def __init__(self, cone: Cone) -> None:
        self.cone = cone
        n = len(cone.m)
        least = np.where(cone.risky, cone.m, -np.inf)
        empty = LinearModel.of(np.zeros(0), sparse.csc_array((n, 0)), least, cone.m)
        self.lp = Highs(empty, presolve=True, options=LINEAR)
        self.costs: list[Floats] = []
        self.blocks: list[tuple[Ints, Floats]] = []
        self.seen: set[bytes] = set()
        everyone = np.arange(n)[None, :]
        self.add(everyone, (cone.m / cone.m.sum())[None, :])
        self.penalties = np.empty(0)
        self.n_before = 0

    def penalise(self, penalties: Floats) -> None:
        """Let subjects of each risky channel be left out at a cost; call once, before adding rays."""
        rows = np.flatnonzero(self.cone.risky)
        n = len(rows)
        self.penalties, self.n_before = penalties.copy(), 1
        self.lp.add_columns(self.penalties, np.arange(n), rows, np.ones(n))

    def raise_penalties(self, factor: float = 10, least: float = 1e-11) -> bool:
        """Multiply the penalties of channels left out; return whether there were any."""
        n = len(self.penalties)
        value = self.lp.values()
        out = np.flatnonzero(value[self.n_before : self.n_before + n] > least)
        self.penalties[out] *= factor
        self.lp.set_costs(self.n_before + out, self.penalties[out])
        return bool(len(out))

    def add(self, sets: Ints, rays: Floats) -> int:
        """Add rays on their sets, leaving out those already present; return how many are new."""
        fresh = [i for i in range(len(sets)) if self._is_new(sets[i], rays[i])]
        if not fresh:
            return 0
        sets, rays = sets[fresh], rays[fresh]
        cost = self.cone.psi(sets)
        n, size = sets.shape
        self.lp.add_columns(cost, np.arange(0, n * size, size), sets, rays)
        self.costs.append(cost)
        self.blocks.append((sets, rays))
        return n

    def _is_new(self, members: Ints, ray: Floats) -> bool:
        key = members.astype(np.int32).tobytes() + np.round(ray, 9).tobytes()
        if key in self.seen:
            return False
        self.seen.add(key)
        return True

    @property
    def n_columns(self) -> int:
        """Number of rays in the program."""
        return sum(len(sets) for sets, _ in self.blocks)

    def solve(self) -> tuple[float, Floats]:
        """Return the optimum over the present columns and the prices of the input channels."""
        if not self._run("simplex", "on"):
            self.lp.forget()
            if not self._run("choose", "on"):
                raise SolverError("the linear program over output channels could not be solved.")
        return self.lp.objective(), self._prices(self.lp.duals())

    def prune_rays(self, prices: Floats, most: int) -> Master:
        """Return a new master with the most promising rays of each number of members."""
        smaller = Master(self.cone)
        smaller.penalise(self.penalties)
        for sets, rays in self.find_promising_rays(prices, most).values():
            smaller.add(sets, rays)
        return smaller

    def solve_from_scratch(self) -> None:
        """Find an optimal basis by an interior-point method; quicker than simplex when large."""
        self.lp.option("ipm_optimality_tolerance", 1e-8)
        self._run("ipm", "on")

    def central_prices(self) -> Floats:
        """Return prices from the middle of the optimal face, by an interior-point method.

        Prices at a vertex swing from round to round; central ones need far fewer rounds.
        """
        self.lp.option("ipm_optimality_tolerance", 1e-5)
        self._run("ipm", "off")
        prices = self.lp.duals()
        return self.solve()[1] if prices is None else self._prices(prices)

    def _run(self, solver: str, crossover: str) -> bool:
        self.lp.option("solver", solver)
        self.lp.option("run_crossover", crossover)
        return self.lp.attempt()

    def _prices(self, prices: Floats | None) -> Floats:
        assert prices is not None
        return np.where(self.cone.risky, prices, np.minimum(prices, 0.0))

    def find_promising_rays(self, prices: Floats, most: int) -> dict[int, tuple[Ints, Floats]]:
        """Return the rays whose worth is nearest to (or above) their cost, by number of members."""
        chosen: dict[int, tuple[Ints, Floats]] = {}
        by_size: dict[int, list[tuple[Ints, Floats]]] = {}
        for sets, rays in self.blocks[1:]:
            by_size.setdefault(sets.shape[1], []).append((sets, rays))
        for n, parts in by_size.items():
            sets = np.concatenate([part[0] for part in parts])
            rays = np.concatenate([part[1] for part in parts])
            ratio = (prices[sets] * rays).sum(axis=1) / self.cone.psi(sets)
            best = np.argsort(-ratio, kind="stable")[:most]
            chosen[n] = sets[best], rays[best]
        return chosen

    def sets_in_use(self) -> list[tuple[tuple[int, ...], Floats, float]]:
        """Return (members, ray, subjects in units of size) of each column in the solution."""
        value = self.lp.values()
        value = np.delete(value, slice(self.n_before, self.n_before + len(self.penalties)))
        used, at = [], 0
        for sets, rays in self.blocks:
            part = value[at : at + len(sets)]
            at += len(sets)
            used += [
                (tuple(int(r) for r in sets[i]), rays[i], float(part[i]))
                for i in np.flatnonzero(part > 1e-12)
            ]
        return used

    def assignment(self) -> tuple[tuple[tuple[int, ...], ...], sparse.csr_array]:
        """Return the output channels in use and the subjects of each, rays of one set merged."""
        index: dict[tuple[int, ...], int] = {}
        rows, columns, values = [], [], []
        for members, ray, amount in self.sets_in_use():
            named = members
            if self.cone.risky[list(members)].all():
                named = (*members, self.cone.label)
            w = index.setdefault(tuple(sorted(named)), len(index))
            rows += list(members)
            columns += [w] * len(members)
            values += list(ray * amount * self.cone.unit)
        shape = (len(self.cone.m), len(index))
        x = sparse.coo_array((np.array(values), (rows, columns)), shape=shape).tocsr()
        return tuple(index), x
