"""Names of things: how far the name of a hospital, firm or club reaches before and after its telling word."""

from __future__ import annotations

from tacit.text.reading import marks as m
from tacit.text.reading.page import REACH, Page
from tacit.text.reading.words import cues

PROPER = cues("proper")
#: Marks of words that no name of a thing holds.
NOT_WITHIN = m.WEEKDAY | m.MONTH | m.TITLE | m.STOP | m.PHONE | m.BORN


def is_plain(page: Page, i: int) -> bool:
    """Return True for a word without a telling capital where capitals tell nothing."""
    return page.plain_case(i) and page.infos[i].shape not in "CM"


def back_proper(page: Page, j: int, most: int = 6) -> int:
    """Return the start of the capitalised words before token j (exclusive), with small words and possessives between."""
    i, taken = j, 0
    plain = j > 0 and is_plain(page, j - 1)
    line = page.lines[min(j, page.size - 1)]
    while i > 0 and j - i < REACH and taken < most and page.lines[i - 1] == line:
        if i < page.size and page.starts[i] - page.ends[i - 1] > 1:
            break
        k = i - 1
        info = page.infos[k]
        if info.shape == "p":
            hyphen = info.low == "-" and page.joined(k) and k and page.joined(k - 1)
            if info.low in "'’&" or hyphen or (info.low == "." and k and inner_dot(page, k)):
                i = k
                continue
            break
        hyphens = k > 1 and page.low(k + 1) == "-" and page.low(k - 1) == "-"
        if info.low in PROPER.joints and hyphens and page.joined(k):
            i = k - 1
            continue
        if info.low == "s" and k > 0 and page.low(k - 1) in "'’" and page.joined(k - 1):
            i = k - 1
            continue
        if info.shape == "d":
            break
        if page.capital(k) or info.shape == "I":
            if stops(page, k):
                break
            i = k
            taken += 1
            continue
        within = info.low in PROPER.inner and taken and k > 0 and not page.plain_case(k)
        if within and page.capital(k - 1) and not stops(page, k - 1):
            i = k
            continue
        if plain and len(info.low) == 1:
            break
        if plain and taken < 3 and not stops(page, k) and not info.marks & (m.STOP | m.PREPOSITION):
            i = k
            taken += 1
            continue
        break
    i = tidy(page, i, j)
    return i - 1 if 0 < i < j and is_prefixed(page, i) else i


def is_prefixed(page: Page, i: int) -> bool:
    """Return True when New, Old or Upper stands before a name within a sentence: attends New Canaan Church."""
    before = page.infos[i - 1]
    if before.shape != "C" or before.low not in PROPER.prefixes:
        return False
    sentence = page.starts_sentence(i - 1)
    return page.infos[i].shape in "CM" and page.gap(i - 1) == 1 and not sentence


def inner_dot(page: Page, k: int) -> bool:
    """Return True for the full stop of St. or of an initial."""
    short = page.marks(k - 1) & m.SAINT > 0 or page.infos[k - 1].shape == "I"
    return short and page.joined(k - 1)


def is_nested(page: Page, k: int) -> bool:
    """Return True for a small word with a capital after another capitalised word: Holy Well Lane."""
    info, before = page.infos[k], page.near(k, k - 1)
    if info.low not in PROPER.nested or info.shape != "C" or before is None:
        return False
    return before.shape == "C" and not before.marks & m.STOP


def stops(page: Page, k: int) -> bool:
    """Return True for a word before which the name of a thing begins."""
    info = page.infos[k]
    if info.marks & m.SAINT or is_nested(page, k):
        return False
    return bool(
        (info.marks & (m.TITLE | m.WEEKDAY | m.PHONE | m.BORN | m.SUFFIX) and info.index < 6)
        or info.marks & (m.STOP | m.PREPOSITION)
        or (info.marks & m.MONTH and info.index < 4)
        or (info.marks & m.HEADER and page.low(k + 1) == ":")
    )


def tidy(page: Page, i: int, j: int) -> int:
    """Return i moved past small words and marks at the start."""
    while i < j and (page.infos[i].shape == "p" or page.low(i) in PROPER.small or page.low(i) == "s"):
        i += 1
    return i


def is_specific(page: Page, i: int, j: int) -> bool:
    """Return True when some word of i to j tells which one it is."""
    for k in range(i, j):
        info = page.infos[k]
        if info.shape in "dp" or info.low in PROPER.generic or info.low in PROPER.small:
            continue
        named = not info.marks & m.MEDICAL or info.marks & (m.FIRST | m.LAST | m.PLACE)
        if info.low != "s" and named and (not info.medical or info.index >= 4):
            return True
    return False


def name_continues(page: Page, j: int, end: int) -> bool:
    """Return True for a sign or a small word at token end with which the name that began at token j goes on."""
    low = page.low(end)
    if low == ".":
        return inner_dot(page, end)
    if end + 1 >= page.size or not page.capital(end + 1):
        return False
    small = low in ("of", "the", "and", "for") and page.lines[end + 1] == page.lines[j]
    return low in ("&", "-") or (small and not page.marks(end + 1) & (m.STOP | m.TITLE))


def forward_proper(page: Page, j: int, most: int = 5) -> int:
    """Return the end of the capitalised words from token j on."""
    end, taken = j, 0
    while end < page.size and end - j < REACH and taken < most and page.lines[end] == page.lines[j]:
        info = page.infos[end]
        if page.capital(end) or info.shape == "I":
            nested = info.marks & m.SAINT or (end > j and is_nested(page, end))
            if info.marks & NOT_WITHIN and info.index < 5 and not nested:
                break
            end += 1
            taken += 1
        elif info.low in "'’" and page.joined(end - 1) and page.low(end + 1) == "s" and end > j:
            end += 2
        elif end > j and name_continues(page, j, end):
            end += 1
        elif info.low == "-" and end > j and page.joined(end - 1) and page.joined(end):
            if page.low(end + 1) not in PROPER.joints or page.low(end + 2) != "-":
                break
            end += 3
        else:
            break
    while end > j and (page.infos[end - 1].shape == "p" or page.low(end - 1) in PROPER.small):
        end -= 1
    return end
