"""Gaelic surnames, whose parts stand apart: Mac Giolla Phádraig, Nic an tSaoi, Ó Súilleabháin."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("gaelic_name")


@detector("gaelic name", m.PARTICLE)
def find_gaelic_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find Mac, Nic, Ó or Ní, an article or not, and one or two words with a capital."""
    if page.low(i) not in CUES.begin or page.infos[i].shape == "l":
        return
    j = i + 1
    if page.low(j) in CUES.articles and page.together(i, j + 1) and page.capital(j + 1):
        j += 1
    info = page.word_at(j)
    if info is None or not page.together(i, j) or page.gap(j - 1) != 1 or info.shape not in "CMU":
        return
    if not (page.capital(j) or page.plain_case(j)) or info.medical or info.common >= 9:
        return
    start = i
    if i and page.together(i - 1, i) and page.gap(i - 1) == 1 and page.infos[i - 1].first >= 8:
        start = i - 1 if page.capital(i - 1) else i
    yield cut(page, start, j + 1, "name", 0.87, "gaelic name", person=True)
