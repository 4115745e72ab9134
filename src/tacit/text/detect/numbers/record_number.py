"""Numbers of records, accounts, policies, licences and plates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("record_number")


CODE = re.compile(
    r"(?:[A-Za-z]{1,5}[ -]?)?\d{1,16}+(?:[-/ .]?(?:[A-Za-z]{0,3}\d{1,12}+[A-Za-z]{0,3}|(?<! )[A-Za-z]{1,3}(?![A-Za-z])"
    r"|(?<= )(?!DOB|SEX|AGE|REF|TEL|NHS|AND|FOR|THE|MRN|DOA|LOC)[A-Z]{1,3}(?![A-Za-z]))){0,6}(?![\d])"
)


LETTERED = re.compile(
    r"[A-Z]{1,5}[-/]?\d{2,}[A-Z\d]*(?:[-/][A-Z\d]+){0,4}(?![\w])|[A-Z]{1,4}(?:[-/][A-Z]{0,3}\d{2,8}){2,4}(?!\w)|"
    r"[A-Z]{1,5}(?:[-/][A-Z]{1,5}){1,2}(?:[-/]\d{1,8}){1,4}(?!\w)"
)
#: Letters and digits with marks between them, as they stand after a label: RN.308817-NP, AK/sd/7719.
COMPOUND = re.compile(r"[A-Za-z\d]{1,20}(?:[-/._][A-Za-z\d]{1,20}){0,6}(?!\w)")
MASKED = re.compile(r"[xX*•]{2,12}(?:[- ][xX*•]{2,12}){0,3}[- ]?\d{2,6}(?!\w)")
HALF_MASKED = re.compile(r"\d{1,10}+(?:[- ]?+(?:\d{1,8}+|[xX]{2,8}+)){1,5}+(?!\w)")
INDIAN = re.compile(r"[6-9][\dxX]{4}[- ]?[\dxX]{5}")
#: The day of a log of the police: 0417 of 22/9.
OF_DAY = re.compile(r" of \d{1,2}(?:/\d{1,2}){1,2}(?!\d)")
LABEL = m.mark("label")


MIXED = re.compile(r"\d{1,6}[-/]?[A-Z]{1,4}[-/]?\d{2,8}(?!\w)")
GROUPED = re.compile(r"\d{2,4}(?:-\d{2,6}){2,4}(?![\d-])")
TAIL = re.compile(r"(?:[-/]\d{1,6}){1,3}(?!\d)|[A-Z]{1,2}(?!\w)")
PADDED = re.compile(r"\d{2,4}-0\d{2,5}(?![\w-])|0\d{1,3}-\d{3,6}(?![\w-])")
PLATE = re.compile(r"[A-Z]{2}\d{2}[ ]?[A-Z]{3}(?!\w)")
GROUPS = re.compile(
    r"[A-Z]{2,4} (?:\d{2,7}(?: \d{2,4}){1,2}(?: \d(?!\d))?|0\d{3,7}(?: \d(?!\d))?)(?![\w-]|[.:/]\d)"
)
#: Groups of digits as cards have them, the last a check digit: 0088 4172 9.
CARD = re.compile(r"\d{4} \d{4,5} \d(?![\w/.-]| \d)|\d{4} \d{4} \d{4} \d{4}(?!\d)")
SPACED = re.compile(r"\d{3} \d{3} \d{3}(?![ -]?\d)")
#: Numbers in parts, each with its evidence; all have six digits or more.
PARTED = (
    (GROUPED, 0.82, "long number"),
    (SPACED, 0.7, "long number"),
    (CARD, 0.82, "long number"),
    (MIXED, 0.8, "code"),
)
FRAMED = re.compile(r"\(\d{3,6}/\d{2,4}\)")
DOSES = re.compile(
    r" ?(?:mg|mcg|ml|mm|cm|kg|g|l|mmol|units?|iu|cells?|steps|kcal|hours?|days?|weeks?|months?|years?|yrs?|yo|bpm|mmhg|%|x10|/(?:ul|ml|dl|hpf|min|mm|l)|grams?|pounds?|lbs?|feet|k/)(?![A-Za-z])",
    re.IGNORECASE,
)


@detector("record number", m.NUMBER)
def find_record_numbers(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word of numbers, fillers, and a code with a digit in it."""
    weak = page.low(i) in CUES.weak
    sign = False
    j = i + 1
    while j < page.size and j < i + 7 and (page.low(j) in CUES.fillers or page.marks(j) & m.NUMBER):
        low = page.low(j)
        sign = sign or low in "#:°º" or low in ("no", "number", "nr", "num", "id", "code")
        if starts_code(page, j):
            break
        j += 1
    if not page.together(i, j) or j > i + 6:
        return
    if page.low(i) in ("unit", "room", "rm"):
        sign = any(page.low(k) in ("no", "number", "#") for k in range(i + 1, j))
        if not sign:
            return
    if page.low(i) == "no" and page.low(i + 1) in (".", ":", "#") and i and page.together(i - 1, i):
        # Rec. No. 471-B: an abbreviation before it says of what.
        sign = sign or page.infos[i - 1].shape in "CU" or page.low(i - 1) == "."
    found = CODE.match(page.text, page.starts[j])
    if not found or page.text[found.end() : found.end() + 1].isalnum():
        yield from compound_number(page, j, weak and not sign)
        return
    if j and page.joined(j - 1) and page.infos[j - 1].shape != "p":
        return
    if page.infos[j].shape != "d" and page.infos[j].shape not in "UI" and not page.plain_case(j):
        return
    digits = sum(c.isdigit() for c in found[0])
    body = trim(found[0])
    if page.low(i) in CUES.plates and digits >= 2 and any(c.isupper() for c in body):
        yield Candidate(found.start(), found.start() + len(body), "id", 0.86, "record number")
        return
    if page.text[found.end() : found.end() + 1] in "-/._" and digits < 3:
        yield from compound_number(page, j, weak and not sign)
        return
    if digits < 3 + (1 if weak and not sign else 0) or DOSES.match(page.text, found.end()):
        return
    evidence = 0.93 if not weak or sign else 0.82
    if (digits < 5 and not sign and weak) or (digits == 4 and not sign and looks_like_year(body)):
        evidence = 0.5
    yield Candidate(found.start(), found.start() + len(body), "id", evidence, "record number")


