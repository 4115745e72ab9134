"""Names by what people write beside them: fields of forms, titles, degrees, greetings, signatures, this is, years of age."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import BARRED, has_apostrophe, skip_marked, take_back, take_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

FIELDS = cues("header_field")


MARKS = frozenset(":=|#")


@detector("header field", m.HEADER)
def find_header_fields(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word of a field, a colon, and words of a name, also as LAST, FIRST."""
    j, colon = field_end(page, i)
    if not colon:
        yield from bare_field(page, i)
        return
    j = skip_marked(page, i, j)
    info = page.near(i, j)
    if info is None:
        return
    if page.low(i) == "re" and info.shape == "U" and len(info.low) < 4 and not page.plain_case(j):
        return  # Re: SAE, what it is about
    yield from names_in_field(page, j)


@detector("form field", m.NAME_PART)
def find_form_fields(page: Page, i: int) -> Iterator[Candidate]:
    """Find what stands after FIRST:, MI: or LAST: in a form."""
    if page.low(i + 1) != ":" or not page.together(i, i + 2):
        return
    j = i + 2
    info = page.infos[j]
    if info.shape in "CUMI" and not info.marks & (m.STOP | m.MEDICAL | m.HEAD):
        end = j + 1 if info.shape == "I" else max(j + 1, take_name(page, j, cued=True, most=2))
        yield cut(page, j, end, "name", 0.85, "header field", person=True)


def field_end(page: Page, i: int) -> tuple[int, bool]:
    """Return the token after the colon of a field that begins at i, and whether there is one."""
    for j in range(i + 1, min(i + 6, page.size)):
        low = page.low(j)
        if low in MARKS:
            return j + 1, page.together(i, j)
        if low not in FIELDS.fillers and not page.marks(j) & m.HEADER:
            break
    return i + 1, False


def names_in_field(page: Page, j: int) -> Iterator[Candidate]:
    """Yield the name at j, with a second part after a comma, and others of the list."""
    for turn in range(4):
        first = turn == 0
        turned = turned_end(page, j)
        if turned > j:
            yield cut(page, j, turned, "name", 0.92, "header field", person=True)
            return
        end = take_name(page, j, cued=True)
        if end == j:
            if first:
                yield from initials(page, j)
            return
        yield cut(page, j, end, "name", field_evidence(page, j, end), "header field", person=True)
        if page.low(end) not in (",", ";", "and", "&", "/") or not page.together(j, end + 1):
            return
        j = end + 1
        while page.marks(j) & m.TITLE and page.together(j, end):
            j = page.skip_dot(j + 1)
        info = page.word_at(j)
        if info is None or info.marks & (m.RELATION | m.ROLE):
            return
        lettered = page.low(j - 1) == ";" and info.shape == "I"
        if info.common and info.index < 5 and not lettered:
            return


def initials(page: Page, j: int) -> Iterator[Candidate]:
    """Yield two to four initials alone on the rest of a line: signed: A.D."""
    end, letters = j, 0
    while page.together(j, end) and end < j + 9:
        if page.infos[end].shape not in "IU" and page.low(end) != ".":
            break
        letters += len(page.low(end)) if page.low(end) != "." else 0
        end += 1
    info = page.infos[j] if j < page.size else None
    if info is None or info.medical or info.marks & m.SUFFIX or not 2 <= letters <= 4:
        return
    if "md" in page.text[page.starts[j] : page.ends[end - 1]].lower().replace(".", ""):
        return
    if end >= page.size or page.lines[end] != page.lines[j]:
        yield cut(page, j, end, "name", 0.82, "header field", person=True)


def field_evidence(page: Page, j: int, end: int) -> float:
    """Return how much a field's name is believed: less when it is ordinary words, or runs on into a sentence."""
    if is_ordinary(page, j, end):
        return 0.5
    line = page.lines[j]
    ends = end >= page.size or page.lines[end] != line or page.low(end) in ",;()/&-|."
    alone = ends or page.infos[end].shape != "l" or page.apart(end)
    return 0.9 if alone or page.infos[j].index > 3 else 0.6


