"""Default deny: what nothing knows is taken as identifying."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.detect.record_number import DOSES
from tacit.text.detect.registry import Candidate, cut
from tacit.text.medicine import medical_evidence
from tacit.text.page import Page

KNOWN = (
    m.STOP
    | m.MEDICAL
    | m.DRUG
    | m.HEAD
    | m.DOSE
    | m.MONTH
    | m.WEEKDAY
    | m.TITLE
    | m.SUFFIX
    | m.HEADER
    | m.NUMBER
    | m.HOSPITAL
    | m.PHONE
    | m.AGE
    | m.RELATION
    | m.ROLE
    | m.CLUB
    | m.STATE
)


def find_unknown(page: Page) -> Iterator[Candidate]:
    """Yield words that no list holds, capitalised words that may be names, and long numbers without a unit."""
    for i, info in enumerate(page.infos):
        shape = info.shape
        if shape == "p" or (info.marks & KNOWN and info.index < 6):
            continue
        if shape == "d":
            if len(info.low) >= 5 and not DOSES.match(page.text, page.ends[i]):
                yield cut(page, i, i + 1, "other", 0.85, "unknown")
            continue
        if (
            len(info.low) < 2
            or (len(info.low) == 2 and shape != "U")
            or medical_evidence(page, i) >= 0.9
        ):
            continue
        listed = info.first >= 8 or info.last >= 9
        if not info.common and not info.marks & m.EPONYM:
            yield cut(page, i, i + 1, "name" if listed else "other", 0.85, "unknown")
        elif info.medical or page.pack.nouns_capital:
            continue
        elif page.capital(i) and shape != "U":
            if listed or info.marks & m.PLACE or not page.starts_sentence(i):
                yield cut(page, i, i + 1, "name", 0.85, "unknown")
        elif page.plain_case(i) and listed and info.index >= -2:
            yield cut(page, i, i + 1, "name", 0.85, "unknown")
