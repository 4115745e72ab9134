"""One-to-one links: the pairing of two files with the least total distance."""

from __future__ import annotations

import numpy as np

from tacit.errors import InputError
from tacit.stats.moments import Floats, Ints

#: Pairs for which all costs are held in memory at once.
PAIR_LIMIT = 25_000_000


def check_size(n_queries: int, n_targets: int) -> None:
    """Refuse files for which the costs of all pairs do not fit."""
    if n_queries * n_targets > PAIR_LIMIT:
        raise InputError(
            f"one-to-one links need all {n_queries:,} x {n_targets:,} pairs at once; the limit is "
            f"{PAIR_LIMIT:,} pairs. Measure on fewer records, or without one_to_one."
        )


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
