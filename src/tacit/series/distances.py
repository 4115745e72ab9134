"""Distances between series: Minkowski, slopes (STS), correlation, dynamic time warping."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist

from tacit.errors import InputError
from tacit.series.panel import Panel
from tacit.solve.kernels import compile_all, has_numba
from tacit.stats.moments import Floats, Ints

Kind = Literal["minkowski", "sts", "correlation", "correlation2", "dtw"]
Combine = Literal["sum", "rss", "max"]

#: Distances tie when they differ by less than this share.
TIE = 1e-12
#: Numbers of distances held at a time.
BLOCK = 1 << 22


@dataclass(frozen=True)
class Distance:
    """A distance between the series of two records.

    Attributes
    ----------
    kind
        ``minkowski``: (sum |x - v|^q)^(1/q). ``sts``: Euclidean distance of the slopes between points.
        ``correlation``: ((1 - cc) / (1 + cc))^beta, infinite for cc = -1. ``correlation2``:
        sqrt(2 (1 - cc)). ``dtw``: the cheapest alignment, sum of squared differences along it.
    q, beta
        Exponents.
    window
        DTW: how many positions apart aligned points may be (Sakoe and Chiba); None for no limit.
    root
        DTW: the square root of the cost.
    combine, weights
        How the distances of several series are put together: weighted sum, root of the weighted sum of
        squares, or largest.
    """

    kind: Kind = "minkowski"
    q: float = 2.0
    beta: float = 1.0
    window: int | None = None
    root: bool = True
    combine: Combine = "sum"
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.q >= 1:
            raise InputError("the exponent q of a Minkowski distance must be at least 1")
        if not self.beta > 0:
            raise InputError("the exponent beta of a correlation distance must be greater than 0")
        if self.window is not None and self.window < 0:
            raise InputError("the window must be at least 0")
        if self.weights is not None and (min(self.weights) < 0 or max(self.weights) == 0):
            raise InputError("weights of series must not be negative, and not all 0")

    def check(self, a: Panel, b: Panel) -> None:
        """Refuse series that this distance cannot compare."""
        if a.values.shape[1] != b.values.shape[1]:
            raise InputError("the two files have different numbers of series")
        if self.weights is not None and len(self.weights) != a.values.shape[1]:
            raise InputError("weights must be one for each series")
        if a.holed or b.holed:
            raise InputError("series have missing values; interpolate them first")
        if self.kind == "dtw":
            apart = max(
                int(a.lengths.max() - b.lengths.min()), int(b.lengths.max() - a.lengths.min())
            )
            if self.window is not None and self.window < apart:
                raise InputError(
                    f"the window must be at least {apart}, the difference of the longest and shortest series"
                )
            return
        if not (a.equal and b.equal and a.values.shape[2] == b.values.shape[2]):
            raise InputError(
                f"{self.kind} needs series of equal length; use dtw, or resample them to the same number of points"
            )
        if self.kind == "sts" and a.values.shape[2] < 2:
            raise InputError("sts needs at least two points")

    def series_weights(self, n: int) -> Floats:
        """Return the weight of each series."""
        return np.ones(n) if self.weights is None else np.array(self.weights, dtype=np.float64)


# -- one pair ----------------------------------------------------------------------------------------


def minkowski(x: Sequence[float], v: Sequence[float], q: float = 2.0) -> float:
    """Return (sum |x - v|^q)^(1/q); the paper prints it without the absolute value."""
    return float((np.abs(np.subtract(x, v)) ** q).sum() ** (1.0 / q))


def sts(x: Sequence[float], v: Sequence[float], times: Sequence[float] | None = None) -> float:
    """Return the Euclidean distance of the slopes; sums run to N - 1 (N is printed)."""
    at = np.arange(len(x)) if times is None else np.asarray(times)
    return float(np.sqrt((((np.diff(v) - np.diff(x)) / np.diff(at)) ** 2).sum()))


def correlation(x: Sequence[float], v: Sequence[float]) -> float:
    """Return the correlation of two series; 0 when one is constant (the 1 / N is not printed)."""
    dx, dv = np.subtract(x, np.mean(x)), np.subtract(v, np.mean(v))
    size = np.sqrt((dx**2).sum() * (dv**2).sum())
    return float(np.clip((dx * dv).sum() / size, -1.0, 1.0)) if size > 0 else 0.0


def correlation_distance(x: Sequence[float], v: Sequence[float], beta: float = 1.0) -> float:
    """Return ((1 - cc) / (1 + cc))^beta."""
    cc = correlation(x, v)
    return float("inf") if cc == -1 else float(((1.0 - cc) / (1.0 + cc)) ** beta)


@dataclass(frozen=True)
class Warping:
    """The cheapest alignment of two series: cost, and the aligned positions from (0, 0) on."""

    cost: float
    path: tuple[tuple[int, int], ...]

    @property
    def length(self) -> int:
        """Return K, the number of aligned pairs."""
        return len(self.path)

    @property
    def root(self) -> float:
        """Return the square root of the cost."""
        return float(np.sqrt(self.cost))


def dtw(x: Sequence[float], v: Sequence[float], window: int | None = None) -> Warping:
    """Return the cheapest alignment; on equal cost diagonal steps come first, then steps in x.

    The published example (2021) is this plain cost of raw series. The printed formula divides by K under
    the minimum, which would be another search.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(v, dtype=np.float64)
    n, m = len(a), len(b)
    reach = max(n, m) if window is None else window
    if reach < abs(n - m):
        raise InputError("the window must be at least the difference of the lengths")
    cost = np.full((n + 1, m + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - reach), min(m, i + reach) + 1):
            cost[i, j] = (a[i - 1] - b[j - 1]) ** 2 + min(
                cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]
            )
    path = [(n, m)]
    while path[-1] != (1, 1):
        i, j = path[-1]
        steps = ((i - 1, j - 1), (i - 1, j), (i, j - 1))
        path.append(min(steps, key=lambda at: cost[at]))
    return Warping(float(cost[n, m]), tuple((i - 1, j - 1) for i, j in reversed(path)))


