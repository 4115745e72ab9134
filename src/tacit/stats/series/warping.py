"""Dynamic time warping of many pairs: compiled kernels, and the same on arrays without a compiler."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Kernels

#: Distances tie when they differ by less than this share.
TIE = 1e-12


def warping_costs(
    x: Floats, nx: Ints, v: Floats, nv: Ints, reach: int, *, all_pairs: bool
) -> tuple[Floats, Floats]:
    """Return the cost of the cheapest alignment and the length of its path.

    Of all pairs (a matrix), or of the series that stand in the same row.
    """
    nx, nv = np.ascontiguousarray(nx), np.ascontiguousarray(nv)
    cells = float(nx.sum()) * (nv.sum() if all_pairs else nv.mean())
    if KERNELS.pays(cells):
        name = "all_costs" if all_pairs else "row_costs"
        run = KERNELS.compiled()[name]
        cost, steps = run(np.ascontiguousarray(x), nx, np.ascontiguousarray(v), nv, reach)
        return np.asarray(cost), np.asarray(steps)
    if not all_pairs:
        return costs_by_cell(x, nx, v, nv, reach)
    rows = [
        costs_by_cell(np.broadcast_to(one, (len(v), len(one))), np.full(len(v), n), v, nv, reach)
        for one, n in zip(x, nx, strict=True)
    ]
    return np.array([cost for cost, _ in rows]), np.array([steps for _, steps in rows])


def costs_by_cell(x: Floats, nx: Ints, v: Floats, nv: Ints, reach: int) -> tuple[Floats, Floats]:
    """Return costs and lengths of pairs of rows, cell by cell over all of them together."""
    n, m = x.shape[1], v.shape[1]
    last, now = np.full((2, len(v), m + 1), np.inf)
    steps_last, steps_now = np.zeros((2, len(v), m + 1))
    last[:, 0] = 0.0
    cost, steps = np.empty(len(v)), np.empty(len(v))
    for i in range(1, n + 1):
        now.fill(np.inf)
        for j in range(max(1, i - reach), min(m, i + reach) + 1):
            near = np.stack([last[:, j - 1], last[:, j], now[:, j - 1]])
            ways = np.stack([steps_last[:, j - 1], steps_last[:, j], steps_now[:, j - 1]])
            best = near.argmin(axis=0)[None]
            now[:, j] = (x[:, i - 1] - v[:, j - 1]) ** 2 + np.take_along_axis(near, best, 0)[0]
            # A series that has ended counts no more; NaN would spread to the left-hand minimum.
            now[:, j] = np.where(np.isnan(now[:, j]), np.inf, now[:, j])
            steps_now[:, j] = np.take_along_axis(ways, best, 0)[0] + 1
        ends = np.flatnonzero(nx == i)
        cost[ends], steps[ends] = now[ends, nv[ends]], steps_now[ends, nv[ends]]
        last, now, steps_last, steps_now = now, last, steps_now, steps_last
    return cost, steps


# -- kernels -----------------------------------------------------------------------------------------


def warping_cost(x: Any, n: int, v: Any, m: int, reach: int, limit: float, rows: Any) -> float:
    """Return the cost of the cheapest alignment, or infinity where it exceeds the limit.

    Cells above the limit lead nowhere; each row is computed only between those that can be reached
    (pruning by Herrmann and Webb, 2021, Data Mining and Knowledge Discovery 35, 2577-2601).
    """
    rows[0, 0] = 0.0
    now = 0
    begin = 1
    reached = 0
    for i in range(1, n + 1):
        last = now
        now = 1 - now
        first = max(begin, i - reach)
        rows[now, first - 1] = np.inf
        left = np.inf
        begin = 0
        end = 0
        for j in range(first, min(m, i + reach) + 1):
            if j > reached + 1 and left == np.inf:
                break
            best = left
            if j <= reached + 1:
                best = min(best, rows[last, j - 1])
            if j <= reached:
                best = min(best, rows[last, j])
            d = x[i - 1] - v[j - 1]
            left = d * d + best
            if left > limit or left == np.inf:
                left = np.inf
            else:
                end = j
                if begin == 0:
                    begin = j
            rows[now, j] = left
        if end == 0:
            return np.inf
        reached = end
    return rows[now, m] if reached == m else np.inf


def warping_steps(x: Any, n: int, v: Any, m: int, reach: int, rows: Any, steps: Any) -> Any:
    """Return the cost of the cheapest alignment and the length of its path."""
    rows[0, : m + 1] = np.inf
    rows[0, 0] = 0.0
    steps[0, 0] = 0.0
    now = 0
    for i in range(1, n + 1):
        last = now
        now = 1 - now
        rows[now, : m + 1] = np.inf
        for j in range(max(1, i - reach), min(m, i + reach) + 1):
            best = rows[last, j - 1]
            way = steps[last, j - 1]
            if rows[last, j] < best:
                best = rows[last, j]
                way = steps[last, j]
            if rows[now, j - 1] < best:
                best = rows[now, j - 1]
                way = steps[now, j - 1]
            d = x[i - 1] - v[j - 1]
            rows[now, j] = d * d + best
            steps[now, j] = way + 1.0
    return rows[now, m], steps[now, m]


def all_costs(x: Any, nx: Any, v: Any, nv: Any, reach: int) -> Any:
    """Return the costs and path lengths of all pairs."""
    cost = np.empty((len(x), len(v)))
    length = np.empty((len(x), len(v)))
    rows = np.empty((2, v.shape[1] + 1))
    steps = np.empty((2, v.shape[1] + 1))
    for i in range(len(x)):
        for j in range(len(v)):
            found = warping_steps(x[i], nx[i], v[j], nv[j], reach, rows, steps)
            cost[i, j] = found[0]
            length[i, j] = found[1]
    return cost, length


def row_costs(x: Any, nx: Any, v: Any, nv: Any, reach: int) -> Any:
    """Return the costs and path lengths of the series that stand in the same row."""
    cost = np.empty(len(x))
    length = np.empty(len(x))
    rows = np.empty((2, v.shape[1] + 1))
    steps = np.empty((2, v.shape[1] + 1))
    for i in range(len(x)):
        found = warping_steps(x[i], nx[i], v[i], nv[i], reach, rows, steps)
        cost[i] = found[0]
        length[i] = found[1]
    return cost, length


def lower_bound(x: Any, n: int, v: Any, m: int, low: Any, high: Any) -> float:
    """Return a bound on the cost: ends against ends, other points against the envelope (Keogh)."""
    gap = x[0] - v[0]
    cost = gap * gap
    if n + m > 2:
        gap = x[n - 1] - v[m - 1]
        cost += gap * gap
    for t in range(1, n - 1):
        if x[t] > high[t]:
            gap = x[t] - high[t]
            cost += gap * gap
        elif x[t] < low[t]:
            gap = low[t] - x[t]
            cost += gap * gap
    return cost


def combine_costs(total: float, weight: float, cost: float, root: bool, combine: int) -> float:
    """Return a total with the cost of one more series; 0 sum, 1 sum of squares, 2 largest."""
    d = np.sqrt(cost) if root else cost
    if combine == 0:
        return total + weight * d
    if combine == 1:
        return total + weight * d * d
    return max(total, weight * d)


def cost_left(slack: float, total: float, weight: float, root: bool, combine: int) -> float:
    """Return the cost that one more series may have."""
    left = slack / weight if combine == 2 else (slack - total) / weight
    if combine == 1:
        return left if root else np.sqrt(max(left, 0.0))
    return left * left if root else left


def nearest_warping(
    x: Any,
    nx: Any,
    v: Any,
    nv: Any,
    low: Any,
    high: Any,
    reach: int,
    root: bool,
    combine: int,
    weights: Any,
    best: Any,
    second: Any,
    found: Any,
    ties: Any,
) -> None:
    """Find the nearest record of each, giving up on a pair once it must be farther than the second.

    Candidates come in the order of a lower bound of their distance, so that near ones are met early and
    the search ends at the first bound beyond the second nearest.
    """
    n_series = x.shape[1]
    rows = np.empty((2, v.shape[2] + 1))
    bounds = np.empty(len(v))
    for i in range(len(x)):
        for j in range(len(v)):
            total = 0.0
            for s in range(n_series):
                cost = lower_bound(x[i, s], nx[i, s], v[j, s], nv[j, s], low[j, s], high[j, s])
                total = combine_costs(total, weights[s], cost, root, combine)
            bounds[j] = total
        best[i] = np.inf
        second[i] = np.inf
        found[i] = -1
        ties[i] = 0
        for j in np.argsort(bounds, kind="mergesort"):
            slack = second[i] * (1.0 + TIE)
            if bounds[j] > slack:
                break
            total = 0.0
            for s in range(n_series):
                if weights[s] == 0.0:
                    continue
                limit = cost_left(slack, total, weights[s], root, combine)
                cost = warping_cost(x[i, s], nx[i, s], v[j, s], nv[j, s], reach, limit, rows)
                if cost == np.inf:
                    total = np.inf
                    break
                total = combine_costs(total, weights[s], cost, root, combine)
            if total == np.inf:
                continue
            if best[i] * (1.0 - TIE) <= total <= best[i] * (1.0 + TIE):
                ties[i] += 1
                second[i] = best[i]
                found[i] = min(found[i], j)
            elif total < best[i]:
                second[i] = best[i]
                best[i] = total
                found[i] = j
                ties[i] = 1
            else:
                second[i] = min(second[i], total)


KERNELS = Kernels(
    globals(),
    warping_cost,
    warping_steps,
    all_costs,
    row_costs,
    lower_bound,
    combine_costs,
    cost_left,
    nearest_warping,
)