def compound_number(page: Page, j: int, weak: bool) -> Iterator[Candidate]:
    """Yield letters and digits with marks between them, or a number of which most is masked, after a label."""
    text, start = page.text, page.starts[j]
    masked = MASKED.match(text, start)
    if masked:
        yield Candidate(start, masked.end(), "id", 0.92, "record number")
        return
    found = COMPOUND.match(text, start)
    if not found or (j and page.joined(j - 1) and page.infos[j - 1].shape != "p"):
        return
    digits = sum(c.isdecimal() for c in found[0])
    if digits < 3 or DOSES.match(text, found.end()):
        return
    yield Candidate(start, found.end(), "id", 0.6 if weak else 0.88, "record number")


@detector("labelled number", LABEL, languages=("en",))
def find_labelled_numbers(page: Page, i: int) -> Iterator[Candidate]:
    """Find a number after a word that may be its label: participant SD-118, bib T-408, s/n 77-104, log 0417 of 22/9."""
    low = page.low(i)
    parted = page.low(i - 1) == "/" and page.low(i - 2) == ("s" if low == "n" else "a")
    if low in ("n", "c") and not parted:
        return
    if low == "last" and page.low(i + 1) not in ("4", "four"):
        return
    if low[0] == "x":
        masked = MASKED.match(page.text, page.starts[i])
        if i and page.joined(i - 1):
            yield from half_masked(page, i)
        elif masked:
            yield Candidate(masked.start(), masked.end(), "id", 0.88, "labelled number")
        return
    j, sign = (i + 2, True) if low == "last" else (i + 1, False)
    while j < i + 5 and (page.low(j) in CUES.fillers or page.low(j) in ("in", "four", "with")):
        sign = sign or page.low(j) in ("no", "number", "#", ":", "id", "ref", "nr")
        if starts_code(page, j):
            break
        j += 1
    if not page.together(i, j) or (j == i + 1 and page.joined(i)):
        return
    yield from code_after_label(page, i, j, sign)


