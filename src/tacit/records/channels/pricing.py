"""Find output channels that would lower the cost, or prove that there are none.

With prices ``pi`` of the input channels, a set S improves the master problem when some safe mix
``x`` on S (with unit sum) is worth more than the set costs: ``pi . x > psi(S)``. By linear
duality that is so if and only if every ``mu >= 0`` is *covered*: some r in S has
``pi_r - mu . G_r > psi(S)``. A search tree uses this: for a set S that does not improve, take one
``mu`` that S leaves uncovered; every improving superset must hold a channel t that covers it, and
those t are the children. Minimal improving sets have at most L + 1 members for L rules.

For problems with more rules than a search tree can take an integer program chooses members z_r and a mix x with unit sum,
``x_r <= z_r`` and ``G x <= 0``, at least one member safe, to minimise ``m . z - pi . x``. One improving set is found at a
time, so every ray on its members is added.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import optimize, sparse

from tacit.arrays import Flags, Floats, Ints
from tacit.records.channels.cone import Cone, full_rays
from tacit.time_limits import is_past, limit_reached

_BLOCK_CELLS = 4_000_000
_TOLERANCE = 1e-9
#: Improving rays kept of each block of risky channels and depth.
_KEPT = 200


@dataclass(frozen=True, eq=False)
class Priced:
    """Improving rays and how far from proof the search ended."""

    #: By number of members: the sets and their rays.
    sets: dict[int, Ints]
    rays: dict[int, Floats]
    #: No set is worth more than (1 + slack) times its cost, counting the sets that were not looked
    #: at; zero when the search is complete and found nothing.
    slack: float

    @property
    def n_found(self) -> int:
        """Number of improving rays."""
        return sum(len(sets) for sets in self.sets.values())


class _Search:
    """One search for improving sets at given prices; filled while the tree is walked."""

    def __init__(self, cone: Cone, prices: Floats, deadline: float | None) -> None:
        self.cone, self.prices, self.deadline = cone, prices, deadline
        self.sets: dict[int, list[Ints]] = {}
        self.rays: dict[int, list[Floats]] = {}
        self.worth: dict[int, list[Floats]] = {}
        self.skipped = self.lost = self.dropped = 0.0
        safe = cone.G.T[~cone.risky]
        self.pull = np.abs(safe).mean(axis=0) + 1e-6 if len(safe) else np.ones(cone.n_rules)

    def test(self, sets: Ints) -> Flags:
        """Record the improving rays of the sets; return which sets improve."""
        where, rays = full_rays(self.cone, sets)
        cost = self.cone.psi(sets)[where]
        ratio = (self.prices[sets[where]] * rays).sum(axis=1) / cost - 1
        good = ratio > _TOLERANCE
        improving = np.zeros(len(sets), dtype=np.bool_)
        improving[where[good]] = True
        if good.any():
            n = sets.shape[1]
            order = np.flatnonzero(good)[np.argsort(-ratio[good], kind="stable")][:_KEPT]
            self.sets.setdefault(n, []).append(sets[where[order]])
            self.rays.setdefault(n, []).append(rays[order])
            self.worth.setdefault(n, []).append(ratio[order])
        return improving

    def drop(self, ratios: Floats) -> None:
        if len(ratios):
            self.dropped = max(self.dropped, float(ratios.max()))


def price(cone: Cone, prices: Floats, *, deadline: float | None = None) -> Priced:
    """Search for sets worth more than they cost; complete unless a deadline (``time.monotonic``) cuts it.

    Prices are in units of size, and at most 0 for safe channels.
    """
    search = _Search(cone, prices, deadline)
    start = np.flatnonzero(cone.risky & (prices > cone.m + cone.m.min()))
    start = start[np.argsort(-prices[start] / cone.m[start], kind="stable")]
    block = max(1, min(16, 64_000 // max(1, len(cone.m))))
    for at in range(0, len(start), block):
        anchors = start[at : at + block]
        if is_past(deadline):
            search.drop(prices[start[at:]] / cone.m[start[at:]] - 1)
            break
        _walk(search, anchors[:, None].astype(np.int32), prices[anchors] / cone.m[anchors] - 1)
    sets = {n: np.concatenate(parts) for n, parts in search.sets.items()}
    rays = {n: np.concatenate(parts) for n, parts in search.rays.items()}
    if not sets:
        # Without any improving set a lost node means rounding: the search proves nothing there.
        search.dropped = max(search.dropped, search.lost)
    return Priced(sets, rays, max(search.skipped, search.lost, search.dropped))


def _walk(search: _Search, sets: Ints, ratios: Floats) -> None:
    """Walk the tree below the given sets, one depth at a time."""
    depth = search.cone.n_rules + 1
    while len(sets):
        n = sets.shape[1]
        if n > 1:
            improving = search.test(sets)
            search.skipped = max(search.skipped, float(ratios[improving].max(initial=0.0)))
            sets, ratios = sets[~improving], ratios[~improving]
        if n == depth or not len(sets):
            return
        sets, ratios = _children(search, sets, ratios, last=n + 1 == depth)


def _children(search: _Search, sets: Ints, ratios: Floats, *, last: bool) -> tuple[Ints, Floats]:
    """Return the sets with one more member that may improve, with bounds on their worth."""
    size = max(1, _BLOCK_CELLS // (len(search.cone.m) * (4 if last else 1)))
    grown = [np.empty((0, sets.shape[1] + 1), dtype=np.int32)]
    bounds = [np.empty(0)]
    for at in range(0, len(sets), size):
        if is_past(search.deadline):
            search.drop(ratios[at:])
            break
        new, bound = _grow(search, sets[at : at + size], ratios[at : at + size], last=last)
        if last and len(new):
            # Leaves have no children: test them now rather than store them.
            improving = search.test(new)
            search.skipped = max(search.skipped, float(bound[improving].max(initial=0.0)))
        elif not last:
            grown.append(new)
            bounds.append(bound)
    return _merge_equal_sets(np.concatenate(grown), np.concatenate(bounds))


def _merge_equal_sets(sets: Ints, ratios: Floats) -> tuple[Ints, Floats]:
    """Keep each set once, with the smallest of its bounds (all of them are valid)."""
    if not len(sets):
        return sets, ratios
    ordered = np.sort(sets, axis=1)
    order = np.lexsort((ratios, *ordered.T))
    ordered, ratios = ordered[order], ratios[order]
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[first], ratios[first]


def _grow(search: _Search, sets: Ints, ratios: Floats, *, last: bool) -> tuple[Ints, Floats]:
    """Add to each set every channel that covers what the set leaves uncovered."""
    cone, prices = search.cone, search.prices
    points, valid = _find_uncovered_points(search, sets)
    usable = valid.any(axis=1)
    # No uncovered point: a subset improves by itself and is found on its own.
    search.lost = max(search.lost, float(ratios[~usable].max(initial=0.0)))
    sets, ratios = sets[usable], ratios[usable]
    points, valid = points[usable], valid[usable]
    if not len(sets):
        return np.empty((0, sets.shape[1] + 1), dtype=np.int32), np.empty(0)
    # The least cost of each set with each channel added.
    cost = cone.m[sets].sum(axis=1, keepdims=True) + cone.m
    cost += cone.m[cone.label] * (cone.risky[sets].all(axis=1, keepdims=True) & cone.risky)
    height = np.where(valid, points @ search.pull, np.inf)
    if last:
        # A last member must cover every uncovered point by itself.
        reach = np.full(cost.shape, np.inf)
        for j in range(points.shape[1]):
            h = prices[None, :] - points[:, j] @ cone.G
            np.minimum(reach, np.where(valid[:, j, None], h, np.inf), out=reach)
    else:
        lowest = points[np.arange(len(sets)), height.argmin(axis=1)]
        reach = prices[None, :] - lowest @ cone.G
    np.put_along_axis(reach, sets.astype(np.int64), -np.inf, axis=1)
    line, member = np.nonzero(reach > cost * (1 + _TOLERANCE))
    bound = np.minimum(reach[line, member] / cost[line, member] - 1, ratios[line])
    return np.column_stack([sets[line], member.astype(np.int32)]), bound


def _find_uncovered_points(search: _Search, sets: Ints) -> tuple[Floats, Flags]:
    """Return points mu that no member of a set covers, as vertices of that polyhedron.

    A superset costs at least the smallest channel more, so the level is raised by half of that
    to solve and by all of it to check: rounding cannot lose a point. Where all members are risky
    the superset may hold the label, already paid for, and only the tolerance is left.
    """
    cone, prices = search.cone, search.prices
    n, L = sets.shape[1], cone.n_rules
    level = cone.psi(sets)
    all_risky = np.asarray(cone.risky[sets].all(axis=1))
    margin = np.where(all_risky, 2 * _TOLERANCE * level, cone.m.min())
    need = prices[sets] - (level + margin / 2)[:, None]
    G = cone.G[:, sets]
    points = [np.zeros((len(sets), L))]
    for j in range(1, min(n, L) + 1):
        for members in combinations(range(n), j):
            for rules in combinations(range(L), j):
                square = G[np.ix_(rules, range(len(sets)), members)].transpose(1, 2, 0)
                mu = np.zeros((len(sets), L))
                mu[:, list(rules)] = _solve(square, need[:, list(members)])
                points.append(mu)
    mu = np.stack(points, axis=1)
    with np.errstate(invalid="ignore"):
        short = need[:, None, :] - np.einsum("npl,lnr->npr", mu, G)
        valid = (short <= margin[:, None, None] / 2).all(axis=2) & (mu >= 0).all(axis=2)
    return np.where(valid[:, :, None], mu, 0.0), valid


def _solve(matrices: Floats, sides: Floats) -> Floats:
    """Solve many small systems; singular ones give NaN."""
    n = matrices.shape[1]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if n == 1:
            answer = sides / matrices[:, 0]
        elif n == 2:
            a, b, c, d = (matrices[:, i, j] for i in (0, 1) for j in (0, 1))
            det = a * d - b * c
            first = (sides[:, 0] * d - b * sides[:, 1]) / det
            answer = np.stack([first, (a * sides[:, 1] - c * sides[:, 0]) / det], axis=1)
        else:
            regular = np.abs(np.linalg.det(matrices)) > 1e-14
            answer = np.full(sides.shape, np.nan)
            answer[regular] = np.linalg.solve(matrices[regular], sides[regular][:, :, None])[..., 0]
    return np.where(np.isfinite(answer), answer, np.nan)


# -- an integer program, where there are more rules than a search tree can take ----------------------


def price_milp(cone: Cone, prices: Floats, *, deadline: float | None = None) -> Priced:
    """Find the set of least reduced cost and return the rays on it and its subsets."""
    limit = 3600.0 if deadline is None else max(0.5, deadline - time.monotonic())
    n, L = len(cone.m), cone.n_rules
    eye = sparse.identity(n, format="csr")
    safe = (~cone.risky).astype(np.float64)[None, :]
    rules = sparse.vstack(
        [
            sparse.hstack([sparse.csr_array((L, n)), sparse.csr_array(cone.G)]),
            sparse.hstack([-eye, eye]),
            sparse.hstack([sparse.csr_array((1, n)), sparse.csr_array(np.ones((1, n)))]),
            sparse.hstack([sparse.csr_array(safe), sparse.csr_array((1, n))]),
        ],
        format="csc",
    )
    lower = np.concatenate([np.full(L + n, -np.inf), [1.0, 1.0]])
    upper = np.concatenate([np.zeros(L + n), [1.0, np.inf]])
    result = optimize.milp(
        np.concatenate([cone.m, -prices]),
        constraints=optimize.LinearConstraint(rules, lower, upper),
        integrality=np.concatenate([np.ones(n), np.zeros(n)]),
        bounds=optimize.Bounds(0, 1),
        options={"time_limit": limit, "mip_rel_gap": 0.0},
    )
    # The worth of any set is bounded by its cost, from the least reduced cost proven.
    least, slack = result.mip_dual_bound, float("inf")
    if least is not None and np.isfinite(least):
        slack = max(0.0, -float(least) - 1e-9) / float(np.sort(cone.m)[:2].sum())
    if result.status == 1:
        limit_reached()
    if result.x is None or result.fun > -1e-9:
        return Priced({}, {}, slack)
    members, sets, rays = np.flatnonzero(result.x[:n] > 0.5), {}, {}
    for size in range(2, min(len(members), cone.n_rules + 1) + 1):
        chosen = np.array(list(combinations(members.tolist(), size)), dtype=np.int64)
        where, found = full_rays(cone, chosen)
        worth = (prices[chosen[where]] * found).sum(axis=1)
        good = worth > cone.psi(chosen[where]) + 1e-10
        if good.any():
            sets[size], rays[size] = chosen[where[good]], found[good]
    return Priced(sets, rays, slack)
