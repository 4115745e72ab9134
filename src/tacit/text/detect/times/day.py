"""Ages over 89, which the rules of Safe Harbor take together; days without a month, and numbers in words, as people dictate them."""

from __future__ import annotations

from collections.abc import Iterator

from tacit.text.detect.registry import Candidate, cut, detector
from tacit.text.detect.times.date import closes
from tacit.text.names import could_be_name
from tacit.text.reading import marks as m
from tacit.text.reading.page import REACH, Page
from tacit.text.reading.words import cues

# -- five five five, oh one four two; march the ninth ----------------------------------------------


SPOKEN = cues("spoken")


#: Digits in words that make a telephone number.
ENOUGH = 6


@detector("spoken number", m.NUMBER_WORD, languages=("en",))
def find_spoken_numbers(page: Page, i: int) -> Iterator[Candidate]:
    """Find at least six digits in words, one after the other."""
    earlier = page.low(i - 1) in SPOKEN.digits or page.low(i - 2) in SPOKEN.digits
    if page.low(i) not in SPOKEN.digits or earlier:
        return
    end, j, count = i + 1, i, 0
    while j < page.size and j - i < 2 * REACH:
        if page.low(j) in SPOKEN.digits:
            count += 1
            end = j + 1
        elif page.low(j) not in (",", "-", "."):
            break
        j += 1
    if count >= ENOUGH:
        yield cut(page, i, end, "phone", 0.9, "spoken number")


@detector("spoken date", m.MONTH, languages=("en",))
def find_spoken_dates(page: Page, i: int) -> Iterator[Candidate]:
    """Find a month and a day in words: march the ninth, the ninth of March."""
    j = i + 2 if page.low(i + 1) == "the" else i + 1
    if page.low(j) in SPOKEN.ordinals and page.together(i, j):
        end = j + 1
        more = end + 1 if page.low(end) == "-" else end
        if page.low(j) in ("twenty", "thirty") and page.low(more) in SPOKEN.ordinals:
            end = more + 1
        elif page.low(j) in ("twenty", "thirty"):
            return
        yield cut(page, i, year_end(page, end), "date", 0.9, "spoken date")
    k = i - 2 if page.low(i - 1) == "of" else i
    if k < i and page.low(k) in SPOKEN.ordinals and page.together(k, i):
        start = k - 1 if page.low(k - 1) in ("twenty", "thirty") else k
        before = start - 2 if page.low(start - 1) == "the" else start - 1
        if page.marks(before) & m.WEEKDAY and page.together(before, i):
            start = before
        yield cut(page, start, year_end(page, i + 1), "date", 0.9, "spoken date")


def year_end(page: Page, end: int) -> int:
    """Return the end of a date with a year in words: ninety-two, nineteen fifty eight, two thousand and four."""
    j = end + 1 if page.low(end) == "," else end
    stop = number_end(page, j)
    counted = stop - j > 1 and page.low(j) in SPOKEN.years
    return stop if counted and page.together(end - 1, stop - 1) else end


def number_end(page: Page, j: int) -> int:
    """Return the end of the number words from token j on."""
    stop, k = j, j
    while k < min(page.size, j + 8):
        if page.marks(k) & m.NUMBER_WORD or page.low(k) in ("hundred", "thousand", "oh"):
            stop = k + 1
        elif page.low(k) not in ("-", "and"):
            break
        k += 1
    return stop


@detector("spoken birthday", m.BORN, languages=("en",))
def find_spoken_birthdays(page: Page, i: int) -> Iterator[Candidate]:
    """Find at least three number words after a word of birth: birthday nine twenty two fifty eight."""
    j = i + 1
    while page.low(j) in SPOKEN.between and j < i + 5:
        j += 1
    if not page.marks(j) & m.NUMBER_WORD or not page.together(i, j):
        return
    end = number_end(page, j)
    if sum(bool(page.marks(k) & m.NUMBER_WORD) for k in range(j, end)) > 2:
        yield cut(page, j, end, "date", 0.9, "spoken birthday")


# -- Tues 14th, on the 19th, the 9th inst., monday the twenty seventh ------------------------------


DAYS = cues("day")
ORDINAL = m.mark("ordinal")


