"""The medical side of the documents: what must stay. Words are split like names; clauses are shared."""

from __future__ import annotations

from functools import cache

from letters import names
from letters.reading import WORDS, read_sheet, read_words

#: Medical expressions by kind, and the clauses in which the English families use them.
TERMS = read_words("medicine")
RULES = read_sheet(WORDS / "clauses.txt").rules()


@cache
def terms(split: str) -> dict[str, tuple[str, ...]]:
    """Return the medical words that documents of a split may use."""
    return {kind: names.for_split(words, split) for kind, words in TERMS.items()}
