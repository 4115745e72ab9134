"""Names in greetings: Dear Virginia, Hi Dot."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.names.header_field import is_ordinary
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("salutation")


#: Greetings after which a name is certain to follow.
DEAR = frozenset(("dear", "lieber", "liebe"))


def is_title_before(page: Page, j: int) -> bool:
    """Return True for a title, or a role before a name: Dear Chair Amberson."""
    info = page.infos[j]
    if info.index >= 9:
        return False
    if info.marks & m.TITLE:
        return True
    return bool(info.marks & m.ROLE) and page.together(j, j + 1) and page.infos[j + 1].shape == "C"


@detector("salutation", m.GREETING)
def find_salutations(page: Page, i: int) -> Iterator[Candidate]:
    """Find a greeting at the start of a line or sentence, optional titles, words of a name."""
    if not page.starts_sentence(i) and page.low(i) not in DEAR:
        return
    j = i + 1
    if page.low(j) == "you":
        j += 1
    if page.low(j) == ",":
        j += 1
    while page.low(j) in CUES.tails and page.together(i, j):
        j += 1
    for _ in range(8):
        while page.together(i, j) and is_title_before(page, j):
            j = page.skip_dot(j + 1)
        if not page.together(i, j):
            return
        strict = page.low(i) not in DEAR
        end = take_name(page, j, cued=not strict or page.infos[j].index >= 2, most=3)
        if end == j or (strict and not (page.capital(j) or page.plain_case(j))):
            return
        yield cut(
            page,
            j,
            end,
            "name",
            0.5
            if is_ordinary(page, j, end)
            else 0.9
            if page.low(end) in ",:;-–!." or not page.together(i, end)
            else 0.7,
            "salutation",
            person=True,
        )
        if page.low(end) not in ("and", "&", ",", "/"):
            return
        j = end + 1
