"""Words in a string, as sets and sequences: short to write, easy to extend."""

from __future__ import annotations

import unicodedata


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order."""
    return tuple(text.split())


def strip_marks(low: str) -> str:
    """Return a word without accents: é as e."""
    parts = unicodedata.normalize("NFD", low)
    return "".join(c for c in parts if not unicodedata.combining(c))
