"""Microaggregation of numbers and categories together."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tacit.arrays import Flags, Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.block import Block, format_columns
from tacit.data.hierarchy import ground_label
from tacit.data.in_blocks import units_in_memory
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import Numbers, as_numbers, classes
from tacit.engine.codes import Coded
from tacit.errors import ColumnNotFound, Infeasible, InputError, LowUtility, RoleMissing, SdcError
from tacit.fields import (
    ColumnName,
    ColumnNames,
    GroupedUnit,
    GroupedWithin,
    PositiveFloat,
    RefuseOrKeep,
    RoundMasked,
    WeightedAggregates,
)
from tacit.records.microaggregation.base import (
    one_per_household,
    refuse_few,
    run_jobs,
    shared_claim,
    shared_faults,
)
from tacit.records.microaggregation.grouping.aggregates import aggregate, group_medians, group_modes
from tacit.records.microaggregation.grouping.gower import Mixed, mdav_gower
from tacit.records.microaggregation.grouping.loss import group_sizes, number_through, parts_of
from tacit.registry import register
from tacit.spec import Method
from tacit.treatment import OnHousehold


@register
class MicroaggregateMixed(Method):
    """Replace numbers and categories by those typical of a group of at least k similar records.

    Groups are formed by MDAV with Gower's distance: the weighted mean over the columns of |a - b| / range
    for numbers, of the difference in ranks over its largest value for ordered categories, and of 0 or 1 for
    equal or different nominal categories. In each group a number becomes the mean (or median), an ordered
    category the lower median, a nominal category the most frequent one. Every combination of values on the
    masked columns is then shared by at least k records. With categories alone this is microaggregation of
    categorical data.

    Numeric columns are numbers unless listed under ``ordered`` or ``nominal``; all others are nominal unless
    listed under ``ordered``.

    References
    ----------
    Domingo-Ferrer, Torra (2005), Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation, Data Mining and Knowledge Discovery 11, 195-212.
    Gower (1971), A general coefficient of similarity and some of its properties, Biometrics 27, 857-871.
    Torra (2004), Microaggregation for categorical variables: a median based approach, PSD 2004, LNCS 3050,
    162-174.
    """

    kind: Literal["microaggregate_mixed"] = "microaggregate_mixed"
    columns: ColumnNames | None = Field(
        default=None, description="the columns to mask together; by default the keys"
    )
    k: int = Field(default=3, ge=2, description="smallest number of records in a group")
    ordered: Mapping[ColumnName, tuple[str, ...]] = Field(
        default_factory=dict,
        description="columns of ordered categories, with their levels from low to high; no levels means the order of the column's hierarchy, or of its values",
    )
    nominal: tuple[ColumnName, ...] = Field(
        default=(), description="numeric columns whose numbers are names of categories"
    )
    importance: Mapping[ColumnName, PositiveFloat] = Field(
        default_factory=dict, description="how much a column counts in the distance; 1 by default"
    )
    aggregate: Literal["mean", "median"] = Field(
        default="mean", description="what replaces the numbers of a group"
    )
    ties: Literal["first", "random"] = Field(
        default="first",
        description="which of several most frequent categories is taken: the first in ascending order, or one at random",
    )
    by: GroupedWithin = ()
    weighted: WeightedAggregates = False
    unit: GroupedUnit = "record"
    missing: RefuseOrKeep = "refuse"
    whole: RoundMasked = False

    on_weight = "option"
    on_stratum = "by"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("microaggregation",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["sex", "age", "job", "income"]}
    column_fields = ("columns", "by")

    @model_validator(mode="after")
    def _consistent(self) -> MicroaggregateMixed:
        both = set(self.ordered) & set(self.nominal)
        if both:
            raise ValueError(f"{format_columns(sorted(both))} cannot be both ordered and nominal")
        twice = [c for c, levels in self.ordered.items() if len(set(levels)) < len(levels)]
        if twice:
            raise ValueError(
                f"ordered: the levels of {format_columns(twice)} must differ from each other"
            )
        return self

    # -- checks ------------------------------------------------------------------------------

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return whether households are the units."""
        del data
        return "units" if self.unit == "household" else "apart"

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns masked."""
        return self.columns or data.keys

    @property
    def uses_chance(self) -> bool:
        """Return True when ties are broken at random."""
        return self.ties == "random"

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: nothing to mask, options about columns that are not masked, roles that are not declared."""
        found = super().faults(data)
        if found:
            return found
        targets = self.targets(data)
        if not targets:
            found.append(RoleMissing(f"{self.kind}: name columns, or declare keys"))
        stray = {*self.ordered, *self.nominal, *self.importance} - set(targets)
        if stray:
            found.append(ColumnNotFound(sorted(stray), list(targets), "the masked columns"))
        return [*found, *shared_faults(self, data, targets)]

    # -- the work ----------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        columns = [self.read(data, name) for name in self.targets(data)]
        self.refuse(columns)
        complete = np.all([c.known for c in columns], axis=0)
        if not complete.any():
            return data
        strata = classes(data, self.by)[0]
        first, member = self.units(data, columns, strata, complete)
        labels = self.partition(columns, strata, first, ctx)
        weights = self.unit_weights(data, complete, member)
        rng = ctx.rng if self.ties == "random" else None
        typical = [
            c.compute_typical(first, labels, weights, self.aggregate, rng)[labels] for c in columns
        ]
        self.tell(columns, first, typical, labels, ctx)
        return data.replace(
            {
                c.name: c.released(new[member], complete, whole=self.whole)
                for c, new in zip(columns, typical, strict=True)
            }
        )

    def read(self, data: Microdata, name: str) -> MixedColumn:
        """Return a masked column; categories become ranks or codes 0, 1, ..."""
        apart = name in self.ordered or name in self.nominal
        if data.frame.collect_schema()[name].is_numeric() and not apart:
            numbers = as_numbers(data.column(name), name)
            return MixedColumn(
                name, "number", numbers.values.astype(np.float64), numbers.known, numbers
            )
        coded = data.codes(name)
        rank = self.ranks(data, name, coded)
        at = np.minimum(coded.codes, max(len(rank) - 1, 0)).astype(np.int64)
        values = rank[at] if len(rank) else at
        what: Kind = "ordered" if name in self.ordered else "nominal"
        return MixedColumn(
            name, what, values, coded.codes != coded.null, coded, np.argsort(rank, kind="stable")
        )

    def ranks(self, data: Microdata, name: str, coded: Coded) -> Ints:
        """Return the rank of each category among those that occur; nominal ones in ascending order."""
        levels = self.ordered.get(name, ())
        if not levels and name in self.ordered and name in data.hierarchies:
            levels = data.hierarchies[name].labels[0]
        if not levels:
            return np.arange(len(coded.values))
        place = {level: rank for rank, level in enumerate(levels)}
        found = [place.get(ground_label(v), -1) for v in coded.values.to_pylist()]
        if -1 in found:
            raise InputError(
                f"{self.kind}: column {name!r} holds categories that are not among its levels. List them all under ordered, from low to high."
            )
        return np.argsort(np.argsort(found, kind="stable"), kind="stable")

    def refuse(self, columns: Sequence[MixedColumn]) -> None:
        """Refuse infinite numbers, and holes when told so."""
        holed = [c.name for c in columns if not c.known.all()]
        if holed and self.missing == "refuse":
            raise InputError(
                f"{self.kind}: {format_columns(holed)} has missing values. Impute them first, or give missing='keep'."
            )
        endless = [c.name for c in columns if not np.isfinite(c.values[c.known]).all()]
        if endless:
            raise InputError(
                f"{self.kind}: {format_columns(endless)} holds infinite numbers. Clean or leave out such columns."
            )

    def units(
        self, data: Microdata, columns: Sequence[MixedColumn], strata: Ints, complete: Flags
    ) -> tuple[Ints, Ints]:
        """Return the record that stands for each unit, and the unit of each complete record."""
        there = np.flatnonzero(complete)
        if self.unit == "record":
            return there, np.arange(len(there))
        values = (v[there] for v in (*(c.values for c in columns), strata))
        at, member = one_per_household(self.kind, units_in_memory(data)[1][there], values)
        return there[at], member

    def unit_weights(self, data: Microdata, complete: Flags, member: Ints) -> Floats | None:
        """Return the weight of each unit; a household weighs what its members do on average."""
        if not self.weighted:
            return None
        weights = weights_of(data)[complete]
        if (weights <= 0).any():
            raise InputError(f"{self.kind}: weighted aggregates need weights above 0")
        return np.asarray(np.bincount(member, weights=weights) / np.bincount(member))

    def partition(
        self, columns: Sequence[MixedColumn], strata: Ints, first: Ints, ctx: Context
    ) -> Ints:
        """Return the group of each unit; strata are grouped side by side."""
        what = "records" if self.unit == "record" else "households"
        refuse_few(self, len(first))
        parts = parts_of(strata[first])
        if min(map(len, parts)) < self.k:
            raise Infeasible(
                f"{self.kind}: a class of 'by' has fewer than {self.k} complete {what}. Use fewer or coarser columns."
            )
        mixed = self.mixed(columns, first)

        def work(job: int) -> Ints:
            ctx.tick("forming groups", job / len(parts) if len(parts) > 1 else None)
            return mdav_gower(mixed.take(parts[job]), self.k, tick=ctx.tick)

        labels = number_through(len(first), parts, run_jobs(work, len(parts)))
        assert group_sizes(labels).min() >= self.k, "a group is smaller than k"
        return labels

    def mixed(self, columns: Sequence[MixedColumn], first: Ints) -> Mixed:
        """Return the units as records on which Gower's distance is a plain sum."""
        blocks, weights = [], []
        for what in ("number", "ordered", "nominal"):
            some = [c for c in columns if c.what == what]
            none = np.empty((len(first), 0))
            blocks.append(np.column_stack([none, *(c.values[first] for c in some)]))
            weights.append(np.array([self.importance.get(c.name, 1.0) for c in some]))
        numbers, ordered, nominal = blocks
        return Mixed.of(
            numbers,
            ordered.astype(np.int64),
            nominal.astype(np.int64),
            (weights[0], weights[1], weights[2]),
        )

    def tell(
        self,
        columns: Sequence[MixedColumn],
        first: Ints,
        typical: Sequence[NDArray[Any]],
        labels: Ints,
        ctx: Context,
    ) -> None:
        """Note what was done, and warn where nothing is left."""
        sizes = group_sizes(labels)
        if len(sizes) == 1:
            warnings.warn(
                f"{self.kind}: all records fall into one group, so every column becomes constant",
                LowUtility,
                stacklevel=4,
            )
        moved = {
            c.name: c.distance(c.values[first], new)
            for c, new in zip(columns, typical, strict=True)
        }
        weights = [self.importance.get(c.name, 1.0) for c in columns]
        ctx.note(
            columns=[c.name for c in columns],
            groups=len(sizes),
            smallest_group=int(sizes.min()),
            largest_group=int(sizes.max()),
            mean_distance=float(np.average(list(moved.values()), weights=weights)),
            mean_distance_by_column=moved,
        )

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        yield shared_claim(self.k, [self.targets(data)], self.missing)


