"""The blackboard: evidence of all voters is combined, conflicts are settled, and what is accepted feeds back.

Certainty is a noisy-or of independent evidence, 1 - prod(1 - e), times 1 - m for medical evidence m unless a person
cue (title, relation, signature, salutation, e-mail) covers the words.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter

from tacit.data.corpus import Span
from tacit.text.detect.registry import Candidate
from tacit.text.medicine import medical_evidence, ordinary_evidence
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

#: Who wins where candidates overlap: the smaller rank.
RANKS = {
    "address": 0,
    **dict.fromkeys(("email", "url"), 1),
    **dict.fromkeys(("hospital", "employer", "organisation"), 2),
    **dict.fromkeys(("phone", "id", "date", "age"), 4),
    **dict.fromkeys(("name", "nickname"), 5),
    "other": 6,
}
FULL_NAME = 3
#: Evidence that weak medical evidence hardly touches: a whole name, or one that the document holds elsewhere.
REMEMBERED = frozenset(
    (
        "first and last name",
        "last, first",
        "prior occurrence",
        "diminutive",
        "misspelling",
        "known record",
    )
)
NAMES = frozenset(("name", "nickname"))
#: Kinds that are easily taken for one another: what speaks for one speaks for the others.
THINGS = frozenset(("hospital", "employer", "organisation", "address"))
#: What it says for a name, beside the trained voter, that no list of words holds a word.
STRANGE = 0.35
#: Where the trained voter stands alone, an ordinary word is doubted, unless more is known against it.
VOTERS = frozenset(("crf", "no ordinary word"))
DOUBTED = 0.5
#: Candidates settled together at most.
LARGEST = 64
#: Below this certainty a span is not even worth a review.
REVIEWED = 0.3


PLACE = attrgetter("start", "end")
#: Groups by their first place, with what was accepted of each and what was not.
Settled = dict[int, tuple[list[Candidate], list[Span], list[Span]]]


def combine(evidence: Iterable[float]) -> float:
    """Return the noisy-or of independent evidence."""
    rest = 1.0
    for e in evidence:
        rest *= 1.0 - e
    return 1.0 - rest


def clusters(candidates: list[Candidate]) -> Iterable[list[Candidate]]:
    """Yield candidates in groups that overlap, in order; endless chains are cut, so that the work stays linear."""
    group: list[Candidate] = []
    end = -1
    for c in sorted(candidates):
        if group and (c.start >= end or len(group) >= LARGEST):
            yield group
            group = []
        group.append(c)
        end = max(end, c.end) if len(group) > 1 else c.end
    if group:
        yield group


def settle(
    page: Page, candidates: list[Candidate], threshold: float, *, veto: bool, settled: Settled
) -> tuple[list[Span], list[Span]]:
    """Return what is accepted at a threshold, without overlaps, and what stayed below it.

    Groups that were settled before, as they are, are looked up in ``settled``.
    """
    accepted: list[Span] = []
    uncertain: list[Span] = []
    for group in clusters(candidates):
        known = settled.get(group[0].start)
        if known is None or known[0] != group:
            known = settled[group[0].start] = (group, [], [])
            settle_group(page, group, threshold, veto, known[1], known[2])
        accepted.extend(known[1])
        uncertain.extend(known[2])
    return without_overlaps(accepted), uncertain


def without_overlaps(spans: list[Span]) -> list[Span]:
    """Return spans in order, the later one cut back or left out where two overlap."""
    kept: list[Span] = []
    for span in sorted(spans, key=PLACE):
        if kept and span.start < kept[-1].end:
            if span.end <= kept[-1].end:
                continue
            span = replace(span, start=kept[-1].end)
        kept.append(span)
    return kept


def settle_group(
    page: Page,
    group: list[Candidate],
    threshold: float,
    veto: bool,
    accepted: list[Span],
    uncertain: list[Span],
) -> None:
    """Settle one group of overlapping candidates."""
    if len(group) == 1 and group[0].kind not in NAMES:
        c = group[0]
        span = Span(c.start, c.end, c.kind, c.evidence, c.source)
        (accepted if c.evidence >= threshold else uncertain).append(span)
        return
    words: dict[int, float] = {}
    spans = weigh(page, group, words)
    taken: list[Span] = []
    for span in spans:
        if span.certainty < threshold and span.kind in NAMES and len(words) > 1:
            span = believed_part(page, span, words, threshold)
        if span.certainty < threshold or (veto and is_vetoed(page, span)):
            if span.certainty >= REVIEWED:
                uncertain.append(span)
            continue
        if not taken:
            taken.append(span)
            continue
        inner = [
            t for t in taken if t.kind == span.kind and span.start <= t.start and t.end <= span.end
        ]
        if inner and all(t in inner for t in taken if t.start < span.end and t.end > span.start):
            for t in inner:
                taken.remove(t)
        for start, end in leftover(span, taken):
            if (start, end) == (span.start, span.end):
                taken.append(span)
            else:
                # What is left of it identifies as well: nothing that was accepted stays.
                left, right = trim_piece(page.text, start, end)
                if right - left > 1:
                    taken.append(Span(left, right, span.kind, span.certainty, span.source))
    accepted.extend(sorted(taken, key=PLACE))


def believed_part(page: Page, span: Span, words: dict[int, float], threshold: float) -> Span:
    """Return a name of several words without those at its ends that are not believed, or the span as it is."""
    inside = [i for i in page.tokens_in(span.start, span.end) if i in words]
    believed = [i for i in inside if words[i] >= threshold]
    if not believed:
        return span
    first, last = believed[0], believed[-1]
    lowest = min(words[i] for i in inside if first <= i <= last)
    return replace(span, start=page.starts[first], end=page.ends[last], certainty=round(lowest, 4))


def trust(c: Candidate) -> tuple[bool, float]:
    """Return how much a candidate is believed: a rule that sees the same words gives the voter's span its name."""
    return c.source != "crf", c.evidence


