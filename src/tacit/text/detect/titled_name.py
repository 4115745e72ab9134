"""Names after a title: Dr. Lang, Mrs Hodgkins, Nurse Adeyemi."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import take_name
from tacit.text.page import Page

#: Titles that are ordinary words too: they count before a capital letter only.
WEAK = frozenset(
    [
        "father",
        "sister",
        "nurse",
        "officer",
        "judge",
        "dean",
        "pa",
        "np",
        "general",
        "col",
        "gen",
        "miss",
        "lady",
        "sir",
        "captain",
        "doctor",
        "professor",
        "do",
        "fr",
        "sr",
        "hon",
        "det",
        "lt",
        "pc",
        "maj",
        "lord",
        "midwife",
        "matron",
        "rn",
    ]
)


@detector("titled name", m.TITLE)
def find_titled_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a title, an optional full stop, one to three words of a name in any case."""
    j = page.skip_dot(i + 1)
    if not page.together(i, j):
        return
    if page.low(j) == "/" or page.low(j) == "&" or page.low(j) == "and":
        j += 1 if not page.marks(j + 1) & m.TITLE else 2
        j = page.skip_dot(j)
    while page.marks(j) & m.TITLE and page.together(i, j) and page.infos[j].index < 9:
        j = page.skip_dot(j + 1)
    if not page.together(i, j):
        return
    weak = page.low(i) in WEAK
    if weak and (page.infos[j].shape == "l" or page.plain_case(j)) and page.infos[j].index < 6:
        return
    end = take_name(page, j, cued=True, most=3)
    if end > j:
        yield cut(page, j, end, "name", 0.85 if weak else 0.95, "titled name", person=True)
