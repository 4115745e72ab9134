"""Dates as people write them: recognised at a place of a text and read; cut to their month, or moved with the words of the calendar.

Beside shifted dates holidays, weekdays, seasons and months would tell the shift. A holiday names its day of the year, so that no
word can stand in its place: it becomes "that day". Weekdays, months and seasons move by the same days as the dates.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from tacit.data.corpus import Span
from tacit.text.packs import Pack

NUMERIC = re.compile(r"(\d{1,2})([/.\-])(\d{1,2})\2(\d{4}|'?\d{2})(?![\d/])(?!\.\d)")
SPACED = re.compile(r"(\d{1,2})([/.\-]) ?(\d{1,2})\2 ?(\d{4}|\d{2})(?![\d/])(?!\.\d)")
WIDE = re.compile(r"(\d{1,2}) ?(/) ?(\d{1,2}) ?/ ?(\d{4}|\d{2})(?![\d/])(?!\.\d)")
#: Digits that a scanner took for letters: O7/l1/1952.
SCANNED = re.compile(
    r"([\dOolI]{1,2})([/.\-])([\dOolI]{1,2})(?:\2([\dOolI]{4}|[\dOolI]{2}))?(?![\w/])"
)
LETTERS = str.maketrans("OolI", "0011")
#: The boxes of a form: 07|06|2010.
BOXED = re.compile(r"(\d{1,2}) ?(\|) ?(\d{1,2}) ?\| ?(\d{4}|\d{2})(?![\d/])")
#: Months in Roman numbers: 9.iv.22, 9/IV/2022.
ROMAN = re.compile(
    r"(\d{1,2})([./\- ])(x?i{1,3}|iv|vi{0,3}|ix|xi?)\2(\d{4}|'?\d{2})(?![\d/])", re.IGNORECASE
)
ROMANS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
#: Without a space, as laboratories and drug trials write them: 04APR22.
SOLID = re.compile(r"(\d{1,2})([A-Za-z]{3})(\d{2}|\d{4})(?!\w)")
#: A month that the end of a line breaks: 16 Dec-, ember 2019.
BROKEN = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([A-Za-z]{2,8})-\n[ \t]{0,40}([a-z]{2,8})(?![a-z])(?:,? (\d{4})(?!\d))?"
)
ISO = re.compile(
    r"(\d{4})([/.\-])(\d{1,2})\2(\d{1,2})(?!\d)(?:T\d\d:\d\d(?::\d\d)?(?:\.\d{1,6})?Z?)?"
)
SHORT = re.compile(r"(\d{1,2})([/\-.])(\d{1,2})(?![\d/%])(?!\.\d)")
COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?!\d)")
MONTH_FIRST = re.compile(
    r"\.?[ ]{0,2}(?:the[ ]|[-/])?[ ]?(\d{1,2})(?:st|nd|rd|th)?(?![\d%:.]\d)(?:[ ]?(?:-|–|to|and|&)[ ]?(\d{1,2})(?:st|nd|rd|th)?(?!\d))?(?:(?:[ ]?,[ ]{0,2}|[ ]{1,2}|[-/])(\d{4}|'\d{2}|(?<=[-/])\d{2})(?!\d))?(?![\w])",
    re.IGNORECASE,
)
DAY_FIRST = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|\.)?(?:[ ]?(?:-|–|to|and|&|/|\+)[ ]?(\d{1,2})(?:st|nd|rd|th|\.)?)?[ ]{0,2}(?:of[ ]|[-/])?[ ]?([^\W\d_]{3,9})\.?(?![^\W\d_])(?:(?:[ ]?,[ ]{0,2}|[ ]{1,2}|[-/])?(\d{4}|'\d{2}|(?<=[-/ ])\d{2})(?![\d/]|:\d))?",
    re.IGNORECASE,
)


#: Words one letter from a month's name.
NO_MONTHS = frozenset(("match", "marsh", "starch", "larch", "parch", "marcy", "juli", "juni"))


@dataclass(frozen=True)
class Written:
    """A date as it stands: where it ends, its parts (0 when not written), and the way it is written."""

    end: int
    day: int
    month: int
    year: int
    form: str
    #: The year as written: "1994", "94", "'94".
    year_text: str = ""


@functools.lru_cache(maxsize=4096)
def near_month(low: str, names: tuple[str, ...]) -> int:
    """Return the month whose name is misspelt by a letter, 0 for none: Febuary, Ocober."""
    if not 5 <= len(low) <= 10:
        return 0
    for number, name in enumerate(names, start=1):
        if len(name) < 5 or name[0].lower() != low[0] or low in NO_MONTHS:
            continue
        if OSA.distance(low, name.lower(), score_cutoff=1) <= 1:
            return number
    return 0


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@functools.lru_cache(maxsize=4096)
def is_near_weekday(low: str) -> bool:
    """Return True for a weekday misspelt by a letter: thrusday, wensday."""
    return 5 <= len(low) <= 10 and any(
        day[0] == low[0] and OSA.distance(low, day, score_cutoff=1) <= 1 for day in WEEKDAYS
    )


def is_letter(text: str, at: int) -> bool:
    """Return True when a letter stands at a place of the text."""
    return text[at : at + 1].isalpha()


def full_year(text: str) -> int:
    """Return a year from two or four digits."""
    digits = text.strip("'")
    if not digits:
        return 0
    year = int(digits)
    return year if len(digits) == 4 else year + (2000 if year <= 40 else 1900)


def make(end: int, day: int, month: int, year: str, form: str) -> Written | None:
    """Return a date from its parts, the year as it is written; None where no calendar has it."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return Written(end, day, month, full_year(year), form, year)


