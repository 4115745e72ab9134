"""Words in a string, as sets and sequences: short to write, easy to extend."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order."""
    return tuple(text.split())
