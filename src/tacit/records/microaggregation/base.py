"""What every microaggregation of numeric columns shares: fields, strata, households, aggregates, claims."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Floats, Ints
from tacit.claims import Claim
from tacit.context import Context
from tacit.data.block import Block, Missing, format_columns, list_maskable_columns, read_block
from tacit.data.in_blocks import units_in_memory
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import classes, not_numeric
from tacit.errors import Infeasible, InputError, LowUtility, RoleMissing, SdcError
from tacit.events import side_by_side
from tacit.fields import (
    GroupedUnit,
    GroupedWithin,
    MaskedTogether,
    PositiveFloat,
    PositiveInt,
    RoundMasked,
    WeightedAggregates,
)
from tacit.records.microaggregation.grouping.aggregates import aggregate
from tacit.records.microaggregation.grouping.loss import Tick, group_means, group_sizes, parts_of
from tacit.spec import Method
from tacit.stats.moments import Scale, scale_of
from tacit.treatment import OnHousehold

#: Strata grouped at the same time; the kernels let go of the interpreter.
WORKERS = 2


class GroupingMethod(Method):
    """Base of the microaggregation methods: subclasses say how groups are formed."""

    columns: MaskedTogether = None
    k: int = Field(default=3, ge=2, description="smallest number of records in a group")
    by: GroupedWithin = ()
    standardise: bool = Field(
        default=True,
        description="give every column mean 0 and standard deviation 1 before distances",
    )
    aggregate: Literal["mean", "median", "trimmed", "one_step", "m_estimate"] = Field(
        default="mean", description="what replaces the values of a group"
    )
    trim: float = Field(
        default=0.1, ge=0, lt=0.5, description="share cut at each end by the trimmed mean"
    )
    one_step: PositiveFloat = Field(
        default=3 / 1.486,
        description="how many median absolute deviations from the median the one-step mean clips values at",
    )
    weighted: WeightedAggregates = False
    unit: GroupedUnit = "record"
    missing: Missing = Field(
        default="refuse",
        description="refuse columns with missing values, or keep records with one as they are and mask the rest; methods that group each column by itself do so column by column",
    )
    whole: RoundMasked = False
    improve: bool = Field(
        default=False,
        description="exchange and move records between groups while that lowers the loss of the groups found",
    )
    cluster: Literal["none", "gmm", "kmeans", "medoids", "hierarchical"] = Field(
        default="none", description="cluster the records first and form groups within clusters"
    )
    clusters: PositiveInt | None = Field(
        default=None, description="number of clusters; by default chosen from the data"
    )
    transform: Literal["none", "log", "boxcox"] = Field(
        default="none", description="transformation of the columns before clustering"
    )

    on_weight = "option"
    on_stratum = "by"
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("microaggregation",)

    #: True when every column gets groups of its own.
    each_column: ClassVar[bool] = False
    #: True when the groups are sought with random numbers.
    draws: ClassVar[bool] = False
    #: True when records are sorted by a weighted sum of standardised columns.
    projects: ClassVar[bool] = False
    column_fields = ("columns", "by")
    example: ClassVar[Mapping[str, Any]] = {"columns": ["age", "income"]}
    #: Forms the groups of some records; it is given the parameters that a subclass adds to those here.
    form_groups: ClassVar[Callable[..., Ints]]

    @property
    def random(self) -> bool:  # type: ignore[override]
        """Return True when the result depends on the seed."""
        return self.draws or self.improve or self.cluster != "none"

    @model_validator(mode="after")
    def _clustering(self) -> Self:
        if self.cluster == "none" and (self.clusters is not None or self.transform != "none"):
            raise ValueError(
                "clusters and transform belong to clustering: choose a method with cluster="
            )
        return self

    # -- what subclasses say -----------------------------------------------------------------

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records, standardised where asked for."""
        return self.form_groups(x, self.k, rng=rng, tick=tick, **self.own_parameters())

    def own_parameters(self) -> dict[str, Any]:
        """Return the parameters that a subclass adds to those here."""
        added = type(self).model_fields.keys() - GroupingMethod.model_fields.keys()
        return {name: getattr(self, name) for name in added}

    def groups_of(
        self, units: Units, part: Ints, z: Floats, rng: np.random.Generator, tick: Tick
    ) -> Ints:
        """Return the labels of the groups of one stratum; ``z`` holds its standardised records."""
        if self.cluster == "none":
            return self.groups(z, rng, tick)
        from tacit.records.microaggregation.grouping.clustering import (
            cluster_labels,
            group_within_clusters,
        )

        clusters = cluster_labels(
            units.x[part],
            self.k,
            cluster=self.cluster,
            clusters=self.clusters,
            transform=self.transform,
            rng=rng,
            names=units.columns,
        )

        def group(records: Floats) -> Ints:
            if len(records) < 2 * self.k:
                return np.zeros(len(records), dtype=np.int64)
            return self.groups(records, rng, tick)

        return group_within_clusters(z, clusters, group)

    # -- checks ------------------------------------------------------------------------------

    def treats_household(self, data: Microdata) -> OnHousehold:
        """Return whether households are the units."""
        del data
        return "units" if self.unit == "household" else "apart"

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns masked."""
        return self.columns or tuple(c for c in list_maskable_columns(data) if c not in self.by)

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: no numbers to mask, classes among the masked columns, roles that are not declared."""
        found = super().faults(data)
        if found:
            return found
        targets = self.targets(data)
        if not targets:
            found.append(
                InputError(f"{self.kind}: the data have no numeric column to mask; name columns")
            )
        return [*found, *shared_faults(self, data, targets), *not_numeric(data, targets, self.kind)]

    # -- the work ----------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        if self.groups_strata_in_place(data):
            from tacit.records.microaggregation.spark_blocks import mask_by_stratum

            return mask_by_stratum(self, data, ctx)
        block = read_block(data, self.targets(data), self.kind, missing=self.missing)
        blocks = [block]
        if self.each_column:
            blocks = [
                Block((c,), (column,), block.values[:, [j]], column.known)
                for j, (c, column) in enumerate(zip(block.columns, block.table, strict=True))
            ]
        blocks = [b for b in blocks if b.complete.any()]
        if not blocks:
            return data
        everyone = self.units(data, blocks)
        partitions = self.partitions(everyone, ctx)
        released: dict[str, pa.Array] = {}
        lost = 0.0
        for part, units, labels in zip(blocks, everyone, partitions, strict=True):
            masked = self.aggregate_units(units, labels)
            plain = self.aggregate == "mean" and units.weights is None
            lost += units.loss(labels, masked if plain else None)
            everyones = masked if self.unit == "record" else masked[units.member]
            released |= part.released(everyones, whole=self.whole)
        self.tell(everyone, partitions, lost, ctx)
        return data.replace(released)

    def groups_strata_in_place(self, data: Microdata) -> bool:
        """Return True when strata are grouped where they lie: on Spark, for groups of single records."""
        plain = self.unit == "record" and not self.weighted and not self.each_column
        return data.engine.name == "spark" and bool(self.by) and plain

    def aggregate_units(self, units: Units, labels: Ints) -> Floats:
        """Return what replaces each unit's values."""
        found = aggregate(
            units.x, labels, self.aggregate, weights=units.weights, trim=self.trim, c=self.one_step
        )
        masked = found[labels]
        assert self.aggregate != "mean" or means_kept(units.x, masked, units.weights), (
            "a mean has moved"
        )
        return masked

    def units(self, data: Microdata, blocks: Sequence[Block]) -> list[Units]:
        """Return what is grouped in each block: the complete records, or the households they form."""
        strata = classes(data, self.by)[0]
        weights = weights_of(data) if self.weighted else None
        if weights is not None and (weights <= 0).any():
            raise InputError(f"{self.kind}: weighted aggregates need weights above 0")
        household = units_in_memory(data)[1] if self.unit == "household" else None
        return [self.units_of(block, strata, weights, household) for block in blocks]

    def units_of(
        self, block: Block, strata: Ints, weights: Floats | None, household: Ints | None
    ) -> Units:
        """Return what is grouped in one block; a household weighs what its members do on average."""
        there = block.complete
        x, strata = block.x, strata[there]
        weights = None if weights is None else weights[there]
        if household is None:
            return Units(x, strata, weights, np.arange(len(x)), block.columns)
        first, member = one_per_household(self.kind, household[there], [x, strata])
        if weights is not None:
            weights = np.bincount(member, weights=weights) / np.bincount(member)
        return Units(x[first], strata[first], weights, member, block.columns)

    def partitions(self, everyone: Sequence[Units], ctx: Context) -> list[Ints]:
        """Return the labels of each block's units; strata and blocks are grouped side by side."""
        for units in everyone:
            self.refuse(units)
        jobs = [(u, part) for u, units in enumerate(everyone) for part in parts_of(units.strata)]
        rngs = ctx.rng.spawn(len(jobs))

        def work(job: int) -> Ints:
            u, part = jobs[job]
            ctx.tick("forming groups", job / len(jobs) if len(jobs) > 1 else None)
            x = everyone[u].x if len(part) == len(everyone[u].x) else everyone[u].x[part]
            # Each stratum by its own mean and spread: strata have nothing to do with each other.
            z = scale_of(x).there(x) if self.standardise else x
            return self.grouped(everyone[u], part, z, rngs[job], ctx.tick)

        labels = [np.zeros(len(units.x), dtype=np.int64) for units in everyone]
        following = [0] * len(everyone)
        for (u, part), ids in zip(jobs, run_jobs(work, len(jobs)), strict=True):
            labels[u][part] = ids + following[u]
            following[u] += int(ids.max()) + 1
        return labels

    def refuse(self, units: Units) -> None:
        """Refuse data too small for groups of k, and constant columns in a projection."""
        self.refuse_sizes(len(units.x), min(map(len, parts_of(units.strata))))
        constant = [c for c, v in zip(units.columns, units.x.T, strict=True) if np.ptp(v) == 0]
        if constant and self.projects:
            raise InputError(
                f"{self.kind}: {format_columns(constant)} is constant and cannot be standardised. Leave it out of columns or take mdav."
            )

    def refuse_sizes(self, n: int, smallest: int) -> None:
        """Refuse numbers of units, in all and in the smallest stratum, too small for groups of k."""
        refuse_few(self, n)
        if smallest < self.k:
            raise Infeasible(
                f"{self.kind}: a class of 'by' has fewer than {self.k} complete records or households. Use fewer or coarser columns."
            )

    def grouped(
        self, units: Units, part: Ints, z: Floats, rng: np.random.Generator, tick: Tick
    ) -> Ints:
        """Return the groups of one stratum, improved when asked; sizes are checked."""
        if len(z) < 2 * self.k:
            return np.zeros(len(z), dtype=np.int64)
        ids = self.groups_of(units, part, z, rng, tick)
        if self.improve:
            from tacit.records.microaggregation.grouping.improve import improve

            ids = improve(z, ids, self.k, rng=rng, tick=tick)
        ids = np.unique(ids, return_inverse=True)[1]
        assert group_sizes(ids).min() >= self.k, "a group is smaller than k"
        return ids

    def tell(
        self, everyone: Sequence[Units], partitions: Sequence[Ints], lost: float, ctx: Context
    ) -> None:
        """Note what was done, and warn where nothing is left."""
        sizes = [group_sizes(labels) for labels in partitions]
        if any(len(s) == 1 for s in sizes):
            warnings.warn(
                f"{self.kind}: all records fall into one group, so columns become constant",
                LowUtility,
                stacklevel=4,
            )
        total = sum(units.total for units in everyone)
        ctx.note(
            columns=[c for units in everyone for c in units.columns],
            groups=len(sizes[0]),
            smallest_group=int(min(s.min() for s in sizes)),
            largest_group=int(max(s.max() for s in sizes)),
            sse_percent=100.0 * lost / total if total > 0 else 0.0,
        )

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        columns = self.targets(data)
        together = [[c] for c in columns] if self.each_column else [list(columns)]
        yield shared_claim(self.k, together, self.missing)


