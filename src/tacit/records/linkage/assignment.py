"""One-to-one links: the pairing of two files with the least total distance, and who it finds.

Where records are alike, many pairings cost the same, and which of them a solver returns depends on the order of
the rows: two files in the same order would look far more dangerous than they are. So what counts is the chance of
a record over pairings of the same cost. Among equal records it is exact: with x links between a class of c equal
queries and a class of d equal targets, a query's chance of its own target there is x / (c d). Between records that
are not equal the cost is broken at random, several times, from a seed of its own and in an order that depends on
the values alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.errors import InputError
from tacit.records.linkage.rows import Distinct

#: Pairs for which all costs are held in memory at once.
PAIR_LIMIT = 25_000_000
#: Pairings over which chances are averaged when some of them differ, and how many equal ones are enough to stop;
#: more for small files, where they cost little.
PAIRINGS, MOST_PAIRINGS, PAIRS_DRAWN = 10, 200, 20_000_000
ENOUGH, MOST_ENOUGH, PAIRS_EQUAL = 3, 20, 8_000_000
#: Costs that differ by less than this share of a usual one are taken for equal.
JITTER = 1e-9


@dataclass(frozen=True)
class Pairing:
    """One-to-one links and what pairings of the same cost find on average.

    ``link`` is the column paired with each row in one of them, -1 for none; equal records are taken in their order. ``chance``
    is how likely a row is paired with its own column, over the pairings ``drawn``: the first few when these did not differ.
    ``error`` is the standard error of the sum of the chances, 0 when the pairings did not differ.
    """

    link: Ints
    chance: Floats
    drawn: int
    error: float


def check_size(n_queries: int, n_targets: int) -> None:
    """Refuse files for which the costs of all pairs do not fit."""
    if n_queries * n_targets > PAIR_LIMIT:
        raise InputError(
            f"one-to-one links need all {n_queries:,} x {n_targets:,} pairs at once; the limit is "
            f"{PAIR_LIMIT:,} pairs. Measure on fewer records, or without one_to_one."
        )


def pair_files(cost: Floats, asked: Distinct, found: Distinct, truth: Ints) -> Pairing:
    """Return the pairing of least total cost, and each row's chance of its own column ``truth``.

    ``cost`` is that of each distinct row with each distinct column, infinite where they may not be paired; as
    many as possible are paired.
    """
    rows, columns = (np.argsort(part.of, kind="stable") for part in (asked, found))
    row_class, column_class = asked.of[rows], found.of[columns]
    full = cost[np.ix_(row_class, column_class)]
    finite = np.isfinite(full)
    top = full[finite].max(initial=0.0) - min(full[finite].min(initial=0.0), 0.0)
    full = np.where(finite, full, 2 * (top + 1.0) * len(full))
    jitter = JITTER * usual_gap(cost, top)
    rng = np.random.default_rng(len(full))
    own = np.flatnonzero(truth >= 0)
    most = int(np.clip(PAIRS_DRAWN // max(full.size, 1), PAIRINGS, MOST_PAIRINGS))
    enough = int(np.clip(PAIRS_EQUAL // max(full.size, 1), ENOUGH, MOST_ENOUGH))
    found_chances: list[Floats] = []
    link = np.full(len(full), -1, dtype=np.int64)
    for draw in range(most):
        picked = assign(full + jitter * rng.random(full.shape))
        picked = np.where((picked >= 0) & finite[np.arange(len(full)), picked], picked, -1)
        linked = np.flatnonzero(picked >= 0)
        pair = row_class[linked] * len(found) + column_class[picked[linked]]
        if draw == 0:
            link[rows[linked]] = columns[picked[linked]]
        found_chances.append(own_chances(pair, asked, found, own, truth))
        if draw + 1 == enough and all(np.array_equal(c, found_chances[0]) for c in found_chances):
            break
    every = np.array(found_chances)
    chance = np.zeros(len(full))
    chance[own] = every.mean(axis=0)
    sums = every.sum(axis=1)
    error = float(sums.std(ddof=1) / np.sqrt(len(sums))) if np.ptp(sums) > 0 else 0.0
    return Pairing(order_equal_records(link, found), chance, len(sums), error)


def usual_gap(cost: Floats, top: float) -> float:
    """Return by how much the second cheapest column of a row costs more, as a median over rows."""
    with np.errstate(invalid="ignore"):
        gap = cost - cost.min(axis=1, keepdims=True)
    least = np.where(gap > 1e-12 * top, gap, np.inf).min(axis=1, initial=np.inf)
    least = least[np.isfinite(least)]
    return float(np.median(least)) if len(least) else 1.0


def own_chances(pair: Ints, asked: Distinct, found: Distinct, own: Ints, truth: Ints) -> Floats:
    """Return the chances x / (c d) of some rows, given the classes ``pair`` of a pairing's links."""
    kinds, links = np.unique(pair, return_counts=True)
    here, there = asked.of[own], found.of[truth[own]]
    wanted = here * len(found) + there
    at = np.minimum(np.searchsorted(kinds, wanted), max(len(kinds) - 1, 0))
    x = np.where(kinds[at] == wanted, links[at], 0) if len(kinds) else np.zeros(len(own))
    return np.asarray(x / (asked.count[here] * found.count[there]), dtype=np.float64)


def order_equal_records(link: Ints, found: Distinct) -> Ints:
    """Return the same links with equal columns given out in the order of the rows."""
    rows = np.flatnonzero(link >= 0)
    classes = found.of[link[rows]]
    out = link.copy()
    columns = np.sort(link[rows])
    out[rows[np.argsort(classes, kind="stable")]] = columns[
        np.argsort(found.of[columns], kind="stable")
    ]
    return out


def assign(cost: Floats) -> Ints:
    """Return the column assigned to each row, no column twice, at least total cost; -1 for none."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(cost)
    out = np.full(len(cost), -1, dtype=np.int64)
    out[rows] = columns
    return out


def all_distances(a: Floats, b: Floats) -> Floats:
    """Return the squared Euclidean distances of all pairs."""
    check_size(len(a), len(b))
    total = np.zeros((len(a), len(b)))
    for x, y in zip(a.T, b.T, strict=True):
        total += (x[:, None] - y[None, :]) ** 2
    return total
