"""Linking the series of one file to those of another: each record to its nearest."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tacit.linkage.nearest import nearest
from tacit.series.distances import (
    BLOCK,
    TIE,
    Distance,
    all_distances,
    compiled,
    euclidean_form,
)
from tacit.series.panel import Panel
from tacit.solve.kernels import has_numba
from tacit.stats.moments import Flags, Floats, Ints

Tick = Callable[[str, float | None], None]
WORKERS = 2
#: Records linked between two looks at whether to stop.
CHUNK = 32


@dataclass(frozen=True)
class SeriesLinks:
    """The nearest record for each record: position, distance, that of the second, and ties."""

    nearest: Ints
    distance: Floats
    second: Floats
    ties: Ints


def link(a: Panel, b: Panel, distance: Distance, tick: Tick = lambda _m, _s: None) -> SeriesLinks:
    """Return for each record of ``a`` the nearest record of ``b``, exactly."""
    distance.check(a, b)
    forms = euclidean(a, b, distance)
    if forms is not None:
        found = nearest(*forms, tick)
        return SeriesLinks(
            found.nearest, np.sqrt(found.distance), np.sqrt(found.second), found.ties
        )
    if distance.kind == "dtw" and has_numba():
        return by_warping(a, b, distance, tick)
    return by_blocks(a, b, distance, tick)


def euclidean(a: Panel, b: Panel, distance: Distance) -> tuple[Floats, Floats] | None:
    """Return both files as points, when the distance is Euclidean: one series, or the root of squares."""
    n = a.values.shape[1]
    if n > 1 and distance.combine != "rss":
        return None
    scale = distance.series_weights(n)
    scale = np.sqrt(scale) if distance.combine == "rss" else scale
    parts = [
        (
            euclidean_form(a.values[:, s], a.times, distance),
            euclidean_form(b.values[:, s], b.times, distance),
        )
        for s in range(n)
    ]
    points = [
        (scale[s] * x, scale[s] * v)
        for s, (x, v) in enumerate(parts)
        if x is not None and v is not None
    ]
    if len(points) < n:
        return None
    return np.hstack([x for x, _ in points]), np.hstack([v for _, v in points])


def by_blocks(a: Panel, b: Panel, distance: Distance, tick: Tick) -> SeriesLinks:
    """Return the links from blocks of all distances."""
    n, m = len(a.values), len(b.values)
    size = max(1, BLOCK // max(m, 1))
    parts = []
    for begin in range(0, n, size):
        tick("linking series", begin / n)
        at = slice(begin, begin + size)
        d = all_distances(Panel(a.values[at], a.lengths[at], a.times), b, distance)
        first = d.argmin(axis=1)
        best = d[np.arange(len(d)), first]
        tied = d <= (best * (1 + TIE))[:, None]
        first = tied.argmax(axis=1)
        ties = tied.sum(axis=1)
        rest = np.where(tied, np.inf, d).min(axis=1)
        parts.append((first, best, np.where(ties > 1, best, rest), ties))
    found = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return SeriesLinks(found[0].astype(np.int64), found[1], found[2], found[3].astype(np.int64))


def by_warping(a: Panel, b: Panel, distance: Distance, tick: Tick) -> SeriesLinks:
    """Return the links under dynamic time warping, two workers side by side."""
    n = len(a.values)
    longest = max(a.values.shape[2], b.values.shape[2])
    reach = longest if distance.window is None else distance.window
    low, high = envelopes(b, a.values.shape[2], reach)
    best, second = np.empty(n), np.empty(n)
    found, ties = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    weights = distance.series_weights(a.values.shape[1])
    combine = {"sum": 0, "rss": 1, "max": 2}[distance.combine]
    run = compiled()["nearest_warping"]

    def work(begin: int) -> None:
        tick("linking series", begin / n)
        at = slice(begin, min(begin + CHUNK, n))
        run(
            a.values[at],
            a.lengths[at],
            b.values,
            b.lengths,
            low,
            high,
            reach,
            distance.root,
            combine,
            weights,
            best[at],
            second[at],
            found[at],
            ties[at],
        )

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(0, n, CHUNK)))
    if combine == 1:
        best, second = np.sqrt(best), np.sqrt(second)
    return SeriesLinks(found, best, second, ties)


def envelopes(b: Panel, length: int, reach: int) -> tuple[Floats, Floats]:
    """Return the least and largest value of each series within reach of each position."""
    low = np.full((*b.values.shape[:2], length), np.inf)
    high = np.full((*b.values.shape[:2], length), -np.inf)
    for t in range(length):
        window = b.values[:, :, max(0, t - reach) : t + reach + 1]
        if window.shape[2]:
            known = ~np.isnan(window)
            low[:, :, t] = np.where(known, window, np.inf).min(axis=2)
            high[:, :, t] = np.where(known, window, -np.inf).max(axis=2)
    # Beyond the end of a shorter series there is no bound.
    empty = ~np.isfinite(low)
    low[empty], high[empty] = -np.inf, np.inf
    return low, high


def paired_distances(a: Panel, b: Panel, distance: Distance) -> Floats:
    """Return the distances of records that stand at the same position."""
    return np.array(
        [
            all_distances(
                Panel(a.values[[i]], a.lengths[[i]], a.times),
                Panel(b.values[[i]], b.lengths[[i]], b.times),
                distance,
            )[0, 0]
            for i in range(len(a.values))
        ]
    )


def tied_with_truth(links: SeriesLinks, own: Floats) -> Flags:
    """Return for which records the true one is (one of) the nearest."""
    return np.asarray(own <= links.distance * (1 + 10 * TIE) + 1e-300)
