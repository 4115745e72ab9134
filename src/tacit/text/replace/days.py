"""Dates become month and year, or move by the same number of days, with the words of the calendar beside them.

Holidays, weekdays, seasons and months would tell the shift. A holiday names its day of the year, so that no word can stand in
its place: it becomes "that day". Weekdays, months and seasons move by the same days as the dates.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Callable, Iterator, Sequence

from tacit.data.corpus import Span
from tacit.text.dates import Written, read_day_month, read_month_day, read_numeric, read_short
from tacit.text.packs import Pack

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
        day = int(rest[2:])
        return Written(len(text), day, int(rest[:2]), int(year), "compact", year), at
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
