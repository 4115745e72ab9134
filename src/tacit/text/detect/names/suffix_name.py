"""Names before letters of degree: Marjorie Long, M.D."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import take_back
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page

#: Degrees written with full stops come as single letters: M.D., Ph.D., R.N.
LETTERS = {
    "m": {"d", "b"},
    "ph": {"d"},
    "r": {"n"},
    "d": {"o", "p", "c"},
    "f": {"r"},
    "b": {"s", "m"},
    "o": {"d"},
}


@detector("suffix name", m.SUFFIX | m.SHORT)
def find_suffix_names(page: Page, i: int) -> Iterator[Candidate]:
    """One to four words of a name, an optional comma, and a degree."""
    before = i - 1
    if before < 0 or not page.together(before, i):
        return
    comma = page.low(before) == ","
    if page.infos[i].shape == "l" and page.marks(i + 1) & (m.MEETS | m.ACTS):
        return  # foley in, md paged
    if not is_degree(page, i, comma) or (not comma and page.low(i) in ("ii", "iii")):
        return
    j = before if comma else i
    initialled = j > 2 and page.low(j - 2) == "." and page.infos[j - 3].shape == "I"
    initialled = initialled and not page.infos[j - 1].marks & m.SUFFIX
    k = take_back(page, j, cued=comma, strong=comma or initialled)
    if page.infos[i].shape == "l" and not comma and k < j and page.infos[j - 1].index < 5:
        return
    if k < j:
        yield cut(page, k, j, "name", 0.93 if comma else 0.85, "suffix name", person=True)


def is_degree(page: Page, i: int, comma: bool) -> bool:
    """Return True when letters of a degree begin at token i."""
    info = page.infos[i]
    if info.marks & m.SUFFIX:
        return (
            info.shape in "UMC"
            or (
                comma
                and page.lower
                and len(info.low) > 1
                and info.low not in ("do", "ms", "ma", "pa", "pt")
            )
            or (info.low in ("rn", "md", "lpn", "arnp", "crna") and page.lower)
        )
    following = LETTERS.get(info.low)
    return bool(
        following
        and len(info.low) <= 2
        and page.low(i + 1) == "."
        and page.low(i + 2) in following
        and page.joined(i)
    )
