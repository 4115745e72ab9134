"""Lists of words, written as running text."""

from __future__ import annotations


def words(text: str) -> list[str]:
    """Return what stands between white space."""
    return text.split()


def phrases(text: str) -> list[str]:
    """Return what stands between bars and line ends."""
    return text.strip().replace("\n", "|").split("|")
