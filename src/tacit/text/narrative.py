"""Warnings about texts that identify a person by what they tell: life events, public offices, unique roles."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tacit.data.corpus import Span
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

AGED = re.compile(
    r"\b(?:at the age of|at age|when (?:he|she|they) (?:was|were)|aged|im Alter von|mit) (\w+)",
    re.IGNORECASE,
)
UNIQUE = re.compile(
    r"\bthe (?:only|first|youngest|oldest|last (?:surviving)?) [\w ]{2,40}? (?:in|of|to|at)\b|\b(?:Nobel|Pulitzer|Olympic|World Cup|Oscar)\b"
)


#: Who found a span that names a public office.
OFFICE = "public office"
#: Offices that are told at most.
MOST = 20


def find_warnings(
    text: str, spans: Iterable[Span], uncertain: Iterable[Span] = ()
) -> tuple[str, ...]:
    """Return a sentence for each way in which the narrative itself may identify someone.

    Among the ``uncertain`` spans are those of public offices.
    """
    warnings = []
    events = sum(1 for _ in AGED.finditer(text))
    dates = sum(1 for s in spans if s.kind == "date")
    offices = [s for s in uncertain if s.source == OFFICE][:MOST]
    if events >= 3:
        warnings.append(
            f"{events} life events are told with an age: their sequence may identify the person to those who know it, although no name is left"
        )
    elif dates >= 6:
        warnings.append(
            f"{dates} dated events are told: their sequence may identify the person, although the days are gone"
        )
    warnings.extend(
        f"a public office or unique role is told at characters {s.start} to {s.end}: few people ever held it"
        for s in offices
    )
    if not offices and UNIQUE.search(text):
        warnings.append("a unique role or distinction is told: few people ever held it")
    return tuple(warnings)


def find_offices(page: Page) -> list[tuple[int, int]]:
    """Return where public offices stand: U.S. Ambassador to England, Mayor of Ashwick."""
    found: list[tuple[int, int]] = []
    for i, info in enumerate(page.infos):
        if not info.marks & m.OFFICE:
            continue
        after = page.low(i + 1) in ("of", "to", "for", "von", "der", "in")
        telling = page.capital(i) or page.plain_case(i)
        dotted = page.low(i - 1) == "." and page.low(i - 2) in ("s", "k")
        country = dotted or page.low(i - 1) in ("us", "uk")
        if not (country or (telling and after and i + 2 < page.size)):
            continue
        end = i + 1
        if after and page.together(i, i + 2):
            end = i + 3 if page.low(i + 2) != "the" else min(page.size, i + 4)
        start = i
        while country and start > 0 and i - start < 6:
            if page.low(start - 1) not in (".", "u", "s", "k", "us", "uk"):
                break
            start -= 1
        found.append((page.starts[start], page.ends[end - 1]))
    return found[:MOST]
