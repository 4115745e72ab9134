"""Minimal sample uniques: the smallest sets of keys on which a record stands alone, on coded cells.

A record that is unique on a set of keys is unique on every larger set, and what it shares a cell with on the larger
set is nobody, so it can be left out there altogether. Sets are therefore taken size by size: on a set S only the rows
that are unique on no S without one key remain, and those of them that are alone on S have S as a minimal unique.

Sets whose cells fit a dense table share passes over the rows: a block of several keys is counted once, together with
the sum of the row numbers, and each set inside the block is a sum over axes; where the count is one, the sum *is* the
row.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Ints
from tacit.engine.subsets import (
    CellTable,
    Codes,
    class_ids,
    class_sizes,
    dense_limit,
    sum_over_axes,
)

Bits = npt.NDArray[np.uint8]
Policy = Literal["category", "wildcard", "ignore"]


def minimal_uniques(
    columns: Sequence[Codes],
    nulls: Sequence[int],
    n: Ints,
    max_size: int,
    missing: Policy = "category",
    tick: Callable[[float], None] = lambda _: None,
) -> Iterator[tuple[tuple[int, ...], Ints]]:
    """Yield each set of keys that is a minimal unique of some row, with those rows; small sets first.

    Parameters
    ----------
    columns
        One code per row and key, from 0; rows are distinct.
    nulls
        The code of a missing value in each column.
    n
        Records of each row.
    max_size
        The most keys in a set.
    missing
        ``category``: a missing value is a value like others; ``ignore``: it belongs to no set and equals nothing;
        ``wildcard``: it belongs to no set and equals everything.
    tick
        Told the share of the work that is done.
    """
    sizes = tuple(int(c.max(initial=0)) + 1 for c in columns)
    table = CellTable(tuple(str(i) for i in range(len(columns))), tuple(columns), sizes, n)
    gaps = Gaps.of(table, nulls, missing)
    below: dict[int, Bits] = {}
    last = min(max_size, len(columns))
    for size in range(1, last + 1):
        members = {
            sum(1 << i for i in s): s for s in itertools.combinations(range(len(columns)), size)
        }
        here: dict[int, Bits] = {}
        for done, (mask, alone) in enumerate(find_uniques(table, list(members), below)):
            tick((size - 1 + done / len(members)) / last)
            earlier = unique_below(below, mask, len(n))
            new = gaps.settle(alone, mask) & ~unpack(earlier, len(n))
            if new.any():
                yield members[mask], np.flatnonzero(new)
            if size < last:
                here[mask] = earlier | np.packbits(new)
        below = here


def find_uniques(
    table: CellTable, masks: list[int], below: dict[int, Bits]
) -> Iterator[tuple[int, Flags]]:
    """Yield each set with the rows that are alone on it; rows alone on a smaller set may be left out."""
    limit = dense_limit(len(table.n))
    small = [m for m in masks if table.cardinality(m) <= limit]
    for block, inside in table.blocks(small):
        yield from find_in_block(table, block, inside)
    for mask in [m for m in masks if table.cardinality(m) > limit]:
        rows = np.flatnonzero(~unpack(unique_below(below, mask, len(table.n)), len(table.n)))
        columns = [c[rows] for i in table.members(mask) if (c := table.columns[i]) is not None]
        alone = np.zeros(len(table.n), dtype=bool)
        if len(rows):
            counts = class_sizes(
                columns, [table.sizes[i] for i in table.members(mask)], table.n[rows]
            )
            alone[rows[counts == 1]] = True
        yield mask, alone


def find_in_block(table: CellTable, block: int, masks: list[int]) -> Iterator[tuple[int, Flags]]:
    """Yield the sets inside a block with the rows that are alone on them."""
    ids, bound = table.ids(block)
    shape = [table.sizes[i] for i in table.members(block)]
    counts = np.bincount(ids, weights=table.row_counts, minlength=bound).reshape(shape)
    places = np.bincount(ids, weights=np.arange(len(ids)), minlength=bound).reshape(shape)
    for mask in masks:
        n = sum_over_axes(counts, table.members(block), mask)
        where = sum_over_axes(places, table.members(block), mask)
        alone = np.zeros(len(table.n), dtype=bool)
        alone[where[n == 1].astype(np.int64)] = True
        yield mask, alone


class Gaps:
    """Missing values, and what they do to rows that are alone otherwise."""

    def __init__(self, table: CellTable, missing: Policy, bits: Ints) -> None:
        self.table, self.missing, self.bits = table, missing, bits
        self.patterns = np.unique(bits)

    @classmethod
    def of(cls, table: CellTable, nulls: Sequence[int], missing: Policy) -> Gaps:
        """Note which keys each row lacks, as bits."""
        bits = np.zeros(len(table.n), dtype=np.int64)
        if missing != "category":
            for i, (column, null) in enumerate(zip(table.columns, nulls, strict=True)):
                assert column is not None
                bits |= (column == null).astype(np.int64) << i
        return cls(table, missing, bits)

    def settle(self, alone: Flags, mask: int) -> Flags:
        """Return which rows are alone on a set by the policy."""
        patterns = np.unique(self.patterns & mask)
        if not patterns.any():
            return alone
        alone = alone & ((self.bits & mask) == 0)
        if self.missing == "wildcard":
            for pattern in patterns[patterns != 0]:
                rows = np.flatnonzero(alone)
                others = np.flatnonzero((self.bits & mask) == pattern)
                alone[rows[self.agree(rows, others, mask & ~int(pattern))]] = False
        return alone

    def agree(self, rows: Ints, others: Ints, mask: int) -> Flags:
        """Return which rows equal one of the others on a set."""
        members = self.table.members(mask)
        if not members:
            return np.ones(len(rows), dtype=bool)
        both = np.concatenate([rows, others])
        columns = [c[both] for i in members if (c := self.table.columns[i]) is not None]
        ids, _ = class_ids(columns, [self.table.sizes[i] for i in members])
        return np.isin(ids[: len(rows)], ids[len(rows) :])


def unique_below(below: dict[int, Bits], mask: int, n_rows: int) -> Bits:
    """Return, as bits, the rows that are unique on the set without one of its keys."""
    found = np.zeros((n_rows + 7) // 8, dtype=np.uint8)
    for i in range(mask.bit_length()):
        smaller = mask & ~(1 << i)
        if smaller != mask and smaller in below:
            found |= below[smaller]
    return found


def unpack(bits: Bits, n_rows: int) -> Flags:
    """Return bits as one truth value a row."""
    return np.unpackbits(bits, count=n_rows).astype(bool)