def half_masked(page: Page, i: int) -> Iterator[Candidate]:
    """Yield a number of which some digits are masked: 98XXX 04417, 6804120XXX087."""
    k = i - 2 if page.low(i - 1) == "-" else i - 1
    if k < 0 or page.infos[k].shape != "d" or not page.joined(k) or (k and page.joined(k - 1)):
        return
    if page.together(k - 1, k) and page.infos[k - 1].shape == "d" and page.gap(k - 1) == 1:
        k -= 1
    found = HALF_MASKED.match(page.text, page.starts[k])
    if found and found.end() >= page.ends[i]:
        cued = any(page.marks(n) & m.PHONE for n in range(max(0, k - 4), k))
        kind = "phone" if cued or INDIAN.fullmatch(found[0]) else "id"
        yield Candidate(found.start(), found.end(), kind, 0.88, "labelled number")


def code_after_label(page: Page, i: int, j: int, sign: bool) -> Iterator[Candidate]:
    """Yield the code at token j; without a sign of a number it needs a letter, a mark or many digits."""
    text, start = page.text, page.starts[j]
    found = CODE.match(text, start)
    if not found or text[found.end() : found.end() + 1].isalnum():
        found = COMPOUND.match(text, start)
    if not found or page.infos[j].shape == "p":
        return
    if page.marks(j) & (m.DOSE | m.MEDICAL) and not page.joined(j):
        return
    body = trim(found[0])
    end = start + len(body)
    digits = sum(c.isdecimal() for c in body)
    if digits < 2 or DOSES.match(text, end) or text[end : end + 1] in ("%", ":"):
        return
    if page.infos[j].shape == "l" and not page.lower and not sign:
        return
    mixed = any(c.isupper() for c in body) and len(body) >= 4
    day = OF_DAY.match(text, end)
    evidence = 0.0
    if day:
        end, evidence = day.end(), 0.88
    elif (sign and digits > 2) or mixed or digits >= 5 or (digits == 4 and page.low(i) == "ending"):
        evidence = 0.6 if looks_like_year(body) and not sign else 0.86
    elif digits >= 3:
        evidence = 0.82 if body[0] == "0" else 0.6
    if evidence:
        yield Candidate(start, end, "id", evidence, "labelled number")


def looks_like_year(text: str) -> bool:
    """Return True for four digits that are a year."""
    return text.isdecimal() and 1900 <= int(text) <= 2035


def starts_code(page: Page, j: int) -> bool:
    """Return True when letters at j belong to the code: Chart CH 22-417-88."""
    if page.low(j) in ("id", "no", "is", "mrn", "ssn", "number", "nr"):
        return False
    info = page.infos[j]
    if info.shape != "U":
        return False
    if j + 1 < page.size and page.infos[j + 1].shape == "d" and page.gap(j) <= 1:
        return True
    return page.low(j + 1) in ("-", "/") and page.joined(j) and page.joined(j + 1)


def trim(text: str) -> str:
    """Return a code without words that follow it: '7719034 on'."""
    parts = re.split(r"([ .])", text)
    while len(parts) > 1 and (not parts[-1] or not any(c.isdigit() for c in parts[-1])):
        parts.pop()
    return "".join(parts)


@detector("code", m.UPPER | m.SHORT)
def find_codes(page: Page, i: int) -> Iterator[Candidate]:
    """Capital letters with digits, without a cue: QL-88-40417, a licence plate."""
    if not page.marks(i + 1) & (m.DIGIT | m.SLASH):
        return
    info = page.infos[i]
    if info.shape not in "UI" or i + 1 >= page.size or info.marks & m.MONTH:
        return
    if not page.joined(i) and info.shape == "I":
        return
    if i and page.joined(i - 1) and page.infos[i - 1].low not in "(:#\"'":
        return
    start = page.starts[i]
    if not page.joined(i):
        if page.infos[i + 1].shape == "d" and info.shape == "U":
            yield from lettered_groups(page, i)
        return
    medical = info.marks & (m.MEDICAL | m.DOSE)
    found = PLATE.match(page.text, start)
    if found:
        yield Candidate(start, found.end(), "id", 0.8, "plate")
        return
    found = LETTERED.match(page.text, start)
    if found and not DOSES.match(page.text, found.end()):
        digits = sum(c.isdigit() for c in found[0])
        if digits >= (5 if medical else 4) and not is_shared(page, i):
            yield Candidate(start, found.end(), "id", 0.87 if digits >= 5 else 0.82, "code")


