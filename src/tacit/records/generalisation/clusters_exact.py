"""Proven optima for k-Similar: dynamic programming on few records, integer programming on more.

The integer programme rests on one observation. Call a *node* a vector of levels together with the
ancestors that some tuples share there. All records that are released at the same node pay the same
and make one class; so a partition is an assignment of records to nodes above them in which every node
that is used at all receives at least k records:

    minimise    sum over i, v of cost(v) x[i, v]
    subject to  sum over v of x[i, v] = n[i],   sum over i of x[i, v] >= k y[v],
                x[i, v] <= n[i] y[v],           y binary, x whole.

For a fixed y this is a transport problem, and the bounds describe the convex hull of the k-subsets of
a node, so the relaxation is as strong as set partitioning with all clusters as columns.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.records.generalisation.clusters_space import (
    Partition,
    Space,
    cluster_levels,
    common_levels,
    groups_at,
    level_vectors,
    lexical,
    price,
    profile_used,
    record_bounds,
)
from tacit.time_limits import limit_reached, seconds_left

Tick = Callable[[float | None], None]

#: Pieces in one part.
PART = 36
#: Seconds for one part.
PART_SECONDS = 3.0
#: Share of the cost that a round over all parts must save to be worth another.
WORTHWHILE = 0.001

#: Records up to which subsets are enumerated.
SUBSETS_UP_TO = 14
#: Distinct tuples, and pairs of tuple and node, up to which an integer programme is tried.
CELLS_UP_TO = 1_000
PAIRS_UP_TO = 400_000


class TooLarge(Exception):
    """The integer programme would be too large."""


def by_subsets(space: Space, k: int) -> Partition:
    """Return the optimum by dynamic programming over subsets of the records.

    No cluster needs 2k records: it could be divided without raising any level.
    """
    cells = np.repeat(np.arange(len(space)), space.n)
    n = len(cells)
    cost = subset_costs(space, cells)
    best = np.full(1 << n, np.iinfo(np.int64).max // 2, dtype=np.int64)
    choice = np.zeros(1 << n, dtype=np.int64)
    best[0] = 0
    for lowest in range(n - 1, -1, -1):
        above = range(lowest + 1, n)
        for size in range(k, min(2 * k, n - lowest + 1)):
            for others in itertools.combinations(above, size - 1):
                cluster = (1 << lowest) | sum(1 << o for o in others)
                rest = submasks([b for b in above if not cluster >> b & 1])
                value = best[rest] + cost[cluster]
                better = value < best[rest | cluster]
                best[rest[better] | cluster] = value[better]
                choice[rest[better] | cluster] = cluster
    cluster_of = np.zeros(n, dtype=np.int64)
    left, number = (1 << n) - 1, 0
    while left:
        members = [b for b in range(n) if choice[left] >> b & 1]
        cluster_of[members] = number
        left, number = left & ~int(choice[left]), number + 1
    pairs, amount = np.unique(np.stack([cells, cluster_of], axis=1), axis=0, return_counts=True)
    return Partition(pairs[:, 0], pairs[:, 1], amount.astype(np.int64)).tidy()


def subset_costs(space: Space, cells: Ints) -> Ints:
    """Return the cost of every subset of some records as one cluster; a bit per record."""
    n = len(cells)
    levels = np.zeros((1, len(space.unit)), dtype=np.int64)
    member = np.zeros(1, dtype=np.int64)
    for bit in range(n):
        far = common_levels(space, cells[member], np.full(len(member), cells[bit]))
        far[0] = 0
        levels = np.concatenate([levels, np.maximum(levels, far)])
        member = np.concatenate([member, np.full(len(member), bit)])
    sizes = np.array([0, 1])
    for _ in range(n - 1):
        sizes = np.concatenate([sizes, sizes + 1])
    result: Ints = (levels @ space.unit) * (sizes if n else 0)
    return result


def submasks(bits: list[int]) -> Ints:
    """Return every subset of some bits."""
    masks = np.zeros(1, dtype=np.int64)
    for bit in bits:
        masks = np.concatenate([masks, masks | (1 << bit)])
    return masks


@dataclass(frozen=True)
class Nodes:
    """The nodes worth using and the cells below each, as pairs."""

    cost: Ints  # of each node
    pair_cell: Ints
    pair_node: Ints


def by_programme(space: Space, k: int, start: Partition, seconds: float) -> tuple[Partition, int]:
    """Return the best partition that an integer programme finds in time, with its bound.

    The cost of ``start``, which is to be beaten, also shows which nodes no better partition can use. ``seconds``
    limit the solver; building the programme comes on top, and raises TooLarge when there are too many nodes.
    """
    end = time.monotonic() + seconds
    limit = price(space, start)
    floor = record_bounds(space, k)
    least = int((floor * space.n).sum())
    if least == limit and not profile_used(space):
        return start, limit
    nodes = useful_nodes(space, k, floor, limit - least)
    found, bound = solve(space, k, nodes, nodes.cost, seconds)
    best = start if found is None or price(space, found) > limit else found
    bound = max(bound, least)
    if profile_used(space) and price(space, best) == bound:
        # Among partitions of the least cost the one that the recipient's profile likes best.
        extra = space.unit - space.plain * (space.unit // space.plain).min()
        apart = np.ones(len(nodes.pair_cell), dtype=np.int64)
        weight = cluster_levels(space, Partition(nodes.pair_cell, nodes.pair_node, apart)) @ extra
        ceiling, left = price(space, best), max(1.0, end - time.monotonic())
        found, _ = solve(space, k, nodes, weight, left, ceiling)
        if found is not None and price(space, found) <= ceiling:
            best = min(best, found, key=lambda one: price(space, one, space.unit))
    return best, min(bound, price(space, best))


def useful_nodes(space: Space, k: int, floor: Ints, slack: int) -> Nodes:
    """Return the nodes that a partition at most as expensive as the known one can use.

    What its records pay above their own floors must not exceed the slack in all. Of two nodes above
    the same cells the cheaper one does.
    """
    costs: list[int] = []
    cells: list[Ints] = []
    numbers: list[Ints] = []
    seen: set[bytes] = set()
    used = 0
    most = int(floor.max(initial=0)) + slack
    for cost, levels in level_vectors(space):
        if cost > most:
            break
        ids, _ = groups_at(space, levels)
        allowed = np.flatnonzero(cost - floor <= slack)
        allowed = allowed[np.argsort(ids[allowed], kind="stable")]
        for members in np.split(allowed, np.flatnonzero(np.diff(ids[allowed])) + 1):
            members = within_reach(cost - floor[members], members, space.n, k, slack)
            key = members.tobytes()
            if len(members) == 0 or key in seen:
                continue
            seen.add(key)
            cells.append(members)
            numbers.append(np.full(len(members), len(costs)))
            costs.append(cost)
            used += len(members)
        if used > PAIRS_UP_TO:
            raise TooLarge
    return Nodes(np.array(costs, dtype=np.int64), np.concatenate(cells), np.concatenate(numbers))


def within_reach(excess: Ints, members: Ints, n: Ints, k: int, slack: int) -> Ints:
    """Return the members of a node that can be in it together with the k - 1 that lose least."""
    order = np.argsort(excess, kind="stable")
    least = np.repeat(excess[order], np.minimum(n[members[order]], k))[:k]
    if len(least) < k or least.sum() > slack:
        return members[:0]
    return members[excess + least[:-1].sum() <= slack]


def solve(
    space: Space,
    k: int,
    nodes: Nodes,
    objective: npt.NDArray[Any],
    seconds: float,
    ceiling: int | None = None,
) -> tuple[Partition | None, int]:
    """Solve the integer programme; return what was found and the bound on its objective."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    pairs, n_nodes = len(nodes.pair_cell), len(nodes.cost)
    column = np.arange(pairs)
    shape = pairs + n_nodes
    ones = np.ones(pairs)
    each = coo_array((ones, (nodes.pair_cell, column)), shape=(len(space), shape))
    fill = coo_array(
        (
            np.concatenate([ones, np.full(n_nodes, -float(k))]),
            (np.concatenate([nodes.pair_node, np.arange(n_nodes)]), np.arange(shape)),
        ),
        shape=(n_nodes, shape),
    )
    most = space.n[nodes.pair_cell].astype(float)
    tie = coo_array(
        (
            np.concatenate([-ones, most]),
            (np.tile(column, 2), np.concatenate([column, nodes.pair_node + pairs])),
        ),
        shape=(pairs, shape),
    )
    limits = [
        LinearConstraint(each, space.n.astype(float), space.n.astype(float)),
        LinearConstraint(fill, np.zeros(n_nodes), np.inf),
        LinearConstraint(tie, np.zeros(pairs), np.inf),
    ]
    if ceiling is not None:
        own = nodes.cost[nodes.pair_node].astype(float)
        costs = coo_array((own, (np.zeros(pairs, dtype=int), column)), shape=(1, shape))
        limits.append(LinearConstraint(costs, -np.inf, ceiling + 0.5))
    answer = milp(
        np.concatenate([objective[nodes.pair_node], np.zeros(n_nodes)]),
        constraints=limits,
        bounds=Bounds(np.zeros(shape), np.concatenate([most, np.ones(n_nodes)])),
        integrality=np.ones(shape),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if answer.status == 1:
        limit_reached()
    dual = getattr(answer, "mip_dual_bound", None)
    bound = (
        int(np.ceil(dual - 1e-6 * max(1.0, abs(dual))))
        if dual is not None and np.isfinite(dual)
        else 0
    )
    if answer.x is None:
        return None, bound
    amount = np.rint(answer.x[:pairs]).astype(np.int64)
    kept = amount > 0
    return Partition(nodes.pair_cell[kept], nodes.pair_node[kept], amount[kept]).tidy(), bound


def polish(
    space: Space, k: int, start: Partition, *, seconds: float, tick: Tick = lambda _share: None
) -> tuple[Partition, bool]:
    """Solve parts of neighbouring clusters exactly; return the partition and whether it ended in time.

    Neighbours are taken from orders of the tuples in which another attribute varies fastest each time,
    until two rounds in turn save next to nothing. A part that has been solved is not solved again.
    """
    end = time.monotonic() + seconds
    orders = [
        order
        for a in range(len(space.unit))
        for order in (lexical(space, a, by_level=True), lexical(space, a + 1))
    ]
    best, idle, at = start, 0, 0
    solved: set[bytes] = set()
    while idle < 2 and space.total >= 2 * k:
        better = best
        for part in parts(best, orders[at % len(orders)], offset=at // len(orders) % 2):
            tick(None)
            left = seconds_left(end)
            if left <= 0:
                return better.tidy(), False
            better = solve_part(space, k, better, part, min(left, PART_SECONDS), solved)
        old, new = price(space, best, space.unit), price(space, better, space.unit)
        idle = idle + 1 if old - new <= WORTHWHILE * old else 0
        best, at = better.tidy(), at + 1
    return best, True


def parts(partition: Partition, order: Ints, offset: int) -> Iterator[Ints]:
    """Yield the clusters in runs of about ``PART`` pieces, in an order of the cells."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    lowest = np.full(len(partition), len(order), dtype=np.int64)
    np.minimum.at(lowest, partition.cluster, rank[partition.cell])
    clusters = np.argsort(lowest, kind="stable")
    pieces = np.bincount(partition.cluster, minlength=len(partition))[clusters]
    number = (np.cumsum(pieces) - pieces + offset * PART // 2) // PART
    yield from np.split(clusters, np.flatnonzero(np.diff(number)) + 1)


def solve_part(
    space: Space, k: int, partition: Partition, clusters: Ints, seconds: float, solved: set[bytes]
) -> Partition:
    """Return the partition with some of its clusters replaced by the best that their records can make."""
    inside = np.isin(partition.cluster, clusters)
    if partition.n[inside].sum() < 2 * k:
        return partition
    cells, local = np.unique(partition.cell[inside], return_inverse=True)
    n = np.bincount(local, weights=partition.n[inside]).astype(np.int64)
    part = Space(space.paths[cells], space.starts, n, space.unit, space.plain, space.scale)
    numbers = np.unique(partition.cluster[inside], return_inverse=True)[1]
    old = Partition(local.astype(np.int64), numbers.astype(np.int64), partition.n[inside])
    known = np.concatenate([cells, n]).tobytes()
    if known in solved or price(part, old) == 0:
        return partition
    solved.add(known)
    try:
        new, _ = by_programme(part, k, old, seconds)
    except TooLarge:
        return partition
    if price(part, new, part.unit) >= price(part, old, part.unit):
        return partition
    shift = int(partition.cluster.max()) + 1
    return Partition(
        np.concatenate([partition.cell[~inside], cells[new.cell]]),
        np.concatenate([partition.cluster[~inside], new.cluster + shift]),
        np.concatenate([partition.n[~inside], new.n]),
    )
