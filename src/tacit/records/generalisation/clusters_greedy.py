"""Greedy agglomeration for k-Similar, and the blocks that make it possible on many tuples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.records.generalisation.clusters_space import Partition, Space, cluster_levels, lexical

Tick = Callable[[float], None]

#: Most distinct tuples that are agglomerated as one block.
ONE_BLOCK = 5_000
#: Distinct tuples in a block when there are more.
BLOCK = 1_500

FAR = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Merge:
    """One step: the cells of ``a`` (smaller than k) joined those of ``b``; ``increase`` is the cost."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    increase: int


def greedy(
    space: Space,
    k: int,
    order: Ints | None = None,
    *,
    tick: Tick = lambda _share: None,
    trace: bool = False,
) -> tuple[Partition, list[Merge]]:
    """Merge the two clusters, one of them smaller than k, whose union costs least more; repeat.

    It starts from the cells, ends when every cluster has k records, and breaks ties by the lowest and
    then the second lowest number in ``order`` (the rank of each cell; by default its position).

    Nearest clusters are cached. When a neighbour disappears in a merger, the cached increase stays a
    lower bound, so it is computed again only when it is the smallest of all.
    """
    rank = np.arange(len(space)) if order is None else order
    at = np.argsort(rank, kind="stable")
    state = Agglomeration(space.take(at), k)
    steps: list[Merge] = []
    while (pair := state.cheapest()) is not None:
        if trace:
            steps.append(state.describe(*pair, at))
        state.merge(*pair)
        if state.merges % 256 == 0:
            tick(1 - state.n_small / max(1, len(space)))
    cluster = np.empty(len(space), dtype=np.int64)
    cluster[at] = state.cluster_of()
    cells = np.arange(len(space))
    return Partition(cells, cluster, space.n.copy()).tidy(), steps


