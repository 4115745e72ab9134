"""Names beside what people do: spoke with Azizi, per Dot, Kofi called, Soraya covers."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, take_back, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("company_of_people")


@detector("met", m.MEETS)
def find_met(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name after with, told, saw, per, by; and a second one after and."""
    j = i + 1
    if page.low(j) == "/" and page.joined(i):
        j += 1
    for evidence in (0.5, 0.5):
        if not page.together(i, j) or page.infos[j].marks & m.TITLE:
            return
        info = page.infos[j]
        if (
            not (page.capital(j) or (page.plain_case(j) and info.index >= 8))
            or info.medical
            or info.marks & (m.MEDICAL | m.DRUG)
        ):
            return
        if page.infos[j].shape == "U" and info.index < 6:
            return
        end = take_name(page, j, cued=False, most=3)
        if end == j or page.marks(end) & (
            m.HEAD | m.DOSE | m.HOSPITAL | m.COMPANY | m.CLUB | m.STREET
        ):
            return
        weak = info.common >= 10 and info.index < 5
        strange = not info.common and not info.marks & (m.PLACE | m.EPONYM) and len(info.low) > 2
        yield cut(page, j, end, "name", 0.3 if weak else 0.7 if strange else evidence, "met")
        if page.low(end) not in ("and", "&", "/", ","):
            return
        j = end + 1


@detector("doer", m.ACTS)
def find_doers(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name before a verb of what people do."""
    if not page.together(i - 1, i) or page.infos[i].shape != "l":
        return
    info = page.infos[i - 1]
    if (
        page.lower
        and info.shape == "l"
        and not info.marks & BARRED
        and ((info.first >= 12 and info.index >= 4) or (info.last >= 12 and info.index >= 9))
    ):
        yield cut(page, i - 1, i, "name", 0.7, "doer")
        return
    if (
        info.shape not in "CM"
        or info.marks & (BARRED | m.MEDICAL | m.DRUG | m.STATE | m.HOSPITAL | m.CLUB | m.COMPANY)
        or info.medical
    ):
        return
    common = info.common >= 9 and (page.starts_sentence(i - 1) or info.index < 0)
    if common and info.index < 5:
        return
    start = take_back(page, i, cued=False, most=3)
    if start < i:
        weak = page.low(i) in CUES.weak
        yield cut(
            page,
            start,
            i,
            "name",
            (0.4 if weak else 0.7 if info.first >= 13 else 0.65) * (0.6 if common else 1),
            "doer",
        )


@detector("initials of a writer", m.SLASH)
def find_writers(page: Page, i: int) -> Iterator[Candidate]:
    """Find the initials of whoever wrote or typed, at the end of a line: /yhr, JS/kl."""
    j = i + 1
    if not page.together(i, j) or page.infos[j].shape not in "lUIC" or not page.joined(i):
        return
    if (
        i
        and page.joined(i - 1)
        and not (
            page.infos[i - 1].shape == "U"
            and len(page.low(i - 1)) in (2, 3)
            and (i == 1 or page.lines[i - 2] != page.lines[i])
        )
    ):
        return
    end = j + 1
    while (
        end < page.size
        and page.joined(end - 1)
        and (page.low(end) == "." or page.infos[end].shape == "I")
        and end < j + 6
    ):
        end += 1
    if end < page.size and page.lines[end] == page.lines[j]:
        return
    letters = sum(len(page.low(k)) for k in range(j, end) if page.low(k) != ".")
    if (
        2 <= letters <= 4
        and not page.infos[j].common
        and not page.infos[j].medical
        and not page.marks(j) & (m.SUFFIX | m.DOSE)
    ):
        begun = i - 1 if i and page.joined(i - 1) else j
        yield cut(page, begun, end, "name", 0.82, "initials of a writer", person=True)


@detector("typist", m.SLASH)
def find_typists(page: Page, i: int) -> Iterator[Candidate]:
    """Find initials of who dictated and who typed at the end of a text: bq/lmr."""
    if page.low(i) != "/" or i + 2 != page.size or not i:
        return
    if not (page.joined(i) and page.joined(i - 1)) or not page.together(i - 1, i + 1):
        return
    apart = i == 1 or page.lines[i - 2] != page.lines[i] or page.gap(i - 2) > 1
    parts = (page.infos[i - 1], page.infos[i + 1])
    if apart and all(2 <= len(p.low) <= 4 and not p.common and not p.medical for p in parts):
        yield cut(page, i - 1, i, "name", 0.82, "typist", person=True)
        yield cut(page, i + 1, i + 2, "name", 0.82, "typist", person=True)


@detector("dash signature", m.SLASH)
def find_dash_signatures(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name after a dash that ends its line: ---Crystal Wright RN, -Moss."""
    if (
        page.low(i) == "/"
        or i + 1 >= page.size
        or not page.joined(i)
        or (i and page.joined(i - 1) and page.infos[i - 1].shape != "p")
    ):
        return
    j = i + 1
    end = take_name(page, j, cued=True, most=3)
    if end == j or page.infos[j].medical or (page.infos[j].common and page.infos[j].index < 4):
        return
    after = end
    if page.low(after) == ",":
        after += 1
    while page.together(j, after) and page.marks(after) & (m.SUFFIX | m.TITLE):
        after = page.skip_dot(after + 1)
    if after >= page.size or page.lines[after] != page.lines[j]:
        yield cut(page, j, end, "name", 0.85, "dash signature", person=True)
