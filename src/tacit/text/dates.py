"""Dates as people write them: recognise one at a place of a text, and read its parts."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from tacit.text.packs import Pack

NUMERIC = re.compile(r"(\d{1,2})([/.\-])(\d{1,2})\2(\d{4}|'?\d{2})(?![\d/])(?!\.\d)")
SPACED = re.compile(r"(\d{1,2})([/.\-]) ?(\d{1,2})\2 ?(\d{4}|\d{2})(?![\d/])(?!\.\d)")
WIDE = re.compile(r"(\d{1,2}) ?(/) ?(\d{1,2}) ?/ ?(\d{4}|\d{2})(?![\d/])(?!\.\d)")
#: Digits that a scanner took for letters: O7/l1/1952.
SCANNED = re.compile(
    r"([\dOolI]{1,2})([/.\-])([\dOolI]{1,2})(?:\2([\dOolI]{4}|[\dOolI]{2}))?(?![\w/])"
)
LETTERS = str.maketrans("OolI", "0011")
#: The boxes of a form: 07|06|2010.
BOXED = re.compile(r"(\d{1,2}) ?(\|) ?(\d{1,2}) ?\| ?(\d{4}|\d{2})(?![\d/])")
#: Months in Roman numbers: 9.iv.22, 9/IV/2022.
ROMAN = re.compile(
    r"(\d{1,2})([./\- ])(x?i{1,3}|iv|vi{0,3}|ix|xi?)\2(\d{4}|'?\d{2})(?![\d/])", re.IGNORECASE
)
ROMANS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
#: Without a space, as laboratories and drug trials write them: 04APR22.
SOLID = re.compile(r"(\d{1,2})([A-Za-z]{3})(\d{2}|\d{4})(?!\w)")
#: A month that the end of a line breaks: 16 Dec-, ember 2019.
BROKEN = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([A-Za-z]{2,8})-\n[ \t]{0,40}([a-z]{2,8})(?![a-z])(?:,? (\d{4})(?!\d))?"
)
ISO = re.compile(
    r"(\d{4})([/.\-])(\d{1,2})\2(\d{1,2})(?!\d)(?:T\d\d:\d\d(?::\d\d)?(?:\.\d{1,6})?Z?)?"
)
SHORT = re.compile(r"(\d{1,2})([/\-.])(\d{1,2})(?![\d/%])(?!\.\d)")
COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?!\d)")
MONTH_FIRST = re.compile(
    r"\.?[ ]{0,2}(?:the[ ]|[-/])?[ ]?(\d{1,2})(?:st|nd|rd|th)?(?![\d%:.]\d)(?:[ ]?(?:-|–|to|and|&)[ ]?(\d{1,2})(?:st|nd|rd|th)?(?!\d))?(?:(?:[ ]?,[ ]{0,2}|[ ]{1,2}|[-/])(\d{4}|'\d{2}|(?<=[-/])\d{2})(?!\d))?(?![\w])",
    re.IGNORECASE,
)
DAY_FIRST = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|\.)?(?:[ ]?(?:-|–|to|and|&|/|\+)[ ]?(\d{1,2})(?:st|nd|rd|th|\.)?)?[ ]{0,2}(?:of[ ]|[-/])?[ ]?([^\W\d_]{3,9})\.?(?![^\W\d_])(?:(?:[ ]?,[ ]{0,2}|[ ]{1,2}|[-/])?(\d{4}|'\d{2}|(?<=[-/ ])\d{2})(?![\d/]|:\d))?",
    re.IGNORECASE,
)


#: Words one letter from a month's name.
NO_MONTHS = frozenset(("match", "marsh", "starch", "larch", "parch", "marcy", "juli", "juni"))


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


@functools.lru_cache(maxsize=4096)
def near_month(low: str, names: tuple[str, ...]) -> int:
    """Return the month whose name is misspelt by a letter, 0 for none: Febuary, Ocober."""
    if not 5 <= len(low) <= 10:
        return 0
    for number, name in enumerate(names, start=1):
        if len(name) < 5 or name[0].lower() != low[0] or low in NO_MONTHS:
            continue
        if OSA.distance(low, name.lower(), score_cutoff=1) <= 1:
            return number
    return 0


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@functools.lru_cache(maxsize=4096)
def is_near_weekday(low: str) -> bool:
    """Return True for a weekday misspelt by a letter: thrusday, wensday."""
    return 5 <= len(low) <= 10 and any(
        day[0] == low[0] and OSA.distance(low, day, score_cutoff=1) <= 1 for day in WEEKDAYS
    )


def is_letter(text: str, at: int) -> bool:
    """Return True when a letter stands at a place of the text."""
    return text[at : at + 1].isalpha()


def full_year(text: str) -> int:
    """Return a year from two or four digits."""
    digits = text.strip("'")
    if not digits:
        return 0
    year = int(digits)
    if len(digits) == 4:
        return year
    return 2000 + year if year <= 40 else 1900 + year


def make(end: int, day: int, month: int, year: str, form: str) -> Written | None:
    """Return a date from its parts, the year as it is written; None where no calendar has it."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return Written(end, day, month, full_year(year), form, year)


