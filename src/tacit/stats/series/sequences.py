"""Distances between sequences of categories: Hamming and edit distance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from tacit.errors import InputError


def hamming(x: Sequence[Hashable], v: Sequence[Hashable]) -> int:
    """Return at how many positions two sequences of equal length differ."""
    if len(x) != len(v):
        raise InputError("hamming needs sequences of equal length; use edit_distance")
    return sum(a != b for a, b in zip(x, v, strict=True))


def edit_distance(x: Sequence[Hashable], v: Sequence[Hashable]) -> int:
    """Return the least number of insertions, deletions and exchanges that turn one into the other.

    References
    ----------
    Levenshtein (1966), Binary codes capable of correcting deletions, insertions, and reversals, Soviet
    Physics Doklady 10, 707-710.
    """
    codes: dict[Hashable, int] = {}
    a, b = (np.array([codes.setdefault(y, len(codes)) for y in z], dtype=np.int64) for z in (x, v))
    places = np.arange(len(b) + 1)
    row = places
    for i, value in enumerate(a, start=1):
        # Deletions and exchanges first; insertions then run along the row.
        step = np.concatenate([[i], np.minimum(row[1:] + 1, row[:-1] + (b != value))])
        row = np.minimum.accumulate(step - places) + places
    return int(row[-1])
