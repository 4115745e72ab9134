"""Names of families and of who belongs to them: the Henderson family, significant other Ray, Phulmati w/o Budhram, the dog Rex."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.names.nickname import CLOSE, quote_end
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, take_back, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("family")


UNNAMED = BARRED | m.MEDICAL | m.DRUG | m.HEAD | m.STATE | m.CLUB | m.HOSPITAL


@detector("family", m.FAMILY)
def find_families(page: Page, i: int) -> Iterator[Candidate]:
    """Find the surname before family, household, twins: the van Rensburg family."""
    k = i - 1
    if not page.together(k, i) or page.gap(k) != 1 or page.infos[i].shape == "C":
        return
    info = page.infos[k]
    if info.shape not in "CMUl" or info.marks & UNNAMED or info.medical or info.common >= 12:
        return
    if not page.capital(k) and not (
        page.plain_case(k) and info.last >= 9 and info.index >= 4 and page.low(k - 1) == "the"
    ):
        return
    start = take_back(page, i, cued=page.capital(k), most=2)
    if start == i:
        return
    while start and page.marks(start - 1) & m.PARTICLE and page.gap(start - 1) == 1:
        start -= 1
    sure = page.low(start - 1) in ("the", "for") or info.last >= 9
    yield cut(page, start, i, "name", 0.85 if sure else 0.5, "family", person=sure)


@detector("significant other", m.OTHER)
def find_significant(page: Page, i: int) -> Iterator[Candidate]:
    """Find the name after significant other, or better half."""
    j = i + 1
    if page.low(i - 1) not in ("significant", "better") or not page.together(i - 1, j):
        return
    if page.low(j) in (",", "(", ":"):
        j += 1
    info = page.word_at(j)
    if info is None or not page.together(i, j) or info.shape not in "CUMl":
        return
    named = info.shape in "CM" or (page.plain_case(j) and info.first >= 8)
    if named and (info.first >= 12 or not info.marks & (UNNAMED | m.STOP | m.ACTS)):
        end = take_name(page, j, cued=True, most=3)
        yield cut(page, j, max(end, j + 1), "name", 0.85, "relation", person=True)


@detector("wife of", m.SLASH)
def find_wife_of(page: Page, i: int) -> Iterator[Candidate]:
    """Find the names on both sides of w/o, s/o, d/o, c/o, which also mean without and complains of."""
    if not i or page.low(i) != "/" or page.low(i + 1) != "o" or page.low(i - 1) not in CUES.of:
        return
    if not (page.joined(i) and page.joined(i - 1)):
        return
    j = i + 2
    if page.low(j) in (":", ".", "-"):
        j += 1
    titled = False
    while page.together(i, j) and (page.marks(j) & m.TITLE or page.low(j) in ("sh", "late", "lt")):
        titled = True
        j = page.skip_dot(j + 1)
    if not page.together(i, j) or not (titled or is_stranger(page, j)):
        return
    end = take_name(page, j, cued=True, most=3, strong=titled)
    if end == j:
        return
    sure = titled or (page.capital(j) and page.infos[j].shape != "U") or page.infos[j].index >= 6
    yield cut(page, j, end, "name", 0.85 if sure else 0.7, "wife of", person=True)
    k = i - 2
    if k >= 0 and page.together(k, i) and page.gap(k) == 1 and is_stranger(page, k):
        start = take_back(page, k + 1, cued=True, most=3)
        if start <= k:
            yield cut(page, start, k + 1, "name", 0.75, "wife of", person=True)


def is_stranger(page: Page, j: int) -> bool:
    """Return True for a word that is a name, or that no list holds and that sounds of no medicine."""
    info = page.infos[j]
    if info.shape not in "CUMl" or len(info.low) < 3 or info.medical or info.marks & UNNAMED:
        return False
    if info.common and info.index < 4:
        return False
    return info.index >= 5 or page.lexicon.sounds_medical(info.low) < 0.2


@detector("pet", m.PET)
def find_pets(page: Page, i: int) -> Iterator[Candidate]:
    """Find the name of an animal: her dog Rex, the cat (Chairman Meow), pony "Star"."""
    j = i + 1
    if not page.together(i, j) or (page.infos[i].shape != "l" and not page.plain_case(i)):
        return
    if page.low(j) == ",":
        j += 1
    if page.low(j) in CLOSE and page.together(i, j + 1):
        end = quote_end(page, j + 1)
        if end > j + 1 and (page.infos[j + 1].shape == "C" or page.low(j) != "("):
            yield cut(page, j + 1, end, "nickname", 0.85, "pet", person=True)
        return
    info = page.word_at(j)
    if info is None or not page.together(i, j) or info.shape != "C" or page.gap(j - 1) != 1:
        return
    if info.marks & (UNNAMED | m.STOP) or info.medical or page.marks(j + 1) & m.HEAD:
        return
    sure = info.first >= 6 or j == i + 1
    yield cut(page, j, j + 1, "nickname", 0.82 if sure else 0.6, "pet", person=True)
