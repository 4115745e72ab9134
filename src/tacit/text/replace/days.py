"""Dates become month and year, or move by the same number of days."""

from __future__ import annotations

import datetime as dt
import re

from tacit.text.dates import Written, read_day_month, read_month_day, read_numeric, read_short
from tacit.text.packs import Pack

WORD = re.compile(r"[^\W\d_]+")


def read(text: str, pack: Pack) -> tuple[Written, int] | None:
    """Return a date's parts and where its own text starts, after a weekday."""
    for found in WORD.finditer(text):
        month = pack.months.get(found[0].lower())
        if month:
            written = read_month_day(text, month, found.end())
            if written:
                return written, found.start()
    digit = re.search(r"\d", text)
    if not digit:
        return None
    at = digit.start()
    written = read_numeric(text, at, pack) or read_day_month(text, at, pack) or read_short(text, at)
    if written is None and re.fullmatch(r"\d{8}", text[at:]):
        year, rest = text[at : at + 4], text[at + 4 :]
        day = int(rest[2:])
        return Written(len(text), day, int(rest[:2]), int(year), "compact", year), at
    return (written, at) if written else None


def to_month(text: str, pack: Pack) -> str:
    """Return month and year of a date, written as the date was."""
    parts = read(text, pack)
    if parts is None:
        return ""
    date, at = parts
    month = pack.month_names[date.month - 1]
    if date.form == "text":
        written = month_word(text, pack) or month
        comma = "," in text[at:] and date.year_text
        return f"{written}{',' if comma else ''} {date.year_text}".strip()
    if date.form == "iso":
        return f"{date.year_text}{text[at + 4]}{date.month:02d}"
    if date.form == "compact":
        return f"{date.year_text}{date.month:02d}"
    if date.form.startswith("short"):
        return month
    sign = date.form[-1]
    return f"{date.month:02d}{sign}{date.year_text}"


def month_word(text: str, pack: Pack) -> str:
    """Return the month's name as it is written in a date."""
    for found in WORD.finditer(text):
        if found[0].lower() in pack.months:
            return found[0]
    return ""


def shift(text: str, days: int, pack: Pack) -> str:
    """Return a date moved by days, written as the date was; month and year where it is no day of the calendar."""
    parts = read(text, pack)
    if parts is None:
        return ""
    date, at = parts
    try:
        moved = dt.date(date.year or 2001, date.month, date.day) + dt.timedelta(days=days)
    except (ValueError, OverflowError):
        return to_month(text, pack)
    year = str(moved.year) if len(date.year_text) == 4 else f"{moved.year % 100:02d}"
    if not date.year_text:
        year = ""
    if date.form == "iso":
        sign = text[at + 4]
        return f"{moved.year}{sign}{moved.month:02d}{sign}{moved.day:02d}"
    if date.form == "compact":
        return moved.strftime("%Y%m%d")
    if date.form.startswith(("numeric", "short")):
        sign = date.form[-1]
        day_first = pack.day_first or sign == "." or written_day_first(text[at:], date)
        pair = (moved.day, moved.month) if day_first else (moved.month, moved.day)
        pad = text[at : at + 1] == "0" or len(re.match(r"\d+", text[at:])[0]) == 2  # type: ignore[index]
        numbers = [f"{n:02d}" if pad else str(n) for n in pair]
        return sign.join((*numbers, year) if year else numbers)
    name = pack.month_names[moved.month - 1]
    if text[at].isdigit():
        return f"{moved.day} {name} {year}".strip()
    return f"{name} {moved.day}, {year}" if year else f"{name} {moved.day}"


def written_day_first(text: str, date: Written) -> bool:
    """Return True when a date in digits was written with its day first."""
    found = re.match(r"\d+", text)
    return bool(found and int(found[0]) == date.day and date.day != date.month and date.day > 12)
