"""Dates as people write them: recognise one at a place of a text, and read its parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tacit.text.packs import Pack

NUMERIC = re.compile(r"(\d{1,2})([/.\-])(\d{1,2})\2(\d{4}|'?\d{2})(?![\d/])(?!\.\d)")
SPACED = re.compile(r"(\d{1,2})([/.\-]) ?(\d{1,2})\2 ?(\d{4}|\d{2})(?![\d/])(?!\.\d)")
ISO = re.compile(
    r"(\d{4})([/.\-])(\d{1,2})\2(\d{1,2})(?!\d)(?:T\d\d:\d\d(?::\d\d)?(?:\.\d{1,6})?Z?)?"
)
SHORT = re.compile(r"(\d{1,2})([/\-.])(\d{1,2})(?![\d/%])(?!\.\d)")
COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?!\d)")
MONTH_FIRST = re.compile(
    r"\.?[ ]{0,2}[-/]?[ ]?(\d{1,2})(?:st|nd|rd|th)?(?![\d%:.]\d)(?:[ ]?(?:-|–|to|and|&)[ ]?(\d{1,2})(?:st|nd|rd|th)?(?!\d))?(?:(?:[ ]?,[ ]{0,2}|[ ]{1,2}|[-/])(\d{4}|'\d{2}|(?<=[-/])\d{2})(?!\d))?(?![\w])",
    re.IGNORECASE,
)
DAY_FIRST = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|\.)?(?:[ ]?(?:-|–|to|and|&|/|\+)[ ]?(\d{1,2})(?:st|nd|rd|th|\.)?)?[ ]{0,2}(?:of[ ]|[-/])?[ ]?([^\W\d_]{3,9})\.?(?![^\W\d_])(?:(?:[ ]?,[ ]{0,2}|[ ]{1,2}|[-/])?(\d{4}|'\d{2}|(?<=[-/ ])\d{2})(?![\d:/]))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Written:
    """A date as it stands: where it ends, its parts (0 when not written), and the way it is written."""

    end: int
    day: int
    month: int
    year: int
    form: str
    #: The year as written: "1994", "94", "'94".
    year_text: str = ""


def full_year(text: str, now: int = 2040) -> int:
    """Return a year from two or four digits."""
    digits = text.strip("'")
    if not digits:
        return 0
    year = int(digits)
    if len(digits) == 4:
        return year
    return 2000 + year if year <= now % 100 else 1900 + year


def read_numeric(text: str, at: int, pack: Pack) -> Written | None:
    """Read a date in digits that starts at a place of the text."""
    found = ISO.match(text, at)
    if found:
        year, _, month, day = found.groups()
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31 and 1850 <= int(year) <= 2100:
            return Written(found.end(), int(day), int(month), int(year), "iso", year)
        return None
    found = NUMERIC.match(text, at) or SPACED.match(text, at)
    if not found:
        return None
    a, sign, b, year = int(found[1]), found[2], int(found[3]), found[4]
    if len(year.strip("'")) == 4 and not 1850 <= int(year) <= 2100:
        return None
    day_first = pack.day_first or sign == "."
    day, month = (a, b) if (day_first and b <= 12) or a > 12 else (b, a)
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return Written(found.end(), day, month, full_year(year), f"numeric{sign}", year)


def read_short(text: str, at: int) -> Written | None:
    """Read a day and month in digits, without a year."""
    found = SHORT.match(text, at)
    if not found:
        return None
    a, b = int(found[1]), int(found[3])
    if not (min(a, b) >= 1 and max(a, b) <= 31 and min(a, b) <= 12):
        return None
    return Written(found.end(), b if a <= 12 else a, a if a <= 12 else b, 0, f"short{found[2]}")


def read_day_month(text: str, at: int, pack: Pack) -> Written | None:
    """Read 4 May 1971, 4th of May, 4-May-71."""
    found = DAY_FIRST.match(text, at)
    if not found:
        return None
    month = pack.months.get(found[3].lower(), 0)
    if not month or not 1 <= int(found[1]) <= 31:
        return None
    if (
        found[3].islower()
        and found[3] in ("may", "march", "mar", "sun")
        and not found[4]
        and "of" not in found[0]
        and not text[at - 1 : at].isspace()
    ):
        return None
    return Written(
        found.end(), int(found[1]), month, full_year(found[4] or ""), "text", found[4] or ""
    )


def read_month_day(text: str, month: int, after: int) -> Written | None:
    """Read what follows a month's name: February 2, 1994; Feb. 2nd."""
    found = MONTH_FIRST.match(text, after)
    if not found or not 1 <= int(found[1]) <= 31:
        return None
    if found[0].startswith(("-", "/")) and not found[3]:
        return None
    return Written(
        found.end(), int(found[1]), month, full_year(found[3] or ""), "text", found[3] or ""
    )