def read_numeric(text: str, at: int, pack: Pack) -> Written | None:
    """Read a date in digits that starts at a place of the text."""
    found = ISO.match(text, at)
    if found:
        year, _, month, day = found.groups()
        usual = 1850 <= int(year) <= 2100
        return make(found.end(), int(day), int(month), year, "iso") if usual else None
    found = NUMERIC.match(text, at) or SPACED.match(text, at) or WIDE.match(text, at)
    if not found:
        odd = "|" in text[at : at + 4] or is_letter(text, at + 2) or is_letter(text, at + 3)
        return read_roman(text, at) if odd else None
    a, sign, b, year = int(found[1]), found[2], int(found[3]), found[4]
    if len(year.strip("'")) == 4 and not 1850 <= int(year) <= 2100:
        return None
    day_first = pack.day_first or sign == "."
    day, month = (a, b) if (day_first and b <= 12) or a > 12 else (b, a)
    return make(found.end(), day, month, year, f"numeric{sign}")


def read_roman(text: str, at: int) -> Written | None:
    """Read a date whose month is a Roman number, or that stands in the boxes of a form."""
    boxed = BOXED.match(text, at)
    found = boxed or ROMAN.match(text, at)
    if not found:
        return None
    day, year = int(found[1]), found[4]
    month = int(found[3]) if boxed else ROMANS.index(found[3].lower())
    if boxed and month > 12:
        day, month = month, day
    return make(found.end(), day, month, year, "text")


def read_short(text: str, at: int) -> Written | None:
    """Read a day and month in digits, without a year."""
    found = SHORT.match(text, at)
    if not found:
        return None
    a, b = int(found[1]), int(found[3])
    day, month = (b, a) if a <= 12 else (a, b)
    return make(found.end(), day, month, "", f"short{found[2]}")


def read_scanned(text: str, at: int) -> Written | None:
    """Read a date in whose digits a scanner saw letters: O for 0, l for 1."""
    found = SCANNED.match(text, at)
    if not found or found[0].replace(found[2], "").isdecimal():
        return None
    if sum(c.isdecimal() for c in found[0]) < (3 if found[4] else 2):
        return None
    a, b = (int(found[k].translate(LETTERS)) for k in (1, 3))
    year = (found[4] or "").translate(LETTERS)
    day, month = (b, a) if b > 12 else (a, b)
    return make(found.end(), day, month, year, f"numeric{found[2]}")


def read_day_month(text: str, at: int, pack: Pack) -> Written | None:
    """Read 4 May 1971, 4th of May, 4-May-71, 04MAY71."""
    solid = SOLID.match(text, at) if is_letter(text, at + 1) or is_letter(text, at + 2) else None
    month = pack.months.get(solid[2].lower(), 0) if solid else 0
    read = make(solid.end(), int(solid[1]), month, solid[3], "text") if solid else None
    if read:
        return read
    found = DAY_FIRST.match(text, at)
    if not found:
        return None
    # The name of the month may go on in the next line.
    broken = BROKEN.match(text, at) if text[found.end() : found.end() + 1] == "-" else None
    if broken:
        month = pack.months.get((broken[2] + broken[3]).lower(), 0)
        read = make(broken.end(), int(broken[1]), month, broken[4] or "", "text")
        if read:
            return read
    month = pack.months.get(found[3].lower(), 0) or near_month(found[3].lower(), pack.month_names)
    word = found[3] in ("may", "march", "mar", "sun") and "of" not in found[0]
    if word and not found[4] and not text[at - 1 : at].isspace():
        return None
    end, year = with_year(found, 4)
    return make(end, int(found[1]), month, year, "text")


