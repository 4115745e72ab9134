"""Employers and firms: Marina Corp, works at Marlow Glassworks."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.proper import back_proper, forward_proper, is_specific
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("employer")


@detector("company", m.COMPANY)
def find_companies(page: Page, i: int) -> Iterator[Candidate]:
    """Words of a name before Corp, Inc, Ltd, & Sons, Works."""
    info = page.infos[i]
    strong = info.low in CUES.strong
    if (
        page.marks(i + 1) & m.COMPANY
        and page.together(i, i + 1)
        and (page.capital(i + 1) or page.plain_case(i))
    ):
        return
    if not page.capital(i) and not (strong or page.plain_case(i)):
        return
    if info.low == "limited" and not page.capital(i):
        return
    if info.low == "co" and page.low(i + 1) in ("-", "/"):
        yield from cooperative(page, i)
        return
    if info.low in ("co", "inc") and is_abbreviation(page, i):
        return
    j = i
    while j > 0 and page.low(j - 1) in (",", "&") and page.together(j - 1, i):
        j -= 1
    start = back_proper(page, j, 4)
    if start >= j and not info.low.endswith(page.pack.company_ends or ("\0",)):
        return
    near = works_near(page, start) or page.low(start - 1) in ("at", "for", "with", "bei")
    if not is_specific(page, start, j) or (page.plain_case(i) and not strong and not near):
        return
    evidence = 0.9 if strong else 0.85 if near else 0.72
    yield cut(page, start, i + 1, "employer", evidence, "company")


def cooperative(page: Page, i: int) -> Iterator[Candidate]:
    """Yield the Co-op, with the words of its name."""
    if (
        page.infos[i].shape != "C"
        or page.low(i + 2) not in ("op", "operative")
        or not page.joined(i)
    ):
        return
    if page.low(i - 1) in ("the", "at", "from") or back_proper(page, i, 3) < i:
        yield cut(page, back_proper(page, i, 3), i + 3, "employer", 0.82, "company")


def is_abbreviation(page: Page, i: int) -> bool:
    """Return True for Fick CO 4.4, UTD inc MMR, ticket inc0048817: cardiac output, including, incident."""
    if page.joined(i) and page.infos[i + 1].shape == "d":
        return True
    if page.infos[i].shape == "U":
        return page.lines[i] not in page.caps_lines and page.marks(i + 1) & m.DIGIT != 0
    small = page.infos[i].shape == "l" and not page.lower
    return small and page.low(i + 1) != "." and page.low(i - 1) != ","


def works_near(page: Page, i: int) -> bool:
    """Return True when a word of work stands shortly before token i."""
    return any(page.marks(k) & m.WORKS for k in range(max(0, i - 6), i))


@detector("employer", m.WORKS)
def find_employers(page: Page, i: int) -> Iterator[Candidate]:
    """Works at, employed by, job with: the capitalised words after it."""
    j = i + 1
    seen = False
    while j < min(page.size, i + 9) and page.together(i, j):
        low = page.low(j)
        if low in ("at", "for", "by", "with", "from", "bei", ":"):
            seen = True
            j += 1
            if page.low(j) in ("the", "a", "der", "dem"):
                j += 1
            break
        if page.infos[j].shape == "p" or (
            page.marks(j) & m.STOP and low not in ("as", "a", "an", "the", "is")
        ):
            return
        j += 1
    if not seen or not page.together(i, j):
        return
    if page.capital(j) and not page.plain_case(j):
        if page.marks(j) & m.TITLE:
            return
        end = forward_proper(page, j)
        if end > j and is_specific(page, j, end):
            yield cut(page, j, end, "employer", 0.82, "employer")
    elif page.plain_case(j):
        end = j
        while (
            end < page.size
            and end < j + 4
            and page.together(j, end)
            and page.infos[end].shape in "lU"
            and not page.marks(end) & (m.STOP | m.PREPOSITION)
        ):
            end += 1
        known = any(
            page.marks(k) & (m.COMPANY | m.HOSPITAL | m.CLUB) for k in range(j, end)
        ) or any(not page.infos[k].common for k in range(j, end))
        if end > j and known and is_specific(page, j, end):
            yield cut(page, j, end, "employer", 0.8 if end - j > 1 else 0.6, "employer")
