"""The engine behind Scrub: find what identifies people in one text, and put something else in its place.

It knows nothing of corpora, files or plans: a text goes in, spans or a text come out. Added to it are warnings about what a
narrative itself tells, default deny (strict: what nothing knows is taken as identifying), and the check of a site's own tagger.
"""

from __future__ import annotations

import operator
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from tacit.data.corpus import SPAN_KINDS, Findings, Span
from tacit.errors import InputError
from tacit.text.board import NAMES, Settled, settle, trim_piece, without_overlaps
from tacit.text.detect.names.list_names import is_lone
from tacit.text.detect.numbers.record_number import DOSES
from tacit.text.detect.registry import Candidate, cut, run_detectors
from tacit.text.extend import extend_names, join_addresses
from tacit.text.medicine import medical_evidence
from tacit.text.memory import Memory, link_entities, search_record
from tacit.text.model.crf import calibrate
from tacit.text.model.crf import vote as crf_vote
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page, load_lexicon
from tacit.text.tidy import tidy_spans

Mode = Literal["substitute", "tag", "mask", "list"]
#: A site's own tagger: a text in, spans out. Its certainties count as one more voter on the board.
Tagger = Callable[[str], Iterable[Span]]
#: What was found in one text: accepted spans, those below the threshold, and warnings about the narrative.
Found = Findings
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
    **dict.fromkeys(("name", "nickname"), re.compile(r"\n|\t|[ ]{3,}")),
    **dict.fromkeys(("id", "phone", "date"), COLUMN),
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
    text: str, parts: Iterable[Part], founds: Iterable[Findings], settings: Settings
) -> Findings:
    """Return what was found in the parts of a text as findings in the whole.

    Neighbours both see a place at their seam, and so it is found whole, once.
    """
    spans: list[Span] = []
    uncertain: list[Span] = []
    for part, found in zip(parts, founds, strict=True):
        here = [moved(s, part.start) for s in found.spans]
        spans += (s for s in here if s.end > part.first and s.start < part.last)
        doubtful = [moved(s, part.start) for s in found.uncertain]
        uncertain += (s for s in doubtful if part.first <= s.start < part.last)
    if len(text) > PART:
        spans = without_overlaps(spans)
        uncertain = [s for s in uncertain if not covered(s, spans)]
    knowledge = load_lexicon(settings.language, settings.lists).knowledge
    linked = link_entities(text, knowledge, spans)
    return Findings(tuple(linked), tuple(uncertain), find_warnings(text, spans, uncertain))


def moved(span: Span, by: int) -> Span:
    """Return a span of a part as a span of the whole text."""
    return replace(span, start=span.start + by, end=span.end + by) if by else span


def find_in_part(text: str, settings: Settings, record: Mapping[str, Any] | None) -> Findings:
    """Find spans in a text of moderate length; nothing is said yet of whose names they are.

    Marks of no width and soft hyphens, which hide a name from every search, are left out for the search alone.
    """
    if not UNSEEN.search(text):
        return find_in_seen(text, settings, record)
    places = [i for i, c in enumerate(text) if not UNSEEN.match(c)]
    found = find_in_seen("".join([text[i] for i in places]), settings, record)

    def put_back(spans: Iterable[Span]) -> tuple[Span, ...]:
        return tuple(replace(s, start=places[s.start], end=places[s.end - 1] + 1) for s in spans)

    return Findings(put_back(found.spans), put_back(found.uncertain))


def find_in_seen(text: str, settings: Settings, record: Mapping[str, Any] | None) -> Findings:
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
    return Findings(tuple(spans), tuple(sorted(uncertain)))


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


def crf_voter() -> Callable[..., Any] | None:
    """Return the voter by conditional random field; comparisons put None in its place."""
    return crf_vote


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


def replace_spans(text: str, found: Findings, settings: Settings, key: bytes) -> str:
    """Return the text with every accepted span replaced; equal keys give equal replacements.

    One person has one replacement in a document; with the same key in every document.
    """
    from tacit.text.replace import pieces_of

    return "".join(piece for piece, _ in pieces_of(text, found.spans, settings, key))


# -- what a narrative tells, without a name --------------------------------------------------------


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


# -- default deny: what nothing knows is taken as identifying --------------------------------------


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
            left, right = trim_piece(text, start, at)
            if left < right:
                covered[left:right] = b"\x01" * (right - left)
                added.append(replace(span, start=left, end=right))
    return sorted([*spans, *added])


def is_possible(page: Page, vote: Candidate) -> bool:
    """Return True for a vote that is likely enough, and no plain medical term."""
    worded = (i for i in page.tokens_in(vote.start, vote.end) if page.infos[i].shape in "lCUMI")
    doubtful = (medical_evidence(page, i) < 0.9 for i in worded)
    return vote.evidence >= VOTED and (vote.kind not in NAMES or any(doubtful))


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


# -- a site's own tagger, checked before its spans count -------------------------------------------


@dataclass(frozen=True)
class CheckedTagger:
    """Calls a tagger, and lets through only spans that fit the text."""

    call: Callable[[str], Iterable[Span]]

    @property
    def __name__(self) -> str:
        return getattr(self.call, "__name__", "tagger")

    def __call__(self, text: str) -> list[Span]:
        """Return the spans that the tagger found."""
        try:
            found: list[Any] = list(self.call(text))
        except Exception as error:  # noqa: BLE001 - it is not ours, and may fail in any way
            raise InputError(
                f"scrub: the tagger {self.__name__!r} failed with {type(error).__name__}; mend it, or leave it out"
            ) from None
        return [self.checked(span, len(text)) for span in found]

    def checked(self, span: Any, length: int) -> Span:
        """Return a span whose places are numbers, or refuse it."""
        try:
            start, end = operator.index(span.start), operator.index(span.end)
            if 0 <= start < end <= length and span.kind in SPAN_KINDS and 0 <= span.certainty <= 1:
                return replace(span, start=start, end=end)
        except (AttributeError, TypeError):
            pass
        raise InputError(
            f"scrub: the tagger {self.__name__!r} gave something that is no span of the text. It must yield "
            f"tacit.Span(start, end, kind, certainty) with places within the text, a certainty between 0 and 1, and "
            f"one of the kinds {', '.join(SPAN_KINDS)}."
        )