def weigh(page: Page, group: list[Candidate], words: dict[int, float]) -> list[Span]:
    """Return the distinct spans of a group with their certainties, best first; those of their words go into ``words``."""
    names = [c for c in group if c.kind in NAMES]
    strongest: dict[tuple[int, int, str], Candidate] = {}
    for c in group:
        known = strongest.get((c.start, c.end, c.kind))
        if known is None or trust(c) > trust(known):
            strongest[c.start, c.end, c.kind] = c
    spans = []
    for c in strongest.values():
        named = c.kind in NAMES
        certainty = name_certainty(page, c, names, words) if named else thing_certainty(c, group)
        spans.append(Span(c.start, c.end, c.kind, round(certainty, 4), c.source))
    return sorted(
        spans, key=lambda s: (rank(page, s), -s.certainty, s.start - s.end, s.kind != "nickname")
    )


def thing_certainty(c: Candidate, group: list[Candidate]) -> float:
    """Return the noisy-or of the evidence of one kind that covers most of a candidate."""
    by_source: dict[str, float] = {}
    for o in group:
        shared = min(o.end, c.end) - max(o.start, c.start)
        size = c.end - c.start
        if o.kind != c.kind and o.kind in THINGS and c.kind in THINGS:
            size = max(size, o.end - o.start)
        elif o.kind != c.kind:
            continue
        if shared > 0.6 * size:
            by_source[o.source] = max(o.evidence, by_source.get(o.source, 0.0))
    return combine(by_source.values())


def name_certainty(
    page: Page, c: Candidate, names: list[Candidate], words: dict[int, float]
) -> float:
    """Return the certainty of a name: that of its least certain word."""
    certainties = []
    inside = page.tokens_in(c.start, c.end)
    for i in inside:
        info = page.infos[i]
        if info.shape in "lCUM" and len(info.low) > 1 and not info.marks & m.PARTICLE:
            if i not in words:
                words[i] = word_certainty(page, i, names)
            certainties.append(words[i])
    if certainties:
        return min(certainties)
    start = inside.start
    doubtful = not c.person and page.marks(start) & m.PARTICLE
    return c.evidence * (1.0 - medical_evidence(page, start)) if doubtful else c.evidence


def word_certainty(page: Page, i: int, names: list[Candidate]) -> float:
    """Return the certainty that one word is a name, by all evidence that covers it, less the medical one."""
    by_source: dict[str, float] = {}
    person = full = False
    start, end = page.starts[i], page.ends[i]
    for c in names:
        if c.start < end and c.end > start:
            by_source[c.source] = max(c.evidence, by_source.get(c.source, 0.0))
            person = person or c.person
            full = full or c.source in REMEMBERED
    if "crf" in by_source and not page.infos[i].common and not page.marks(i) & m.MEDICAL:
        by_source["no ordinary word"] = STRANGE
    certainty = combine(by_source.values())
    if person:
        return certainty
    against = medical_evidence(page, i)
    if full and against <= 0.8:
        against *= 0.2
    alone = all(e < DOUBTED for source, e in by_source.items() if source not in VOTERS)
    if against < DOUBTED and "crf" in by_source and alone:
        against = max(against, ordinary_evidence(page, i))
    return certainty * (1.0 - against)


def rank(page: Page, span: Span) -> int:
    """Return the precedence of a span; a name of several words goes before numbers."""
    if span.kind in NAMES and " " in page.text[span.start : span.end]:
        return FULL_NAME
    return RANKS[span.kind]


def leftover(span: Span, taken: list[Span]) -> list[tuple[int, int]]:
    """Return the parts of a span that no accepted span covers."""
    parts = [(span.start, span.end)]
    for other in taken:
        cut_parts = []
        for start, end in parts:
            if other.end <= start or other.start >= end:
                cut_parts.append((start, end))
                continue
            if start < other.start:
                cut_parts.append((start, other.start))
            if other.end < end:
                cut_parts.append((other.end, end))
        parts = cut_parts
    return parts


def trim_piece(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the ends of a remaining part without marks and spaces; they meet where nothing is left."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end


def is_vetoed(page: Page, span: Span) -> bool:
    """Return True for what false-positive reduction takes back: eponyms, drugs and doses, common words at a sentence's start."""
    if span.kind not in NAMES or span.certainty >= 0.9:
        return False
    i = bisect_left(page.starts, span.start)
    if i >= page.size or page.ends[i] < span.end:
        return False
    info = page.infos[i]
    if span.source in ("titled name", "salutation", "signature", "known record"):
        return False
    if medical_evidence(page, i) >= 0.9:
        return True
    return info.common >= 12 and page.starts_sentence(i) and info.index < 5
