"""Scrambling: the records are released in random order."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Literal

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.context import Context
from tacit.data.in_blocks import Change, Draws, change_records, draws_of, ticker
from tacit.data.microdata import Microdata
from tacit.data.values import drop_stale_descriptions, unused_row_number
from tacit.engine.arrow import set_columns
from tacit.engine.base import ROW
from tacit.engine.blocks import split
from tacit.engine.memory import held_table, reorder_held
from tacit.engine.names import aggregate
from tacit.engine.relational import N, counts
from tacit.registry import register
from tacit.spec import Method

FIRST = "__first__"
#: Steps after which the values of their columns have nothing to do with the order of the source.
GIVES_NEW_VALUES = frozenset({"pseudonymise", "substitute"})

TICKET, BUCKET, START, RANK = "__ticket__", "__bucket__", "__start__", "__rank__"
#: Tickets are ranked in 4,096 parts, so that no worker has to sort all of them.
BUCKET_SHIFT = 51


@register
class Scramble(Method):
    """Release the records in a uniformly random order.

    Order tells: two releases sorted alike can be laid side by side, and a list in order of admission
    shows who came first. The records get new row numbers that none has carried before, so the links
    to the original data are cut on purpose: measures that compare records with the original find none
    of them again. Let this be the last step, and measure before it; values do not change.

    References
    ----------
    Sweeney, Foundations of Privacy Protection from a Computer Science Perspective, section 4.1, Figure 14.
    """

    kind: Literal["scramble"] = "scramble"

    on_household = "records"
    on_links = "records"
    random: ClassVar[bool] = True
    techniques: ClassVar[tuple[str, ...]] = ("scramble tuples",)

    @property
    def cuts_links(self) -> bool:
        """Return True: records get new row numbers."""
        return True

    def _apply(self, data: Microdata, ctx: Context) -> Microdata:
        ctx.note(links_lost=True)
        return scrambled_order(data, ctx)


def scrambled_order(data: Microdata, ctx: Context) -> Microdata:
    """Return the records in a uniformly random order, with row numbers that none has carried before."""
    draws = draws_of(ctx)
    held = held_table(data.frame)
    if held is not None:
        return scramble_in_memory(data, held, draws, ticker(ctx))

    def change(block: int, table: pa.Table) -> Change:
        ticket = draws(block, 0).integers(0, np.iinfo(np.int64).max, table.num_rows)
        return Change({TICKET: pa.array(ticket), BUCKET: pa.array(ticket >> BUCKET_SHIFT)})

    drawn, _ = change_records(data, change, ctx)
    told = counts(drawn.frame, [BUCKET]).collect("pyarrow").to_native().sort_by(BUCKET)
    before = np.concatenate([[0], np.cumsum(told.column(N).to_numpy())[:-1]])[: told.num_rows]
    start = pa.array(unused_row_number(data) + before.astype(np.int64), pa.int64())
    starts = data.engine.from_arrow(pa.table({BUCKET: told.column(BUCKET), START: start}))
    rank = nw.col(ROW).cum_count().over(BUCKET, order_by=[TICKET, ROW]) - 1
    placed = drawn.frame.with_columns(rank.alias(RANK)).join(starts, on=BUCKET, how="inner")
    return data.with_frame(
        placed.select(*data.columns, (nw.col(START) + nw.col(RANK)).cast(nw.Int64).alias(ROW))
    ).materialise()


def scramble_in_memory(
    data: Microdata, held: pa.Table, draws: Draws, tick: Callable[[], None]
) -> Microdata:
    """Do the same with a table in memory: sort the tickets, and move the records once."""
    tickets = [
        draws(block, 0).integers(0, np.iinfo(np.int64).max, part.num_rows)
        for block, part in split(held.select([ROW]).to_reader(), tick)
    ]
    order = np.argsort(np.concatenate([np.zeros(0, dtype=np.int64), *tickets]), kind="stable")
    moved = reorder_held(data.frame, order)
    assert moved is not None
    rows = pa.array(unused_row_number(data) + np.arange(len(order), dtype=np.int64))
    return data.with_table(set_columns(moved, {ROW: rows}))


def released_order(data: Microdata, ctx: Context) -> Microdata:
    """Return the records in a drawn order, and the households numbered in that order.

    Whoever holds two releases in the order of the source joins them line by line, and numbers that were given
    along streets or by date of entry show the order as well. The numbers of households that a step has given
    on purpose, such as pseudonyms that link two files, stay as they are.
    """
    # The household columns that a step has numbered in an order of its own, which the release keeps.
    renumbered = {c for a in data.history for c in a.details.get("new_numbers", ())}
    replaced = {
        c for a in data.history if a.kind in GIVES_NEW_VALUES for c in a.details.get("columns", ())
    }
    drawn = data if renumbered else scrambled_order(data, ctx)
    home = data.household
    if home is None or home in replaced | renumbered:
        return drawn
    # Households are numbered 1, 2, ... as they first occur; a missing one stays missing.
    known = drawn.frame.filter(~nw.col(home).is_null())
    firsts = aggregate(known.select(home, ROW), [home], nw.col(ROW).min().alias(FIRST))
    found = data.engine.to_arrow(firsts.select(home, FIRST)).sort_by(FIRST)
    number = pa.array(np.arange(1, found.num_rows + 1, dtype=np.int64))
    mapping = pa.table({"old": found.column(home), "new": number})
    return drop_stale_descriptions(drawn.recode(home, mapping).materialise(), [home])