def lettered_groups(page: Page, i: int) -> Iterator[Candidate]:
    """Yield letters and groups of digits with spaces between them, or a number that begins with 0: KLM 300 4471."""
    info = page.infos[i]
    found = GROUPS.match(page.text, page.starts[i])
    barred = m.MEDICAL | m.DOSE | m.STATE | m.PHONE | m.TITLE | m.SUFFIX | m.NUMBER | LABEL | m.STOP
    if not found or info.marks & barred or info.medical or page.lines[i] in page.caps_lines:
        return
    if DOSES.match(page.text, found.end()) or is_shared(page, i) or is_shared(page, i + 1):
        return
    digits = sum(c.isdecimal() for c in found[0])
    number = page.words[i + 1]
    timely = digits == 4 and int(number[:2]) < 24 and int(number[2:] or 0) < 60
    yield Candidate(found.start(), found.end(), "id", 0.5 if timely else 0.8, "code")


def is_shared(page: Page, i: int) -> bool:
    """Return True for a code of a procedure, a disease or a price, which many share: CPT 22633."""
    k = i - 1
    while k > i - 5 and page.low(k) in (":", "#", "-", ".", "no", "code", "10", "9", "("):
        k -= 1
    return k >= 0 and page.low(k) in CUES.shared and page.together(k, i)


@detector("long number", m.DIGIT)
def find_long_numbers(page: Page, i: int) -> Iterator[Candidate]:
    """Find a number too long for a measurement, or five digits after the letters of a degree."""
    start, end, text = page.starts[i], page.ends[i], page.text
    size = end - start
    if size < 5 and page.low(i - 1) not in ("#", "("):
        after = text[end : end + 2]
        spaced = after[:1] == " " and after[1:].isdecimal()
        if not (spaced or after[:1] in ("-", "/") or after[:1].isupper()):
            return
    lettered = i and page.joined(i - 1) and page.infos[i - 1].shape in "lI"
    lettered = lettered and len(page.low(i - 1)) == 1 and not (i > 1 and page.joined(i - 2))
    if size == 6 and lettered:
        yield cut(page, i - 1, i + 1, "id", 0.85, "code")
        return
    attached = i > 0 and page.joined(i - 1) and page.infos[i - 1].low not in "#(:\"'"
    if attached and (size < 5 or page.infos[i - 1].shape == "p"):
        return
    if size >= 4 and page.low(i - 1) == "#" and page.joined(i - 1) and not is_shared(page, i - 1):
        yield cut(page, i, i + 1, "id", 0.85, "long number")
        return
    if size < 5:
        if page.low(i - 1) == "(" and FRAMED.match(text, start - 1):
            yield Candidate(start, text.index(")", start), "id", 0.82, "long number")
            return
        for pattern, evidence, source in PARTED:
            found = pattern.match(text, start)
            if found and sum(c.isdigit() for c in found[0]) >= 6:
                yield Candidate(start, found.end(), "id", evidence, source)
                return
        if page.low(i + 1) == "-" and PADDED.match(text, start):
            # 07-0019 is no range; the trained voter may know it for the number of a file.
            sure = size <= 3 and page.words[i + 2][0] == "0" and len(page.words[i + 2]) >= 4
            yield cut(page, i, i + 3, "id", 0.8 if sure else 0.65, "long number")
        return
    if DOSES.match(text, end) or text[end : end + 2] in CUES.decimals:
        return
    near = [k for k in range(max(0, i - 3), i) if page.together(k, i)]
    after_name = any(page.marks(k) & m.SUFFIX for k in near) or any(
        page.low(k) in ("d", "n") and page.low(k - 1) == "." for k in near
    )
    closed = page.ends_line(i + 1) or page.low(i + 1) in ".,;"
    if after_name and closed:
        yield cut(page, i, i + 1, "id", 0.9, "provider number")
    elif is_shared(page, i):
        return
    elif size >= 7:
        tail = TAIL.match(text, end)
        yield Candidate(start, tail.end() if tail else end, "id", 0.85, "long number")
    elif size == 6:
        upper = i > 0 and page.infos[i - 1].shape == "U" and page.gap(i - 1) == 1
        framed = page.low(i - 1) == "(" or upper
        lone = page.low(i + 1) in (")", "") or framed
        lettered = framed and page.infos[i - 1].shape == "U" and len(page.low(i - 1)) <= 3
        begun = i - 1 if lettered and not page.marks(i - 1) & (m.NUMBER | LABEL) else i
        yield cut(page, begun, i + 1, "id", 0.82 if lone else 0.6, "long number")
