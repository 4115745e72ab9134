"""The engine behind Scrub: find what identifies people in one text, and put something else in its place.

It knows nothing of corpora, files or plans: a text goes in, spans or a text come out.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tacit.data.corpus import Span
from tacit.text.addresses import join_addresses
from tacit.text.board import Settled, settle, without_overlaps
from tacit.text.detect.registry import Candidate, run_detectors
from tacit.text.extend import extend_names
from tacit.text.memory import Memory, link_entities
from tacit.text.model.calibration import calibrate
from tacit.text.model.strict import add_doubtful
from tacit.text.narrative import OFFICE, find_offices, find_warnings
from tacit.text.reading.lexicon import load_lexicon
from tacit.text.reading.page import Page
from tacit.text.record import search_record
from tacit.text.tidy import tidy_spans

Mode = Literal["substitute", "tag", "mask", "list"]
#: A site's own tagger: a text in, spans out. Its certainties count as one more voter on the board.
Tagger = Callable[[str], Iterable[Span]]
#: How often accepted spans may feed back.
PASSES = 3
#: Texts longer than this are worked through in parts, each of which sees so much of its neighbours.
PART = 200_000
SHARED = 2_000
#: Soft hyphens and marks of no width.
UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
#: Where voted spans of these kinds end: names with their line, numbers with their column or paragraph.
COLUMN = re.compile(r"\n[ \t\r]*\n|\t|[ ]{3,}")
GAPS = {
    "name": re.compile(r"\n|\t|[ ]{3,}"),
    "nickname": re.compile(r"\n|\t|[ ]{3,}"),
    "id": COLUMN,
    "phone": COLUMN,
    "date": COLUMN,
}


@dataclass(frozen=True)
class Settings:
    """How to look and what to do with what is found; the fields of Scrub, already checked."""

    threshold: float = 0.8
    reduction: bool = False
    strict: bool = False
    language: str = "en"
    mode: Mode = "substitute"
    #: "month" leaves month and year; "shift" moves all dates of one person by the same days.
    dates: Literal["month", "shift"] = "month"
    #: Kinds that are looked for; all when empty.
    kinds: tuple[str, ...] = ()
    #: Words that reviewers accepted (always found, by kind) and rejected (never found).
    accepted: Mapping[str, str] | None = None
    rejected: frozenset[str] = frozenset()
    taggers: tuple[Tagger, ...] = ()
    #: A folder with a site's own list files, which replace the bundled ones of the same name.
    lists: str = ""


@dataclass(frozen=True)
class Found:
    """What was found in one text: accepted spans, those below the threshold, and warnings about the narrative."""

    spans: tuple[Span, ...]
    uncertain: tuple[Span, ...] = ()
    warnings: tuple[str, ...] = ()


def find_spans(text: str, settings: Settings, record: Mapping[str, Any] | None = None) -> Found:
    """Find what identifies people in a text; fields of a known record are searched in it too."""
    parts = parts_of(text)
    founds = (find_in_part(text[p.start : p.end], settings, record) for p in parts)
    return join_parts(text, parts, founds, settings)


@dataclass(frozen=True)
class Part:
    """A part of a text: it answers for ``first`` up to ``last``, and sees a little more, ``start`` to ``end``."""

    start: int
    first: int
    last: int
    end: int


def parts_of(text: str) -> list[Part]:
    """Return the parts in which a text is worked through; one for all but long texts."""
    size = len(text)
    return [
        Part(max(0, k - SHARED), k, min(size, k + PART), min(size, k + PART + SHARED))
        for k in range(0, size or 1, PART)
    ]


def join_parts(
    text: str, parts: Iterable[Part], founds: Iterable[Found], settings: Settings
) -> Found:
    """Return what was found in the parts of a text as findings in the whole.

    Neighbours both see a place at their seam, and so it is found whole, once.
    """
    spans: list[Span] = []
    uncertain: list[Span] = []
    for part, found in zip(parts, founds, strict=True):
        by = part.start
        spans += (
            moved(s, by)
            for s in found.spans
            if s.end + by > part.first and s.start + by < part.last
        )
        uncertain += (
            moved(s, by) for s in found.uncertain if part.first <= s.start + by < part.last
        )
    if len(text) > PART:
        spans = without_overlaps(spans)
        uncertain = [s for s in uncertain if not covered(s, spans)]
    knowledge = load_lexicon(settings.language, settings.lists).knowledge
    linked = link_entities(text, knowledge, spans)
    return Found(tuple(linked), tuple(uncertain), find_warnings(text, spans, uncertain))


def moved(span: Span, by: int) -> Span:
    """Return a span of a part as a span of the whole text."""
    return replace(span, start=span.start + by, end=span.end + by) if by else span


def find_in_part(text: str, settings: Settings, record: Mapping[str, Any] | None) -> Found:
    """Find spans in a text of moderate length; nothing is said yet of whose names they are.

    Marks of no width and soft hyphens, which hide a name from every search, are left out for the search alone.
    """
    if not UNSEEN.search(text):
        return find_in_seen(text, settings, record)
    places = [i for i, c in enumerate(text) if not UNSEEN.match(c)]
    found = find_in_seen("".join([text[i] for i in places]), settings, record)

    def put_back(spans: Iterable[Span]) -> tuple[Span, ...]:
        return tuple(replace(s, start=places[s.start], end=places[s.end - 1] + 1) for s in spans)

    return Found(put_back(found.spans), put_back(found.uncertain))


def find_in_seen(text: str, settings: Settings, record: Mapping[str, Any] | None) -> Found:
    """Find spans in a text that holds no marks of no width."""
    page = Page(text, load_lexicon(settings.language, settings.lists))
    candidates: list[Candidate] = []
    run_detectors(page, candidates)
    candidates.extend(vote(page, settings))
    if record:
        candidates.extend(search_record(page, record))
    if settings.accepted:
        candidates.extend(search_accepted(page, settings.accepted))
    votes = [c for c in candidates if c.source == "crf"] if settings.strict else []
    threshold = settings.threshold
    memory = Memory(page)
    settled: Settled = {}
    spans: list[Span] = []
    uncertain: list[Span] = []
    for turn in range(PASSES + 1):
        spans, uncertain = settle(
            page, candidates, threshold, veto=settings.reduction, settled=settled
        )
        spans = extend_names(page, spans)
        more = memory.recall(spans) if turn < PASSES else []
        if not more:
            break
        candidates.extend(more)
    spans = join_addresses(page, tidy_spans(page, spans))
    if settings.strict:
        spans = extend_names(page, add_doubtful(page, spans, uncertain, votes))
    spans = [s for s in spans if wanted(page, s, settings)]
    uncertain = [s for s in uncertain if wanted(page, s, settings) and not covered(s, spans)]
    uncertain.extend(Span(a, b, "other", 0.5, OFFICE) for a, b in find_offices(page))
    return Found(tuple(spans), tuple(sorted(uncertain)))


def covered(span: Span, spans: list[Span]) -> bool:
    """Return True when an accepted span overlaps an uncertain one."""
    k = bisect_right(spans, span.end, key=lambda s: s.start) - 1
    return k >= 0 and spans[k].end > span.start


def wanted(page: Page, span: Span, settings: Settings) -> bool:
    """Return True for a span of a kind that is looked for, and whose words no reviewer rejected."""
    if settings.kinds and span.kind not in settings.kinds:
        return False
    return page.text[span.start : span.end].lower() not in settings.rejected


def vote(page: Page, settings: Settings) -> Iterable[Candidate]:
    """Yield the candidates of the statistical voter, where it is installed, and of a site's own taggers."""
    voter = crf_voter()
    if voter is not None:
        for start, end, kind, certainty in voter(page.tokens, settings.language, page.known) or ():
            for a, b in within_lines(page.text, start, end, kind):
                yield Candidate(a, b, kind, certainty, "crf")
    for tagger in settings.taggers:
        name = getattr(tagger, "__name__", "tagger")
        for span in tagger(page.text):
            certainty = calibrate(name, span.certainty)
            yield Candidate(span.start, span.end, span.kind, certainty, span.source or name)


