"""Teams, schools, parishes, bands: the U. S. Junior Gymnastics team, Northcliff Harbor Band."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.proper import back_proper, forward_proper, is_specific
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("organisation")


@detector("organisation", m.CLUB)
def find_organisations(page: Page, i: int) -> Iterator[Candidate]:
    """Words of a name before team, school, parish, band, club."""
    info = page.infos[i]
    if (
        page.marks(i + 1) & m.CLUB
        and page.together(i, i + 1)
        and (page.capital(i + 1) or not page.capital(i))
    ):
        return
    if (
        info.low in CUES.of
        and page.low(i + 1) == "of"
        and page.capital(i)
        and i + 2 < page.size
        and page.capital(i + 2)
    ):
        end = forward_proper(page, i + 2)
        if end > i + 2 and is_specific(page, i + 2, end):
            yield cut(page, back_proper(page, i, 3), end, "organisation", 0.85, "organisation")
            return
    if page.low(i - 1) == "-" and page.joined(i - 1):
        return
    if info.low in CUES.levels and page.together(i, i + 1) and is_noun(page, i + 1):
        return
    start = back_proper(page, i, 5)
    if (
        page.low(i + 1) == ","
        and page.marks(i + 2) & m.SUFFIX
        and page.infos[min(i + 2, page.size - 1)].shape == "U"
    ) or (
        page.low(i + 1) == "," and page.low(i + 3) == "." and page.low(i + 2) in ("m", "r", "ph")
    ):
        return
    if all(page.infos[k].shape in "pI" for k in range(start, i)):
        return
    if start >= i or not is_specific(page, start, i):
        return
    if page.plain_case(i):
        if info.low in ("school", "church", "parish", "academy", "college", "university"):
            yield cut(page, start, i + 1, "organisation", 0.7, "organisation")
        return
    words = sum(1 for k in range(start, i) if page.infos[k].shape in "CMU")
    evidence = 0.85 if page.capital(i) or words >= 2 else 0.75
    owned = page.low(i - 1) in ("'", "’", "s") and page.capital(i)
    if page.starts_sentence(start) and words == 1 and page.infos[start].common and not owned:
        evidence = 0.4
    yield cut(page, start, with_age_group(page, i + 1), "organisation", evidence, "organisation")


def with_age_group(page: Page, end: int) -> int:
    """Return the end of a team with the age of its players: Rovers U12."""
    if page.low(end) == "u" and page.together(end - 1, end) and page.infos[end].shape == "I":
        end += 1
    if page.low(end - 1) == "u" and page.joined(end - 1) and page.marks(end) & m.FEW:
        return end + 1
    return end


@detector("university", m.mark("uni"), languages=("en",))
def find_universities(page: Page, i: int) -> Iterator[Candidate]:
    """Find the short name of a university: Uni of Ashmere."""
    j = page.skip_dot(i + 1)
    if page.low(j) == "of" and page.together(i, j + 1) and page.infos[j + 1].shape in "CM":
        yield cut(page, i, forward_proper(page, j + 1, 3), "organisation", 0.88, "organisation")


@detector("board", m.mark("board"), languages=("en",))
def find_boards(page: Page, i: int) -> Iterator[Candidate]:
    """Find a board, bureau or commission with a name: Ashmere Board of Parole."""
    if (
        page.low(i + 1) != "of"
        or not page.together(i, i + 2)
        or page.infos[i + 2].shape not in "CMU"
    ):
        return
    info, start = page.infos[i + 2], begin_board(page, i)
    if info.medical or info.marks & (m.MEDICAL | m.STOP) or info.low in ("health", "nursing"):
        return
    end = forward_proper(page, i + 2, 3)
    if page.lines[i] in page.caps_lines:
        end = i + 3
    if end > i + 2:
        yield cut(page, start, end, "organisation", 0.84, "organisation")


def begin_board(page: Page, i: int) -> int:
    """Return where the words before a board begin, the state that has it among them: State of Oran Board of Parole."""
    start = back_proper(page, i, 3)
    if page.lines[i] in page.caps_lines:
        while page.together(start - 1, i) and page.infos[start - 1].shape == "U":
            start -= 1
    return start


def is_noun(page: Page, j: int) -> bool:
    """Return True for a word that may be what the word before it describes."""
    info = page.infos[j]
    small = info.shape == "l" and info.marks & (m.STOP | m.PREPOSITION | m.ACTS)
    return info.shape in "lCUM" and not small
