"""Names with which people say who they are: this is marcus calling, its Meera, my name is Dot."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("introduced")


@detector("introduced", m.INTRODUCES)
def find_introduced(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name after this is, my name is, I am, it's."""
    j = said_end(page, i)
    if j == i or not page.together(i, j):
        return
    while page.marks(j) & m.TITLE and page.together(i, j + 1) and page.infos[j].index < 9:
        j = page.skip_dot(j + 1)
    info = page.word_at(j)
    if (
        info is None
        or not page.together(i, j)
        or info.medical
        or info.marks & (m.MEDICAL | m.PLACE)
    ):
        return
    if not (page.capital(j) or page.plain_case(j)) or (info.marks & BARRED and info.index < 5):
        return
    if info.first < 7 and (info.common or not page.capital(j)):
        return
    end = take_name(page, j, cued=info.index >= 4, most=3)
    if end > j:
        followed = not page.together(j, end) or page.low(end) in CUES.after
        sure = followed and info.index >= 3 and info.first >= 7
        yield cut(page, j, end, "name", 0.82 if sure else 0.5, "introduced")


def said_end(page: Page, i: int) -> int:
    """Return the token after the words that introduce somebody, or i."""
    low, after = page.low(i), page.low(i + 1)
    if low in ("this", "name") and after == "is":
        return i + 2
    if low in ("this", "name", "it") and after in ("'", "’") and page.low(i + 2) == "s":
        return i + 3
    if low == "i" and after in ("'", "’") and page.low(i + 2) == "m":
        return i + 3
    return i + 1 if low in ("its", "am", "im") else i
