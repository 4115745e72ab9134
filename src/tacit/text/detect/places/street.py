"""Streets, flats and post boxes: 310 Harbor View Ave., Flat 2, P.O. Box 77."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import forward_proper, is_plain
from tacit.text.reading import marks as m
from tacit.text.reading.page import REACH, Page
from tacit.text.reading.words import cues

CUES = cues("street")
PROPER = cues("proper")


WAY, PLOT = m.mark("way"), m.mark("plot")


@detector("street", m.STREET | WAY)
def find_streets(page: Page, i: int) -> Iterator[Candidate]:
    """Find a number, one to four words, and a street word; without a number two capitals must tell."""
    info = page.infos[i]
    weak = info.low in CUES.weak
    plain = page.plain_case(i)
    if info.low in ("dr", "st") and leads_name(page, i):
        return
    k, words = i, 0
    while k > 0 and i - k < REACH and words < 4 and page.lines[k - 1] == page.lines[i]:
        before = page.infos[k - 1]
        if before.shape == "d":
            break
        abbreviated = page.infos[k - 2].shape in "IC" and len(page.low(k - 2)) <= 3
        sign = before.low in "'’.-" and before.shape == "p" and (before.low != "." or abbreviated)
        if sign or (before.low == "s" and page.low(k - 2) in "'’"):
            k -= 1
            continue
        if before.low in ("st", "nd", "rd", "th") and k > 1 and page.joined(k - 2):
            # 1200 W. 5th St.
            direct = k == i - 1 and page.low(i) == "st" and not page.capital(i)
            if page.infos[k - 2].shape != "d" or direct:
                break
            k -= 2
            words += 1
            continue
        if before.shape == "p":
            break
        small = before.low in PROPER.small and words and page.capital(k)
        worded = page.capital(k - 1) or before.shape == "I" or small
        if not worded and not (plain and not before.marks & m.STOP):
            break
        dated = before.marks & (m.WEEKDAY | m.MONTH) and before.index < 4 and words
        if dated or (before.marks & m.TITLE and before.index < 5):
            break
        k -= 1
        words += 1
    inside = info.low.endswith(page.pack.street_ends or ("\0",))
    end = street_end(page, i)
    if inside and page.low(end) == "." and end + 1 < page.size and page.infos[end + 1].shape == "d":
        end += 1
    if info.low in CUES.roads and page.together(i, end) and page.marks(end) & m.FEW:
        # County Road 14, off Route 9.
        led = page.low(k - 1) in CUES.on and page.capital(i)
        county = words == 1 and page.low(i - 1) in ("county", "state", "farm", "forest", "rural")
        if led or county:
            yield cut(page, tidy(page, k, i), end + 1, "address", 0.82, "street")
            return
    if not words and not inside:
        return
    start, numbered = house_number(page, k)
    if page.pack.street_ends and page.together(i, end) and page.marks(end) & m.FEW:
        # The number comes after the street.
        end += 1
        if end < page.size and page.joined(end - 1) and page.is_letter(end):
            end += 1
        yield cut(page, k, end, "address", 0.92, "street")
    elif numbered and (page.capital(i) or plain or not weak):
        medical = i > 0 and page.infos[i - 1].medical and not page.capital(i - 1)
        sure = 0.92 if info.shape in "CM" or not (plain and weak) else plain_weak(page, start, i)
        yield cut(page, start, end, "address", 0.5 if medical else sure, "street")
    elif plain and words and not weak and page.low(i - 1) not in CUES.any_street:
        led = page.low(k - 1) in CUES.on
        lone = page.infos[i - 1].common < 12
        if words <= 2 and (led or lone) and not page.infos[i - 1].marks & m.STOP:
            yield cut(page, tidy(page, k, i), end, "address", 0.8 if led else 0.5, "street")
    elif plain and words == 1 and page.low(k - 1) in CUES.on and not page.infos[i - 1].medical:
        common = page.infos[i - 1].common
        ends = not page.together(i, i + 1) or page.infos[i + 1].shape == "p"
        if info.low == "st" and page.low(k - 1) in ("on", "off") and ends:
            # on king st
            yield cut(page, k, end, "address", 0.82, "street")
        elif common < 11 and info.low not in CUES.weak_plain:
            yield cut(page, tidy(page, k, i), end, "address", 0.65 if common else 0.8, "street")
    elif page.capital(i) and not plain and not weak and words:
        yield cut(page, tidy(page, k, i), end, "address", 0.8, "street")
    elif page.capital(i) and not plain and words and info.low in CUES.sure:
        lives = page.low(k - 1) in ("on", "at", "to", "off", "near", "in")
        yield cut(page, tidy(page, k, i), end, "address", 0.8 if lives else 0.45, "street")


def plain_weak(page: Page, start: int, i: int) -> float:
    """Return how certainly a number and words before hill, park or terrace are a street where capitals tell nothing."""
    before = page.low(start - 1)
    led = before in ("at", "of", "address", ":", ",")
    led = led or (before != "to" and bool(page.marks(start - 1) & m.LIVES))
    if page.opens_line(start) or led:
        return 0.85
    return 0.8 if page.infos[i - 1].common < 11 else 0.75


def leads_name(page: Page, i: int) -> bool:
    """Return True when Dr or St is a title or a saint before a name, not the end of a street."""
    j = page.skip_dot(i + 1)
    if not page.together(i, j):
        return False
    info = page.infos[j]
    if info.marks & m.PARTICLE and page.low(i) == "dr":
        return True
    if info.marks & m.UNIT or page.low(i - 1) in ("st", "nd", "rd", "th"):
        return False
    return info.shape in "CMI" or (page.plain_case(i) and info.index >= 6 and info.shape != "p")


def tidy(page: Page, k: int, i: int) -> int:
    """Return the first word of a street without marks and small words."""
    while k < i and (page.infos[k].shape == "p" or page.low(k) in PROPER.small):
        k += 1
    return k


def house_number(page: Page, k: int) -> tuple[int, bool]:
    """Return where a street's number before token k starts, and whether there is one."""
    j = k - 1
    if j < 0 or not page.together(j, k):
        return k, False
    if page.infos[j].shape == "d" and page.ends[j] - page.starts[j] <= 6:
        while j >= 2 and k - j < REACH and page.low(j - 1) in "-/" and page.joined(j - 1):
            if page.infos[j - 2].shape != "d" or not page.joined(j - 2):
                break
            j -= 2
        if j >= 1 and page.low(j - 1) in "./" and page.joined(j - 1):
            return k, False
        return j, True
    if j and page.is_letter(j) and page.infos[j - 1].shape == "d" and page.joined(j - 1):
        return j - 1, True
    if page.marks(j) & m.NUMBER_WORD and (page.capital(j) or page.capital(k)):
        if page.low(j - 1) == "-" and page.marks(j - 2) & m.NUMBER_WORD and page.together(j - 2, k):
            # forty-one Bellflower Lane
            return j - 2, True
        if page.capital(j):
            return j, True
    return k, False


