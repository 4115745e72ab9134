"""Combinations of a few columns on coded cells, and the cells to hide until none is rare."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.context import Context
from tacit.data.microdata import Microdata
from tacit.engine.codes import Cells, Coded, densify, group_ids
from tacit.engine.subsets import class_ids
from tacit.errors import Approximate
from tacit.numerics.kernels import Kernels

EMPTY = np.zeros(0, dtype=np.int64)

#: Combinations with at most this many possible values are counted without hashing.
DENSE = 1 << 16

#: Nodes of the exact search for one pattern before the best set so far is taken.
CANDIDATES = 200_000

#: Combinations that one machine word holds.
BITS = 60


class Combination:
    """One checked combination on the cells: how many records hold each of its complete values.

    Class numbers are computed again when they are needed, so that many combinations fit in memory;
    only when they had to be hashed are they kept.
    """

    def __init__(
        self,
        members: tuple[int, ...],
        k: int,
        columns: Sequence[npt.NDArray[np.int32]],
        nulls: Sequence[int],
        n: Ints,
    ) -> None:
        self.members, self.k = members, k
        self._columns = [columns[i] for i in members]
        self._sizes = [nulls[i] + 1 for i in members]
        self._ids: npt.NDArray[Any] | None = None
        ids, bound = class_ids(self._columns, self._sizes)
        if bound > max(DENSE, len(n)):
            ids, bound = densify(ids.astype(np.int64))
            self._ids = ids.astype(np.int32)
        complete = np.ones(len(n), dtype=bool)
        for i in members:
            complete &= columns[i] != nulls[i]
        self.counts = np.bincount(ids, weights=n * complete, minlength=bound).astype(np.int64)

    def ids(self, rows: Ints | slice) -> npt.NDArray[Any]:
        """Return the class numbers of some cells."""
        if self._ids is not None:
            return self._ids[rows]
        return class_ids([c[rows] for c in self._columns], self._sizes)[0]

    def rare(self) -> Ints:
        """Return the cells in classes that some, but fewer than k, records hold."""
        rare = (self.counts > 0) & (self.counts < self.k)
        return np.flatnonzero(rare[self.ids(slice(None))]) if rare.any() else EMPTY

    def remove_cells(self, rows: Ints, n: Ints) -> bool:
        """Take cells out of the counts; return True when that makes a class rare."""
        ids = self.ids(rows)
        # Incomplete cells were never counted: their classes stand at zero and stay there.
        counted = self.counts[ids] > 0
        np.subtract.at(self.counts, ids[counted], n[rows[counted]])
        after = self.counts[ids]
        return bool(((after > 0) & (after < self.k)).any())


class Suppression:
    """Which columns of which cells are hidden so far, and what each round did.

    ``home`` is the household of each cell and ``wide`` the columns that are hidden in whole households.
    """

    def __init__(
        self,
        cells: Cells,
        sets: Sequence[tuple[tuple[int, ...], int]],
        home: Coded | None,
        wide: Sequence[int],
    ) -> None:
        columns, sizes = cells.columns()
        nulls = [size - 1 for size in sizes]
        self.n, self.home, self.wide = cells.n, home, wide
        self.combinations = [
            Combination(members, k, columns, nulls, cells.n) for members, k in sets
        ]
        self.known = np.stack([c != null for c, null in zip(columns, nulls, strict=True)], axis=1)
        self.hidden: Flags = np.zeros_like(self.known)
        self.rounds: list[dict[str, int]] = []

    def run(self, weights: Floats, method: str, ctx: Context) -> None:
        """Suppress until no complete value of a combination is rare."""
        solve = smallest_sets if method == "exact" else greedy_sets
        sets = [c.members for c in self.combinations]
        look = list(range(len(sets)))
        while look:
            rows, words = self.outliers(look, ctx)
            if not len(rows):
                return
            coded = [np.unique(word, return_inverse=True) for word in words]
            ids, _ = group_ids([codes for _, codes in coded], [len(v) for v, _ in coded])
            _, first, which = np.unique(ids, return_index=True, return_inverse=True)
            hide = solve(words[:, first], sets, weights)[which]
            rows, hide = self.spread(rows, hide)
            hide &= ~self.hidden[rows] & self.known[rows]
            look = self.hide(rows, hide)
            self.rounds.append(
                {"records": int(self.n[rows].sum()), "cells": int(hide.sum(axis=1) @ self.n[rows])}
            )
            ctx.tick(f"round {len(self.rounds)}")

    def spread(self, rows: Ints, hide: Flags) -> tuple[Ints, Flags]:
        """Return the cells to hide with those of other members of the households."""
        if self.home is None:
            return rows, hide
        all_rows = np.zeros_like(self.hidden)
        all_rows[rows] = hide
        for c in self.wide:
            hit = np.zeros(self.home.size, dtype=bool)
            hit[self.home.codes[all_rows[:, c]]] = True
            # Records without a household stand for themselves.
            hit[self.home.null] = False
            all_rows[:, c] |= hit[self.home.codes]
        found = np.flatnonzero(all_rows.any(axis=1))
        return found, all_rows[found]

    def outliers(self, look: Sequence[int], ctx: Context) -> tuple[Ints, Ints]:
        """Return the cells with outliers and, a bit per combination, which ones."""
        found: dict[int, Ints] = {}
        for j in look:
            ctx.tick()
            rare = self.combinations[j].rare()
            members = list(self.combinations[j].members)
            found[j] = rare[~self.hidden[rare][:, members].any(axis=1)]
        rows = np.unique(np.concatenate([*found.values(), EMPTY]))
        words = np.zeros((len(self.combinations) // BITS + 1, len(rows)), dtype=np.int64)
        for j, rare in found.items():
            words[j // BITS, np.searchsorted(rows, rare)] |= 1 << (j % BITS)
        return rows, words

    def hide(self, rows: Ints, hide: Flags) -> list[int]:
        """Hide columns of cells; return the combinations in which a class became rare by that."""
        before = self.hidden[rows]
        self.hidden[rows] |= hide
        look = []
        for j, combination in enumerate(self.combinations):
            members = list(combination.members)
            lost = hide[:, members].any(axis=1) & ~before[:, members].any(axis=1)
            if lost.any() and combination.remove_cells(rows[lost], self.n):
                look.append(j)
        return look


def count_missing(data: Microdata, columns: Sequence[str]) -> dict[str, int]:
    """Return the number of missing values of each column."""
    if not columns:
        return {}
    sums = [nw.col(c).is_null().cast(nw.Int64).sum().cast(nw.Int64).alias(c) for c in columns]
    row = data.frame.select(*sums).collect("pyarrow").rows(named=True)[0]
    return {c: int(row[c] or 0) for c in columns}


def smallest_sets(patterns: Ints, sets: Sequence[tuple[int, ...]], weights: Floats) -> Flags:
    """Return for each pattern of outliers the columns of least total weight that meet them all.

    Ties go to the fewest columns and then to the column order.
    """
    masks = np.array([sum(1 << c for c in members) for members in sets], dtype=np.int64)
    chosen, exact = find_hitting_sets(patterns, masks, weights, BITS, CANDIDATES)
    if not exact.all():
        warnings.warn(
            "mu_argus: the exact search took too long for some records; they were settled greedily and may lose more cells than needed. "
            "Rate fewer columns to avoid it.",
            Approximate,
            stacklevel=2,
        )
    return np.asarray(chosen[:, None] >> np.arange(len(weights)) & 1, dtype=bool)


def greedy_sets(patterns: Ints, sets: Sequence[tuple[int, ...]], weights: Floats) -> Flags:
    """Return for each pattern columns that meet all outliers, the one in most outliers first."""
    bits = np.array([patterns[j // BITS] >> (j % BITS) & 1 for j in range(len(sets))], dtype=bool).T
    belongs = np.zeros((len(sets), len(weights)), dtype=bool)
    for j, members in enumerate(sets):
        belongs[j, list(members)] = True
    order = np.lexsort([np.arange(len(weights)), weights])
    result = np.zeros((len(bits), len(weights)), dtype=bool)
    left = np.arange(len(bits))
    while len(left):
        occurs = bits[left].astype(np.int64) @ belongs.astype(np.int64)
        pick = order[np.argmax(occurs[:, order], axis=1)]
        result[left, pick] = True
        bits[left] &= ~belongs[:, pick].T
        left = left[bits[left].any(axis=1)]
    return result


#: A difference in weight, as a share of all weights, that does not count.
SLIGHT = 1e-12


def find_hitting_sets(
    patterns: Ints, sets: Ints, weights: Floats, bits: int, nodes: int
) -> tuple[Ints, Flags]:
    """Return for each pattern the bits of the lightest columns that meet its sets, and whether that is proven.

    A pattern has words of ``bits`` bits each, which say what sets belong to it; each set of columns is given as bits. After
    so many ``nodes`` of the search for one pattern the best columns so far are taken.
    """
    turns = float(patterns.shape[1]) * len(sets) * 20
    search = KERNELS.pick(turns)["search_patterns"]
    chosen, exact = search(patterns, sets, weights, bits, nodes, SLIGHT * float(weights.sum()))
    return np.asarray(chosen), np.asarray(exact)


def search_patterns(
    patterns: Ints, sets: Ints, weights: Floats, bits: int, nodes: int, slight: float
) -> tuple[Ints, Flags]:
    """Search for each pattern by itself."""
    n = patterns.shape[1]
    chosen = np.zeros(n, dtype=np.int64)
    exact = np.ones(n, dtype=np.bool_)
    found = np.zeros(len(sets), dtype=np.int64)
    for p in range(n):
        m = 0
        for j in range(len(sets)):
            if not patterns[j // bits, p] >> (j % bits) & 1:
                continue
            # A set that holds another is met with it.
            needless = False
            for i in range(m):
                if found[i] & ~sets[j] == 0:
                    needless = True
                    break
            if needless:
                continue
            kept = 0
            for i in range(m):
                if sets[j] & ~found[i] != 0:
                    found[kept] = found[i]
                    kept += 1
            found[kept] = sets[j]
            m = kept + 1
        chosen[p], exact[p] = search_one(found[:m], weights, nodes, slight)
    return chosen, exact


def search_one(sets: Ints, weights: Floats, nodes: int, slight: float) -> tuple[int, bool]:
    """Return the lightest columns that meet all sets, and False when the search was cut off.

    A node branches on the columns of a set that is not met; a column tried before is left out of later branches, so
    that no set of columns comes twice. A node is left when its weight and one column each for sets without a
    common column already weigh more than the best.
    """
    q = len(weights)
    best, best_weight, best_size = meet_greedily(sets, weights)
    picked = np.zeros(q + 2, dtype=np.int64)
    barred = np.zeros(q + 2, dtype=np.int64)
    branch = np.zeros(q + 2, dtype=np.int64)
    weight = np.zeros(q + 2, dtype=np.float64)
    depth = 0
    fresh = True
    visited = 0
    while depth >= 0:
        if fresh:
            fresh = False
            visited += 1
            if visited > nodes:
                return best, False
            branch[depth] = 0
            bound = weight[depth]
            used = 0
            narrow = q + 1
            closed = False
            met = True
            for i in range(len(sets)):
                if sets[i] & picked[depth]:
                    continue
                met = False
                free = sets[i] & ~barred[depth]
                width = 0
                least = np.inf
                for c in range(q):
                    if free >> c & 1:
                        width += 1
                        least = min(least, weights[c])
                if width == 0:
                    closed = True
                    break
                if width < narrow:
                    narrow = width
                    branch[depth] = free
                if free & used == 0:
                    used |= free
                    bound += least
            if met:
                size = 0
                for c in range(q):
                    size += picked[depth] >> c & 1
                lighter = weight[depth] < best_weight - slight
                equal = not lighter and weight[depth] <= best_weight + slight
                if lighter or (
                    equal
                    and (
                        size < best_size or (size == best_size and comes_first(picked[depth], best))
                    )
                ):
                    best, best_weight, best_size = picked[depth], weight[depth], size
                branch[depth] = 0
            elif closed or bound > best_weight + slight:
                branch[depth] = 0
        if branch[depth] == 0:
            depth -= 1
            continue
        c = 0
        while not branch[depth] >> c & 1:
            c += 1
        branch[depth] &= ~(1 << c)
        picked[depth + 1] = picked[depth] | 1 << c
        barred[depth + 1] = barred[depth]
        weight[depth + 1] = weight[depth] + weights[c]
        barred[depth] |= 1 << c
        depth += 1
        fresh = True
    return best, True


def meet_greedily(sets: Ints, weights: Floats) -> tuple[int, float, int]:
    """Return columns that meet all sets, most sets for the weight first, with weight and number."""
    q = len(weights)
    picked = 0
    total = 0.0
    size = 0
    while True:
        best = -1
        best_score = 0.0
        for c in range(q):
            met = 0
            for i in range(len(sets)):
                if sets[i] & picked == 0 and sets[i] >> c & 1:
                    met += 1
            score = met / weights[c]
            if score > best_score:
                best, best_score = c, score
        if best < 0:
            return picked, total, size
        picked |= 1 << best
        total += weights[best]
        size += 1


def comes_first(one: int, other: int) -> bool:
    """Return True when one set of as many columns comes before another in column order."""
    apart = one ^ other
    if apart == 0:
        return False
    lowest = apart & -apart
    return one & lowest != 0


KERNELS = Kernels(globals(), comes_first, meet_greedily, search_one, search_patterns)
