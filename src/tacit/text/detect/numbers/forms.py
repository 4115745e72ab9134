"""What shows itself by its form: addresses of e-mail and of the web, numbers of machines, of telephones, and those that a state gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tacit.text.dates import NUMERIC
from tacit.text.detect.registry import Candidate, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import REACH, Page
from tacit.text.reading.words import cues

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
def find_machines(page: Page, i: int) -> Iterator[Candidate]:
    """Four numbers with full stops."""
    if page.low(i + 1) != "." or page.low(i + 3) != "." or page.low(i - 1) == ".":
        return
    found = MACHINE.match(page.text, page.starts[i])
    if found and all(int(p) <= 255 for p in found[0].split(".")):
        yield Candidate(found.start(), found.end(), "url", 0.85, "machine address")


# -- social security, NHS (with its check digit), national insurance, and others -------------------


SSN = re.compile(r"\d{3}([- ])\d{2}\1\d{4}(?![\d-])")
NHS = re.compile(r"(\d{3})([- ]?)(\d{3})\2(\d{4})(?!\d)")
NINO = re.compile(
    r"[A-CEGHJ-PR-TW-Z]{2}[ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[A-D](?!\w)", re.IGNORECASE
)
GERMAN_INSURANCE = re.compile(r"[A-Z]\d{9}(?!\w)")


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
def find_lettered_ids(page: Page, i: int) -> Iterator[Candidate]:
    """Two letters, six digits and a letter, as national insurance numbers have them."""
    if not page.marks(i + 1) & m.DIGIT or page.infos[i].shape not in "UI":
        return
    start = page.starts[i]
    found = NINO.match(page.text, start) or GERMAN_INSURANCE.match(page.text, start)
    if found:
        yield Candidate(start, found.end(), "id", 0.95, "national insurance number")


CUES = cues("phone")


#: x3 after a number may count calls, unless nothing lies between.
EXTENSION = (
    r"(?:[ ]{0,2}(?:ext\.?|extension|extn\.?|app\.?|Durchwahl|poste|option|opt\.?)[ .:]{0,2}\d{1,6}(?!\d)"
    r"|[ ]{0,2}x[ .]{0,2}\d{2,6}(?!\d)|x\d(?!\d))?"
)
AMERICAN = re.compile(
    r"(?:\+?1[-. ]{1,2})?(?:\(\d{3}\)[-. /]{0,3}|\d{3}[-. /]{1,3})\d{3}[-. ]{1,3}\d{4}(?!\d)"
    + EXTENSION,
    re.IGNORECASE,
)
LOCAL = re.compile(r"\d{3}[-.‐‑ ]\d{4}(?![\d/.-]?\d)" + EXTENSION, re.IGNORECASE)
INTERNATIONAL = re.compile(
    r"\+\d{1,3}(?:[ ./-]{0,2}\(?\d{1,6}\)?){1,6}(?!\d)" + EXTENSION, re.IGNORECASE
)
NATIONAL = re.compile(r"\(?0\d{1,5}\)?(?:[ ./-]{1,3}\d{2,8}){1,4}(?!\d)" + EXTENSION, re.IGNORECASE)
SOLID = re.compile(r"(?:0\d{9,11}|[2-9]\d{9}|1[2-9]\d{9})(?!\d)")
INDIAN = re.compile(r"[6-9]\d{4}[ -]\d{5}(?!\d)")
FREE = re.compile(r"1[38]00[ -]\d{3}[ -]\d{3}(?!\d)")
AFTER_CUE = re.compile(
    r"\(?\d{1,6}\)?(?:[ ./-]{0,2}\(?\d{2,8}\)?){0,5}(?!\d)" + EXTENSION, re.IGNORECASE
)
PATTERNS = (
    (AMERICAN, 0.95),
    (INTERNATIONAL, 0.95),
    (NATIONAL, 0.85),
    (SOLID, 0.7),
    (INDIAN, 0.82),
    (FREE, 0.9),
    (LOCAL, 0.82),
)
#: What all of them need: seven digits with few marks between them.
ENOUGH = re.compile(r"[(+]{0,2}\d(?:[-. ()/‐‑]{0,4}\d){6}")
UNITS = re.compile(
    r" ?(?:mg|ml|mcg|mm|cm|kg|g|mmol|units?|iu|cells?|steps|kcal|cal|hours?|days?|weeks?|%|/)\b",
    re.IGNORECASE,
)
PAGER = m.mark("pager")


@detector("phone", m.DIGIT)
def find_phones(page: Page, i: int) -> Iterator[Candidate]:
    """Digits grouped as national and international numbers are."""
    word = page.words[i]
    small = len(word) < 3 and word[0] not in "01"
    if small and page.low(i - 1) not in "(+" and not near_cue(page, i):
        return
    text, start = page.text, page.starts[i]
    if i and page.joined(i - 1):
        before = page.infos[i - 1]
        marked = before.low in "/.-#$£€" and i > 1 and page.joined(i - 2)
        if before.shape != "p" or (marked and page.infos[i - 2].shape != "p"):
            return
        if before.low in "(+":
            start -= 1
            if before.low == "(" and start and text[start - 1] == "+":
                start -= 1
    if page.ends[i] - page.starts[i] > 12:
        return
    if start == page.starts[i] and page.ends[i] - start < 3 and text[start] not in "01":
        # Two digits begin a number only after a word of telephones.
        yield from after_cue(page, i, start)
        return
    for pattern, evidence in PATTERNS if ENOUGH.match(text, start) else ():
        found = pattern.match(text, start)
        if found is None and start < page.starts[i] and text[start] == "(":
            found = pattern.match(text, page.starts[i])
        if found:
            cue = page.marked(i - 6, i, m.PHONE)
            digits = sum(c.isdigit() for c in found[0])
            if pattern in (NATIONAL, INTERNATIONAL) and not 8 <= digits <= 19:
                continue
            if pattern is NATIONAL and NUMERIC.match(text, page.starts[i]):
                # 09/11/2015 2354 is a date and a time.
                continue
            if pattern is LOCAL and UNITS.match(text, found.end()):
                continue
            if pattern is LOCAL and found[0][3] == " " and not cue:
                # Our number is ..., again that's 555 0149.
                near = (k for k in range(i - REACH, i) if page.together(k, i))
                evidence = 0.82 if any(page.marks(k) & m.PHONE for k in near) else 0.6
            yield Candidate(found.start(), found.end(), "phone", 0.97 if cue else evidence, "phone")
            return
    yield from after_cue(page, i, start)


def after_cue(page: Page, i: int, start: int) -> Iterator[Candidate]:
    """Yield digits in any groups after a word of telephones."""
    if not near_cue(page, i):
        return
    found = AFTER_CUE.match(page.text, start)
    if not found or UNITS.match(page.text, found.end()):
        return
    # Four digits may be a year of a lifetime.
    year = len(found[0]) == 4 and found[0].isdecimal() and 1900 <= int(found[0]) <= 2035
    if not year and 4 <= sum(c.isdigit() for c in found[0]) <= 15:
        yield Candidate(found.start(), found.end(), "phone", 0.93, "phone")


def near_cue(page: Page, i: int) -> bool:
    """Return True when only fillers lie between a word of telephones and the number."""
    for k in range(i - 1, max(-1, i - 6), -1):
        if page.marks(k) & m.PHONE:
            strong = page.low(k) not in CUES.weak or page.low(i - 1) in ("at", "on", "x", ":")
            return strong and page.together(k, i)
        if page.low(k) not in CUES.fillers:
            return False
    return False


@detector("extension", m.PHONE | PAGER)
def find_extensions(page: Page, i: int) -> Iterator[Candidate]:
    """Find an extension, bleep or pager by itself: ext 4471, x4471, bleep 2231, bleeped the registrar 1107."""
    if page.low(i) not in CUES.short:
        if page.marks(i) & PAGER:
            yield from find_called(page, i)
        return
    j = i + 1
    while page.low(j) in CUES.filled and j < i + 5:
        j += 1
    info = page.near(i, j)
    if info is None or info.shape != "d" or UNITS.match(page.text, page.ends[j]):
        return
    if 3 <= page.ends[j] - page.starts[j] <= 7:
        if page.low(i) == "x" and (not page.joined(i) or page.ends[j] - page.starts[j] < 4):
            return
        yield Candidate(page.starts[j], page.ends[j], "phone", 0.92, "extension")
        # ext 4471 or 4472
        k = j + 2
        more = page.low(j + 1) in ("/", "or", ",", "&", "and") and page.together(j, k)
        if more and page.marks(k) & m.DIGIT and len(page.words[k]) == len(page.words[j]):
            yield Candidate(page.starts[k], page.ends[k], "phone", 0.85, "extension")


def goes_on(page: Page, j: int) -> bool:
    """Return True when letters or digits follow a number without a space, perhaps after a mark: 11:07, 1107h."""
    marked = page.joined(j + 1) and page.infos[j + 2].shape != "p" and page.low(j + 1) not in ",)"
    return page.joined(j) and (marked or page.infos[j + 1].shape != "p")


def find_called(page: Page, i: int) -> Iterator[Candidate]:
    """Yield the number at which somebody was called, a few words after the verb; a time of day is none."""
    for j in range(i + 1, min(page.size, i + 7)):
        if not page.together(i, j) or (page.low(j) in ".;" and len(page.low(j - 1)) > 1):
            return
        if page.infos[j].shape != "d":
            continue
        size = page.ends[j] - page.starts[j]
        spoken = page.low(j - 1) in ("at", "@", "by", "x", "for", "after", "since", "times")
        if not 3 <= size <= 6 or spoken or goes_on(page, j) or UNITS.match(page.text, page.ends[j]):
            return
        start = j
        if page.low(j - 1) == "." and page.low(j - 2) == "p":
            start = j - 2
        near = j - i <= 2 or start < j
        timely = size == 4 and int(page.words[j][:2]) < 24 and int(page.words[j][2:]) < 60
        evidence = 0.85 if (near and size > 3) or size >= 5 else 0.5 if timely or size == 3 else 0.8
        yield Candidate(page.starts[start], page.ends[j], "phone", evidence, "extension")
        return