def with_year(found: re.Match[str], group: int) -> tuple[int, str]:
    """Return where a date ends and its year; four digits that are a time of day are no year: 30 Aug 0745."""
    year = found[group] or ""
    if len(year) == 4 and not 1850 <= int(year.strip("'")) <= 2100:
        end = found.start(group)
        return found.start() + len(found.string[found.start() : end].rstrip(" ,-/")), ""
    return found.end(), year


def read_month_day(text: str, month: int, after: int) -> Written | None:
    """Read what follows a month's name: February 2, 1994; Feb. 2nd."""
    found = MONTH_FIRST.match(text, after)
    if not found or (found[0].startswith(("-", "/")) and not found[3]):
        return None
    end, year = with_year(found, 3)
    return make(end, int(found[1]), month, year, "text")


WORD = re.compile(r"[^\W\d_]+")


def read(text: str, pack: Pack) -> tuple[Written, int] | None:
    """Return a date's parts and where its own text starts, after a weekday."""
    for found in WORD.finditer(text):
        month = pack.months.get(found[0].lower())
        if month:
            written = read_month_day(text, month, found.end())
            if written:
                return written, found.start()
    digit = re.search(r"\d", text)
    if not digit:
        return None
    at = digit.start()
    written = read_numeric(text, at, pack) or read_day_month(text, at, pack) or read_short(text, at)
    if written is None and re.fullmatch(r"\d{8}", text[at:]):
        year, rest = text[at : at + 4], text[at + 4 :]
        written = make(len(text), int(rest[2:]), int(rest[:2]), year, "compact")
    return (written, at) if written else None


def to_month(text: str, pack: Pack) -> str:
    """Return month and year of a date, written as the date was."""
    parts = read(text, pack)
    if parts is None:
        return ""
    date, at = parts
    month = pack.month_names[date.month - 1]
    if date.form == "text":
        # The month's name stays as it is written.
        named = (w for w in WORD.findall(text) if w.lower() in pack.months)
        written = next(named, month)
        comma = "," in text[at:] and date.year_text
        return f"{written}{',' if comma else ''} {date.year_text}".strip()
    if date.form == "iso":
        return f"{date.year_text}{text[at + 4]}{date.month:02d}"
    if date.form == "compact":
        return f"{date.year_text}{date.month:02d}"
    if date.form.startswith("short"):
        return month
    sign = date.form[-1]
    return f"{date.month:02d}{sign}{date.year_text}"


def shift(text: str, days: int, pack: Pack) -> str:
    """Return a date moved by days, written as the date was; month and year where it is no day of the calendar."""
    parts = read(text, pack)
    if parts is None:
        return ""
    date, at = parts
    try:
        moved = dt.date(date.year or 2001, date.month, date.day) + dt.timedelta(days=days)
    except (ValueError, OverflowError):
        return to_month(text, pack)
    year = str(moved.year) if len(date.year_text) == 4 else f"{moved.year % 100:02d}"
    if not date.year_text:
        year = ""
    if date.form == "iso":
        sign = text[at + 4]
        return f"{moved.year}{sign}{moved.month:02d}{sign}{moved.day:02d}"
    if date.form == "compact":
        return moved.strftime("%Y%m%d")
    if date.form.startswith(("numeric", "short")):
        sign = date.form[-1]
        first = re.findall(r"\d+", text[at:])[0]
        day_first = pack.day_first or sign == "." or int(first) == date.day > 12
        pair = (moved.day, moved.month) if day_first else (moved.month, moved.day)
        pad = first[0] == "0" or len(first) == 2
        numbers = [f"{n:02d}" if pad else str(n) for n in pair]
        return sign.join((*numbers, year) if year else numbers)
    name = pack.month_names[moved.month - 1]
    if text[at].isdigit():
        return f"{moved.day} {name} {year}".strip()
    return f"{name} {moved.day}, {year}" if year else f"{name} {moved.day}"