def is_ordinary(page: Page, j: int, end: int) -> bool:
    """Return True when all words are ordinary ones: Claims Reviewer."""
    worded = (info for info in page.infos[j:end] if info.shape in "lCUM")
    return all(info.common >= 9 and info.index < 4 for info in worded)


def turned_end(page: Page, j: int) -> int:
    """Return the end of TOWNSEND, Virginia A at j, whatever word the surname is; j when there is none."""
    if j >= page.size or (page.infos[j].shape in "dpI" and not has_apostrophe(page, j)):
        return j
    if page.marks(j) & (m.HOSPITAL | m.MEDICAL | m.WARD | m.CLUB) and page.infos[j].index < 3:
        return j
    comma = j + 1
    while page.low(comma) != "," and comma < j + 5 and page.together(j, comma):
        if page.infos[comma].shape not in "CUM" and page.low(comma) not in "-'’.":
            break
        comma += 1
    after = comma + 1
    info = page.near(j, after)
    if page.low(comma) != "," or info is None or info.shape not in "CUMl":
        return j
    info = page.infos[after]
    if info.shape == "U" and len(info.low) < 4 and not info.first:
        return j
    ordinary = info.common >= 11 and info.index < 4 and info.first < 9
    if info.marks & (m.SUFFIX | m.STOP | m.TITLE) or ordinary or info.medical:
        return j
    small = page.infos[j].shape == "l" and not page.lower
    if small or not (page.capital(after) or page.plain_case(after)):
        return j
    end = take_name(page, after, cued=True, most=2)
    while end > after and page.together(j, end) and page.gap(end - 1) == 1:
        if page.infos[end].shape != "I":
            break
        end = page.skip_dot(end + 1)
    return end if end > after else j


def bare_field(page: Page, i: int) -> Iterator[Candidate]:
    """Yield a name right after a word such as pt, without a colon."""
    if page.low(i) not in FIELDS.bare or not page.together(i, i + 1):
        return
    if page.low(i + 1) == "?" and page.low(i) in ("surname", "forename"):
        # A question mark that stands for doubt: surname ?Fell.
        info = page.word_at(i + 2)
        named = info is not None and info.shape in "CM" and not info.marks & m.STOP
        if named and page.joined(i + 1):
            yield cut(page, i + 2, i + 3, "name", 0.85, "header field", person=True)
        return
    first = page.infos[i + 1]
    strange = not first.common and not first.medical
    loose = page.low(i) in ("pt", "signed") and strange and page.low(i + 2) in ",("
    end = take_name(page, i + 1, cued=loose or page.low(i) == "signed")
    if end > i + 1 and not is_ordinary(page, i + 1, end):
        evidence = 0.8 if first.index >= 5 or loose or page.low(i) == "signed" else 0.5
        yield cut(page, i + 1, end, "name", evidence, "header field", person=True)


TITLED = cues("titled_name")
GREETED = cues("salutation")
INTRODUCED = cues("introduced")
AGED = cues("subject")
GAELIC = cues("gaelic_name")

#: Greetings after which a name is certain to follow.
DEAR = frozenset(("dear", "lieber", "liebe"))
#: Degrees written with full stops come as single letters: M.D., Ph.D., R.N.
DEGREES = {
    "m": ("d", "b"),
    "ph": ("d",),
    "r": ("n",),
    "d": ("o", "p", "c"),
    "f": ("r",),
    "b": ("s", "m"),
    "o": ("d",),
}
#: Marks of words that are no name after a title that is an ordinary word too.
UNADDRESSED = m.any_of("stop acts preposition medical role head dose suffix")
#: Marks of words that are no subject of a clause.
NO_SUBJECT = BARRED | m.MEDICAL | m.DRUG | m.EPONYM | m.PLACE | m.STATE


# -- titles: Dr. Lang, Mrs Hodgkins, Nurse Adeyemi ---------------------------------------------------


