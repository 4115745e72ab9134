"""Dates in all usual forms; a month and year alone is no hit."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.dates import COMPACT, read_day_month, read_month_day, read_numeric, read_short
from tacit.text.detect.registry import Candidate, detector
from tacit.text.lexicon import strip_marks
from tacit.text.page import Page
from tacit.text.words import words

#: Words before a day and month without a year: on 3/14.
SHORT_CUES = words(
    "on held out off since dated date until till by due from seen admitted discharged started begun between "
    "through thru am vom seit bis dob lmp dc d/c adm last next"
)


@detector("date", m.DIGIT)
def find_dates(page: Page, i: int) -> Iterator[Candidate]:
    """Digits with slashes, dots or dashes, or a day before a month's name."""
    start = page.starts[i]
    size = page.ends[i] - start
    if size > 8 or (
        start
        and page.text[start - 1] in "/.-'$£€"
        and i
        and page.infos[i - 1].low in "/.-"
        and i > 1
        and page.infos[i - 2].shape == "d"
        and page.joined(i - 2)
    ):
        return
    if i and page.joined(i - 1) and page.infos[i - 1].shape != "p":
        return
    text = page.text
    if size == 8:
        yield from compact(page, i)
        return
    if size > 4:
        return
    written = read_numeric(text, start, page.pack)
    if written:
        yield Candidate(begin(page, i), written.end, "date", 0.95, "date")
        return
    if size <= 2:
        written = read_day_month(text, start, page.pack)
        if written:
            yield Candidate(begin(page, i), written.end, "date", 0.95, "date")
            return
        short = read_short(text, start)
        if short:
            yield from short_date(page, i, short.end, short.form)


def short_date(page: Page, i: int, end: int, form: str) -> Iterator[Candidate]:
    """Yield a day and month where a cue says that it is one."""
    text = page.text
    rest = text[end : end + 12].lstrip(" ")
    if form == "short." and not page.pack.day_first:
        return
    if form == "short.":
        if text[end : end + 1] == ".":
            yield Candidate(
                page.starts[i], end, "date", 0.85 if page.low(i - 1) in SHORT_CUES else 0.6, "date"
            )
        return
    cue = page.low(i - 1) in SHORT_CUES or page.marks(i - 1) & m.WEEKDAY
    cue = (
        cue
        or (page.low(i - 1) == "," and page.marks(i - 2) & m.WEEKDAY)
        or (page.low(i - 1) in "(:" and page.low(i - 2) in SHORT_CUES)
    )
    first, second = (int(x) for x in text[page.starts[i] : end].replace("-", "/").split("/"))
    if form == "short/" and first <= 12 < second and not after_score(page, i):
        cue = cue or True
    if not cue or (form == "short-" and not page.marks(i - 1) & m.WEEKDAY):
        if (
            form == "short/"
            and page.starts_sentence(i)
            and i
            and page.lines[i] != page.lines[i - 1]
            and rest[:1] in (":", "-", "")
        ):
            yield Candidate(page.starts[i], end, "date", 0.7, "date")
        return
    if rest[:2].lower() in (
        "mg",
        "ml",
        "pa",
        "of",
        "mm",
        "ye",
        "cm",
        "in",
        "st",
        "yr",
        "wk",
        "he",
        "x ",
        "wi",
    ):
        return
    yield Candidate(begin(page, i), end, "date", 0.85, "date")


def after_score(page: Page, i: int) -> bool:
    """Return True when a score or measurement stands before token i, of which it is the value."""
    for k in range(i - 1, max(-1, i - 4), -1):
        if page.marks(k) & (m.MEDICAL | m.HEAD | m.EPONYM | m.DOSE) or page.low(k) in (
            "score",
            "scored",
            "pain",
            "strength",
            "vision",
            "ratio",
            "scale",
            "grade",
        ):
            return True
        if page.infos[k].shape == "p" and page.low(k) not in ":=(":
            return False
    return False


def compact(page: Page, i: int) -> Iterator[Candidate]:
    """Yield 19710504 after a word of birth or date."""
    found = COMPACT.match(page.text, page.starts[i])
    if (
        found
        and 1850 <= int(found[1]) <= 2100
        and 1 <= int(found[2]) <= 12
        and 1 <= int(found[3]) <= 31
    ):
        near = any(
            page.marks(k) & m.BORN or page.low(k) in ("date", "dated", "on")
            for k in range(max(0, i - 4), i)
        )
        yield Candidate(page.starts[i], page.ends[i], "date", 0.95 if near else 0.8, "date")


@detector("date by month", m.MONTH)
def find_month_dates(page: Page, i: int) -> Iterator[Candidate]:
    """Find a month's name before a day: February 2, 1994."""
    if i + 1 >= page.size or page.starts[i + 1] - page.ends[i] > 3:
        return
    info = page.infos[i]
    if info.shape == "l" and info.low in ("may", "march", "mar", "sun") and not page.lower:
        return
    if (
        info.shape == "l"
        and info.low == "may"
        and page.low(i + 1) != "."
        and page.infos[i + 1].shape != "d"
    ):
        return
    if i and page.joined(i - 1):
        return
    month = page.pack.months.get(info.low) or page.pack.months.get(strip_marks(info.low), 0)
    written = read_month_day(page.text, month, page.ends[i]) if month else None
    if written:
        yield Candidate(begin(page, i), written.end, "date", 0.95, "date")


def begin(page: Page, i: int) -> int:
    """Return where a date starts: at its weekday, if one stands before it."""
    k = i - 1
    while k >= 0 and page.low(k) in (",", ".", "the", "den", "der") and i - k < 4:
        k -= 1
    if k >= 0 and page.marks(k) & m.WEEKDAY and page.together(k, i):
        return page.starts[k]
    return page.starts[i]