# -- words of the calendar, which move with the dates ----------------------------------------------


DAY_NAMES = (
    ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    ("Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"),
)
#: Winter first, as January is in it.
SEASONS = (
    ("winter", "spring", "summer", "autumn"),
    ("Winter", "Frühling", "Sommer", "Herbst"),
)
#: Second words for a weekday or a season.
SYNONYMS = {"sonnabend": "Samstag", "fall": "autumn", "frühjahr": "Frühling"}
APOSTROPHE = r"['’]?"
#: What follows a name of a day: Christmas Day, Easter Monday, Thanksgiving morning.
TAIL = r"(?: (?:Eve|Day|Sunday|Monday|Tuesday|Friday|Saturday|week|weekend|holidays?|break))?"
HOLIDAYS = (
    r"(?:Christmas|Xmas|X-mas|Easter|Thanksgiving|Hall?owe'?en|Hogmanay|Pentecost|Passover|Ramadan|Hanukkah|Chanukah|"
    r"Yom Kippur|Rosh Hashanah|Diwali|Juneteenth|Cinco de Mayo|Kwanzaa|Eid(?: al-Fitr| al-Adha)?|Mardi Gras)"
    + TAIL,
    rf"New Year{APOSTROPHE}s?(?:{APOSTROPHE})?(?: (?:Eve|Day))?",
    rf"(?:Valentine|Mother|Father|President|Veteran|St\.? (?:Patrick|Andrew|George|David)|Saint Patrick|All (?:Saint|Soul)|April Fool){APOSTROPHE}s{APOSTROPHE} (?:Day|Eve)",
    (
        r"(?:Boxing|Labou?r|Memorial|Independence|Columbus|Indigenous Peoples(?:['’])?|Remembrance|Armistice|May|Groundhog|Canada|Australia|"
        r"Anzac|Bastille|Martin Luther King(?:,? Jr\.?)?|MLK|Victory|Ascension|Epiphany|Earth|Election|Inauguration|Shrove Tues|Whit Sun|Whit Mon) ?Day"
    ),
    (
        r"(?:Good|Black) Friday|(?:Palm|Whit|Low) Sunday|(?:Ash|Holy) Wednesday|(?:Maundy|Holy) Thursday|Cyber Monday|Whit Monday|"
        r"Bonfire Night|Guy Fawkes(?: Night| Day)?|(?:Fourth|4th) of July|Bank Holiday(?: Monday| weekend)?|"
        r"(?:summer|winter) solstice|(?:vernal|spring|autumnal?) equinox"
    ),
    (
        r"Weihnachten|(?:Erste[rn]?|Zweite[rn]?) Weihnachtstag|Weihnachtstag(?:e|en)?|Heiligabend|Heilige[rn]? Abend|Silvester|Neujahr(?:stag)?|"
        r"Ostern|Ostersonntag|Ostermontag|Karfreitag|Gründonnerstag|Palmsonntag|Pfingsten|Pfingstsonntag|Pfingstmontag|Himmelfahrt(?:stag)?|"
        r"Christi Himmelfahrt|Fronleichnam|Allerheiligen|Allerseelen|Nikolaus(?:tag)?|Tag der Deutschen Einheit|Tag der Arbeit|Rosenmontag|"
        r"Aschermittwoch|Fasching|Muttertag|Reformationstag|Heilige Drei Könige|Dreikönig(?:stag)?"
    ),
)
#: Christmas disease and Christmas factor are haemophilia B; a tree shows no day.
HOLIDAY = re.compile(
    rf"(?<![\w-])(?:{'|'.join(HOLIDAYS)})(?![\w-]| (?:disease|factor|tree|Island)\b)", re.IGNORECASE
)
WEEKDAY = re.compile(
    rf"(?<![\w-])({'|'.join((*DAY_NAMES[0], *DAY_NAMES[1], 'Sonnabend'))})(?=s?(?!\w))"
)
SEASON = re.compile(
    r"(?<![\w-])(?:(?<=[Ii]n )|(?<=[Tt]he )|(?<=last )|(?<=this )|(?<=next )|(?<=early )|(?<=late )|(?<=mid-)|(?<=since )|(?<=during )|(?<=im )|(?<=seit ))"
    r"(winter|spring|summer|autumn|Winter|Spring|Summer|Autumn|Frühling|Frühjahr|Sommer|Herbst|(?:fall|Fall)(?= (?:of )?\d{4}))(?!\w)"
)
NUMBERED = re.compile(r"(?<![\w/.-])(0?[1-9]|1[0-2])/((?:19|20)\d\d)(?![\w/])")
DAY = re.compile(r"(?<!\d)\d{1,3}(?!\d)")
#: A year of four digits, which a date can be moved from.
YEAR = re.compile(r"[12]\d{3}")
THAT_DAY = {"de": "an jenem Tag"}


