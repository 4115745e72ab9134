"""Numeric keys cut at their medians: the intervals of Mondrian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints


@dataclass(frozen=True)
class Numbers:
    """A numeric key that is cut where its records are.

    Attributes
    ----------
    rank
        For each row the rank of its value among the values of the data; -1 where it is missing.
    values
        The values of the data, ascending.
    domain
        The ground values of the hierarchy, ascending.
    ties
        Whether records with the median value may go to either side.
    """

    rank: Ints
    values: Floats
    domain: Floats
    ties: bool = False

    def cut(self, group: Ints, size: Floats, is_open: Flags) -> tuple[Ints, Flags]:
        """Return the side of each row, and the classes that can be cut.

        Missing values go apart first. The cut lies between two different values, as near as possible to
        half the records; with ``ties`` it lies at half the records.
        """
        count = len(is_open)
        low, high = self.ends(group, count)
        mixed = (low < 0) & (high >= 0)
        allowed = is_open & (low < high)
        side = np.where(mixed[group], (self.rank >= 0).astype(np.int64), 0)
        rows = np.flatnonzero((allowed & ~mixed)[group])
        if len(rows):
            order = rows[np.lexsort([self.rank[rows], group[rows]])]
            side[order] = self.halves(group[order], self.rank[order], size[order])
        return side, allowed

    def halves(self, group: Ints, rank: Ints, size: Floats) -> Ints:
        """Return the side of each row; rows ascend by class and rank."""
        run = np.cumsum(size)
        begins = np.flatnonzero(np.diff(group, prepend=-1))
        of_class = np.cumsum(np.diff(group, prepend=-1) != 0) - 1
        before = run[begins] - size[begins]
        ends = np.append(begins[1:], len(group)) - 1
        total = run[ends] - before
        done = run - before[of_class]
        last = np.append((np.diff(group) != 0) | (np.diff(rank) != 0), True)
        if self.ties:
            last = np.ones(len(group), dtype=bool)
        last[ends] = False
        off = np.where(last, np.abs(done - total[of_class] / 2), np.inf)
        least = np.minimum.reduceat(off, begins)
        # The first place of those that divide best.
        places = np.flatnonzero(off == least[of_class])
        first = places[np.unique(of_class[places], return_index=True)[1]]
        return (np.arange(len(group)) > first[of_class]).astype(np.int64)

    def ends(self, group: Ints, count: int) -> tuple[Ints, Ints]:
        """Return the lowest and highest rank of each class."""
        low = np.full(count, len(self.values), dtype=np.int64)
        high = np.full(count, -1, dtype=np.int64)
        np.minimum.at(low, group, self.rank)
        np.maximum.at(high, group, self.rank)
        return low, high

    def leaves(self, low: Ints, high: Ints) -> Ints:
        """Return how many ground values lie between two ranks, ends included; all of them with a missing value."""
        known = np.maximum(low, 0)
        first = np.searchsorted(self.domain, self.values[known], side="left")
        after = np.searchsorted(self.domain, self.values[np.maximum(high, 0)], side="right")
        found = np.where(low < 0, np.where(high < 0, 1, len(self.domain)), after - first)
        return found.astype(np.int64)

    def width(self, group: Ints, count: int) -> Floats:
        """Return the share of the ground values that each class spans."""
        low, high = self.ends(group, count)
        return np.asarray((self.leaves(low, high) - 1) / max(len(self.domain) - 1, 1))
