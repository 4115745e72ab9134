"""Names that are spelt out letter by letter, or that a machine read with digits for letters."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.reading import marks as m
from tacit.text.reading.lexicon import Word
from tacit.text.reading.page import Page

# -- H-U-Y-N-H, K.O.W.A.L, spelled D I N A H -------------------------------------------------------


#: Letters of a name at most, and at least.
MOST_LETTERS, LEAST_LETTERS = 20, 4
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
SIGNS = frozenset("-–‐‑")


@detector("spelt name", m.SHORT | m.LETTER)
def find_spelt_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find single letters with hyphens between them, as callers spell their names."""
    if i + 1 >= page.size or page.words[i + 1] not in SIGNS or len(page.words[i]) != 1:
        return
    if not page.joined(i):
        return
    if i and page.joined(i - 1) and page.low(i - 1) in SIGNS:
        return
    end, letters = i + 1, 1
    while letters < MOST_LETTERS and page.low(end) in SIGNS and page.is_letter(end + 1):
        if not (page.joined(end - 1) and page.joined(end)):
            break
        end += 2
        letters += 1
    if letters < LEAST_LETTERS - 1:
        return
    whole = page.lexicon("".join(page.words[i:end:2]))
    known = whole.first >= 7 or whole.last >= 7
    if whole.low in ALPHABET or ((whole.common or whole.medical) and whole.index < 3):
        return
    if letters >= LEAST_LETTERS or (known and page.low(i - 1) in (",", ".", "spelled", "spelt")):
        yield cut(page, i, end, "name", 0.87, "spelt name", person=True)


# -- C1ifford, Bamgb0se ----------------------------------------------------------------------------


#: Letters for which a digit stands.
LETTERS = {"0": "o", "1": "li", "3": "e", "5": "s", "8": "b"}
#: Tokens of one word at most.
LONGEST = 7


@detector("misread name", m.FEW)
def find_misread(page: Page, i: int) -> Iterator[Candidate]:
    """Find a capitalised word with a digit for a letter that is a name with the letter, or stands where a name does."""
    if not i or page.ends[i - 1] != page.starts[i] or not page.joined(i) or not is_part(page, i):
        return
    start, end = word_bounds(page, i)
    first = next(k for k in range(start, end) if page.infos[k].shape == "d")
    if end - start < 2 or first != i:
        return
    if page.infos[start].shape not in "CUIM":
        return
    text = page.text[page.starts[start] : page.ends[end - 1]]
    if sum(c.isalpha() for c in text) < 4 or any(c.isupper() for c in text[1:]):
        return
    readings = [page.lexicon(reading) for reading in read_letters(text)]
    if any(w.common >= 9 or w.medical or w.marks & (m.EPONYM | m.DRUG) for w in readings):
        return
    evidence = misread_evidence(page, start, readings)
    yield cut(page, start, end, "name", evidence, "misread name", person=evidence > 0.8)


def word_bounds(page: Page, i: int) -> tuple[int, int]:
    """Return the letters and digits that are joined to the digit at i."""
    start, end = i, i + 1
    while start and i - start < LONGEST and page.joined(start - 1) and is_part(page, start - 1):
        start -= 1
    while end < page.size and end - i < LONGEST and page.joined(end - 1) and is_part(page, end):
        end += 1
    return start, end


def is_part(page: Page, i: int) -> bool:
    """Return True for letters and for a digit that may be one."""
    info = page.infos[i]
    if info.shape == "d":
        return len(info.low) < 3 and LETTERS.keys() >= set(info.low)
    return info.shape in "lCUIM"


def read_letters(text: str) -> list[str]:
    """Return a word with letters for its digits, in at most four readings."""
    readings = [""]
    for c in text:
        readings = [r + letter for r in readings for letter in LETTERS.get(c, c)][:4]
    return readings


def misread_evidence(page: Page, start: int, readings: list[Word]) -> float:
    """Return how much a misread word is believed: a name of the lists, a word after a title or after such a name."""
    k = start - 1
    if page.low(k) == ".":
        k -= 1
    if page.together(k, start) and page.marks(k) & (m.TITLE | m.RELATION):
        return 0.92
    numbered = page.infos[start - 2].shape == "d" and page.joined(start - 2)
    if page.together(start - 3, start) and numbered:
        return 0.85
    return 0.82 if any(w.first >= 8 or w.last >= 9 for w in readings) else 0.5
