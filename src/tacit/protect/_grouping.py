"""What every microaggregation of numeric columns shares: fields, strata, households, aggregates, claims."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tacit.context import Context
from tacit.data.block import Block, Missing, maskable, read_block
from tacit.data.claims import Claim
from tacit.data.microdata import Microdata
from tacit.data.paired import weights_of
from tacit.data.values import classes, not_numeric
from tacit.errors import Infeasible, InputError, LowUtility, RoleMissing, SdcError
from tacit.fields import ColumnName, ColumnNames, PositiveFloat
from tacit.microaggregation.aggregates import aggregate
from tacit.microaggregation.loss import group_means, group_sizes, loss
from tacit.spec import Method
from tacit.stats.moments import Floats, Ints, scale_of

#: Strata grouped at the same time; the kernels let go of the interpreter.
WORKERS = 2

Group = Callable[[Floats, np.random.Generator, Callable[[str, float | None], None]], Ints]


class GroupingMethod(Method):
    """Base of the microaggregation methods: subclasses say how groups are formed."""

    columns: ColumnNames | None = Field(
        None,
        description="the numeric columns to mask together; by default all that are neither identifiers nor weight, household or stratum",
    )
    k: int = Field(3, ge=2, description="smallest number of records in a group")
    by: tuple[ColumnName, ...] = Field(
        (), description="form groups only within classes of these columns"
    )
    standardise: bool = Field(
        True, description="give every column mean 0 and standard deviation 1 before distances"
    )
    aggregate: Literal["mean", "median", "trimmed", "one_step", "m_estimate"] = Field(
        "mean", description="what replaces the values of a group"
    )
    trim: float = Field(0.1, ge=0, lt=0.5, description="share cut at each end by the trimmed mean")
    one_step: PositiveFloat = Field(
        3 / 1.486,
        description="how many median absolute deviations from the median the one-step mean clips values at",
    )
    weighted: bool = Field(
        False, description="weight the aggregates with the declared weight column"
    )
    unit: Literal["record", "household"] = Field(
        "record",
        description="group records, or whole households, whose columns must agree within a household",
    )
    missing: Missing = Field(
        "refuse",
        description="refuse columns with missing values, or keep records with one as they are and mask the rest",
    )
    whole: bool = Field(
        False,
        description="round masked whole-number columns to whole numbers, which no longer keeps means exactly",
    )
    improve: bool = Field(
        False,
        description="exchange and move records between groups while that lowers the loss of the groups found",
    )

    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "records"
    techniques: ClassVar[tuple[str, ...]] = ("microaggregation",)

    # -- what subclasses say -----------------------------------------------------------------

    def each_column(self) -> bool:
        """Return True when every column gets groups of its own."""
        return False

    def groups(self, x: Floats, rng: np.random.Generator, ctx_tick: Any) -> Ints:
        """Return the labels of the groups of some records."""
        raise NotImplementedError

    # -- checks ------------------------------------------------------------------------------

    def columns_named(self) -> tuple[str, ...]:
        """Return the columns masked and those that form classes."""
        return (*(self.columns or ()), *self.by)

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the columns masked."""
        return self.columns or tuple(c for c in maskable(data) if c not in self.by)

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
        if len(set(targets)) < len(targets):
            found.append(InputError(f"{self.kind}: columns must name each column once"))
        if set(targets) & set(self.by):
            found.append(InputError(f"{self.kind}: a column of 'by' cannot be masked as well"))
        if self.unit == "household" and data.household is None:
            found.append(
                RoleMissing(
                    f"{self.kind}: unit='household' needs a household column; declare it with tacit.read(..., household=...)"
                )
            )
        if self.weighted and data.weight is None:
            found.append(
                RoleMissing(
                    f"{self.kind}: weighted aggregates need a weight column; declare it with tacit.read(..., weight=...)"
                )
            )
        return [*found, *not_numeric(data, targets, self.kind)]

    # -- the work ----------------------------------------------------------------------------

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        block = read_block(data, self.targets(data), self.kind, missing=self.missing)
        if not block.complete.any():
            return data
        units = self.units(data, block)
        labels = self.label(units, ctx)
        masked = np.column_stack(
            [self.aggregated(units, labels[:, j], j) for j in range(units.x.shape[1])]
        )
        self.tell(units, labels, ctx)
        return data.replace(block.released(masked[units.member], whole=self.whole))

    def units(self, data: Microdata, block: Block) -> Units:
        """Return what is grouped: the complete records, or the households that they form."""
        strata = classes(data, self.by)[0][block.complete]
        weights = weights_of(data)[block.complete] if self.weighted else None
        if weights is not None and (weights <= 0).any():
            raise InputError(f"{self.kind}: weighted aggregates need weights above 0")
        if self.unit == "record":
            return Units(block.x, strata, weights, np.arange(len(block.x)), block.columns)
        assert data.household is not None
        household = classes(data, (data.household,))[0][block.complete]
        _, first, member = np.unique(household, return_index=True, return_inverse=True)
        if (block.x != block.x[first][member]).any() or (strata != strata[first][member]).any():
            raise InputError(
                f"{self.kind}: with unit='household' the masked columns and 'by' must be the same for all members of a household"
            )
        return Units(
            block.x[first],
            strata[first],
            None if weights is None else weights[first],
            member,
            block.columns,
        )

    def label(self, units: Units, ctx: Context) -> Ints:
        """Return the labels, one column a masked column."""
        n, p = units.x.shape
        if n < 2 * self.k and not (n == self.k == 2):
            raise Infeasible(
                f"{self.kind}: groups of {self.k} need at least {2 * self.k} complete records or households. Lower k or add data."
            )
        z = scale_of(units.x).there(units.x) if self.standardise else units.x
        parts = [np.flatnonzero(units.strata == s) for s in np.unique(units.strata)]
        if min(map(len, parts)) < self.k:
            raise Infeasible(
                f"{self.kind}: a class of 'by' has fewer than {self.k} complete records. Use fewer or coarser columns."
            )
        columns: list[slice] = (
            [slice(j, j + 1) for j in range(p)] if self.each_column() else [slice(0, p)]
        )
        jobs = [(part, at) for at in columns for part in parts]
        rngs = ctx.rng.spawn(len(jobs))

        def work(job: int) -> Ints:
            part, at = jobs[job]
            share = job / len(jobs) if len(jobs) > 1 else None
            ctx.tick("forming groups", share)
            return self.grouped(z[part, at], rngs[job], ctx.tick)

        found = run_jobs(work, len(jobs))
        labels = np.zeros((n, p), dtype=np.int64)
        next_label = dict.fromkeys(range(len(columns)), 0)
        for (part, at), ids in zip(jobs, found, strict=True):
            which = columns.index(at)
            labels[part, at] = (ids + next_label[which])[:, None]
            next_label[which] += int(ids.max()) + 1
        return labels

    def grouped(self, z: Floats, rng: np.random.Generator, tick: Any) -> Ints:
        """Return the groups of one stratum, improved when asked; sizes are checked."""
        if len(z) < 2 * self.k:
            return np.zeros(len(z), dtype=np.int64)
        ids = self.groups(z, rng, tick)
        if self.improve:
            from tacit.microaggregation.improve import improve

            ids = improve(z, ids, self.k, rng=rng, tick=tick)
        ids = np.unique(ids, return_inverse=True)[1].astype(np.int64)
        assert group_sizes(ids).min() >= self.k, "a group is smaller than k"
        return ids

    def aggregated(self, units: Units, labels: Ints, j: int) -> Floats:
        """Return the values that replace one column's."""
        found = aggregate(
            units.x[:, j : j + 1],
            labels,
            self.aggregate,
            weights=units.weights,
            trim=self.trim,
            c=self.one_step,
        )
        return found[labels, 0]

    def tell(self, units: Units, labels: Ints, ctx: Context) -> None:
        """Note what was done, and warn where nothing is left."""
        z = scale_of(units.x).there(units.x)
        within = sum(loss(z[:, [j]], labels[:, j]).within for j in range(z.shape[1]))
        total = float((z**2).sum())
        sizes = np.concatenate([group_sizes(column) for column in labels.T])
        sse = 100.0 * within / total if total > 0 else 0.0
        if len(sizes) == labels.shape[1]:
            warnings.warn(
                f"{self.kind}: all records fall into one group, so every column becomes constant",
                LowUtility,
                stacklevel=4,
            )
        ctx.note(
            columns=list(units.columns),
            groups=int(labels[:, 0].max()) + 1,
            smallest_group=int(sizes.min()),
            largest_group=int(sizes.max()),
            sse_percent=sse,
        )

    def _claims(self, data: Microdata, result: Microdata) -> Iterable[Claim]:
        del result
        columns = self.targets(data)
        together = [[c] for c in columns] if self.each_column() else [list(columns)]
        yield Claim(
            "k-combinations",
            {"k": self.k, "combinations": together},
            "masked columns",
            columns,
            (
                "records with a missing value in a masked column are released as they are",
                "masked columns are protected, others are not",
            )
            if self.missing == "keep"
            else ("masked columns are protected, others are not",),
        )


@dataclass(frozen=True)
class Units:
    """What is grouped: values, stratum, weight, the unit of each complete record, column names."""

    x: Floats
    strata: Ints
    weights: Floats | None
    member: Ints
    columns: tuple[str, ...]


def run_jobs(work: Callable[[int], Ints], n: int) -> list[Ints]:
    """Return the results of n independent jobs, run side by side when there are several."""
    if n == 1:
        return [work(0)]
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, range(n)))


def options_of(spec: Any, names: Iterable[str]) -> Mapping[str, Any]:
    """Return the fields of a Spec that a grouping method takes."""
    return {name: getattr(spec, name) for name in names}


__all__ = ["GroupingMethod", "Units", "group_means", "options_of"]
