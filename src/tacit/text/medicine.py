"""Medical evidence against a name: eponyms with their nouns, drugs with their doses, scores with their numbers."""

from __future__ import annotations

from tacit.text.reading import marks as m
from tacit.text.reading.page import Page, Word
from tacit.text.reading.words import cues

CUES = cues("medicine")


#: Marks of small words after which a name goes on in a sentence.
NO_NOUN = m.any_of(
    "stop acts preposition relation phone age hospital suffix title number born meets particle "
    "role header"
)


def medical_evidence(page: Page, i: int) -> float:
    """Return how strongly token i is medicine rather than a name, from 0 to 1."""
    if i in page.known:
        return 0.95
    info = page.infos[i]
    if info.marks & m.SCORE and is_measured(page, i):
        return 0.95
    contracted = page.low(i + 1) in ("'", "’") and page.low(i + 2) == "t" and page.joined(i)
    if (info.low in CUES.contracted and contracted) or is_misread(page, i):
        return 0.95
    j, steps = i + 1, 0
    eponym = bool(info.marks & (m.EPONYM | m.MEDICAL | m.DRUG))
    owner = False
    while j < page.size and steps < 5 and page.lines[j] - page.lines[i] <= 1:
        after = page.infos[j]
        if after.low in ("'", "’", "-", "s", "–", "/") and (page.joined(j - 1) or page.joined(j)):
            owner = owner or after.low == "s"
            j += 1
            steps += 1
            continue
        thing = after.marks & (m.EPONYM | m.MEDICAL) and after.low not in CUES.alone
        if owner and not eponym and thing:
            # Moss's Meckel's diverticulum: the disease belongs to a person.
            return 0.0
        if owner and after.marks & m.RELATION:
            return 0.0
        if after.marks & m.HEAD and not (after.marks & m.STREET and after.shape != "l"):
            return 0.95
        if after.marks & m.DOSE and info.marks & (m.MEDICAL | m.DRUG):
            return 0.95
        if after.shape == "d":
            if eponym and not info.first >= 14:
                return 0.95
            if info.shape == "U" and is_acronym(page, i):
                return 0.55
            return 0.6 if is_graded(page, i) or is_decimal(page, i) else 0.0
        linked = eponym and after.low in ("human", "type", "like")
        linked = linked or (after.low == "and" and page.marks(j + 1) & m.EPONYM > 0)
        if linked or (after.marks & (m.EPONYM | m.DRUG) and steps < 3):
            j += 1
            steps += 1
            continue
        if after.marks & m.DRUG or (after.marks & m.MEDICAL and after.medical and eponym):
            return 0.95
        break
    if info.marks & m.EPONYM and (beside_rare_eponym(page, i) or is_counted(page, i)):
        return 0.85
    phrase = info.marks & (m.EPONYM | m.PHRASE)
    if phrase and (is_listed_thing(page, i) or is_bracketed_thing(page, i)):
        return 0.85
    if owner and info.marks & m.EPONYM and stands_alone(page, j):
        return 0.9 if info.first < 15 and info.last < 16 else 0.5
    if before_medicine(page, i):
        return 0.85
    if page.low(i - 1) == "of" and page.low(i - 2) in CUES.parts_of_eponyms:
        return 0.9
    hyphen = page.low(i + 1) == "-" and page.joined(i)
    if hyphen and page.marks(i + 2) & m.MEDICAL:
        return 0.9
    if hyphen and page.joined(i + 1) and compound(page, i):
        return 0.85
    if page.low(i - 1) == "-" and i > 1 and page.joined(i - 1) and compound(page, i - 2):
        return 0.85
    if sounds_medical(page, info) or (j < page.size and is_graded(page, i)):
        return 0.6
    if info.shape == "U" and is_acronym(page, i):
        return 0.55
    if (info.common >= 9 or info.low in ("max", "min")) and is_ordinary_use(page, i):
        return 0.82
    if names_a_thing(page, i):
        if info.common >= 9 and page.low(i - 1) in ("the", "a", "an"):
            return 0.82
        if not is_first_name_only(info):
            return 0.5
    if info.marks & m.DRUG and info.first < 12 and info.last < 12:
        return 0.9
    if info.medical:
        return 0.8
    if not info.marks & m.EPONYM:
        return 0.0
    if info.last >= 11 and page.marks(i - 1) & m.MEETS and page.low(i - 1) != "via":
        # Notified by Hartmann, d/w Cooper; but closed with Gelpi.
        return 0.3 if page.low(i - 1) == "with" else 0.1
    return 0.7 if info.first < 15 and info.last < 16 else 0.05