def street_end(page: Page, i: int) -> int:
    """Return the end of a street after its word: a full stop, a compass point, a flat."""
    end = i + 1
    short = page.low(end) == "." and len(page.low(i)) <= 4 and page.joined(i)
    if short and end + 1 < page.size:
        # A flat or a town goes on with the address.
        beside = page.low(end + 1) in (",", "#") or page.marks(end + 1) & m.UNIT
        if beside or (page.together(i, end + 1) and page.infos[end + 1].shape in "CUI"):
            end += 1
    if page.low(end) in CUES.compass and page.together(i, end) and page.capital(end):
        end += 1
    if page.low(end) == "#" and page.together(i, end + 1) and page.marks(end + 1) & m.FEW:
        end += 2
    return end


@detector("street by its first word", m.mark("leading way"), languages=("en",))
def find_leading_ways(page: Page, i: int) -> Iterator[Candidate]:
    """Find a street whose word comes first: 1903 Camino Alto, 12 Rue des Ormes."""
    start, numbered = house_number(page, i)
    if not numbered or page.infos[i].shape not in "CU":
        return
    end = i + 1
    while end < min(page.size, i + 5) and page.together(i, end):
        small = page.low(end) in ("de", "des", "du", "la", "las", "los", "del")
        if not small and not page.capital(end):
            break
        end += 1
    if end > i + 1 and page.capital(end - 1):
        yield cut(page, start, end, "address", 0.9, "street")


#: Roads by their number, and what shows that a road is meant.
ROAD = re.compile(
    r"(?:[AMBNR]\d{1,4}(?:\(M\))?|I-\d{1,3}|(?:US|SR|CR|FM)[- ]?\d{1,4})(?![\w.])"
    r"(?: ?(?:[NSEW]B|[a-z]{4,5}bound))?"
)
BESIDE = re.compile(
    r" ?(?:@|near|at|by|outside|junction|jct|J\d{1,2}\b|exit|bypass|mile|between)", re.IGNORECASE
)


