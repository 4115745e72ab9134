"""Runs of capitalised words within a sentence: Korrin Creek Magpies names something, whatever it is.

Where capital letters tell (not in headings, tables of capitals or German), two or more capitalised words that
medicine, titles and headings do not explain are the name of a firm, a home, a club or a village.
"""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

#: Words that go between the parts of a name.
INNER = frozenset(
    ("of", "the", "and", "&", "on", "upon", "in", "le", "de", "la", "-", "'", "’", "s")
)
#: Marks of words that are no part of such a name, or show that it is a person's.
NOT_PART = (
    m.TITLE | m.MONTH | m.WEEKDAY | m.MEDICAL | m.DRUG | m.EPONYM | m.HEADER | m.SUFFIX | m.PHONE
    | m.NUMBER | m.BORN | m.DOSE | m.GREETING | m.CLOSING | m.AGE | m.STOP
)  # fmt: skip
#: Those that may stand later in one: Well, Care, Spine.
LATER = m.MEDICAL | m.STOP | m.NUMBER | m.PHONE | m.HEADER
#: Words of a name at most.
MOST = 6
#: What it says alone: little less where every word is an ordinary one.
STRANGE_RUN, ORDINARY_RUN = 0.5, 0.35


@detector("proper run", m.CAPITAL, ("en",))
def find_runs(page: Page, i: int) -> Iterator[Candidate]:
    """Two or more capitalised words in a line that also holds small ones."""
    info = page.infos[i]
    if info.marks & NOT_PART or info.shape not in "CM" or i in page.known or page.plain_case(i):
        return
    if continues(page, i):
        return
    end, words = reach(page, i)
    if words < 2 or not stands_in_prose(page, i, end):
        return
    inner = [page.infos[k] for k in range(i, end) if page.infos[k].shape in "CMU"]
    if page.starts_sentence(i) and inner[0].common >= 9:
        return
    strange = any(w.common < 8 for w in inner)
    kind = "organisation" if not all(w.first or w.last for w in inner) else "name"
    if kind == "organisation":
        yield cut(page, i, end, kind, STRANGE_RUN if strange else ORDINARY_RUN, "proper run")


def is_part(page: Page, i: int, barred: int = NOT_PART) -> bool:
    """Return True for a capitalised word that can be part of the name of a thing."""
    info = page.infos[i]
    return info.shape in "CM" and not info.marks & barred and i not in page.known


def continues(page: Page, i: int) -> bool:
    """Return True when the word before belongs to the same name."""
    return page.together(i - 1, i) and page.gap(i - 1) == 1 and is_part(page, i - 1)


def reach(page: Page, i: int) -> tuple[int, int]:
    """Return where the run that begins at token i ends, and how many words it has."""
    end, words, k = i + 1, 1, i + 1
    while k < page.size and words < MOST and k - end < 3 and page.lines[k] == page.lines[i]:
        if page.starts[k] - page.ends[k - 1] > 1:
            break
        if is_part(page, k, NOT_PART & ~LATER):
            words, end = words + 1, k + 1
        elif page.low(k) not in INNER:
            break
        k += 1
    return end, words


def stands_in_prose(page: Page, i: int, end: int) -> bool:
    """Return True when small words stand beside the run: it is no heading and no row of a table."""
    near = (*range(max(0, i - 4), i), *range(end, min(page.size, end + 4)))
    small = sum(page.infos[k].shape == "l" and page.lines[k] == page.lines[i] for k in near)
    large = sum(page.infos[k].shape in "CM" and page.lines[k] == page.lines[i] for k in near)
    return small > large and small >= 2
