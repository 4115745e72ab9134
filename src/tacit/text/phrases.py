"""Medical expressions of several words: where one stands, none of its words is a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

#: The words of an expression after the first, in lower case, without marks and the s of a possessive.
Phrase = tuple[str, ...]
#: What may stand between two words of an expression.
BETWEEN = frozenset("-‐‑–'’`´/.")
APOSTROPHES = frozenset("'’`´")


def sort_phrases(texts: Iterable[str]) -> dict[str, tuple[Phrase, ...]]:
    """Return expressions, written with underscores, by their first word, the longest first."""
    found: dict[str, set[Phrase]] = {}
    for text in texts:
        first, *rest = text.split("_")
        found.setdefault(first, set()).add(tuple(rest))
    return {
        first: tuple(sorted(rests, key=lambda r: (-len(r), r))) for first, rests in found.items()
    }


def cover_phrases(
    lows: Sequence[str], starts: Iterable[int], phrases: Mapping[str, tuple[Phrase, ...]]
) -> frozenset[int]:
    """Return the tokens that belong to an expression; ``starts`` are those that may begin one."""
    covered: set[int] = set()
    for i in starts:
        for phrase in phrases.get(lows[i], ()):
            end = follow(lows, i + 1, phrase)
            if end:
                covered.update(range(i, end))
                break
    return frozenset(covered)


def follow(lows: Sequence[str], at: int, phrase: Phrase) -> int:
    """Return where an expression ends whose later words are expected from ``at`` on, or 0."""
    size = len(lows)
    for word in phrase:
        at = skip_marks(lows, at)
        if at >= size or (lows[at] != word and lows[at].rstrip("s") != word.rstrip("s")):
            return 0
        at += 1
    return at


def skip_marks(lows: Sequence[str], at: int) -> int:
    """Return the next word, past hyphens, an apostrophe and the s after it."""
    for _ in range(3):
        if at < len(lows) and (
            lows[at] in BETWEEN or (lows[at] == "s" and lows[at - 1] in APOSTROPHES)
        ):
            at += 1
    return at
