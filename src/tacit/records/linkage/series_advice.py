"""Which distance suits some series."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.stats.series.distances import Kind
from tacit.stats.series.panel import Panel

#: Share of series that go one way from which all have the same shape.
SAME_SHAPE = 0.8
#: Share of the variance between records below which all are on the same level.
SAME_LEVEL = 0.2


@dataclass(frozen=True)
class Advice:
    """What the series look like, and the distance that suits them.

    Attributes
    ----------
    monotone
        Share of the series that go the more frequent way all along: rising or falling.
    level_spread
        Share of the variance of the values that lies between records, averaged over series.
    equal_lengths
        Whether each series has the same length in all records.
    distance
        The kind of distance.
    sentence
        All of this in words.
    """

    monotone: float
    level_spread: float
    equal_lengths: bool
    distance: Kind
    sentence: str


def advise(panel: Panel) -> Advice:
    """Return which distance suits the series: rules of thumb, no guarantee.

    Where all series have the same shape, slopes tell little and values much (Minkowski); where all are on
    the same level, the other way round (STS); series of different lengths need time warping.
    """
    monotone, spread, even = one_way(panel), level_spread(panel), panel.even
    kind: Kind = "minkowski"
    if not even:
        kind, why = (
            "dtw",
            "the series differ in length, so dtw compares them (at a cost of n x m a pair)",
        )
    elif monotone >= SAME_SHAPE:
        why = f"{monotone:.0%} of the series go the same way, so values (minkowski) tell more than slopes"
    elif spread <= SAME_LEVEL:
        kind = "sts"
        why = f"only {spread:.0%} of the variance lies between records, so slopes (sts) tell more than levels"
    else:
        why = "shapes and levels both differ, so minkowski and sts are both worth trying"
    return Advice(
        monotone, spread, even, kind, f"Of the distances, {kind} suits these series: {why}."
    )


def one_way(panel: Panel) -> float:
    """Return the share of series that rise all along, or that fall, whichever is more frequent."""
    steps = np.diff(panel.values, axis=2)
    gone = np.isnan(steps)
    moves = (steps != 0) & ~gone
    shares = [
        ((gone | (sign * steps >= 0)).all(axis=2) & moves.any(axis=2)).mean() for sign in (1, -1)
    ]
    return float(max(shares))


def level_spread(panel: Panel) -> float:
    """Return the share of the variance between records: of their means, over series averaged."""
    known = ~np.isnan(panel.values)
    n = known.sum(axis=2)
    mean = np.where(known, panel.values, 0.0).sum(axis=2) / n
    within = (np.where(known, panel.values - mean[:, :, None], 0.0) ** 2).sum(axis=2) / n
    between, inside = mean.var(axis=0), within.mean(axis=0)
    total = between + inside
    return float(np.where(total > 0, between / np.where(total > 0, total, 1.0), 0.0).mean())
