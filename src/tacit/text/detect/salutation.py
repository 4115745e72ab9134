"""Names in greetings: Dear Virginia, Hi Dot."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.detect.header_field import is_ordinary
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import take_name
from tacit.text.page import Page

#: Greetings after which a name is certain to follow.
DEAR = frozenset(("dear", "lieber", "liebe"))


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
    for _ in range(8):
        while page.together(i, j) and page.marks(j) & m.TITLE and page.infos[j].index < 9:
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
            if page.low(end) in ",:;-–!." or end >= page.size or not page.together(i, end)
            else 0.7,
            "salutation",
            person=True,
        )
        if page.low(end) not in ("and", "&", ",", "/"):
            return
        j = end + 1
