"""Practices, firms, teams, prisons and regiments: by the last word of their names, by what people do there, by where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tacit.text.detect.bodies.last_word import with_age_group
from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.names import back_proper, forward_proper, is_plain, stops
from tacit.text.reading import marks as m
from tacit.text.reading.page import REACH, Page
from tacit.text.reading.words import cues

CUES = cues("named_body")
HOSPITAL = cues("hospital")
PROPER = cues("proper")


CARE, FIRM, BODY, JOINS = (m.mark(name) for name in ("care", "firm", "body", "joins"))
PREFIX, HOLY, FIELD = (m.mark(name) for name in ("body prefix", "holy", "body field"))

GOES_ON = CARE | FIRM | BODY | m.HOSPITAL | m.COMPANY
KINDS = ((CARE, "hospital"), (FIRM, "employer"), (BODY, "organisation"))


#: Marks of the numbers of units.
COUNTED = m.FEW | m.mark("ordinal")
NO_NAMES = CUES.sorts | PROPER.generic


def told(page: Page, i: int, j: int) -> int:
    """Return 2 when some word of i to j names which one it is, 1 when an ordinary word may, 0 when none can."""
    most = 0
    for k in range(i, j):
        info = page.infos[k]
        low = info.low
        if info.shape in "dp" or low in NO_NAMES or low in PROPER.small or len(low) < 2:
            continue
        named = info.marks & (m.PLACE | m.FIRST | m.LAST)
        if (info.marks & m.MEDICAL or info.medical) and not named:
            continue
        if not info.common or (named and info.index >= (1 if is_plain(page, k) else -3)):
            return 2
        most = 1
    return most


@detector("named body", CARE | FIRM | BODY, languages=("en",))
def find_named_bodies(page: Page, i: int) -> Iterator[Candidate]:
    """Find words of a name before Diagnostics, Solicitors, Fusiliers, Correctional."""
    info = page.infos[i]
    plain = is_plain(page, i)
    if not (page.capital(i) or plain) or (page.low(i - 1) == "-" and page.joined(i - 1)):
        return
    if info.shape == "U" and len(info.low) > 4 and i and page.infos[i - 1].shape == "C":
        return
    after = page.word_at(i + 1)
    if after is not None and page.together(i, i + 1):
        if after.low in HOSPITAL.measures or (after.marks & m.CLUB and page.capital(i + 1)):
            return
        open_ended = info.low in CUES.weak or not info.marks & BODY
        if open_ended and after.marks & GOES_ON and (page.capital(i + 1) or plain):
            return
        if info.low == "health" and after.low in NO_NAMES:
            return
    start = begin_body(page, i)
    if start == i and info.low in CUES.regiments and page.low(i - 1) == "the" and not plain:
        yield cut(page, i, i + 1, "organisation", 0.84, "named body")
        return
    tells = told(page, start, i) if start < i else 0
    if not tells:
        return
    # A field or a word of care shortly before it leads to it.
    field = page.low(start - 1) in (":", "is", "-", "=", "–")
    field = field and any(page.low(k) in CUES.fields for k in range(max(0, start - 4), start - 1))
    led = page.together(start - 1, i) and (page.low(start - 1) in CUES.to or field)
    worded = (page.infos[k].shape in "CMUl" and page.low(k) != "s" for k in range(start, i))
    words_before = sum(worded)
    evidence = weigh_body(page, start, i, tells, led, words_before)
    if evidence < 0.3:
        return
    kind = next(kind for mark, kind in KINDS if info.marks & mark)
    k = start - 1
    if k > 0 and page.low(k) in ("st", "nd", "rd", "th") and page.joined(k - 1):
        # The number of a regiment: 2nd Loamshire Fusiliers.
        start = k - 1
    end, j = i + 1, page.skip_dot(i + 2)
    if page.low(end) == "no" and page.infos[end].shape == "C" and page.marks(j) & m.DIGIT:
        # The number of a branch: Feedlot No. 2.
        end = j + 1 if len(page.words[j]) < 4 else end
    yield cut(page, start, end, kind, evidence, "named body")


def begin_body(page: Page, i: int) -> int:
    """Return where the name before a last word begins; Consultant and Department begin none."""
    start = back_proper(page, i, 4)
    while start < i and (page.low(start) in CUES.sorts or page.infos[start].shape == "p"):
        start += 1
    led = page.low(start + 1) in ("of", "for", "and", "the") and start + 2 < i
    if led and page.starts_sentence(start) and page.infos[start].common >= 11:
        # Results of Wexley Diagnostics
        start += 2
    return start


def weigh_body(page: Page, start: int, i: int, tells: int, led: bool, words_before: int) -> float:
    """Return how certainly a name of a thing ends at token i, by its words and what leads to it."""
    weak = page.low(i) in CUES.weak
    if is_plain(page, i):
        base = 0.62 if tells == 2 or led else 0.4
        sure = led and (words_before > 2 or (tells == 2 and not weak))
        return base + (0.2 if sure else 0.06 if led else 0.0)
    if page.starts_sentence(start) and words_before == 1 and tells == 1:
        return 0.4 if weak else 0.6
    if tells == 2:
        return 0.84 if not weak or led or words_before > 1 else 0.8
    if led or words_before > 1:
        return 0.82 if not weak or led else 0.68
    return 0.55 if weak else 0.68


@detector("unit of an army", m.mark("ordinal"), languages=("en",))
def find_army_units(page: Page, i: int) -> Iterator[Candidate]:
    """Find a battalion or regiment by its number: 3rd Bn 88th Engineers."""
    j = i + 1
    if not page.joined(i - 1) or not page.marks(i - 1) & m.FEW or page.low(j) not in CUES.units:
        return
    if not page.together(i, j) or not page.capital(j):
        return
    end = k = j + 1
    while k < min(page.size, j + 8) and page.together(j, k):
        if page.capital(k) and not page.marks(k) & m.STOP:
            end = k + 1
        elif page.low(k) not in ("of", "the", ",") and not page.marks(k) & COUNTED:
            break
        k += 1
    yield cut(page, i - 1, end, "organisation", 0.86, "unit of an army")


@detector("prefix of a body", PREFIX, languages=("en",))
def find_prefixed_bodies(page: Page, i: int) -> Iterator[Candidate]:
    """Find the words of a name after HMP, RAF, HMS."""
    if page.infos[i].shape != "U" and not page.lower:
        return
    j = i + 1
    if not page.together(i, j):
        return
    if is_plain(page, j):
        end = j
        while page.together(j, end) and end < j + 2:
            # A word that may be a name where capitals tell nothing.
            word = page.infos[end]
            if word.shape not in "lU" or word.medical or word.common >= 11 or stops(page, end):
                break
            end += 1
    else:
        end = forward_proper(page, j, 3)
    if end > j and not page.marks(j) & m.STOP:
        yield cut(page, i, end, "organisation", 0.9, "prefix of a body")


@detector("affiliation", JOINS, languages=("en",))
def find_affiliations(page: Page, i: int) -> Iterator[Candidate]:
    """Find the capitalised words after plays for, member of, enrolled at, served in, rep from."""
    j, linked = i + 1, False
    while j < min(page.size, i + 6) and page.together(i, j):
        small = page.infos[j].shape == "l" and not linked and j < i + 3
        if page.low(j) not in CUES.links and not small:
            break
        linked = linked or page.low(j) in CUES.links
        j += 1
    if page.low(i) in ("group", "charity", "v", "vs"):
        linked = linked or j == i + 1
    if not linked or not page.together(i, j) or page.lines[j] in page.caps_lines:
        return
    barred = page.marks(j) & (m.TITLE | m.STOP | m.MONTH | m.WEEKDAY)
    barred = barred and page.low(j) not in CUES.first_words
    if page.infos[j].shape not in "CM" or barred:
        return
    end = forward_proper(page, j + 1 if page.low(j) in CUES.first_words else j, 4)
    first = page.infos[j]
    if end <= j or (first.first >= 8 and not first.marks & m.PLACE) or ends_medical(page, end):
        return
    tells = told(page, j, end)
    if tells:
        evidence = 0.82 if end - j > 1 else 0.65 if tells == 2 else 0.4
        end = with_age_group(page, end)
        yield cut(page, j, end, "organisation", evidence, "affiliation")


def ends_medical(page: Page, end: int) -> bool:
    """Return True when medicine follows or ends the words: training in Bobath technique."""
    medicine = page.low(end) in HOSPITAL.measures or page.infos[end - 1].medical
    return medicine or bool(page.marks(end) & m.HEAD)


@detector("saint", m.SAINT | HOLY, languages=("en",))
def find_saints(page: Page, i: int) -> Iterator[Candidate]:
    """Find St Jude's, Our Lady of Lourdes, Holy Trinity: a church or school without saying so."""
    if page.infos[i].shape == "l" and not page.lower:
        return
    plain = is_plain(page, i)
    low = page.low(i)
    if low == "our":
        # Our Lady of Lourdes, Our Lady's, Our Saviour's.
        if page.low(i + 1) not in ("lady", "saviour", "savior", "redeemer", "lord"):
            return
        if page.low(i + 2) == "of" and page.together(i, i + 3):
            end = i + 4 if plain else forward_proper(page, i + 3, 4)
            if end > i + 3:
                yield cut(page, i, end, "organisation", 0.9, "saint")
        elif page.low(i + 2) in ("'", "’") and page.capital(i + 1):
            yield cut(page, i, i + 4, "organisation", 0.85, "saint")
    elif page.marks(i) & HOLY:
        j = i + 1
        if page.low(j) in CUES.second and page.together(i, j) and (page.capital(j) or plain):
            end = j + 3 if page.low(j + 1) in ("'", "’") and page.low(j + 2) == "s" else j + 1
            yield cut(page, i, end, "organisation", 0.6 if plain else 0.84, "saint")
    elif low in CUES.saints:
        j = page.skip_dot(i + 1)
        k = j + 1
        if not page.together(i, j) or page.infos[j].shape in "dpI":
            return
        if page.low(k) not in ("'", "’") or page.low(k + 1) != "s" or not page.joined(k):
            return
        after = page.near(i, k + 2)
        barred = m.STOP | m.PREPOSITION | m.CLUB | m.ACTS | m.HOSPITAL
        if after is not None and after.shape == "l" and not after.marks & barred:
            return
        yield cut(page, i, k + 2, "organisation", 0.65 if plain else 0.85, "saint")


