"""Numbers that a state gives: social security, NHS (with its check digit), national insurance, and others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tacit.text.detect.registry import Candidate, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

SSN = re.compile(r"\d{3}([- ])\d{2}\1\d{4}(?![\d-])")
NHS = re.compile(r"(\d{3})([- ]?)(\d{3})\2(\d{4})(?!\d)")
NINO = re.compile(
    r"[A-CEGHJ-PR-TW-Z]{2}[ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[A-D](?!\w)", re.IGNORECASE
)
GERMAN_INSURANCE = re.compile(r"[A-Z]\d{9}(?!\w)")
MASKED = re.compile(r"[xX*]{3}-[xX*]{2}-\d{4}(?!\d)")


@detector("national id", m.GROUP)
def find_national_ids(page: Page, i: int) -> Iterator[Candidate]:
    """Digits in the groups of a social security or NHS number."""
    start = page.starts[i]
    if page.ends[i] - start not in (3, 10) or (
        i
        and page.joined(i - 1)
        and (page.infos[i - 1].shape != "p" or page.infos[i - 1].low in "-/.")
    ):
        return
    found = SSN.match(page.text, start)
    if found:
        yield Candidate(start, found.end(), "id", 0.95, "social security number")
        return
    found = NHS.match(page.text, start)
    if found and nhs_holds(found[1] + found[3] + found[4]):
        yield Candidate(start, found.end(), "id", 0.9 if found[2] else 0.8, "NHS number")


def nhs_holds(digits: str) -> bool:
    """Return True when the tenth digit is the check digit of the first nine."""
    total = sum((10 - k) * int(d) for k, d in enumerate(digits[:9]))
    check = (11 - total % 11) % 11
    return check != 10 and check == int(digits[9])


@detector("national id by letters", m.SHORT)
def find_lettered_ids(page: Page, i: int) -> Iterable[Candidate]:
    """Two letters, six digits and a letter, as national insurance numbers have them."""
    if not page.marks(i + 1) & m.DIGIT or page.infos[i].shape not in "UI":
        return ()
    start = page.starts[i]
    found = NINO.match(page.text, start) or GERMAN_INSURANCE.match(page.text, start)
    if not found:
        return ()
    return (Candidate(start, found.end(), "id", 0.95, "national insurance number"),)