Kind = Literal["number", "ordered", "nominal"]


@dataclass(frozen=True)
class MixedColumn:
    """One masked column."""

    #: Its name, and what its values are.
    name: str
    what: Kind
    #: Numbers; ranks; or codes. Anything where nothing is known.
    values: NDArray[Any]
    #: False where the value is missing.
    known: Flags
    #: The column as it was.
    source: Numbers | Coded
    #: The category's code in the source for each rank or code.
    code: Ints | None = None

    def compute_typical(
        self,
        first: Ints,
        labels: Ints,
        weights: Floats | None,
        how: Literal["mean", "median"],
        rng: np.random.Generator | None,
    ) -> NDArray[Any]:
        """Return what replaces each group's values: mean or median, middle category, or most frequent."""
        values = self.values[first]
        if self.what == "number":
            return aggregate(values[:, None], labels, how, weights=weights)[:, 0]
        if self.what == "ordered":
            return group_medians(values, labels, weights)
        return group_modes(values, labels, weights, rng)

    def distance(self, before: NDArray[Any], after: NDArray[Any]) -> float:
        """Return the mean of Gower's distance on this column."""
        if self.what == "nominal":
            return float((before != after).mean())
        range_ = float(np.ptp(before))
        return float(np.abs(after - before).mean() / range_) if range_ > 0 else 0.0

    def released(self, new: NDArray[Any], complete: Flags, *, whole: bool) -> pa.Array:
        """Return the column with the complete records' values replaced."""
        if isinstance(self.source, Numbers):
            block = Block((self.name,), (self.source,), self.values[:, None], complete)
            return block.column_of(self.source, new, whole=whole)
        assert self.code is not None
        codes = self.source.codes.copy()
        codes[complete] = self.code[new]
        return self.source.decode(codes)
