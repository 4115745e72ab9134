"""Bodies by the last word of their names: hospitals and clinics, employers and firms, teams, schools and parishes."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import back_proper, forward_proper, is_specific
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

# -- St. John's Hospital, at Brigham's -------------------------------------------------------------


HOSPITAL = cues("hospital")
#: Weak words that name no hospital after another.
UNTAILED = frozenset(("laboratory", "pharmacy", "lab", "labs"))


def is_titled(page: Page, i: int) -> bool:
    """Return True for a word with a capital letter, or where capitals tell nothing."""
    return page.capital(i) or page.plain_case(i)


@detector("hospital", m.HOSPITAL)
def find_hospitals(page: Page, i: int) -> Iterator[Candidate]:
    """Words of a name before Hospital, Clinic, Infirmary, Medical Center."""
    info = page.infos[i]
    if not page.capital(i) and not page.plain_case(i):
        return
    tails = page.low(i + 1) in HOSPITAL.tails or page.low(i + 1) in HOSPITAL.weak - UNTAILED
    if tails and page.together(i, i + 1) and is_titled(page, i + 1):
        return
    end = i + 1
    while page.low(end) in HOSPITAL.tails and page.together(i, end) and is_titled(page, end):
        end += 1
    if page.low(end) in HOSPITAL.measures and page.together(i, end):
        return
    start = back_proper(page, i)
    name = page.near(i, i + 1)
    compound = page.pack.hospital_ends and name is not None and name.shape in "CM"
    if compound and not is_specific(page, start, i):
        after = forward_proper(page, i + 1, 3)
        if after > i + 1 and is_specific(page, i + 1, after):
            yield cut(page, i, after, "hospital", 0.85, "hospital")
            return
    evidence = 0.9
    leads = page.low(end) in ("of", "for", "at") and info.low not in ("surgery", "medical")
    if leads and end + 1 < page.size and page.capital(end + 1) and not page.plain_case(end + 1):
        after = forward_proper(page, end + 1)
        if after > end + 1 and is_specific(page, end + 1, after):
            yield cut(page, start, after, "hospital", 0.85, "hospital")
            return
    whole = len(info.low) > 9 and info.low not in HOSPITAL.weak and start < i
    whole = whole and info.low.endswith(page.pack.hospital_ends or ("\0",))
    if not is_specific(page, start, i) and not whole:
        return
    if info.low in HOSPITAL.weak and end == i + 1 and info.low not in HOSPITAL.alone:
        return
    if page.plain_case(i):
        # step practice
        plain = all(page.infos[k].common >= 11 for k in range(start, i))
        evidence = 0.6 if plain and info.low in HOSPITAL.weak else 0.88
    if info.low in HOSPITAL.weak:
        evidence -= 0.05
    yield cut(page, start, end, "hospital", evidence, "hospital")


@detector("hospital by its possessive", m.BRACKET)
def find_possessive_hospitals(page: Page, i: int) -> Iterator[Candidate]:
    """Find at Brigham's, without a noun after it."""
    if page.low(i + 1) != "s" or page.infos[i].low not in "'’" or not page.joined(i) or i < 2:
        return
    k = i - 1
    if page.infos[k].shape not in "CM" or not page.joined(k):
        return
    before = k - 2 if page.low(k - 1) == "." and page.marks(k - 2) & m.SAINT else k - 1
    start = k
    if before >= 0 and page.marks(before) & m.SAINT:
        start = before
        before -= 1
    if page.low(before) not in ("at", "im") or not page.together(before, i):
        return
    after = page.word_at(i + 2)
    ends = after is None or not page.together(i, i + 2) or after.shape == "p"
    if ends or (after is not None and after.marks & (m.STOP | m.PREPOSITION)):
        yield cut(page, start, i + 2, "hospital", 0.85, "hospital by its possessive")


# -- Marina Corp, works at Marlow Glassworks -------------------------------------------------------