def is_measured(page: Page, i: int) -> bool:
    """Return True for a score or a measurement with its number or grade: Braden 14, Wells score = 3, GAD-7, Bethesda II."""
    for j in range(i + 1, min(i + 4, page.size)):
        if page.lines[j] != page.lines[i] or page.starts[j] - page.ends[j - 1] > 1:
            return False
        info = page.infos[j]
        if info.shape == "d":
            return not is_person_number(page, j)
        if (info.low in CUES.grades and info.shape in "UI") or is_subgrade(info):
            return page.gap(j - 1) == 1
        if info.low not in CUES.links and not info.marks & m.HEAD:
            return False
    return False


def is_person_number(page: Page, j: int) -> bool:
    """Return True for a number that is an age or the start of a long one: 88F, 34 y, 07700."""
    if len(page.low(j)) > 4:
        return True
    after = page.word_at(j + 1)
    if after is None or page.lines[j + 1] != page.lines[j]:
        return False
    return (after.low in ("f", "m") and page.gap(j) < 2) or bool(after.marks & m.AGE)


def is_graded(page: Page, i: int) -> bool:
    """Return True for a capitalised word with a part of a whole, a share or a Roman figure after it: Lewin 4/5, Tosh III."""
    j = i + 1
    if j >= page.size or page.infos[j].shape not in "dUM":
        return False
    if not page.together(i, j + 1) or page.gap(i) != 1 or page.infos[i].shape not in "CM":
        return False
    info, after = page.infos[j], page.infos[j + 1]
    if info.shape == "d" and len(info.low) < 3:
        if after.low == "%":
            return True
        whole = page.low(j + 2)
        if after.low != "/" or whole not in CUES.wholes or int(info.low) > int(whole):
            return False
        return page.joined(j) and page.low(j + 3) != "/" and not page.starts_sentence(i)
    roman = info.low in ("ii", "iii", "iv", "vi", "vii") and info.shape == "U"
    named = (i and page.infos[i - 1].shape in "CMI") or page.low(i - 1) == "."
    return is_subgrade(info) or (roman and not named)


def is_decimal(page: Page, i: int) -> bool:
    """Return True for a capitalised word before a size: Tiger 4.0, EBU 3.5."""
    j = i + 1
    if not page.together(i, j + 2) or page.gap(i) != 1 or page.low(j + 1) != ".":
        return False
    short = len(page.low(j)) == len(page.low(j + 2)) == 1
    return short and page.infos[j + 2].shape == "d" and page.joined(j) and page.joined(j + 1)


def is_misread(page: Page, i: int) -> bool:
    """Return True for the start of an ordinary word with a digit for a letter, as machines read them: Pat1ent."""
    if i + 2 >= page.size or page.infos[i + 1].shape != "d":
        return False
    if page.low(i + 1) not in ("0", "1", "5") or not (page.joined(i) and page.joined(i + 1)):
        return False
    rest = page.infos[i + 2]
    if rest.shape != "l" or len(rest.low) < 2:
        return False
    start = page.infos[i].low
    for letter in ("o", "") if page.low(i + 1) == "0" else ("i", "l", "s"):
        word = page.lexicon(start + letter + rest.low)
        if word.common >= 9 or word.medical or word.marks & m.EPONYM:
            return True
    return False


