"""Warnings about texts that identify a person by what they tell: life events, public offices, unique roles."""

from __future__ import annotations

import re

from tacit.data.corpus import Span
from tacit.text import marks as m
from tacit.text.page import Page

AGED = re.compile(
    r"\b(?:at the age of|at age|when (?:he|she|they) (?:was|were)|aged|im Alter von|mit) (\w+)",
    re.IGNORECASE,
)
UNIQUE = re.compile(
    r"\bthe (?:only|first|youngest|oldest|last (?:surviving)?) [\w ]{2,40}? (?:in|of|to|at)\b|\b(?:Nobel|Pulitzer|Olympic|World Cup|Oscar)\b"
)


def find_warnings(page: Page, spans: list[Span], offices: list[tuple[int, int]]) -> tuple[str, ...]:
    """Return a sentence for each way in which the narrative itself may identify someone."""
    warnings = []
    events = len(AGED.findall(page.text[:1_000_000]))
    dates = sum(1 for s in spans if s.kind == "date")
    if events >= 3:
        warnings.append(
            f"{events} life events are told with an age: their sequence may identify the person to those who know it, although no name is left"
        )
    elif dates >= 6:
        warnings.append(
            f"{dates} dated events are told: their sequence may identify the person, although the days are gone"
        )
    warnings.extend(
        f"a public office or unique role is told at characters {a} to {b}: few people ever held it"
        for a, b in offices
    )
    if not offices and UNIQUE.search(page.text[:1_000_000]):
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
        country = (page.low(i - 1) == "." and page.low(i - 2) in ("s", "k")) or page.low(i - 1) in (
            "us",
            "uk",
        )
        if not (country or (telling and after and i + 2 < page.size)):
            continue
        end = i + 1
        if after and i + 2 < page.size and page.together(i, i + 2):
            end = i + 3 if page.low(i + 2) != "the" else min(page.size, i + 4)
        start = i
        while (
            start > 0
            and i - start < 6
            and country
            and page.low(start - 1) in (".", "u", "s", "k", "us", "uk")
        ):
            start -= 1
        found.append((page.starts[start], page.ends[end - 1]))
    return found[:20]
