"""The grammar of names: how far that of a person reaches from a cue, and that of a hospital, firm or club from its telling word."""

from __future__ import annotations

from tacit.text.medicine import is_subgrade
from tacit.text.reading import marks as m
from tacit.text.reading.page import REACH, Page, Word
from tacit.text.reading.words import cues

#: Marks of words that are not part of a name, unless they are names by every list and stand after a cue.
BARRED = m.any_of(
    "closing age unit stop title header month weekday relation phone number born head dose "
    "suffix called hospital ward role preposition greeting"
)
#: Jr. and III after a name belong to it.
GENERATIONS = frozenset(("jr", "sr", "ii", "iii", "iv"))
APOSTROPHES = frozenset("'’`´")
HYPHENS = frozenset("-‐‑")


def could_be_name(page: Page, i: int, cued: bool) -> bool:
    """Return True when token i can be part of a name; after a cue more is believed."""
    info = page.infos[i]
    shape = info.shape
    if shape in "dp" or shape == "I" or (shape in "UM" and info.marks & m.SUFFIX):
        return False
    if shape == "M" and is_subgrade(info):
        return False
    if info.marks & BARRED:
        return cued and info.index >= (4 if shape == "C" else 5)
    if page.capital(i):
        return capital_name(page, info, cued)
    if shape == "l" and not page.lower and not cued:
        return False
    # Without a telling capital, lists or ignorance make a name.
    if info.medical or len(info.low) < 2:
        return False
    if info.first or info.last:
        return info.index >= (3 if cued else 6)
    return cued and not info.common and not info.marks & m.MEDICAL and len(info.low) > 2


def capital_name(page: Page, info: Word, cued: bool) -> bool:
    """Return True for a word with a telling capital that can be a name."""
    if page.pack.nouns_capital:
        return info.index >= 5 or (cued and not info.medical and info.common < 14)
    if info.shape == "U":
        if len(info.low) < 4 and info.first < 9 and info.last < 11:
            return cued and not info.medical and not info.common and len(info.low) > 2
        strange = len(info.low) > 2 and not info.medical and not info.common
        return info.index >= 5 or (cued and strange)
    return cued or not (info.medical or (info.common >= 11 and info.index < 3))


def word_end(page: Page, i: int) -> int:
    """Return the end (exclusive) of the word at i with hyphens and inner apostrophes: Hartley-Bass, O'Brien."""
    j = i + 1
    while j + 1 < page.size and j - i < REACH and page.joined(j - 1) and page.joined(j):
        sign, part = page.infos[j].low, page.infos[j + 1]
        if part.shape in "dp":
            break
        hyphen = sign in HYPHENS and not part.marks & m.MEDICAL
        goes_on = part.shape != "l" or page.plain_case(i) or not part.common
        short = len(part.low) > 2 and page.ends[j - 1] - page.starts[j - 1] <= 2
        if (hyphen and goes_on) or (sign in APOSTROPHES and short):
            j += 2
        else:
            break
    return j


def is_initial(page: Page, i: int, cued: bool) -> bool:
    """Return True for the initial of a name: J or J."""
    info = page.infos[i]
    if info.shape == "I":
        return info.low != "i" or page.low(i + 1) == "."
    small = cued and page.plain_case(i) and len(info.low) == 1 and info.shape == "l"
    return small and page.low(i + 1) == "."


def skip_marked(page: Page, i: int, j: int, marks: int = m.TITLE) -> int:
    """Return the token after the titles at token j, each with an optional full stop, on the line of token i."""
    while page.together(i, j) and page.marks(j) & marks:
        j = page.skip_dot(j + 1)
    return j


def take_name(page: Page, i: int, *, cued: bool, most: int = 4, strong: bool = False) -> int:
    """Return the end (exclusive) of the name that begins at token i, or i when none does.

    After a strong cue (Mr.) the first word is believed whatever it is, if it has a telling capital.
    """
    j, words, initials = i, 0, 0
    while j < page.size and j - i < REACH and words < most:
        info = page.infos[j]
        if j > i and (page.ends_line(j) or page.apart(j)):
            break
        if words and info.low in GENERATIONS and info.shape != "l":
            return page.skip_dot(j + 1) if info.low in ("jr", "sr") else j + 1
        if has_apostrophe(page, j):
            j = word_end(page, j)
            words += 1
            continue
        if is_initial(page, j, cued) and initials < 3:
            after = page.skip_dot(j + 1)
            surname = strong and after < page.size and page.infos[after].last >= 8
            # A name or another initial follows.
            named = after < page.size and could_be_name(page, after, cued)
            named = named or (after + 1 < page.size and is_initial(page, after, cued))
            if words == 0 and not surname and not named:
                break
            initials += 1
            j = after
            continue
        if info.marks & m.PARTICLE and j + 1 < page.size and (words or info.shape != "l" or cued):
            after = page.skip_dot(j + 1)
            if particle_end(page, after, cued, words > 0) and info.low not in ("of", "e", "y"):
                j = after
                continue
        if info.low in ("an", "na") and page.low(j - 1) in ("mac", "nic", "mhic", "ó") and j > i:
            j += 1
            continue
        plainly = cued and (words == 0 or not page.plain_case(j) or not info.common)
        ruled = words == 0 and strong and is_believed(page, j, initials)
        # An ordinary word that is a surname after a first name, where capitals tell nothing.
        listed = words == 1 and page.plain_case(j) and page.infos[i].first >= 10
        listed = listed and info.last >= 10 and info.index >= 3 and not info.marks & BARRED
        if not (ruled or listed or could_be_name(page, j, plainly)):
            break
        if words and ends_before(page, i, info):
            break
        if words and info.shape not in "CMU" and page.capital(i) and not page.plain_case(i):
            break
        j = word_end(page, j)
        words += 1
    while j > i and page.infos[j - 1].low in (".", "-"):
        if j >= 2 and page.infos[j - 2].shape == "I":
            break
        j -= 1
    return j if words else (j if initials >= 2 and cued else i)


