"""Names by their look alone: runs of capitalised words, names spelt letter by letter, and those read with digits for letters."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.reading import marks as m
from tacit.text.reading.lexicon import Word
from tacit.text.reading.page import Page

#: Words that go between the parts of a name.
INNER = frozenset(
    ("of", "the", "and", "&", "on", "upon", "in", "le", "de", "la", "-", "'", "’", "s")
)
#: Marks of words that are no part of such a name, or show that it is a person's.
NOT_PART = (
    m.TITLE | m.MONTH | m.WEEKDAY | m.MEDICAL | m.DRUG | m.EPONYM | m.HEADER | m.SUFFIX | m.PHONE
    | m.NUMBER | m.BORN | m.DOSE | m.GREETING | m.CLOSING | m.AGE | m.STOP
)  # fmt: skip
#: Those that may stand later in one: Well, Care, Spine.
LATER = m.MEDICAL | m.STOP | m.NUMBER | m.PHONE | m.HEADER
#: Words of a name at most.
MOST = 6
#: What it says alone: little less where every word is an ordinary one.
STRANGE_RUN, ORDINARY_RUN = 0.5, 0.35


@detector("proper run", m.CAPITAL, ("en",))
def find_runs(page: Page, i: int) -> Iterator[Candidate]:
    """Two or more capitalised words in a line that also holds small ones."""
    info = page.infos[i]
    if info.marks & NOT_PART or info.shape not in "CM" or i in page.known or page.plain_case(i):
        return
    if page.together(i - 1, i) and page.gap(i - 1) == 1 and is_run_part(page, i - 1):
        return
    end, words = reach(page, i)
    if words < 2 or not stands_in_prose(page, i, end):
        return
    inner = [page.infos[k] for k in range(i, end) if page.infos[k].shape in "CMU"]
    if page.starts_sentence(i) and inner[0].common >= 9:
        return
    if not all(w.first or w.last for w in inner):
        evidence = STRANGE_RUN if any(w.common < 8 for w in inner) else ORDINARY_RUN
        yield cut(page, i, end, "organisation", evidence, "proper run")


def is_run_part(page: Page, i: int, barred: int = NOT_PART) -> bool:
    """Return True for a capitalised word that can be part of the name of a thing."""
    info = page.infos[i]
    return info.shape in "CM" and not info.marks & barred and i not in page.known


def reach(page: Page, i: int) -> tuple[int, int]:
    """Return where the run that begins at token i ends, and how many words it has."""
    end, words, k = i + 1, 1, i + 1
    while k < page.size and words < MOST and k - end < 3 and page.lines[k] == page.lines[i]:
        if page.starts[k] - page.ends[k - 1] > 1:
            break
        if is_run_part(page, k, NOT_PART & ~LATER):
            words, end = words + 1, k + 1
        elif page.low(k) not in INNER:
            break
        k += 1
    return end, words


def stands_in_prose(page: Page, i: int, end: int) -> bool:
    """Return True when small words stand beside the run: it is no heading and no row of a table."""
    near = (*range(max(0, i - 4), i), *range(end, min(page.size, end + 4)))
    small = sum(page.infos[k].shape == "l" and page.lines[k] == page.lines[i] for k in near)
    large = sum(page.infos[k].shape in "CM" and page.lines[k] == page.lines[i] for k in near)
    return small > large and small >= 2


# -- H-U-Y-N-H, K.O.W.A.L, spelled D I N A H -------------------------------------------------------


#: Letters of a name at most, and at least.
MOST_LETTERS, LEAST_LETTERS = 20, 4
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
HYPHENS = frozenset("-–‐‑")


@detector("spelt name", m.SHORT | m.LETTER)
def find_spelt_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find single letters with hyphens between them, as callers spell their names."""
    if page.low(i + 1) not in HYPHENS or len(page.words[i]) != 1 or not page.joined(i):
        return
    if i and page.joined(i - 1) and page.low(i - 1) in HYPHENS:
        return
    end, letters = i + 1, 1
    while letters < MOST_LETTERS and page.low(end) in HYPHENS and page.is_letter(end + 1):
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
LONGEST_WORD = 7


@detector("misread name", m.FEW)
def find_misread(page: Page, i: int) -> Iterator[Candidate]:
    """Find a capitalised word with a digit for a letter that is a name with the letter, or stands where a name does."""
    if not i or not (page.joined(i - 1) and page.joined(i) and is_read(page, i)):
        return
    # The letters and digits that are joined to the digit.
    start, end = i, i + 1
    while start and i - start < LONGEST_WORD and page.joined(start - 1) and is_read(page, start - 1):
        start -= 1
    while end < page.size and end - i < LONGEST_WORD and page.joined(end - 1) and is_read(page, end):
        end += 1
    first = next(k for k in range(start, end) if page.infos[k].shape == "d")
    if end - start < 2 or first != i or page.infos[start].shape not in "CUIM":
        return
    text = page.text[page.starts[start] : page.ends[end - 1]]
    if sum(c.isalpha() for c in text) < 4 or any(c.isupper() for c in text[1:]):
        return
    readings = [page.lexicon(reading) for reading in read_letters(text)]
    if any(w.common >= 9 or w.medical or w.marks & (m.EPONYM | m.DRUG) for w in readings):
        return
    evidence = misread_evidence(page, start, readings)
    yield cut(page, start, end, "name", evidence, "misread name", person=evidence > 0.8)


def is_read(page: Page, i: int) -> bool:
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
