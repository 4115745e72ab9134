"""Names in signatures: a line of names after Sincerely, a line of a name alone at the end."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page


@detector("signature", m.CLOSING)
def find_signatures(page: Page, i: int) -> Iterator[Candidate]:
    """Find a closing word at the start of a line; the next lines that hold only a name."""
    line = page.lines[i]
    start = i
    while start > 0 and page.lines[start - 1] == line and i - start < 4:
        start -= 1
    if start > 0 and page.lines[start - 1] == line:
        return
    j = i + 1
    while j < page.size and page.lines[j] == line:
        if page.low(j) in (",", "-", "–") and j + 1 < page.size and page.lines[j + 1] == line:
            end = take_name(page, j + 1, cued=True, most=3)
            if end > j + 1 and (
                end >= page.size or page.lines[end] != line or page.low(end) in ",("
            ):
                yield cut(page, j + 1, end, "name", 0.85, "signature", person=True)
        j += 1
        if j - i > 8:
            return
    for _ in range(3):
        if j >= page.size or page.lines[j] > line + 7:
            return
        here = page.lines[j]
        begun = j
        while page.marks(j) & m.TITLE and page.together(begun, j):
            j = page.skip_dot(j + 1)
        end = take_name(page, j, cued=True) if j < page.size and page.lines[j] == here else j
        if end > j and (end >= page.size or page.lines[end] != here or page.low(end) in ",(/;-"):
            yield cut(page, j, end, "name", 0.9, "signature", person=True)
            return
        j = begun
        while j < page.size and page.lines[j] == here:
            j += 1
            if j - begun > 12:
                return