@detector("named ward", m.mark("named ward"), languages=("en",))
def find_named_wards(page: Page, i: int) -> Iterator[Candidate]:
    """Find Kestrel Ward, and Ward: Wattle 3."""
    if not (page.capital(i) or page.plain_case(i)):
        return
    start = back_proper(page, i, 2) if not is_plain(page, i) else i
    while start < i and page.low(start) in NO_NAMES:
        start += 1
    if start < i and not page.infos[i - 1].medical and page.low(i - 1) not in NO_NAMES:
        yield cut(page, start, i + 1, "hospital", 0.84, "named ward")
        return
    j = i + 2 if page.low(i + 1) in (":", "=") else i + 1
    info = page.near(i, j)
    if info is None or info.shape not in "CM" or page.starts[j] - page.ends[i] > 8:
        return
    if info.low in NO_NAMES or info.medical or info.marks & (m.STOP | m.TITLE | m.HEADER | m.ROLE):
        return
    if j == i + 1 and page.low(j) in ("round", "manager", "clerk", "sister", "staff", "nurse"):
        return
    end = forward_proper(page, j, 2)
    if end > j and end - j < REACH:
        if page.marks(end) & m.DIGIT and page.together(i, end):
            end += 1
        yield cut(page, j, end, "hospital", 0.84 if j > i + 1 else 0.65, "named ward")


