"""Names beside those of others: relatives, families, pets, nicknames, and what people do: her mother Philippa, per Dot."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, could_be_name, skip_marked, take_back, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CALLED = cues("nickname")
KIN = cues("relation")
FAMILY = cues("family")
COMPANY = cues("company_of_people")

CLOSE = {"(": ")", '"': '"', "“": "”", "'": "'", "‘": "’"}
LINKS = {"known": "as", "goes": "by", "likes": "to", "went": "by", "answers": "to"}
#: Marks of words that name no relative, pet or doer, and nobody who was met.
UNNAMED = BARRED | m.MEDICAL | m.DRUG | m.HEAD | m.STATE | m.CLUB | m.HOSPITAL
NO_DOER = BARRED | m.MEDICAL | m.DRUG | m.STATE | m.HOSPITAL | m.CLUB | m.COMPANY
NOT_MET = m.HEAD | m.DOSE | m.HOSPITAL | m.COMPANY | m.CLUB | m.STREET
#: Marks that a word of no list may carry.
LOOKS = m.CAPITAL | m.UPPER | m.STRANGE | m.LAST | m.FIRST


# -- nicknames: "Dot", called Dot, (Dot) -------------------------------------------------------------


@detector("nickname", m.CALLED)
def find_called(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word after called, named, prefers, aka."""
    j = i + 1
    while page.low(j) in CALLED.leads_no_name and j <= i + 5:
        j += 1
    info = page.near(i, j)
    if info is None or j > i + 5:
        return
    quoted = page.low(j - 1) in ('"', "“", "'", "‘")
    closed = quote_end(page, j) if quoted else j
    if closed > j:
        yield cut(page, j, closed, "nickname", 0.85, "nickname", person=True)
        return
    # Any word by which somebody wants to be called, in a text without capitals: known as wheels.
    asked = page.low(i - 1) in LINKS or (page.low(j - 1) == "called" and page.low(j - 2) == "be")
    plain = page.plain_case(j) and info.shape in "lU" and len(info.low) > 2 and not info.medical
    if asked and plain and not info.marks & (BARRED | m.MEDICAL | m.NUMBER_WORD):
        yield cut(page, j, j + 1, "nickname", 0.6, "nickname", person=True)
    telling = page.capital(j) or quoted or (page.plain_case(j) and info.index >= 6)
    if not telling or info.medical or info.marks & m.TITLE:
        return
    end = take_name(page, j, cued=page.capital(j) or info.index > 3, most=3)
    if end > j and not page.marks(end) & m.HEAD:
        plainly = page.low(i) in ("nicknamed", "aka", "prefers", "née", "nee")
        sure = 0.85 if info.index >= 3 or quoted or plainly else 0.6
        yield cut(page, j, end, "nickname", sure, "nickname", person=True)


def quote_end(page: Page, j: int) -> int:
    """Return the end of one to three words that a quotation mark closes, or j."""
    closing = CLOSE.get(page.low(j - 1))
    for end in range(j + 1, min(j + 4, page.size)):
        if not page.together(j, end) or page.infos[end - 1].shape in "dp":
            return j
        if page.low(end) == closing:
            return end
    return j


