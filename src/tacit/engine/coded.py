"""One column as integer codes, and several columns as one integer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tacit.arrays import Ints


@dataclass(frozen=True)
class Coded:
    """One column as integer codes."""

    #: 0 .. len(values) - 1 in the ascending order of values; null is coded len(values).
    codes: npt.NDArray[np.int32]
    #: The distinct values that are not null, ascending.
    values: pa.Array

    @property
    def size(self) -> int:
        """Return the number of codes, null's included."""
        return len(self.values) + 1

    @property
    def null(self) -> int:
        """Return the code of null."""
        return len(self.values)

    def decode(self, codes: npt.NDArray[Any] | None = None) -> pa.Array:
        """Return values for codes (by default the column's own)."""
        picked = self.codes if codes is None else codes
        return self.values.take(pa.array(picked, mask=picked == self.null))


def encode(column: pa.ChunkedArray | pa.Array) -> Coded:
    """Code one column: ascending values, null last."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = array if pa.types.is_dictionary(array.type) else pc.dictionary_encode(array)
    values = encoded.dictionary
    order = pc.sort_indices(values).to_numpy()
    rank = np.empty(len(order) + 1, dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    rank[-1] = len(order)
    indices = pc.fill_null(encoded.indices, len(order)).to_numpy(zero_copy_only=False)
    return Coded(rank[indices], values.take(pa.array(order)))


def combine_codes(
    columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int], kind: type[np.integer] = np.int64
) -> tuple[Ints, int]:
    """Return one integer per row for several codes, hashed on the way when 64 bits do not hold them."""
    ids = columns[0].astype(kind)
    bound = int(sizes[0])
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if bound * int(size) >= 2**62:
            ids, bound = densify(ids)
        ids *= int(size)
        ids += column
        bound *= int(size)
    return ids, bound


def densify(ids: Ints) -> tuple[Ints, int]:
    """Return the same grouping with numbers 0 .. n-1, by hashing."""
    encoded = pc.dictionary_encode(pa.array(ids))
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def separate(ids: Ints, sizes: Sequence[int]) -> list[npt.NDArray[np.int32]]:
    """Return the codes behind mixed-radix integers that were made without hashing."""
    columns = []
    for size in reversed(sizes):
        columns.append((ids % size).astype(np.int32))
        ids = ids // size
    return columns[::-1]
