"""Words of the lists of names: a first name, a surname, both in a row."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.names.cued import initials
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, could_be_name, is_initial, take_name, word_end
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("list_names")
MEDICINE = cues("medicine")


@detector("list name", m.NAMED)
def find_listed_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word of the lists with a telling capital, or in a text without capitals a word that is a name only."""
    info = page.infos[i]
    if info.common and info.index < 6 and max(info.first, info.last) >= 7 and is_lone(page, i):
        evidence = 0.6 if info.marks & BARRED else 0.7 if info.first >= 8 else 0.55
        if info.common < 14 or info.first >= 9:
            yield cut(page, i, i + 1, "name", evidence, "capital")
    if i == page.size - 1 and info.first >= 8 and i and page.low(i - 1) in SIGNED_AFTER:
        yield cut(page, i, i + 1, "name", 0.8, "last word", person=True)
    if info.marks & (BARRED | m.DRUG) and (info.index < 8 or leads_name(page, i)):
        return
    if not page.capital(i):
        if page.plain_case(i) and info.index >= 6 and not info.medical:
            sure = not info.common and not info.marks & (m.PLACE | m.EPONYM)
            if info.first >= 11:
                lists = 0.82 if sure else 0.55 if info.index >= 10 else 0.4
                yield cut(page, i, i + 1, "name", lists, "list first name")
            if info.last >= 11:
                yield cut(page, i, i + 1, "name", 0.55 if sure else 0.25, "list surname")
        return
    if (info.shape == "U" and len(info.low) < 4) or len(info.low) < 3:
        return
    if page.pack.nouns_capital:
        if info.first >= 16 and not info.common:
            yield cut(page, i, i + 1, "name", 0.5, "list first name")
        return
    telling = page.low(i + 1) not in ("the", "a", "this", "to", "an", "his", "her")
    named = info.first >= 16 and info.index >= 5 and telling
    weak = info.common > 0 and not named and (page.starts_sentence(i) or info.index < 6)
    place = bool(info.marks & (m.PLACE | m.EPONYM | m.STATE))
    if info.first >= 8:
        sure = not info.common and not place
        evidence = 0.82 if sure else 0.3 if weak else 0.7 if info.first >= 15 else 0.6
        yield cut(page, i, i + 1, "name", evidence, "list first name")
    if info.last >= 8:
        sure = not info.common and not place and not page.starts_sentence(i)
        evidence = (0.7 if info.last >= 12 else 0.6) if sure else 0.15 if weak else 0.4
        if sure and info.last >= 10 and is_told(page, i):
            evidence = 0.82
        yield cut(page, i, i + 1, "name", evidence, "list surname")


def leads_name(page: Page, i: int) -> bool:
    """Return True for a role or a word of kin before a name, though some bear it themselves: Warden Strong, nan deb."""
    info, after = page.infos[i], page.near(i, i + 1)
    role = info.marks & (m.ROLE | m.RELATION) > 0 and info.first < 13
    if not role or after is None or page.gap(i) != 1:
        return False
    named = after.shape == "l" and (after.index >= 4 or after.first >= 9)
    return after.shape == "C" if page.capital(i) else named


#: Marks of words that are no surname, be it an odd one.
NO_ODD_NAME = m.any_of("stop weekday title hospital company club street header number born")
NO_SURNAME = m.STOP | m.MONTH | m.WEEKDAY | m.HEADER | m.HOSPITAL | m.CLUB | m.HEAD
#: What stands before a first name that ends a text as its signature.
SIGNED_AFTER = frozenset((".", "!", "?", ")", "thanks", "ta", "cheers", "x", "xx", "-", "–", "—"))
#: Marks of words that have a capital letter for other reasons than being a name.
OTHERWISE = (
    m.MEDICAL | m.DRUG | m.EPONYM | m.PLACE | m.STATE | m.HEAD | m.MONTH | m.WEEKDAY | m.STOP | m.TITLE
    | m.SUFFIX | m.DOSE | m.OFFICE | m.HOSPITAL | m.WARD
)  # fmt: skip


def is_lone(page: Page, i: int) -> bool:
    """Return True for an ordinary word with a capital letter among small ones, as a name only is: told Rich to."""
    info = page.infos[i]
    if info.shape != "C" or info.marks & OTHERWISE or page.starts_sentence(i) or page.lower:
        return False
    before = page.infos[i - 1]
    if before.shape != "l" or before.marks & m.HEAD or page.gap(i - 1) != 1:
        return False
    after = page.word_at(i + 1)
    if after is None or page.lines[i + 1] != page.lines[i]:
        return True
    if after.shape in "CUMId" or after.low in "-/:" or after.marks & (m.HEAD | m.DOSE):
        return False
    noun = after.shape == "l" and after.common
    return not noun or bool(after.marks & (m.STOP | m.ACTS | m.PREPOSITION))


