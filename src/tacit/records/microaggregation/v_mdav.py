"""V-MDAV: MDAV with groups whose size follows the data."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from tacit.arrays import Floats, Ints
from tacit.fields import PositiveFloat
from tacit.numerics.kernels import Kernels
from tacit.records.microaggregation.base import GroupingMethod
from tacit.records.microaggregation.grouping import tree as _tree
from tacit.records.microaggregation.grouping.loss import Tick, group_means
from tacit.records.microaggregation.grouping.mdav_groups import (
    compute_squared_distances,
    exact_sums,
    find_k_smallest,
)
from tacit.records.microaggregation.grouping.tree import Room, Tree, find_nearest, remove_record
from tacit.registry import register

#: Work on one number while scanning, in turns of a loop.
SCAN = 1e-2
#: Seeds looked at between two ticks.
BATCH = 1000


@register
class VMdav(GroupingMethod):
    """Replace numbers by the means of groups of k to 2k - 1 records that grow where records lie close (V-MDAV).

    The free record farthest from the mean of all and its k - 1 nearest form a group. It takes in the free
    record u closest to one of its members, up to 2k - 1 records, while that distance is less than ``gamma``
    times the distance from u to its nearest other free record. Fewer than k records at the end join the
    groups with the nearest means.

    References
    ----------
    Solanas, Martínez-Ballesté (2006), V-MDAV: a multivariate microaggregation with variable group size,
    COMPSTAT 2006, 917-925.
    """

    kind: Literal["v_mdav"] = "v_mdav"
    gamma: PositiveFloat = Field(
        default=0.2,
        description="how readily a group grows; 0.2 for scattered, 1.1 for clustered data",
    )

    def groups(self, x: Floats, rng: np.random.Generator, tick: Tick) -> Ints:
        """Return the labels of the groups of some records; ties go to the lowest record number."""
        del rng
        x = np.ascontiguousarray(x, dtype=np.float64)
        middle = exact_sums(x)[0] / len(x)
        seeds = np.argsort(-compute_squared_distances(x.T, middle), kind="stable")
        # Scanning compares each group with all free records.
        pays = KERNELS.pays(SCAN * len(x) ** 2 * x.shape[1])
        grow = grow_groups_by_tree if pays else form_variable_groups
        labels = grow(x, self.k, self.gamma, seeds, tick)
        done = labels >= 0
        means = group_means(x[done], labels[done]).T
        for record in np.flatnonzero(~done):
            labels[record] = compute_squared_distances(means, x[record]).argmin()
        return labels


# -- scanning arrays --------------------------------------------------------------------------------


def form_variable_groups(x: Floats, k: int, gamma: float, seeds: Ints, tick: Tick) -> Ints:
    """Return the groups by computing all distances; -1 for records left over."""
    n = len(x)
    labels = np.full(n, -1)
    free = np.arange(n)
    columns = np.ascontiguousarray(x.T)
    group = 0
    for seed in seeds:
        if len(free) < k:
            break
        if labels[seed] >= 0:
            continue
        tick("forming groups", 1.0 - len(free) / n)
        near = find_k_smallest(compute_squared_distances(columns, x[seed]), k)
        members = free[near]
        free, columns = np.delete(free, near), np.delete(columns, near, axis=1)
        inside = np.min([compute_squared_distances(columns, x[m]) for m in members], axis=0)
        while len(members) < 2 * k - 1 and len(free):
            at = int(inside.argmin())
            outside = compute_squared_distances(columns, columns[:, at])
            outside[at] = np.inf
            if np.sqrt(inside[at]) >= gamma * np.sqrt(outside.min()):
                break
            members = np.append(members, free[at])
            inside = np.delete(np.minimum(inside, outside), at)
            free, columns = np.delete(free, at), np.delete(columns, at, axis=1)
        labels[members] = group
        group += 1
    return labels


# -- asking a tree ----------------------------------------------------------------------------------


def grow_groups_by_tree(x: Floats, k: int, gamma: float, seeds: Ints, tick: Tick) -> Ints:
    """Return the groups by asking a k-d tree for nearest records; -1 for records left over."""
    n = len(x)
    names = {**_tree.KERNELS.compiled(), **KERNELS.compiled()}
    labels = np.full(n, -1, dtype=np.int64)
    tree = _tree.build_tree(x, np.arange(n), names)
    work = _tree.allocate_workspace(k, x.shape[1])
    at, left, group = 0, n, 0
    while at < n and left >= k:
        tick("forming groups", 1.0 - left / n)
        stop = min(at + BATCH, n)
        left, group = names["grow"](x, k, gamma, seeds[at:stop], tree, work, labels, left, group)
        at = stop
    return labels


def grow(
    x: Floats,
    k: int,
    gamma: float,
    seeds: Ints,
    tree: Tree,
    work: Room,
    labels: Ints,
    left: int,
    group: int,
) -> tuple[int, int]:
    """Form groups around the seeds that are free; return how many records are and the groups so far."""
    members = np.empty(2 * k - 1, dtype=np.int64)
    for seed in seeds:
        if left < k:
            break
        if labels[seed] >= 0:
            continue
        size = find_nearest(tree, x[seed], k, work)
        for i in range(size):
            members[i] = work.found[i]
            labels[members[i]] = group
            remove_record(tree, members[i])
        left -= size
        while size < 2 * k - 1 and left > 0:
            inside, record = np.inf, -1
            for i in range(size):
                find_nearest(tree, x[members[i]], 1, work)
                if work.at[0] < inside or (work.at[0] == inside and work.found[0] < record):
                    inside, record = work.at[0], work.found[0]
            # The record itself is one of the two.
            outside = work.at[1] if find_nearest(tree, x[record], 2, work) == 2 else np.inf
            if np.sqrt(inside) >= gamma * np.sqrt(outside):
                break
            members[size] = record
            labels[record] = group
            remove_record(tree, record)
            size += 1
            left -= 1
        group += 1
    return left, group


KERNELS = Kernels(globals(), grow, needs=(_tree.KERNELS,))
