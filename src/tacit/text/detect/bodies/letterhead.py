"""Bodies that stand by themselves: the head of a letter, the line below a signature, brackets after a doctor, a payer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tacit.text.detect.bodies.named_body import BODY, CARE, FIRM, NO_NAMES, told
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.proper import forward_proper
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("letterhead")
PROPER = cues("proper")


#: Last words that name a body only where it stands by itself.
PLAN, INSURER = m.mark("plan"), m.mark("insurer")
HOUSE = m.HOSPITAL | CARE | m.mark("clinic head")
HEADS = HOUSE | m.COMPANY | FIRM | m.CLUB | BODY | PLAN
#: What a line above the name of a practice holds.
SIGNED = m.SUFFIX | m.TITLE
#: Lines from the top of a text that may be the head of a letter.
TOP = 8
#: Words of a line at most.
MOST = 9
#: What ends a segment of a line of its own.
CUTS = frozenset((",", "–", "—", "|", "·", "•", "(", "-", ";"))
PARTS = frozenset(("–", "—", "|", "·", "•", "-"))


#: Words of headings that are no bodies: Discharge Clinic.
TITLES = m.STOP | m.TITLE | m.GREETING | m.CLOSING | m.MONTH | m.WEEKDAY | m.BORN | m.PHONE


@detector("letterhead", HEADS, languages=("en",))
def find_letterheads(page: Page, i: int) -> Iterable[Candidate]:
    """Find a line in capitalised words whose last word ends the names of bodies: Pelican Bay Medical."""
    if page.infos[i].shape not in "CMU" or not closes(page, i + 1):
        return ()
    start, top = segment_start(page, i), page.lines[i] <= TOP
    if start == i or segment_end(page, start) != i + 1 or not (top or after_signature(page, start)):
        return ()
    evidence = weigh_line(page, start, i + 1)
    return (cut(page, start, i + 1, kind_of(page, i), evidence, "letterhead"),) if evidence else ()


def segment_start(page: Page, i: int) -> int:
    """Return where the segment of a line that holds token i begins, or i when it is too long."""
    line = page.lines[i]
    for k in range(i, max(-1, i - MOST), -1):
        if k == 0 or page.lines[k - 1] != line:
            return k
        if page.infos[k - 1].low in PARTS and page.starts[k] > page.ends[k - 1]:
            return k
    return i


def after_signature(page: Page, i: int) -> bool:
    """Return True below a line that ends with the letters of a degree, or that holds a title."""
    line = page.lines[i] - 1
    for k in range(i - 1, max(-1, i - 8), -1):
        if page.lines[k] != line:
            return False
        info = page.infos[k]
        if info.marks & SIGNED and info.shape in "CUM":
            return True
    return False


def segment_end(page: Page, start: int) -> int:
    """Return where the capitalised words from token start on end."""
    end = start
    while end < page.size and end - start < MOST and page.lines[end] == page.lines[start]:
        info = page.infos[end]
        if end > start and page.starts[end] - page.ends[end - 1] > 1:
            break
        capital = info.shape in "CMU" or (info.shape == "I" and end > start)
        inner = end > start and (
            info.low in PROPER.small
            or (info.low in "'’&.-" and (page.joined(end - 1) or info.low == "&"))
            or (info.low == "s" and page.low(end - 1) in "'’")
        )
        if not capital and not inner:
            break
        end += 1
    while end > start and (page.infos[end - 1].shape == "p" or page.low(end - 1) in PROPER.small):
        end -= 1
    return end


def closes(page: Page, end: int) -> bool:
    """Return True when a line ends at token end, or goes on in another segment."""
    if end >= page.size or page.lines[end] != page.lines[end - 1]:
        return True
    return page.low(end) in CUTS or page.starts[end] - page.ends[end - 1] > 1


def weigh_line(page: Page, start: int, end: int) -> float:
    """Return how certainly the words of a segment are a body; 0 for a heading."""
    last = end - 1
    if page.marks(start) & TITLES & ~m.STOP and not page.marks(start) & m.SAINT:
        return 0.0
    if any(page.low(k) in CUES.forms for k in range(start, last)):
        return 0.0
    linked = page.low(start + 1) in CUES.links and page.infos[start].common >= 11
    if linked and not page.marks(start) & HEADS:
        # Results of Wexley Diagnostics
        return 0.0
    tells = told(page, start, last)
    if page.low(last) in CUES.departments and not is_named(page, start, last):
        return 0.0
    if any(page.infos[k].shape in "CM" for k in range(start, end)):
        return 0.86 if tells == 2 else 0.82 if tells and last - start > 1 else 0.0
    small = (k for k in range(start, last) if page.marks(k) & (m.PREPOSITION | m.STOP))
    if any(page.low(k) not in PROPER.inner for k in small):
        return 0.0
    if tells == 2 and is_named(page, start, last):
        return 0.84
    sure = page.low(last) in CUES.sure and last - start > 2
    return 0.82 if tells and sure else 0.0


def is_named(page: Page, start: int, last: int) -> bool:
    """Return True when a word of no dictionary names a body, beside those that tell its sort: Haematology Day Unit."""
    for k in range(start, last):
        info = page.infos[k]
        barred = info.medical or info.marks & (m.MEDICAL | m.EPONYM) or info.low in NO_NAMES
        if len(info.low) > 3 and not barred and (not info.common or info.index >= 1):
            return True
    return False


def kind_of(page: Page, last: int) -> str:
    """Return the kind of a body by its last word."""
    marks = page.marks(last)
    if marks & HOUSE:
        return "hospital"
    return "organisation" if marks & (m.CLUB | BODY) and not marks & PLAN else "employer"


@detector("body in brackets", m.BRACKET, languages=("en",))
def find_bracketed(page: Page, i: int) -> Iterator[Candidate]:
    """Find the practice of a doctor in brackets after the name: Dr Bloom (Coastal IVF)."""
    if page.infos[i].low != "(" or page.marks(i + 1) & m.CAPITAL == 0:
        return
    if not any(page.marks(k) & m.TITLE for k in range(max(0, i - 5), i - 1)):
        return
    end = segment_end(page, i + 1)
    last = end - 1
    if page.low(end) not in (")", ",") or last <= i + 1 or not page.marks(last) & HEADS:
        return
    if told(page, i + 1, last) and not page.marks(i + 1) & TITLES:
        yield cut(page, i + 1, end, kind_of(page, last), 0.84, "body in brackets")


@detector("firm in a sentence", PLAN, languages=("en",))
def find_firms(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word of no dictionary before Direct, Assist or Select: delivered by Medisend Direct."""
    k = i - 1
    if page.infos[i].shape != "C" or k < 1 or not page.together(k - 1, i) or page.gap(k) != 1:
        return
    info = page.infos[k]
    if info.shape in "CM" and not info.common and not info.marks & (m.FIRST | m.MEDICAL | m.EPONYM):
        led = page.low(k - 1) in ("by", "via", "with", "from", "through", "@", "w", "to", "of")
        yield cut(page, k, i + 1, "employer", 0.82 if led else 0.6, "firm in a sentence")


@detector("insurer", INSURER, languages=("en",))
def find_insurers(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name of no dictionary after a word for a payer: TPA CareMantle, insurance Snowline."""
    j = i + 2 if page.low(i + 1) in (":", "-", "is", "by", "with") else i + 1
    if not page.together(i, j) or page.infos[j].shape not in "CM" or page.plain_case(j):
        return
    info = page.infos[j]
    if info.common or info.medical or info.marks & (m.FIRST | m.MEDICAL | TITLES):
        return
    end = forward_proper(page, j, 3)
    if end > j:
        yield cut(page, j, end, "employer", 0.82, "insurer")
