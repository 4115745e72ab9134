"""Medical expressions of several words: where one stands, none of its words is a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tacit.text.reading.words import strip_marks

#: The words of an expression after the first two, in lower case, without marks and the s of a possessive.
Phrase = tuple[str, ...]
#: Expressions by their first word and, without an s at its end, their second; the longest first.
Phrases = Mapping[str, Mapping[str, tuple[Phrase, ...]]]
#: What may stand between two words of an expression.
BETWEEN = frozenset("-‐‑–'’`´/.")
APOSTROPHES = frozenset("'’`´")


def sort_phrases(texts: Iterable[str]) -> Phrases:
    """Return expressions of two words or more, written with underscores, as they are looked up."""
    found: dict[str, dict[str, set[Phrase]]] = {}
    for text in texts:
        first, second, *rest = text.split("_")
        found.setdefault(first, {}).setdefault(second.rstrip("s"), set()).add(tuple(rest))
    return {
        first: {
            second: tuple(sorted(rests, key=lambda r: (-len(r), r)))
            for second, rests in seconds.items()
        }
        for first, seconds in found.items()
    }


def cover_phrases(words: Sequence[str], starts: Iterable[int], phrases: Phrases) -> frozenset[int]:
    """Return the tokens, in lower case, that belong to an expression; ``starts`` are those that may begin one."""
    covered: set[int] = set()
    lows = [w if w.isascii() else strip_marks(w) for w in words]
    for i in starts:
        at = skip_marks(lows, i + 1)
        if at < len(lows):
            for rest in phrases[lows[i]].get(lows[at].rstrip("s"), ()):
                end = follow(lows, at + 1, rest)
                if end:
                    covered.update(range(i, end))
                    break
    return frozenset(covered)


def follow(lows: Sequence[str], at: int, rest: Phrase) -> int:
    """Return where an expression ends whose later words are expected from ``at`` on, or 0."""
    for word in rest:
        at = skip_marks(lows, at)
        if at >= len(lows) or lows[at].rstrip("s") != word.rstrip("s"):
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
        else:
            break
    return at
