"""Names after a title: Dr. Lang, Mrs Hodgkins, Nurse Adeyemi."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("titled_name")


@detector("titled name", m.TITLE)
def find_titled_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a title, an optional full stop, one to three words of a name in any case."""
    j = page.skip_dot(i + 1)
    if j > i + 1 and ends_with_title(page, i, j):
        return
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
    weak = page.low(i) in CUES.weak
    info = page.infos[j]
    if info.marks & m.MONTH and page.low(j + 1).isdecimal():
        return
    if info.shape == "I" and page.low(i) in CUES.addressed and is_lone_initial(page, j):
        yield cut(page, j, j + 1, "name", 0.85, "titled name", person=True)
        return
    if page.low(i) in CUES.double and (info.common or info.medical) and info.index < 3:
        return
    evidence = 0.85 if weak else 0.95
    if weak and (info.shape == "l" or page.plain_case(j)) and info.index < 6:
        if not is_addressed(page, i, j):
            return
        evidence = 0.6
        yield cut(page, j, j + 1, "name", evidence, "titled name", person=True)
        return
    end = take_name(page, j, cued=True, most=3, strong=not weak)
    if j in page.known and page.marks(end) & m.HEAD:
        return
    if end > j:
        yield cut(page, j, end, "name", evidence, "titled name", person=True)


def is_lone_initial(page: Page, j: int) -> bool:
    """Return True for one letter that is all of a name: Mrs B, Mr T's."""
    after = page.word_at(j + 1)
    if after is None or page.lines[j + 1] != page.lines[j]:
        return True
    if page.joined(j):
        return after.low in (",", ")", "'", "’", ";", ":", "!", "?") or ends_sentence(page, j + 1)
    return after.shape in "lp" and after.low not in "'’-"


def ends_sentence(page: Page, k: int) -> bool:
    """Return True for a full stop at the end of a line."""
    return page.low(k) == "." and (k + 1 >= page.size or page.lines[k + 1] != page.lines[k])


def ends_with_title(page: Page, i: int, j: int) -> bool:
    """Return True when the full stop after token i ends a sentence: told the nurse. Cat fed; mild MR. Dilated LV."""
    if page.low(i) in CUES.whole:
        return True
    if page.infos[i].shape != "U" or page.lines[i] in page.caps_lines or j >= page.size:
        return False
    after = page.infos[j]
    return (after.common >= 9 or after.medical) and after.index < 3


def is_addressed(page: Page, i: int, j: int) -> bool:
    """Return True for a listed name or an unknown word after a title in a text without capitals: miss lark, sn chidinma."""
    info = page.infos[j]
    if page.low(i) in ("do", "pa", "np", "lady", "sir", "general") or info.medical:
        return False
    if info.marks & (
        m.STOP | m.ACTS | m.PREPOSITION | m.MEDICAL | m.ROLE | m.HEAD | m.DOSE | m.SUFFIX
    ):
        return False
    if not info.common:
        return len(info.low) > 3
    if page.low(i) in CUES.whole:
        return (info.first >= 7 or info.last >= 8) and info.index >= -3
    return info.last >= 11 and info.index >= 2
