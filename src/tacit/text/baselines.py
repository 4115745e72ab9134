"""Two baselines: what a search for the known record finds, alone and with the places where letters name people.

They are for comparison. Searching for the fields of the record misses nicknames, relatives, doctors and misspellings;
a look at headings, salutations and signatures finds some of these, and nothing in the body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tacit.data.corpus import Span
from tacit.text.guard import known_places

#: Name tokens: a word with a capital letter, or an initial.
NAME = r"[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){0,3}"
#: Where letters name people; the place of the name is the group.
CUES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("name", re.compile(rf"^(?:RE|Re|Patient|Name|To|From|cc)\s?: ?({NAME})", re.MULTILINE)),
    ("name", re.compile(rf"\bRE: ?({NAME})")),
    ("name", re.compile(rf"^Dear (?:(?:Dr|Mr|Mrs|Ms|Miss|Prof)\.? )?({NAME})", re.MULTILINE)),
    ("name", re.compile(rf"^({NAME}), ?(?:M\.D\.|MD|R\.N\.|RN|Ph\.D\.)", re.MULTILINE)),
    (
        "date",
        re.compile(
            r"^(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, )?([A-Z][a-z]+ \d{1,2}, \d{4})$",
            re.MULTILINE,
        ),
    ),
    ("date", re.compile(r"\bDOB:? ?([\d/.-]{6,10})")),
    ("id", re.compile(r"(?:CH#|MRN:?|No\.) ?([\d-]{4,20})")),
    ("address", re.compile(r"^([A-Z][A-Za-z ]{2,40}, [A-Z]{2} \d{5}(?:-\d{4})?)$", re.MULTILINE)),
)


def straight_search(text: str, record: Mapping[str, Any]) -> tuple[Span, ...]:
    """Return where fields of the known record stand in the text."""
    return without_overlap(
        Span(a, b, "other", 1.0, "known record") for a, b in known_places(text, record)
    )


def search_with_cues(text: str, record: Mapping[str, Any]) -> tuple[Span, ...]:
    """Return the same, and what stands after headings and salutations and before signatures."""
    return without_overlap([*straight_search(text, record), *cued(text)])


def cued(text: str) -> Iterator[Span]:
    """Yield what the places where letters name people hold."""
    for kind, pattern in CUES:
        for match in pattern.finditer(text):
            yield Span(*match.span(1), kind, 1.0, "cue")


def without_overlap(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order; of those that overlap the longer one."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if kept and span.start < kept[-1].end:
            if span.end - span.start > kept[-1].end - kept[-1].start:
                kept[-1] = span
            continue
        kept.append(span)
    return tuple(kept)
