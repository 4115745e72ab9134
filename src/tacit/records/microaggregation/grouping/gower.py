"""MDAV for mixed data: numbers, ordered and nominal categories, with Gower's distance.

The distance of two records is the weighted mean over the columns of

    numbers              |a - b| / range
    ordered categories   |rank a - rank b| / (levels - 1)
    nominal categories   0 if equal, else 1

and the middle of some records has the mean of each number, the (lower) median of each ordered category
and the most frequent nominal category.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.grouping.loss import Tick

#: Distances computed between two looks at the clock.
BUDGET = 200_000_000


class Mixed(NamedTuple):
    """Records of mixed columns, scaled so that Gower's distance is a plain sum."""

    #: One column per number: value over range, times weight.
    numbers: Floats
    #: One column per ordered or nominal column: category 0, 1, ...; ordered ones by rank.
    codes: Ints
    #: For an ordered column, what one rank of difference counts; 0 for a nominal column.
    steps: Floats
    #: For a nominal column, what a difference counts; 0 for an ordered column.
    differs: Floats
    #: Categories a column.
    levels: Ints

    @classmethod
    def of(
        cls,
        numbers: Floats,
        ordered: Ints,
        nominal: Ints,
        weights: tuple[Floats, Floats, Floats],
    ) -> Mixed:
        """Scale columns; weights are those of numbers, ordered and nominal columns.

        A number without spread and an ordered column of one level count 0.
        """
        total = float(sum(w.sum() for w in weights))
        n = len(numbers)
        range_ = np.ptp(numbers, axis=0) if n else np.ones(numbers.shape[1])
        unit = np.where(range_ > 0, weights[0] / np.where(range_ > 0, range_, 1.0), 0.0) / total
        codes = np.ascontiguousarray(np.column_stack([ordered, nominal]).astype(np.int64))
        levels = codes.max(axis=0) + 1 if n else np.ones(codes.shape[1], dtype=np.int64)
        many = levels[: ordered.shape[1]] - 1
        steps = np.where(many > 0, weights[1] / np.maximum(many, 1), 0.0) / total
        return cls(
            # About the middle, so that sums keep their digits.
            np.ascontiguousarray((numbers - (numbers.mean(axis=0) if n else 0.0)) * unit),
            codes,
            np.concatenate([steps, np.zeros(nominal.shape[1])]),
            np.concatenate([np.zeros(ordered.shape[1]), weights[2] / total]),
            levels.astype(np.int64),
        )

    def take(self, rows: Ints) -> Mixed:
        """Return some of the records, on the scale of all."""
        codes = np.ascontiguousarray(self.codes[rows])
        return self._replace(numbers=np.ascontiguousarray(self.numbers[rows]), codes=codes)


def mdav_gower(data: Mixed, k: int, *, tick: Tick) -> Ints:
    """Return MDAV's groups of mixed records, two seeds per round; ties go to the record that comes first.

    Exact: every distance is computed, n^2 / k of them in all.
    """
    n, width = len(data.numbers), data.numbers.shape[1] + data.codes.shape[1]
    kernel = KERNELS.pick(1.2 * n * n / k * width)["form_groups"]
    labels = np.full(n, -1, dtype=np.int64)
    left = np.arange(n)
    group = 0
    while len(left):
        tick("forming groups", 1.0 - len(left) / n)
        left, group = kernel(data, left, labels, group, k, BUDGET)
    return labels


# -- kernels: numbers and arrays only --------------------------------------------------------------


def compute_gower_distance(data: Mixed, i: int, numbers: Floats, codes: Ints) -> float:
    """Return Gower's distance of a record from a point of scaled numbers and codes."""
    d = 0.0
    for j in range(len(numbers)):
        d += abs(numbers[j] - data.numbers[i, j])
    for j in range(len(codes)):
        if codes[j] != data.codes[i, j]:
            d += data.differs[j] + data.steps[j] * abs(codes[j] - data.codes[i, j])
    return d


def compute_centre(data: Mixed, left: Ints) -> tuple[Floats, Ints]:
    """Return means, lower medians (ordered) and modes (nominal; the first of equals) of some records."""
    numbers, codes = data.numbers, data.codes
    mean = np.zeros(numbers.shape[1])
    for i in left:
        for j in range(numbers.shape[1]):
            mean[j] += numbers[i, j]
    mean /= len(left)
    typical = np.zeros(codes.shape[1], dtype=np.int64)
    for j in range(codes.shape[1]):
        counts = np.zeros(data.levels[j], dtype=np.int64)
        for i in left:
            counts[codes[i, j]] += 1
        if data.steps[j] > 0:
            passed = counts[0]
            while 2 * passed < len(left):
                typical[j] += 1
                passed += counts[typical[j]]
        else:
            typical[j] = counts.argmax()
    return mean, typical


def find_farthest_record(data: Mixed, left: Ints, numbers: Floats, codes: Ints) -> int:
    """Return the record left that is farthest from a point."""
    best, record = -1, -1.0
    for i in left:
        d = compute_gower_distance(data, i, numbers, codes)
        if d > record:
            best, record = i, d
    return best


def take_nearest(data: Mixed, left: Ints, labels: Ints, seed: int, group: int, k: int) -> Ints:
    """Put a record and its k - 1 nearest into a group; return the records that are left."""
    near = np.full(k, -1, dtype=np.int64)
    far = np.full(k, np.inf)
    for i in left:
        d = compute_gower_distance(data, i, data.numbers[seed], data.codes[seed])
        if i == seed:
            d = -1.0
        if d < far[k - 1]:
            at = k - 1
            while at > 0 and far[at - 1] > d:
                far[at], near[at] = far[at - 1], near[at - 1]
                at -= 1
            far[at], near[at] = d, i
    for i in near:
        labels[i] = group
    return left[labels[left] < 0]


def form_groups(
    data: Mixed, left: Ints, labels: Ints, group: int, k: int, budget: int
) -> tuple[Ints, int]:
    """Form groups until the budget of distances is spent; return the records left and the next group."""
    spent = 0
    while len(left) >= 2 * k and spent < budget:
        spent += 5 * len(left)
        mean, typical = compute_centre(data, left)
        r = find_farthest_record(data, left, mean, typical)
        s = find_farthest_record(data, left, data.numbers[r], data.codes[r])
        two = len(left) >= 3 * k
        left = take_nearest(data, left, labels, r, group, k)
        group += 1
        if two:
            # s may have joined r's group when many records are alike.
            if labels[s] >= 0:
                s = find_farthest_record(data, left, data.numbers[r], data.codes[r])
            left = take_nearest(data, left, labels, s, group, k)
            group += 1
    if len(left) < 2 * k:
        for i in left:
            labels[i] = group
        left = left[:0]
    return left, group


KERNELS = Kernels(
    globals(),
    compute_gower_distance,
    compute_centre,
    find_farthest_record,
    take_nearest,
    form_groups,
)
