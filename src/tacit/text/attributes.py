"""What a text tells of a person besides names: age, sex, places, roles, months. Read after protection, by an intruder.

Plain patterns and the lists of the language pack; every pattern takes time in proportion to the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from tacit.text.reading import marks
from tacit.text.reading.lexicon import Lexicon, load_lexicon
from tacit.text.reading.tokens import words_of
from tacit.text.reading.words import cues

CUES = cues("attributes")

Attribute = Literal["age", "sex", "place", "role", "month"]

AGE = re.compile(
    r"\b(\d{1,3})[- ](?:and \d/\d{1,2} )?(?:year|yr)s?[- ]old\b|\baged? (\d{1,3})\b|\b(\d{1,3}) ?y/?o\b"
    r"|\b(\d{1,3})[- ]?jährige?[rsn]?\b",
    re.IGNORECASE,
)
#: A month and its year, of a full date too.
MONTH = re.compile(
    r"\b(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|okt|dez)[a-zäöü]{0,7}\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?,? (?:of )?((?:19|20)\d\d)\b|"
    r"\b0?([1-9]|1[0-2])/(?:\d{1,2}/)?((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
STATE = re.compile(r"\b([A-Z]{2}) (\d{3})00\b")
SEXES = dict.fromkeys(CUES.man, "m") | dict.fromkeys(CUES.woman, "f")


def attributes_of(text: str, language: str = "en") -> dict[str, frozenset[str]]:
    """Return what a text tells, by attribute; what it does not tell is left out."""
    told: dict[str, set[str]] = {}
    for attribute, value in told_by(text, load_lexicon(language)):
        told.setdefault(attribute, set()).add(value)
    return {attribute: frozenset(values) for attribute, values in told.items()}


def told_by(text: str, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield each attribute that a text tells, with its value."""
    for match in AGE.finditer(text):
        yield "age", next(g for g in match.groups() if g)
    for match in MONTH.finditer(text):
        name, year, number, other = match.groups()
        yield "month", f"{name.lower()} {year}" if name else f"{number} {other}"
    for match in STATE.finditer(text):
        yield "place", f"{match[1]} {match[2]}"
    sexes = {"m": 0, "f": 0}
    for token in words_of(text):
        if not token[0].isalpha():
            continue
        low = token.lower()
        if low in SEXES:
            sexes[SEXES[low]] += 1
        elif low in CUES.roles:
            yield "role", low
        elif token[0].isupper():
            word = lexicon(token)
            if word.marks & marks.PLACE and not word.marks & marks.COMMON:
                yield "place", low
    if sexes["m"] != sexes["f"]:
        yield "sex", max(sexes, key=lambda s: sexes[s])