@detector("known as", m.KNOWN_AS)
def find_known_as(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word after known as, goes by."""
    link = LINKS.get(page.low(i))
    if link and page.low(i + 1) == link:
        yield from find_called(page, i + 1)


@detector("bracketed nickname", m.BRACKET)
def find_bracketed_nicknames(page: Page, i: int) -> Iterator[Candidate]:
    """One capitalised word in brackets or quotes, after or within a name."""
    closing, j = CLOSE.get(page.low(i)), i + 1
    if i == 0 or closing is None or page.low(i + 2) != closing:
        return
    info, before = page.infos[j], page.infos[i - 1]
    if not (page.joined(i) and page.joined(j)) or info.medical or info.marks & BARRED:
        return
    if info.shape == "U" and not page.plain_case(j):
        return
    after_name = before.shape in "CM" and could_be_name(page, i - 1, False) and before.index >= 2
    if page.capital(j) and after_name:
        listed = info.first >= 8 or before.first >= 9
        yield cut(page, j, j + 1, "nickname", 0.85 if listed else 0.5, "nickname", person=True)
    elif page.plain_case(j) and info.index >= 5 and before.index >= 5:
        yield cut(page, j, j + 1, "nickname", 0.8, "nickname", person=True)


# -- relations and roles: her mother Philippa, hubby ray, midwife Yolanda Crisp -----------------------


@detector("relation", m.RELATION | m.ROLE)
def find_relations(page: Page, i: int) -> Iterator[Candidate]:
    """Find a relation word, an optional mark, an optional title, and words of a name; lists of names too."""
    yield from owner(page, i)
    j, filler = i + 1, page.low(i + 1)
    if filler == "-" and page.joined(i):
        return
    relation = bool(page.marks(i) & m.RELATION)
    if (filler in KIN.skipped and relation) or filler in (",", "("):
        j += 1
    elif relation and filler in ("is", "was", "in") and page.marks(j + 1) & m.CALLED:
        j += 2
    if not page.together(i, j):
        return
    if relation and page.low(j) in CLOSE and page.low(j) != "(":
        end = quote_end(page, j + 1)
        if end > j + 1:
            yield cut(page, j + 1, end, "nickname", 0.82, "relation", person=True)
        return
    while page.together(i, j) and (page.marks(j) & m.TITLE or is_kin_before_name(page, j)):
        j = page.skip_dot(j + 1)
    info = page.near(i, j)
    if info is None or (page.low(i) == "ex" and info.common >= 9):
        return
    telling = page.capital(j) or (page.plain_case(j) and could_be_unlisted(page, i, j))
    if not telling or (info.marks & m.MONTH and info.index < 5):
        return
    end = take_name(page, j, cued=relation or page.capital(j), most=3)
    if end == j and relation and info.first >= 12 and closes_name(page, j):
        end = j + 1
    if end == j or info.medical or page.marks(j + 1) & m.HEAD:
        return
    whole = end > j + 1 and info.shape == "C" and not info.common
    strength = 0.85 if (relation and info.index >= 3) or whole else 0.75
    if j > i + 1:
        strength -= 0.15
    yield cut(page, j, end, "name", strength, "relation", person=j == i + 1 or filler != ",")
    j = end + 1
    listed = page.low(end) in ("and", "&", ",", "/") and page.together(j - 1, j)
    if listed and page.capital(j):
        end = take_name(page, j, cued=page.infos[j].index >= 3, most=2)
        if end > j:
            yield cut(page, j, end, "name", 0.75, "relation", person=True)


def could_be_unlisted(page: Page, i: int, j: int) -> bool:
    """Return True for a name of the lists, and right after a relation for a word of no list: wife thandwie."""
    info, relation = page.infos[j], bool(page.marks(i) & m.RELATION)
    if info.index >= 4:
        return True
    if info.first >= 9 and relation and closes_name(page, j):
        # Nephew Will), said in a line of capitals.
        return (j == i + 1 and not info.marks & (m.STOP | m.PREPOSITION)) or info.first >= 12
    unknown = not info.common and not info.marks & ~LOOKS
    return unknown and j == i + 1 and len(info.low) > 3 and relation


def closes_name(page: Page, j: int) -> bool:
    """Return True when a mark or the end of the line follows token j."""
    return not page.together(j, j + 1) or page.low(j + 1) in (")", ",", ".", ";", "/")


def is_kin_before_name(page: Page, j: int) -> bool:
    """Return True for a second word of kin before the name: husband Oom Faan."""
    info, after = page.infos[j], page.near(j, j + 1)
    kin = info.marks & (m.RELATION | m.ROLE) > 0 and info.first < 13
    if not kin or after is None or page.gap(j) != 1:
        return False
    return after.shape == "C" or (page.plain_case(j) and after.index >= 4)


def owner(page: Page, i: int) -> Iterator[Candidate]:
    """Yield the name before a relation: Mandla's brother."""
    k = i - 3
    if k < 0 or not page.marks(i) & m.RELATION or not page.possessive(k + 1):
        return
    info = page.infos[k]
    if info.marks & (BARRED | m.ROLE) or info.medical:
        return
    start = take_back(page, k + 1, cued=page.capital(k), most=3)
    if (page.capital(k) or page.plain_case(k)) and start <= k:
        yield cut(page, start, k + 1, "name", 0.85, "relation", person=True)


# -- families: the Henderson family, significant other Ray, Phulmati w/o Budhram, the dog Rex ---------


@detector("family", m.FAMILY)
def find_families(page: Page, i: int) -> Iterator[Candidate]:
    """Find the surname before family, household, twins: the van Rensburg family."""
    k = i - 1
    info = page.near(i, k)
    if info is None or page.gap(k) != 1 or page.infos[i].shape == "C":
        return
    if info.shape not in "CMUl" or info.marks & UNNAMED or info.medical or info.common >= 12:
        return
    plainly = page.plain_case(k) and info.last >= 9 and info.index >= 4 and page.low(k - 1) == "the"
    start = take_back(page, i, cued=page.capital(k), most=2)
    if start == i or not (page.capital(k) or plainly):
        return
    while start and page.marks(start - 1) & m.PARTICLE and page.gap(start - 1) == 1:
        start -= 1
    sure = page.low(start - 1) in ("the", "for") or info.last >= 9
    yield cut(page, start, i, "name", 0.85 if sure else 0.5, "family", person=sure)


@detector("significant other", m.OTHER)
def find_significant(page: Page, i: int) -> Iterator[Candidate]:
    """Find the name after significant other, or better half."""
    j = i + 1
    if page.low(i - 1) not in ("significant", "better") or not page.together(i - 1, j):
        return
    if page.low(j) in (",", "(", ":"):
        j += 1
    info = page.near(i, j)
    if info is None or not (info.shape in "CM" or (page.plain_case(j) and info.first >= 8)):
        return
    if info.shape in "CUMl" and (info.first >= 12 or not info.marks & (UNNAMED | m.STOP | m.ACTS)):
        end = take_name(page, j, cued=True, most=3)
        yield cut(page, j, max(end, j + 1), "name", 0.85, "relation", person=True)


@detector("wife of", m.SLASH)
def find_wife_of(page: Page, i: int) -> Iterator[Candidate]:
    """Find the names on both sides of w/o, s/o, d/o, c/o, which also mean without and complains of."""
    if not i or page.low(i) != "/" or page.low(i + 1) != "o" or page.low(i - 1) not in FAMILY.of:
        return
    if not (page.joined(i) and page.joined(i - 1)):
        return
    j = i + 3 if page.low(i + 2) in (":", ".", "-") else i + 2
    begun = j
    while page.together(i, j) and (page.marks(j) & m.TITLE or page.low(j) in ("sh", "late", "lt")):
        j = page.skip_dot(j + 1)
    titled, info = j > begun, page.near(i, j)
    if info is None or not (titled or is_stranger(page, j)):
        return
    end = take_name(page, j, cued=True, most=3, strong=titled)
    if end == j:
        return
    sure = titled or (page.capital(j) and info.shape != "U") or info.index >= 6
    yield cut(page, j, end, "name", 0.85 if sure else 0.7, "wife of", person=True)
    k = i - 2
    if page.together(k, i) and page.gap(k) == 1 and is_stranger(page, k):
        start = take_back(page, k + 1, cued=True, most=3)
        if start <= k:
            yield cut(page, start, k + 1, "name", 0.75, "wife of", person=True)


def is_stranger(page: Page, j: int) -> bool:
    """Return True for a word that is a name, or that no list holds and that sounds of no medicine."""
    info = page.infos[j]
    if info.shape not in "CUMl" or len(info.low) < 3 or info.medical or info.marks & UNNAMED:
        return False
    if info.common and info.index < 4:
        return False
    return info.index >= 5 or page.lexicon.sounds_medical(info.low) < 0.2


@detector("pet", m.PET)
def find_pets(page: Page, i: int) -> Iterator[Candidate]:
    """Find the name of an animal: her dog Rex, the cat (Chairman Meow), pony "Star"."""
    j = i + 1
    if not page.together(i, j) or (page.infos[i].shape != "l" and not page.plain_case(i)):
        return
    if page.low(j) == ",":
        j += 1
    if page.low(j) in CLOSE and page.together(i, j + 1):
        end = quote_end(page, j + 1)
        if end > j + 1 and (page.infos[j + 1].shape == "C" or page.low(j) != "("):
            yield cut(page, j + 1, end, "nickname", 0.85, "pet", person=True)
        return
    info = page.near(i, j)
    if info is None or info.shape != "C" or page.gap(j - 1) != 1:
        return
    if info.marks & (UNNAMED | m.STOP) or info.medical or page.marks(j + 1) & m.HEAD:
        return
    sure = info.first >= 6 or j == i + 1
    yield cut(page, j, j + 1, "nickname", 0.82 if sure else 0.6, "pet", person=True)


# -- what people do: spoke with Azizi, per Dot, Kofi called, Soraya covers ----------------------------


@detector("met", m.MEETS)
def find_met(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name after with, told, saw, per, by; and a second one after and."""
    j = i + 2 if page.low(i + 1) == "/" and page.joined(i) else i + 1
    for _ in range(2):
        info = page.near(i, j)
        if info is None or info.marks & (m.TITLE | m.MEDICAL | m.DRUG) or info.medical:
            return
        if not (page.capital(j) or (page.plain_case(j) and info.index >= 8)):
            return
        end = take_name(page, j, cued=False, most=3)
        if end == j or page.marks(end) & NOT_MET or (info.shape == "U" and info.index < 6):
            return
        weak = info.common >= 10 and info.index < 5
        strange = not info.common and not info.marks & (m.PLACE | m.EPONYM) and len(info.low) > 2
        yield cut(page, j, end, "name", 0.3 if weak else 0.7 if strange else 0.5, "met")
        if page.low(end) not in ("and", "&", "/", ","):
            return
        j = end + 1


@detector("doer", m.ACTS)
def find_doers(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name before a verb of what people do."""
    k = i - 1
    info = page.near(i, k)
    if info is None or page.infos[i].shape != "l":
        return
    listed = (info.first >= 12 and info.index >= 4) or (info.last >= 12 and info.index >= 9)
    if page.lower and info.shape == "l" and not info.marks & BARRED and listed:
        yield cut(page, k, i, "name", 0.7, "doer")
        return
    if info.shape not in "CM" or info.marks & NO_DOER or info.medical:
        return
    common = info.common >= 9 and (page.starts_sentence(k) or info.index < 0)
    if common and info.index < 5:
        return
    start = take_back(page, i, cued=False, most=3)
    if start < i:
        sure = 0.4 if page.low(i) in COMPANY.weak else 0.7 if info.first >= 13 else 0.65
        yield cut(page, start, i, "name", sure * (0.6 if common else 1), "doer")


@detector("dash signature", m.SLASH)
def find_dash_signatures(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name after a dash that ends its line: ---Crystal Wright RN, -Moss."""
    j = i + 1
    if page.low(i) == "/" or j >= page.size or not page.joined(i):
        return
    if i and page.joined(i - 1) and page.infos[i - 1].shape != "p":
        return
    info, end = page.infos[j], take_name(page, j, cued=True, most=3)
    if end == j or info.medical or (info.common and info.index < 4):
        return
    after = skip_marked(page, j, end + 1 if page.low(end) == "," else end, m.SUFFIX | m.TITLE)
    if after >= page.size or page.lines[after] != page.lines[j]:
        yield cut(page, j, end, "name", 0.85, "dash signature", person=True)
