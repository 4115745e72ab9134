"""Numbers and categories as the columns of a regression, held in little space and read in chunks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.algebra import dot, eigh

#: Records read at a time.
CHUNK = 1 << 17
#: Directions with less than this share of the largest variance are taken for rounding.
COLLINEAR = 1e-10


@dataclass(frozen=True)
class Design:
    """Standardised numbers and dummies of categories: every column has mean 0 and variance 1."""

    #: Records.
    n: int
    #: The numbers, standardised, one row per record.
    numbers: Floats
    #: For each categorical column the level of each record, and the share of each level; the last
    #: level has no dummy.
    codes: tuple[Ints, ...] = ()
    shares: tuple[Floats, ...] = ()

    @classmethod
    def of(cls, numbers: Floats, categories: Sequence[Ints] = ()) -> Design:
        """Return the design of some numbers, none of them constant, and of categories coded 0, 1, ..."""
        centered = numbers - numbers.mean(axis=0)
        spread = np.sqrt((centered * centered).mean(axis=0))
        codes, shares = [], []
        for column in categories:
            counts = np.bincount(column)
            codes.append((np.cumsum(counts > 0) - 1)[column])
            shares.append(counts[counts > 0] / max(len(column), 1))
        return cls(len(numbers), centered / spread, tuple(codes), tuple(shares))

    @property
    def width(self) -> int:
        """Return the number of columns, dummies included."""
        return self.numbers.shape[1] + sum(len(s) - 1 for s in self.shares)

    def rows(self, start: int, stop: int) -> Floats:
        """Return some records."""
        parts = [self.numbers[start:stop]]
        for codes, share in zip(self.codes, self.shares, strict=True):
            levels = np.arange(len(share) - 1)
            hit = codes[start:stop, None] == levels
            p = share[:-1]
            parts.append((hit - p) / np.sqrt(p * (1.0 - p)))
        return np.hstack(parts)

    def chunks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield the records in chunks."""
        for start in range(0, self.n, CHUNK):
            stop = min(start + CHUNK, self.n)
            yield slice(start, stop), self.rows(start, stop)


def cross(design: Design, *blocks: Floats) -> Floats:
    """Return the second moments of the design and further columns of mean 0, all together."""
    width = design.width + sum(b.shape[1] for b in blocks)
    total = np.zeros((width, width))
    for at, rows in design.chunks():
        chunk = np.hstack([rows, *(b[at] for b in blocks)])
        total += dot(chunk.T, chunk)
    return total / max(design.n, 1)


def solve(moments: Floats, against: Floats) -> Floats:
    """Return moments^-1 against, directions without variance left out."""
    if not len(moments):
        return np.zeros((0, against.shape[1]))
    values, vectors = eigh(moments)
    use = values > COLLINEAR * max(float(values[-1]), 0.0)
    picked = vectors[:, use]
    return np.asarray(dot(picked, (dot(picked.T, against)) / values[use, None]))