def stands_alone(page: Page, j: int) -> bool:
    """Return True when no noun follows the 's before token j: ?Raynaud's, on tablets; but not Raynaud's wife."""
    if j >= page.size or page.lines[j] != page.lines[j - 1]:
        return True
    after = page.infos[j]
    return after.shape in "pd" or bool(after.marks & (m.STOP | m.PREPOSITION | m.MEDICAL))


def is_acronym(page: Page, i: int) -> bool:
    """Return True for a few capital letters that no list of names holds, within a line of small ones."""
    info = page.infos[i]
    if page.lines[i] in page.caps_lines:
        return False
    if info.low == "pearl":
        return True
    if info.first >= 9 or info.last >= 11:
        return False
    size = len(info.low)
    if size < 4 or (size < 7 and not VOWELS.intersection(info.low)):
        return True
    before = page.near(i, i - 1)
    return size < 6 and before is not None and before.shape in "CM"


VOWELS = frozenset("aeiouy")


def is_ordinary_use(page: Page, i: int) -> bool:
    """Return True for a word that is a name elsewhere, used as an ordinary one: Hope to avoid, Mark any, Rose-pink."""
    info = page.infos[i]
    if not page.together(i, i + 1) or page.gap(i) > 1:
        return False
    if info.low in ("max", "min"):
        return bool(page.marks(i + 1) & (m.DOSE | m.HEAD))
    after = page.infos[i + 1]
    if after.low == "-" and page.joined(i) and page.joined(i + 1):
        part = page.infos[i + 2]
        return part.shape == "l" and part.common >= 9 and part.first < 6
    if info.low in CUES.seasons and page.low(i - 1) in CUES.before_seasons:
        return True
    if not (page.starts_sentence(i) or page.plain_case(i)) or after.shape != "l":
        return False
    return after.low in CUES.determiners or after.low in COMPLEMENTS.get(info.low, ())


#: Words after an ordinary word that is a name elsewhere.
COMPLEMENTS = {
    "hope": ("to", "for", "of", "that"),
    "grace": ("of", "period"),
    "bill": ("for", "to"),
    "grant": ("of", "for"),
    "faith": ("in", "of"),
    "joy": ("of", "in"),
    "dawn": ("of",),
    "rose": ("to", "from", "by"),
    "will": ("need", "try", "be", "update", "see", "call", "review", "do", "discuss", "have"),
    "may": ("be", "need", "have", "is", "go", "require", "benefit"),
    "mark": ("as", "on", "up"),
    "frank": ("blood", "pus", "discussion"),
    "pat": ("dry",),
    "chase": ("up", "bloods", "results"),
    "art": ("therapy",),
}


def ordinary_evidence(page: Page, i: int) -> float:
    """Return how much speaks against a name for which there is the trained voter's word alone."""
    info = page.infos[i]
    before = page.near(i, i - 1)
    trade = before is not None and before.medical and not before.common and page.gap(i - 1) == 1
    if trade and info.first < 8 and info.last < 11:
        # Epilim Chrono
        return 0.5
    if follows_person(page, i):
        return 0.0
    if info.shape == "U" and is_abbreviation(page, i):
        return 0.55
    if info.marks & m.ROLE and is_title_of(page, i):
        return 0.5
    people = page.low(i + 1) in CUES.people and page.together(i, i + 1)
    if people and not info.first and info.shape == "C":
        # A Lumbee man, Twi speaker.
        return 0.5
    if info.marks & CUED and info.index < 5 and info.low.isascii():
        lone = page.starts_sentence(i) and page.infos[min(i + 1, page.size - 1)].shape not in "CU"
        return 0.0 if (info.first >= 11 and not lone) or info.low in CUES.generations else 0.5
    plain = info.shape == "l" or (info.shape == "U" and info.first < 7 and info.last < 9)
    if plain and info.common >= 9 and info.index < 0 and info.first < 9:
        return 0.45
    if info.common >= 9 and info.first < 8 and info.index < 2 and page.starts_sentence(i):
        return 0.4
    if info.low in CUES.times and i and (page.infos[i - 1].shape == "d" or page.low(i - 1) == "/"):
        return 0.5
    label = page.low(i + 1) == ":" and page.joined(i)
    opens = i == 0 or page.lines[i - 1] != page.lines[i] or len(info.low) < 5
    if label and opens and info.first < 8:
        return 0.5
    adjective = not info.first and not info.last and info.low.endswith(("ian", "ese", "ish"))
    if adjective and page.together(i, i + 1):
        after = page.infos[i + 1]
        return 0.5 if after.shape == "l" and after.common and not after.marks & NO_NOUN else 0.0
    return 0.0


