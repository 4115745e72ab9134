"""Distances between series: Minkowski, slopes (STS), correlation, dynamic time warping; between sequences: Hamming, edit."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist

from tacit.arrays import Flags, Floats
from tacit.errors import InputError, SdcWarning
from tacit.numerics.elementary import power
from tacit.public import check_fields
from tacit.stats.series.panel import Panel
from tacit.stats.series.warping import warping_costs

Kind = Literal["minkowski", "sts", "correlation", "correlation2", "dtw"]
Combine = Literal["sum", "rss", "max"]


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
    per_step
        DTW: divide by the length of the cheapest path.
    combine, weights
        How the distances of several series are put together: weighted sum, root of the weighted sum of
        squares, or largest.
    """

    kind: Kind = "minkowski"
    q: float = 2.0
    beta: float = 1.0
    window: int | None = None
    root: bool = True
    per_step: bool = False
    combine: Combine = "sum"
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.q >= 1:
            raise InputError("the exponent q of a Minkowski distance must be at least 1")
        if not 0 < self.beta < np.inf:
            raise InputError("the exponent beta of a correlation distance must be greater than 0")
        if self.window is not None and self.window < 0:
            raise InputError("the window must be at least 0")
        if self.weights is not None and not (
            min(self.weights) >= 0 and 0 < max(self.weights) < np.inf
        ):
            raise InputError("weights of series must not be negative, and not all 0")

    def check(self, a: Panel, b: Panel) -> None:
        """Refuse series that this distance cannot compare."""
        if a.n_series != b.n_series:
            raise InputError("the two files have different numbers of series")
        if self.weights is not None and len(self.weights) != a.n_series:
            raise InputError("weights must be one for each series")
        if a.holed or b.holed:
            raise InputError(
                "series have missing values; interpolate them first (interpolate=True)"
            )
        if self.kind == "dtw":
            self.check_window(a, b)
        else:
            self.check_lengths(a, b)

    def check_window(self, a: Panel, b: Panel) -> None:
        """Refuse a window in which the ends of some pair of series cannot meet."""
        longest = [p.lengths.max(axis=0) for p in (a, b)]
        shortest = [p.lengths.min(axis=0) for p in (a, b)]
        apart = int(max((longest[0] - shortest[1]).max(), (longest[1] - shortest[0]).max()))
        if self.window is not None and self.window < apart:
            raise InputError(
                f"the window must be at least {apart}, the difference of the longest and shortest series"
            )

    def check_lengths(self, a: Panel, b: Panel) -> None:
        """Refuse series of unequal length, or too short to say anything."""
        if not (a.even and b.even and (a.lengths[0] == b.lengths[0]).all()):
            raise InputError(
                f"{self.kind} needs series of equal length; use dtw, or resample them to the same number of points"
            )
        shortest = a.lengths.min()
        if self.kind == "sts" and shortest < 2:
            raise InputError("sts needs at least two points")
        if self.kind.startswith("correlation") and shortest < 3:
            warnings.warn(
                "the correlation of fewer than three points is -1, 0 or 1 and tells few records apart",
                SdcWarning,
                stacklevel=4,
            )

    def series_weights(self, n: int) -> Floats:
        """Return the weight of each series."""
        return np.ones(n) if self.weights is None else np.array(self.weights, dtype=np.float64)


# -- one pair ----------------------------------------------------------------------------------------


def minkowski(x: Sequence[float], v: Sequence[float], q: float = 2.0) -> float:
    """Return (sum |x - v|^q)^(1/q); the paper prints it without the absolute value."""
    return float(np.linalg.norm(np.subtract(x, v), ord=q))


def sts(x: Sequence[float], v: Sequence[float], times: Sequence[float] | None = None) -> float:
    """Return the Euclidean distance of the slopes; sums run to N - 1 (N is printed)."""
    at = np.arange(len(x)) if times is None else np.asarray(times)
    return float(np.linalg.norm((np.diff(v) - np.diff(x)) / np.diff(at)))


