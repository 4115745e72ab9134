"""Households numbered in geographic order while the records stream by, in memory that does not grow with them.

Records of a household stand together in a census file. One pass counts, block by block, how many households begin in
each class of the geographic columns; their sums give every household its number in the order that a stable
sort of the file by geography would have, without sorting anything. A second pass then knows each number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Flags, Ints
from tacit.context import Context
from tacit.data.in_blocks import strata, ticker
from tacit.data.microdata import Microdata
from tacit.engine.base import ROW
from tacit.engine.blocks import Done
from tacit.engine.class_index import ClassIndex
from tacit.engine.names import aggregate
from tacit.engine.relational import N, count_rows
from tacit.errors import InputError
from tacit.reveal import MOST, reveal
from tacit.stats.ranks import rank_within

FIRST, LAST = "__first__", "__last__"


@dataclass(frozen=True)
class BlockStart:
    """What a block must know of those before it.

    ``classes`` are those whose households begin in the block, ``before`` how many of each began in earlier blocks. The block
    ``goes_on`` when its first record belongs to the last household of an earlier one, which has this ``number`` in its class.
    """

    classes: Ints
    before: Ints
    goes_on: bool
    number: int


@dataclass(frozen=True)
class Runs:
    """Households of a file by class of the geographic columns: the classes, their sizes, and what each block must know."""

    index: ClassIndex
    sizes: Ints
    starts: Mapping[int, BlockStart]

    @property
    def households(self) -> int:
        """Return the number of households."""
        return int(self.sizes.sum())

    def number(self, home: str, block: int, table: pa.Table) -> tuple[Ints, Ints]:
        """Return class and number within its class (1, 2, ...) of the household of each record of a block."""
        new = opens_household(table.column(home))
        classes = self.index.find(table)
        if not len(new):
            return classes, classes
        start = self.starts[block]
        counted = new.copy()
        counted[0] = not start.goes_on
        begins = np.flatnonzero(counted)
        own = classes[begins]
        at = np.searchsorted(start.classes, own)
        numbers = start.before[at] + rank_within(own) + 1
        run = np.cumsum(counted) - 1
        found = np.full(len(new), start.number, dtype=np.int64)
        inside = run >= 0
        found[inside] = numbers[run[inside]]
        return classes, found


def opens_household(ids: pa.ChunkedArray) -> Flags:
    """Return which records begin another household than the record before them has; the first always does."""
    differs = compare_next(pc.not_equal, ids, ids, unknown=True)
    return np.concatenate([np.ones(min(len(ids), 1), dtype=bool), differs])


def compare_next(
    compare: Callable[..., Any], one: pa.ChunkedArray, other: pa.ChunkedArray, *, unknown: bool
) -> Flags:
    """Return how each entry of one column but the first compares with the entry before it of another."""
    found = compare(one.slice(1), other.slice(0, max(len(one) - 1, 0)))
    return np.asarray(pc.fill_null(found, unknown).to_numpy(zero_copy_only=False), dtype=bool)


def scan_households(
    data: Microdata, home: str, sort_by: Sequence[str], ctx: Context
) -> Runs | None:
    """Count households by class and block; None when members of a household do not stand together.

    Records without household, and households in several places, are refused.
    """
    index, _ = strata(data, sort_by)
    frame = data.frame.select(*dict.fromkeys([home, *sort_by]), ROW)
    sample = data.engine.to_arrow(frame.head(0))
    ids = sample.schema.field(home).type

    def scan(block: int, table: pa.Table) -> Done:
        edges, tally = scan_block(index, home, block, table)
        return Done(edges, tally)

    schema = pa.schema([(ROW, pa.int64()), (FIRST, ids), (LAST, ids)])
    mapped = data.engine.map_blocks(frame, scan, schema, ticker(ctx))
    if any(t["lacking"] for t in mapped.tallies):
        raise InputError(
            f"sample_households: some records have no household in column {home!r}. Give every record one, or drop them first."
        )
    edges = data.engine.to_arrow(mapped.records).sort_by(ROW)
    return join_blocks(index, mapped.tallies, edges, data, home, sort_by)


def scan_block(
    index: ClassIndex, home: str, block: int, table: pa.Table
) -> tuple[pa.Table, dict[str, Any]]:
    """Return first and last household of a block, and what is counted in it."""
    ids, classes = table.column(home), index.find(table)
    new = opens_household(ids)
    begins = np.flatnonzero(new)
    found, counts = np.unique(classes[begins], return_counts=True)
    torn = int(np.count_nonzero((classes[1:] != classes[:-1]) & ~new[1:]))
    rises = compare_next(pc.greater_equal, ids, ids, unknown=False)
    # Taken, not sliced: a slice would keep the whole block in memory.
    first, last = pa.array([0]), pa.array([len(ids) - 1])
    edges = pa.table(
        {ROW: table.column(ROW).take(first), FIRST: ids.take(first), LAST: ids.take(last)}
    )
    return edges, {
        "block": block,
        "lacking": int(ids.null_count),
        "torn": torn,
        "rising": bool(rises.all()),
        "classes": found.tolist(),
        "counts": counts.tolist(),
        "runs": len(begins),
        "ends": [int(classes[0]), int(classes[-1])],
    }


def join_blocks(
    index: ClassIndex,
    tallies: Sequence[Mapping[str, Any]],
    edges: pa.Table,
    data: Microdata,
    home: str,
    sort_by: Sequence[str],
) -> Runs | None:
    """Put the counts of blocks together."""
    follows = compare_next(pc.equal, edges.column(FIRST), edges.column(LAST), unknown=False)
    goes_on = [False, *follows]
    between = compare_next(pc.greater_equal, edges.column(FIRST), edges.column(LAST), unknown=False)
    rising = all(t["rising"] for t in tallies) and bool(between.all())
    sizes = np.zeros(index.size, dtype=np.int64)
    starts: dict[int, BlockStart] = {}
    torn, number, last_class = False, 0, -1
    for i, told in enumerate(tallies):
        classes = np.asarray(told["classes"], dtype=np.int64)
        counts = np.asarray(told["counts"], dtype=np.int64)
        torn |= bool(told["torn"]) or bool(goes_on[i] and told["ends"][0] != last_class)
        starts[told["block"]] = BlockStart(classes, sizes[classes], bool(goes_on[i]), number)
        if goes_on[i]:
            counts = counts - (classes == told["ends"][0])
        sizes[classes] += counts
        last_class = told["ends"][1]
        if not goes_on[i] or told["runs"] > 1:
            # The last household of a block is the last of its class so far.
            number = int(sizes[last_class])
    if torn:
        refuse_torn(data, home, sort_by)
    if not rising and count_households(data, home) != int(sizes.sum()):
        return None
    return Runs(index, sizes, starts)


def count_households(data: Microdata, home: str) -> int:
    """Return the number of different households."""
    return count_rows(aggregate(data.frame.select(home, ROW), [home], nw.len().alias(N)))


def check_one_place(data: Microdata, home: str, sort_by: Sequence[str]) -> None:
    """Refuse households whose members differ in geography."""
    pairs = aggregate(data.frame, list(dict.fromkeys([home, *sort_by])), nw.len().alias(N))
    if count_rows(pairs) != count_households(data, home):
        refuse_torn(data, home, sort_by)


def refuse_torn(data: Microdata, home: str, sort_by: Sequence[str]) -> None:
    """Say that members of one household differ in geography, and list the households to who asks."""
    pairs = aggregate(data.frame, list(dict.fromkeys([home, *sort_by])), nw.len().alias(N))
    several = aggregate(pairs.select(home), [home], nw.len().alias(N)).filter(nw.col(N) > 1)
    shown = several.select(home).head(MOST).collect("pyarrow").get_column(home).to_list()
    columns = ", ".join(repr(c) for c in sort_by)
    raise InputError(
        f"sample_households: members of one household differ in {columns}; a household lives in one place. "
        + reveal("households in several places", shown)
    )