def read_numeric(text: str, at: int, pack: Pack) -> Written | None:
    """Read a date in digits that starts at a place of the text."""
    found = ISO.match(text, at)
    if found:
        year, _, month, day = found.groups()
        usual = 1850 <= int(year) <= 2100
        return make(found.end(), int(day), int(month), year, "iso") if usual else None
    found = NUMERIC.match(text, at) or SPACED.match(text, at) or WIDE.match(text, at)
    if not found:
        odd = "|" in text[at : at + 4] or is_letter(text, at + 2) or is_letter(text, at + 3)
        return read_roman(text, at) if odd else None
    a, sign, b, year = int(found[1]), found[2], int(found[3]), found[4]
    if len(year.strip("'")) == 4 and not 1850 <= int(year) <= 2100:
        return None
    day_first = pack.day_first or sign == "."
    day, month = (a, b) if (day_first and b <= 12) or a > 12 else (b, a)
    return make(found.end(), day, month, year, f"numeric{sign}")


def read_roman(text: str, at: int) -> Written | None:
    """Read a date whose month is a Roman number, or that stands in the boxes of a form."""
    boxed = BOXED.match(text, at)
    found = boxed or ROMAN.match(text, at)
    if not found:
        return None
    day, year = int(found[1]), found[4]
    month = int(found[3]) if boxed else ROMANS.index(found[3].lower())
    if boxed and month > 12:
        day, month = month, day
    return make(found.end(), day, month, year, "text")


def read_short(text: str, at: int) -> Written | None:
    """Read a day and month in digits, without a year."""
    found = SHORT.match(text, at)
    if not found:
        return None
    a, b = int(found[1]), int(found[3])
    day, month = (b, a) if a <= 12 else (a, b)
    return make(found.end(), day, month, "", f"short{found[2]}")


def read_scanned(text: str, at: int) -> Written | None:
    """Read a date in whose digits a scanner saw letters: O for 0, l for 1."""
    found = SCANNED.match(text, at)
    if not found or found[0].replace(found[2], "").isdecimal():
        return None
    if sum(c.isdecimal() for c in found[0]) < (3 if found[4] else 2):
        return None
    a, b = (int(found[k].translate(LETTERS)) for k in (1, 3))
    year = (found[4] or "").translate(LETTERS)
    day, month = (b, a) if b > 12 else (a, b)
    return make(found.end(), day, month, year, f"numeric{found[2]}")


def read_day_month(text: str, at: int, pack: Pack) -> Written | None:
    """Read 4 May 1971, 4th of May, 4-May-71, 04MAY71."""
    solid = SOLID.match(text, at) if is_letter(text, at + 1) or is_letter(text, at + 2) else None
    month = pack.months.get(solid[2].lower(), 0) if solid else 0
    read = make(solid.end(), int(solid[1]), month, solid[3], "text") if solid else None
    if read:
        return read
    found = DAY_FIRST.match(text, at)
    if not found:
        return None
    if text[found.end() : found.end() + 1] == "-":
        broken = read_broken(text, at, pack)
        if broken:
            return broken
    month = pack.months.get(found[3].lower(), 0) or near_month(found[3].lower(), pack.month_names)
    word = found[3] in ("may", "march", "mar", "sun") and "of" not in found[0]
    if word and not found[4] and not text[at - 1 : at].isspace():
        return None
    end, year = with_year(found, 4)
    return make(end, int(found[1]), month, year, "text")


def read_broken(text: str, at: int, pack: Pack) -> Written | None:
    """Read a day and a month whose name goes on in the next line."""
    found = BROKEN.match(text, at)
    if not found:
        return None
    month = pack.months.get((found[2] + found[3]).lower(), 0)
    return make(found.end(), int(found[1]), month, found[4] or "", "text")


def with_year(found: re.Match[str], group: int) -> tuple[int, str]:
    """Return where a date ends and its year; four digits that are a time of day are no year: 30 Aug 0745."""
    year = found[group] or ""
    if len(year) == 4 and not 1850 <= int(year.strip("'")) <= 2100:
        end = found.start(group)
        return found.start() + len(found.string[found.start() : end].rstrip(" ,-/")), ""
    return found.end(), year


def read_month_day(text: str, month: int, after: int) -> Written | None:
    """Read what follows a month's name: February 2, 1994; Feb. 2nd."""
    found = MONTH_FIRST.match(text, after)
    if not found or (found[0].startswith(("-", "/")) and not found[3]):
        return None
    end, year = with_year(found, 3)
    return make(end, int(found[1]), month, year, "text")
