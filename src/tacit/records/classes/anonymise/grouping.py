"""Group rows of integer codes: the inner loop of every search on a lattice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints
from tacit.engine.coded import combine_codes
from tacit.numerics.kernels import Kernels
from tacit.stats.class_models import sum_by

Codes = npt.NDArray[np.int32]

#: Multiplier of the row hash: with 31-bit values the product stays within 63 bits.
MULTIPLIER = 2654435769
MASK = (1 << 31) - 1


def hash_rows(codes: Any, sizes: Any, packed: Any, ids: Any, table: Any, first: Any) -> int:
    """Give distinct rows numbers in order of first appearance; return how many there are.

    ``sizes`` bounds the codes of each column; where their product fits into 62 bits (``packed`` has room for
    one number a row then, else none) rows are compared as one number. ``table`` is an array of -1 whose length
    is a power of two, at least twice the number of rows.
    """
    rows, width = codes.shape
    last = len(table) - 1
    exact = len(packed) > 0
    found = 0
    for i in range(rows):
        h = np.int64(0)
        if exact:
            key = np.int64(0)
            for j in range(width):
                key = key * sizes[j] + codes[i, j]
            packed[i] = key
            h = (((key & MASK) * MULTIPLIER) >> 16) & MASK
            h = (((h ^ (key >> 31)) & MASK) * MULTIPLIER >> 16) & MASK
        else:
            for j in range(width):
                h = (((h ^ np.int64(codes[i, j])) * MULTIPLIER) >> 16) & MASK
        slot = h & last
        while True:
            group = table[slot]
            if group < 0:
                table[slot] = found
                first[found] = i
                ids[i] = found
                found += 1
                break
            other = first[group]
            same = True
            if exact:
                same = packed[other] == packed[i]
            else:
                for j in range(width):
                    if codes[other, j] != codes[i, j]:
                        same = False
                        break
            if same:
                ids[i] = group
                break
            slot = (slot + 1) & last
    return found


def merge_rows(
    codes: Any, n: Any, weight: Any, ids: Any, first: Any, rows: Any, sums: Any, weights: Any
) -> None:
    """Write the codes of each group into ``rows`` and add up its counts and weights."""
    for group in range(len(first)):
        for j in range(codes.shape[1]):
            rows[group, j] = codes[first[group], j]
    for i in range(len(ids)):
        sums[ids[i]] += n[i]
    for i in range(len(weight)):
        weights[ids[i]] += weight[i]


def price_rows(codes: Any, starts: Any, prices: Any, total: Any) -> None:
    """Add to each row the prices of its codes; column j begins at ``starts[j]`` in ``prices``."""
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            total[i] += prices[starts[j] + codes[i, j]]


KERNELS = Kernels(globals(), hash_rows, merge_rows, price_rows)


class Merged(NamedTuple):
    """Rows after equal ones were merged: the new row of each old one, and codes, counts and weights."""

    ids: Ints
    codes: Codes
    n: Ints
    weight: Floats | None


def merge_classes(
    codes: Codes, sizes: Sequence[int], n: Ints, weight: Floats | None = None
) -> Merged:
    """Merge equal rows of codes, numbered in order of first appearance; ``sizes`` bounds the codes of each column."""
    rows, width = codes.shape
    if not KERNELS.pays(4.0 * rows * width):
        keys = combine_codes(list(codes.T), sizes)[0] if codes.size else np.zeros(rows)
        _, first, at = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        ids, first, count = place[at.ravel()], first[order], len(order)
        total = np.zeros(count, dtype=np.int64)
        np.add.at(total, ids, n)
        added = None if weight is None else sum_by(ids, weight, count)
        return Merged(ids, codes[first], total, added)
    kernels = KERNELS.compiled()
    ids, first = np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
    table = np.full(max(2, 1 << (2 * rows - 1).bit_length()), -1, dtype=np.int32)
    bounds = np.asarray(sizes, dtype=np.int64)
    packed = np.empty(rows if math.prod(sizes) < 2**62 else 0, dtype=np.int64)
    count = kernels["hash_rows"](codes, bounds, packed, ids, table, first)
    merged = np.empty((count, width), dtype=np.int32)
    total, sums = np.zeros(count, dtype=np.int64), np.zeros(0 if weight is None else count)
    given = sums[:0] if weight is None else weight
    kernels["merge_rows"](codes, n, given, ids, first[:count], merged, total, sums)
    return Merged(ids, merged, total, None if weight is None else sums)


def add_prices(codes: Codes, starts: Ints, prices: Floats, offset: float) -> Floats:
    """Return, for each row, the sum of the prices of its codes, and the offset."""
    total = np.full(len(codes), offset)
    if KERNELS.pays(float(codes.size)):
        KERNELS.compiled()["price_rows"](codes, starts, prices, total)
        return total
    for j in range(codes.shape[1]):
        total += prices[starts[j] + codes[:, j]]
    return total
