"""Numbers in words, as people dictate them: five five five, oh one four two; march the ninth."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.page import REACH, Page
from tacit.text.words import words

DIGITS = words("zero oh one two three four five six seven eight nine double triple nought")
#: Digits in words that make a telephone number.
ENOUGH = 6
ORDINALS = words(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty thirtieth thirty"
)


@detector("spoken number", m.NUMBER_WORD, languages=("en",))
def find_spoken_numbers(page: Page, i: int) -> Iterator[Candidate]:
    """Find at least six digits in words, one after the other."""
    if page.low(i) not in DIGITS or page.low(i - 1) in DIGITS or page.low(i - 2) in DIGITS:
        return
    end, j, count = i + 1, i, 0
    while j < page.size and j - i < 2 * REACH:
        if page.low(j) in DIGITS:
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
    if page.low(j) in ORDINALS and page.together(i, j):
        end = j + 1
        more = end + 1 if page.low(end) == "-" else end
        if page.low(j) in ("twenty", "thirty") and page.low(more) in ORDINALS:
            end = more + 1
        elif page.low(j) in ("twenty", "thirty"):
            return
        yield cut(page, i, end, "date", 0.9, "spoken date")
    k = i - 2 if page.low(i - 1) == "of" else i
    if k < i and page.low(k) in ORDINALS and page.together(k, i):
        start = k - 1 if page.low(k - 1) in ("twenty", "thirty") else k
        yield cut(page, start, i + 1, "date", 0.9, "spoken date")
