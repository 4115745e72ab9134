"""Pricing by an integer program, for problems with more rules than a search tree can take.

Choose members z_r and a mix x with unit sum, ``x_r <= z_r`` and ``G x <= 0``, at least one member
safe, to minimise ``m . z - pi . x``. One improving set is found at a time, so every ray on its
members is added.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
from scipy import optimize, sparse

from tacit.arrays import Floats, Ints
from tacit.records.channels.cone import Cone, full_rays
from tacit.records.channels.pricing import Priced
from tacit.time_limits import limit_reached


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
    slack, complete = _slack(result, cone)
    if result.status == 1:
        limit_reached()
    if result.x is None or result.fun > -1e-9:
        return Priced({}, {}, slack, complete)
    members = np.flatnonzero(result.x[:n] > 0.5)
    return _improving(cone, prices, members, slack, complete)


def _slack(result: optimize.OptimizeResult, cone: Cone) -> tuple[float, bool]:
    """Bound the worth of any set by its cost, from the least reduced cost proven."""
    least = result.mip_dual_bound
    complete = bool(result.status == 0)
    if least is None or not np.isfinite(least):
        return float("inf"), False
    cheapest = float(np.sort(cone.m)[:2].sum())
    return max(0.0, -float(least) - 1e-9) / cheapest, complete


def _improving(cone: Cone, prices: Floats, members: Ints, slack: float, complete: bool) -> Priced:
    sets, rays = {}, {}
    for size in range(2, min(len(members), cone.n_rules + 1) + 1):
        chosen = np.array(list(combinations(members.tolist(), size)), dtype=np.int64)
        where, found = full_rays(cone, chosen)
        worth = (prices[chosen[where]] * found).sum(axis=1)
        good = worth > cone.psi(chosen[where]) + 1e-10
        if good.any():
            sets[size], rays[size] = chosen[where[good]], found[good]
    return Priced(sets, rays, slack, complete)
