"""What shows itself by its form: addresses of e-mail and of the web, numbers of machines, numbers that a state gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tacit.text.detect.registry import Candidate, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

# -- addresses of e-mail ---------------------------------------------------------------------------


BEFORE = re.compile(r"[\w.+%'-]{1,64}$")
AFTER = re.compile(r"[\w-]{1,63}(?:\.[\w-]{1,63}){0,6}")


@detector("e-mail", m.AT)
def find_emails(page: Page, i: int) -> Iterator[Candidate]:
    """Letters and digits on both sides of an at sign."""
    at = page.starts[i]
    before = BEFORE.search(page.text[max(0, at - 64) : at])
    after = AFTER.match(page.text, at + 1)
    if not before or not after:
        return
    start = at - len(before[0].lstrip(".'-"))
    if start < at:
        sure = 0.99 if "." in after[0] else 0.85
        yield Candidate(start, after.end(), "email", sure, "e-mail", person=True)


# -- addresses of the web, and numbers of machines -------------------------------------------------


FULL = re.compile(r"(?:https?|ftp)://[^\s<>\"']{1,2000}|www\.[^\s<>\"']{1,2000}", re.IGNORECASE)
DOMAIN = re.compile(
    r"[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:com|org|net|edu|gov|uk|de|info|io|health|eu|at|ch|au|nz|ie|ca|za|biz|app|scot|wales|clinic|online|site|example)(?:/[^\s<>\"']{0,500})?(?![\w])",
    re.IGNORECASE,
)
MACHINE = re.compile(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.]\d)")
URL = m.mark("url")


@detector("web address", URL)
def find_urls(page: Page, i: int) -> Iterator[Candidate]:
    """Text that begins with http:// or www., or ends in a common domain."""
    start = page.starts[i]
    found = FULL.match(page.text, start)
    if found:
        yield Candidate(start, start + len(found[0].rstrip(".,;:!?)")), "url", 0.99, "web address")
        return
    k = start
    while k > 0 and start - k < 100 and (page.text[k - 1].isalnum() or page.text[k - 1] in ".-"):
        k -= 1
    found = DOMAIN.match(page.text, k)
    if not found or found.end() < page.ends[i] or found.start() >= start:
        return
    if page.text[k - 1 : k] != "@":
        end = start + len(page.text[start : found.end()].rstrip(".,;:!?)"))
        yield Candidate(k, end, "url", 0.9, "web address")


@detector("machine address", m.FEW)
def find_machines(page: Page, i: int) -> Iterable[Candidate]:
    """Four numbers with full stops."""
    if page.low(i + 1) != "." or page.low(i + 3) != "." or page.low(i - 1) == ".":
        return ()
    found = MACHINE.match(page.text, page.starts[i])
    if not found or any(int(p) > 255 for p in found[0].split(".")):
        return ()
    return (Candidate(found.start(), found.end(), "url", 0.85, "machine address"),)


# -- social security, NHS (with its check digit), national insurance, and others -------------------


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
    before = page.infos[i - 1]
    attached = i and page.joined(i - 1) and (before.shape != "p" or before.low in "-/.")
    if page.ends[i] - start not in (3, 10) or attached:
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
