"""Swapping: records exchange the values of some columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.data.values import Ints, classes
from tacit.errors import Infeasible, InputError, RoleMissing, SdcError, WeakProtection
from tacit.fields import ColumnName, PositiveInt, Probability, Secret
from tacit.registry import register
from tacit.spec import Method


@register
class Swap(Method):
    """Exchange the values of some columns between records.

    Records exchange ``columns`` (by default all keys) as a unit: the listed ``pairs``; or a random
    ``share`` of the records, in disjoint random pairs; or, with neither, every record in such a way that
    none keeps its own values, which is the unit swap behind wrong-map protection. ``within`` restricts
    exchanges to records that agree on those columns, so that tables which involve only ``within`` and
    the swapped columns stay exact.

    References
    ----------
    Dalenius, Reiss (1982), Data-swapping: a technique for disclosure control, JSPI 6, 73-85.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, sections 4.1 and 5.
    """

    kind: Literal["swap"] = "swap"
    columns: tuple[ColumnName, ...] = Field(
        (), description="the columns exchanged together; by default all keys"
    )
    pairs: tuple[tuple[PositiveInt, PositiveInt], ...] = Secret(
        (), description="pairs of record numbers, counted from 1, that exchange values"
    )
    share: Probability | None = Secret(
        None, description="share of the records that take part in random pairs"
    )
    within: tuple[ColumnName, ...] = Field(
        (), description="exchange only between records that agree on these columns"
    )

    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("swap values",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["job"], "share": 0.5}

    @model_validator(mode="after")
    def _consistent(self) -> Swap:
        if self.pairs and self.share is not None:
            raise ValueError("give pairs or share, not both")
        listed = [record for pair in self.pairs for record in pair]
        if len(set(listed)) < len(listed):
            raise ValueError("pairs must not name a record twice")
        if set(self.columns) & set(self.within):
            raise ValueError("within must not hold a column that is exchanged")
        return self

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns exchanged and those that must agree."""
        return (*self.columns, *self.within)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns exchanged."""
        return self.columns or tuple(c for c in data.keys if c not in self.within)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to exchange, records that do not exist, too few records for the unit swap."""
        found = super().faults(data)
        if not self.targets(data):
            found.append(
                RoleMissing(
                    "swap: no keys are declared. Declare them with tacit.read(..., keys=[...]) or name columns."
                )
            )
        n = len(data)
        if self.pairs and max(max(p) for p in self.pairs) > n:
            found.append(InputError("swap: a pair names a record number beyond the last record"))
        if self.unit and 0 < n <= 2:
            found.append(
                Infeasible(
                    "swap: with one or two records the owner of swapped values is plain; the unit swap needs at least three"
                )
            )
        return found

    @property
    def unit(self) -> bool:
        """Return True for the swap that leaves no record its own values."""
        return not self.pairs and self.share is None

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        columns = self.targets(data)
        source = self.sources(data, columns, ctx.rng)
        table = data.to_arrow(columns)
        ctx.note(columns=list(columns), within=list(self.within), unit=self.unit)
        return data.replace({c: table.column(c).take(pa.array(source)) for c in columns})

    def sources(self, data: Microdata, columns: Sequence[str], rng: np.random.Generator) -> Ints:
        """Return, for each record, the record whose values it gets."""
        groups, _ = classes(data, self.within)
        if self.pairs:
            first, second = (
                np.array(side, dtype=np.int64) - 1 for side in zip(*self.pairs, strict=True)
            )
            if np.any(groups[first] != groups[second]):
                raise InputError("swap: a pair joins records that differ on the 'within' columns")
            return exchanged(len(groups), first, second)
        if self.share is not None:
            wanted = int(np.floor(self.share * len(groups) / 2 + 0.5))
            first, second = random_pairs(groups, wanted, rng)
            if len(first) < wanted:
                warnings.warn(
                    "swap: fewer records than asked could be paired within their classes",
                    WeakProtection,
                    stacklevel=4,
                )
            return exchanged(len(groups), first, second)
        values, _ = classes(data, columns)
        return deranged(values, groups, rng)


def exchanged(n: int, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> Ints:
    """Return the record order 0 .. n-1 with pairs exchanged."""
    source = np.arange(n, dtype=np.int64)
    source[first], source[second] = second, first
    return source


def random_pairs(groups: Ints, wanted: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return at most ``wanted`` disjoint random pairs of records of the same group."""
    order = np.lexsort((rng.random(len(groups)), groups)).astype(np.int64)
    rank = rank_in_group(groups[order])
    # A pair is an even place in a group and the next one.
    even = np.flatnonzero((rank[:-1] % 2 == 0) & (groups[order][:-1] == groups[order][1:]))
    picked = rng.permutation(even)[:wanted]
    return order[picked], order[picked + 1]


def rank_in_group(ordered: Ints) -> Ints:
    """Return 0, 1, ... within each run of equal numbers."""
    n = len(ordered)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, n])
    return np.arange(n, dtype=np.int64) - np.repeat(starts, lengths)


def deranged(values: Ints, groups: Ints, rng: np.random.Generator) -> Ints:
    """Return a source for each record, in its group, such that none gets a value equal to its own.

    In each group the records are put in random order, equal values side by side, and turned round by at
    least the size of the largest set of equal values; that works if and only if no value is held by more
    than half of the group.
    """
    n = len(values)
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    shuffled_values = rng.permutation(int(values.max()) + 1)[values]
    order = np.lexsort((rng.random(n), shuffled_values, groups)).astype(np.int64)
    g, v = groups[order], values[order]
    run = np.cumsum(np.r_[False, (g[1:] != g[:-1]) | (v[1:] != v[:-1])])
    size = np.bincount(g)
    largest = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(largest, g, np.bincount(run)[run])
    occurring = size > 0
    if np.any(2 * largest[occurring] > size[occurring]):
        raise Infeasible(
            "swap: in some class more than half of the records hold the same values, so not every record "
            "can get others. Exchange more columns together, or widen 'within'."
        )
    shift = largest + np.floor(rng.random(len(size)) * (size - 2 * largest + 1)).astype(np.int64)
    rank = rank_in_group(g)
    start = np.arange(n) - rank
    source = np.empty(n, dtype=np.int64)
    source[order] = order[start + (rank + shift[g]) % size[g]]
    return source
