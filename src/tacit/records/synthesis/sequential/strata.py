"""Random draws within strata: the value of any original record of the same class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.records.synthesis.sequential.variables import Values, Variable

Given = Sequence[tuple[Variable, Values]]


@dataclass(frozen=True)
class Strata:
    """Donors sorted by class.

    Attributes
    ----------
    names, seen
        The columns whose classes are the strata, and the sorted values that each has in the original.
    classes
        The numbers of the classes, ascending.
    donors, start, count
        The donors sorted by class, where each class begins and how many it has; the last entry is the whole file.
    """

    names: tuple[str, ...]
    seen: tuple[Floats, ...]
    classes: Ints
    donors: Values
    start: Ints
    count: Ints

    def draw(self, given: Given, rng: np.random.Generator) -> Values:
        """Return values of random donors of the same class; of the whole file where the class is new."""
        number = number_classes(given, self.names, self.seen)
        at = np.minimum(np.searchsorted(self.classes, number), len(self.classes) - 1)
        at = np.where(self.classes[at] == number, at, len(self.classes))
        place = self.start[at] + np.floor(rng.random(len(at)) * self.count[at]).astype(np.int64)
        return self.donors.take(place)


def fit_strata(target: Values, given: Given, within: Sequence[str]) -> Strata:
    """Return the donors by class of some of the predictors."""
    picked = [(v, x) for v, x in given if v.name in within]
    names = tuple(dict.fromkeys(v.name for v, _ in picked))
    seen = tuple(np.unique(x.keys()) for v, x in picked[: len(names)])
    number = number_classes(given, names, seen)
    order = np.argsort(number, kind="stable")
    classes, start, count = np.unique(number[order], return_index=True, return_counts=True)
    return Strata(
        names,
        seen,
        classes,
        target.take(order),
        np.append(start, 0),
        np.append(count, len(target)),
    )


def number_classes(given: Given, names: Sequence[str], seen: Sequence[Floats]) -> Ints:
    """Return the number of each record's class; -1 where a value was never seen."""
    number = np.zeros(len(given[0][1]), dtype=np.int64)
    new = np.zeros(len(number), dtype=bool)
    for name, known in zip(names, seen, strict=True):
        values = next(x for v, x in given if v.name == name).keys()
        at = np.minimum(np.searchsorted(known, values), len(known) - 1)
        new |= known[at] != values
        number = number * (len(known) + 1) + at
    return np.where(new, -1, number)
