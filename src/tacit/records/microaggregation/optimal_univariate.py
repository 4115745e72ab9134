"""Each column grouped by itself with the least loss."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class OptimalUnivariate(GroupingMethod):
    """Replace the numbers of each column by the means of groups of k to 2k - 1 with the least loss.

    Every column is sorted by itself; a recursion over the size of the last group,

        f(j) = min over s = k..2k-1 of f(j - s) + SSE(x_(j-s+1), ..., x_(j)),

    finds the groups of that column with the least loss of all.

    References
    ----------
    Hansen, Mukherjee (2003), A polynomial algorithm for optimal univariate microaggregation, IEEE
    Transactions on Knowledge and Data Engineering 15, 1043-1044.
    """

    kind: Literal["optimal_univariate"] = "optimal_univariate"

    each_column: ClassVar[bool] = True

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records, in O(n log n + n k); ties go to the smaller group.

        Optimal groups are consecutive in sorted order and have k to 2k - 1 records.
        """
        del rng
        values = x.reshape(len(x), -1)
        if values.shape[1] != 1:
            raise InputError(
                "optimal_univariate groups one column at a time; use path, mdav or optimal for several"
            )
        tick("optimal groups", None)
        return group_along_order(values, np.argsort(values[:, 0], kind="stable"), self.k)


def group_along_order(x: Floats, order: Ints, k: int) -> Ints:
    """Return the optimal groups of at least k consecutive records in an order."""
    if len(x) < k:
        raise InputError(f"groups of {k} need at least {k} records")
    labels = np.empty(len(x), dtype=np.int64)
    labels[order] = KERNELS.pick(len(x) * k * x.shape[1])["recursion"](
        np.ascontiguousarray(x[order], dtype=np.float64), k
    )
    return labels


def recursion(x: Any, k: int) -> Any:
    """Return the groups of rows in order.

    The SSE of the last s rows is updated row by row from the end (Welford): prefix sums of squares would
    lose all digits of groups that are narrow compared with the whole.
    """
    n, p = x.shape
    longest = 2 * k - 1 if n >= 2 * k else n
    least = np.full(n + 1, np.inf)
    least[0] = 0.0
    size = np.zeros(n + 1, dtype=np.int64)
    mean = np.empty(p)
    for j in range(k, n + 1):
        mean[:] = x[j - 1]
        sse = 0.0
        for s in range(1, min(longest, j) + 1):
            for q in range(p):
                away = x[j - s, q] - mean[q]
                mean[q] += away / s
                sse += away * (x[j - s, q] - mean[q])
            if s >= k and least[j - s] + sse < least[j]:
                least[j] = least[j - s] + sse
                size[j] = s
    labels = np.empty(n, dtype=np.int64)
    groups = 0
    j = n
    while j > 0:
        labels[j - size[j] : j] = groups
        groups += 1
        j -= size[j]
    return groups - 1 - labels


KERNELS = Kernels(globals(), recursion)
