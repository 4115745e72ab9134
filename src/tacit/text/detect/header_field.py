"""Names in header fields: RE: Virginia Townsend; Patient: TOWNSEND, VIRGINIA; Attending: Dr. Lang."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import could_be_name, take_name
from tacit.text.page import Page

#: Words between a field's word and its colon: Patient Name:, Name of patient:, Signed by:
FILLERS = frozenset(
    [
        "name",
        "names",
        "by",
        "of",
        "the",
        "patient",
        "to",
        "physician",
        "surgeon",
        "person",
        "nurse",
        "doctor",
        "'s",
        "'",
        "s",
        "(",
        ")",
        "/",
        "full",
        "legal",
        "contact",
        "kin",
        "next",
        "provider",
        "md",
        "and",
    ]
)
#: Words that are fields without a colon.
BARE = frozenset(["pt", "patient", "re", "attn", "cc", "surname", "forename"])
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
    yield from names_in_field(page, j)


def field_end(page: Page, i: int) -> tuple[int, bool]:
    """Return the token after the colon of a field that begins at i, and whether there is one."""
    for j in range(i + 1, min(i + 6, page.size)):
        low = page.low(j)
        if low in MARKS:
            return j + 1, page.together(i, j)
        if low not in FILLERS and not page.marks(j) & m.HEADER:
            break
    return i + 1, False


def names_in_field(page: Page, j: int) -> Iterator[Candidate]:
    """Yield the name at j, with a second part after a comma, and others of the list."""
    for _ in range(4):
        end = take_name(page, j, cued=True)
        if end == j:
            return
        line = page.lines[j]
        alone = (
            end >= page.size
            or page.lines[end] != line
            or page.low(end) in ",;()/&-|"
            or page.infos[end].shape != "l"
        )
        sure = 0.9 if alone or page.infos[j].index > 3 else 0.6
        if (
            page.low(end) == ","
            and page.together(j, end + 1)
            and could_be_name(page, end + 1, True)
            and not page.marks(end + 1) & m.SUFFIX
        ):
            second = take_name(page, end + 1, cued=True, most=3)
            if second > end + 1 and end - j <= 3:
                yield cut(page, j, second, "name", sure, "header field", person=True)
                return
        yield cut(page, j, end, "name", sure, "header field", person=True)
        if page.low(end) not in (",", ";", "and", "&", "/") or not page.together(j, end + 1):
            return
        j = end + 1
        while page.marks(j) & m.TITLE and page.together(j, j - 1):
            j = page.skip_dot(j + 1)


def bare_field(page: Page, i: int) -> Iterator[Candidate]:
    """Yield a name right after a word such as pt, without a colon."""
    if page.low(i) not in BARE or not page.together(i, i + 1):
        return
    end = take_name(page, i + 1, cued=False)
    if end > i + 1:
        first = page.infos[i + 1]
        yield cut(
            page, i + 1, end, "name", 0.75 if first.index >= 5 else 0.5, "header field", person=True
        )
