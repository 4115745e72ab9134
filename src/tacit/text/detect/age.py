"""Ages over 89, which the rules of Safe Harbor take together."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text import marks as m
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.page import Page


@detector("age over 89", m.AGED)
def find_great_ages(page: Page, i: int) -> Iterator[Candidate]:
    """Find a number from 90 to 125 that counts years of a life."""
    word = page.words[i]
    if len(word) > 3 or not word.isascii() or not 90 <= int(word) <= 125:
        return
    if i and page.joined(i - 1) and page.low(i - 1) in "./-":
        return
    if (
        counts_years(page, i + 1)
        or page.low(i - 1) in ("age", "aged", "turned", "alter")
        or (page.low(i - 1) in (":", "of") and page.low(i - 2) in ("age", "alter"))
    ):
        if page.low(i + 1) in (
            "%",
            "/",
            "mg",
            "days",
            "minutes",
            "hours",
            "weeks",
            "months",
            "day",
        ):
            return
        yield cut(page, i, i + 1, "age", 0.95, "age over 89")


@detector("age over 89 in words", m.NUMBER_WORD)
def find_worded_ages(page: Page, i: int) -> Iterator[Candidate]:
    """Ninety-three years old, in words."""
    if page.low(i) != "ninety":
        return
    j = i + 1
    if page.low(j) == "-":
        j += 1
    if page.marks(j) & m.NUMBER_WORD:
        j += 1
    else:
        j = i + 1
    if counts_years(page, j):
        yield cut(page, i, j, "age", 0.9, "age over 89")


def counts_years(page: Page, j: int) -> bool:
    """Return True when a word for years of age stands at j, perhaps after a hyphen."""
    if page.low(j) == "-":
        j += 1
    low = page.low(j)
    if low in ("yo", "yof", "yom", "jährige", "jähriger", "jährigen", "jaehrige", "jaehriger"):
        return True
    if low in ("y", "yr", "yrs", "year", "years", "jahre", "jahren"):
        return low != "y" or page.low(j + 1) in (".", "/", "o", "-") or True
    return bool(low == "m" and page.low(j + 1) == "," and page.joined(j - 1))
