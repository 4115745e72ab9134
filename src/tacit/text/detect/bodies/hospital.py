"""Hospitals and clinics: St. John's Hospital, at Brigham's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.proper import back_proper, forward_proper, is_specific
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("hospital")


@detector("hospital", m.HOSPITAL)
def find_hospitals(page: Page, i: int) -> Iterator[Candidate]:
    """Words of a name before Hospital, Clinic, Infirmary, Medical Center."""
    info = page.infos[i]
    if not page.capital(i) and not page.plain_case(i):
        return
    if (
        (
            page.low(i + 1) in CUES.tails
            or page.low(i + 1) in CUES.weak - {"laboratory", "pharmacy", "lab", "labs"}
        )
        and page.together(i, i + 1)
        and (page.capital(i + 1) or page.plain_case(i + 1))
    ):
        return
    end = i + 1
    while (
        page.low(end) in CUES.tails
        and page.together(i, end)
        and (page.capital(end) or page.plain_case(end))
    ):
        end += 1
    if page.low(end) in CUES.measures and page.together(i, end):
        return
    start = back_proper(page, i)
    if (
        page.pack.hospital_ends
        and page.together(i, i + 1)
        and page.infos[i + 1].shape in "CM"
        and not is_specific(page, start, i)
    ):
        after = forward_proper(page, i + 1, 3)
        if after > i + 1 and is_specific(page, i + 1, after):
            yield cut(page, i, after, "hospital", 0.85, "hospital")
            return
    evidence = 0.9
    if (
        page.low(end) in ("of", "for", "at")
        and end + 1 < page.size
        and page.capital(end + 1)
        and not page.plain_case(end + 1)
        and info.low not in ("surgery", "medical")
    ):
        after = forward_proper(page, end + 1)
        if after > end + 1 and is_specific(page, end + 1, after):
            yield cut(page, start, after, "hospital", 0.85, "hospital")
            return
    if not is_specific(page, start, i) and not (
        len(info.low) > 9
        and info.low not in CUES.weak
        and page.pack.hospital_ends
        and info.low.endswith(page.pack.hospital_ends)
        and start < i
    ):
        return
    if info.low in CUES.weak and end == i + 1 and info.low not in CUES.alone:
        return
    if page.plain_case(i):
        evidence = 0.88
        if info.low in CUES.weak and all(page.infos[k].common >= 11 for k in range(start, i)):
            # step practice
            evidence = 0.6
    if info.low in CUES.weak:
        evidence -= 0.05
    yield cut(page, start, end, "hospital", evidence, "hospital")


@detector("hospital by its possessive", m.BRACKET)
def find_possessive_hospitals(page: Page, i: int) -> Iterable[Candidate]:
    """Find at Brigham's, without a noun after it."""
    if page.low(i + 1) != "s" or page.infos[i].low not in "'’" or not page.joined(i) or i < 2:
        return ()
    return read_possessive(page, i)


def read_possessive(page: Page, i: int) -> Iterator[Candidate]:
    """Yield the name before the apostrophe at token i when it stands for a hospital."""
    k = i - 1
    if page.infos[k].shape not in "CM" or not page.joined(k):
        return
    before = k - 2 if page.low(k - 1) == "." and page.marks(k - 2) & m.SAINT else k - 1
    start = k
    if before >= 0 and page.marks(before) & m.SAINT:
        start = before
        before -= 1
    if page.low(before) not in ("at", "im") or not page.together(before, i):
        return
    after = page.word_at(i + 2)
    ends = after is None or not page.together(i, i + 2) or after.shape == "p"
    if ends or (after is not None and after.marks & (m.STOP | m.PREPOSITION)):
        yield cut(page, start, i + 2, "hospital", 0.85, "hospital by its possessive")