def within_lines(text: str, start: int, end: int, kind: str) -> Iterable[tuple[int, int]]:
    """Yield the parts of a voted span that lie on one line, in one column; only addresses and names of things go on."""
    gaps = GAPS.get(kind)
    if gaps is None or not gaps.search(text, start, end):
        yield start, end
        return
    for gap in (*gaps.finditer(text, start, end), None):
        stop = gap.start() if gap else end
        part = text[start:stop]
        if part.strip():
            # A hyphen with which the line breaks a word belongs to neither half.
            yield start + len(part) - len(part.lstrip()), start + len(part.rstrip(" \t\r-"))
        start = gap.end() if gap else end


@functools.cache
def crf_voter() -> Callable[..., Any] | None:
    """Return the voter by conditional random field, or None where it is not installed."""
    try:
        from tacit.text.model.crf import vote as crf_vote  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    return crf_vote  # type: ignore[no-any-return,unused-ignore]


def search_accepted(page: Page, accepted: Mapping[str, str]) -> Iterable[Candidate]:
    """Yield the places of words that reviewers accepted."""
    low = page.text.lower()
    if len(low) != len(page.text):
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in page.text)
    for words, kind in accepted.items():
        wanted_words = words.lower()
        at = low.find(wanted_words) if wanted_words else -1
        while at >= 0:
            end = at + len(wanted_words)
            if not (low[at - 1 : at].isalnum() and at) and not low[end : end + 1].isalnum():
                yield Candidate(at, end, kind, 0.99, "reader", True)
            at = low.find(wanted_words, end)


def replace_spans(text: str, found: Found, settings: Settings, key: bytes) -> str:
    """Return the text with every accepted span replaced; equal keys give equal replacements.

    One person has one replacement in a document; with the same key in every document.
    """
    from tacit.text.replace import write_replacements

    return write_replacements(text, found.spans, settings, key)
