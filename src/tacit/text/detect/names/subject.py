"""Names as the subject of an age: Dot is a 7 year old; Moss, 66 years old."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, take_back
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("subject")


@detector("subject of a clause", m.CLAUSE)
def find_clause_subjects(page: Page, i: int) -> Iterator[Candidate]:
    """Find a capitalised word between says or that and a verb: caller says Pru threw up."""
    j = i + 1
    if not page.together(i, j + 1) or page.infos[j].shape != "C" or page.pack.nouns_capital:
        return
    info, after = page.infos[j], page.infos[j + 1]
    if len(info.low) < 3 or info.marks & (
        BARRED | m.MEDICAL | m.DRUG | m.EPONYM | m.PLACE | m.STATE
    ):
        return
    if after.shape == "l" and (
        after.marks & m.ACTS or (after.low.endswith("ed") and len(after.low) > 4)
    ):
        sure = info.common < 12 or info.first >= 8
        yield cut(page, j, j + 1, "name", 0.75 if sure else 0.5, "subject of a clause")


@detector("subject of an age", m.AGE)
def find_subjects(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name, is a, and a number of years."""
    if page.low(i) in ("old", "o", "age") or (i and page.marks(i - 1) & m.AGE):
        return
    k = i - 1
    while k >= 0 and i - k < 12 and (page.infos[k].shape == "d" or page.low(k) in CUES.links):
        k -= 1
    if k < 0 or i - k < 3 or not page.together(k, i) or not (page.capital(k) or page.lower):
        return
    if (page.infos[k].marks & (BARRED | m.MEDICAL) and page.infos[k].index < 6) or page.infos[
        k
    ].shape in "pdI":
        return
    if page.infos[k].common >= 13 and page.starts_sentence(k):
        return
    start = take_back(page, k + 1, cued=page.capital(k), most=3)
    if start <= k:
        yield cut(page, start, k + 1, "name", 0.85, "subject of an age", person=True)
