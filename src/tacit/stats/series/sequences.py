"""Distances between sequences of categories: Hamming and edit distance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tacit.errors import InputError


def hamming(x: Sequence[Hashable], v: Sequence[Hashable]) -> int:
    """Return at how many positions two sequences of equal length differ."""
    if len(x) != len(v):
        raise InputError("hamming needs sequences of equal length; use edit_distance")
    return sum(a != b for a, b in zip(x, v, strict=True))


def edit_distance(x: str | Sequence[Hashable], v: str | Sequence[Hashable]) -> int:
    """Return the least number of insertions, deletions and exchanges that turn one into the other.

    References
    ----------
    Levenshtein (1966), Binary codes capable of correcting deletions, insertions, and reversals, Soviet
    Physics Doklady 10, 707-710.
    """
    from rapidfuzz.distance import Levenshtein

    # Numbered first: the library tells elements apart by their hashes, and those of -1 and -2 are equal.
    codes: dict[Hashable, int] = {}
    a, b = ([codes.setdefault(y, len(codes)) for y in z] for z in (x, v))
    return int(Levenshtein.distance(a, b))