# -- all pairs ---------------------------------------------------------------------------------------


def euclidean_form(values: Floats, times: Floats, distance: Distance) -> Floats | None:
    """Return one series of all records such that Euclidean distances are those asked for, if possible."""
    match distance.kind:
        case "minkowski" if distance.q == 2:
            return values
        case "sts":
            return np.asarray(np.diff(values, axis=1) / np.diff(times))
        case "correlation2":
            return unit(values)
        case _:
            return None


def unit(values: Floats) -> Floats:
    """Return series centred and of length 1, for which |x - v|^2 = 2 (1 - cc); constant ones are 0."""
    centred = values - values.mean(axis=1, keepdims=True)
    size = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    return np.asarray(centred / np.where(size > 0, size, 1.0))


def all_distances(a: Panel, b: Panel, distance: Distance) -> Floats:
    """Return the distances of every record of one panel from every record of another."""
    distance.check(a, b)
    weights = distance.series_weights(a.values.shape[1])
    total: Floats | None = None
    for s, weight in enumerate(weights):
        d = weight * series_distances(a, b, s, distance) ** (2 if distance.combine == "rss" else 1)
        if total is None:
            total = d
        else:
            total = np.maximum(total, d) if distance.combine == "max" else total + d
    assert total is not None
    return np.sqrt(total) if distance.combine == "rss" else total


