"""Which records the sums of a model are about: how many numbers each round shows of every group of records that is told apart.

The sums of a model are those of products of two columns of its design, under the weights of a round. A product is 0 outside of the
categories that it names, and where a column of numbers in it is 0: such sums are equations about the records inside alone, and a small
group is solved from them though the whole file is not. Without weights, as in a linear model, sums of one column and of its squares are
equations about this column alone, and are counted against its values alone. By subtracting multiples of other sums the same holds of any value that a
column has often, in place of 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.private.regression.design import Formula

#: Unknown numbers that there must be for every number shown.
MARGIN = 1.25


@dataclass(frozen=True)
class Product:
    """A column of the design, or the product of two: the categories in which it is not 0, and the columns of numbers in it."""

    levels: frozenset[tuple[str, int]]
    numbers: tuple[str, ...]

    def times(self, other: Product) -> Product | None:
        """Return the product with another; None where it is 0 everywhere."""
        levels = self.levels | other.levels
        if len({name for name, _ in levels}) < len(levels):
            return None
        return Product(levels, tuple(sorted(self.numbers + other.numbers)))

    @property
    def support(self) -> frozenset[str]:
        """Return the columns that tell where it is not 0."""
        return frozenset({name for name, _ in self.levels} | set(self.numbers))

    def is_about(self, group: frozenset[str]) -> bool:
        """Return True when it is about nobody outside of the second level of these categories, or of what is not 0 there."""
        inside = {name for name, level in self.levels if level == 1} | set(self.numbers)
        return group <= inside


@dataclass(frozen=True)
class Group:
    """Records that are told apart by some columns: how many numbers a round shows of them alone, and what is unknown of each."""

    columns: tuple[str, ...]
    #: The cell of every record; -1 for a record that is in none.
    cells: Ints
    n_cells: int
    #: How many numbers of each record are unknown.
    unknown: Ints
    shown: int

    def rounds_hidden(self, parts: int, steps: Ints | None = None, n_steps: int = 1) -> Ints:
        """Return how many rounds the records of each cell (and step) hide, in parts of a round, rounded down; 1 for any records at all."""
        inside = self.cells >= 0
        place = self.cells if steps is None else steps * self.n_cells + self.cells
        size = self.n_cells * n_steps
        unknown = np.bincount(place[inside], self.unknown[inside], minlength=size)
        records = np.bincount(place[inside], minlength=size)
        hidden = np.floor(unknown * parts / (MARGIN * self.shown)).astype(np.int64)
        return np.maximum(hidden, np.minimum(records, 1))


def design_products(formula: Formula, levels: Mapping[str, int]) -> list[Product]:
    """Return the columns of a design; ``levels`` says of each category how many it has."""
    columns = [Product(frozenset(), ())] if formula.intercept else []
    for term in formula.terms:
        names = [c for c, _ in term]
        numbers = tuple(sorted(c for c in names if c not in levels))
        chosen = [[(c, k) for k in range(1, levels[c])] for c in names if c in levels]
        columns += [Product(frozenset(each), numbers) for each in itertools.product(*chosen)]
    return columns


def sums_shown(
    columns: Sequence[Product], *, response: str | None, slopes: bool, hazards: bool
) -> list[Product]:
    """Return what every round shows: the different products of columns, and those with the response.

    ``response`` names a response that is a column of numbers, whose products with the columns are shown; otherwise ``slopes`` counts each
    column once more. In a Cox model (``hazards``) the columns themselves are shown too, in every step.
    """
    every = [*columns, Product(frozenset(), ())] if hazards else list(columns)
    if response is not None:
        every.append(Product(frozenset(), (response,)))
    found = {a.times(b) for a, b in itertools.combinations_with_replacement(every, 2)}
    shown = [p for p in found if p is not None]
    return shown + (list(columns) if slopes and response is None else [])


def make_groups(
    shown: Sequence[Product],
    factors: Mapping[str, tuple[Ints, int]],
    numbers: Mapping[str, Floats],
    unknown: Mapping[str, Flags],
    times: int = 1,
    more: int = 0,
    *,
    weighted: bool = True,
) -> tuple[Group, ...]:
    """Return the groups of records that sums are about, with this party's records in them.

    ``factors`` holds codes and number of levels of each category, ``numbers`` the columns of numbers, and ``unknown`` which values
    of these nobody knows. Each sum is shown ``times`` times, and ``more`` numbers are shown of all records. Sums that are
    not ``weighted`` by what depends on all columns are judged column by column too.
    """
    usual = {name: values != most_frequent(values) for name, values in numbers.items()}
    open_values = np.column_stack([unknown[c] for c in numbers]).sum(1, dtype=np.int64)
    n = len(open_values)
    groups = []
    for support in sorted({p.support for p in shown} | {frozenset()}, key=sorted):
        chosen = [c for c in factors if c in support]
        shape = tuple(factors[c][1] for c in chosen)
        cells = np.zeros(n, np.int64)
        if chosen:
            cells = np.ravel_multi_index([factors[c][0] for c in chosen], shape).astype(np.int64)
        inside = np.ones(n, bool)
        for c in support & usual.keys():
            inside &= usual[c]
        equations = times * sum(p.is_about(support) for p in shown) + (0 if support else more)
        placed, n_cells = np.where(inside, cells, -1), math.prod(shape)
        named = tuple(sorted(support))
        groups.append(Group(named, placed, n_cells, open_values, max(1, equations)))
        for c in () if weighted else numbers:
            alone = sum(p.is_about(support) and {*p.numbers} == {c} for p in shown)
            if alone:
                own = unknown[c].astype(np.int64)
                groups.append(Group(named, placed, n_cells, own, alone))
    return tuple(groups)


def most_frequent(values: Floats) -> float:
    """Return the value that occurs most often, the smallest of several."""
    different, counts = np.unique(values, return_counts=True)
    return float(different[counts.argmax()]) if len(different) else 0.0