@detector("titled name", m.TITLE)
def find_titled_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find a title, an optional full stop, one to three words of a name in any case."""
    title, j = page.low(i), page.skip_dot(i + 1)
    if (j > i + 1 and ends_with_title(page, i, j)) or not page.together(i, j):
        return
    degree = page.low(i - 1) == "," and title in ("rn", "pa", "np", "md", "do")
    if degree and page.infos[i].shape != "C":
        return
    if page.low(j) in ("/", "&", "and"):
        j = page.skip_dot(j + 2 if page.marks(j + 1) & m.TITLE else j + 1)
    while page.marks(j) & m.TITLE and page.together(i, page.skip_dot(j + 1)):
        # A second title is no name itself, and has a name after it.
        named = page.infos[j + 1].shape != "l" or page.plain_case(j) or page.low(j + 1) == "."
        if page.infos[j].index >= 9 or not named:
            break
        j = page.skip_dot(j + 1)
    info = page.near(i, j)
    if info is None or (info.marks & m.MONTH and page.low(j + 1).isdecimal()):
        return
    if info.shape == "I" and title in TITLED.addressed and is_lone_initial(page, j):
        yield cut(page, j, j + 1, "name", 0.85, "titled name", person=True)
        return
    if title in TITLED.double and (info.common or info.medical) and info.index < 3:
        return
    weak = title in TITLED.weak
    if weak and (info.shape == "l" or page.plain_case(j)) and info.index < 6:
        if is_addressed(page, i, j):
            yield cut(page, j, j + 1, "name", 0.6, "titled name", person=True)
        return
    end = take_name(page, j, cued=True, most=3, strong=not weak)
    if end > j and not (j in page.known and page.marks(end) & m.HEAD):
        yield cut(page, j, end, "name", 0.85 if weak else 0.95, "titled name", person=True)


def is_lone_initial(page: Page, j: int) -> bool:
    """Return True for one letter that is all of a name: Mrs B, Mr T's."""
    if page.ends_line(j + 1):
        return True
    after = page.infos[j + 1]
    if page.joined(j):
        stop = after.low == "." and page.ends_line(j + 2)
        return stop or after.low in (",", ")", "'", "’", ";", ":", "!", "?")
    return after.shape in "lp" and after.low not in "'’-"


def ends_with_title(page: Page, i: int, j: int) -> bool:
    """Return True when the full stop after token i ends a sentence: told the nurse. Cat fed; mild MR. Dilated LV."""
    if page.low(i) in TITLED.whole:
        return True
    if page.infos[i].shape != "U" or page.lines[i] in page.caps_lines or j >= page.size:
        return False
    after = page.infos[j]
    return (after.common >= 9 or after.medical) and after.index < 3


def is_addressed(page: Page, i: int, j: int) -> bool:
    """Return True for a listed name or an unknown word after a title in a text without capitals: miss lark, sn chidinma."""
    title, info = page.low(i), page.infos[j]
    if title in ("do", "pa", "np", "lady", "sir", "general") or info.medical:
        return False
    if info.marks & UNADDRESSED:
        return False
    if not info.common:
        return len(info.low) > 3
    if title in TITLED.whole:
        return (info.first >= 7 or info.last >= 8) and info.index >= -3
    return info.last >= 11 and info.index >= 2


# -- degrees: Marjorie Long, M.D. --------------------------------------------------------------------


@detector("suffix name", m.SUFFIX | m.SHORT)
def find_suffix_names(page: Page, i: int) -> Iterator[Candidate]:
    """One to four words of a name, an optional comma, and a degree."""
    before = i - 1
    if before < 0 or not page.together(before, i):
        return
    comma, small = page.low(before) == ",", page.infos[i].shape == "l"
    if small and page.marks(i + 1) & (m.MEETS | m.ACTS):
        return  # foley in, md paged
    if not is_degree(page, i, comma) or (not comma and page.low(i) in ("ii", "iii")):
        return
    j = before if comma else i
    initialled = j > 2 and page.low(j - 2) == "." and page.infos[j - 3].shape == "I"
    initialled = initialled and not page.infos[j - 1].marks & m.SUFFIX
    k = take_back(page, j, cued=comma, strong=comma or initialled)
    if k < j and not (small and not comma and page.infos[j - 1].index < 5):
        yield cut(page, k, j, "name", 0.93 if comma else 0.85, "suffix name", person=True)