EMPLOYER = cues("employer")


@detector("company", m.COMPANY)
def find_companies(page: Page, i: int) -> Iterator[Candidate]:
    """Words of a name before Corp, Inc, Ltd, & Sons, Works."""
    info = page.infos[i]
    strong = info.low in EMPLOYER.strong
    longer = page.marks(i + 1) & m.COMPANY and page.together(i, i + 1)
    if longer and (page.capital(i + 1) or page.plain_case(i)):
        return
    if not page.capital(i) and not (strong or page.plain_case(i)):
        return
    if info.low == "limited" and not page.capital(i):
        return
    if info.low == "co" and page.low(i + 1) in ("-", "/"):
        # The Co-op, with the words of its name.
        named = info.shape == "C" and page.joined(i) and page.low(i + 2) in ("op", "operative")
        start = back_proper(page, i, 3)
        if named and (start < i or page.low(i - 1) in ("the", "at", "from")):
            yield cut(page, start, i + 3, "employer", 0.82, "company")
        return
    if info.low in ("co", "inc") and is_abbreviation(page, i):
        return
    j = i
    while j > 0 and page.low(j - 1) in (",", "&") and page.together(j - 1, i):
        j -= 1
    start = back_proper(page, j, 4)
    if start >= j and not info.low.endswith(page.pack.company_ends or ("\0",)):
        return
    led = page.low(start - 1) in ("at", "for", "with", "bei")
    near = led or page.marked(start - 6, start, m.WORKS)
    if not is_specific(page, start, j) or (page.plain_case(i) and not strong and not near):
        return
    evidence = 0.9 if strong else 0.85 if near else 0.72
    yield cut(page, start, i + 1, "employer", evidence, "company")


def is_abbreviation(page: Page, i: int) -> bool:
    """Return True for Fick CO 4.4, UTD inc MMR, ticket inc0048817: cardiac output, including, incident."""
    if page.joined(i) and page.infos[i + 1].shape == "d":
        return True
    if page.infos[i].shape == "U":
        return page.lines[i] not in page.caps_lines and page.marks(i + 1) & m.DIGIT != 0
    small = page.infos[i].shape == "l" and not page.lower
    return small and page.low(i + 1) != "." and page.low(i - 1) != ","


@detector("employer", m.WORKS)
def find_employers(page: Page, i: int) -> Iterator[Candidate]:
    """Works at, employed by, job with: the capitalised words after it."""
    j = i + 1
    while page.low(j) not in ("at", "for", "by", "with", "from", "bei", ":"):
        small = page.marks(j) & m.STOP and page.low(j) not in ("as", "a", "an", "the", "is")
        if not page.together(i, j) or j > i + 8 or page.infos[j].shape == "p" or small:
            return
        j += 1
    near = page.together(i, j) and j <= i + 8
    j += 2 if page.low(j + 1) in ("the", "a", "der", "dem") else 1
    if not near or not page.together(i, j):
        return
    if page.capital(j) and not page.plain_case(j):
        if page.marks(j) & m.TITLE:
            return
        end = forward_proper(page, j)
        if end > j and is_specific(page, j, end):
            yield cut(page, j, end, "employer", 0.82, "employer")
    elif page.plain_case(j):
        end = j
        while end < j + 4 and page.together(j, end) and page.infos[end].shape in "lU":
            if page.marks(end) & (m.STOP | m.PREPOSITION):
                break
            end += 1
        strange = any(not page.infos[k].common for k in range(j, end))
        known = strange or page.marked(j, end, m.COMPANY | m.HOSPITAL | m.CLUB)
        if end > j and known and is_specific(page, j, end):
            yield cut(page, j, end, "employer", 0.8 if end - j > 1 else 0.6, "employer")


# -- the U. S. Junior Gymnastics team, Northcliff Harbor Band --------------------------------------


ORGANISATION = cues("organisation")