def is_abbreviation(page: Page, i: int) -> bool:
    """Return True for a few capital letters that are no usual name: RAMQ, FEIN; PIB in a line of capitals."""
    info = page.infos[i]
    size = len(info.low)
    if page.lines[i] in page.caps_lines:
        return size < 5 and not info.first and not info.last and page.low(i - 1) != ","
    if page.low(i - 1) == "," and i > 1 and page.infos[i - 2].shape == "U":
        return False
    return info.first < 9 and (size < 4 or (size < 6 and info.last < 12))


def is_title_of(page: Page, i: int) -> bool:
    """Return True for a role before a name or a colon, be it a surname elsewhere: Warden Strong, Porter: Lee."""
    info = page.infos[i]
    if info.first >= 14 or not page.together(i, i + 1):
        return False
    after = page.infos[i + 1]
    return (after.shape in "CM" and info.first < 11) or (after.low == ":" and page.joined(i))


def follows_person(page: Page, i: int) -> bool:
    """Return True for a surname with a capital after a title or a first name: Mr Day, Branko Head."""
    info = page.infos[i]
    if info.last < 9 or info.shape == "l" or not page.together(i - 1, i) or i == 0:
        return False
    before = page.infos[i - 1]
    if before.low == "." and i > 1:
        return bool(page.infos[i - 2].marks & m.TITLE)
    if before.marks & m.TITLE:
        return True
    return before.shape in "CUM" and (before.first >= 5 or not (before.common or before.medical))


#: Marks of cue words: beside names, not in them.
CUED = (
    m.TITLE | m.RELATION | m.ROLE | m.SUFFIX | m.HEADER | m.STOP | m.WARD | m.PREPOSITION | m.GREETING
    | m.CLOSING
)  # fmt: skip


def is_first_name_only(info: Word) -> bool:
    """Return True for a word that is a first name and hardly anything else: Gwendolyn keen to go home."""
    if info.first >= 17:
        return True
    surname = info.last > info.first
    plain = not info.common and not info.marks & (m.EPONYM | m.MEDICAL)
    return info.first >= 8 and not surname and plain


def compound(page: Page, i: int) -> bool:
    """Return True for two capitalised words with a hyphen that name a thing: the Frank-Starling curve."""
    j = i + 2
    if j >= page.size or page.infos[i].shape not in "CM" or page.infos[j].shape not in "CM":
        return bool(page.marks(i) & m.EPONYM and page.marks(j) & m.EPONYM)
    if is_rare_eponym(page.infos[i]) or is_rare_eponym(page.infos[j]):
        return True
    both = page.marks(i) & m.EPONYM and page.marks(j) & m.EPONYM
    article = page.low(i - 1) in ("the", "a", "an", "by", "no", "negative", "positive")
    named = article and page.low(i - 1) != "by" and names_a_thing(page, j)
    return bool(both) or named or bool(page.marks(j + 1) & m.HEAD)


def is_rare_eponym(info: Word, usual: int = 9) -> bool:
    """Return True for the name of a thing that hardly anybody bears: Fraumeni."""
    rare = info.first < 7 and info.last < usual and not info.common
    return rare and bool(info.marks & m.EPONYM)


def beside_rare_eponym(page: Page, i: int) -> bool:
    """Return True for one of two signs in a row: Weber and Rinne, Tinel / Phalen."""
    if page.low(i + 1) in ("and", "/", "&", ",", "or"):
        after = page.word_at(i + 2)
        if after is not None and is_rare_eponym(after, 12):
            return True
    return page.low(i - 1) in ("and", "/", "&", ",", "or") and is_rare_eponym(page.infos[i - 2], 12)


