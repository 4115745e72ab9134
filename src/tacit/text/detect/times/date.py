"""Dates in all usual forms; a month and year alone is no hit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from tacit.text.dates import (
    COMPACT,
    Written,
    is_near_weekday,
    near_month,
    read_day_month,
    read_month_day,
    read_numeric,
    read_scanned,
    read_short,
)
from tacit.text.detect.registry import Candidate, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues, strip_marks

CUES = cues("date")


#: Marks between the numbers of a date.
SIGNS = frozenset("/.-|")
#: What leads from the first day of a stay to its last: 18.02. to 22.02.2019.
TOWARDS = re.compile(r"\.?[ ]?(?:-|–|—|to|until|till|til|thru|through|bis|and|&)[ ]?(?=\d)")

#: Shares of a tablet, and what British notes write for days, weeks and months.
FRACTIONS = frozenset(((1, 2), (1, 3), (2, 3), (1, 4), (3, 4)))

TIME = re.compile(r"[ ]{0,3}(?:@|at\b)?[ ]{0,2}(?:\d{1,2}[:.]\d\d(?!\d)|\d{1,2} ?[ap]\.?m\b|\d{4} ?(?:h|hrs|hours)\b)", re.IGNORECASE)  # fmt: skip
NO_DATES = re.compile(
    r" ?(?:(?:mg|ml|mcg|mm|cm|kg|g|of|out|yrs?|years?|wks?|weeks?|days?|months?|hours?|hrs?|hpf|x|"
    r"tabs?|tablets?|doses?|caps?|pain|strength|power|positive|points?|murmur|systolic|inch|inches|in|stitches|st|"
    r"packs?|ppd|units?|cycles?|ribs?|times|nodes?|lobes?|cores?|weekly|daily|nightly|headache|ago)(?![a-z])|[%<>=+])",
    re.IGNORECASE,
)


@detector("date", m.DIGIT)
def find_dates(page: Page, i: int) -> Iterator[Candidate]:
    """Digits with slashes, dots or dashes, or a day before a month's name."""
    start, size = page.starts[i], len(page.words[i])
    if 4 < size != 8:
        return
    joined = start and page.text[start - 1] in "/.-'$£€" and i > 1 and page.joined(i - 2)
    if joined and page.infos[i - 1].low in "/.-" and page.infos[i - 2].shape == "d":
        return
    if i and page.joined(i - 1) and page.infos[i - 1].shape != "p":
        if page.infos[i - 1].low in "lio" and not (i > 1 and page.joined(i - 2)):
            yield from scanned(page, i, start - 1)
        return
    text = page.text
    if size == 8:
        yield from compact(page, i)
        return
    end = start + size
    parted = text[end : end + 1] in SIGNS or text[end : end + 2] in (" /", " |")
    written = read_numeric(text, start, page.pack) if parted else None
    spaced = text[end : end + 1] == " " and text[end + 1 : end + 2].isdecimal()
    if not written and size <= 2 and spaced:
        written = spaced_birth(page, i)
    if not written and size <= 2:
        written = read_day_month(text, start, page.pack)
    if written:
        yield Candidate(begin(page, i), written.end, "date", 0.95, "date")
    elif size <= 2:
        yield from misspelt_month(page, i)
        short = read_short(text, start) if parted else None
        if short:
            yield from short_date(page, i, short)
        elif page.joined(i):
            yield from scanned(page, i, start)


def spaced_birth(page: Page, i: int) -> Written | None:
    """Return the date of birth of a form that leaves its marks out: DOB 07 06 1961."""
    three = page.marks(i + 1) & page.marks(i + 2) & m.DIGIT and page.together(i, i + 2)
    if three and page.marked(i - 4, i, m.BORN):
        spaced = " ".join(page.words[i : i + 3])
        if page.text.startswith(spaced, page.starts[i]):
            read = read_numeric(spaced.replace(" ", "/"), 0, page.pack)
            return replace(read, end=page.ends[i + 2]) if read else None
    return None


def scanned(page: Page, i: int, start: int) -> Iterator[Candidate]:
    """Yield a date in which a scanner took digits for letters."""
    if not any(page.low(k) in ("/", "-", ".") for k in (i + 1, i + 2)):
        return
    written = read_scanned(page.text, start)
    if written:
        dated = is_cued(page, i) or is_event(page, i)
        padded = written.end - start == len("30/06")
        evidence = 0.9 if written.year else 0.85 if dated else 0.8 if padded else 0.6
        yield Candidate(start, written.end, "date", evidence, "date")


def short_date(page: Page, i: int, short: Written) -> Iterator[Candidate]:
    """Yield a day and month where a cue says that it is one."""
    text, end = page.text, short.end
    after = page.infos[i + 3] if page.together(i, i + 3) else None
    if NO_DATES.match(text, end) or (after is not None and after.marks & m.DRUG):
        return
    if after is not None and after.medical and page.low(i + 2) in ("7", "52"):
        # 5/7 amoxicillin: five days of it.
        return
    # A whole date of the same marks follows as the end of a stay.
    found = TOWARDS.match(text, end)
    last = read_numeric(text, found.end(), page.pack) if found else None
    if last is not None and last.form == f"numeric{short.form[-1]}":
        yield Candidate(begin(page, i), end, "date", 0.9, "date")
        return
    evidence = {"short/": slashed, "short-": dashed, "short.": dotted}[short.form](page, i, end)
    if evidence:
        yield Candidate(begin(page, i), end, "date", evidence, "date")


