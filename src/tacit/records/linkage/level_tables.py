"""Levels of agreement between distinct values: texts that are written alike, dates that slipped.

Values are compared once, not once for each pair of records. All pairs of distinct values would still be many: a bound
on the letters that two texts can have in common leaves few of them, and only these are scored.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError

TextLevels = Literal["jaro_winkler", "edit"]

#: Pairs of distinct values up to which texts are compared.
TEXT_PAIRS = 20_000_000_000
#: Pairs looked at together.
BLOCK = 1 << 22
#: Classes of letters in a mask; each has a bit for the first and one for a second occurrence.
CLASSES = 32
#: Jaro-Winkler: similarity from which on a common beginning counts, its weight by letter, and letters counted.
BOOST, PREFIX, BEGINNING = 0.7, 0.1, 4


@dataclass(frozen=True)
class LevelTable:
    """Levels of agreement of pairs of values, kept where there is some.

    The row of each value begins at ``start``, whose last entry is the end of the last; ``other`` has the values that agree
    with it, ascending, and ``level`` how well. ``low`` is the number of the first value.
    """

    start: Ints
    other: Ints
    level: Ints
    low: int = 0

    @classmethod
    def of(cls, left: Ints, right: Ints, level: Ints, size: int, low: int = 0) -> LevelTable:
        """Return a table of pairs; of the levels of one pair the highest counts."""
        order = np.lexsort((-level, right, left))
        left, right, level = left[order], right[order], level[order]
        first = np.ones(len(left), dtype=bool)
        first[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
        left, right, level = left[first], right[first], level[first]
        start = np.concatenate([[0], np.cumsum(np.bincount(left, minlength=size))])
        return cls(start.astype(np.int64), right, level, low)

    def __len__(self) -> int:
        return len(self.start) - 1

    @functools.cached_property
    def keys(self) -> Ints:
        """Return one ascending number for each pair."""
        return np.repeat(np.arange(len(self)), np.diff(self.start)) * len(self) + self.other

    def look_up(self, left: Floats, right: Floats) -> Ints:
        """Return the level of values that stand side by side; 0 where one is missing."""
        known = np.isfinite(left) & np.isfinite(right)
        out = np.zeros(len(left), dtype=np.int64)
        if not len(self.other):
            return out
        width, keys = len(self), self.keys
        wanted = (left[known] - self.low).astype(np.int64) * width + (
            right[known] - self.low
        ).astype(np.int64)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        out[known] = np.where(keys[at] == wanted, self.level[at], 0)
        return out


# -- texts -------------------------------------------------------------------------------------------


def compare_texts(
    values: Sequence[str], ours: Ints, theirs: Ints, by: TextLevels, limits: Sequence[float]
) -> LevelTable:
    """Return the levels of texts ``ours`` with texts ``theirs``: the number of limits that a pair meets.

    ``limits`` go from loose to strict; equal texts are one level above.
    """
    if len(ours) * len(theirs) > TEXT_PAIRS:
        raise InputError(
            f"{len(ours):,} x {len(theirs):,} different texts are too many to be compared letter by letter. "
            "Compare that column by equality, or parts of it."
        )
    left, right = find_text_pairs(values, ours, theirs, by, limits[0])
    level = score_texts(values, left, right, by, limits)
    some = level > 0
    same = np.intersect1d(ours, theirs)
    exact = np.full(len(same), len(limits) + 1)
    return LevelTable.of(
        np.concatenate([left[some], same]),
        np.concatenate([right[some], same]),
        np.concatenate([level[some], exact]),
        len(values),
    )


def score_texts(
    values: Sequence[str], left: Ints, right: Ints, by: TextLevels, limits: Sequence[float]
) -> Ints:
    """Return the level of each pair of different texts."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA, JaroWinkler

    out = np.zeros(len(left), dtype=np.int64)
    for begin in range(0, len(left), BLOCK):
        at = slice(begin, begin + BLOCK)
        one, two = [values[i] for i in left[at]], [values[i] for i in right[at]]
        if by == "edit":
            score = process.cpdist(one, two, scorer=OSA.distance, dtype=np.int32)
            meets = [score <= limit for limit in limits]
        else:
            score = process.cpdist(one, two, scorer=JaroWinkler.similarity, dtype=np.float64)
            meets = [score >= limit - 1e-12 for limit in limits]
        out[at] = np.sum(meets, axis=0)
    return out