def is_counted(page: Page, i: int) -> bool:
    """Return True for an eponym that stands for its thing: not a Jones, a Colles; Barton: a rim fracture."""
    if page.infos[i].shape not in "CM" or i == 0 or page.lines[i - 1] != page.lines[i]:
        return False
    after = page.word_at(i + 1)
    if page.low(i - 1) in ("a", "an"):
        return after is None or after.shape in "lp" or page.lines[i + 1] != page.lines[i]
    if after is None or after.low != ":" or page.low(i - 1) not in (".", ";"):
        return False
    return page.together(i, i + 2) and page.infos[i + 2].shape == "l"


FAR = 12


def is_listed_thing(page: Page, i: int) -> bool:
    """Return True for an eponym in a list of instruments, tests or operations: Lahey x2, Roberts, Mayo."""
    info = page.infos[i]
    if info.shape != "C" or not (parts_list(page, i - 1) or parts_list(page, i + 1)):
        return False
    rare = 0
    for step in (-1, 1):
        k = i + step
        while 0 <= k < page.size and abs(k - i) <= FAR and page.lines[k] == page.lines[i]:
            other = page.infos[k]
            if other.marks & (m.TITLE | m.RELATION | m.SUFFIX) and other.shape in "CU":
                return False
            if other.low in ".;" and step > 0:
                break
            thing = other.marks & (m.EPONYM | m.PHRASE | m.DRUG | m.MEDICAL) and not other.common
            rare += other.shape == "C" and bool(thing) and other.first < 7 and other.last < 12
            if rare >= 2:
                return True
            k += step
    return False


def is_bracketed_thing(page: Page, i: int) -> bool:
    """Return True for an eponym alone in brackets after medicine or a measurement: biopsies (Marsh), 318 g (Hadlock)."""
    if i < 2 or page.low(i - 1) != "(" or page.low(i + 1) != ")" or not page.together(i - 2, i):
        return False
    before = page.infos[i - 2]
    if before.marks & (m.ROLE | m.RELATION | m.TITLE | m.FIRST):
        return False
    return before.medical or bool(before.marks & (m.HEAD | m.DOSE))


def parts_list(page: Page, k: int) -> bool:
    """Return True for a mark between the things of a list."""
    return 0 <= k < page.size and page.low(k) in CUES.parts


def is_subgrade(info: Word) -> bool:
    """Return True for a grade with a letter: IIb, IIIa."""
    return info.shape == "M" and info.low in CUES.subgrades


def sounds_medical(page: Page, word: Word) -> bool:
    """Return True for a word of no list whose letters are those of medical terms."""
    if word.first or word.last or word.common or len(word.low) < 5:
        return False
    lexicon = page.lexicon
    return lexicon.sounds_medical(word.low) > 0.45 and lexicon.sounds_like_surname(word.low) < 0.1


def names_a_thing(page: Page, i: int) -> bool:
    """Return True when a common noun follows a capitalised word directly, as after an eponym: Hasson trocar."""
    j = i + 1
    if not page.together(i, j) or page.starts[j] - page.ends[i] > 1:
        return False
    if page.infos[i].shape == "l" or page.pack.nouns_capital:
        return False
    after = page.infos[j]
    if after.shape != "l" or after.marks & NO_NOUN or page.lines[i] in page.caps_lines:
        return False
    return not after.low.endswith(("ed", "ly", "ing", "s")) and len(after.low) > 2


def before_medicine(page: Page, i: int) -> bool:
    """Return True for the second word of an eponym: Braxton Hicks, Swan-Ganz."""
    if i == 0 or not page.infos[i].marks & m.EPONYM:
        return False
    k = i - 1
    if page.low(k) in "-–" and k:
        k -= 1
    before = page.infos[k]
    return bool(before.marks & m.EPONYM) and before.first < 14 and page.capital(k)
