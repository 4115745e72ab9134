"""Occupied cells on a lattice: which cells lie near another one, and what stands in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from tacit.arrays import Flags, Floats, Ints

#: Cells of a box around a centre at most.
MOST = 1_000_000
#: How far offsets lie from the centre; rows are offsets, in lengths of steps.
Metric = Callable[[Floats], Floats]
#: Metrics by name; those of users are added.
METRICS: dict[str, Metric] = {
    "sum": lambda offsets: np.abs(offsets).sum(axis=1),
    "euclidean": lambda offsets: np.sqrt((offsets**2).sum(axis=1)),
}
OWN = tuple(METRICS)


def name_metric(name: str) -> Callable[[Metric], Metric]:
    """Give a metric of your own a name, under which Specs and plans of this process find it.

    The function takes offsets from a centre, one row each and one column per ordinal key, and returns their distances.
    """
    if not name or name in OWN:
        raise ValueError(f"the name of a metric is a word of your own, not {' or '.join(OWN)}")

    def keep(function: Metric) -> Metric:
        METRICS[name] = function
        return function

    return keep


def neighbourhood(
    varied: int, c: float, d: float | None, steps: Sequence[float] = (), metric: str = "sum"
) -> Ints:
    """Return the offsets with no coordinate longer than c and, if d is given, a distance of at most d.

    ``steps`` holds the length of one step along each axis; by default 1.
    """
    lengths = np.array(steps or (1.0,) * varied)
    sides = [range(-m, m + 1) for m in (int(c / s * (1 + 1e-12)) for s in lengths)]
    if math.prod(len(side) for side in sides) > MOST:
        raise OverflowError
    offsets = np.array(list(product(*sides)), dtype=np.int64)
    if d is None:
        return offsets
    far = measure_offsets(offsets * lengths, metric)
    return offsets[far <= d * (1 + 1e-12)]


def measure_offsets(offsets: Floats, metric: str) -> Floats:
    """Return the distances of offsets, if they are those of a metric: one each, 0 at the centre, the same both ways."""
    far = np.asarray(METRICS[metric](offsets), dtype=np.float64)
    if far.shape != (len(offsets),):
        raise ValueError("one distance for each offset")
    # Offsets stand in ascending order, so that the opposite of the first is the last.
    if not (far >= 0).all() or far[len(far) // 2] != 0 or not np.allclose(far, far[::-1]):
        raise ValueError("distances from 0 up, 0 at the centre and the same both ways")
    return far


@dataclass(frozen=True)
class Rule:
    """Cells that cannot be occupied: in some groups, at some places of each axis (all of them for None)."""

    groups: Flags
    places: tuple[Ints | None, ...]

    def names(self, groups: Ints, around: Ints) -> Flags:
        """Return which cells the rule names; ``around`` has the place of each on the last axis."""
        found = np.broadcast_to(self.groups[groups], around.shape[:-1])
        for axis, listed in enumerate(self.places):
            if listed is not None:
                found = found & np.isin(around[..., axis], listed)
        return found


@dataclass(frozen=True)
class Lattice:
    """Occupied cells at whole places on some axes, within groups that are equal on all other keys.

    ``places`` has one row per cell and one column per axis, from 0; ``n`` is the count of a cell and ``fraction`` its
    sampling fraction, where fractions differ: an empty cell has that of its group. ``impossible`` are rules on cells that
    cannot be occupied.
    """

    places: Ints
    group: Ints
    n: Ints
    fraction: Floats | None = None
    impossible: tuple[Rule, ...] = ()

    def index(self, reach: int) -> Index:
        """Return an index of the cells for neighbourhoods that reach so far."""
        top = self.places.max(axis=0)
        # Room at the edges keeps the rows of the grid apart.
        sizes = tuple(int(t) + 1 + 2 * reach for t in top)
        if (int(self.group.max()) + 1) * math.prod(sizes) >= 1 << 62:
            raise OverflowError
        numbers = number_places(self.group, self.places, sizes, reach)
        order = np.argsort(numbers, kind="stable")
        logs = of_group = None
        if self.fraction is not None:
            logs = np.log(self.fraction)[order]
            people = np.bincount(self.group, weights=self.n / self.fraction)
            records = np.bincount(self.group, weights=self.n)
            # A group may be left without records by a jackknife; nothing is fitted there then.
            share = np.divide(records, people, out=np.ones_like(people), where=records > 0)
            of_group = np.log(share)
        return Index(
            numbers[order], self.n[order], sizes, reach, top, self.impossible, logs, of_group
        )


@dataclass(frozen=True)
class Index:
    """Occupied cells by number, ascending."""

    numbers: Ints
    n: Ints
    sizes: tuple[int, ...]
    reach: int
    top: Ints
    impossible: tuple[Rule, ...] = ()
    logs: Floats | None = None
    of_group: Floats | None = None

    def gather(
        self, centres: Ints, groups: Ints, offsets: Ints, *, outside: str
    ) -> tuple[Ints, Floats]:
        """Return the counts around some centres, one row each, and what is added to the logs of their means.

        A count of -1 marks a cell that is left out.
        """
        around = centres[:, None, :] + offsets[None, :, :]
        wanted = number_places(groups[:, None], around, self.sizes, self.reach)
        found = np.searchsorted(self.numbers, wanted)
        found[found == len(self.numbers)] = 0
        known = self.numbers[found] == wanted
        counts = np.where(known, self.n[found], 0)
        if outside == "drop":
            counts[((around < 0) | (around > self.top)).any(axis=-1)] = -1
        for rule in self.impossible:
            counts[rule.names(groups[:, None], around)] = -1
        if self.logs is None or self.of_group is None:
            return counts, np.zeros((1, len(offsets)))
        logs = np.where(known, self.logs[found], self.of_group[groups][:, None])
        middle = int(np.flatnonzero((offsets == 0).all(axis=1))[0])
        return counts, logs - logs[:, middle][:, None]


def number_places(group: Ints, places: Ints, sizes: tuple[int, ...], reach: int) -> Ints:
    """Return one number for group and place."""
    numbers = group
    for axis, size in enumerate(sizes):
        numbers = numbers * size + places[..., axis] + reach
    return numbers