@detector("numbered road", m.SHORT, languages=("en",))
def find_roads(page: Page, i: int) -> Iterator[Candidate]:
    """Find a place on a road: A38 near Ashling, I-10 WB @ Exit 114."""
    if not page.marks(i + 1) & (m.FEW | m.SLASH) or (i and page.joined(i - 1)):
        return
    found = ROAD.match(page.text, page.starts[i])
    beside = BESIDE.match(page.text, found.end()) if found else None
    if not found or not beside:
        return
    j = bisect_left(page.starts, beside.end())
    if page.low(j) == "exit" or page.marks(j) & m.FEW:
        end = j + 1 if page.marks(j) & m.FEW else j + 2
    elif page.together(i, j) and page.infos[j].shape in "CM":
        end = forward_proper(page, j, 3)
    else:
        return
    if end > j and page.together(i, end - 1):
        yield cut(page, i, end, "address", 0.86, "street")


@detector("flat", m.UNIT | PLOT)
def find_flats(page: Page, i: int) -> Iterator[Candidate]:
    """Flat 2, Apt 4B, Suite 300."""
    info = page.infos[i]
    j = i + 2 if page.low(i + 1) in (".", "#", "no") else i + 1
    if page.low(j) in ("#", "."):
        j += 1
    if not page.together(i, j):
        return
    other = page.infos[j]
    end = j + 1
    if other.shape == "d" and page.ends[j] - page.starts[j] <= 5:
        if end < page.size and page.joined(j) and page.is_letter(end):
            end += 1
        elif page.low(end) == "/" and page.joined(j) and page.joined(end):
            end += 2 if page.marks(end + 1) & m.FEW else 0
    elif not (other.shape == "I" and (page.low(end) == "," or page.low(end) == "-")):
        return
    elif page.low(end) == "-" and page.joined(j) and page.infos[end + 1].shape == "d":
        end += 2
    near = (*range(i - 4, i), *range(end, end + 7))
    beside = any(page.marks(k) & m.STREET and page.infos[k].shape != "l" for k in near)
    if info.low in ("flat", "apt", "apartment", "suite", "ste"):
        capital = info.shape in "CU" or page.plain_case(i)
        sure = 0.85 if beside else 0.8 if capital and info.low != "flat" else 0.4
        yield cut(page, i, end, "address", sure, "flat")
    elif beside and info.low in ("unit", "bldg", "building", "floor", "block", "lot", "room"):
        yield cut(page, i, end, "address", 0.82, "flat")
        return
    if page.low(end) == "," and info.low in CUES.plots and (page.capital(i) or page.plain_case(i)):
        yield from plot(page, i, end)


def plot(page: Page, i: int, end: int) -> Iterator[Candidate]:
    """Yield Lot 9, Pumphouse Track: a numbered plot and the capitalised words after a comma."""
    j = end + 1
    if not page.together(i, j) or page.infos[j].shape not in "CMU":
        return
    info = page.infos[j]
    barred = m.UNIT | m.STOP | m.TITLE | m.MONTH | m.DRUG | m.WARD
    if info.marks & barred or (info.medical and not info.marks & (m.LAST | m.PLACE)):
        return
    stop = forward_proper(page, j, 3)
    if is_plain(page, j):
        stop = j + 1
        while stop < j + 3 and page.together(j, stop) and page.infos[stop].shape in "lU":
            stop += 1
    if stop <= j:
        return
    street = any(page.marks(k) & (m.STREET | WAY | m.mark("terrain")) for k in range(j, stop))
    strange = any(not page.infos[k].common for k in range(j, stop))
    if page.low(stop) == "," and page.low(stop + 1) in ("via", "near", "off"):
        stop = max(stop, forward_proper(page, stop + 2, 3)) if page.together(j, stop + 2) else stop
    yield cut(page, i, stop, "address", 0.86 if street else 0.82 if strange else 0.6, "flat")


@detector("post box", m.BOX)
def find_boxes(page: Page, i: int) -> Iterator[Candidate]:
    """P.O. Box 77, PO Box 1290, Postfach 12 34."""
    j = page.skip_dot(i + 2 if page.low(i + 1) in (":", "#", "no") else i + 1)
    if not page.together(i, j) or page.infos[j].shape != "d":
        return
    start = i
    while start > max(0, i - 4) and page.low(start - 1) in ("p", "o", "po", ".", "post", "office"):
        start -= 1
    while start < i and page.low(start) == ".":
        start += 1
    if start == i and page.low(i) == "box":
        # RR 2 Box 118
        route = page.low(i - 2) in ("rr", "hc", "route", "rt", "rte")
        if i < 2 or page.infos[i - 1].shape != "d" or not route:
            return
        start = i - 2
    end = j + 1
    while page.low(i) == "postfach" and end < page.size and end - j < 4:
        if page.infos[end].shape != "d" or page.gap(end - 1) != 1:
            break
        end += 1
    yield cut(page, start, end, "address", 0.95, "post box")