def series_distances(a: Panel, b: Panel, s: int, distance: Distance) -> Floats:
    """Return the distances of one series, every record with every record."""
    if distance.kind == "dtw":
        costs = dtw_costs(
            a.values[:, s], a.lengths[:, s], b.values[:, s], b.lengths[:, s], distance.window
        )
        return np.sqrt(costs) if distance.root else costs
    x, v = a.values[:, s], b.values[:, s]
    form = euclidean_form(x, a.times, distance)
    if form is not None:
        other = euclidean_form(v, b.times, distance)
        assert other is not None
        return np.asarray(cdist(form, other))
    if distance.kind == "minkowski":
        return np.asarray(cdist(x, v, "minkowski", p=distance.q))
    cc = np.clip(unit(x) @ unit(v).T, -1.0, 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(((1.0 - cc) / (1.0 + cc)) ** distance.beta)


def dtw_costs(x: Floats, nx: Ints, v: Floats, nv: Ints, window: int | None) -> Floats:
    """Return the warping costs of all pairs."""
    reach = max(x.shape[1], v.shape[1]) if window is None else window
    if has_numba():
        return np.asarray(compiled()["all_costs"](x, nx, v, nv, reach))
    return np.array([costs_of_one(one[:n], v, nv, reach) for one, n in zip(x, nx, strict=True)])


def costs_of_one(x: Floats, v: Floats, nv: Ints, reach: int) -> Floats:
    """Return the costs of one series against all, cell by cell over all of them together."""
    n, m = len(x), v.shape[1]
    table = np.full((len(v), n + 1, m + 1), np.inf)
    table[:, 0, 0] = 0.0
    filled = np.where(np.isnan(v), 0.0, v)
    for i in range(1, n + 1):
        for j in range(max(1, i - reach), min(m, i + reach) + 1):
            least = np.minimum(
                np.minimum(table[:, i - 1, j - 1], table[:, i - 1, j]), table[:, i, j - 1]
            )
            table[:, i, j] = (x[i - 1] - filled[:, j - 1]) ** 2 + least
    return table[np.arange(len(v)), n, nv]


# -- kernels -----------------------------------------------------------------------------------------


def warping_cost(x: Any, n: int, v: Any, m: int, reach: int, limit: float, rows: Any) -> float:
    """Return the cost of the cheapest alignment, or infinity once it must exceed the limit."""
    for j in range(m + 1):
        rows[0, j] = np.inf
    rows[0, 0] = 0.0
    now = 0
    for i in range(1, n + 1):
        last = now
        now = 1 - now
        first = max(1, i - reach)
        stop = min(m, i + reach)
        for j in range(first):
            rows[now, j] = np.inf
        least = np.inf
        for j in range(first, stop + 1):
            d = x[i - 1] - v[j - 1]
            best = rows[last, j - 1]
            best = min(best, rows[last, j])
            best = min(best, rows[now, j - 1])
            cost = d * d + best
            rows[now, j] = cost
            least = min(least, cost)
        for j in range(stop + 1, m + 1):
            rows[now, j] = np.inf
        if least > limit:
            return np.inf
    return rows[now, m]


def all_costs(x: Any, nx: Any, v: Any, nv: Any, reach: int) -> Any:
    """Return the costs of all pairs."""
    out = np.empty((len(x), len(v)))
    rows = np.empty((2, v.shape[1] + 1))
    for i in range(len(x)):
        for j in range(len(v)):
            out[i, j] = warping_cost(x[i], nx[i], v[j], nv[j], reach, np.inf, rows)
    return out


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

    ``combine``: 0 sum, 1 root of the sum of squares, 2 largest. A candidate's lower bound, from the
    envelope of its series (Keogh), decides the order, so that near ones are met early.
    """
    n_series = x.shape[1]
    rows = np.empty((2, v.shape[2] + 1))
    bounds = np.empty(len(v))
    parts = np.empty(n_series)
    for i in range(len(x)):
        for j in range(len(v)):
            total = 0.0
            for s in range(n_series):
                cost = 0.0
                for t in range(nx[i, s]):
                    if x[i, s, t] > high[j, s, t]:
                        cost += (x[i, s, t] - high[j, s, t]) ** 2
                    elif x[i, s, t] < low[j, s, t]:
                        cost += (low[j, s, t] - x[i, s, t]) ** 2
                d = np.sqrt(cost) if root else cost
                if combine == 0:
                    total += weights[s] * d
                elif combine == 1:
                    total += weights[s] * d * d
                else:
                    total = max(total, weights[s] * d)
            bounds[j] = total
        best[i] = np.inf
        second[i] = np.inf
        found[i] = -1
        ties[i] = 0
        for j in np.argsort(bounds):
            slack = second[i] * (1.0 + TIE)
            if bounds[j] > slack:
                break
            total = 0.0
            given_up = False
            for s in range(n_series):
                # What is left of the limit for this series, as a cost.
                left = slack if combine == 2 else slack - total
                if weights[s] == 0.0:
                    continue
                if combine == 1:
                    limit = left / weights[s]
                    if not root:
                        limit = np.sqrt(limit)
                else:
                    limit = left / weights[s]
                    if root:
                        limit = limit * limit
                cost = warping_cost(x[i, s], nx[i, s], v[j, s], nv[j, s], reach, limit, rows)
                if cost == np.inf:
                    given_up = True
                    break
                d = np.sqrt(cost) if root else cost
                if combine == 0:
                    total += weights[s] * d
                elif combine == 1:
                    total += weights[s] * d * d
                else:
                    total = max(total, weights[s] * d)
            if given_up:
                continue
            if total <= best[i] * (1.0 + TIE) and total >= best[i] * (1.0 - TIE):
                ties[i] += 1
                second[i] = min(second[i], total)
                found[i] = min(found[i], j)
            elif total < best[i]:
                second[i] = best[i]
                best[i] = total
                found[i] = j
                ties[i] = 1
            elif total < second[i]:
                second[i] = total


KERNELS = (warping_cost, all_costs, nearest_warping)


@functools.cache
def compiled() -> dict[str, Any]:
    """Return the kernels compiled."""
    return compile_all(KERNELS, globals())
