"""Partitions into pairs and triples at the least cost, proven: set partitioning by column generation.

Every optimal partition into groups of at least two has pairs and triples only. Alike records are one point
with a count m. With one variable for each multiset g of two or three points, the linear program

    min sum c_g x_g,    sum over g of (copies of v in g) x_g = m_v for every point v,    x >= 0

has few fractional variables, and odd-set cuts remove most of those: of a set S of points that stand for an
odd number m(S) of records, at most (m(S) - 1) / 2 groups can hold two or more (the subset-row inequalities of
Jepsen et al. 2008 with multipliers 1/2). Groups enter when their reduced cost is negative. A whole-number
solution over the groups found gives a value, the linear program a bound; any group that could still lower the
value has a reduced cost below their difference, and the program is solved once more over all of those. The
answer is then the optimum among all groups.

Three costs are known. ``sse``: d12 / 2 of a pair and (d12 + d13 + d23) / 3 of a triple, d squared distances.
``factor``: the edge of a pair and the two cheapest edges of a triple, which is the minimum-weight
[1,2]-factor of Domingo-Ferrer and Sebé (2006). ``pairs``: the edge of a pair, and no triples, which is a
perfect matching.

References
----------
Jepsen, Petersen, Spoorendonk, Pisinger (2008), Subset-row inequalities applied to the vehicle-routing problem
with time windows, Operations Research 56, 497-511.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from tacit.arrays import Floats, Ints
from tacit.errors import Cancelled, LimitReached, SolverError
from tacit.numerics.algebra import dot
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.near import Space
from tacit.records.microaggregation.grouping.pair_cuts import (
    Points,
    broken_cuts,
)
from tacit.solve import Highs, LinearModel, Solution

Cost = Literal["sse", "factor", "pairs"]

#: The costs as numbers, for the kernel.
SSE, FACTOR, PAIRS = range(3)
NUMBER: dict[str, int] = {"sse": SSE, "factor": FACTOR, "pairs": PAIRS}

#: Neighbours of each point among which the first pairs and triples are taken.
FIRST = 6
#: Neighbours among which groups are looked for first.
NEAR = 40
#: Groups that enter in one round, for each point in their middle.
ENTER = 20
#: Rounds of cuts at most.
ROUNDS = 150
#: Groups in the last program at most.
MOST = 300_000
#: A reduced cost that much below 0, in mean costs of a nearest pair, counts as negative.
TOLERANCE = 1e-8
#: Relative difference of value and bound that counts as none: the accuracy of the linear programs.
PROVEN = 1e-8
#: Unit of costs, in medians, from which outliers are priced out first; how much smaller it then gets.
COARSE, FINER = 1e3, 1e-5
#: Units that no group costs more than.
FAR = 1e8
#: Seconds for each integer program.
SECONDS = 300.0


@dataclass(frozen=True)
class Partition:
    """A partition into pairs and triples."""

    #: The group of each record; groups are numbered by their first record.
    labels: Ints
    #: Its cost.
    value: float
    #: No partition costs less.
    bound: float

    @property
    def proven(self) -> bool:
        """Return True when the cost meets the bound."""
        return self.value - self.bound <= PROVEN * self.value


def find_cheapest_pairing(space: Space, cost: Cost, tick: Tick) -> Partition:
    """Return the cheapest partition into pairs and triples, and a bound on all of them.

    A cost ``pairs`` needs an even number of records.
    """
    points, point, m = space.points()
    master = Master(points, m, cost, tick)
    bound = master.tighten()
    tick("whole groups", None)
    chosen, beyond, _ = master.whole(master.groups)
    within = master.within(beyond - bound)
    if within is not None:
        tick("proving the optimum", None)
        chosen, beyond, below = master.whole(within, (chosen, beyond))
        bound = max(bound, below)
    value = float(costs(points, chosen, cost).sum())
    gap = max(0.0, beyond - bound) * master.unit
    return Partition(labels_of(chosen, point), value, max(0.0, value - gap))


def labels_of(groups: Ints, point: Ints) -> Ints:
    """Return the group of each record, given groups of points."""
    n = len(point)
    row, column = np.nonzero(groups >= 0)
    wanted = np.argsort(groups[row, column], kind="stable")
    labels = np.empty(n, dtype=np.int64)
    labels[np.argsort(point, kind="stable")] = row[wanted]
    _, at, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(at), dtype=np.int64)
    rank[np.argsort(at, kind="stable")] = np.arange(len(at))
    return rank[inverse]


class Master:
    """The linear program over the groups found so far, with its cuts; ``m`` counts the records of each point."""

    def __init__(self, space: Space, m: Ints, cost: Cost, tick: Tick) -> None:
        self.space, self.m, self.cost, self.tick = space, m, cost, tick
        self.n = space.n
        self.columns = np.ascontiguousarray(space.x.T)
        near = space.near(NEAR)
        self.near = np.column_stack([np.arange(self.n), near])
        self.all = self.near[:0]
        self.groups = first_groups(near[:, :FIRST], m, triples=cost != "pairs")
        self.cuts: list[Points] = []
        self.potential, self.unit = np.zeros(self.n), 1.0
        self.set_scale(near)
        self.lp = self.program(1e-9)
        self.duals = np.zeros(self.n)
        self.slack = 0.0

    def set_scale(self, near: Ints) -> None:
        """Choose the unit in which costs are counted, and a potential of each point.

        The solver's tolerances are absolute, so the unit is the mean squared distance of a point to its
        nearest. Where outliers make it far larger than the median, the price that the linear program sets
        on each point is taken off the costs of its groups, which changes all partitions alike, and what is
        left is counted in a smaller unit; and so on until it is the median.
        """
        if self.n == 1:
            return
        away = self.space.between(np.arange(self.n), near[:, 0])
        self.unit = float(away.mean()) or 1.0
        usual = float(np.median(away)) or self.unit
        while self.unit > COARSE * usual:
            self.tick("outliers", None)
            duals = self.program(1e-9).solve().duals
            assert duals is not None
            self.potential = self.potential + duals * self.unit
            self.unit = max(usual, self.unit * FINER)

    def program(self, tolerance: float) -> Highs:
        """Return the linear program over the groups and cuts there are."""
        feasibility = ("dual_feasibility_tolerance", "primal_feasibility_tolerance")
        return Highs(self.model(self.groups), options=dict.fromkeys(feasibility, tolerance))

    def model(self, groups: Ints, *bounds: float, **more: Any) -> LinearModel:
        """Return the program over some groups: every record in one, and no cut broken."""
        return LinearModel.of(
            self.prices(groups),
            self.members(groups),
            np.concatenate([self.m, np.full(len(self.cuts), -np.inf)]),
            np.concatenate([self.m, self.rooms()]),
            *bounds,
            **more,
        )

    def rooms(self) -> Floats:
        """Return the room of each cut."""
        return np.array([self.room(points) for points in self.cuts])

    def beyond(self, groups: Ints) -> Floats:
        """Return what groups cost beyond the potentials of their points, in units."""
        own = np.where(groups < 0, 0.0, self.potential[groups]).sum(axis=1)
        return (costs(self.space, groups, self.cost) - own) / self.unit

    def prices(self, groups: Ints) -> Floats:
        """Return the costs that the solver sees; too low ones leave bounds valid."""
        return np.minimum(self.beyond(groups), FAR)

    def members(self, groups: Ints) -> sparse.csc_array:
        """Return points (and cuts) x groups: copies of a point in a group, and which cut counts it."""
        row, column = np.nonzero(groups >= 0)
        inside = sparse.csc_array(
            (np.ones(len(row)), (groups[row, column], row)), shape=(self.n, len(groups))
        )
        if not self.cuts:
            return inside
        return sparse.csc_array(
            sparse.vstack([inside, count_cut_members(groups, self.cuts, self.n)])
        )

    def room(self, points: Points) -> int:
        """Return how many groups can hold two or more records of a set."""
        return (int(self.m[list(points)].sum()) - 1) // 2

    def tighten(self) -> float:
        """Add groups and cuts until no cut is broken and no group is missing; return the bound.

        Groups are looked for among near points while there are cuts to add, and among all at the end.
        """
        for _ in range(ROUNDS):
            solution = self.solve(self.near)
            assert solution.x is not None
            found = broken_cuts(self.groups, solution.x, self.m, set(self.cuts))
            before = len(self.groups)
            if not found:
                self.solve(self.all)
                if len(self.groups) == before:
                    return self.bound()
            self.add_cuts(found)
        self.solve(self.all)
        return self.bound()

    def solve(self, among: Ints) -> Solution:
        """Solve over all groups of some points, letting those of negative reduced cost enter."""
        while True:
            self.tick("pairs and triples", None)
            try:
                solution = self.lp.solve()
            except SolverError:
                # A warm start that went wrong: once more from scratch, with the usual tolerance.
                self.lp = self.program(1e-7)
                self.lp.option("presolve", "on")
                solution = self.lp.solve()
            assert solution.duals is not None
            self.duals = solution.duals
            self.duals[self.n :] = np.minimum(self.duals[self.n :], 0.0)
            new, reduced = self.price(-TOLERANCE, ENTER, among)
            self.slack = float(reduced.min(initial=-TOLERANCE))
            # A group that is in already has a reduced cost of 0 up to the solver's tolerance.
            new = new[~np.isin(codes(new, self.n), codes(self.groups, self.n))]
            if not len(new):
                return solution
            self.add_groups(new)

    def bound(self) -> float:
        """Return the bound of the duals: a partition has n / 2 groups at most, none below the slack.

        Like all sums of costs here it is in units, beyond the potentials.
        """
        value = dot(self.duals, np.concatenate([self.m, self.rooms()]))
        return float(value + self.slack * self.m.sum() / 2.0)

    def add_groups(self, new: Ints) -> None:
        """Let groups enter."""
        matrix = self.members(new)
        self.lp.add_columns(self.prices(new), matrix.indptr[:-1], matrix.indices, matrix.data)
        self.groups = np.vstack([self.groups, new])

    def add_cuts(self, found: list[Points]) -> None:
        """Add cuts."""
        if not found:
            return
        rows = count_cut_members(self.groups, found, self.n)
        for i, points in enumerate(found):
            at = rows.indices[rows.indptr[i] : rows.indptr[i + 1]]
            self.lp.add_row(at, np.ones(len(at)), -np.inf, self.room(points))
        self.cuts += found

    def price(self, below: float, most: int, among: Ints) -> tuple[Ints, Floats]:
        """Return groups whose reduced cost (in units) is below a number, and these costs.

        ``among`` lists the points looked at around each point in the middle; without rows it is all.

        At most ``most`` around each point in the middle; all when it is 0, or none of them when they are
        more than ``MOST``. Groups of one point are left out: they are in from the start.
        """
        inside = np.zeros((self.n, len(self.cuts)), dtype=np.uint8)
        for j, points in enumerate(self.cuts):
            inside[list(points), j] = 1
        # Where each point's cuts begin, and the cuts one point after the other.
        point, which = np.nonzero(inside)
        start = np.searchsorted(point, np.arange(self.n + 1))
        y, z = self.duals[: self.n] + self.potential / self.unit, self.duals[self.n :]

        def run(room: int) -> tuple[int, Ints, Floats]:
            groups, reduced = np.empty((room, 3), dtype=np.int64), np.empty(room)
            found = KERNELS.pick(4.0 * among.size)["price_groups"](
                *(self.columns, self.space.squared, self.unit, NUMBER[self.cost], self.m),
                *(y, start, which, inside, z, among, below, most, groups, reduced),
            )
            return int(found), groups, reduced

        room = self.n * most or run(0)[0]
        if not most and room > MOST:
            return np.empty((0, 3), dtype=np.int64), np.empty(0)
        found, groups, reduced = run(room)
        return sort_group_points(groups[:found], self.n), reduced[:found]

    def within(self, gap: float) -> Ints | None:
        """Return all groups that could be part of a partition cheaper by up to the gap, unless too many."""
        groups, _ = self.price(gap + 10 * TOLERANCE, 0, self.all)
        if not len(groups):
            return None
        return np.vstack([one_point(self.m, triples=self.cost != "pairs"), groups])

    def is_cancelled(self) -> bool:
        """Return True when the user asked to stop."""
        try:
            self.tick("whole groups", None)
        except Cancelled:
            return True
        return False

    def whole(
        self, groups: Ints, best: tuple[Ints, float] | None = None
    ) -> tuple[Ints, float, float]:
        """Return the cheapest partition into some of the groups, its cost, and a bound on it."""
        whole = np.ones(len(groups), dtype=np.bool_)
        lp = Highs(
            self.model(groups, 0.0, float(self.m.max()), integer=whole),
            options={"mip_abs_gap": 0.0, "random_seed": 0},
        )
        solution = lp.solve(time_limit=SECONDS, gap=0.0, should_stop=self.is_cancelled)
        below = solution.bound
        if solution.state == "stopped":
            self.tick("whole groups", None)
        if solution.x is None:
            if best is None:
                raise LimitReached(
                    "no groups were found in time; group within classes of other columns, or use mdav"
                )
            return (*best, below)
        times = np.rint(solution.x).astype(np.int64)
        value = float((self.beyond(groups) * times).sum())
        if best is not None and best[1] <= value:
            return (*best, below)
        return np.repeat(groups, times, axis=0), value, below


# -- groups ------------------------------------------------------------------------------------


def costs(space: Space, groups: Ints, cost: Cost) -> Floats:
    """Return what groups cost."""
    a, b, c = groups.T
    one = space.between(a, b)
    two, three = space.between(a, c), space.between(b, c)
    total = one + two + three
    if cost == "sse":
        return np.where(c < 0, one / 2.0, total / 3.0)
    return np.where(c < 0, one, total - np.maximum(np.maximum(one, two), three))


def sort_group_points(groups: Ints, n: int) -> Ints:
    """Return groups with their points ascending and -1 last."""
    sortable = np.sort(np.where(groups < 0, n, groups), axis=1)
    return np.where(sortable == n, -1, sortable)


def codes(groups: Ints, n: int) -> Ints:
    """Return one number per group."""
    return (groups[:, 0] * n + groups[:, 1]) * (n + 1) + groups[:, 2]


def one_point(m: Ints, *, triples: bool) -> Ints:
    """Return the groups of alike records."""
    two, three = np.flatnonzero(m >= 2), np.flatnonzero(m >= 3)
    pairs = np.column_stack([two, two, np.full(len(two), -1)])
    return np.vstack([pairs, np.column_stack([three] * 3)]) if triples else pairs


def first_groups(near: Ints, m: Ints, *, triples: bool) -> Ints:
    """Return groups of near points, and those of one partition, so that the program has a solution."""
    n = len(m)
    here = np.arange(n)
    found = [np.column_stack([here, b, np.full(n, -1)]) for b in near.T]
    if triples:
        found += [np.column_stack([here, b, c]) for b, c in itertools.combinations(near.T, 2)]
    row = np.repeat(here, m)
    half = len(row) // 2
    some = np.column_stack([row[: 2 * half].reshape(-1, 2), np.full(half, -1)])
    if len(row) % 2:
        some[-1, 2] = row[-1]
    every = np.vstack([one_point(m, triples=triples), *found, some])
    return np.unique(sort_group_points(every, n), axis=0)


def count_cut_members(groups: Ints, cuts: list[Points], n: int) -> sparse.csr_array:
    """Return cuts x groups: 1 where a group holds two or more records of the points of a cut."""
    rows = []
    for points in cuts:
        inside = np.zeros(n + 1, dtype=np.int8)
        inside[list(points)] = 1
        rows.append(np.flatnonzero(inside[groups].sum(axis=1) >= 2))
    index = np.concatenate(rows)
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return sparse.csr_array((np.ones(len(index)), index, start), shape=(len(cuts), len(groups)))


# -- pricing -----------------------------------------------------------------------------------


def compute_pair_distance(x: Any, squared: Any, a: int, b: int) -> float:
    """Return the squared distance of two points."""
    if len(squared):
        return squared[a, b]
    total = 0.0
    for q in range(len(x)):
        gap = x[q, a] - x[q, b]
        total += gap * gap
    return total


def price_groups(
    x: Any,
    squared: Any,
    unit: float,
    cost: int,
    m: Any,
    y: Any,
    start: Any,
    which: Any,
    inside: Any,
    z: Any,
    among: Any,
    below: float,
    most: int,
    groups: Any,
    reduced: Any,
) -> int:
    """Write the groups of reduced cost below a number, and return how many there are.

    A triple is met at the point in its middle, a, where d_bc is the largest. Its cost is then at least
    half (``sse``) or all (``factor``) of d_ab + d_ac, so that with h_b = d_ab / 2 - y_b (or d_ab - y_b) in
    ascending order the search stops at h_b + h_c >= y_a + below; cuts only raise the reduced cost.
    Distances d are in units; ``x`` has one row per column of the records.
    """
    n = len(m)
    share = 0.5 if cost == SSE else 1.0
    found = 0
    d = np.empty(n)
    h = np.empty(n)
    every = np.arange(n)
    best = np.empty(max(most, 1))
    partner = np.empty((max(most, 1), 2), dtype=np.int64)
    for a in range(n):
        if len(among):
            near = among[a]
            for b in near:
                d[b] = compute_pair_distance(x, squared, a, b)
        else:
            near = every
            if len(squared):
                d[:] = squared[a]
            else:
                d[:] = 0.0
                for q in range(len(x)):
                    here = x[q, a]
                    for b in range(n):
                        gap = x[q, b] - here
                        d[b] += gap * gap
        lowest = 0.0
        for b in near:
            d[b] /= unit
            h[b] = share * d[b] - y[b]
            if b == a and m[a] < 2:
                h[b] = np.inf
            lowest = min(lowest, h[b])
        near = near[h[near] < below + y[a] - lowest]
        near = near[np.argsort(h[near], kind="mergesort")]
        best[:] = below
        worst = 0
        held = 0
        for i in range(len(near)):
            b = near[i]
            least = h[b]
            if i + 1 < len(near) and h[near[i + 1]] < 0.0:
                least += h[near[i + 1]]
            if least - y[a] >= best[worst]:
                break
            for j in range(i, len(near)):
                c = near[j]
                if j == i:
                    if a >= b:
                        continue
                    c = -1
                    value = h[b] - y[a]
                    for s in range(start[a], start[a + 1]):
                        if inside[b, which[s]]:
                            value -= z[which[s]]
                else:
                    value = h[b] + h[c] - y[a]
                    if cost == PAIRS or value >= best[worst]:
                        break
                    across = compute_pair_distance(x, squared, b, c) / unit
                    if across < d[b] or across < d[c]:
                        continue
                    # Another point may be in the middle as well: the first of them counts.
                    if (across == d[b] and c < a) or (across == d[c] and b < a):
                        continue
                    if cost == SSE:
                        value = (d[b] + d[c] + across) / 3.0 - y[a] - y[b] - y[c]
                    for s in range(start[a], start[a + 1]):
                        if inside[b, which[s]] or inside[c, which[s]]:
                            value -= z[which[s]]
                    for s in range(start[b], start[b + 1]):
                        if inside[c, which[s]] and not inside[a, which[s]]:
                            value -= z[which[s]]
                if value >= best[worst]:
                    continue
                if most == 0:
                    if found < len(groups):
                        groups[found, 0] = a
                        groups[found, 1] = b
                        groups[found, 2] = c
                        reduced[found] = value
                    found += 1
                    continue
                best[worst] = value
                partner[worst, 0] = b
                partner[worst, 1] = c
                held = min(held + 1, most)
                worst = held if held < most else int(np.argmax(best))
        for t in range(held):
            groups[found, 0] = a
            groups[found, 1] = partner[t, 0]
            groups[found, 2] = partner[t, 1]
            reduced[found] = best[t]
            found += 1
    return found


KERNELS = Kernels(globals(), compute_pair_distance, price_groups)