@detector("field of a body", FIELD, languages=("en",))
def find_body_fields(page: Page, i: int) -> Iterator[Candidate]:
    """Find what stands after School:, Insurer:, Pharmacy: in a form."""
    j = i + 1
    if page.low(j) in ("name", "used", "attended"):
        j += 1
    if page.low(j) != ":" or not page.together(i, j + 1):
        return
    j += 1
    info = page.infos[j]
    barred = m.STOP | m.TITLE | m.MONTH | m.WEEKDAY
    if info.shape not in "CM" or info.medical or info.marks & barred:
        return
    end = forward_proper(page, j, 5)
    tells = told(page, j, end) if end > j else 0
    if tells and not ends_medical(page, end):
        evidence = 0.85 if end - j > 1 else 0.8 if tells == 2 else 0.5
        kind = "hospital" if page.low(i) in CUES.houses else "organisation"
        yield cut(page, j, end, kind, evidence, "field of a body")


HEADED = cues("letterhead")


#: Last words that name a body only where it stands by itself.
PLAN, INSURER = m.mark("plan"), m.mark("insurer")
HOUSE = m.HOSPITAL | CARE | m.mark("clinic head")
HEADS = HOUSE | m.COMPANY | FIRM | m.CLUB | BODY | PLAN
#: What a line above the name of a practice holds.
SIGNED = m.SUFFIX | m.TITLE
#: Lines from the top of a text that may be the head of a letter.
TOP = 8
#: Words of a line at most.
MOST = 9
#: What ends a segment of a line of its own.
CUTS = frozenset((",", "–", "—", "|", "·", "•", "(", "-", ";"))
PARTS = frozenset(("–", "—", "|", "·", "•", "-"))


