"""Sampling: only a random part of the records is released."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from tacit.arrays import Ints
from tacit.context import Context
from tacit.data.in_blocks import Change, Draws, change_records, draws_of, strata, ticker
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers
from tacit.engine.base import ROW
from tacit.engine.blocks import Done
from tacit.engine.class_index import ClassIndex
from tacit.engine.relational import N, counts
from tacit.errors import InputError, SdcError
from tacit.fields import ColumnName, PositiveInt
from tacit.registry import register
from tacit.spec import Method
from tacit.stats.ranks import rank_within

STRATUM, BUCKET, TICKET = "__stratum__", "__bucket__", "__ticket__"


@register
class Sample(Method):
    """Release a random sample of the records, drawn without replacement.

    ``n`` records, or a ``share``, are drawn; with ``within`` each class of those columns is a stratum and
    is drawn from in proportion to its size, at least once. A weight, if declared, is multiplied by the
    inverse sampling fraction N_h / n_h, so that weighted totals still estimate the same population.

    References
    ----------
    Cochran (1977), Sampling Techniques, 3rd edition, Wiley, chapter 5.
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["sample"] = "sample"
    n: PositiveInt | None = Field(
        default=None, description="number of records to release; or give share"
    )
    share: float | None = Field(
        default=None, gt=0, le=1, description="share of the records to release"
    )
    within: tuple[ColumnName, ...] = Field(
        default=(), description="columns whose classes are the strata"
    )

    on_household = "records"
    on_weight = "changed"
    on_stratum = "by"
    on_links = "records"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("sampling",)
    example: ClassVar[Mapping[str, Any]] = {"share": 0.5}
    column_fields = ("within",)

    @model_validator(mode="after")
    def _one_size(self) -> Sample:
        if (self.n is None) == (self.share is None):
            raise ValueError("give either n or share")
        return self

    def targets(self, data: Microdata) -> tuple[str, ...]:
        """Return the weight, which is raised."""
        return data.with_role("weight")

    def faults(self, data: Microdata) -> list[SdcError]:
        """Add: more records asked for than there are."""
        found = super().faults(data)
        if self.n is not None and self.n > len(data) > 0:
            found.append(InputError(f"sample: n = {self.n} is more than there are records"))
        return found

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        index, sizes = strata(data, self.within)
        wanted = (
            by_share(sizes, self.share) if self.share is not None else by_number(sizes, self.n or 0)
        )
        draws = draws_of(ctx)
        last = last_drawn(data, index, sizes, wanted, draws, ctx)
        factor, weight = sizes / np.maximum(wanted, 1), data.weight

        def keep_drawn(block: int, table: pa.Table) -> Change:
            stratum = index.find(table)
            ticket, row = tickets(block, table.num_rows, draws), table.column(ROW).to_numpy()
            limit, row_limit = last[0][stratum], last[1][stratum]
            keep = (ticket < limit) | ((ticket == limit) & (row <= row_limit))
            if weight is None:
                return Change(keep=keep)
            old = as_numbers(table.column(weight), weight)
            raised = pa.array(old.values * factor[stratum], mask=~old.known)
            return Change({weight: raised}, keep)

        result, _ = change_records(data, keep_drawn, ctx)
        ctx.note(
            n=int(wanted.sum()),
            strata=index.size,
            weight="multiplied by the inverse sampling fraction"
            if data.weight
            else "none declared: estimates of totals need the inverse sampling fraction",
        )
        return result


def by_share(sizes: Ints, share: float) -> Ints:
    """Return how many records to draw from each stratum: the share, rounded, at least one."""
    return np.minimum(sizes, np.maximum(1, np.floor(share * sizes + 0.5))).astype(np.int64)


