"""Equal rows of a matrix of numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints

#: Odd multipliers of a mixing hash; what it cannot tell apart is compared in full.
MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))


@dataclass(frozen=True)
class Distinct:
    """The distinct rows of a matrix: where each stands ``first``, which one each row is (``of``), and how often it occurs."""

    first: Ints
    of: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.first)


def distinct_rows(x: Floats) -> Distinct:
    """Return the distinct rows of a matrix; rows are equal when all their numbers are."""
    x = np.ascontiguousarray(x + 0.0)  # -0 and 0 are one number, but two patterns of bits
    found = np.unique(hash_rows(x), return_index=True, return_inverse=True, return_counts=True)
    first, of, count = (np.asarray(part, dtype=np.int64) for part in found[1:])
    if not np.array_equal(x[first[of]], x, equal_nan=True):
        found = np.unique(x, axis=0, return_index=True, return_inverse=True, return_counts=True)
        first, of, count = (np.asarray(part, dtype=np.int64).ravel() for part in found[1:])
    return Distinct(first, of, count)


def hash_rows(x: Floats) -> npt.NDArray[np.uint64]:
    """Return 64 mixed bits a row."""
    bits = x.view(np.uint64)
    out = np.zeros(len(x), dtype=np.uint64)
    for column in bits.T:
        out = (out ^ column) * MIX[0]
        out = (out ^ (out >> np.uint64(29))) * MIX[1]
        out ^= out >> np.uint64(32)
    return out
