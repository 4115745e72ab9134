"""The known record: its names, dates, addresses and numbers, searched in its own text in any usual form."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

from rapidfuzz.distance import OSA

from tacit.text.dates import read_day_month, read_numeric
from tacit.text.detect.registry import Candidate, cut
from tacit.text.memory import name_parts, related_forms
from tacit.text.reading.page import Page
from tacit.text.reading.tokens import tokenise
from tacit.text.reading.words import read_cues

#: What a field is, by words in its name; the first kind counts.
FIELDS = read_cues()["record"]


def field_kind(name: str, value: Any) -> str:
    """Return what kind of thing a field holds, by its name and value."""
    if isinstance(value, dt.date):
        return "date"
    low = name.lower()
    for kind, words in FIELDS.items():
        if any(w in low for w in words.split()) and not (kind == "id" and "name" in low):
            return kind
    return "other"


def search_record(page: Page, record: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield every place where a field of the record stands in the text."""
    for name, value in record.items():
        values = value if isinstance(value, (list, tuple, set)) else (value,)
        for one in values:
            if one is None or one == "":
                continue
            kind = field_kind(str(name), one)
            if kind == "date":
                yield from search_date(page, one)
            elif kind == "name":
                yield from search_name(page, str(one))
            else:
                yield from search_words(page, str(one), kind)


def search_name(page: Page, value: str) -> Iterator[Candidate]:
    """Yield the parts of a name, its short forms, and misspellings of it."""
    for part in name_parts(value):
        if len(part) < 2:
            continue
        forms = set(related_forms(page.lexicon.knowledge, part))
        limit = 2 if len(part) >= 8 else 1 if len(part) >= 4 else 0
        for i, info in enumerate(page.infos):
            if info.shape not in "lCUM":
                continue
            if info.low == part:
                if info.shape != "l" or page.plain_case(i) or not info.common:
                    yield cut(page, i, i + 1, "name", 0.98, "known record", person=not info.common)
            elif info.low in forms and (
                page.capital(i) or (info.index >= 6 and page.plain_case(i))
            ):
                yield cut(page, i, i + 1, "nickname", 0.85, "known record")
            elif limit and not info.common and not info.medical and info.low[0] == part[0]:
                if abs(len(info.low) - len(part)) > limit:
                    continue
                if OSA.distance(info.low, part, score_cutoff=limit) > limit:
                    continue
                yield cut(page, i, i + 1, "name", 0.85, "known record, misspelt")


def search_words(page: Page, value: str, kind: str) -> Iterator[Candidate]:
    """Yield places of a value, whatever its marks and spaces; and of the telling words of an address."""
    wanted = [w.lower() for w in tokenise(value).words if w[0].isalnum()]
    if not wanted:
        return
    joined = "".join(wanted)
    if len(joined) < 3:
        return
    for i, info in enumerate(page.infos):
        if info.shape != "p" and joined.startswith(info.low):
            end = match_from(page, i, joined)
            if end:
                yield cut(page, i, end, kind, 0.97, "known record")


def match_from(page: Page, i: int, joined: str) -> int:
    """Return the end of tokens from i on that spell the letters and digits of ``joined``, or 0."""
    at, j = 0, i
    while j < page.size and at < len(joined) and j - i < 40:
        info = page.infos[j]
        if info.shape != "p":
            if not joined.startswith(info.low, at):
                return 0
            at += len(info.low)
        j += 1
    return j if at == len(joined) else 0


def search_date(page: Page, value: Any) -> Iterator[Candidate]:
    """Yield dates of the text that are the known one, however written."""
    known = read_date(page, value)
    if known is None:
        yield from search_words(page, str(value), "date")
        return
    pairs = {(known.day, known.month), (known.month, known.day)}
    for i, info in enumerate(page.infos):
        if info.shape == "d" and len(info.low) <= 4:
            text = page.text
            found = read_numeric(text, page.starts[i], page.pack) or read_day_month(
                text, page.starts[i], page.pack
            )
            if found and found.year % 100 == known.year % 100 and (found.day, found.month) in pairs:
                yield Candidate(page.starts[i], found.end, "date", 0.98, "known record")


def read_date(page: Page, value: Any) -> dt.date | None:
    """Return a date from a date or from text, or None."""
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    text = str(value).strip()
    found = read_numeric(text, 0, page.pack) or read_day_month(text, 0, page.pack)
    if found is None or not found.year:
        return None
    try:
        return dt.date(found.year, found.month, found.day)
    except ValueError:
        return None
