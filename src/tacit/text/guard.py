"""The last look at a text before it leaves: what is known of the person, and what shows an identifier by its form.

The detectors weigh evidence and may miss. This does not weigh: a value of the known record that still stands in the
text is taken out, and so is every e-mail address, phone number, social security number or full date where the mode
leaves none of its form. So a release never fails its claims for one overlooked value, and the count of what was
caught here says how well the detectors did.
"""

from __future__ import annotations

import bisect
import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tacit.claims.text.no_known_values import GENERIC
from tacit.data.corpus import Span

#: What stands in place of what was caught.
REMOVED = "[removed]"

MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
#: Wide patterns by form; each begins with a character that rarely begins anything else, and none looks back over a run.
FORMS: Mapping[str, re.Pattern[str]] = {
    "email": re.compile(
        r"(?<![A-Za-z0-9._%+\-])[A-Za-z0-9._%+\-]++@[A-Za-z0-9\-]+(?:\.[A-Za-z0-9\-]+)+", re.ASCII
    ),
    "url": re.compile(r"\b(?:https?|ftp)://\S+|\bwww\.[a-z0-9\-]+\.\S+", re.ASCII | re.IGNORECASE),
    "phone": re.compile(
        r"\(\d{3}\) ?\d{3}[\-. ]\d{4}(?!\d)|(?<!\w)\d{3}[\-.]\d{3}[\-.]\d{4}(?!\w)", re.ASCII
    ),
    "ssn": re.compile(r"(?<!\w)\d{3}-\d{2}-\d{4}(?!\w)", re.ASCII),
    "date": re.compile(
        rf"(?<!\w)(?:\d{{1,2}}/\d{{1,2}}/(?:19|20)\d{{2}}|(?:19|20)\d{{2}}-\d{{2}}-\d{{2}}|{MONTH}\.? {{1,2}}\d{{1,2}},? {{1,2}}"
        rf"(?:19|20)\d{{2}}|\d{{1,2}} {MONTH} (?:19|20)\d{{2}})(?!\w)",
        re.ASCII | re.IGNORECASE,
    ),
}
#: Addresses and phone numbers as they are compared with those of the original.
TOKEN = re.compile(r"[^\s<>\"(),;]+")
PHONE = re.compile(r"\(?(?<!\w)\d{3}\)?[\-. ]{1,2}\d{3}[\-. ]\d{4}(?!\w)", re.ASCII)
WORD = re.compile(r"[^\W\d_]+")
ISO = re.compile(r"((?:19|20)\d\d)-(\d\d?)-(\d\d?)(?:[T ].*)?$")
SLASHED = re.compile(r"(\d\d?)/(\d\d?)/((?:19|20)\d\d)$")
MONTHS = [f"{dt.date(2000, m, 1):%B}" for m in range(1, 13)]


def guard_text(
    text: str,
    before: str,
    record: Mapping[str, Any],
    forms: Iterable[str],
    spared: frozenset[str] = frozenset(),
) -> tuple[str, list[tuple[int, int]]]:
    """Return the text without known values and formatted identifiers, and the places of it that were taken out.

    ``before`` is the text as it was: what it held of addresses and phone numbers may not stand in the new one.
    ``spared`` are words that reviewers asked to keep, in lower case.
    """
    places = [*(known_places(text, record) if record else ())]
    for form in forms:
        # Identifiers that their form gives away.
        matches = FORMS[form].finditer(text)
        places += [match.span() for match in matches if match.group().lower() not in spared]
    originals = {
        value
        for value, (start, end) in addresses_in(before)
        if spared.isdisjoint((value, before[start:end].lower()))
    }
    if originals:
        places += [place for value, place in addresses_in(text) if value in originals]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    parts, at = [], 0
    for start, end in merged:
        parts += [text[at:start], REMOVED]
        at = end
    return "".join([*parts, text[at:]]), merged