@detector("day by its ordinal", ORDINAL)
def find_ordinal_days(page: Page, i: int) -> Iterator[Candidate]:
    """Find 14th after a weekday, after on the, before inst., or at the start of an entry."""
    k = i - 1
    if k < 0 or not page.joined(k) or page.infos[k].shape != "d" or len(page.words[k]) > 2:
        return
    if not 1 <= int(page.words[k]) <= 31 or (k and page.joined(k - 1) and page.low(k - 1) != "("):
        return
    yield from day_at(page, k, i + 1)


@detector("weekday and day", m.WEEKDAY)
def find_weekdays(page: Page, i: int) -> Iterator[Candidate]:
    """Find a weekday and a day: Fri 24, monday the twenty seventh, Sun. the third."""
    j = i + 1
    while page.low(j) in (".", ",", "the") and j < i + 4:
        j += 1
    if not page.together(i, j):
        return
    info = page.infos[j]
    if info.low in SPOKEN.ordinals:
        end = j + 1
        if info.low in ("twenty", "thirty"):
            more = j + 2 if page.low(j + 1) == "-" else j + 1
            named = page.low(more) in SPOKEN.ordinals and page.together(j, more)
            end = more + 1 if named else 0
        if end and page.low(end) == "of" and page.marks(end + 1) & m.MONTH:
            end += 2
        if end and (page.low(j - 1) == "the" or end - j > 1):
            yield cut(page, i, end, "date", 0.9, "day by its ordinal")
    elif info.shape == "d" and len(info.low) <= 2 and 1 <= int(info.low) <= 31:
        if page.infos[i].shape == "l" and not page.lower:
            return
        if page.gap(j - 1) != 1 or not ends_entry(page, j + 1):
            return
        yield cut(page, i, j + 1, "date", 0.82, "day by its ordinal")


def ends_entry(page: Page, j: int) -> bool:
    """Return True when nothing is counted by the number before token j: no time of day, no unit."""
    after = page.word_at(j)
    if after is None or not page.together(j - 1, j):
        return True
    stop = after.low == "." and not page.joined(j)
    return stop or after.low in (",", ";", ")", "(", "|", "–", "—")


def day_at(page: Page, k: int, end: int) -> Iterator[Candidate]:
    """Yield the ordinal of a day at tokens k up to, without, end, where its neighbours make it one."""
    before = k - 2 if page.low(k - 1) in ("the", "tbe") else k - 1
    article = before < k - 1
    start = k - 1 if article else k
    if page.low(end) in DAYS.monthly and page.together(k, end):
        yield cut(page, start, end + 1, "date", 0.92, "day by its ordinal")
        return
    if page.low(end) == "day" and page.low(end + 1) == "of" and page.marks(end + 2) & m.MONTH:
        stop = end + 4 if page.marks(end + 3) & m.FEW and page.together(k, end + 3) else end + 3
        yield cut(page, start, stop, "date", 0.95, "day by its ordinal")
        return
    which = page.low(end + 1) in ("this", "last", "next", "the", "that")
    month = page.low(end + 2) == "month" and page.together(end, end + 2)
    if page.low(end) == "of" and which and month:
        yield cut(page, start, end, "date", 0.88, "day by its ordinal")
        return
    if before >= 0 and page.low(before) in (",", "."):
        before -= 1
    together = before >= 0 and page.together(before, k)
    if together and page.marks(before) & m.WEEKDAY:
        yield cut(page, before, end, "date", 0.92, "day by its ordinal")
    elif together and page.low(before) in DAYS.before and is_day(page, end):
        yield cut(page, start, end, "date", 0.85 if article else 0.6, "day by its ordinal")
    elif page.opens_line(k) and not page.joined(end) and int(page.words[k]) > 3:
        if page.low(end) not in (":", "-", "–", "—"):
            return
        yield cut(page, k, end, "date", 0.82, "day by its ordinal")


def is_day(page: Page, j: int) -> bool:
    """Return True where a clause ends after an ordinal, and no noun follows another one: on the 3rd and 4th toes."""
    if page.low(j) not in ("and", "or", "to", "&", ",", "/", "-", "–"):
        return closes(page, j)
    other = j + (2 if page.low(j + 1) == "the" else 1)
    ranked = page.marks(other) & m.DIGIT and page.low(other + 1) in ("st", "nd", "rd", "th")
    ranks = ranked and other + 2 < page.size and not closes(page, other + 2)
    return closes(page, j) and not ranks


AGES = cues("age")


#: Nobody is older than this without a word for years beside the number.
OLDEST = 112


