"""Default deny: what nothing knows is taken as identifying."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from tacit.data.corpus import Span
from tacit.text.board import NAMES
from tacit.text.detect.names.list_names import is_lone
from tacit.text.detect.numbers.record_number import DOSES
from tacit.text.detect.registry import Candidate, cut
from tacit.text.medicine import medical_evidence
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.tidy import tidy_spans

KNOWN = m.any_of(
    "stop medical drug head dose month weekday title suffix header number hospital phone age "
    "relation role club state"
)


#: When in doubt strict denies: this certainty is enough, and this much of the trained voter's.
DOUBT, VOTED = 0.35, 0.08


def add_doubtful(
    page: Page, spans: list[Span], uncertain: list[Span], votes: list[Candidate]
) -> list[Span]:
    """Return the accepted spans and, where they leave room, everything that may identify somebody."""
    text = page.text
    covered = bytearray(len(text))
    for span in spans:
        covered[span.start : span.end] = b"\x01" * (span.end - span.start)
    doubtful = [
        *(s for s in uncertain if s.certainty >= DOUBT),
        *tidy_spans(page, [Span(*c[:5]) for c in votes if is_possible(page, c)]),
        *(Span(*c[:5]) for c in find_unknown(page)),
    ]
    added = []
    for span in doubtful:
        at = span.start
        while at < span.end:
            start = covered.find(0, at, span.end)
            if start < 0:
                break
            at = covered.find(1, start, span.end)
            at = span.end if at < 0 else at
            piece = text[start:at]
            left = start + next((k for k, c in enumerate(piece) if c.isalnum()), len(piece))
            right = at - next((k for k, c in enumerate(reversed(piece)) if c.isalnum()), 0)
            if left < right:
                covered[left:right] = b"\x01" * (right - left)
                added.append(replace(span, start=left, end=right))
    return sorted([*spans, *added])


def is_possible(page: Page, vote: Candidate) -> bool:
    """Return True for a vote that is likely enough, and no plain medical term."""
    if vote.evidence < VOTED:
        return False
    if vote.kind not in NAMES:
        return True
    i = bisect_left(page.starts, vote.start)
    while i < page.size and page.starts[i] < vote.end:
        against = medical_evidence(page, i)
        if page.infos[i].shape in "lCUMI" and against < 0.9:
            return True
        i += 1
    return False


def find_unknown(page: Page) -> Iterator[Candidate]:
    """Yield words that no list holds, capitalised words that may be names, and long numbers without a unit."""
    for i, info in enumerate(page.infos):
        shape = info.shape
        if shape == "p" or (info.marks & KNOWN and info.index < 6 and not is_lone(page, i)):
            continue
        if shape == "d":
            if len(info.low) >= 5 and not DOSES.match(page.text, page.ends[i]):
                yield cut(page, i, i + 1, "other", 0.85, "unknown")
            continue
        if len(info.low) < 2 or (len(info.low) == 2 and shape != "U"):
            continue
        against = medical_evidence(page, i)
        if against >= 0.9:
            continue
        listed = info.first >= 8 or info.last >= 9
        if (listed or info.marks & m.EPONYM) and against > 0.4:
            continue
        if not info.common and not info.marks & m.EPONYM:
            yield cut(page, i, i + 1, "name" if listed else "other", 0.85, "unknown")
        elif info.medical or page.pack.nouns_capital:
            continue
        elif page.capital(i) and shape != "U":
            if not page.starts_sentence(i) or (info.first >= 8 or info.index >= -3):
                yield cut(page, i, i + 1, "name", 0.85, "unknown")
        elif page.plain_case(i) and listed and info.index >= -2:
            yield cut(page, i, i + 1, "name", 0.85, "unknown")