def slashed(page: Page, i: int, end: int) -> float:
    """Return how certainly 4/10 is a day and month: by a cue, a time after it, its place, or as no score has it."""
    first, second = parts_of(page, i)
    weekday = is_weekday(page, i)
    if weekday or is_cued(page, i):
        return 0.9 if weekday else 0.85
    if page.low(i - 2) == "day" and page.infos[i - 1].shape == "d":
        return 0.85
    if (first, second) in FRACTIONS or is_duration(page, i):
        return 0.0
    if TIME.match(page.text, end):
        return 0.88
    if is_event(page, i) and not is_vision(first, second):
        return 0.83
    if begins_entry(page, i, end):
        sure = page.words[i][0] == "0" or second > 10 or first > 10
        return 0.82 if sure or page.text.startswith("  ", end) else 0.65
    if ends_heading(page, i) and page.lines[i] == 0:
        return 0.82
    if second <= 12 < first and first != 20:
        # No score is higher than its highest.
        return 0.85
    if after_score(page, i) or is_vision(first, second):
        return 0.0
    if first <= 12 < second:
        return 0.85
    if ends_heading(page, i):
        return 0.8 if second > 5 else 0.6
    if page.words[i][0] == "0" or (page.text[end - 2] == "0" and page.text[end - 1].isdecimal()):
        return 0.6
    return 0.0


def dashed(page: Page, i: int, end: int) -> float:
    """Return how certainly 8-14 is a day and month rather than a range."""
    if is_weekday(page, i):
        return 0.9
    first, second = parts_of(page, i)
    padded = page.words[i][0] == "0" or page.text[end - 2] == "0"
    ends = closes(page, i + 3)
    if not (first <= 12 < second or padded) or not ends:
        return 0.0
    if TIME.match(page.text, end) and is_cued(page, i):
        return 0.88
    if padded and page.low(i - 1) in CUES.short_cues:
        return 0.85
    # I put one in 8-14 and 8-20: two ranges of the same start are none.
    twin = page.low(i + 3) in ("and", "&", ",", "or") and page.low(i + 5) == "-"
    if twin and page.low(i + 4) == page.low(i) and closes(page, i + 7):
        return 0.82
    back = page.low(i - 1) in ("and", "&", ",", "or") and page.low(i - 3) == "-"
    if back and page.low(i - 4) == page.low(i):
        return 0.82
    return 0.82 if page.low(i - 1) in ("on", "dated", "since") else 0.0


def dotted(page: Page, i: int, end: int) -> float:
    """Return how certainly 28.04 is a day and month rather than a value."""
    text = page.text
    if page.pack.day_first:
        if text[end : end + 1] == ".":
            return 0.85 if page.low(i - 1) in CUES.short_cues else 0.6
        return 0.0
    first, second = parts_of(page, i)
    size = end - page.starts[i]
    if size != 5 or second > 12 or not first:
        return 0.0
    if is_weekday(page, i):
        return 0.85
    k = i - 1
    while k > i - 9 and page.low(k) in (".", ":", "|", "_") and page.together(k, i):
        k -= 1
    dated = page.low(k) in ("date", "dated", "collected", "received", "reported", "dob", "seen", "taken", "lmp", "edd")  # fmt: skip
    if dated and page.together(k, i):
        return 0.85
    return 0.8 if page.low(k) == "on" and closes(page, i + 3) and second else 0.0


def parts_of(page: Page, i: int) -> tuple[int, int]:
    """Return the two numbers of a day and month in digits."""
    return int(page.words[i]), int(page.words[i + 2])


def is_weekday(page: Page, i: int) -> bool:
    """Return True after a weekday, perhaps with a comma."""
    k = i - 2 if page.low(i - 1) in (",", ".", "the") else i - 1
    return bool(page.marks(k) & m.WEEKDAY) and page.together(k, i)


def is_cued(page: Page, i: int) -> bool:
    """Return True after a word that leads to a day: on, dated, since, (from."""
    k = i - 2 if page.low(i - 1) in ("(", ":", "~", "?") and page.together(i - 1, i) else i - 1
    return (page.low(k) in CUES.short_cues or page.marks(k) & m.BORN > 0) and page.together(k, i)


def is_event(page: Page, i: int) -> bool:
    """Return True after something that has a day, perhaps with a mark or a small word between: clinic - 10/11."""
    k = i - 1
    if page.low(k) in (":", "(", "-", "–", ",", "@", "for", "again") and page.together(k, i):
        k -= 1
    if page.low(k) in ("and", "to", "&", "-", "–", "or") and k > 3 and page.low(k - 2) == "/":
        first, second = page.words[k - 3], page.words[k - 1]
        return first.isdecimal() and second.isdecimal() and is_event(page, k - 3)
    return page.low(k) in CUES.events and page.together(k, i)


