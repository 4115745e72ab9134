"""Spans made whole: names with what belongs to them, and address blocks with their towns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from tacit.data.corpus import Span
from tacit.text.board import NAMES, PLACE
from tacit.text.names import APOSTROPHES, GENERATIONS, HYPHENS, stops
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

#: Marks of words that are no part of a name, whatever stands beside them.
NEVER = m.STOP | m.WEEKDAY | m.PREPOSITION | m.DOSE | m.DRUG | m.PHONE | m.BORN | m.ACTS
#: Marks of words that are part of a name only where the lists hold them as such.
SELDOM = (
    m.TITLE | m.HEADER | m.RELATION | m.ROLE | m.NUMBER | m.HOSPITAL | m.COMPANY | m.CLUB | m.STREET
    | m.SUFFIX | m.CLOSING | m.GREETING | m.CALLED | m.UNIT | m.WARD | m.AGE | m.LIVES | m.WORKS
)  # fmt: skip
#: Tokens that are taken in at most on each side.
MOST = 4


def extend_names(page: Page, spans: list[Span]) -> list[Span]:
    """Return spans in order, names made whole; no span grows into the next."""
    grown: list[Span] = []
    for k, span in enumerate(spans):
        if span.kind in NAMES:
            low = grown[-1].end if grown else 0
            high = spans[k + 1].start if k + 1 < len(spans) else len(page.text)
            span = extend(page, span, low, high)
        grown.append(span)
    return grown


def extend(page: Page, span: Span, low: int, high: int) -> Span:
    """Return one name with what belongs to it between two places of the text."""
    starts, ends = page.starts, page.ends
    inside = page.tokens_in(span.start, span.end)
    i, j = inside.start, inside.stop
    if i >= j or starts[i] != span.start:
        return span
    first, last = i, j
    while last - j < MOST:
        after = step_on(page, i, last)
        if after == last or ends[after - 1] > high:
            break
        last = after
    while i - first < MOST:
        before = step_back(page, first, last)
        if before == first or starts[before] < low:
            break
        first = before
    if first == i and last == j:
        return span
    return replace(span, start=starts[first], end=max(span.end, ends[last - 1]))


def step_on(page: Page, i: int, j: int) -> int:
    """Return the end of the name i to j with one more part, or j."""
    if j >= page.size or page.lines[j] != page.lines[j - 1]:
        return j
    info, infos = page.infos[j], page.infos
    if info.low in HYPHENS:
        return j + 2 if is_joined_part(page, j, j + 1) or is_broken(page, j) else j
    if page.starts[j] - page.ends[j - 1] != 1 or infos[j - 1].shape not in "lCUM":
        return j
    if info.low in GENERATIONS and j - i > 1 and (info.shape != "l" or page.plain_case(j)):
        return j + 1
    if info.shape == "I" and info.low != "i" and ends_here(page, j + 1):
        return j + 1 if infos[j - 1].first >= 7 or j - i > 2 else j
    if is_short(page, i, j) and infos[j - 1].first >= 8 and could_follow(page, j):
        return j + 1
    # A surname after a first name and a capitalised word, which ends there: Ann Flying Crow.
    third = j == i + 2 and info.shape == "C" and infos[i + 1].shape == "C" and infos[i].first >= 11
    listed = info.last >= 10 and not info.marks & (NEVER | SELDOM)
    return j + 1 if third and listed and ends_here(page, j + 1) else j


def step_back(page: Page, i: int, j: int) -> int:
    """Return the start of the name i to j with one more part before it, or i."""
    k = i - 1
    if k < 0 or page.lines[k] != page.lines[i]:
        return i
    info = page.infos[k]
    gap = page.starts[i] - page.ends[k]
    if info.low == "," and gap == 1 and is_reversed(page, k, i, j):
        return k - 1
    if gap == 0 and info.low in HYPHENS:
        return k - 1 if is_joined_part(page, k, k - 1) else i
    if gap == 0 and info.low in APOSTROPHES:
        return k - 1 if page.is_letter(k - 1) and page.joined(k - 1) else i
    if gap < 2 and info.low == "." and page.is_letter(k - 1) and page.joined(k - 1):
        return k - 1 if has_no_first(page, i, j) and starts_name(page, k - 1) else i
    if gap != 1:
        return i
    if info.low in ("ó", "ní", "mac", "nic", "van", "von", "de", "dos", "del", "bin", "ibn"):
        return k if info.shape != "l" or info.low != "de" or page.capital(i) else i
    if info.shape == "I":
        plain = info.low not in "ia" or page.low(k - 1) in (":", ";", ",", "/", "(")
        return k if plain and has_no_first(page, i, j) and starts_name(page, k) else i
    return k if is_short(page, i, j) and could_lead(page, k, i) else i


def is_reversed(page: Page, comma: int, i: int, j: int) -> bool:
    """Return True for the surname before a comma and an accepted first name, at the start of a line, field or column."""
    k = comma - 1
    if k < 0 or not page.joined(k) or page.lines[k] != page.lines[i] or not is_short(page, i, j):
        return False
    info, name = page.infos[k], page.infos[i]
    if info.shape not in "CUMl" or name.first < 7 or len(info.low) < 2:
        return False
    led = page.low(k - 1) in (":", '"', "“", "-", ")", "|", "re")
    led = led or bool(page.marks(k - 1) & m.HEADER)
    opens = page.opens_line(k) or page.apart(k) or led
    if not opens or (info.shape == "l" and not page.lower):
        return False
    if info.marks & (NEVER | SELDOM) or info.common >= 12:
        return info.shape == "U" and (info.last >= 6 or not info.common)
    return True


def is_joined_part(page: Page, sign: int, part: int) -> bool:
    """Return True for the other half of a name with a hyphen."""
    if not 0 <= part < page.size or not page.joined(min(sign, part)):
        return False
    if not page.joined(min(sign, part) - (1 if part > sign else -1)):
        return False
    info = page.infos[part]
    if info.shape not in "CUMl" or info.marks & (m.HEAD | m.DRUG | m.PREPOSITION):
        return False
    if info.shape == "l" and not page.plain_case(part):
        # Hye-won, but not Smith-like.
        return part > sign and (not info.common or info.first >= 6)
    return not (info.marks & m.MEDICAL and not (info.first or info.last))


def is_broken(page: Page, sign: int) -> bool:
    """Return True for a hyphen with which the line breaks a word, whose rest begins the next."""
    rest = sign + 1
    if rest >= page.size or page.lines[rest] != page.lines[sign] + 1:
        return False
    if page.starts[sign] != page.ends[sign - 1] or page.infos[rest].shape != "l":
        return False
    whole = page.lexicon(page.words[sign - 1] + page.words[rest])
    return not page.infos[rest].marks & m.STOP and whole.common < 9 and not whole.medical


def is_short(page: Page, i: int, j: int) -> bool:
    """Return True for a name of one word, initials aside: its other half may be beside it."""
    words = sum(1 for k in range(i, j) if page.infos[k].shape in "lCUM" and len(page.low(k)) > 1)
    return words == 1 or (words == 2 and any(page.low(k) in HYPHENS for k in range(i, j)))


def has_no_first(page: Page, i: int, j: int) -> bool:
    """Return True when an initial may stand before the name: it does not begin with one."""
    return page.infos[i].shape in "CUMl" and len(page.low(i)) > 1 and j > i


def starts_name(page: Page, k: int) -> bool:
    """Return True when the initial at k does not end what stands before it: vitamin B. Moss came."""
    if k == 0 or page.lines[k - 1] != page.lines[k]:
        return True
    before = page.infos[k - 1]
    return before.shape == "p" or not (before.marks & (m.MEDICAL | m.HEAD) or before.shape == "d")


def ends_here(page: Page, j: int) -> bool:
    """Return True at the end of a line, of a column, or before a mark."""
    if page.ends_line(j) or page.apart(j):
        return True
    return page.infos[j].shape == "p" and page.low(j) not in APOSTROPHES and page.low(j) != "/"


def could_follow(page: Page, j: int) -> bool:
    """Return True for a word that can be the surname after a first name, be it an ordinary word."""
    info = page.infos[j]
    if info.shape not in "CUMl" or page.marks(j + 1) & m.HEAD or len(info.low) < 2:
        return False
    if info.marks & m.MONTH and page.infos[min(j + 1, page.size - 1)].shape == "d":
        return False
    if page.capital(j) and info.shape != "U":
        if page.pack.nouns_capital:
            return info.last >= 12 and not info.marks & (NEVER | SELDOM)
        if info.marks & (NEVER | SELDOM):
            return info.last >= 8 and (ends_here(page, j + 1) or page.marks(j + 1) & m.SUFFIX > 0)
        return not info.medical or info.last >= 10
    if not (page.plain_case(j) or page.infos[j - 1].shape == "U"):
        return False
    if info.shape == "l" and info.common >= 13 and info.index < -3:
        return False
    ends = ends_here(page, j + 1)
    if info.marks & NEVER:
        return info.last >= 10 and info.index >= -3 and ends
    if not info.common and not info.medical and not info.marks & SELDOM:
        return info.last >= 8 or ends
    return info.last >= 8 and (ends or page.marks(j + 1) & (m.STOP | m.SUFFIX) > 0)


def could_lead(page: Page, k: int, i: int) -> bool:
    """Return True for a word that can be the first name before a surname, be it an ordinary word."""
    info, name = page.infos[k], page.infos[i]
    if info.first < 6 or name.first > name.last + 2 or len(info.low) < 3:
        return False
    if info.marks & (m.STOP | m.TITLE | m.DRUG) and (info.first < 12 or info.low == "miss"):
        return False
    if info.marks & (m.ROLE | m.RELATION) and info.first < 13:
        return False
    if page.capital(k) and info.shape != "U":
        least = 3 if info.marks & NEVER else 0
        plain = not info.marks & (NEVER | SELDOM)
        return plain or info.index >= least or not page.starts_sentence(k)
    if not (page.plain_case(k) or name.shape == "U"):
        return False
    if info.shape == "l" and not page.lower:
        return False
    opens = info.index >= -3 or page.starts_sentence(k)
    return not info.marks & NEVER and info.first >= 8 and opens


BETWEEN = frozenset(" ,\n\r\t.;|")


def join_addresses(page: Page, spans: list[Span]) -> list[Span]:
    """Return the spans with neighbouring addresses joined, and towns after a street taken in."""
    spans = sorted(spans, key=PLACE)
    joined: list[Span] = []
    for k, span in enumerate(spans):
        if span.kind == "address":
            limit = spans[k + 1].start if k + 1 < len(spans) else len(page.text)
            span = replace(span, end=town_after(page, span, limit))
            span = replace(span, end=lines_after(page, span, limit))
            last = joined[-1] if joined else span
            between = page.text[last.end : span.start]
            # Only commas, spaces and one line's end lie between two parts of an address.
            near = len(between) <= 5 and between.count("\n") < 2 and BETWEEN.issuperset(between)
            if joined and last.kind == "address" and near:
                joined[-1] = replace(
                    last, end=max(last.end, span.end), certainty=max(last.certainty, span.certainty)
                )
                continue
        if joined and span.start < joined[-1].end:
            continue
        joined.append(span)
        if span.kind == "hospital":
            joined.extend(towns_of_house(page, span, limit_of(page, spans, k + 1)))
    return joined


def limit_of(page: Page, spans: list[Span], k: int) -> int:
    """Return where the next span begins that is neither a place nor a name, which the trained voter takes places for."""
    for span in spans[k : k + 3]:
        if span.kind not in ("name", "address"):
            return span.start
    return spans[k + 3].start if k + 3 < len(spans) else len(page.text)


def towns_of_house(page: Page, span: Span, limit: int) -> Iterator[Span]:
    """Yield the quarter and town after a house of care that stands on a line of its own: , Ermita, Manila."""
    i = bisect_left(page.starts, span.end)
    k = bisect_left(page.starts, span.start)
    begins = page.opens_line(k) or page.low(k - 1) in ("–", "—", "-", "|")
    if page.low(i) != "," or page.ends[i] > limit or not begins:
        return
    j = i
    while page.low(j) == "," and page.together(i, j + 1):
        end = capitals_end(page, j + 1)
        if end == j + 1:
            return
        j = end
    ends = page.low(j) == "(" or not page.together(i, j)
    if ends and page.ends[j - 1] <= limit:
        start, end = page.starts[i + 1], page.ends[j - 1]
        yield replace(span, start=start, end=end, kind="address", source="town")


def capitals_end(page: Page, j: int) -> int:
    """Return the end of at most three capitalised words from token j on that may be a place."""
    end = j
    while end < min(page.size, j + 3) and page.together(j, end):
        info = page.infos[end]
        barred = m.TITLE | m.HOSPITAL | m.WARD | m.SUFFIX | m.MEDICAL | m.ROLE | m.STATE
        if info.shape not in "CM" or info.marks & barred or info.medical or stops(page, end):
            break
        if info.first >= 8 and not info.marks & m.PLACE:
            break
        end += 1
    return end


def lines_after(page: Page, span: Span, limit: int) -> int:
    """Return the end of an address whose line ends in a comma, with the lines of capitalised words that go on."""
    end = span.end
    for _ in range(4):
        i = bisect_left(page.starts, end)
        if page.low(i) != "," or i + 1 >= page.size or page.lines[i + 1] != page.lines[i] + 1:
            return end
        j = i + 1
        stop = min(page.size, j + 8)
        while j < stop and page.lines[j] == page.lines[i + 1]:
            # A word, a comma or a number of a block of lines.
            info = page.infos[j]
            barred = info.medical or info.marks & (m.TITLE | m.MONTH | m.PHONE)
            if info.low not in (",", "-", ".") and (info.shape not in "dCMU" or barred):
                break
            j += 1
        if j == i + 1 or (j < page.size and page.lines[j] == page.lines[i + 1]):
            return end
        last = j - 2 if page.low(j - 1) == "," else j - 1
        if page.ends[last] > limit:
            return end
        end = page.ends[last]
    return end


def town_after(page: Page, span: Span, limit: int) -> int:
    """Return the end of an address with the town after its street: , Ashwick."""
    if span.source not in ("street", "flat", "post box", "crf", "known record"):
        return span.end
    i = bisect_left(page.starts, span.end)
    if page.low(i) != "," or not page.together(i, i + 1):
        return span.end
    j = i + 1
    if page.plain_case(j):
        # Capitals tell nothing: one word of no dictionary, then a mark.
        info, after = page.infos[j], page.near(j, j + 1)
        strange = info.shape in "lU" and not info.common and not info.medical
        ends = (after is None or after.shape == "p") and page.ends[j] <= limit
        return page.ends[j] if strange and ends else span.end
    while j < i + 4 and page.together(i, j) and page.infos[j].shape in "CM":
        if stops(page, j) or page.marks(j) & m.TITLE:
            break
        j += 1
    if j == i + 1 or page.ends[j - 1] > limit:
        return span.end
    after = page.infos[j] if page.together(i, j) else None
    if after is None or after.shape == "p" or after.marks & (m.STATE | m.PHONE):
        return page.ends[j - 1]
    return span.end