def find_text_pairs(
    values: Sequence[str], ours: Ints, theirs: Ints, by: TextLevels, limit: float
) -> tuple[Ints, Ints]:
    """Return the pairs of different texts whose letters allow the loosest level.

    With m letters in common, Jaro's similarity is at most (m / |a| + m / |b| + 1) / 3, and at least
    max(|a|, |b|) - m edits are needed. m is at most the smaller of |a| - bits(a) and |b| - bits(b), plus the bits that
    both have, where a text's bits say which classes of letters occur once and twice.
    """
    none = np.empty(0, dtype=np.int64)
    if not len(ours) or not len(theirs):
        return none, none
    length, mask, first = describe_letters(values)
    bits = np.bitwise_count(mask).astype(np.int64)
    beyond = length - bits
    kind = np.unique(np.column_stack([length, beyond, first])[ours], axis=0, return_inverse=True)
    found: list[tuple[Ints, Ints]] = []
    b_mask = mask[theirs]
    b_length, b_beyond, b_first = (x[theirs] for x in (length, beyond, first))
    rows_of = group_positions(kind[1].ravel(), len(kind[0]))
    for (size, rest, letter), rows in zip(kind[0].tolist(), rows_of, strict=True):
        need = least_common(size, b_length, b_first == letter, by, limit)
        least = np.clip(need - np.minimum(rest, b_beyond), 0, 65).astype(np.uint8)
        possible = np.flatnonzero(least <= 64)
        step = max(1, BLOCK // max(len(possible), 1))
        for begin in range(0, len(rows), step):
            some = ours[rows[begin : begin + step]]
            common = np.bitwise_count(mask[some][:, None] & b_mask[possible][None, :])
            i, j = np.nonzero(common >= least[possible][None, :])
            left, right = some[i], theirs[possible[j]]
            differ = left != right
            found.append((left[differ], right[differ]))
    left, right = (np.concatenate([none, *(pair[k] for pair in found)]) for k in (0, 1))
    return left, right


def group_positions(label: Ints, n: int) -> list[Ints]:
    """Return the positions of each label from 0 to n - 1."""
    order = np.argsort(label, kind="stable")
    return np.split(order, np.cumsum(np.bincount(label, minlength=n))[:-1])


def least_common(size: int, sizes: Ints, same_first: Flags, by: TextLevels, limit: float) -> Ints:
    """Return how many letters a text of some size and others must at least have in common."""
    if by == "edit":
        return np.asarray(np.maximum(size, sizes) - int(limit), dtype=np.int64)
    boosted = max((limit - BEGINNING * PREFIX) / (1 - BEGINNING * PREFIX), min(BOOST, limit))
    needed = np.where(same_first, boosted, limit)
    with np.errstate(divide="ignore"):
        least = (3 * needed - 1) / (1 / max(size, 0.5) + 1 / np.maximum(sizes, 0.5))
    return np.ceil(least - 1e-6).astype(np.int64)


def describe_letters(values: Sequence[str]) -> tuple[Ints, npt.NDArray[np.uint64], Ints]:
    """Return the length, the mask of classes of letters and the first letter of each text."""
    length = np.array([len(v) for v in values], dtype=np.int64)
    letters = np.frombuffer("".join(values).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    owner = np.repeat(np.arange(len(values)), length)
    count = np.bincount(owner * CLASSES + letters % CLASSES, minlength=len(values) * CLASSES)
    count = count.reshape(len(values), CLASSES)
    powers = np.uint64(1) << np.arange(CLASSES, dtype=np.uint64)
    once = (np.where(count >= 1, powers, np.uint64(0))).sum(axis=1, dtype=np.uint64)
    twice = (np.where(count >= 2, powers, np.uint64(0))).sum(axis=1, dtype=np.uint64)
    first = np.full(len(values), -1, dtype=np.int64)
    starts = np.cumsum(length) - length
    first[length > 0] = letters[starts[length > 0]]
    return length, once | (twice << np.uint64(CLASSES)), first


# -- dates -------------------------------------------------------------------------------------------


def find_slipped_dates(ours: Ints, theirs: Ints) -> tuple[Ints, Ints]:
    """Return pairs of different days that one slip of the pen turns into each other.

    A slip exchanges day and month, replaces one of the eight digits, or exchanges two neighbours.
    """
    if not len(ours) or not len(theirs):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    a, b = write_digits(ours), write_digits(theirs)
    order = np.argsort(b)
    ranked = b[order]
    year, month, day = a // 10_000, a // 100 % 100, a % 100
    slips = [year * 10_000 + day * 100 + month]
    digit = [a // 10**k % 10 for k in range(8)]
    for k in range(8):
        slips += [a + (new - digit[k]) * 10**k for new in range(10)]
    for k in range(7):
        slips.append(a + (digit[k + 1] - digit[k]) * (10**k - 10 ** (k + 1)))
    found: list[tuple[Ints, Ints]] = []
    for slip in slips:
        at = np.minimum(np.searchsorted(ranked, slip), len(ranked) - 1)
        hit = np.flatnonzero((ranked[at] == slip) & (slip != a))
        found.append((ours[hit], theirs[order[at[hit]]]))
    return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])


def write_digits(days: Ints) -> Ints:
    """Return days since 1970 as numbers of eight digits, year, month and day."""
    date = days.astype("datetime64[D]")
    month = date.astype("datetime64[M]")
    year = date.astype("datetime64[Y]").astype(np.int64) + 1970
    return np.asarray(
        year * 10_000
        + (month.astype(np.int64) % 12 + 1) * 100
        + (date - month.astype("datetime64[D]")).astype(np.int64)
        + 1,
        dtype=np.int64,
    )
