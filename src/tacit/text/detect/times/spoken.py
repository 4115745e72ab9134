"""Numbers in words, as people dictate them: five five five, oh one four two; march the ninth."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.reading import marks as m
from tacit.text.reading.page import REACH, Page
from tacit.text.reading.words import cues

CUES = cues("spoken")


#: Digits in words that make a telephone number.
ENOUGH = 6


@detector("spoken number", m.NUMBER_WORD, languages=("en",))
def find_spoken_numbers(page: Page, i: int) -> Iterator[Candidate]:
    """Find at least six digits in words, one after the other."""
    if (
        page.low(i) not in CUES.digits
        or page.low(i - 1) in CUES.digits
        or page.low(i - 2) in CUES.digits
    ):
        return
    end, j, count = i + 1, i, 0
    while j < page.size and j - i < 2 * REACH:
        if page.low(j) in CUES.digits:
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
    if page.low(j) in CUES.ordinals and page.together(i, j):
        end = j + 1
        more = end + 1 if page.low(end) == "-" else end
        if page.low(j) in ("twenty", "thirty") and page.low(more) in CUES.ordinals:
            end = more + 1
        elif page.low(j) in ("twenty", "thirty"):
            return
        yield cut(page, i, year_end(page, end), "date", 0.9, "spoken date")
    k = i - 2 if page.low(i - 1) == "of" else i
    if k < i and page.low(k) in CUES.ordinals and page.together(k, i):
        start = k - 1 if page.low(k - 1) in ("twenty", "thirty") else k
        before = start - 2 if page.low(start - 1) == "the" else start - 1
        if page.marks(before) & m.WEEKDAY and page.together(before, i):
            start = before
        yield cut(page, start, year_end(page, i + 1), "date", 0.9, "spoken date")


def year_end(page: Page, end: int) -> int:
    """Return the end of a date with a year in words: ninety-two, nineteen fifty eight, two thousand and four."""
    j = end + 1 if page.low(end) == "," else end
    stop = number_end(page, j)
    counted = stop - j > 1 and page.low(j) in CUES.years
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
    while page.low(j) in CUES.between and j < i + 5:
        j += 1
    if not page.marks(j) & m.NUMBER_WORD or not page.together(i, j):
        return
    end = number_end(page, j)
    if sum(bool(page.marks(k) & m.NUMBER_WORD) for k in range(j, end)) > 2:
        yield cut(page, j, end, "date", 0.9, "spoken birthday")