def is_believed(page: Page, j: int, initials: int) -> bool:
    """Return True for the first word after a strong cue that is taken for a name whatever it is."""
    info = page.infos[j]
    if info.shape in "CM" and not info.marks & m.STOP:
        return True
    # DR WINTER: an ordinary word that is a surname too, where capitals tell nothing.
    plain = page.plain_case(j) and not info.marks & BARRED and not info.medical
    if plain and info.last >= 9 and info.index >= -4:
        return True
    return initials > 0 and info.shape == "C" and info.last >= 8


def ends_before(page: Page, i: int, info: Word) -> bool:
    """Return True for medicine and what people do, no part of a name but its first; for letters after one: Drake MRCVS."""
    if info.medical and info.last < 13:
        return True
    size = len(info.low)
    if (info.marks & m.ACTS and info.shape == "l") or (size < 4 and info.marks & m.MEDICAL):
        return True
    few = size < 4 or (size < 7 and not info.last and not info.first)
    return few and info.shape == "U" and page.infos[i].shape == "C"


def has_apostrophe(page: Page, j: int) -> bool:
    """Return True for O'Brien and D'Souza, whose first letter stands alone."""
    info = page.infos[j]
    if len(info.low) != 1 or info.shape not in "Il" or info.low not in "odlm":
        return False
    if page.low(j + 1) not in APOSTROPHES or not (page.joined(j) and page.joined(j + 1)):
        return False
    return len(page.low(j + 2)) > 2 and (page.capital(j + 2) or page.plain_case(j))


def particle_end(page: Page, j: int, cued: bool, inside: bool) -> bool:
    """Return True when the name goes on after a particle (van der Berg)."""
    for k in range(j, min(j + 2, page.size)):
        info = page.infos[k]
        if info.shape in "CMU" and not info.marks & BARRED:
            return inside or cued
        if page.plain_case(k) and could_be_name(page, k, cued) and (inside or cued):
            return True
        if not info.marks & m.PARTICLE:
            return False
    return False


def take_back(page: Page, j: int, *, cued: bool, most: int = 4, strong: bool = False) -> int:
    """Return the start of the name that ends before token j (exclusive), or j when none does.

    Before a degree (strong) the last word is believed whatever it is, after a first name or an initial.
    """
    i, words = j, 0
    while i > 0 and j - i < REACH and words < most and page.lines[i - 1] == page.lines[j - 1]:
        k = i - 1
        info = page.infos[k]
        if words == 0 and i == j and info.low in GENERATIONS and info.shape != "l" and k > 0:
            i = k
            continue
        if info.low == "." and k > 0 and page.infos[k - 1].shape == "I":
            i = k - 1
            continue
        if info.shape == "I" and words:
            sex = page.low(k) in "fm" and k and page.infos[k - 1].shape in "dl"
            if page.marks(k - 1) & m.AGE or sex:
                break
            i = k
            continue
        if info.low in HYPHENS or info.low in APOSTROPHES:
            if not (words and k > 0 and page.joined(k) and page.joined(k - 1)):
                break
            i = k
            continue
        small = info.shape == "l" and info.low not in ("of", "e", "y", "do", "st")
        if info.marks & m.PARTICLE and words and small:
            i = k
            continue
        led = k > 0 and (page.infos[k - 1].first >= 8 or page.low(k - 1) == ".")
        believed = strong and words == 0 and led
        believed = believed and info.shape in "CU" and not info.marks & m.STOP
        if not (believed or could_be_name(page, k, cued)) or (info.shape == "l" and not page.lower):
            break
        i = k
        words += 1
    while i < j and (page.infos[i].shape in "lp" and not page.lower):
        i += 1
    return i if words else j


# -- names of things -------------------------------------------------------------------------------


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
            if not (info.low in "'’&" or hyphen or (info.low == "." and k and inner_dot(page, k))):
                break
            i = k
            continue
        hyphens = k > 1 and page.low(k + 1) == "-" and page.low(k - 1) == "-"
        if info.low in PROPER.joints and hyphens and page.joined(k):
            i = k - 1
            continue
        if info.low == "s" and k > 0 and page.low(k - 1) in "'’" and page.joined(k - 1):
            i = k - 1
            continue
        within = info.low in PROPER.inner and taken and k > 0 and not page.plain_case(k)
        if page.capital(k) or info.shape == "I":
            if stops(page, k):
                break
            taken += 1
        elif not (within and page.capital(k - 1) and not stops(page, k - 1)):
            small = info.shape == "d" or len(info.low) == 1
            barred = stops(page, k) or info.marks & (m.STOP | m.PREPOSITION)
            if not plain or small or taken >= 3 or barred:
                break
            taken += 1
        i = k
    i = tidy(page, i, j)
    if 0 < i < j and page.infos[i - 1].shape == "C" and page.low(i - 1) in PROPER.prefixes:
        # New, Old or Upper before a name within a sentence: attends New Canaan Church.
        within = page.gap(i - 1) == 1 and not page.starts_sentence(i - 1)
        return i - 1 if within and page.infos[i].shape in "CM" else i
    return i


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
    while i < j and (
        page.infos[i].shape == "p" or page.low(i) in PROPER.small or page.low(i) == "s"
    ):
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