@dataclass(frozen=True)
class Units:
    """What is grouped: values, stratum, weight, the unit of each complete record, column names."""

    x: Floats
    strata: Ints
    weights: Floats | None
    member: Ints
    columns: tuple[str, ...]

    @functools.cached_property
    def scale(self) -> Scale:
        """Return mean and standard deviation of the columns."""
        return scale_of(self.x)

    @property
    def total(self) -> float:
        """Return SST on standardised columns: the number of units a column that varies."""
        return float(len(self.x) * (self.scale.spread > 0).sum())

    def loss(self, labels: Ints, means: Floats | None = None) -> float:
        """Return SSE on standardised columns; ``means`` are those of each unit's group, if at hand."""
        away = self.x - (group_means(self.x, labels)[labels] if means is None else means)
        squares = (away * away).sum(axis=0)
        vary = self.scale.spread > 0
        return float((squares[vary] / self.scale.spread[vary] ** 2).sum())


def shared_faults(spec: Any, data: Microdata, targets: Sequence[str]) -> list[SdcError]:
    """Return what is wrong with the columns masked, those of 'by', and the roles asked for."""
    found: list[SdcError] = []
    if len(set(targets)) < len(targets):
        found.append(InputError(f"{spec.kind}: columns must name each column once"))
    if set(targets) & set(spec.by):
        found.append(InputError(f"{spec.kind}: a column of 'by' cannot be masked as well"))
    if spec.unit == "household" and data.household is None:
        found.append(
            RoleMissing(
                f"{spec.kind}: unit='household' needs a household column; declare it with tacit.read(..., household=...)"
            )
        )
    if spec.weighted and data.weight is None:
        found.append(
            RoleMissing(
                f"{spec.kind}: weighted aggregates need a weight column; declare it with tacit.read(..., weight=...)"
            )
        )
    return found


