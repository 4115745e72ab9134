"""Days by their ordinal, without a month, and numbers in words, as people dictate them."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.detect.times.date import closes
from tacit.text.reading import marks as m
from tacit.text.reading.page import REACH, Page
from tacit.text.reading.words import cues

# -- five five five, oh one four two; march the ninth ----------------------------------------------


SPOKEN = cues("spoken")


#: Digits in words that make a telephone number.
ENOUGH = 6


@detector("spoken number", m.NUMBER_WORD, languages=("en",))
def find_spoken_numbers(page: Page, i: int) -> Iterator[Candidate]:
    """Find at least six digits in words, one after the other."""
    earlier = page.low(i - 1) in SPOKEN.digits or page.low(i - 2) in SPOKEN.digits
    if page.low(i) not in SPOKEN.digits or earlier:
        return
    end, j, count = i + 1, i, 0
    while j < page.size and j - i < 2 * REACH:
        if page.low(j) in SPOKEN.digits:
            count += 1
            end = j + 1
        elif page.low(j) not in (",", "-", "."):
            break
        j += 1
    if count >= ENOUGH:
        yield cut(page, i, end, "phone", 0.9, "spoken number")


@detector("spoken date", m.MONTH, languages=("en",))
def find_spoken_dates(page: Page, i: int) -> Iterator[Candidate]:
    """Find a month and a day in words: march the ninth, the ninth of March."""
    j = i + 2 if page.low(i + 1) == "the" else i + 1
    if page.low(j) in SPOKEN.ordinals and page.together(i, j):
        end = j + 1
        more = end + 1 if page.low(end) == "-" else end
        if page.low(j) in ("twenty", "thirty") and page.low(more) in SPOKEN.ordinals:
            end = more + 1
        elif page.low(j) in ("twenty", "thirty"):
            return
        yield cut(page, i, year_end(page, end), "date", 0.9, "spoken date")
    k = i - 2 if page.low(i - 1) == "of" else i
    if k < i and page.low(k) in SPOKEN.ordinals and page.together(k, i):
        start = k - 1 if page.low(k - 1) in ("twenty", "thirty") else k
        before = start - 2 if page.low(start - 1) == "the" else start - 1
        if page.marks(before) & m.WEEKDAY and page.together(before, i):
            start = before
        yield cut(page, start, year_end(page, i + 1), "date", 0.9, "spoken date")


def year_end(page: Page, end: int) -> int:
    """Return the end of a date with a year in words: ninety-two, nineteen fifty eight, two thousand and four."""
    j = end + 1 if page.low(end) == "," else end
    stop = number_end(page, j)
    counted = stop - j > 1 and page.low(j) in SPOKEN.years
    return stop if counted and page.together(end - 1, stop - 1) else end


def number_end(page: Page, j: int) -> int:
    """Return the end of the number words from token j on."""
    stop, k = j, j
    while k < min(page.size, j + 8):
        if page.marks(k) & m.NUMBER_WORD or page.low(k) in ("hundred", "thousand", "oh"):
            stop = k + 1
        elif page.low(k) not in ("-", "and"):
            break
        k += 1
    return stop


@detector("spoken birthday", m.BORN, languages=("en",))
def find_spoken_birthdays(page: Page, i: int) -> Iterator[Candidate]:
    """Find at least three number words after a word of birth: birthday nine twenty two fifty eight."""
    j = i + 1
    while page.low(j) in SPOKEN.between and j < i + 5:
        j += 1
    if not page.marks(j) & m.NUMBER_WORD or not page.together(i, j):
        return
    end = number_end(page, j)
    if sum(bool(page.marks(k) & m.NUMBER_WORD) for k in range(j, end)) > 2:
        yield cut(page, j, end, "date", 0.9, "spoken birthday")


# -- Tues 14th, on the 19th, the 9th inst., monday the twenty seventh ------------------------------


DAYS = cues("day")
SPOKEN = cues("spoken")


ORDINAL = m.mark("ordinal")


@detector("day by its ordinal", ORDINAL)
def find_ordinal_days(page: Page, i: int) -> Iterator[Candidate]:
    """Find 14th after a weekday, after on the, before inst., or at the start of an entry."""
    k = i - 1
    if k < 0 or not page.joined(k) or page.infos[k].shape != "d" or len(page.words[k]) > 2:
        return
    if not 1 <= int(page.words[k]) <= 31 or (k and page.joined(k - 1) and page.low(k - 1) != "("):
        return
    yield from day_at(page, k, i + 1)


@detector("weekday and day", m.WEEKDAY)
def find_weekdays(page: Page, i: int) -> Iterator[Candidate]:
    """Find a weekday and a day: Fri 24, monday the twenty seventh, Sun. the third."""
    j = i + 1
    while page.low(j) in (".", ",", "the") and j < i + 4:
        j += 1
    if not page.together(i, j):
        return
    info = page.infos[j]
    if info.low in SPOKEN.ordinals:
        end = ordinal_end(page, j)
        if end and page.low(end) == "of" and page.marks(end + 1) & m.MONTH:
            end += 2
        if end and (page.low(j - 1) == "the" or end - j > 1):
            yield cut(page, i, end, "date", 0.9, "day by its ordinal")
    elif info.shape == "d" and len(info.low) <= 2 and 1 <= int(info.low) <= 31:
        if page.infos[i].shape == "l" and not page.lower:
            return
        if page.gap(j - 1) != 1 or not ends_entry(page, j + 1):
            return
        yield cut(page, i, j + 1, "date", 0.82, "day by its ordinal")


def ends_entry(page: Page, j: int) -> bool:
    """Return True when nothing is counted by the number before token j: no time of day, no unit."""
    after = page.word_at(j)
    if after is None or not page.together(j - 1, j):
        return True
    stop = after.low == "." and not page.joined(j)
    return stop or after.low in (",", ";", ")", "(", "|", "–", "—")


def ordinal_end(page: Page, j: int) -> int:
    """Return the end of an ordinal in words that begins at j, or 0: twenty seventh, twenty-first, third."""
    if page.low(j) not in ("twenty", "thirty"):
        return j + 1
    more = j + 2 if page.low(j + 1) == "-" else j + 1
    return more + 1 if page.low(more) in SPOKEN.ordinals and page.together(j, more) else 0


def day_at(page: Page, k: int, end: int) -> Iterator[Candidate]:
    """Yield the ordinal of a day at tokens k up to, without, end, where its neighbours make it one."""
    before = k - 2 if page.low(k - 1) in ("the", "tbe") else k - 1
    article = before < k - 1
    if page.low(end) in DAYS.monthly and page.together(k, end):
        start = k - 1 if article else k
        yield cut(page, start, end + 1, "date", 0.92, "day by its ordinal")
        return
    if page.low(end) == "day" and page.low(end + 1) == "of" and page.marks(end + 2) & m.MONTH:
        stop = end + 4 if page.marks(end + 3) & m.FEW and page.together(k, end + 3) else end + 3
        yield cut(page, k - 1 if article else k, stop, "date", 0.95, "day by its ordinal")
        return
    month = page.low(end + 2) == "month" and page.low(end + 1) in (
        "this",
        "last",
        "next",
        "the",
        "that",
    )
    if page.low(end) == "of" and month and page.together(end, end + 2):
        yield cut(page, k - 1 if article else k, end, "date", 0.88, "day by its ordinal")
        return
    if before >= 0 and page.low(before) in (",", "."):
        before -= 1
    together = before >= 0 and page.together(before, k)
    if together and page.marks(before) & m.WEEKDAY:
        yield cut(page, before, end, "date", 0.92, "day by its ordinal")
    elif (
        together and page.low(before) in DAYS.before and closes(page, end) and not ranks(page, end)
    ):
        start = k - 1 if article else k
        yield cut(page, start, end, "date", 0.85 if article else 0.6, "day by its ordinal")
    elif page.opens_line(k) and not page.joined(end) and int(page.words[k]) > 3:
        if page.low(end) not in (":", "-", "–", "—"):
            return
        yield cut(page, k, end, "date", 0.82, "day by its ordinal")


def ranks(page: Page, j: int) -> bool:
    """Return True when a noun follows another ordinal: on the 3rd and 4th toes."""
    if page.low(j) not in ("and", "or", "to", "&", ",", "/", "-", "–"):
        return False
    j += 2 if page.low(j + 1) == "the" else 1
    if j + 2 >= page.size or page.infos[j].shape != "d" or closes(page, j + 2):
        return False
    return page.low(j + 1) in ("st", "nd", "rd", "th")