def is_degree(page: Page, i: int, comma: bool) -> bool:
    """Return True when letters of a degree begin at token i."""
    info = page.infos[i]
    if info.marks & m.SUFFIX:
        if info.shape in "UMC" or not page.lower:
            return info.shape in "UMC"
        word = comma and len(info.low) > 1 and info.low not in ("do", "ms", "ma", "pa", "pt")
        return word or info.low in ("rn", "md", "lpn", "arnp", "crna")
    dotted = len(info.low) <= 2 and page.low(i + 1) == "." and page.joined(i)
    return dotted and page.low(i + 2) in DEGREES.get(info.low, ())


# -- greetings: Dear Virginia, Hi Dot ----------------------------------------------------------------


@detector("salutation", m.GREETING)
def find_salutations(page: Page, i: int) -> Iterator[Candidate]:
    """Find a greeting at the start of a line or sentence, optional titles, words of a name."""
    strict = page.low(i) not in DEAR
    if strict and not page.starts_sentence(i):
        return
    j = i + 2 if page.low(i + 1) == "you" else i + 1
    if page.low(j) == ",":
        j += 1
    while page.low(j) in GREETED.tails and page.together(i, j):
        j += 1
    for _ in range(8):
        while page.together(i, j) and is_title_before(page, j):
            j = page.skip_dot(j + 1)
        if not page.together(i, j):
            return
        end = take_name(page, j, cued=not strict or page.infos[j].index >= 2, most=3)
        if end == j or (strict and not (page.capital(j) or page.plain_case(j))):
            return
        closed = page.low(end) in ",:;-–!." or not page.together(i, end)
        sure = 0.5 if is_ordinary(page, j, end) else 0.9 if closed else 0.7
        yield cut(page, j, end, "name", sure, "salutation", person=True)
        if page.low(end) not in ("and", "&", ",", "/"):
            return
        j = end + 1


def is_title_before(page: Page, j: int) -> bool:
    """Return True for a title, or a role before a name: Dear Chair Amberson."""
    info = page.infos[j]
    if info.index >= 9 or info.marks & m.TITLE:
        return info.index < 9
    return bool(info.marks & m.ROLE) and page.together(j, j + 1) and page.infos[j + 1].shape == "C"


# -- signatures: a line of names after Sincerely, a line of a name alone at the end -------------------


@detector("signature", m.CLOSING)
def find_signatures(page: Page, i: int) -> Iterator[Candidate]:
    """Find a closing word at the start of a line; the next lines that hold only a name."""
    line = page.lines[i]
    if i > 4 and page.lines[i - 5] == line:
        return
    j = i + 1
    while j < page.size and page.lines[j] == line:
        if page.low(j) in (",", "-", "–") and not page.ends_line(j + 1):
            end = take_name(page, j + 1, cued=True, most=3)
            if end > j + 1 and closes_signature(page, end, line, ",("):
                yield cut(page, j + 1, end, "name", 0.85, "signature", person=True)
        j += 1
        if j - i > 8:
            return
    for _ in range(3):
        if j >= page.size or page.lines[j] > line + 7:
            return
        here, begun = page.lines[j], j
        j = skip_marked(page, begun, j)
        end = take_name(page, j, cued=True) if j < page.size and page.lines[j] == here else j
        if end > j and closes_signature(page, end, here, ",(/;-"):
            yield cut(page, j, end, "name", 0.9, "signature", person=True)
            return
        j = begun
        while j < page.size and page.lines[j] == here:
            j += 1
            if j - begun > 12:
                return


def closes_signature(page: Page, end: int, line: int, signs: str) -> bool:
    """Return True where the line ends after a name, or one of some signs follows."""
    return end >= page.size or page.lines[end] != line or page.low(end) in signs


# -- this is marcus calling, its Meera, my name is Dot -----------------------------------------------