@detector("first and last name", m.NAMED)
def find_full_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a first name followed by a name: capitalised, or in a text without capitals a listed surname."""
    info = page.infos[i]
    if info.first < 6 or (i and page.joined(i - 1) and page.low(i - 1) in "-'’"):
        return
    if page.capital(i):
        barred = info.marks & BARRED and (info.index < 7 or leads_name(page, i))
        if barred or (info.common and info.index < 2):
            return
        j = word_end(page, i)
        while j < page.size and j - i < 12 and is_initial(page, j, False):
            j = page.skip_dot(j + 1)
        if not page.together(i, j) or not page.capital(j) or not next_to(page, j):
            return
        if not (could_be_name(page, j, info.index >= 5) or odd_surname(page, i, j)):
            return
        end = take_name(page, i, cued=False)
        if end <= j:
            end = word_end(page, j)
        other = page.infos[j]
        if info.shape == "U" and len(info.low) < 4 and other.last < 8:
            return
        strength = 0.85 if info.index >= 4 and info.first >= 7 else 0.6
        if other.last >= 13 and other.index >= 10 and not other.marks & m.PLACE:
            strength = max(strength, 0.82)
        if page.marks(j) & m.PLACE and not page.marks(j) & m.LAST:
            strength = 0.5
        yield cut(page, i, end, "name", strength, "first and last name")
    elif page.plain_case(i) and info.first >= 7 and not info.marks & BARRED:
        if info.index < (4 if info.first >= 10 else 7):
            return
        j = i + 1
        while j < page.size and j - i < 8 and len(page.low(j)) == 1 and page.infos[j].shape in "lI":
            j = page.skip_dot(j + 1)
        # After by, told, per it is surer.
        led = page.marks(i - 1) & (m.MEETS | m.SIGNS | m.HEADER)
        sure = info.first >= 13 and (not info.common or led > 0)
        surname = page.near(i, j)
        if surname is None or surname.shape not in "lU" or not next_to(page, j):
            return
        if plain_surname(page, j, sure):
            whole = 0.85 if info.index >= 6 else 0.7
            yield cut(page, i, word_end(page, j), "name", whole, "first and last name")


def odd_surname(page: Page, i: int, j: int) -> bool:
    """Return True for any capitalised word after a word that is a first name only: Alexander Finger."""
    info, other = page.infos[i], page.infos[j]
    if info.first < 11 or info.common or info.marks & (m.PLACE | m.STATE) or other.shape != "C":
        return False
    if other.marks & m.MONTH and page.low(j + 1).isdecimal():
        return False
    return not other.marks & NO_ODD_NAME and not page.marks(j + 1) & m.HEAD


def plain_surname(page: Page, j: int, sure: bool) -> bool:
    """Return True for a surname without a telling capital."""
    info = page.infos[j]
    if info.marks & BARRED or info.medical:
        return False
    if info.last >= 8:
        return info.index >= (0 if info.last >= 9 and sure else 4)
    return not info.common and not info.marks & m.MEDICAL and len(info.low) > 3


def next_to(page: Page, j: int) -> bool:
    """Return True when only spaces or an initial lie before token j."""
    before = page.infos[j - 1]
    return (before.shape != "p" or before.low == ".") and page.starts[j] - page.ends[j - 1] < 2


@detector("last, first", m.NAMED)
def find_reversed_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a surname, a comma, a first name: Townsend, Virginia A."""
    if page.low(i + 1) != "," or not page.together(i, i + 2):
        return
    info, other = page.infos[i], page.infos[i + 2]
    if info.last < 8 and not info.first:
        return
    start = surname_start(page, i)
    opens = page.opens_line(start) or page.low(start - 1) in OPENS or page.apart(start)
    if opens and is_reversed_pair(page, i):
        end = max(i + 3, take_name(page, i + 2, cued=True, most=2))
        yield cut(page, start, end, "name", 0.85, "last, first")
        return
    first_name = other.first >= 7 and (other.index >= 4 or other.first >= 10)
    if not first_name or info.last < 8 or info.marks & BARRED:
        return
    if other.marks & BARRED and not (other.first >= 9 and is_sexed(page, i + 3)):
        return
    telling = (page.capital(i) and page.capital(i + 2)) or page.plain_case(i)
    if not telling or (page.plain_case(i) and info.index < 5):
        return
    end = i + 3
    if end < page.size and is_initial(page, end, False) and page.together(i, end):
        end = page.skip_dot(end + 1)
    sure = page.starts_sentence(i) or info.shape == "U" or page.apart(i)
    yield cut(page, i, end, "name", 0.82 if sure else 0.55, "last, first")


#: What stands before the first name of a list.
OPENS = frozenset((":", ";", "|", ")", "•", "*"))