@detector("age over 89", m.AGED)
def find_great_ages(page: Page, i: int) -> Iterator[Candidate]:
    """Find a number from 90 to 125 that counts years of a life."""
    word = page.words[i]
    if len(word) > 3 or not word.isascii() or not 90 <= int(word) <= 125:
        return
    if i and page.joined(i - 1) and page.low(i - 1) in "./-" and not sex_before(page, i):
        return
    evidence = age_evidence(page, i, i + 1, int(word) <= OLDEST)
    if evidence:
        yield cut(page, i, i + 1, "age", evidence, "age over 89")


@detector("age over 89 in words", m.NUMBER_WORD)
def find_worded_ages(page: Page, i: int) -> Iterator[Candidate]:
    """Ninety-three years old, in words."""
    j = i + 1
    if page.low(i) == "ninety":
        if page.low(j) == "-":
            j += 1
        j = j + 1 if page.marks(j) & m.NUMBER_WORD and page.together(i, j) else i + 1
    elif page.low(i) == "one" and page.low(j) == "hundred":
        j += 1
        if page.low(j) == "and" and page.marks(j + 1) & m.NUMBER_WORD:
            j += 2
    else:
        return
    evidence = age_evidence(page, i, j, True)
    if evidence:
        yield cut(page, i, j, "age", min(evidence, 0.9), "age over 89")


def age_evidence(page: Page, i: int, j: int, likely: bool) -> float:
    """Return how certainly tokens i up to, without, j count the years of somebody; 0 for a value of another sort."""
    k = j + 1 if page.low(j) in ("th", "st", "nd", "rd") and page.joined(j - 1) else j
    if page.low(k) == "birthday" or (page.low(k) == "year" and page.low(k - 1) == "th"):
        # 94th birthday
        return 0.92
    before, after = page.low(i - 1), page.low(j)
    if sex_after(page, i, j) or (sex_before(page, i) and not measured(page, j)):
        return 0.9 if not has_value(page, i) else 0.0
    dated = before == "(" and after == "on" and page.marks(j + 1) & (m.DIGIT | m.WEEKDAY)
    if dated and is_person(page, i - 2):
        return 0.88
    if measured(page, j):
        return 0.0
    # Age: 94, Age/Sex: 94, Age (yrs) 94, at an age of 94.
    near = (page.low(k) for k in range(max(0, i - 5), i - 1) if page.together(k, i))
    field = before in (":", "of", "-", ")") and any(low in ("age", "alter") for low in near)
    if counts_years(page, j) or before in AGES.aged or field:
        return 0.95
    if not likely or page.infos[i - 1].shape == "d" or not ends_clause(page, j):
        return 0.0
    if has_value(page, i):
        return 0.0
    if before == "." and page.low(i - 2) == "d" and page.joined(i - 2):
        # father Cornelius d. 97
        return 0.88 if any(page.marks(k) & m.RELATION for k in range(max(0, i - 6), i)) else 0.0
    if before == "(" and after == ")":
        # 12/03/1928 (94)
        year = page.low(i - 2)
        born = year.isdecimal() and 1880 <= int(year) <= 1950
        return 0.88 if is_person(page, i - 2) or born else 0.0
    k = i - 2 if before in AGES.fillers else i - 1
    if page.low(k) in (",", "-", "–", "—") and is_person(page, k - 1):
        return 0.85
    if page.marks(k) & m.RELATION and page.low(k) not in AGES.young and page.together(k, i):
        return 0.85
    return 0.88 if tells_life(page, i) else 0.0


def measured(page: Page, j: int) -> bool:
    """Return True when token j makes the number before it a measurement, a share or a part of another number."""
    after = page.word_at(j)
    if after is None or not page.together(j - 1, j):
        return False
    if after.low in AGES.no_years or (after.marks & m.DOSE and after.low != "m"):
        return True
    inner = after.low in ".,-:–" and page.joined(j - 1) and page.joined(j)
    return inner and page.marks(j + 1) & m.DIGIT > 0


def sex_after(page: Page, i: int, j: int) -> bool:
    """Return True for 94F, 94/F, 94 F and | 94 | F |: a letter of sex that nothing continues."""
    k = j
    while page.low(k) in ("/", "|", ",", "-") and k < j + 1:
        k += 1
    if not page.together(i, k) or page.low(k) not in AGES.sexes:
        return False
    if page.joined(k) and page.infos[k + 1].shape != "p":
        return False
    if page.infos[k].shape == "l" and (page.low(k) == "m" or not page.lower) and k == j:
        # 100m is a distance, unless a person stands before it.
        return is_person(page, i - 1) or is_person(page, i - 2)
    if page.starts[k] - page.ends[j - 1] > 3 and k == j:
        return False
    close = page.starts[k] == page.ends[i] or k > j
    return close or page.starts_sentence(i) or is_person(page, i - 1) or page.low(i - 1) in ",(|"


