"""Systematic samples: which units are taken, how they pair up, and the variance of what is estimated from them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.arrays import Flags, Floats, Ints

#: Intervals are fractions with a denominator up to this, so that places are computed in whole numbers.
FINEST = 1_000_000


def as_interval(value: float) -> Fraction:
    """Return an interval as the nearest fraction with a denominator up to a million: 7.5 is 15/2."""
    return Fraction(value).limit_denominator(FINEST)


@dataclass(frozen=True)
class Systematic:
    """Every ``steps / parts``-th of units numbered 1, 2, ...: those numbered ceil((start + j steps) / parts).

    A real start u in (0, interval] takes the same units as ceil(u parts) / parts, because j steps is whole; so whole
    numbers lose nothing, and a start drawn from 1 .. steps is a real one drawn uniformly.
    """

    #: The interval as a fraction in lowest terms.
    steps: int
    parts: int
    #: Start times parts, 1 .. steps; one number, or one for each class.
    start: int | Ints

    @classmethod
    def of(cls, interval: Fraction, start: float | Fraction) -> Systematic:
        """Return the sample with an interval and a real start in (0, interval]."""
        at = -((-Fraction(start) * interval.denominator) // 1)
        return cls(interval.numerator, interval.denominator, int(at))

    @property
    def interval(self) -> float:
        """Return the interval, which is the weight of a sampled unit."""
        return self.steps / self.parts

    def counted(self, number: Any, start: Any = None) -> Any:
        """Return how many of the units 1 .. number are taken."""
        ahead = np.asarray(number) * self.parts - (self.start if start is None else start)
        return np.where(ahead >= 0, ahead // self.steps + 1, 0)

    def takes(self, number: Any, start: Any = None) -> Flags:
        """Return which units are taken."""
        found = np.asarray(number)
        return np.asarray(self.counted(found, start) > self.counted(found - 1, start))


@dataclass(frozen=True)
class PseudoStrata:
    """Groups of consecutive sampled units, formed within classes: where each class's units go."""

    #: For each class: sampled units of its own collapsed class that come before it.
    before: Ints
    #: For each class: the first group of its collapsed class, and how many groups that has.
    first: Ints
    groups: Ints
    #: Number of groups.
    total: int
    #: Units in a group.
    size: int

    @classmethod
    def of(cls, sampled: Ints, size: int) -> PseudoStrata:
        """Group the sampled units of classes in order; neighbouring classes with one unit each are taken together.

        The last group of a class joins the one before it when it is a single unit; a class that is left with one unit
        joins the group before it, or the one after it at the beginning.
        """
        filled = np.flatnonzero(sampled)
        lone = sampled[filled] == 1
        opens = np.ones(len(filled), dtype=bool)
        opens[1:] = ~(lone[1:] & lone[:-1])
        unit = np.cumsum(opens) - 1
        n = np.bincount(unit, sampled[filled]).astype(np.int64) if len(filled) else unit
        groups = np.where(n > 1, -(-n // size) - ((n % size == 1) & (n > size)), 0)
        start = np.cumsum(groups) - groups
        first = np.where(groups > 0, start, np.maximum(start - 1, 0))
        ahead = np.cumsum(sampled[filled]) - sampled[filled]
        opening = ahead[opens][unit] if len(filled) else ahead
        full = [np.zeros(len(sampled), dtype=np.int64) for _ in range(3)]
        for target, values in zip(
            full, (ahead - opening, first[unit], np.maximum(groups, 1)[unit]), strict=True
        ):
            target[filled] = values
        return cls(full[0], full[1], full[2], max(int(groups.sum()), 1), size)

    def place(self, classes: Ints, rank: Ints) -> Ints:
        """Return the group of units given by class and rank (0, 1, ...) among the sampled of their class."""
        own = (rank + self.before[classes]) // self.size
        return np.asarray(self.first[classes] + np.minimum(own, self.groups[classes] - 1))


def successive_difference_variance(y: Floats, fraction: float = 0.0) -> float:
    """Return the variance of the mean of a systematic sample, from units in the order of selection.

    v = (1 - f) / n * sum (y_i - y_(i+1))^2 / (2 (n - 1)).

    References
    ----------
    Wolter (2007), Introduction to Variance Estimation, 2nd edition, Springer, section 8.2, estimator v_2.
    """
    n = len(y)
    if n < 2:
        return float("nan")
    return float((1 - fraction) / n * np.square(np.diff(y)).sum() / (2 * (n - 1)))


def simple_variance(y: Floats, fraction: float = 0.0) -> float:
    """Return the variance that the mean would have in a simple random sample: (1 - f) s^2 / n."""
    return float((1 - fraction) * np.var(y, ddof=1) / len(y)) if len(y) > 1 else float("nan")


def stratified_variance(z: Floats, stratum: Ints, fraction: float = 0.0) -> float:
    """Return the variance of a total of linearised values over strata: (1 - f) sum n_h / (n_h - 1) sum (z - mean_h)^2.

    A stratum with one unit adds nothing, as in ``lonely.psu = "remove"``.
    """
    _, of = np.unique(stratum, return_inverse=True)
    n = np.bincount(of)
    mean = np.bincount(of, z) / n
    scatter = np.bincount(of, np.square(z - mean[of]))
    several = n > 1
    return float((1 - fraction) * (scatter[several] * n[several] / (n[several] - 1)).sum())


def linearise_ratio(y: Floats, x: Floats) -> tuple[float, Floats]:
    """Return the ratio R = sum y / sum x of unit totals, and z = (y - R x) / sum x, whose total varies as R does."""
    whole = float(x.sum())
    ratio = float(y.sum()) / whole if whole else float("nan")
    return ratio, (y - ratio * x) / whole if whole else np.full(len(y), np.nan)
