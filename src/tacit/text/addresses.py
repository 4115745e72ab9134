"""Address blocks: parts of an address that stand together become one span, with the town that follows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from tacit.data.corpus import Span
from tacit.text.board import PLACE
from tacit.text.proper import stops
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

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
            last = joined[-1] if joined else None
            beside = last is not None and is_between(page.text, last.end, span.start)
            if last is not None and last.kind == "address" and beside:
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
        while j < stop and page.lines[j] == page.lines[i + 1] and is_block_word(page, j):
            j += 1
        if j == i + 1 or (j < page.size and page.lines[j] == page.lines[i + 1]):
            return end
        last = j - 2 if page.low(j - 1) == "," else j - 1
        if page.ends[last] > limit:
            return end
        end = page.ends[last]
    return end


def is_block_word(page: Page, j: int) -> bool:
    """Return True for a word, a comma or a number of a block of lines."""
    info = page.infos[j]
    if info.shape == "d" or info.low in (",", "-", "."):
        return True
    return (
        info.shape in "CMU" and not info.medical and not info.marks & (m.TITLE | m.MONTH | m.PHONE)
    )


def is_between(text: str, start: int, end: int) -> bool:
    """Return True when only commas, spaces and one line's end lie between two places."""
    near = end - start <= 5 and text.count("\n", start, end) < 2
    return near and all(c in BETWEEN for c in text[start:end])


def town_after(page: Page, span: Span, limit: int) -> int:
    """Return the end of an address with the town after its street: , Ashwick."""
    if span.source not in ("street", "flat", "post box", "crf", "known record"):
        return span.end
    i = bisect_left(page.starts, span.end)
    if page.low(i) != "," or not page.together(i, i + 1):
        return span.end
    j = i + 1
    if page.plain_case(j):
        return plain_town(page, j, span.end, limit)
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


def plain_town(page: Page, j: int, end: int, limit: int) -> int:
    """Return the end of an address with a town where capitals tell nothing: one word of no dictionary, then a mark."""
    info = page.infos[j]
    after = page.word_at(j + 1)
    ends = after is None or not page.together(j, j + 1) or after.shape == "p"
    if info.shape in "lU" and not info.common and not info.medical and ends:
        return page.ends[j] if page.ends[j] <= limit else end
    return end