def sex_before(page: Page, i: int) -> bool:
    """Return True for F/94, F 94, (F, 94): a letter of sex that stands by itself before the number."""
    k = i - 1
    while page.low(k) in ("/", "|", ",", "-") and k > i - 3:
        k -= 1
    if page.low(k) not in AGES.sexes or not page.together(k, i) or page.infos[k].shape != "I":
        return False
    if k > 1 and page.low(k - 1) == "/" and page.joined(k - 1) and page.joined(k - 2):
        # P/F 118
        return False
    return not (k and page.joined(k - 1) and page.infos[k - 1].shape != "p")


def counts_years(page: Page, j: int) -> bool:
    """Return True when a word for years of age stands at j, perhaps after a hyphen."""
    if page.low(j) == "-":
        j += 1
    low = page.low(j)
    if low in AGES.years:
        return not (low in ("years", "year", "yr", "yrs") and page.low(j + 1) in ("ago", "later"))
    return bool(low == "m" and page.low(j + 1) == "," and page.joined(j - 1))


def ends_clause(page: Page, j: int) -> bool:
    """Return True when nothing after a number is counted by it."""
    after = page.word_at(j)
    if after is None or not page.together(j - 1, j) or page.starts[j] - page.ends[j - 1] > 2:
        return True
    if page.joined(j - 1) and after.shape != "p":
        return False
    small = m.STOP | m.ACTS | m.PREPOSITION | m.CLAUSE | m.SIGNS | m.SUFFIX
    return after.shape == "p" or after.low in AGES.goes_on or bool(after.marks & small)


def has_value(page: Page, i: int) -> bool:
    """Return True when a word that carries values stands shortly before token i in its sentence."""
    for k in range(i - 1, max(-1, i - 5), -1):
        if not page.together(k, i) or page.low(k) in (".", ";"):
            return False
        info = page.infos[k]
        if info.low in AGES.values or info.marks & (m.DOSE | m.HEAD | m.DRUG | m.UNIT):
            return info.index < 6
        if info.medical and k >= i - 2 and not info.marks & m.RELATION:
            return True
    return False


def is_person(page: Page, k: int) -> bool:
    """Return True when token k can end the name of a person, or stands for one."""
    if k < 0 or page.lines[k] != page.lines[min(k + 2, page.size - 1)]:
        return False
    info = page.infos[k]
    if info.marks & (m.RELATION | m.ROLE) or info.low in AGES.persons or info.low in AGES.sex_words:
        return True
    if info.marks & m.PLACE and info.first < 8 and info.last < 12:
        return False
    if info.shape in "dp" or info.marks & (m.STREET | m.HOSPITAL | m.COMPANY | m.CLUB):
        return False
    if page.capital(k) and info.shape != "U":
        return could_be_name(page, k, True) and not info.medical and info.common < 13
    named = page.together(k - 1, k) and page.infos[max(0, k - 1)].first >= 9
    return info.index >= 5 or (not info.common and named)


def tells_life(page: Page, i: int) -> bool:
    """Return True for she is 92, lived to be 97, died at 94, a lady of 95."""
    k = i - 1
    while page.low(k) in AGES.fillers and k > i - 4:
        if page.low(k) == "of" and page.low(k - 1) in AGES.sex_words:
            return True
        k -= 1
    if not page.together(k, i):
        return False
    if page.low(k) in AGES.being or (page.low(k) in "sm" and page.low(k - 1) in "'’"):
        who = k - 1 if page.low(k) in AGES.being else k - 2
        while page.low(who) in ("will", "would", "to", "soon", "himself", "herself", "'", "’"):
            who -= 1
        return is_person(page, who) or page.low(who) in ("that", "and") or is_lived(page, who + 1)
    if page.low(k) in ("reached", "reaches", "celebrated", "nearing", "approaching", "pushing"):
        return True
    return page.low(k) in AGES.towards and is_lived(page, k)


def is_lived(page: Page, k: int) -> bool:
    """Return True when a word of living or dying stands shortly before token k."""
    return any(page.low(n) in AGES.life for n in range(max(0, k - 5), k) if page.together(n, k))
