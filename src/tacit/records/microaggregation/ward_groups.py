"""k-Ward: agglomeration that stops at groups of k."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping.loss import Tick
from tacit.registry import register


@register
class WardGroups(GroupingMethod):
    """Replace numbers by the means of groups that Ward's agglomeration joins (k-Ward).

    The two groups whose union raises the loss least are joined, never two of k records or more, until all
    have k. Groups of 2k or more are treated in the same way again.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure
    control, IEEE Transactions on Knowledge and Data Engineering 14, 189-201.
    """

    kind: Literal["ward_groups"] = "ward_groups"

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records.

        The k records with the smallest and the k with the largest mean over their columns are the first two
        groups, the others are single. The union of two groups raises the SSE by

            |A| |B| / (|A| + |B|) * ||mean_A - mean_B||^2.

        Joining nearest neighbours of one another in any order gives the same groups as joining the nearest
        pair of all, since the cost of Ward never falls below that of the parts (and neither does it with the
        ban), so that no distances are stored: O(n^2 p) time, O(n p) memory.
        """
        del rng
        labels = np.zeros(len(x), dtype=np.int64)
        groups = 1
        waiting = [np.arange(len(x))]
        while waiting:
            part = waiting.pop()
            if len(part) < 2 * self.k:
                continue
            tick("joining groups", None)
            found = KERNELS.pick(len(part) ** 2 * x.shape[1])["agglomerate_records"](
                x[part], np.argsort(x[part].mean(axis=1), kind="stable"), self.k
            )
            labels[part] = np.where(found == 0, labels[part[0]], groups + found - 1)
            groups += int(found.max())
            sizes = np.bincount(found)
            waiting += [part[found == g] for g in np.flatnonzero(sizes >= 2 * self.k)]
        return labels


def agglomerate_records(x: Any, order: Any, k: int) -> Any:
    """Return the groups of one agglomeration of at least 2k records; ``order`` sorts them."""
    n, p = x.shape
    mean = np.empty((n, p))
    size = np.empty(n, dtype=np.int64)
    owner = np.empty(n, dtype=np.int64)
    many = n - 2 * k + 2
    mean[:2] = 0.0
    for i in range(n):
        g = 0 if i < k else (1 if i >= n - k else i - k + 2)
        owner[order[i]] = g
        if g < 2:
            mean[g] += x[order[i]] / k
            size[g] = k
        else:
            mean[g] = x[order[i]]
            size[g] = 1
    alive = np.arange(many)
    place = np.arange(many)
    chain = np.empty(many, dtype=np.int64)
    into = np.arange(many)
    length = 0
    small = many - 2
    while small > 0:
        if length == 0:
            # The lowest small group starts a chain.
            lowest = n
            for i in range(many):
                if size[alive[i]] < k and alive[i] < lowest:
                    lowest = alive[i]
            chain[0] = lowest
            length = 1
        a = chain[length - 1]
        best = np.inf
        b = -1
        if length > 1:
            b = chain[length - 2]
            best = 0.0
            for q in range(p):
                gap = mean[a, q] - mean[b, q]
                best += gap * gap
            best *= size[a] * size[b] / (size[a] + size[b])
        for i in range(many):
            c = alive[i]
            if c == a or (size[a] >= k and size[c] >= k):
                continue
            factor = size[a] * size[c] / (size[a] + size[c])
            away = 0.0
            for q in range(p):
                gap = mean[a, q] - mean[c, q]
                away += gap * gap
                if away * factor > best:
                    break
            away *= factor
            if away < best:
                best = away
                b = c
        if length == 1 or b != chain[length - 2]:
            chain[length] = b
            length += 1
            continue
        length -= 2
        small -= int(size[a] < k) + int(size[b] < k)
        total = size[a] + size[b]
        mean[b] = (size[a] * mean[a] + size[b] * mean[b]) / total
        size[b] = total
        small += int(total < k)
        into[a] = b
        many -= 1
        alive[place[a]] = alive[many]
        place[alive[many]] = place[a]
    labels = np.full(len(into), -1, dtype=np.int64)
    out = np.empty(n, dtype=np.int64)
    groups = 0
    for v in range(n):
        g = owner[v]
        while into[g] != g:
            g = into[g]
        if labels[g] < 0:
            labels[g] = groups
            groups += 1
        out[v] = labels[g]
    return out


KERNELS = Kernels(globals(), agglomerate_records)