#: Words of headings that are no bodies: Discharge Clinic.
TITLES = m.STOP | m.TITLE | m.GREETING | m.CLOSING | m.MONTH | m.WEEKDAY | m.BORN | m.PHONE


@detector("letterhead", HEADS, languages=("en",))
def find_letterheads(page: Page, i: int) -> Iterable[Candidate]:
    """Find a line in capitalised words whose last word ends the names of bodies: Pelican Bay Medical."""
    if page.infos[i].shape not in "CMU" or not closes(page, i + 1):
        return ()
    start, top = segment_start(page, i), page.lines[i] <= TOP
    if start == i or segment_end(page, start) != i + 1 or not (top or after_signature(page, start)):
        return ()
    evidence = weigh_line(page, start, i + 1)
    return (cut(page, start, i + 1, kind_of(page, i), evidence, "letterhead"),) if evidence else ()


def segment_start(page: Page, i: int) -> int:
    """Return where the segment of a line that holds token i begins, or i when it is too long."""
    line = page.lines[i]
    for k in range(i, max(-1, i - MOST), -1):
        if k == 0 or page.lines[k - 1] != line:
            return k
        if page.infos[k - 1].low in PARTS and page.starts[k] > page.ends[k - 1]:
            return k
    return i


def after_signature(page: Page, i: int) -> bool:
    """Return True below a line that ends with the letters of a degree, or that holds a title."""
    above = (k for k in range(max(0, i - 7), i) if page.lines[k] == page.lines[i] - 1)
    signed = (page.infos[k].shape in "CUM" and page.marks(k) & SIGNED for k in above)
    return page.opens_line(i) and any(signed)


def segment_end(page: Page, start: int) -> int:
    """Return where the capitalised words from token start on end."""
    end = start
    while end < page.size and end - start < MOST and page.lines[end] == page.lines[start]:
        info = page.infos[end]
        if end > start and page.starts[end] - page.ends[end - 1] > 1:
            break
        capital = info.shape in "CMU" or (info.shape == "I" and end > start)
        inner = end > start and (
            info.low in PROPER.small
            or (info.low in "'’&.-" and (page.joined(end - 1) or info.low == "&"))
            or (info.low == "s" and page.low(end - 1) in "'’")
        )
        if not capital and not inner:
            break
        end += 1
    while end > start and (page.infos[end - 1].shape == "p" or page.low(end - 1) in PROPER.small):
        end -= 1
    return end


def closes(page: Page, end: int) -> bool:
    """Return True when a line ends at token end, or goes on in another segment."""
    if end >= page.size or page.lines[end] != page.lines[end - 1]:
        return True
    return page.low(end) in CUTS or page.starts[end] - page.ends[end - 1] > 1


