"""Names after a title: Dr. Lang, Mrs Hodgkins, Nurse Adeyemi."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import take_name
from tacit.text.page import Page
from tacit.text.words import words

#: Titles that are ordinary words too: they count before a capital letter only.
WEAK = words(
    "father sister nurse officer judge dean pa np general col gen miss lady sir captain doctor "
    "professor do fr sr hon det lt pc maj lord midwife matron rn"
)


@detector("titled name", m.TITLE)
def find_titled_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a title, an optional full stop, one to three words of a name in any case."""
    j = page.skip_dot(i + 1)
    if not page.together(i, j) or (
        page.low(i - 1) == ","
        and page.low(i) in ("rn", "pa", "np", "md", "do")
        and page.infos[i].shape != "C"
    ):
        return
    if page.low(j) == "/" or page.low(j) == "&" or page.low(j) == "and":
        j += 1 if not page.marks(j + 1) & m.TITLE else 2
        j = page.skip_dot(j)
    while (
        page.marks(j) & m.TITLE
        and page.together(i, page.skip_dot(j + 1))
        and page.infos[j].index < 9
        and (page.low(j + 1) == "." or page.infos[j + 1].shape != "l" or page.plain_case(j))
    ):
        j = page.skip_dot(j + 1)
    if not page.together(i, j):
        return
    weak = page.low(i) in WEAK
    if weak and (page.infos[j].shape == "l" or page.plain_case(j)) and page.infos[j].index < 6:
        return
    end = take_name(page, j, cued=True, most=3, strong=not weak)
    if end > j:
        yield cut(page, j, end, "name", 0.85 if weak else 0.95, "titled name", person=True)
