"""Swapping: records exchange the values of some columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.context import Context
from tacit.data.in_blocks import draws_of, strata, ticker
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW, Engine
from tacit.engine.blocks import Done
from tacit.engine.relational import Frame, N, count_rows, counts
from tacit.errors import Infeasible, InputError, RoleMissing, SdcError, WeakProtection
from tacit.fields import ColumnName, PositiveInt, Probability, Secret
from tacit.registry import register
from tacit.spec import Method

GROUP, VALUE, TICKET, CHOICE = "__group__", "__value__", "__ticket__", "__choice__"
RANK, SOURCE = "__rank__", "__source__"
TICKETS = pa.schema([(name, pa.int64()) for name in (ROW, GROUP, VALUE, TICKET, CHOICE)])


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
        default=(), description="the columns exchanged together; by default all keys"
    )
    pairs: tuple[tuple[PositiveInt, PositiveInt], ...] = Secret(
        (), description="pairs of record numbers, counted from 1, that exchange values"
    )
    share: Probability | None = Secret(
        None, description="share of the records that take part in random pairs"
    )
    within: tuple[ColumnName, ...] = Field(
        default=(), description="exchange only between records that agree on these columns"
    )

    on_stratum = "by"
    on_links = "carried"
    random: ClassVar[bool] = True
    runs_on: ClassVar[Literal["engine", "cells", "records"]] = "cells"
    techniques: ClassVar[tuple[str, ...]] = ("swap values",)
    example: ClassVar[Mapping[str, Any]] = {"columns": ["job"], "share": 0.5}
    column_fields = ("columns", "within")

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

    def stated_share(self) -> float | None:
        """Return the share that is to change."""
        return self.share

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
        sources = self.sources(data, columns, ctx)
        ctx.note(columns=list(columns), within=list(self.within), unit=self.unit)
        given = data.frame.select(
            nw.col(ROW).alias(SOURCE),
            *[nw.col(c).alias(f"__new{i}__") for i, c in enumerate(columns)],
        )
        moved = sources.join(given, on=SOURCE, how="inner")
        joined = data.frame.join(moved, on=ROW, how="left")
        gets = ~nw.col(SOURCE).is_null()
        new = [
            nw.when(gets).then(nw.col(f"__new{i}__")).otherwise(nw.col(c)).alias(c)
            for i, c in enumerate(columns)
        ]
        result = joined.with_columns(*new).select(*data.columns, ROW)
        return data.with_frame(data.engine.materialise(result))

    def sources(self, data: Microdata, columns: Sequence[str], ctx: Context) -> Frame:
        """Return the records that get other values: their row number, and that of the values' owner."""
        if self.pairs:
            return self.listed(data)
        if self.share is None:
            return derange(draw_tickets(data, self.within, columns, ctx), ctx.rng, data.engine)
        wanted = int(np.floor(self.share * len(data) / 2 + 0.5))
        chosen = pair_up(draw_tickets(data, self.within, (), ctx), wanted, data.engine)
        if count_rows(chosen) < 2 * wanted:
            warnings.warn(
                "swap: fewer records than asked could be paired within their classes",
                WeakProtection,
                stacklevel=4,
            )
        return chosen

    def listed(self, data: Microdata) -> Frame:
        """Return the exchanges of the pairs that are listed, by place in the present order."""
        named = [record for pair in self.pairs for record in pair]
        place = nw.col(ROW).cum_count().over(order_by=ROW).alias(RANK)
        found = data.frame.select(*self.within, ROW, place).filter(nw.col(RANK).is_in(named))
        table = found.collect("pyarrow").to_native().sort_by(RANK)
        at = {place: i for i, place in enumerate(table.column(RANK).to_pylist())}
        first, second = ([at[p] for p in side] for side in zip(*self.pairs, strict=True))
        group = table.select(list(self.within))
        if group.take(first).to_pylist() != group.take(second).to_pylist():
            raise InputError("swap: a pair joins records that differ on the 'within' columns")
        rows = table.column(ROW).to_numpy()
        ends = np.array([first + second, second + first])
        return data.engine.from_arrow(pa.table({ROW: rows[ends[0]], SOURCE: rows[ends[1]]}))


def draw_tickets(
    data: Microdata, within: Sequence[str], values: Sequence[str], ctx: Context
) -> Frame:
    """Return for each record its class, a number for its values in random order, and two random numbers."""
    groups, _ = strata(data, within)
    held, sizes = strata(data, values)
    label = ctx.rng.permutation(len(sizes))
    draws = draws_of(ctx)

    def work(block: int, table: pa.Table) -> Done:
        drawn = draws(block, 0).integers(0, np.iinfo(np.int64).max, (2, table.num_rows))
        columns = [table.column(ROW), groups.find(table), label[held.find(table)], *drawn]
        return Done(pa.table(columns, names=TICKETS.names))

    frame = data.frame.select(*dict.fromkeys([*within, *values]), ROW)
    return data.engine.map_blocks(frame, work, TICKETS, ticker(ctx)).records


def pair_up(tickets: Frame, wanted: int, engine: Engine) -> Frame:
    """Return at most ``wanted`` disjoint random pairs of records of the same class, both ways."""
    order = [TICKET, ROW]
    # A pair is an even place in a class and the next one.
    placed = tickets.with_columns(
        (nw.col(ROW).cum_count().over(GROUP, order_by=order) - 1).alias(RANK),
        nw.col(ROW).shift(-1).over(GROUP, order_by=order).alias(SOURCE),
    )
    pairs = placed.filter((nw.col(RANK) % 2 == 0) & ~nw.col(SOURCE).is_null())
    chosen = engine.materialise(pairs.sort(CHOICE, ROW).head(wanted).select(ROW, SOURCE))
    back = chosen.select(nw.col(SOURCE).alias(ROW), nw.col(ROW).alias(SOURCE))
    return nw.concat([chosen, back])


def derange(tickets: Frame, rng: np.random.Generator, engine: Engine) -> Frame:
    """Return a source for each record, in its class, such that none gets values equal to its own.

    In each class the records are put in random order, equal values side by side, and turned round by at
    least the size of the largest set of equal values; that works if and only if no value is held by more
    than half of the class.
    """
    runs = counts(tickets, [GROUP, VALUE]).collect("pyarrow").to_native()
    group, n = (runs.column(c).to_numpy() for c in (GROUP, N))
    size = np.bincount(group, weights=n).astype(np.int64)
    largest = np.zeros(len(size), dtype=np.int64)
    np.maximum.at(largest, group, n)
    if np.any(2 * largest > size):
        raise Infeasible(
            "swap: in some class more than half of the records hold the same values, so not every record "
            "can get others. Exchange more columns together, or widen 'within'."
        )
    shift = largest + np.floor(rng.random(len(size)) * (size - 2 * largest + 1)).astype(np.int64)
    turns = pa.table({GROUP: np.arange(len(size)), "__size__": size, "__shift__": shift})
    rank = nw.col(ROW).cum_count().over(GROUP, order_by=[VALUE, TICKET, ROW]) - 1
    placed = engine.materialise(tickets.select(ROW, GROUP, rank.alias(RANK)))
    turned = placed.join(engine.from_arrow(turns), on=GROUP, how="inner").select(
        ROW, GROUP, ((nw.col(RANK) + nw.col("__shift__")) % nw.col("__size__")).alias(RANK)
    )
    owners = placed.select(nw.col(ROW).alias(SOURCE), GROUP, RANK)
    return turned.join(owners, on=[GROUP, RANK], how="inner").select(ROW, SOURCE)