def surname_start(page: Page, i: int) -> int:
    """Return where the surname that ends at token i begins: van Heerden, Hmong-Lee."""
    while i > 0 and page.lines[i - 1] == page.lines[i]:
        k = i - 1
        gap = page.starts[i] - page.ends[k]
        if gap == 0 and page.low(k) == "-" and k and page.joined(k - 1):
            i = k - 1
        elif gap == 1 and page.marks(k) & m.PARTICLE and page.low(k) not in CUES.no_particles:
            i = k
        else:
            break
    return i


@detector("particle, first", m.PARTICLE)
def find_reversed_particles(page: Page, i: int) -> Iterator[Candidate]:
    """Find particles, any surname, a comma and a first name at the start of a line or column: van Heerden, Petronella."""
    opens = page.opens_line(i) or page.apart(i)
    if not opens or page.low(i) in CUES.no_particles:
        return
    j = i + 1
    while j < i + 3 and page.marks(j) & m.PARTICLE:
        j += 1
    if not page.together(i, j) or page.infos[j].shape not in "CMU":
        return
    comma = word_end(page, j)
    after = page.word_at(comma + 1)
    if page.low(comma) != "," or after is None or not page.together(i, comma + 1):
        return
    if after.first >= 7 and after.index >= 3 and after.shape in "CMU":
        end = max(comma + 2, take_name(page, comma + 1, cued=True, most=2))
        yield cut(page, i, end, "name", 0.87, "last, first", person=True)


def is_reversed_pair(page: Page, i: int) -> bool:
    """Return True for any surname, a comma and a first name that ends a field: Lord, Jeremy (court; van Wyk, Nella  66 F."""
    info, other = page.infos[i], page.infos[i + 2]
    if info.shape not in "CMU" or other.shape not in "CMU" or other.medical or not page.joined(i):
        return False
    if page.gap(i + 1) != 1 or other.marks & (BARRED | m.STATE | m.PLACE | m.MEDICAL | m.DRUG):
        return False
    surname = info.last >= 10 or surname_start(page, i) < i
    if info.marks & NO_SURNAME or info.medical or not surname:
        return False
    named = other.first >= 9 and other.index >= 4
    strange = not other.common and not other.marks & m.EPONYM and len(other.low) > 1
    if not named and not (strange and other.shape == "C" and info.index >= 5):
        return False
    end = take_name(page, i + 2, cued=True, most=2)
    if end <= i + 2:
        return False
    if not page.together(i, end) or page.starts[end] - page.ends[end - 1] > 1:
        return True
    after = page.infos[end]
    return after.shape == "d" or after.low in "(,;–-|/" or bool(after.marks & m.SUFFIX)


def is_sexed(page: Page, j: int) -> bool:
    """Return True for a sex or an age at token j: M 34, F, 62."""
    return page.together(j - 1, j) and (page.low(j) in ("m", "f") or page.infos[j].shape == "d")


@detector("initial and surname", m.SHORT)
def find_initialled_names(page: Page, i: int) -> Iterator[Candidate]:
    """One or two initials and a surname: J. Townsend, J.R. Moss."""
    if page.infos[i].shape != "I" or page.low(i + 1) != ".":
        return
    if i and (page.joined(i - 1) or page.infos[i - 1].shape == "I"):
        return
    if page.low(i - 1) == "," and i > 1 and page.infos[i - 2].shape == "I":
        return  # groups A, C, G. Then
    j = page.skip_dot(i + 1)
    if j < page.size and page.infos[j].shape == "I":
        j = page.skip_dot(j + 1)
    if not page.together(i, j) or page.infos[j].shape not in "CM":
        return
    info = page.infos[j]
    if not page.joined(i) or info.low in CUES.genera_ends:
        return
    thing = info.marks & (m.STOP | m.HEAD | m.DOSE) or (info.marks & m.MEDICAL and info.last < 8)
    if page.low(i - 1) in (":", ";", "by", "per") and not thing:
        yield cut(page, i, word_end(page, j), "name", 0.87, "initial and surname", person=True)
        return
    if info.marks & (BARRED | m.MEDICAL) or (info.common and info.index < 4):
        return
    sure = info.last >= 8 and info.index >= 3
    end = word_end(page, j)
    yield cut(page, i, end, "name", 0.87 if sure else 0.6, "initial and surname")


