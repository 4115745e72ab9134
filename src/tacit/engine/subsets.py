"""Class sizes for many subsets of keys at once, on coded cells.

Counting each subset by itself costs one pass over the cells a subset. Here subsets share passes: a
few *blocks* of keys, small enough for a dense table of counts, are chosen so that every subset lies
in a block; one pass fills a block's table, and the subsets in it are sums over its axes. Cells are
first reduced to the keys that still matter. What is too large for a dense table is sorted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Ints
from tacit.engine.base import Engine
from tacit.engine.codes import Cells, Coded, combine_codes, densify
from tacit.engine.memory import count_held
from tacit.engine.relational import N, counts, fetch_distinct

Codes = npt.NDArray[Any]

#: Dense tables have at most this many entries, and no fewer than this are worth avoiding.
LARGEST, SMALLEST = 1 << 24, 1 << 12

#: Numbers taken at a time, so that they stay in the processor's cache.
CHUNK = 1 << 14


def all_subsets(keys: Sequence[str], max_size: int) -> list[tuple[str, ...]]:
    """Return every subset of the keys with 1 to ``max_size`` members, small ones first."""
    sizes = range(1, min(max_size, len(keys)) + 1)
    return [s for size in sizes for s in itertools.combinations(keys, size)]


def unordered_cells(frame: nw.LazyFrame[Any], keys: Sequence[str], engine: Engine) -> Cells:
    """Reduce records to coded cells in any order: counting does not ask for one, and sorting costs.

    The engine joins each key's codes and groups by integers that pack them, which moves far less
    than the values themselves.
    """
    held = count_held(frame, keys)
    if held is not None:
        return Cells(dict(zip(keys, held[0], strict=True)), held[1])
    values = {k: fetch_distinct(frame, k) for k in keys}
    packing = Packing.of([len(v) + 1 for v in values.values()])
    table = counts(packing.attach(frame, values, engine), packing.names)
    found = table.collect("pyarrow").to_native()
    columns = packing.unpack([found.column(name).to_numpy() for name in packing.names])
    coded = {k: Coded(c, v) for (k, v), c in zip(values.items(), columns, strict=True)}
    return Cells(coded, found.column(N).to_numpy().astype(np.int64))


@dataclass(frozen=True)
class Packing:
    """How the codes of several keys share integers: consecutive keys, mixed radix, below 2^62."""

    sizes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Packing:
        """Pack as many keys into each integer as fit."""
        groups: list[list[int]] = [[]]
        for size in sizes:
            if groups[-1] and prod(groups[-1]) * size >= 2**62:
                groups.append([])
            groups[-1].append(int(size))
        return cls(tuple(tuple(g) for g in groups))

    @property
    def names(self) -> list[str]:
        """Return the columns that hold the integers."""
        return [f"__class_{i}__" for i in range(len(self.sizes))]

    def attach(
        self, frame: nw.LazyFrame[Any], values: Mapping[str, pa.Array], engine: Engine
    ) -> nw.LazyFrame[Any]:
        """Return the frame with the packed codes of each record, by joins on single values.

        A null, and a value that is not listed, takes the code after the last.
        """
        order = frame.collect_schema().names()
        listed = iter(values.items())
        packed = []
        for name, sizes in zip(self.names, self.sizes, strict=True):
            total = nw.lit(0)
            for i, size in enumerate(sizes):
                key, known = next(listed)
                value, code = f"{name}_value_{i}", f"{name}_code_{i}"
                codes = pa.array(np.arange(len(known)), pa.int64())
                table = engine.from_arrow(pa.table({value: known, code: codes}))
                frame = frame.join(table, left_on=key, right_on=value, how="left")
                total = total * size + nw.col(code).fill_null(len(known))
            packed.append(total.cast(nw.Int64).alias(name))
        return frame.select(*order, *packed)

    def pack(self, columns: Sequence[Codes]) -> list[Ints]:
        """Return the integers for codes."""
        listed = iter(columns)
        groups = (([next(listed) for _ in sizes], sizes) for sizes in self.sizes)
        return [combine_codes(group, sizes)[0] for group, sizes in groups]

    def unpack(self, packed: Sequence[Ints]) -> list[npt.NDArray[np.int32]]:
        """Return the codes for integers."""
        return [
            c
            for ids, sizes in zip(packed, self.sizes, strict=True)
            for c in unravel_ids(ids, sizes)
        ]


def subset_counts(
    cells: Cells, subsets: Iterable[Sequence[str]]
) -> Iterator[tuple[tuple[str, ...], Ints]]:
    """Yield each subset of keys, once, with the sizes of its classes, in an order that suits the work.

    A null counts as a value of its own.
    """
    table = CellTable.of(cells)
    wanted = {table.mask(s): tuple(s) for s in subsets}
    for mask, sizes in table.count(list(wanted)):
        yield wanted[mask], sizes


def class_ids(columns: Sequence[Codes], sizes: Sequence[int]) -> tuple[Codes, int]:
    """Return mixed-radix class numbers and a bound on them, in 32 bits where that is enough."""
    fits = prod(int(s) for s in sizes) < 2**31
    return combine_codes(columns, sizes, np.int32 if fits else np.int64)


def sizes_of(ids: Codes, bound: int, n: Ints | None) -> Ints:
    """Return the sizes of the classes that occur; ``n`` weighs the rows (None: one each)."""
    if bound <= dense_limit(len(ids)):
        table = np.bincount(ids, weights=n, minlength=0)
        return table[table > 0].astype(np.int64)
    return sizes_by_sorting(ids, bound, n)


def sizes_by_sorting(ids: Codes, bound: int, n: Ints | None) -> Ints:
    """Return class sizes by one sort of numbers that carry the class and the row's count."""
    if not len(ids):
        return np.zeros(0, dtype=np.int64)
    bits = 0 if n is None else int(n.max()).bit_length()
    if bound.bit_length() + bits > 62:
        ids, bound = densify(ids.astype(np.int64))
    packed = ids.astype(np.int64)
    if n is not None:
        packed <<= bits
        packed |= n
    packed.sort()
    classes = packed >> bits
    starts = np.flatnonzero(np.concatenate(([True], classes[1:] != classes[:-1])))
    if n is None:
        return np.diff(np.append(starts, len(ids)))
    return np.add.reduceat(packed & ((1 << bits) - 1), starts)


