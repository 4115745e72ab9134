"""What replaces the values of a group: mean, median and robust means, weighted or not.

All groups are worked on at once: the values are sorted by group, and every statistic is a sum or a
position within the segments so formed. Weights count like frequencies: whole-number weights give the
mean, median, one-step mean and M-estimate of records repeated so often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.records.microaggregation.grouping.loss import group_means
from tacit.stats.robust import HUBER_LIMIT, MAD_CONSTANT, MAD_CONSTANT_TEMPL

How = Literal["mean", "median", "trimmed", "one_step", "m_estimate"]

#: Shares of a group's weight that differ by less are equal.
EQUAL = 1e-9


def aggregate(
    x: Floats,
    labels: Ints,
    how: How,
    *,
    weights: Floats | None = None,
    trim: float = 0.1,
    c: float = 3 / MAD_CONSTANT_TEMPL,
) -> Floats:
    """Return the aggregate of each column in each group, one row per group.

    ``mean``; ``median``; ``trimmed``: the mean without the records that make up a share ``trim`` of the group at
    each end; ``one_step``: the mean after values beyond median +- c MAD are set to that limit; ``m_estimate``:
    Huber's mean, clipped at 1.5 MADs. Labels are 0, 1, ..., each in use; weights are above 0.
    """
    if how == "mean":
        return group_means(x, labels, weights)
    order = np.argsort(labels, kind="stable")
    group = labels[order]
    mass = np.ones(len(x)) if weights is None else weights[order]
    return np.column_stack(
        [one_column(Segments.of(v[order], group, mass), how, trim, c) for v in x.T]
    )


def group_medians(codes: Ints, labels: Ints, weights: Floats | None = None) -> Ints:
    """Return the lower (weighted) median of ordered categories in each group."""
    order = np.argsort(labels, kind="stable")
    mass = np.ones(len(codes)) if weights is None else weights[order]
    low, _ = Segments.of(codes[order].astype(float), labels[order], mass).middle()
    return low.astype(np.int64)


def group_modes(
    codes: Ints,
    labels: Ints,
    weights: Floats | None = None,
    rng: np.random.Generator | None = None,
) -> Ints:
    """Return the most frequent (heaviest) category of each group.

    Of several the first, or one drawn at random where a generator is given.
    """
    width = int(codes.max()) + 1
    pairs, at = np.unique(labels * width + codes, return_inverse=True)
    mass = np.bincount(at, weights=weights)
    group, code = pairs // width, pairs % width
    tie = code if rng is None else rng.random(len(code))
    order = np.lexsort((tie, -mass, group))
    first = np.r_[True, group[order][1:] != group[order][:-1]]
    return np.asarray(code[order][first])


def one_column(values: Segments, how: How, trim: float, c: float) -> Floats:
    """Return a robust aggregate of each segment."""
    if how == "median":
        return values.median()
    if how == "trimmed":
        return values.mean(values.inner(trim))
    middle = values.median()
    spread = values.spread(middle)
    if how == "one_step":
        return values.clipped_mean(middle, c * spread)
    return huber(values, middle, spread)


def huber(values: Segments, middle: Floats, spread: Floats) -> Floats:
    """Return Huber's mean of each segment, its scale fixed at the MAD; the median where that is 0."""
    centre = middle
    for step in range(100):
        new = values.clipped_mean(centre, HUBER_LIMIT * spread, newton=step < 20)
        moved = np.abs(new - centre)
        centre = np.where(spread > 0, new, centre)
        if (moved <= 1e-10 * spread)[spread > 0].all():
            break
    return centre


@dataclass(frozen=True)
class Segments:
    """Values sorted within groups that stand one after the other."""

    #: The values, ascending within each segment.
    values: Floats
    #: Their weights.
    weights: Floats
    #: The segment of each value.
    group: Ints
    #: Where each segment begins.
    starts: Ints

    @classmethod
    def of(cls, values: Floats, group: Ints, weights: Floats) -> Segments:
        """Sort values within groups, which stand one after the other already."""
        starts = np.flatnonzero(np.r_[True, group[1:] != group[:-1]])
        sizes = np.diff(np.r_[starts, len(group)])
        order = np.empty(len(group), dtype=np.int64)
        for size in np.unique(sizes):
            places = starts[sizes == size, None] + np.arange(size)
            order[places] = np.take_along_axis(
                places, values[places].argsort(axis=1, kind="stable"), axis=1
            )
        return cls(values[order], weights[order], group, starts)

    def total(self, numbers: Floats) -> Floats:
        """Return the sum over each segment."""
        return np.asarray(np.add.reduceat(numbers, self.starts))

    def share(self) -> Floats:
        """Return the share of its segment's weight up to and including each value."""
        steps = self.weights / self.total(self.weights)[self.group]
        # Taken back where the next segment begins, so that rounding errors do not grow with the file.
        steps[self.starts[1:]] -= self.total(steps)[:-1]
        return np.asarray(np.cumsum(steps))

    def mean(self, kept: Flags) -> Floats:
        """Return the weighted mean of the values kept."""
        mass = self.weights * kept
        base = self.values[self.starts]
        return base + self.total(mass * (self.values - base[self.group])) / self.total(mass)

    def median(self) -> Floats:
        """Return the weighted median: the middle value, or the mean of the two that share the middle."""
        low, high = self.middle()
        return (low + high) / 2

    def middle(self) -> tuple[Floats, Floats]:
        """Return the lower and the upper weighted median."""
        share = self.share()
        low = self.starts + self.total((share < 0.5 - EQUAL).astype(float)).astype(np.int64)
        high = self.starts + self.total((share <= 0.5 + EQUAL).astype(float)).astype(np.int64)
        return self.values[low], self.values[high]

    def spread(self, middle: Floats) -> Floats:
        """Return the weighted MAD about the medians."""
        away = np.abs(self.values - middle[self.group])
        return MAD_CONSTANT * Segments.of(away, self.group, self.weights).median()

    def clipped_mean(self, centre: Floats, reach: Floats, *, newton: bool = False) -> Floats:
        """Return the weighted mean of the values drawn in to centre +- reach.

        ``newton`` steps from the centre as if the values drawn in stayed drawn in.
        """
        limit = reach[self.group]
        away = self.values - centre[self.group]
        pull = self.total(self.weights * np.clip(away, -limit, limit))
        mass = self.total(self.weights)
        if newton:
            inside = self.total(self.weights * (np.abs(away) <= limit))
            mass = np.where(inside > 0, inside, mass)
        return centre + pull / mass

    def inner(self, trim: float) -> Flags:
        """Return which values are left when a share of the weight is cut at each end, whole records only."""
        up_to = self.share()
        from_here = 1.0 - up_to + self.weights / self.total(self.weights)[self.group]
        return np.asarray((up_to > trim + EQUAL) & (from_here > trim + EQUAL))
