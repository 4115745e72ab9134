"""Names after a relation or a role: her mother Philippa, hubby ray, midwife Yolanda Crisp."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.names.nickname import CLOSE, quote_end
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, take_back, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("relation")


@detector("relation", m.RELATION | m.ROLE)
def find_relations(page: Page, i: int) -> Iterator[Candidate]:
    """Find a relation word, an optional mark, an optional title, and words of a name; lists of names too."""
    yield from owner(page, i)
    j = i + 1
    if page.low(j) == "-" and page.joined(i):
        return
    relation = bool(page.marks(i) & m.RELATION)
    filler = page.low(j)
    if (filler in CUES.skipped and relation) or filler in (",", "("):
        j += 1
    elif relation and filler in ("is", "was", "in") and page.marks(j + 1) & m.CALLED:
        j += 2
    if not page.together(i, j):
        return
    if relation and page.low(j) in CLOSE and page.low(j) != "(":
        end = quote_end(page, j + 1)
        if end > j + 1:
            yield cut(page, j + 1, end, "nickname", 0.82, "relation", person=True)
        return
    while page.together(i, j) and (page.marks(j) & m.TITLE or is_kin_before_name(page, j)):
        j = page.skip_dot(j + 1)
    if not page.together(i, j):
        return
    if page.low(i) == "ex" and page.infos[j].common >= 9:
        return
    telling = page.capital(j) or (page.plain_case(j) and could_be_unlisted(page, i, j))
    if not telling or (page.marks(j) & m.MONTH and page.infos[j].index < 5):
        return
    end = take_name(page, j, cued=relation or page.capital(j), most=3)
    if end == j and relation and page.infos[j].first >= 12 and closes_name(page, j):
        end = j + 1
    if end == j or skip_medical(page, j):
        return
    strength = (
        0.85
        if (relation and page.infos[j].index >= 3)
        or (end > j + 1 and page.infos[j].shape == "C" and not page.infos[j].common)
        else 0.75
    )
    if j > i + 1:
        strength -= 0.15
    yield cut(page, j, end, "name", strength, "relation", person=j == i + 1 or filler != ",")
    if (
        page.low(end) in ("and", "&", ",", "/")
        and page.together(j, end + 1)
        and page.capital(end + 1)
    ):
        after = take_name(page, end + 1, cued=page.infos[end + 1].index >= 3, most=2)
        if after > end + 1:
            yield cut(page, end + 1, after, "name", 0.75, "relation", person=True)


def could_be_unlisted(page: Page, i: int, j: int) -> bool:
    """Return True for a name of the lists, and right after a relation for a word of no list: wife thandwie."""
    info = page.infos[j]
    if info.index >= 4:
        return True
    if info.first >= 9 and page.marks(i) & m.RELATION and closes_name(page, j):
        # Nephew Will), said in a line of capitals.
        return (j == i + 1 and not info.marks & (m.STOP | m.PREPOSITION)) or info.first >= 12
    unknown = not info.common and not info.marks & ~(
        m.CAPITAL | m.UPPER | m.STRANGE | m.LAST | m.FIRST
    )
    return unknown and j == i + 1 and len(info.low) > 3 and bool(page.marks(i) & m.RELATION)


def closes_name(page: Page, j: int) -> bool:
    """Return True when a mark or the end of the line follows token j."""
    return not page.together(j, j + 1) or page.low(j + 1) in (")", ",", ".", ";", "/")


def is_kin_before_name(page: Page, j: int) -> bool:
    """Return True for a second word of kin before the name: husband Oom Faan."""
    info = page.infos[j]
    if not info.marks & (m.RELATION | m.ROLE) or info.first >= 13:
        return False
    if not page.together(j, j + 1) or page.gap(j) != 1:
        return False
    return page.infos[j + 1].shape == "C" or (page.plain_case(j) and page.infos[j + 1].index >= 4)


def owner(page: Page, i: int) -> Iterator[Candidate]:
    """Yield the name before a relation: Mandla's brother."""
    if (
        not page.marks(i) & m.RELATION
        or page.low(i - 1) != "s"
        or page.low(i - 2) not in ("'", "’")
        or i < 3
    ):
        return
    k = i - 3
    info = page.infos[k]
    if (
        not (page.capital(k) or page.plain_case(k))
        or info.marks & BARRED
        or info.medical
        or info.marks & m.ROLE
    ):
        return
    start = take_back(page, i - 2, cued=page.capital(k), most=3)
    if start < i - 2:
        yield cut(page, start, i - 2, "name", 0.85, "relation", person=True)


def skip_medical(page: Page, j: int) -> bool:
    """Return True when the word is a medical term, not a name."""
    return page.infos[j].medical or bool(page.marks(j + 1) & m.HEAD)