@detector("introduced", m.INTRODUCES)
def find_introduced(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name after this is, my name is, I am, it's."""
    j = said_end(page, i)
    if j == i or not page.together(i, j):
        return
    while page.marks(j) & m.TITLE and page.together(i, j + 1) and page.infos[j].index < 9:
        j = page.skip_dot(j + 1)
    info = page.near(i, j)
    if info is None or info.medical or info.marks & (m.MEDICAL | m.PLACE):
        return
    if not (page.capital(j) or page.plain_case(j)) or (info.marks & BARRED and info.index < 5):
        return
    if info.first < 7 and (info.common or not page.capital(j)):
        return
    end = take_name(page, j, cued=info.index >= 4, most=3)
    if end > j:
        followed = not page.together(j, end) or page.low(end) in INTRODUCED.after
        sure = followed and info.index >= 3 and info.first >= 7
        yield cut(page, j, end, "name", 0.82 if sure else 0.5, "introduced")


def said_end(page: Page, i: int) -> int:
    """Return the token after the words that introduce somebody, or i."""
    low, after = page.low(i), page.low(i + 1)
    if low in ("this", "name") and after == "is":
        return i + 2
    if low in ("this", "name", "it") and page.possessive(i + 1):
        return i + 3
    if low == "i" and after in ("'", "’") and page.low(i + 2) == "m":
        return i + 3
    return i + 1 if low in ("its", "am", "im") else i


# -- subjects: Dot is a 7 year old; Moss, 66 years old; caller says Pru threw up ----------------------


@detector("subject of a clause", m.CLAUSE)
def find_clause_subjects(page: Page, i: int) -> Iterator[Candidate]:
    """Find a capitalised word between says or that and a verb: caller says Pru threw up."""
    j = i + 1
    if not page.together(i, j + 1) or page.infos[j].shape != "C" or page.pack.nouns_capital:
        return
    info, after = page.infos[j], page.infos[j + 1]
    past = after.low.endswith("ed") and len(after.low) > 4
    if len(info.low) < 3 or info.marks & NO_SUBJECT or after.shape != "l":
        return
    if after.marks & m.ACTS or past:
        sure = info.common < 12 or info.first >= 8
        yield cut(page, j, j + 1, "name", 0.75 if sure else 0.5, "subject of a clause")


@detector("subject of an age", m.AGE)
def find_subjects(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name, is a, and a number of years."""
    if page.low(i) in ("old", "o", "age") or (i and page.marks(i - 1) & m.AGE):
        return
    k = i - 1
    while k >= 0 and i - k < 12 and (page.infos[k].shape == "d" or page.low(k) in AGED.links):
        k -= 1
    if k < 0 or i - k < 3 or not page.together(k, i) or not (page.capital(k) or page.lower):
        return
    info = page.infos[k]
    if info.shape in "pdI" or (info.marks & (BARRED | m.MEDICAL) and info.index < 6):
        return
    if info.common >= 13 and page.starts_sentence(k):
        return
    start = take_back(page, k + 1, cued=page.capital(k), most=3)
    if start <= k:
        yield cut(page, start, k + 1, "name", 0.85, "subject of an age", person=True)


# -- surnames whose parts stand apart: Mac Giolla Phádraig, Nic an tSaoi, Ó Súilleabháin --------------


@detector("gaelic name", m.PARTICLE)
def find_gaelic_names(page: Page, i: int) -> Iterator[Candidate]:
    """Find Mac, Nic, Ó or Ní, an article or not, and one or two words with a capital."""
    if page.low(i) not in GAELIC.begin or page.infos[i].shape == "l":
        return
    j = i + 1
    if page.low(j) in GAELIC.articles and page.together(i, j + 1) and page.capital(j + 1):
        j += 1
    info = page.near(i, j)
    if info is None or page.gap(j - 1) != 1 or info.shape not in "CMU":
        return
    if not (page.capital(j) or page.plain_case(j)) or info.medical or info.common >= 9:
        return
    led = page.together(i - 1, i) and page.gap(i - 1) == 1 and page.capital(i - 1)
    start = i - 1 if led and page.infos[i - 1].first >= 8 else i
    yield cut(page, start, j + 1, "name", 0.87, "gaelic name", person=True)
