"""Names that are spelt out letter by letter: H-U-Y-N-H, K.O.W.A.L, spelled D I N A H."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

#: Letters of a name at most, and at least.
MOST, LEAST = 20, 4
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
SIGNS = frozenset("-–‐‑")


@detector("spelt name", m.SHORT | m.LETTER)
def find_spelt_names(page: Page, i: int) -> Iterable[Candidate]:
    """Find single letters with hyphens between them, as callers spell their names."""
    if i + 1 >= page.size or page.words[i + 1] not in SIGNS or len(page.words[i]) != 1:
        return ()
    return spelt_from(page, i)


def spelt_from(page: Page, i: int) -> Iterator[Candidate]:
    """Yield the name that is spelt from letter i on."""
    if not page.joined(i):
        return
    if i and page.joined(i - 1) and page.low(i - 1) in SIGNS:
        return
    end, letters = i + 1, 1
    while letters < MOST and is_next_letter(page, end):
        end += 2
        letters += 1
    if letters < LEAST - 1:
        return
    whole = page.lexicon("".join(page.words[i:end:2]))
    known = whole.first >= 7 or whole.last >= 7
    if whole.low in ALPHABET or ((whole.common or whole.medical) and whole.index < 3):
        return
    if letters >= LEAST or (known and page.low(i - 1) in (",", ".", "spelled", "spelt")):
        yield cut(page, i, end, "name", 0.87, "spelt name", person=True)


def is_next_letter(page: Page, j: int) -> bool:
    """Return True for a hyphen at j and one letter after it."""
    return (
        j + 1 < page.size
        and page.low(j) in SIGNS
        and page.joined(j - 1)
        and page.joined(j)
        and len(page.low(j + 1)) == 1
        and page.infos[j + 1].shape in "Il"
    )
