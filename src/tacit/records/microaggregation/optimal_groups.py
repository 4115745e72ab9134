"""The groups with the least loss of all."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import Approximate, InputError, LimitReached
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.records.microaggregation.grouping.near import Space, find_nearest_records
from tacit.records.microaggregation.grouping.pairs import find_cheapest_pairing
from tacit.records.microaggregation.optimal_univariate import OptimalUnivariate
from tacit.registry import register

#: Records whose subsets are all looked at.
ALL_SUBSETS = 18
#: Records that are partitioned into pairs and triples.
PAIRS_UP_TO = 10_000


@register
class OptimalGroups(GroupingMethod):
    """Replace numbers by the means of the groups with the least loss of all, proven.

    One column is solved at any size. With several columns the problem is NP-hard: up to 18 records are
    solved for any k, up to 10,000 for k = 2, and larger cases are refused.

    References
    ----------
    Oganian, Domingo-Ferrer (2001), On the complexity of optimal microaggregation for statistical disclosure
    control, Statistical Journal of the UNECE 18, 345-354.
    """

    kind: Literal["optimal_groups"] = "optimal_groups"

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records.

        Up to 18 records are solved by a dynamic programme over subsets: f(S) = min of SSE(g) + f(S without g)
        over the groups g of k to 2k - 1 records of S that hold its first record. With k = 2, up to 10,000 are
        solved as a set-partitioning problem over all pairs and triples, by column generation with cuts. Where
        time runs out first (on extremely skewed data), a warning says how far above the optimum the answer
        can be.
        """
        n, p = x.shape
        if n < self.k:
            raise InputError(f"groups of {self.k} need at least {self.k} records")
        if p == 1:
            return OptimalUnivariate(k=self.k).groups(x, rng, tick)
        if n <= ALL_SUBSETS:
            return over_subsets(Space.of_records(x).squared, self.k)
        if self.k > 2:
            raise LimitReached(
                f"the optimum is found for up to {ALL_SUBSETS} records when k is above 2; use mdav with improve=True, which comes close at any size"
            )
        if n > PAIRS_UP_TO:
            raise LimitReached(
                f"the optimum for k = 2 is found for up to {PAIRS_UP_TO:,} records; group within classes of other columns, or use two_approximation"
            )
        found = find_cheapest_pairing(Space.of_records(x), "sse", tick)
        if not found.proven:
            above = (found.value - found.bound) / found.bound if found.bound > 0 else np.inf
            warnings.warn(
                f"optimal: not proven in time; the SSE is at most {100 * above:.2g} per cent above the optimum",
                Approximate,
                stacklevel=2,
            )
        return found.labels


def lower_bound(x: Floats, k: int) -> float:
    """Return an SSE that no groups of at least k records fall below.

    The SSE of a group of s records is the sum over its members of 1/(2s) times their squared distances to
    the others, which is at least 1/(2s) times those to their s - 1 nearest records, and that grows with s:

        SSE >= sum over records of 1/(2k) * (squared distances to the k - 1 nearest).

    It takes a nearest-neighbour search only; see ``optimal`` and ``two_approximation`` for sharper ones.
    """
    return float(find_nearest_records(x, k - 1)[1].sum()) / (2.0 * k)


def over_subsets(d: Floats, k: int) -> Ints:
    """Return the optimal groups of a few records, given their squared distances."""
    if len(d) < 2 * k:
        return np.zeros(len(d), dtype=np.int64)
    labels: Ints = KERNELS.pick(0.4 * 3.0 ** len(d))["programme"](d, k)
    return labels


def programme(d: Any, k: int) -> Any:
    """Return the groups by dynamic programming over subsets, held as bit masks."""
    n = len(d)
    full = (1 << n) - 1
    size = np.zeros(full + 1, dtype=np.int64)
    pairs = np.zeros(full + 1)
    for s in range(1, full + 1):
        low = 0
        while not (s >> low) & 1:
            low += 1
        rest = s ^ (1 << low)
        size[s] = size[rest] + 1
        pairs[s] = pairs[rest]
        for v in range(low + 1, n):
            if (rest >> v) & 1:
                pairs[s] += d[low, v]
    least = np.full(full + 1, np.inf)
    least[0] = 0.0
    choice = np.zeros(full + 1, dtype=np.int64)
    for s in range(1, full + 1):
        if size[s] < k:
            continue
        low = s & -s
        rest = s ^ low
        g = rest
        while True:
            group = g | low
            left = s ^ group
            if k <= size[group] < 2 * k and least[left] < np.inf:
                value = pairs[group] / size[group] + least[left]
                if value < least[s]:
                    least[s] = value
                    choice[s] = group
            if g == 0:
                break
            g = (g - 1) & rest
    labels = np.empty(n, dtype=np.int64)
    s = full
    groups = 0
    while s:
        for v in range(n):
            if (choice[s] >> v) & 1:
                labels[v] = groups
        groups += 1
        s ^= choice[s]
    return labels


KERNELS = Kernels(globals(), programme)