def by_number(sizes: Ints, n: int) -> Ints:
    """Return how many records to draw from each stratum: n in all, in proportion, at least one each."""
    n = min(n, int(sizes.sum()))
    filled = int(np.count_nonzero(sizes))
    if n < filled:
        raise InputError(
            f"sample: n = {n} is less than one record per stratum. Ask for more records, or for coarser strata."
        )
    exact = n * sizes / max(int(sizes.sum()), 1)
    wanted = np.maximum(np.floor(exact), np.minimum(sizes, 1)).astype(np.int64)
    # Largest remainders get what is left; where the one-each rule took too much, it is given back.
    while gap := n - int(wanted.sum()):
        able = np.flatnonzero(wanted < sizes if gap > 0 else wanted > 1)
        order = able[np.argsort(-np.sign(gap) * (exact - wanted)[able], kind="stable")]
        wanted[order[: abs(gap)]] += np.sign(gap)
    return wanted


def tickets(block: int, n: int, draws: Draws) -> Ints:
    """Return a random number for each record of a block: the smallest of a stratum are drawn."""
    return draws(block, 0).integers(0, np.iinfo(np.int64).max, n)


def last_drawn(
    data: Microdata, index: ClassIndex, sizes: Ints, wanted: Ints, draws: Draws, ctx: Context
) -> tuple[Ints, Ints]:
    """Return for each stratum the largest ticket drawn, and the row number that holds it.

    Tickets are counted in buckets on the engine; only those in the bucket where a stratum's sample ends
    are looked at one by one.
    """
    shift = 63 - min(12, max(0, int(sizes.sum()).bit_length() - 16))

    def ticket_block(block: int, table: pa.Table) -> Done:
        drawn = tickets(block, table.num_rows, draws)
        columns = [index.find(table), drawn >> shift, drawn, table.column(ROW)]
        return Done(pa.table(columns, names=[STRATUM, BUCKET, TICKET, ROW]))

    schema = pa.schema([(name, pa.int64()) for name in (STRATUM, BUCKET, TICKET, ROW)])
    frame = data.frame.select(*index.columns, ROW)
    given = data.engine.map_blocks(frame, ticket_block, schema, ticker(ctx)).records
    told = counts(given, [STRATUM, BUCKET]).collect("pyarrow").to_native()
    groups, buckets, sizes = (told.column(c).to_numpy() for c in (STRATUM, BUCKET, N))
    ends, before = end_buckets(groups, buckets, sizes, wanted)
    small = data.engine.from_arrow(pa.table({STRATUM: np.arange(len(ends)), "__end__": ends}))
    close = given.join(small, on=STRATUM, how="inner").filter(nw.col(BUCKET) == nw.col("__end__"))
    table = close.select(STRATUM, TICKET, ROW).collect("pyarrow").to_native()
    stratum, ticket, row = (table.column(c).to_numpy() for c in (STRATUM, TICKET, ROW))
    order = np.lexsort((row, ticket, stratum))
    # In a stratum of which all records are drawn, or none, no ticket decides.
    most = np.where(wanted > 0, np.iinfo(np.int64).max, -1)
    last, row_last = most.copy(), most.copy()
    place = rank_within(stratum[order]) == (wanted - before - 1)[stratum[order]]
    at = order[place]
    last[stratum[at]], row_last[stratum[at]] = ticket[at], row[at]
    return last, row_last


def end_buckets(stratum: Ints, bucket: Ints, n: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """Return for each stratum the bucket in which its sample ends, and how many records come before."""
    order = np.lexsort((bucket, stratum))
    stratum, bucket, n = stratum[order], bucket[order], n[order]
    passed = np.cumsum(n)
    first = np.searchsorted(stratum, np.arange(len(wanted)))
    start = np.concatenate([[0], passed])[first]
    within = passed - start[stratum]
    ends, before = np.full(len(wanted), -1), np.zeros(len(wanted), dtype=np.int64)
    here = (within >= wanted[stratum]) & (within - n < wanted[stratum])
    ends[stratum[here]] = bucket[here]
    before[stratum[here]] = (within - n)[here]
    return ends.astype(np.int64), before