def weigh_line(page: Page, start: int, end: int) -> float:
    """Return how certainly the words of a segment are a body; 0 for a heading."""
    last = end - 1
    if page.marks(start) & TITLES & ~m.STOP and not page.marks(start) & m.SAINT:
        return 0.0
    if any(page.low(k) in HEADED.forms for k in range(start, last)):
        return 0.0
    linked = page.low(start + 1) in HEADED.links and page.infos[start].common >= 11
    if linked and not page.marks(start) & HEADS:
        # Results of Wexley Diagnostics
        return 0.0
    tells = told(page, start, last)
    if page.low(last) in HEADED.departments and not is_named(page, start, last):
        return 0.0
    if any(page.infos[k].shape in "CM" for k in range(start, end)):
        return 0.86 if tells == 2 else 0.82 if tells and last - start > 1 else 0.0
    small = (k for k in range(start, last) if page.marks(k) & (m.PREPOSITION | m.STOP))
    if any(page.low(k) not in PROPER.inner for k in small):
        return 0.0
    if tells == 2 and is_named(page, start, last):
        return 0.84
    sure = page.low(last) in HEADED.sure and last - start > 2
    return 0.82 if tells and sure else 0.0


def is_named(page: Page, start: int, last: int) -> bool:
    """Return True when a word of no dictionary names a body, beside those that tell its sort: Haematology Day Unit."""
    plain = (w for w in page.infos[start:last] if not w.medical and w.low not in NO_NAMES)
    named = (w for w in plain if len(w.low) > 3 and not w.marks & (m.MEDICAL | m.EPONYM))
    return any(not w.common or w.index >= 1 for w in named)


def kind_of(page: Page, last: int) -> str:
    """Return the kind of a body by its last word."""
    marks = page.marks(last)
    if marks & HOUSE:
        return "hospital"
    return "organisation" if marks & (m.CLUB | BODY) and not marks & PLAN else "employer"


@detector("body in brackets", m.BRACKET, languages=("en",))
def find_bracketed(page: Page, i: int) -> Iterator[Candidate]:
    """Find the practice of a doctor in brackets after the name: Dr Bloom (Coastal IVF)."""
    if page.infos[i].low != "(" or page.marks(i + 1) & m.CAPITAL == 0:
        return
    if not any(page.marks(k) & m.TITLE for k in range(max(0, i - 5), i - 1)):
        return
    end = segment_end(page, i + 1)
    last = end - 1
    if page.low(end) not in (")", ",") or last <= i + 1 or not page.marks(last) & HEADS:
        return
    if told(page, i + 1, last) and not page.marks(i + 1) & TITLES:
        yield cut(page, i + 1, end, kind_of(page, last), 0.84, "body in brackets")


@detector("firm in a sentence", PLAN, languages=("en",))
def find_firms(page: Page, i: int) -> Iterator[Candidate]:
    """Find a word of no dictionary before Direct, Assist or Select: delivered by Medisend Direct."""
    k = i - 1
    if page.infos[i].shape != "C" or k < 1 or not page.together(k - 1, i) or page.gap(k) != 1:
        return
    info = page.infos[k]
    if info.shape in "CM" and not info.common and not info.marks & (m.FIRST | m.MEDICAL | m.EPONYM):
        led = page.low(k - 1) in ("by", "via", "with", "from", "through", "@", "w", "to", "of")
        yield cut(page, k, i + 1, "employer", 0.82 if led else 0.6, "firm in a sentence")


@detector("insurer", INSURER, languages=("en",))
def find_insurers(page: Page, i: int) -> Iterator[Candidate]:
    """Find a name of no dictionary after a word for a payer: TPA CareMantle, insurance Snowline."""
    j = i + 2 if page.low(i + 1) in (":", "-", "is", "by", "with") else i + 1
    if not page.together(i, j) or page.infos[j].shape not in "CM" or page.plain_case(j):
        return
    info = page.infos[j]
    if info.common or info.medical or info.marks & (m.FIRST | m.MEDICAL | TITLES):
        return
    end = forward_proper(page, j, 3)
    if end > j:
        yield cut(page, j, end, "employer", 0.82, "insurer")
