"""The linear program (11)-(16) over given output channels, sparse, and the master problem of column generation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import Infeasible, LimitReached, SolverError
from tacit.records.channels.candidates import Column
from tacit.records.channels.cone import Cone
from tacit.solve import Highs, LinearModel, Solution

#: Tolerances for amounts in units of size, and for whole numbers of subjects.
LINEAR = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
WHOLE = {
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "mip_feasibility_tolerance": 1e-9,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.0,
}


@dataclass(frozen=True, eq=False)
class Model:
    """A sparse linear program over subjects x_rw, in units of size."""

    columns: list[Column]
    channel: Ints
    column: Ints
    cost: Floats
    matrix: sparse.csc_array
    lower: Floats
    upper: Floats


def lp_size(columns: list[Column], n_channels: int, n_values: int) -> tuple[int, int]:
    """Return the number of variables and of constraints of (11)-(16) (section 6.2)."""
    return sum(map(len, columns)), n_channels + (n_values + 1) * len(columns)


def build(cone: Cone, columns: list[Column], unit: float | None = None) -> Model:
    """Write (11)-(15) for the given sets; ``unit`` is the number of subjects in one unit."""
    scale = cone.unit / (cone.unit if unit is None else unit)
    lengths = np.array([len(column) for column in columns], dtype=np.int64)
    channel = np.array([r for column in columns for r in column], dtype=np.int64)
    w = np.repeat(np.arange(len(columns)), lengths)
    n, n_channels, L = len(channel), len(cone.m), cone.n_rules
    psi = np.add.reduceat(cone.m[channel], np.concatenate([[0], np.cumsum(lengths)[:-1]]))
    variable = np.arange(n)
    rows = [channel] + [n_channels + w * L + k for k in range(L)]
    values = [np.ones(n)] + [cone.G[k, channel] for k in range(L)]
    matrix = sparse.csc_array(
        (np.concatenate(values), (np.concatenate(rows), np.tile(variable, L + 1))),
        shape=(n_channels + L * len(columns), n),
    )
    size = cone.m * scale
    rules = len(columns) * L
    lower = np.concatenate([np.where(cone.risky, size, -np.inf), np.full(rules, -np.inf)])
    upper = np.concatenate([size, np.zeros(rules)])
    return Model(columns, channel, w, psi[w], matrix, lower, upper)


def run(
    model: Model,
    *,
    integer: bool = False,
    most: Floats | None = None,
    start: Floats | None = None,
    time_limit: float | None = None,
) -> Solution:
    """Solve a model; raise Infeasible when the sets admit no assignment."""
    whole = np.ones(len(model.cost), dtype=bool) if integer else None
    upper = np.inf if most is None else most
    program = Highs(
        LinearModel.of(
            model.cost, model.matrix, model.lower, model.upper, 0.0, upper, integer=whole
        ),
        presolve=True,
        options=WHOLE if integer else LINEAR,
    )
    if start is not None:
        program.start_from(start)
    found = program.solve(time_limit=time_limit)
    if found.state == "infeasible":
        raise Infeasible(
            "the candidate output channels admit no safe assignment; add the set of all input "
            "channels, or more candidates."
        )
    if found.x is None or (found.state != "optimal" and not integer):
        raise LimitReached("the time limit was reached before any assignment was found; raise it.")
    return found


def to_sparse(
    model: Model, x: Floats, n_channels: int
) -> tuple[tuple[Column, ...], sparse.csr_array]:
    """Return the output channels in use and their subjects; ``x`` is in subjects."""
    full = sparse.csr_array(
        (x, (model.channel, model.column)), shape=(n_channels, len(model.columns))
    )
    used: Flags = np.asarray(full.sum(axis=0)).reshape(-1) > 0
    keep = np.flatnonzero(used)
    part = full.tocsc()[:, keep].tocsr()
    part.eliminate_zeros()
    return tuple(model.columns[w] for w in keep), part


# -- the master problem: rays as columns, input channels as rows ---------------------------------------


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
