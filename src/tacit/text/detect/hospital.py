"""Hospitals and clinics: St. John's Hospital, at Brigham's."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.page import Page
from tacit.text.proper import back_proper, forward_proper, is_specific
from tacit.text.words import words

#: Words that are not hospitals by themselves; a second word must follow or precede.
WEAK = words(
    "medical health healthcare center centre memorial institute practice nursing surgery "
    "rehabilitation rehab med lab labs laboratory laboratories pharmacy ctr"
)
TAILS = words(
    "hospital hospitals clinic center centre infirmary home system trust group associates "
    "practice institute campus services network care foundation school surgery hosp ctr "
    "pharmacy pavilion"
)


@detector("hospital", m.HOSPITAL)
def find_hospitals(page: Page, i: int) -> Iterator[Candidate]:
    """Words of a name before Hospital, Clinic, Infirmary, Medical Center."""
    info = page.infos[i]
    if not page.capital(i) and not page.plain_case(i):
        return
    if (
        (
            page.low(i + 1) in TAILS
            or page.low(i + 1) in WEAK - {"laboratory", "pharmacy", "lab", "labs"}
        )
        and page.together(i, i + 1)
        and (page.capital(i + 1) or page.plain_case(i + 1))
    ):
        return
    end = i + 1
    while (
        page.low(end) in TAILS
        and page.together(i, end)
        and (page.capital(end) or page.plain_case(end))
    ):
        end += 1
    start = back_proper(page, i)
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
        and info.low not in WEAK
        and page.pack.hospital_ends
        and info.low.endswith(page.pack.hospital_ends)
        and start < i
    ):
        return
    if (
        info.low in WEAK
        and end == i + 1
        and info.low
        not in (
            "centre",
            "center",
            "surgery",
            "practice",
            "pharmacy",
            "laboratories",
            "memorial",
            "institute",
        )
    ):
        return
    if page.plain_case(i):
        evidence = 0.88
    if info.low in WEAK:
        evidence -= 0.05
    yield cut(page, start, end, "hospital", evidence, "hospital")


@detector("hospital by its possessive", m.CAPITAL)
def find_possessive_hospitals(page: Page, i: int) -> Iterator[Candidate]:
    """At Brigham's, without a noun after it."""
    if page.low(i - 1) != "at" or page.infos[i].shape not in "CM":
        return
    k = i
    while page.marks(k) & m.SAINT and page.together(i, k + 1):
        k = page.skip_dot(k + 1)
    if (
        not page.together(i, k)
        or page.infos[k].shape not in "CM"
        or page.low(k + 1) not in ("'", "’")
        or page.low(k + 2) != "s"
        or not page.joined(k + 1)
    ):
        return
    after = page.word_at(k + 3)
    if (
        after is None
        or not page.together(k, k + 3)
        or after.shape == "p"
        or after.marks & (m.STOP | m.PREPOSITION)
    ):
        yield cut(page, i, k + 3, "hospital", 0.85, "hospital by its possessive")
