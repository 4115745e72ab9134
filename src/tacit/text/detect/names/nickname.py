"""Nicknames: "Dot", called Dot, (Dot)."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, could_be_name, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("nickname")


CLOSE = {"(": ")", '"': '"', "“": "”", "'": "'", "‘": "’"}
LINKS = {"known": "as", "goes": "by", "likes": "to", "went": "by", "answers": "to"}


@detector("nickname", m.CALLED)
def find_called(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word after called, named, prefers, aka."""
    j = i + 1
    while page.low(j) in CUES.leads_no_name:
        j += 1
        if j > i + 5:
            return
    if not page.together(i, j):
        return
    quoted = page.low(j - 1) in ('"', "“", "'", "‘")
    closed = quote_end(page, j) if quoted else j
    if closed > j:
        yield cut(page, j, closed, "nickname", 0.85, "nickname", person=True)
        return
    if is_wished(page, i, j):
        yield cut(page, j, j + 1, "nickname", 0.6, "nickname", person=True)
    telling = page.capital(j) or quoted or (page.plain_case(j) and page.infos[j].index >= 6)
    if not telling or page.infos[j].medical or page.marks(j) & m.TITLE:
        return
    end = take_name(page, j, cued=page.capital(j) or page.infos[j].index > 3, most=3)
    if end > j and not page.marks(end) & m.HEAD:
        sure = (
            page.infos[j].index >= 3
            or quoted
            or page.low(i) in ("nicknamed", "aka", "prefers", "née", "nee")
        )
        yield cut(page, j, end, "nickname", 0.85 if sure else 0.6, "nickname", person=True)


def is_wished(page: Page, i: int, j: int) -> bool:
    """Return True for any word by which somebody wants to be called, in a text without capitals: known as wheels."""
    info = page.infos[j]
    asked = page.low(i - 1) in LINKS or (page.low(j - 1) == "called" and page.low(j - 2) == "be")
    return (
        asked
        and page.plain_case(j)
        and info.shape in "lU"
        and len(info.low) > 2
        and not info.medical
        and not info.marks & (BARRED | m.MEDICAL | m.NUMBER_WORD)
    )


def quote_end(page: Page, j: int) -> int:
    """Return the end of one to three words that a quotation mark closes, or j."""
    closing = CLOSE.get(page.low(j - 1))
    for end in range(j + 1, min(j + 4, page.size)):
        if not page.together(j, end) or page.infos[end - 1].shape in "dp":
            return j
        if page.low(end) == closing:
            return end
    return j


@detector("known as", m.KNOWN_AS)
def find_known_as(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word after known as, goes by."""
    link = LINKS.get(page.low(i))
    if link and page.low(i + 1) == link:
        yield from find_called(page, i + 1)


@detector("bracketed nickname", m.BRACKET)
def find_bracketed(page: Page, i: int) -> Iterator[Candidate]:
    """One capitalised word in brackets or quotes, after or within a name."""
    if i == 0 or i + 2 >= page.size:
        return
    closing = CLOSE.get(page.low(i))
    if (
        closing is None
        or page.low(i + 2) != closing
        or not page.joined(i)
        or not page.joined(i + 1)
    ):
        return
    info, before = page.infos[i + 1], page.infos[i - 1]
    if info.medical or info.marks & BARRED or (info.shape == "U" and not page.plain_case(i + 1)):
        return
    after_name = before.shape in "CM" and could_be_name(page, i - 1, False) and before.index >= 2
    if page.capital(i + 1) and after_name:
        listed = info.first >= 8 or before.first >= 9
        yield cut(page, i + 1, i + 2, "nickname", 0.85 if listed else 0.5, "nickname", person=True)
    elif page.plain_case(i + 1) and info.index >= 5 and before.index >= 5:
        yield cut(page, i + 1, i + 2, "nickname", 0.8, "nickname", person=True)
