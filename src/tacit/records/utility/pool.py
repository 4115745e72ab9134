"""Two files as one design matrix, for models that tell them apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.stats.designs import dummies
from tacit.stats.propensity import FOLDS

#: Categories of a column that get a dummy of their own; rarer ones share one.
LEVELS = 20
#: Positions of the records used, in the original and in the masked file.
At = tuple[Ints, Ints]


@dataclass(frozen=True)
class Pool:
    """Both files as one design matrix, originals first."""

    #: The matrix, and 1 for records of the original.
    x: Floats
    r: Floats
    #: For each column of the matrix: -1 for numbers, else the number of its categorical column.
    groups: tuple[int, ...]
    #: For each column of the matrix: the position of the data's column it stems from.
    owner: Ints
    #: The fold of each record, the same for both versions of a record.
    fold: Ints
    #: Records of both files before any draw.
    sizes: tuple[int, int]

    @property
    def share(self) -> float:
        """Return c, the share of original records."""
        return float(self.r.mean())

    def some(self, most: int, rng: np.random.Generator) -> Pool:
        """Return the pool, or a random draw of its records when there are more."""
        at = draw_positions(len(self.r), most, rng)
        return replace(self, x=self.x[at], r=self.r[at], fold=self.fold[at])


@dataclass(frozen=True)
class Numeric:
    """A column of numbers in both files."""

    old: Floats
    new: Floats

    @property
    def holed(self) -> bool:
        """Return True when a number is missing."""
        return bool(np.isnan(self.old).any() or np.isnan(self.new).any())

    def groups(self, j: int) -> tuple[int, ...]:
        """Return -1 for the numbers, and the column's position for the dummy of missing ones."""
        return (-1, j) if self.holed else (-1,)

    def columns(self, at: At) -> Floats:
        """Return the numbers of some records, missing ones at the mean with a dummy beside."""
        x = np.concatenate([self.old[at[0]], self.new[at[1]]])
        if not self.holed:
            return x[:, None]
        gone = np.isnan(x)
        x = np.where(gone, x[~gone].mean() if (~gone).any() else 0.0, x)
        return np.column_stack([x, gone.astype(np.float64)])


@dataclass(frozen=True)
class Categories:
    """A categorical column in both files, its rare categories together as the last code."""

    old: Ints
    new: Ints
    size: int

    @classmethod
    def of(cls, old: Ints, new: Ints, size: int) -> Categories:
        """Return the column with at most LEVELS categories and one for the rest, the commonest first."""
        counts = np.bincount(old, minlength=size) + np.bincount(new, minlength=size)
        order = np.argsort(-counts, kind="stable")
        kept = min(int((counts > 0).sum()), LEVELS + 1)
        code = np.full(size, kept - 1, dtype=np.int64)
        code[order[:kept]] = np.arange(kept)
        return cls(code[old], code[new], max(kept, 1))

    def groups(self, j: int) -> tuple[int, ...]:
        """Return the column's position once a dummy."""
        return (j,) * (self.size - 1)

    def columns(self, at: At) -> Floats:
        """Return the dummies of some records."""
        return dummies(np.concatenate([self.old[at[0]], self.new[at[1]]]), self.size)


def draw_records(sizes: tuple[int, int], most: int, rng: np.random.Generator) -> At:
    """Return the records used of each file; the same of both where the files are of one length."""
    first = draw_positions(sizes[0], most, rng)
    return first, first if sizes[0] == sizes[1] else draw_positions(sizes[1], most, rng)


def draw_positions(n: int, most: int, rng: np.random.Generator) -> Ints:
    """Return all positions, or a random draw of them in ascending order."""
    if n <= most:
        return np.arange(n)
    return np.sort(rng.choice(n, most, replace=False)).astype(np.int64)


def folds(at: At, rng: np.random.Generator) -> Ints:
    """Return a fold per pooled record: the same for both versions of a record.

    Otherwise a model would recognise a masked record by its original.
    """
    length = max(int(a.max()) for a in at) + 1
    label = rng.permutation(length) % FOLDS
    return np.concatenate([label[at[0]], label[at[1]]]).astype(np.int64)