class Agglomeration:
    """The clusters of a greedy run, in the order of their lowest tuple; arrays shrink as they merge."""

    def __init__(self, space: Space, k: int) -> None:
        n = len(space)
        self.space, self.k, self.merges = space, k, 0
        self.number = np.arange(n)
        self.into = np.arange(n)
        self.columns = np.ascontiguousarray(space.paths.T)
        self.levels = np.zeros((len(space.unit), n), dtype=np.int64)
        self.size = space.n.astype(np.int64)
        self.each = np.zeros(n, dtype=np.int64)
        self.alive = np.ones(n, dtype=bool)
        self.near = np.full(n, -1, dtype=np.int64)
        self.least = np.full(n, FAR, dtype=np.int64)
        small = np.flatnonzero(self.size < k) if n > 1 else np.empty(0, dtype=np.int64)
        self.n_small = len(small)
        for i in small:
            self.look(int(i))

    def increases(self, i: int) -> Ints:
        """Return what the union of cluster ``i`` with each cluster would cost more."""
        union = np.zeros(len(self.size), dtype=np.int64)
        for a, price in enumerate(self.space.unit):
            level = np.maximum(self.levels[a], self.levels[a, i])
            differ = np.zeros(len(level), dtype=np.int64)
            for c in range(int(self.space.starts[a]), int(self.space.starts[a + 1])):
                differ += self.columns[c] != self.columns[c, i]
            union += price * np.maximum(level, differ)
        more = (
            (self.size + self.size[i]) * union - self.size * self.each - self.size[i] * self.each[i]
        )
        more[~self.alive] = FAR
        more[i] = FAR
        return more

    def look(self, i: int) -> None:
        """Find the nearest cluster of ``i``; the lowest of several."""
        more = self.increases(i)
        self.near[i] = np.argmin(more)
        self.least[i] = more[self.near[i]]

    def cheapest(self) -> tuple[int, int] | None:
        """Return the pair to merge, the one smaller than k first, or None at the end."""
        while self.n_small and (len(self.size) > 1):
            least = int(self.least.min())
            if least == FAR:
                return None
            tied = np.flatnonzero(self.least == least)
            stale = tied[self.near[tied] < 0]
            if len(stale) == 0:
                low, high = np.minimum(tied, self.near[tied]), np.maximum(tied, self.near[tied])
                first = np.lexsort((high, low))[0]
                i, j = int(low[first]), int(high[first])
                return (i, j) if self.size[i] < self.k else (j, i)
            for i in stale:
                self.look(int(i))
        return None

    def merge(self, i: int, j: int) -> None:
        """Unite two clusters under the lower place and bring the cache up to date."""
        low, high = min(i, j), max(i, j)
        self.n_small -= int(self.size[i] < self.k) + int(self.size[j] < self.k)
        self.into[self.number[high]] = self.number[low]
        for a in range(len(self.levels)):
            span = slice(int(self.space.starts[a]), int(self.space.starts[a + 1]))
            differ = int((self.columns[span, low] != self.columns[span, high]).sum())
            self.levels[a, low] = max(differ, self.levels[a, low], self.levels[a, high])
        self.size[low] += self.size[high]
        self.each[low] = self.levels[:, low] @ self.space.unit
        self.alive[high] = False
        self.least[[low, high]] = FAR
        self.merges += 1
        self.refresh(low, high)
        if 2 * np.count_nonzero(self.alive) < len(self.alive):
            self.shrink()

    def refresh(self, low: int, high: int) -> None:
        """Compare every small cluster with the united one."""
        small = self.least != FAR
        self.near[small & ((self.near == low) | (self.near == high))] = -1
        more = self.increases(low)
        closer = small & (more < self.least)
        self.near[closer], self.least[closer] = low, more[closer]
        level = small & (more == self.least) & (self.near > low)
        self.near[level] = low
        if self.size[low] < self.k and np.count_nonzero(self.alive) > 1:
            self.n_small += 1
            self.near[low] = np.argmin(more)
            self.least[low] = more[self.near[low]]

    def shrink(self) -> None:
        """Leave out the clusters that have gone."""
        kept = np.flatnonzero(self.alive)
        place = np.full(len(self.alive) + 1, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        self.near = place[self.near[kept]]
        self.columns, self.levels = (
            np.ascontiguousarray(self.columns[:, kept]),
            self.levels[:, kept],
        )
        for name in ("number", "size", "each", "alive", "least"):
            setattr(self, name, getattr(self, name)[kept])

    def cluster_of(self) -> Ints:
        """Return the cluster of each cell, named by its lowest."""
        root = self.into.copy()
        while not np.array_equal(root, root[root]):
            root = root[root]
        return root

    def describe(self, i: int, j: int, at: Ints) -> Merge:
        """Return a merger in the numbers of the caller's cells."""
        root = self.cluster_of()
        a, b = (tuple(at[np.flatnonzero(root == self.number[c])].tolist()) for c in (i, j))
        return Merge(a, b, int(self.increases(i)[j]))


def greedy_in_blocks(space: Space, k: int, *, tick: Tick = lambda _share: None) -> Partition:
    """Agglomerate within blocks that are cut from the top of the hierarchies downwards."""
    cluster = np.empty(len(space), dtype=np.int64)
    used, done = 0, 0
    for block in blocks(space, k, BLOCK):
        found, _ = greedy(space.take(block), k)
        cluster[block[found.cell]] = found.cluster + used
        used += len(found)
        done += len(block)
        tick(done / len(space))
    return Partition(np.arange(len(space)), cluster, space.n.copy()).tidy()


def blocks(space: Space, k: int, limit: int) -> list[Ints]:
    """Cut the cells in blocks of at most ``limit`` cells and at least k records each."""
    waiting, finished = [lexical(space, 0)], []
    while waiting:
        block = waiting.pop()
        halves = halve_block(space, block, k) if len(block) > limit else None
        if halves is None:
            finished.append(np.sort(block))
        else:
            waiting.extend(halves)
    return finished


def halve_block(space: Space, block: Ints, k: int) -> tuple[Ints, Ints] | None:
    """Divide a block between the children of a common ancestor, the most distorted attribute first.

    When no attribute divides it well, it is cut in the middle of its order.
    """
    whole = Partition(block, np.zeros(len(block), dtype=np.int64), space.n[block])
    levels = cluster_levels(space, whole)[0]
    for a in np.argsort(-levels * space.plain, kind="stable"):
        if levels[a] == 0:
            break
        child = space.paths[block, space.starts[a] + levels[a] - 1]
        inside = np.argsort(child, kind="stable")
        cuts = np.flatnonzero(np.diff(child[inside])) + 1
        cut = int(cuts[np.argmin(np.abs(cuts - len(block) / 2))])
        parts = np.sort(inside[:cut]), np.sort(inside[cut:])
        if min(len(p) for p in parts) >= len(block) / 8 and all_have_k(space, block, parts, k):
            return block[parts[0]], block[parts[1]]
    middle = len(block) // 2
    halves = np.arange(middle), np.arange(middle, len(block))
    return (block[:middle], block[middle:]) if all_have_k(space, block, halves, k) else None


def all_have_k(space: Space, block: Ints, parts: tuple[npt.NDArray[Any], ...], k: int) -> bool:
    """Return True when every part of a block has k records."""
    return all(int(space.n[block[p]].sum()) >= k for p in parts)