def is_duration(page: Page, i: int) -> bool:
    """Return True for so many days, weeks, months or hours as British notes write them: for 5/7, six weeks, 3/12."""
    parts = page.low(i + 2)
    if parts not in ("7", "12", "24", "52"):
        return False
    k = i - 2 if page.low(i - 1) in (",", "then", "(") else i - 1
    if page.low(k) in CUES.durations:
        return True
    # rv 6/12, unless the months of the text come first.
    return parts in ("12", "52") and page.low(k) in CUES.planned and not page.month_first


def is_vision(first: int, second: int) -> bool:
    """Return True for the acuity of an eye, and for the usual scores out of five and ten."""
    return (first == 6 and second in (5, 6, 7, 9, 12, 18, 24)) or (second in (5, 10) and first <= second)  # fmt: skip


def begins_entry(page: Page, i: int, end: int) -> bool:
    """Return True for what begins a line of a log and is followed by words: 08/06 DNA."""
    if not page.opens_line(i):
        return False
    j = i + 3
    if j >= page.size or page.lines[j] != page.lines[i]:
        return True
    after = page.infos[j]
    wide = page.lower or page.starts[j] - end > 1
    worded = after.shape in "CUM" or after.low in "-–—:|"
    return page.starts[j] > end and (worded or wide)


def ends_heading(page: Page, i: int) -> bool:
    """Return True for what ends a line after a wide space or a dash: WR Dr Moss   4/10."""
    j = i + 3
    if (j < page.size and page.lines[j] == page.lines[i]) or page.opens_line(i):
        return False
    return page.starts[i] - page.ends[i - 1] >= 2 or page.low(i - 1) in ("-", "–", "—", "|")


def closes(page: Page, j: int) -> bool:
    """Return True when a clause ends at token j or goes on with a small word."""
    after = page.word_at(j)
    if after is None or not page.together(j - 1, j):
        return True
    if after.shape == "p":
        return after.low not in "-–%/+°" or not page.joined(j - 1)
    small = after.marks & (m.STOP | m.PREPOSITION | m.ACTS | m.MEETS | m.CLAUSE | m.SIGNS)
    return bool(small) and after.low not in CUES.counted


def after_score(page: Page, i: int) -> bool:
    """Return True when a score or measurement stands before token i, of which it is the value."""
    for k in range(i - 1, max(-1, i - 5), -1):
        info = page.infos[k]
        if info.marks & (m.MEDICAL | m.HEAD | m.EPONYM | m.DOSE) or info.low in CUES.scores:
            return not info.marks & (m.BORN | m.MEETS)
        if info.low not in CUES.between and info.shape != "d":
            return False
    return False


def compact(page: Page, i: int) -> Iterator[Candidate]:
    """Yield 19710504 after a word of birth or date."""
    found = COMPACT.match(page.text, page.starts[i])
    if not found or not 1850 <= int(found[1]) <= 2100:
        return
    if 1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31:
        led = any(page.low(k) in ("date", "dated", "on") for k in range(i - 4, i))
        near = led or page.marked(i - 4, i, m.BORN)
        yield Candidate(page.starts[i], page.ends[i], "date", 0.95 if near else 0.8, "date")


@detector("date by month", m.MONTH)
def find_month_dates(page: Page, i: int) -> Iterator[Candidate]:
    """Find a month's name before a day: February 2, 1994."""
    if i + 1 >= page.size or page.starts[i + 1] - page.ends[i] > 3:
        return
    info = page.infos[i]
    small = info.shape == "l"
    if small and info.low in ("may", "march", "mar", "sun") and not page.lower:
        return
    verb = small and info.low == "may" and page.low(i + 1) != "."
    if (verb and page.infos[i + 1].shape != "d") or (i and page.joined(i - 1)):
        return
    month = page.pack.months.get(info.low) or page.pack.months.get(strip_marks(info.low), 0)
    written = read_month_day(page.text, month, page.ends[i]) if month else None
    if written:
        yield Candidate(begin(page, i), written.end, "date", 0.95, "date")


def misspelt_month(page: Page, i: int) -> Iterator[Candidate]:
    """Yield a day after a month's name that is misspelt by a letter: Janurary 4th."""
    k = i - 1
    before = page.word_at(k)
    if before is None or before.shape not in "lCU" or len(before.low) < 5 or before.common:
        return
    month = near_month(before.low, page.pack.month_names) if page.together(k, i) else 0
    written = read_month_day(page.text, month, page.ends[k]) if month else None
    if written:
        yield Candidate(begin(page, k), written.end, "date", 0.9, "date")


def begin(page: Page, i: int) -> int:
    """Return where a date starts: at its weekday, if one stands before it."""
    k = i - 1
    while k >= 0 and page.low(k) in (",", ".", "the", "den", "der") and i - k < 4:
        k -= 1
    if k >= 0 and page.together(k, i):
        info = page.infos[k]
        if info.marks & m.WEEKDAY or (not info.common and is_near_weekday(info.low)):
            return page.starts[k]
    return page.starts[i]
