"""Tidying what the trained voter found alone: labels, columns and scores that it took along are given back.

The voter looks at words, not at what they say: it takes VAS 2/10 for a date, the word before a number for part of it, and two
columns of a table for one thing. Spans of which a rule is the strongest evidence are left as they are.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from tacit.data.corpus import Span
from tacit.text.board import PLACE
from tacit.text.dates import read_day_month, read_month_day, read_numeric
from tacit.text.detect.bodies.named_body import NO_NAMES
from tacit.text.detect.numbers.forms import PAGER, find_emails, find_urls
from tacit.text.detect.numbers.record_number import LABEL, is_shared
from tacit.text.detect.times.date import (
    NO_DATES,
    after_score,
    closes,
    find_dates,
    find_month_dates,
    is_duration,
    is_event,
    is_vision,
    is_weekday,
)
from tacit.text.detect.times.day import ORDINAL, find_ordinal_days, find_spoken_dates, find_weekdays
from tacit.text.medicine import sounds_medical
from tacit.text.names import BARRED
from tacit.text.reading import marks as m
from tacit.text.reading.page import Page
from tacit.text.reading.words import cues

CUES = cues("tidy")
HOSPITAL = cues("hospital")
PROPER = cues("proper")
SPOKEN = cues("spoken")
VILLAGE = cues("village")


Rule = Callable[[Page, Span], Iterator[Span]]
#: Kinds that may go on in the next line, and what ends a line.
NUMBERS = frozenset(("date", "phone", "id"))
BREAKS = re.compile(r"[\r\n]")
#: White space as wide as this lies between columns.
COLUMN = re.compile(r"[ \t]{3,}|\t|\n")
WIDE = re.compile(r"[ \t]{2,}|\t|\n")
#: Readers of dates, each at the tokens that it is made for.
DATES = (
    (m.DIGIT, find_dates),
    (m.MONTH, find_month_dates),
    (m.MONTH, find_spoken_dates),
    (ORDINAL, find_ordinal_days),
    (m.WEEKDAY, find_weekdays),
)
#: A number of so many digits is no measurement.
LONG = 6
#: Evidence from which a reader of dates is believed where the voter saw one.
LEAST = 0.5
#: What a telephone number begins with.
PHONE_STARTS = frozenset("0123456789(+")


WORDY = frozenset(("address", "hospital", "employer", "organisation"))
#: What may lie within one name.
NARROW = frozenset(("", " ", ". ", "-", "'", " of "))

#: Marks of words that no number holds.
LABELS = m.NUMBER | m.PHONE | m.STOP | m.HEADER | m.PREPOSITION | LABEL


def tidy_spans(page: Page, spans: Iterable[Span]) -> list[Span]:
    """Return the spans, those of the trained voter alone cut to what they can be, or left out.

    What touches another span that stays is not left out: a part of a name is not judged by itself.
    """
    ordered = sorted(spans, key=PLACE)
    parts = [
        None
        if s.source != "crf" or s.kind not in RULES or needs_no_tidying(page, s)
        else tidy_span(page, s)
        for s in ordered
    ]
    tidied: list[Span] = []
    last = len(ordered) - 1
    for k, span in enumerate(ordered):
        left = parts[k]
        if left is None:
            tidied.append(span)
        elif left:
            begun = ordered[k - 1].end if k else 0
            following = ordered[k + 1].start if k < last else len(page.text)
            # Its parts are cut to the room between its neighbours.
            for p in left:
                start, end = max(p.start, begun), min(p.end, following)
                tidied.append(replace(p, start=start, end=end))
        elif any(
            0 <= n <= last and parts[n] != [] and belongs(page, span, ordered[n])
            for n in (k - 1, k + 1)
        ):
            tidied.append(span)
    return tidied


def needs_no_tidying(page: Page, span: Span) -> bool:
    """Return True for a span that is plainly what it is said to be: a date, a telephone number, a row of digits."""
    part = page.text[span.start : span.end]
    if span.kind == "date":
        return is_plain_date(page, span)
    if span.kind == "phone":
        return len(part) > 9 and part[0] in PHONE_STARTS and "  " not in part and "\n" not in part
    if span.kind == "id":
        first = bisect_left(page.starts, span.start)
        return len(part) > 4 and part.isdecimal() and not is_shared(page, first)
    return False


def belongs(page: Page, span: Span, other: Span) -> bool:
    """Return True when a span of words touches another that stays: University Hospital of, St."""
    left, right = (span, other) if span.start < other.start else (other, span)
    if page.text[left.end : right.start] not in NARROW:
        return False
    part = page.text[span.start : span.end]
    letters, digits = any(map(str.isalpha, part)), any(map(str.isdecimal, part))
    return span.kind in WORDY or not digits or (other.kind in WORDY and letters)


def tidy_span(page: Page, span: Span) -> list[Span]:
    """Return what is left of one span; a date or number that the end of a line breaks is read as if it did not."""
    rule, part, by = RULES[span.kind], page.text[span.start : span.end], span.start
    found: list[Span] = []
    if span.kind in NUMBERS and "\n" in part:
        flat = Page(BREAKS.sub(" ", part), page.lexicon)
        read = rule(flat, replace(span, start=0, end=len(flat.text)))
        found = [replace(s, start=s.start + by, end=s.end + by) for s in read]
    return found or list(rule(page, span))


def columns_of(page: Page, span: Span, gaps: re.Pattern[str] = COLUMN) -> Iterator[Span]:
    """Yield the parts of a span that wide spaces and line ends separate."""
    start = span.start
    part = page.text[start : span.end]
    if "  " not in part and "\n" not in part and "\t" not in part:
        yield span
        return
    for gap in gaps.finditer(page.text, span.start, span.end):
        if gap.start() > start:
            yield replace(span, start=start, end=gap.start())
        start = gap.end()
    if start < span.end:
        yield replace(span, start=start)


def tidy_date(page: Page, span: Span) -> Iterator[Span]:
    """Yield the dates within a span; what holds none is a score, a value or a weekday alone."""
    at = span.start
    for i in page.tokens_in(span.start, span.end):
        if page.starts[i] < at:
            continue
        marks = page.marks(i)
        readers = (find for on, find in DATES if on & marks)
        found = [c for find in readers for c in find(page, i) if c.start >= at]
        found = [c for c in found if c.evidence >= LEAST]
        if not found:
            continue
        start, end = min(c.start for c in found), max(c.end for c in found)
        if at == span.start and start > at:
            yield from before_date(page, span, start)
            yield from salvage(page, span, at, start)
        if page.text[at:start].lower().endswith("the "):
            start -= 4
        start, end = with_weekday(page, span, max(at, start), end)
        yield replace(span, start=start, end=end)
        at = end
    if at == span.start and could_be_date(page, span):
        yield span
    else:
        yield from salvage(page, span, at, span.end)


def is_plain_date(page: Page, span: Span) -> bool:
    """Return True for a span that is one date of the usual forms and nothing else."""
    text, start = page.text, span.start
    if text[start].isdecimal():
        read = read_numeric(text, start, page.pack) or read_day_month(text, start, page.pack)
        return read is not None and read.end == span.end
    i = bisect_left(page.starts, start)
    month = page.pack.months.get(page.low(i), 0)
    written = read_month_day(text, month, page.ends[i]) if month else None
    return written is not None and written.end == span.end


def salvage(page: Page, span: Span, start: int, end: int) -> Iterator[Span]:
    """Yield the words of a part that is given back and that may be names: the voter saw something in them."""
    for k in page.tokens_in(start, end):
        info = page.infos[k]
        if info.shape == "d" and len(info.low) >= LONG:
            yield replace(span, start=page.starts[k], end=page.ends[k], kind="id")
        titled = page.marks(k - 2 if page.low(k - 1) == "." else k - 1) & m.TITLE
        if info.shape in "CM" and (titled or is_strange(page, k, end)):
            yield replace(span, start=page.starts[k], end=page.ends[k], kind="name")


def is_strange(page: Page, k: int, end: int) -> bool:
    """Return True for a word before a place of the text that is a name, or is in no list and of no medicine."""
    info = page.infos[k]
    if page.ends[k] > end or len(info.low) < 3 or info.medical or info.marks & (BARRED | m.MEDICAL):
        return False
    if info.index < 3 and (info.common or sounds_medical(page, info)):
        return False
    return not (page.marks(k + 1) & m.DIGIT and page.together(k, k + 1))


def with_weekday(page: Page, span: Span, start: int, end: int) -> tuple[int, int]:
    """Return the ends of a date with a weekday that the voter saw near it: Friday night 12 May, 12 May (Fri)."""
    i, j = bisect_left(page.starts, start), bisect_left(page.starts, end)
    for k in range(i - 1, i - 4, -1):
        if page.marks(k) & m.WEEKDAY and page.starts[k] >= span.start:
            start = page.starts[k]
    for k in range(j, j + 3):
        if page.marks(k) & m.WEEKDAY and page.ends[k] <= span.end:
            end = page.ends[k]
    return start, end


def before_date(page: Page, span: Span, start: int) -> Iterator[Span]:
    """Yield the number or date whose end the voter put before a date: SD-118 Feb 8; LMP 5/12, EDD 12 Sept."""
    i = page.tokens_in(span.start, span.end)[0]
    if page.text[span.start - 1 : span.start] not in ("-", "/") or not page.words[i].isdecimal():
        return
    if len(page.words[i]) < 3:
        yield from part_of_date(page, span, i)
    elif page.ends[i] < start:
        yield replace(span, end=page.ends[i], kind="id")


def could_be_date(page: Page, span: Span) -> bool:
    """Return True for a span that no reader of dates knows and that may be one all the same."""
    if COLUMN.search(page.text, span.start, span.end) or NO_DATES.match(page.text, span.end):
        return False
    inside = page.tokens_in(span.start, span.end)
    i = inside[0] if inside else 0
    numbers = [k for k in inside if page.infos[k].shape == "d"]
    if any(page.marks(k) & m.MONTH for k in inside):
        return not is_month_alone(page, inside)
    if any(page.low(k) in SPOKEN.ordinals or page.low(k) in CUES.feasts for k in inside):
        return True
    if sum(bool(page.marks(k) & m.NUMBER_WORD) for k in inside) > 1:
        return True
    if not numbers or is_duration(page, i):
        return False
    if is_weekday(page, i) or is_event(page, i) or page.marks(i) & m.WEEKDAY:
        return True
    ordinals = [k for k in inside if page.marks(k) & ORDINAL and page.joined(k - 1)]
    if ordinals:
        return not any(ranks_a_noun(page, k + 1) for k in ordinals)
    whole = {page.low(k) for k in inside if page.infos[k].shape != "d"}
    if not whole <= {"/", "-", "."} or ("." in whole and len(whole) > 1):
        return False
    if whole == {"-"} and is_range(page, i):
        return False
    # What hangs on a letter: C5/6, x3/4.
    level = i > 0 and page.joined(i - 1) and page.infos[i - 1].shape != "p"
    return not (level or after_score(page, i) or is_share(page, i, numbers))


def is_month_alone(page: Page, inside: range) -> bool:
    """Return True for a month without a day: June 2021."""
    for k in inside:
        day = page.infos[k].shape == "d" and len(page.words[k]) < 4
        if (day and page.low(k - 1) not in ("'", "’")) or page.low(k) in SPOKEN.ordinals:
            return False
    return not page.marked(inside.start, inside.stop, m.NUMBER_WORD | m.WEEKDAY)


def is_share(page: Page, i: int, numbers: list[int]) -> bool:
    """Return True for 8/10 and 6/18, for the later parts of a value (7.31/52/28), and for numbers that no date has."""
    if page.low(i - 1) in (".", "/") and page.joined(i - 1) and page.marks(i - 2) & m.DIGIT:
        return True
    values = [int(page.words[k]) for k in numbers if len(page.words[k]) < 3]
    if len(numbers) == 2 and len(values) == 2:
        padded = any(page.words[k][0] == "0" for k in numbers)
        shared = is_vision(*values) and not padded and not is_clock(page, numbers[-1] + 1)
        return shared or bool(page.marks(i - 1) & m.DRUG)
    return any(value > 31 for value in values[:-1])


def is_range(page: Page, i: int) -> bool:
    """Return True for 2-4 puffs and between 4-6, which may be dates by their numbers alone."""
    if page.low(i)[0] == "0" or page.infos[i].shape != "d":
        return False
    if not closes(page, i + 3) or page.low(i - 1) in CUES.between:
        return True
    return not int(page.words[i]) <= 12 < int(page.low(i + 2) if page.marks(i + 2) & m.DIGIT else 0)


def ranks_a_noun(page: Page, j: int) -> bool:
    """Return True when the noun of an ordinal follows: the 2nd floor."""
    after = page.word_at(j)
    if after is None or not page.together(j - 1, j) or after.shape == "p":
        return False
    return not after.marks & (m.STOP | m.PREPOSITION | m.ACTS | m.MEETS | m.CLAUSE)


def tidy_phone(page: Page, span: Span) -> Iterator[Span]:
    """Yield the numbers of a span without the words before them; few digits need a word of telephones."""
    for part in columns_of(page, span):
        inside = page.tokens_in(part.start, part.end)
        k = next((k for k in inside if page.infos[k].shape == "d"), None)
        if k is None:
            if sum(bool(page.marks(k) & m.NUMBER_WORD) for k in inside) > 2:
                yield part
            else:
                yield from salvage(page, part, part.start, part.end)
            continue
        start = page.starts[k]
        while start > part.start and page.text[start - 1] in "(+x":
            start -= 1
        digits = sum(c.isdecimal() for c in page.text[start : part.end])
        # Few digits need a word of telephones shortly before them.
        led = (n for n in range(max(0, k - 8), k) if page.marks(n) & (m.PHONE | PAGER))
        cued = any(page.low(n) != "x" or (n == k - 1 and page.joined(n)) for n in led)
        if digits >= 7 or cued:
            yield replace(part, start=start)


def tidy_id(page: Page, span: Span) -> Iterator[Span]:
    """Yield the numbers of a span without labels before and words after them."""
    for part in columns_of(page, span, WIDE):
        inside = page.tokens_in(part.start, part.end)
        i, j = inside.start, inside.stop
        while i < j and is_label(page, i):
            i += 1
        # A word in capitals after a number is no part of it: M2208840 COLL.
        while j - i > 1 and page.infos[j - 1].shape == "U" and len(page.low(j - 1)) > 3:
            if page.joined(j - 2):
                break
            j -= 1
        while (
            i < j and page.infos[j - 1].shape == "l" and not page.lower and not page.joined(j - 2)
        ):
            j -= 1
        # Letters and one or two digits without a label before them: TP53.
        gene = j - i == 2 and page.joined(i) and page.infos[i].shape == "U"
        gene = gene and len(page.words[i + 1]) < 3 and not page.marked(i - 2, i, m.NUMBER | LABEL)
        value = gene or (j - i == 1 and is_time(page, i)) or is_entry(page, i, j)
        if not page.marked(i, j, m.DIGIT):
            yield from salvage(page, part, part.start, part.end)
        elif j - i == 1 and len(page.words[i]) < 3 and not is_shared(page, i):
            yield from part_of_date(page, part, i)
        elif not value and not is_shared(page, i):
            yield replace(part, start=page.starts[i], end=page.ends[j - 1])


def is_entry(page: Page, i: int, j: int) -> bool:
    """Return True for an entry of a log or a chart: Disp 1407, OS 1415 among other times, UO 610, EPO 4000."""
    if j - i != 2 or page.joined(i) or len(page.words[i + 1]) > 4:
        return False
    if not page.words[i + 1].isdecimal():
        return False
    info = page.infos[i]
    if info.marks & (m.NUMBER | LABEL | m.PHONE):
        return False
    if info.medical or info.marks & (m.DRUG | m.SCORE):
        return True
    if not is_clock(page, i + 1):
        return False
    near = (k for k in range(i - 4, j + 4) if k != i + 1)
    return info.shape != "U" or any(is_clock(page, k) for k in near)


def part_of_date(page: Page, part: Span, i: int) -> Iterator[Span]:
    """Yield the date of which a number of one or two digits is the end: LMP 5/12."""
    k = i - 2
    if k >= 0 and page.low(i - 1) in ("/", "-", "."):
        for c in find_dates(page, k):
            if c.evidence >= LEAST:
                yield replace(part, start=c.start, end=c.end, kind="date")
                return
    if page.marks(i - 1) & (m.NUMBER | LABEL) or page.low(i - 1) in ("#", ".", ":"):
        yield part


def is_label(page: Page, i: int) -> bool:
    """Return True for a word or mark before a number that is no part of it."""
    info = page.infos[i]
    if info.shape == "d" or (page.joined(i) and page.infos[min(i + 1, page.size - 1)].shape == "d"):
        return False
    if info.shape == "p":
        return info.low not in "(*" or not page.joined(i)
    if page.joined(i) and page.joined(i + 1) and page.low(i + 1) not in ":#=":
        return False
    short = info.shape == "U" or page.lower
    if short and len(info.low) < 4 and not info.marks & LABELS & ~LABEL:
        return False
    return bool(info.marks & LABELS or (info.shape == "l" and info.common) or info.common >= 11)


def is_clock(page: Page, i: int) -> bool:
    """Return True for four digits that may tell the time of day."""
    word = page.words[i] if 0 <= i < page.size else ""
    return len(word) == 4 and word.isdecimal() and int(word[:2]) < 24 and int(word[2:]) < 60


def is_time(page: Page, i: int) -> bool:
    """Return True for four digits that tell the time, without a label before them."""
    if not is_clock(page, i):
        return False
    return not any(page.marks(k) & (m.NUMBER | LABEL) or page.low(k) == "#" for k in (i - 1, i - 2))


def tidy_email(page: Page, span: Span) -> Iterator[Span]:
    """Yield the address of a span that holds an at sign."""
    found = [
        c
        for k in page.tokens_in(span.start, span.end)
        if page.low(k) == "@"
        for c in find_emails(page, k)
    ]
    if not found:
        yield span
        return
    for c in found:
        yield replace(span, start=c.start, end=c.end)
    for k in page.tokens_in(span.start, span.end):
        if page.low(k) == "www" and all(page.starts[k] >= c.end for c in found):
            for c in find_urls(page, k):
                yield replace(span, start=c.start, end=c.end, kind="url")
            return


def tidy_thing(page: Page, span: Span) -> Iterator[Span]:
    """Yield the column of a span that is a name of a thing; a general word such as memory clinic is none."""
    inside = page.tokens_in(span.start, span.end)
    i, j = inside.start, inside.stop
    for k in range(i + 1, j):
        if page.starts[k] - page.ends[k - 1] >= 2 and page.lines[k] == page.lines[k - 1]:
            i = k
    while i < j and len(page.low(i)) == 1 and page.infos[i].shape in "lIp":
        i += 1
    if page.low(j) in HOSPITAL.measures and page.together(j - 1, j):
        return
    if any(tells(page, k) for k in range(i, j)):
        yield replace(span, start=page.starts[i])


def tells(page: Page, k: int) -> bool:
    """Return True for a word that says which one it is: Maple in Maple Ward, but neither word of memory clinic."""
    info = page.infos[k]
    if info.shape in "dp" or info.low in NO_NAMES or info.low in PROPER.small or len(info.low) < 2:
        return False
    return page.capital(k) or not (info.medical or info.common >= 14)


def tidy_address(page: Page, span: Span) -> Iterator[Span]:
    """Yield an address unless it is made of ordinary small words, or is one word that no place has."""
    inside = page.tokens_in(span.start, span.end)
    i, j = inside.start, inside.stop
    while j - i > 1 and (page.low(j - 1) in CUES.rings or page.low(j - 1) == ","):
        j -= 1
    if page.low(j) == ":" and j - i > 1 and page.lines[j - 1] > page.lines[i]:
        # The next line is a field of its own.
        while j - i > 1 and page.lines[j - 1] == page.lines[min(j, page.size - 1)]:
            j -= 1
    if page.low(i + 1) == "," and (page.infos[i].medical or page.low(i) in NO_NAMES) and j - i > 2:
        i += 2
    if page.marked(i, j, m.DIGIT) or could_be_place(page, i, j):
        yield replace(span, start=page.starts[i], end=page.ends[j - 1])


def could_be_place(page: Page, i: int, j: int) -> bool:
    """Return True for words without a number that may be a place."""
    infos = [page.infos[k] for k in range(i, j) if page.infos[k].shape != "p"]
    if all(w.low in CUES.countries for w in infos):
        return False
    led = page.low(i - 1) in VILLAGE.placed or page.marks(i - 1) & m.LIVES or page.low(i - 1) == ","
    if all(w.common >= 9 and not w.marks & m.STREET for w in infos) and not led:
        return not (page.plain_case(i) or all(w.shape == "l" for w in infos))
    if any(w.marks & m.DRUG for w in infos):
        return False
    if len(infos) > 2:
        return True
    if len(infos) == 1 and len(infos[0].low) < 3:
        return False
    if len(infos) == 1 and infos[0].shape == "M" and not infos[0].marks & (m.PLACE | m.LAST):
        return False
    # Vancouver B2, Nottingham grade 2: a classification.
    after = page.word_at(j)
    if after is None or not page.together(i, j):
        return True
    for k in range(j, min(page.size, j + 4)):
        # Edinburgh Postnatal Depression Scale
        if page.infos[k].shape not in "CM" or not page.together(i, k):
            break
        if page.marks(k) & m.HEAD or page.low(k) in HOSPITAL.measures:
            return False
    graded = after.shape == "I" and page.joined(j) and page.marks(j + 1) & m.DIGIT
    return not (graded or (after.marks & m.HEAD and after.shape == "l"))


RULES: dict[str, Rule] = {
    "date": tidy_date,
    "phone": tidy_phone,
    "id": tidy_id,
    "email": tidy_email,
    "hospital": tidy_thing,
    "employer": tidy_thing,
    "organisation": tidy_thing,
    "address": tidy_address,
}
