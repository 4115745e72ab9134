"""MDAV: groups of k around the record farthest from the middle, and around the one farthest from that."""

from __future__ import annotations

import numpy as np

from tacit.microaggregation.methods import Tick
from tacit.stats.moments import Floats, Ints


def mdav(x: Floats, k: int, *, rng: np.random.Generator, tick: Tick) -> Ints:
    """Return the groups of MDAV with two seeds a round.

    While at least 3k records remain: r is the record farthest from their mean, s the one farthest from
    r; r and its k - 1 nearest form a group, then s and its k - 1 nearest among the rest. With 2k to
    3k - 1 left one group forms around the record farthest from the mean and the rest is the last group;
    fewer are one group. Ties go to the lowest record number.
    """
    del rng
    left = np.arange(len(x))
    labels = np.zeros(len(x), dtype=np.int64)
    group = 0
    while len(left) >= 2 * k:
        tick("forming groups", 1.0 - len(left) / len(x))
        seeds = [farthest(x, left, x[left].mean(axis=0))]
        if len(left) >= 3 * k:
            seeds.append(farthest(x, left, x[seeds[0]]))
        for seed in seeds:
            near = np.argsort(((x[left] - x[seed]) ** 2).sum(axis=1), kind="stable")[:k]
            labels[left[near]] = group
            left = np.delete(left, near)
            group += 1
    labels[left] = group
    return labels


def farthest(x: Floats, left: Ints, point: Floats) -> int:
    """Return the remaining record farthest from a point."""
    return int(left[((x[left] - point) ** 2).sum(axis=1).argmax()])
