"""Linking the series of one file to those of another: each record to its nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.events import side_by_side
from tacit.records.linkage.attack import Files, Ties, _correct_links, make_standardised_metric
from tacit.records.linkage.attack import attack as point_attack
from tacit.records.linkage.nearest import Tick, find_nearest_rows, tie_limit
from tacit.stats.series.distances import Distance, distances, euclidean_forms, finish_distances
from tacit.stats.series.panel import Panel
from tacit.stats.series.warping import KERNELS, TIE

WORKERS = 2
#: Records linked between two looks at whether to stop.
CHUNK = 32
#: Numbers of distances held at a time by each worker.
BLOCK = 1 << 20


@dataclass(frozen=True)
class SeriesLinks:
    """The nearest record for each record, the first of equally near ones.

    ``distance`` and ``second`` are the distances of it and of the next record (the same when they tie), ``ties`` counts the
    records that are equally near, up to the distance ``limit``.
    """

    nearest: Ints
    distance: Floats
    second: Floats
    ties: Ints
    limit: Floats

    def __len__(self) -> int:
        return len(self.nearest)


def ignore_progress(_message: str, _share: float | None) -> None:
    """Ignore progress."""


def link(a: Panel, b: Panel, distance: Distance, tick: Tick = ignore_progress) -> SeriesLinks:
    """Return for each record of ``a`` the nearest record of ``b``, exactly."""
    distance.check(a, b)
    forms = euclidean(a, b, distance)
    if forms is not None:
        return by_tree(*forms, a.n_series, distance, tick)
    cells = float(a.lengths.sum()) * float(b.lengths.sum()) / a.n_series
    if distance.kind == "dtw" and not distance.per_step and KERNELS.pays(cells):
        return by_warping(a, b, distance, tick)
    return by_blocks(a, b, distance, tick)


def euclidean(a: Panel, b: Panel, distance: Distance) -> tuple[Floats, Floats] | None:
    """Return both files as points, when the distance is Euclidean: one series, or the root of squares."""
    n = a.n_series
    if n > 1 and (distance.combine != "rss" or distance.kind == "correlation"):
        return None
    scale = np.sqrt(distance.series_weights(n)) if n > 1 else np.ones(1)
    forms = [euclidean_forms(a, b, s, distance) for s in range(n)]
    points = [(w * f[0], w * f[1]) for w, f in zip(scale, forms, strict=True) if f is not None]
    if len(points) < n:
        return None
    return np.hstack([x for x, _ in points]), np.hstack([v for _, v in points])


def by_tree(x: Floats, v: Floats, n_series: int, distance: Distance, tick: Tick) -> SeriesLinks:
    """Return the links of points under Euclidean distance."""
    found = find_nearest_rows(x, v, tick)
    squared = (found.distance, found.second, tie_limit(found.distance, x))
    first, second, limit = (finish_distances(np.sqrt(d), distance) for d in squared)
    if n_series == 1:
        weight = float(distance.series_weights(1)[0])
        weight = np.sqrt(weight) if distance.combine == "rss" else weight
        first, second, limit = weight * first, weight * second, weight * limit
    return SeriesLinks(found.nearest, first, second, found.ties, limit)


def by_blocks(a: Panel, b: Panel, distance: Distance, tick: Tick) -> SeriesLinks:
    """Return the links from blocks of all distances, workers side by side."""
    n = len(a)
    size = max(1, BLOCK // max(len(b), 1))

    def work(begin: int) -> tuple[Any, ...]:
        tick("linking series", begin / n)
        d = distances(a.rows(slice(begin, begin + size)), b, distance, all_pairs=True)
        best = d.min(axis=1)
        limit = best * (1 + TIE)
        tied = d <= limit[:, None]
        ties = tied.sum(axis=1)
        rest = np.where(tied, np.inf, d).min(axis=1)
        return tied.argmax(axis=1), best, np.where(ties > 1, best, rest), ties, limit

    parts = list(side_by_side(work, range(0, n, size), WORKERS))
    return SeriesLinks(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def by_warping(a: Panel, b: Panel, distance: Distance, tick: Tick) -> SeriesLinks:
    """Return the links under dynamic time warping, workers side by side."""
    n = len(a)
    longest = max(a.values.shape[2], b.values.shape[2])
    reach = longest if distance.window is None else distance.window
    low, high = envelopes(b, a.values.shape[2], reach)
    best, second = np.empty(n), np.empty(n)
    found, ties = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    weights = distance.series_weights(a.n_series)
    combine = {"sum": 0, "rss": 1, "max": 2}[distance.combine]
    run = KERNELS.compiled()["nearest_warping"]
    searched = (b.values, b.lengths, low, high, reach, distance.root, combine, weights)

    def work(begin: int) -> None:
        tick("linking series", begin / n)
        at = slice(begin, min(begin + CHUNK, n))
        run(a.values[at], a.lengths[at], *searched, best[at], second[at], found[at], ties[at])

    for _ in side_by_side(work, range(0, n, CHUNK), WORKERS):
        pass
    if distance.combine == "rss":
        best, second = np.sqrt(best), np.sqrt(second)
    return SeriesLinks(found, best, second, ties, best * (1 + TIE))


def envelopes(b: Panel, length: int, reach: int) -> tuple[Floats, Floats]:
    """Return the least and largest value of each series within reach of each position."""
    low = np.full((*b.values.shape[:2], length), -np.inf)
    high = np.full((*b.values.shape[:2], length), np.inf)
    known = ~np.isnan(b.values)
    least, most = np.where(known, b.values, np.inf), np.where(known, b.values, -np.inf)
    for t in range(length):
        window = slice(max(0, t - reach), t + reach + 1)
        # Beyond the end of a shorter series there is no bound.
        there = known[:, :, window].any(axis=2)
        if there.any():
            low[there, t] = least[:, :, window].min(axis=2)[there]
            high[there, t] = most[:, :, window].max(axis=2)[there]
    return low, high


@dataclass(frozen=True)
class SeriesAttack:
    """Links and the truth: the own record, or -1, and whether it is the nearest one, or tied with it (``hit``)."""

    links: SeriesLinks
    truth: Ints
    hit: Flags

    def correct(self, rule: Ties) -> Floats:
        """Return, by record, whether its link is correct; a chance under the rule ``expected``."""
        return _correct_links(self.links, self.truth, self.hit, rule)


def attack(
    a: Panel, b: Panel, distance: Distance, truth: Ints | None = None, tick: Tick = ignore_progress
) -> SeriesAttack:
    """Link each record of ``a`` and say whose nearest record is their own.

    ``truth`` is the position of each record in ``b``, -1 where it is not there; by default the same one.
    """
    own = np.arange(len(a)) if truth is None else truth
    links = link(a, b, distance, tick)
    at = np.flatnonzero(own >= 0)
    hit = np.zeros(len(a), dtype=bool)
    if len(at):
        gap = distances(a.rows(at), b.rows(own[at]), distance, all_pairs=False)
        # Rounding differs a little between the searches.
        hit[at] = gap <= links.limit[at] * (1 + 10 * TIE)
    return SeriesAttack(links, own, hit)


def standard_attack(a: Panel, b: Panel, ties: Ties, truth: Ints | None = None) -> Floats:
    """Return what an attacker finds who takes all points as variables, standardised in each file."""
    own = np.arange(len(a)) if truth is None else truth
    old = np.flatnonzero(own >= 0)
    files = Files(a.points(), b.points(), old, own[old])
    return point_attack(files, make_standardised_metric(files)).correct(ties)