def shared_claim(k: int, together: Sequence[Sequence[str]], missing: Missing) -> Claim:
    """Return the claim that every combination of masked values is shared by k records."""
    assumptions = ["masked columns are protected, others are not"]
    if missing == "keep":
        assumptions.insert(
            0, "records with a missing value in a masked column are released as they are"
        )
    return Claim(
        "k-combinations",
        {"k": k, "combinations": [list(c) for c in together]},
        "masked columns",
        tuple(c for some in together for c in some),
        tuple(assumptions),
    )


def one_per_household(
    kind: str, household: Ints, same: Iterable[npt.NDArray[Any]]
) -> tuple[Ints, Ints]:
    """Return the first record of each household and the household of each record, whose values must agree."""
    _, first, member = np.unique(household, return_index=True, return_inverse=True)
    if any((values != values[first][member]).any() for values in same):
        raise InputError(
            f"{kind}: with unit='household' the masked columns and 'by' must be the same for all members of a household"
        )
    return first, member


def refuse_few(spec: Any, n: int) -> None:
    """Refuse fewer units than two groups of k need."""
    if n < 2 * spec.k:
        what = "records" if spec.unit == "record" else "households"
        raise Infeasible(
            f"{spec.kind}: groups of {spec.k} need at least {2 * spec.k} complete {what}. Lower k or add data."
        )


def means_kept(x: Floats, masked: Floats, weights: Floats | None = None) -> bool:
    """Return True when the (weighted) means of the columns are those of before, up to rounding."""
    before, after = (np.average(v, axis=0, weights=weights) for v in (x, masked))
    return bool((np.abs(after - before) <= 1e-9 * (1e-300 + np.abs(x).max(axis=0))).all())


def run_jobs(work: Callable[[int], Ints], n: int) -> list[Ints]:
    """Return the results of n independent jobs, run side by side when there are several."""
    if n == 1:
        return [work(0)]
    return list(side_by_side(work, range(n), WORKERS))
