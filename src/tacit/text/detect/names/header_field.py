"""Names in header fields: RE: Virginia Townsend; Patient: TOWNSEND, VIRGINIA; Attending: Dr. Lang."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import has_apostrophe, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("header_field")


MARKS = frozenset(":=|#")


@detector("header field", m.HEADER)
def find_header_fields(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word of a field, a colon, and words of a name, also as LAST, FIRST."""
    j, colon = field_end(page, i)
    if not colon:
        yield from bare_field(page, i)
        return
    while page.together(i, j) and page.marks(j) & m.TITLE:
        j = page.skip_dot(j + 1)
    if j >= page.size or page.lines[j] > page.lines[i] + 1 or not page.together(i, j):
        return
    info = page.infos[j]
    if page.low(i) == "re" and info.shape == "U" and len(info.low) < 4 and not page.plain_case(j):
        return  # Re: SAE, what it is about
    yield from names_in_field(page, j)


@detector("form field", m.NAME_PART)
def find_form_fields(page: Page, i: int) -> Iterator[Candidate]:
    """Find what stands after FIRST:, MI: or LAST: in a form."""
    if page.low(i + 1) != ":" or not page.together(i, i + 2):
        return
    j = i + 2
    info = page.infos[j]
    if info.shape in "CUMI" and not info.marks & (m.STOP | m.MEDICAL | m.HEAD):
        end = j + 1 if info.shape == "I" else max(j + 1, take_name(page, j, cued=True, most=2))
        yield cut(page, j, end, "name", 0.85, "header field", person=True)


def field_end(page: Page, i: int) -> tuple[int, bool]:
    """Return the token after the colon of a field that begins at i, and whether there is one."""
    for j in range(i + 1, min(i + 6, page.size)):
        low = page.low(j)
        if low in MARKS:
            return j + 1, page.together(i, j)
        if low not in CUES.fillers and not page.marks(j) & m.HEADER:
            break
    return i + 1, False


def names_in_field(page: Page, j: int) -> Iterator[Candidate]:
    """Yield the name at j, with a second part after a comma, and others of the list."""
    for turn in range(4):
        first = turn == 0
        turned = turned_end(page, j)
        if turned > j:
            yield cut(page, j, turned, "name", 0.92, "header field", person=True)
            return
        end = take_name(page, j, cued=True)
        if end == j:
            if first:
                yield from initials(page, j)
            return
        yield cut(page, j, end, "name", field_evidence(page, j, end), "header field", person=True)
        if page.low(end) not in (",", ";", "and", "&", "/") or not page.together(j, end + 1):
            return
        j = end + 1
        while page.marks(j) & m.TITLE and page.together(j, end):
            j = page.skip_dot(j + 1)
        info = page.word_at(j)
        if info is None or info.marks & (m.RELATION | m.ROLE):
            return
        lettered = page.low(j - 1) == ";" and info.shape == "I"
        if info.common and info.index < 5 and not lettered:
            return


def initials(page: Page, j: int) -> Iterator[Candidate]:
    """Yield two to four initials alone on the rest of a line: signed: A.D."""
    end, letters = j, 0
    while page.together(j, end) and end < j + 9:
        if page.infos[end].shape not in "IU" and page.low(end) != ".":
            break
        letters += len(page.low(end)) if page.low(end) != "." else 0
        end += 1
    info = page.infos[j] if j < page.size else None
    if info is None or info.medical or info.marks & m.SUFFIX or not 2 <= letters <= 4:
        return
    if "md" in page.text[page.starts[j] : page.ends[end - 1]].lower().replace(".", ""):
        return
    if end >= page.size or page.lines[end] != page.lines[j]:
        yield cut(page, j, end, "name", 0.82, "header field", person=True)


def field_evidence(page: Page, j: int, end: int) -> float:
    """Return how much a field's name is believed: less when it is ordinary words, or runs on into a sentence."""
    if is_ordinary(page, j, end):
        return 0.5
    line = page.lines[j]
    ends = end >= page.size or page.lines[end] != line or page.low(end) in ",;()/&-|."
    alone = ends or page.infos[end].shape != "l" or page.apart(end)
    return 0.9 if alone or page.infos[j].index > 3 else 0.6


def is_ordinary(page: Page, j: int, end: int) -> bool:
    """Return True when all words are ordinary ones: Claims Reviewer."""
    worded = (info for info in page.infos[j:end] if info.shape in "lCUM")
    return all(info.common >= 9 and info.index < 4 for info in worded)


def turned_end(page: Page, j: int) -> int:
    """Return the end of TOWNSEND, Virginia A at j, whatever word the surname is; j when there is none."""
    if j >= page.size or (page.infos[j].shape in "dpI" and not has_apostrophe(page, j)):
        return j
    if page.marks(j) & (m.HOSPITAL | m.MEDICAL | m.WARD | m.CLUB) and page.infos[j].index < 3:
        return j
    comma = j + 1
    while page.low(comma) != "," and comma < j + 5 and page.together(j, comma):
        if page.infos[comma].shape not in "CUM" and page.low(comma) not in "-'’.":
            break
        comma += 1
    after = comma + 1
    info = page.near(j, after)
    if page.low(comma) != "," or info is None or info.shape not in "CUMl":
        return j
    info = page.infos[after]
    if info.shape == "U" and len(info.low) < 4 and not info.first:
        return j
    ordinary = info.common >= 11 and info.index < 4 and info.first < 9
    if info.marks & (m.SUFFIX | m.STOP | m.TITLE) or ordinary or info.medical:
        return j
    small = page.infos[j].shape == "l" and not page.lower
    if small or not (page.capital(after) or page.plain_case(after)):
        return j
    end = take_name(page, after, cued=True, most=2)
    while end > after and page.together(j, end) and page.gap(end - 1) == 1:
        if page.infos[end].shape != "I":
            break
        end = page.skip_dot(end + 1)
    return end if end > after else j


def bare_field(page: Page, i: int) -> Iterator[Candidate]:
    """Yield a name right after a word such as pt, without a colon."""
    if page.low(i) not in CUES.bare or not page.together(i, i + 1):
        return
    if page.low(i + 1) == "?" and page.low(i) in ("surname", "forename"):
        # A question mark that stands for doubt: surname ?Fell.
        info = page.word_at(i + 2)
        if (
            info is not None
            and info.shape in "CM"
            and page.joined(i + 1)
            and not info.marks & m.STOP
        ):
            yield cut(page, i + 2, i + 3, "name", 0.85, "header field", person=True)
        return
    first = page.infos[i + 1]
    strange = not first.common and not first.medical
    loose = page.low(i) in ("pt", "signed") and strange and page.low(i + 2) in ",("
    end = take_name(page, i + 1, cued=loose or page.low(i) == "signed")
    if end > i + 1 and not is_ordinary(page, i + 1, end):
        evidence = 0.8 if first.index >= 5 or loose or page.low(i) == "signed" else 0.5
        yield cut(page, i + 1, end, "name", evidence, "header field", person=True)