def class_sizes(columns: Sequence[Codes], sizes: Sequence[int], n: Ints) -> Ints:
    """Return, for each row, the number of records in its class."""
    ids, bound = class_ids(columns, sizes)
    if bound > max(dense_limit(len(ids)), 4 * len(ids)):
        ids, bound = densify(ids.astype(np.int64))
    return np.bincount(ids, weights=n, minlength=1).astype(np.int64)[ids]


def dense_limit(n_rows: int) -> int:
    """Return how large a dense table may be for this many rows."""
    return min(LARGEST, max(SMALLEST, n_rows // 2))


@dataclass(frozen=True)
class CellTable:
    """Coded cells as arrays, keys as bits of a mask (bit i is key i of the largest table)."""

    names: tuple[str, ...]
    columns: tuple[Codes | None, ...]
    sizes: tuple[int, ...]
    n: Ints

    @classmethod
    def of(cls, cells: Cells) -> CellTable:
        """Take cells; a key's null takes a code only when it occurs."""
        columns = tuple(c.codes for c in cells.keys.values())
        sizes = tuple(int(c.max(initial=0)) + 1 for c in columns)
        return cls(tuple(cells.keys), columns, sizes, cells.n)

    def mask(self, subset: Sequence[str]) -> int:
        """Return a subset of keys as bits."""
        return sum(1 << self.names.index(k) for k in set(subset))

    def members(self, mask: int) -> list[int]:
        """Return the keys of a mask."""
        return [i for i in range(len(self.names)) if mask >> i & 1]

    def cardinality(self, mask: int) -> int:
        """Return how many classes a subset could have."""
        return prod(self.sizes[i] for i in self.members(mask))

    def count(self, wanted: list[int]) -> Iterator[tuple[int, Ints]]:
        """Yield the class sizes of each mask.

        The key with the most values goes first: every subset that holds it is counted, then the
        cells are merged over it, and fewer cells remain for the subsets without it.
        """
        table, left = self, list(dict.fromkeys(wanted))
        while left:
            key = max(table.members(union(left)), key=lambda i: table.sizes[i], default=None)
            chosen = [m for m in left if key is None or m >> key & 1]
            for block in table.blocks(chosen):
                yield from table.count_block(*block)
            left = [m for m in left if m not in set(chosen)]
            if left:
                table = table.merged(union(left))

    def blocks(self, wanted: list[int]) -> Iterator[tuple[int, list[int]]]:
        """Yield blocks of keys with the masks counted in them; greedy, deterministic."""
        limit = dense_limit(len(self.n))
        left = np.array(sorted(wanted, key=lambda m: (-self.cardinality(m), m)), dtype=np.uint64)
        keys = self.members(union(wanted))
        while len(left):
            block = int(left[0])
            if self.cardinality(block) > limit:
                yield block, [block]
                left = left[1:]
                continue
            while (wider := self.widen_block(block, keys, left, limit)) is not None:
                block = wider
            inside = (left & ~np.uint64(block)) == 0
            yield block, [int(m) for m in left[inside]]
            left = left[~inside]

    def widen_block(
        self, block: int, keys: Sequence[int], left: npt.NDArray[np.uint64], limit: int
    ) -> int | None:
        """Return the block with the key that brings in most masks, or None when none does."""
        size = self.cardinality(block)
        best, gain = None, (np.count_nonzero((left & ~np.uint64(block)) == 0), 0)
        for key in keys:
            if block >> key & 1 or size * self.sizes[key] > limit:
                continue
            inside = np.count_nonzero((left & ~np.uint64(block | 1 << key)) == 0)
            if inside > gain[0] and (inside, -self.sizes[key]) > gain:
                best, gain = block | 1 << key, (inside, -self.sizes[key])
        return best

    def ids(self, mask: int) -> tuple[Codes, int]:
        """Return class numbers for a mask."""
        members = self.members(mask)
        if not members:
            return np.zeros(len(self.n), dtype=np.int32), 1
        columns = [c for i in members if (c := self.columns[i]) is not None]
        return class_ids(columns, [self.sizes[i] for i in members])

    @property
    def row_counts(self) -> Ints | None:
        """Return the records of each cell, or None when each holds one."""
        return None if len(self.n) and int(self.n.max()) == 1 else self.n

    def count_block(self, block: int, masks: list[int]) -> Iterator[tuple[int, Ints]]:
        """Yield the class sizes of the masks inside one block."""
        ids, bound = self.ids(block)
        if masks == [block]:
            yield block, sizes_of(ids, bound, self.row_counts)
            return
        shape = [self.sizes[i] for i in self.members(block)]
        dense = np.bincount(ids, weights=self.row_counts, minlength=bound).reshape(shape)
        done: dict[int, npt.NDArray[Any]] = {block: dense}
        for mask in sorted(masks, key=lambda m: (-m.bit_count(), m)):
            parent = min((m for m in done if not mask & ~m), key=lambda m: (done[m].size, m))
            done[mask] = sum_over_axes(done[parent], self.members(parent), mask)
            yield mask, done[mask][done[mask] > 0].astype(np.int64)

    def merged(self, mask: int) -> CellTable:
        """Return the cells merged over the keys outside a mask, when that makes them fewer."""
        ids, bound = self.ids(mask)
        if bound <= max(dense_limit(len(self.n)), len(self.n)):
            n = np.bincount(ids, weights=self.n, minlength=bound).astype(np.int64)
            classes = np.flatnonzero(n)
            n = n[classes]
            columns = unravel_ids(classes, [self.sizes[i] for i in self.members(mask)])
        else:
            dense, n_classes = densify(ids.astype(np.int64))
            if n_classes > 0.8 * len(self.n):
                return self
            n = np.bincount(dense, weights=self.n, minlength=n_classes).astype(np.int64)
            first = np.empty(n_classes, dtype=np.int64)
            first[dense[::-1]] = np.arange(len(dense) - 1, -1, -1)
            columns = [c[first] for i in self.members(mask) if (c := self.columns[i]) is not None]
        kept = iter(columns)
        return CellTable(
            self.names,
            tuple(next(kept) if mask >> i & 1 else None for i in range(len(self.names))),
            self.sizes,
            n,
        )


def union(masks: Iterable[int]) -> int:
    """Return the keys of any of the masks."""
    result = 0
    for mask in masks:
        result |= mask
    return result


def sum_over_axes(table: npt.NDArray[Any], members: Sequence[int], mask: int) -> npt.NDArray[Any]:
    """Return a dense table summed over the axes whose key is not in the mask."""
    for axis in reversed([a for a, i in enumerate(members) if not mask >> i & 1]):
        table = table.sum(axis=axis)
    return table


def unravel_ids(ids: Ints, sizes: Sequence[int]) -> list[npt.NDArray[np.int32]]:
    """Return the codes that mixed-radix numbers stand for.

    In chunks that stay in the cache, and in 32 bits as soon as the numbers fit: ten times faster.
    """
    columns = [np.empty(len(ids), dtype=np.int32) for _ in sizes]
    for start in range(0, len(ids), CHUNK):
        here = slice(start, start + CHUNK)
        part: npt.NDArray[Any] = ids[here].astype(np.uint64)
        bound = prod(int(s) for s in sizes)
        for column, size in reversed(list(zip(columns, sizes, strict=True))):
            if bound < 2**32:
                part = part.astype(np.uint32, copy=False)
            divisor = part.dtype.type(size)
            higher = part // divisor
            column[here] = part - higher * divisor
            part, bound = higher, bound // int(size)
    return columns