def correlation(x: Sequence[float], v: Sequence[float]) -> float:
    """Return the correlation of two series; 0 when one is constant (the 1 / N is not printed)."""
    a, b = (np.asarray(y, dtype=np.float64)[None] for y in (x, v))
    return float(np.clip((unit(a) * unit(b)).sum(), -1.0, 1.0))


def correlation_distance(x: Sequence[float], v: Sequence[float], beta: float = 1.0) -> float:
    """Return ((1 - cc) / (1 + cc))^beta; infinite for cc = -1."""
    cc = correlation(x, v)
    return float("inf") if cc == -1 else float(power((1.0 - cc) / (1.0 + cc), beta))


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

    @property
    def per_step(self) -> float:
        """Return the square root of the cost over the length of the path."""
        return self.root / self.length


def dtw(x: Sequence[float], v: Sequence[float], window: int | None = None) -> Warping:
    """Return the cheapest alignment; on equal cost diagonal steps come first, then steps in x.

    The published example (2021) is this plain cost of raw series. The printed formula divides by the
    length of the path under the minimum, which is another search: :func:`least_ratio`.
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
            near = min(cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1])
            cost[i, j] = (a[i - 1] - b[j - 1]) ** 2 + near
    path = [(n, m)]
    while path[-1] != (1, 1):
        i, j = path[-1]
        steps = ((i - 1, j - 1), (i - 1, j), (i, j - 1))
        path.append(min(steps, key=lambda at: cost[at]))
    return Warping(float(cost[n, m]), tuple((i - 1, j - 1) for i, j in reversed(path)))


def least_ratio(x: Sequence[float], v: Sequence[float]) -> float:
    """Return the least sqrt(cost) / K over all alignments, K the number of aligned pairs.

    This is the printed formula of the paper. It prefers long paths; the cheapest path over its own length
    (:attr:`Warping.per_step`) is the common reading and never smaller.
    """
    gap = np.subtract.outer(np.asarray(x, dtype=np.float64), np.asarray(v, dtype=np.float64)) ** 2
    n, m = gap.shape
    # The cheapest way to each cell in exactly K steps, for K = 1, 2, ...
    here = np.full((n + 1, m + 1), np.inf)
    here[1, 1] = gap[0, 0]
    best = np.sqrt(here[n, m])
    for steps in range(2, n + m):
        near = np.minimum(np.minimum(here[:-1, :-1], here[:-1, 1:]), here[1:, :-1])
        here = np.full_like(here, np.inf)
        here[1:, 1:] = gap + near
        best = min(best, np.sqrt(here[n, m]) / steps)
    return float(best)


# -- one pair of sequences of categories ---------------------------------------------------------------


def hamming(x: Sequence[Hashable], v: Sequence[Hashable]) -> int:
    """Return at how many positions two sequences of equal length differ."""
    if len(x) != len(v):
        raise InputError("hamming needs sequences of equal length; use edit_distance")
    return sum(a != b for a, b in zip(x, v, strict=True))


def edit_distance(x: str | Sequence[Hashable], v: str | Sequence[Hashable]) -> int:
    """Return the least number of insertions, deletions and exchanges that turn one into the other.

    References
    ----------
    Levenshtein (1966), Binary codes capable of correcting deletions, insertions, and reversals, Soviet
    Physics Doklady 10, 707-710.
    """
    from rapidfuzz.distance import Levenshtein

    # Numbered first: the library tells elements apart by their hashes, and those of -1 and -2 are equal.
    codes: dict[Hashable, int] = {}
    a, b = ([codes.setdefault(y, len(codes)) for y in z] for z in (x, v))
    return int(Levenshtein.distance(a, b))


# -- many pairs --------------------------------------------------------------------------------------


def is_constant(values: Floats) -> Flags:
    """Return which series (rows) are constant."""
    return np.asarray(values.max(axis=1) == values.min(axis=1))


def unit(values: Floats) -> Floats:
    """Return series centred and of length 1, for which |x - v|^2 = 2 (1 - cc); constant ones are 0."""
    centred = values - values.mean(axis=1, keepdims=True)
    size = np.linalg.norm(centred, axis=1, keepdims=True)
    flat = is_constant(values)[:, None] | (size == 0)
    return np.where(flat, 0.0, centred / np.where(flat, 1.0, size))


def euclidean_forms(a: Panel, b: Panel, s: int, distance: Distance) -> tuple[Floats, Floats] | None:
    """Return one series of both files as points whose Euclidean distances are those asked for.

    For ``correlation`` they are those of ``correlation2``, of which it is an increasing function. None
    when there are no such points.
    """
    x, v = a.series(s), b.series(s)
    match distance.kind:
        case "minkowski" if distance.q == 2:
            return x, v
        case "sts":
            times = a.times[s, : x.shape[1]], b.times[s, : v.shape[1]]
            return np.diff(x) / np.diff(times[0]), np.diff(v) / np.diff(times[1])
        case "correlation" | "correlation2":
            # A constant series has correlation 0 with every one: a direction of its own in each file.
            flat = [is_constant(y).astype(np.float64) for y in (x, v)]
            none = [np.zeros_like(f) for f in flat]
            return (
                np.column_stack([unit(x), flat[0], none[0]]),
                np.column_stack([unit(v), none[1], flat[1]]),
            )
        case _:
            return None


def finish_distances(found: Floats, distance: Distance) -> Floats:
    """Return distances from those of the Euclidean forms."""
    if distance.kind != "correlation":
        return found
    half = np.minimum(found**2 / 2.0, 2.0)  # 1 - cc
    with np.errstate(divide="ignore"):
        return np.asarray(power(half / (2.0 - half), distance.beta))


def all_distances(a: Panel, b: Panel, distance: Distance) -> Floats:
    """Return the distances of every record of one panel from every record of another."""
    distance.check(a, b)
    return distances(a, b, distance, all_pairs=True)


def paired_distances(a: Panel, b: Panel, distance: Distance) -> Floats:
    """Return the distances of records that stand at the same position."""
    if len(a) != len(b):
        raise InputError("records are compared in pairs, so both files need as many")
    distance.check(a, b)
    return distances(a, b, distance, all_pairs=False)


def distances(a: Panel, b: Panel, distance: Distance, *, all_pairs: bool) -> Floats:
    """Return the distances of panels that were checked, those of the series put together."""
    total: Floats | None = None
    for s, weight in enumerate(distance.series_weights(a.n_series)):
        if weight == 0:
            continue
        d = series_distances(a, b, s, distance, all_pairs=all_pairs)
        d = weight * (d**2 if distance.combine == "rss" else d)
        if total is None:
            total = d
        else:
            total = np.maximum(total, d) if distance.combine == "max" else total + d
    assert total is not None
    return np.sqrt(total) if distance.combine == "rss" else total


def series_distances(a: Panel, b: Panel, s: int, distance: Distance, *, all_pairs: bool) -> Floats:
    """Return the distances of one series: of every record with every record, or row by row."""
    x, v = a.series(s), b.series(s)
    if distance.kind == "dtw":
        reach = max(x.shape[1], v.shape[1]) if distance.window is None else distance.window
        cost, steps = warping_costs(
            x, a.lengths[:, s], v, b.lengths[:, s], reach, all_pairs=all_pairs
        )
        found = np.sqrt(cost) if distance.root else cost
        return found / steps if distance.per_step else found
    forms = euclidean_forms(a, b, s, distance)
    one, other = (x, v) if forms is None else forms
    q = 2.0 if forms is not None else distance.q
    if not all_pairs:
        return finish_distances(np.asarray(np.linalg.norm(one - other, ord=q, axis=1)), distance)
    if q == 2:
        return finish_distances(np.asarray(cdist(one, other)), distance)
    return np.asarray(cdist(one, other, "minkowski", p=q))