@detector("organisation", m.CLUB)
def find_organisations(page: Page, i: int) -> Iterator[Candidate]:
    """Words of a name before team, school, parish, band, club."""
    info = page.infos[i]
    longer = page.marks(i + 1) & m.CLUB and page.together(i, i + 1)
    if longer and (page.capital(i + 1) or not page.capital(i)):
        return
    placed = info.low in ORGANISATION.of and page.low(i + 1) == "of" and page.capital(i)
    if placed and i + 2 < page.size and page.capital(i + 2):
        end = forward_proper(page, i + 2)
        if end > i + 2 and is_specific(page, i + 2, end):
            yield cut(page, back_proper(page, i, 3), end, "organisation", 0.85, "organisation")
            return
    if page.low(i - 1) == "-" and page.joined(i - 1):
        return
    if info.low in ORGANISATION.levels and page.together(i, i + 1):
        # It describes the word after it, unless that is a small one.
        noun = page.infos[i + 1]
        small = noun.shape == "l" and noun.marks & (m.STOP | m.PREPOSITION | m.ACTS)
        if noun.shape in "lCUM" and not small:
            return
    start = back_proper(page, i, 5)
    degree = page.marks(i + 2) & m.SUFFIX and page.infos[min(i + 2, page.size - 1)].shape == "U"
    dotted = page.low(i + 3) == "." and page.low(i + 2) in ("m", "r", "ph")
    if page.low(i + 1) == "," and (degree or dotted):
        return
    if all(page.infos[k].shape in "pI" for k in range(start, i)):
        return
    if start >= i or not is_specific(page, start, i):
        return
    if page.plain_case(i):
        if info.low in ("school", "church", "parish", "academy", "college", "university"):
            yield cut(page, start, i + 1, "organisation", 0.7, "organisation")
        return
    words = sum(1 for k in range(start, i) if page.infos[k].shape in "CMU")
    evidence = 0.85 if page.capital(i) or words >= 2 else 0.75
    owned = page.low(i - 1) in ("'", "’", "s") and page.capital(i)
    if page.starts_sentence(start) and words == 1 and page.infos[start].common and not owned:
        evidence = 0.4
    yield cut(page, start, with_age_group(page, i + 1), "organisation", evidence, "organisation")


def with_age_group(page: Page, end: int) -> int:
    """Return the end of a team with the age of its players: Rovers U12."""
    if page.low(end) == "u" and page.together(end - 1, end) and page.infos[end].shape == "I":
        end += 1
    if page.low(end - 1) == "u" and page.joined(end - 1) and page.marks(end) & m.FEW:
        return end + 1
    return end


@detector("university", m.mark("uni"), languages=("en",))
def find_universities(page: Page, i: int) -> Iterator[Candidate]:
    """Find the short name of a university: Uni of Ashmere."""
    j = page.skip_dot(i + 1)
    if page.low(j) == "of" and page.together(i, j + 1) and page.infos[j + 1].shape in "CM":
        yield cut(page, i, forward_proper(page, j + 1, 3), "organisation", 0.88, "organisation")


@detector("board", m.mark("board"), languages=("en",))
def find_boards(page: Page, i: int) -> Iterator[Candidate]:
    """Find a board, bureau or commission with a name: Ashmere Board of Parole."""
    other = page.near(i, i + 2)
    if page.low(i + 1) != "of" or other is None or other.shape not in "CMU":
        return
    info = page.infos[i + 2]
    if info.medical or info.marks & (m.MEDICAL | m.STOP) or info.low in ("health", "nursing"):
        return
    start, end = back_proper(page, i, 3), forward_proper(page, i + 2, 3)
    if page.lines[i] in page.caps_lines:
        # The state that has it stands before it: STATE OF ORAN BOARD OF PAROLE.
        end = i + 3
        while page.together(start - 1, i) and page.infos[start - 1].shape == "U":
            start -= 1
    if end > i + 2:
        yield cut(page, start, end, "organisation", 0.84, "organisation")