@functools.lru_cache(maxsize=8)
def months_form(words: tuple[str, ...], month_names: tuple[str, ...]) -> re.Pattern[str]:
    """Return the form of a month without a day: in December, since Dec 2019, December 2019."""
    names = "|".join(re.escape(n.capitalize()) for n in words)
    long = "|".join(map(re.escape, month_names))
    return re.compile(
        rf"(?<![\w\d-])(?:({names})\.?,? (?:of )?((?:19|20)\d\d)(?!\d)"
        rf"|(?:(?<=[Ii]n )|(?<=[Ss]ince )|(?<=until )|(?<=[Dd]uring )|(?<=[Ll]ast )|(?<=early )|(?<=late )|(?<=mid-)|(?<=by )|(?<=im )|(?<=seit ))({long})(?!\w| \d))"
    )


def calendar_spans(text: str, spans: Sequence[Span], pack: Pack, *, shifted: bool) -> list[Span]:
    """Return the words of the calendar outside the spans of a text in which dates are changed.

    Where dates keep their month, only holidays tell more than that.
    """
    if not any(s.kind == "date" for s in spans):
        return []
    months = months_form(tuple(sorted(pack.months)), tuple(pack.month_names))
    forms = [HOLIDAY, *([months, NUMBERED, SEASON, WEEKDAY] if shifted else [])]
    found: list[Span] = []
    for form in forms:
        for match in form.finditer(text):
            start, end = match.span()
            if not any(s.start < end and start < s.end for s in (*spans, *found)):
                found.append(Span(start, end, "date"))
    return found


def move_word(word: str, days: int, pack: Pack) -> str:
    """Return a word of the calendar moved by days; an empty text for a date with a day."""
    return next(filter(None, moved_forms(word, days, pack)), "")


def moved_forms(word: str, days: int, pack: Pack) -> Iterator[str]:
    """Yield the word moved, by each form that it may have."""
    yield holiday(word, pack)
    yield move_in(word, DAY_NAMES, lambda at: (at + days) % 7)
    yield move_in(word, SEASONS, lambda at: middle(2001, 1 + 3 * at, days).month % 12 // 3)
    numbered = NUMBERED.fullmatch(word)
    if numbered:
        moved = middle(int(numbered[2]), int(numbered[1]), days)
        yield f"{moved.month:0{len(numbered[1])}d}/{moved.year}"
    parts = word.replace(",", " ").replace(".", " ").split()
    month = pack.months.get(parts[0].lower(), 0) if parts else 0
    year = parts[-1] if len(parts) > 1 else ""
    if year and not YEAR.fullmatch(year):
        return
    if month and (len(parts) == 1 or (len(parts) < 4 and not DAY.search(" ".join(parts[1:])))):
        moved = middle(int(year or 2001), month, days)
        yield f"{pack.month_names[moved.month - 1]} {moved.year if year else ''}".strip()


def holiday(word: str, pack: Pack) -> str:
    """Return what stands in the place of a holiday; an empty text for another word."""
    return THAT_DAY.get(pack.language, "that day") if HOLIDAY.fullmatch(word) else ""


def move_in(word: str, lists: Sequence[Sequence[str]], move: Callable[[int], int]) -> str:
    """Return the word of the same list at the moved place, capitalised as it was; empty for a word of no list."""
    plain = SYNONYMS.get(word.lower(), word)
    for listed in lists:
        places = {w.lower(): i for i, w in enumerate(listed)}
        if plain.lower() in places:
            new = listed[move(places[plain.lower()])]
            return new.capitalize() if word[:1].isupper() else new
    return ""


def middle(year: int, month: int, days: int) -> dt.date:
    """Return the middle of a month moved by days."""
    return dt.date(year, month, 15) + dt.timedelta(days=days)
