"""Cuts of the pairing program: sets of points of which a fractional solution puts too many into groups."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.microaggregation.grouping.near import connected_parts

Points = tuple[int, ...]

#: The largest set cut off.
LARGEST = 15
#: A variable or a cut counts as fractional or broken from here.
FRACTION = 1e-6


class Shares:
    """How much of each point and pair of points a fractional solution puts into one group: groups, and how often."""

    def __init__(self, groups: Ints, x: Floats) -> None:
        self.groups, self.x = groups, x
        self.alone: dict[int, float] = defaultdict(float)
        self.together: dict[tuple[int, int], float] = defaultdict(float)
        self.three: dict[Points, float] = defaultdict(float)
        self.beside: dict[int, set[int]] = defaultdict(set)
        for group, share in zip(groups.tolist(), x.tolist(), strict=True):
            self.add([v for v in group if v >= 0], share)

    def add(self, members: list[int], share: float) -> None:
        """Count one group."""
        points = sorted(set(members))
        for a, b in itertools.combinations(points, 2):
            self.beside[a].add(b)
            self.beside[b].add(a)
        if len(points) < len(members):
            self.alone[max(points, key=members.count)] += share
            return
        for two in itertools.combinations(points, 2):
            self.together[two] += share
        if len(points) == 3:
            self.three[tuple(points)] += share

    def held(self, points: Points) -> float:
        """Return how many groups hold two or more records of up to three points."""
        total = sum(self.alone[v] for v in points)
        total += sum(self.together[two] for two in itertools.combinations(points, 2))
        return total - 2.0 * self.three[points] if len(points) == 3 else total

    def held_by(self, points: set[int]) -> float:
        """Return how many groups hold two or more records of any number of points."""
        return float(self.x[np.isin(self.groups, list(points)).sum(axis=1) >= 2].sum())


def broken_cuts(groups: Ints, x: Floats, m: Ints, known: set[Points]) -> list[Points]:
    """Return sets of points whose cut a solution breaks.

    All sets of up to three points that share groups with a fractional one are looked at; where no new
    one is broken, larger sets are grown around each point.
    """
    loose = np.abs(x - np.rint(x)) > FRACTION
    if not loose.any():
        return []
    touched = np.zeros(len(m) + 1, dtype=np.bool_)
    touched[groups[loose]] = True
    touched[-1] = False
    used = (x > FRACTION) & touched[groups].any(axis=1)
    shares = Shares(groups[used], x[used])
    seeds = np.flatnonzero(touched).tolist()
    found = set()
    for seed in seeds:
        others = sorted(shares.beside[seed])
        for points in itertools.chain(
            [(seed,)],
            (tuple(sorted((seed, b))) for b in others),
            (tuple(sorted((seed, b, c))) for b, c in itertools.combinations(others, 2)),
        ):
            size = int(sum(m[v] for v in points))
            if size % 2 and shares.held(points) > (size - 1) // 2 + FRACTION:
                found.add(points)
    found -= known
    if not found:
        for seed in seeds:
            found |= grow_broken_sets(shares, seed, m)
        found |= find_broken_components(shares, m)
        found -= known
    return sorted(found)


def find_broken_components(shares: Shares, m: Ints) -> set[Points]:
    """Return sets whose cut is broken among the parts that strong enough shares connect."""
    found = set()
    pairs = np.array(list(shares.together), dtype=np.int64).reshape(-1, 2)
    weight = np.array(list(shares.together.values()))
    for least in (0.0, 0.25, 0.5):
        at = pairs[weight > least + FRACTION]
        part = connected_parts(len(m), at)
        for label in np.unique(part[at]):
            points = np.flatnonzero(part == label)
            size = int(m[points].sum())
            if size % 2 and shares.held_by(set(points.tolist())) > (size - 1) // 2 + FRACTION:
                found.add(tuple(points.tolist()))
    return found


def grow_broken_sets(shares: Shares, seed: int, m: Ints) -> set[Points]:
    """Return larger sets whose cut is broken, grown by the point that shares most with the set."""
    found = set()
    points = {seed}
    pull: dict[int, float] = defaultdict(float)
    newest = seed
    while len(points) < LARGEST:
        for b in shares.beside[newest] - points:
            pull[b] += shares.together[min(newest, b), max(newest, b)]
        if not pull:
            break
        newest = max(sorted(pull), key=pull.__getitem__)
        del pull[newest]
        points.add(newest)
        size = int(sum(m[v] for v in points))
        if size % 2 and shares.held_by(points) > (size - 1) // 2 + FRACTION:
            found.add(tuple(sorted(points)))
    return found