def move_marks(marks: Iterable[Span], removed: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Return marks of a text as they stand after places were taken out of it; these are marked as "other"."""
    starts, shifts, new = [], [0], list[Span]()
    for start, end in removed:
        starts.append(start)
        begin = start + shifts[-1]
        new.append(Span(begin, begin + len(REMOVED), "other"))
        shifts.append(shifts[-1] + len(REMOVED) - (end - start))
    for mark in marks:
        before = bisect.bisect_left(starts, mark.end)
        if before and removed[before - 1][1] > mark.start:
            continue
        by = shifts[before]
        new.append(Span(mark.start + by, mark.end + by, mark.kind))
    return tuple(sorted(new))


def addresses_in(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield e-mail and web addresses and phone numbers with their places, each in one way of writing."""
    if "@" in text or "://" in text or "www." in text.lower():
        for match in TOKEN.finditer(text):
            word = match.group().strip(".:!?'").lower()
            mail = "@" in word[1:] and "." in word.rpartition("@")[2]
            if mail or "://" in word or word.startswith("www."):
                yield word, match.span()
    for match in PHONE.finditer(text):
        yield "".join(c for c in match.group() if c.isdigit()), match.span()


def known_places(text: str, record: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield where values of the known record stand in the text."""
    #: The places of every word that begins with a capital letter.
    capital: dict[str, list[tuple[int, int]]] | None = None
    for value in record.values():
        said = "" if value is None else str(value).strip()
        day = date_of(value, said)
        if day:
            for form in ways_of_writing(*day) if str(day[0]) in text else ():
                yield from occurrences(form, text)
            continue
        digits = "".join(re.findall("[0-9]", said))
        words = WORD.findall(said)
        if len(words) > 1 or (digits and len(said) > 4):
            yield from occurrences(said, text)
        if words and not digits:
            if capital is None:
                capital = {}
                for match in WORD.finditer(text):
                    if match[0][0].isupper():
                        capital.setdefault(match[0].lower(), []).append(match.span())
            for word in words:
                if len(word) >= 3 and word.lower() not in GENERIC:
                    yield from capital.get(word.lower(), ())
        if len(digits) >= 5 and len(words) <= 1:
            yield from digit_places(text, digits)


def occurrences(value: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a value stands as a whole, in any case and with any blank space between its words."""
    words = value.split()
    if text.isascii() and value.isascii() and words[0].lower() not in text.lower():
        return
    parts = r"\s+".join(re.escape(word) for word in words)
    for match in re.finditer(rf"(?<![^\W_]){parts}(?![^\W_])", text, re.IGNORECASE):
        yield match.span()


def digit_places(text: str, digits: str) -> Iterator[tuple[int, int]]:
    """Yield where the digits of a number stand in a row, whatever separates them; places that overlap as one."""
    start = end = 0
    for match in re.finditer(f"(?=({'[-./ ()]?'.join(digits)}))", text):
        if match.start() >= end:
            if end:
                yield start, end
            start = match.start()
        end = match.end(1)
    if end:
        yield start, end


def date_of(value: Any, said: str) -> tuple[int, list[tuple[int, int]]] | None:
    """Return year and possible (month, day) of a value that is a date; None for others."""
    if isinstance(value, dt.date):
        return value.year, [(value.month, value.day)]
    iso, slashed = ISO.match(said), SLASHED.match(said)
    if iso:
        return int(iso[1]), [(int(iso[2]), int(iso[3]))]
    if slashed:
        one, two = int(slashed[1]), int(slashed[2])
        return int(slashed[3]), [(one, two), (two, one)]
    return None


def ways_of_writing(year: int, pairs: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield a date as it is usually written."""
    for month, day in pairs:
        if not 1 <= month <= 12:
            continue
        name = MONTHS[month - 1]
        yield f"{year}-{month:02d}-{day:02d}"
        for one, two in ((month, day), (day, month)):
            padded = f"{one:02d}", f"{two:02d}", f"{year}"
            yield from (f"{one}/{two}/{year}", "/".join(padded), ".".join(padded))
            yield from (f"{one}.{two}.{year}", f"{one:02d}-{two:02d}-{year}")
        for word in (name, name[:3]):
            yield from (f"{word} {day}, {year}", f"{word} {day} {year}", f"{day} {word} {year}")