@detector("surname by its sound", m.STRANGE)
def find_sounding_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a capitalised word within a sentence that no list knows and that sounds like a surname."""
    info = page.infos[i]
    if info.shape not in "CM" or info.marks & ~(m.CAPITAL | m.STRANGE) or len(info.low) < 3:
        return
    if page.low(i + 1) in MEDICINE.people:
        return
    if page.pack.nouns_capital or (page.plain_case(i) and page.lines[i] in page.caps_lines):
        return
    lexicon = page.lexicon
    medical = lexicon.sounds_medical(info.low)
    if page.starts_sentence(i):
        if medical < 0.3 and page.together(i, i + 1) and page.marks(i + 1) & m.ACTS:
            yield cut(page, i, i + 1, "name", 0.5, "surname by its sound")
        return
    if medical < 0.4 and lexicon.sounds_like_surname(info.low) > 0.15:
        yield cut(page, i, i + 1, "name", 0.6 if is_told(page, i) else 0.4, "surname by its sound")
    elif medical < 0.3 and is_told(page, i):
        yield cut(page, i, i + 1, "name", 0.5, "surname by its sound")


def is_told(page: Page, i: int) -> bool:
    """Return True for a capitalised word within prose, where no thing is named: and Kofi, (Liesl), saw Trude who."""
    before, after = page.infos[i - 1], page.word_at(i + 1)
    if not (before.shape == "l" or before.low in (",", "(", "&", "/")):
        return False
    if before.marks & m.HEAD or before.low in ("the", "a", "an", "no", "on", "this"):
        return False
    if after is None or page.lines[i + 1] != page.lines[i]:
        return True
    if after.shape in "CUMd" or after.low in ("-", "®", "™"):
        return False
    small = m.STOP | m.ACTS | m.PREPOSITION | m.RELATION | m.PHONE | m.AGE
    return after.shape == "p" or bool(after.marks & small)


@detector("SURNAME First", m.UPPER)
def find_upper_surnames(page: Page, i: int) -> Iterator[Candidate]:
    """Find a surname in capitals before a first name: TOWNSEND Virginia; TOWNSEND, VIRGINIA F 62."""
    info = page.infos[i]
    if page.low(i + 1) == ",":
        # Any surname in capitals and a first name before a sex or an age: KOWALSKA, DAWN F 34.
        other = page.near(i, i + 2)
        barred = info.marks & BARRED or info.medical or info.common >= 12 or len(info.low) < 3
        named = other is not None and other.first >= 7 and other.shape in "UC"
        if named and not barred and page.together(i, i + 3) and is_sexed(page, i + 3):
            yield cut(page, i, i + 3, "name", 0.82, "last, first")
        return
    if info.shape != "U" or len(info.low) < 3 or not page.together(i, i + 1) or page.plain_case(i):
        return
    j = word_end(page, i)
    if not page.together(i, j) or page.starts[j] - page.ends[j - 1] > 1:
        return
    other = page.infos[j]
    if other.shape != "C" or other.first < 7 or other.common:
        return
    if info.medical or info.marks & m.HEADER or (info.marks & BARRED and info.index < 3):
        return
    sure = 0.85 if info.last >= 8 or not info.common else 0.6
    yield cut(page, i, word_end(page, j), "name", sure, "SURNAME First")


#: Tokens of a line that is too long to be a name and a degree.
LONG_LINE = 16


@detector("line of a name", m.LINE)
def find_lines(page: Page, i: int) -> Iterator[Candidate]:
    """Find a line that holds nothing but a name, perhaps with a degree."""
    if i + LONG_LINE < page.size and page.lines[i + LONG_LINE] == page.lines[i]:
        return
    info = page.infos[i]
    if info.shape == "I" and page.low(i + 1) == "." and page.joined(i):
        yield from initials(page, i)
    barred = m.STOP | m.MEDICAL | m.HEAD | m.HOSPITAL
    if info.shape not in "CUM" or info.medical or info.marks & barred:
        return
    end = take_name(page, i, cued=True, most=3)
    ends = end >= page.size or page.lines[end] != page.lines[i]
    if end <= i + 1 or not (ends or page.marks(end) & m.SUFFIX):
        return
    parts = [w for w in page.infos[i:end] if w.shape in "CUM"]
    listed = any((w.last >= 12 and w.index >= 7) or (w.first >= 9 and w.index >= 5) for w in parts)
    if listed and not any(w.medical or w.marks & m.MEDICAL for w in parts):
        yield cut(page, i, end, "name", 0.75, "line of a name")


@detector("word before a surname", m.NAMED)
def find_word_before(page: Page, i: int) -> Iterator[Candidate]:
    """Find a capitalised word that can be a first name before a word that is a surname only: Bee Garcia."""
    info = page.infos[i]
    sure = info.last >= 13 and info.index >= 10 and not info.marks & (m.PLACE | m.EPONYM)
    if not sure or info.shape != "C":
        return
    if not page.together(i - 1, i) or page.gap(i - 1) != 1 or page.pack.nouns_capital:
        return
    before = page.infos[i - 1]
    barred = m.STOP | m.TITLE | m.MONTH | m.MEDICAL
    if before.shape == "C" and before.first >= 6 and not before.marks & barred:
        yield cut(page, i - 1, i + 1, "name", 0.8, "word before a surname")
