"""The memory of a document: accepted names are looked for again, put together by person, and the known record is searched."""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from rapidfuzz.distance import OSA

from tacit.data.corpus import Span
from tacit.text.board import NAMES
from tacit.text.dates import read_day_month, read_numeric
from tacit.text.detect.registry import Candidate, cut
from tacit.text.medicine import names_a_thing
from tacit.text.names import APOSTROPHES, BARRED
from tacit.text.reading import marks as m
from tacit.text.reading.page import Knowledge, Page
from tacit.text.reading.words import TOKEN, read_cues, words_of

#: Words of names that are remembered in one document.
MOST_PARTS = 400
#: Words that are compared with the names for misspellings.
MOST_WORDS = 5000


NUMBERS = frozenset(("id", "phone"))
#: Numbers that are remembered in one document, and places of each.
MOST_NUMBERS = 100
#: A name feeds back from this certainty on.
SURE = 0.84


def within(candidate: Candidate, taken: dict[int, int], spans: list[Span]) -> bool:
    """Return True when a candidate lies in a name that is accepted already: it does not support itself."""
    if taken.get(candidate.start, 0) >= candidate.end:
        return True
    k = bisect_right(spans, candidate.start, key=lambda s: s.start) - 1
    return k >= 0 and spans[k].kind in NAMES and spans[k].end >= candidate.end


class Memory:
    """Places of the words of a page, looked up by word."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.known: set[str] = set()
        self.numbers: set[str] = set()
        self.places: dict[str, list[int]] = defaultdict(list)
        for i, info in enumerate(page.infos):
            if info.shape in "lCUM":
                self.places[info.low].append(i)
        #: Comparisons for misspellings that are left, so that a page of names stays linear.
        self.budget = 200_000

    def recall(self, spans: list[Span]) -> list[Candidate]:
        """Return candidates for words of accepted names that were not known before."""
        fresh: dict[str, str] = {}
        for span in spans:
            if span.kind in NAMES and span.certainty >= SURE:
                for part in name_parts(self.page.text[span.start : span.end]):
                    # No initial, no word of two letters in small print.
                    telling = len(part) > 2 or self.page.lexicon(part).index >= 12
                    if part not in self.known and telling:
                        fresh[part] = span.kind
        numbers = self.same_numbers(spans)
        if len(self.known) > MOST_PARTS:
            return numbers
        self.known.update(fresh)
        found: list[Candidate] = []
        for part in fresh:
            found.extend(self.same_word(part))
            found.extend(self.short_forms(part))
            found.extend(self.misspellings(part))
        taken = {span.start: span.end for span in spans if span.kind in NAMES}
        return [*numbers, *(c for c in found if not within(c, taken, spans))]

    def same_numbers(self, spans: list[Span]) -> list[Candidate]:
        """Return the other places of numbers that were accepted as identifiers or telephone numbers."""
        text = self.page.text
        found: list[Candidate] = []
        for span in spans:
            if span.kind not in NUMBERS:
                continue
            number = text[span.start : span.end]
            if number in self.numbers or len(self.numbers) >= MOST_NUMBERS:
                continue
            self.numbers.add(number)
            if len(number) < 5 or sum(c.isdecimal() for c in number) < 4:
                continue
            for match in itertools.islice(re.finditer(re.escape(number), text), MOST_NUMBERS):
                at, end = match.span()
                whole = not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum()
                if at != span.start and (whole or at == 0):
                    found.append(Candidate(at, end, span.kind, 0.9, "prior occurrence"))
        return found

    def same_word(self, part: str) -> list[Candidate]:
        """Return the other places of a word, where it is written as a name."""
        page = self.page
        found = []
        for i in self.places.get(part, ()):
            info = page.infos[i]
            if page.capital(i):
                weak = page.starts_sentence(i) and info.common >= 12 and info.index < 5
                evidence = 0.5 if weak else 0.75 if info.marks & BARRED else 0.93
                if info.common >= 9 and is_thing(page, i):
                    evidence = 0.4
            elif info.shape == "U" or page.lower:
                evidence = 0.9 if info.index >= 4 or not info.common else 0.3
                if info.marks & BARRED:
                    evidence = 0.3
                if evidence < 0.5 and max(info.first, info.last) >= 7 and self.is_person(i):
                    evidence = 0.85
            else:
                plain = info.common or info.marks & (BARRED | m.MEDICAL)
                evidence = 0.0 if plain else 0.85
            if evidence:
                found.append(cut(page, i, i + 1, "name", evidence, "prior occurrence"))
        return found

    def is_person(self, i: int) -> bool:
        """Return True for a word where a person stands: after told, by and with, before 's."""
        page = self.page
        before = page.marks(i - 1) if page.together(i - 1, i) else 0
        if before & (m.MEETS | m.TITLE | m.RELATION) or page.low(i - 1) in ("about", "for"):
            return not page.marks(i + 1) & m.HEAD
        owns = page.low(i + 1) in APOSTROPHES and page.low(i + 2) == "s" and page.joined(i)
        return owns and not page.marks(i + 3) & m.HEAD

    def short_forms(self, part: str) -> list[Candidate]:
        """Return places of diminutives of a first name, and of the name of which it is one."""
        page = self.page
        found = []
        for form in related_forms(page.lexicon.knowledge, part):
            for i in self.places.get(form, ()):
                info = page.infos[i]
                ordinary = page.starts_sentence(i) and info.common >= 13
                if page.capital(i) and not ordinary and not info.marks & m.STOP:
                    found.append(cut(page, i, i + 1, "nickname", 0.8, "diminutive"))
                elif not page.capital(i) and page.plain_case(i) and info.index >= 6:
                    found.append(cut(page, i, i + 1, "nickname", 0.7, "diminutive"))
        word = page.lexicon(part)
        if word.first >= 6 and len(part) > 3:
            for short in self.clipped.get(part[:3], ()):
                if short != part and len(short) <= len(part) and is_clipped(short, part):
                    found.extend(self.telling(short, "nickname", 0.82, "diminutive"))
        return found

    def telling(self, word: str, kind: str, evidence: float, source: str) -> list[Candidate]:
        """Return the places of a word where it is written as a name."""
        page, places = self.page, self.places[word]
        named = (i for i in places if page.capital(i) or page.plain_case(i))
        return [cut(page, i, i + 1, kind, evidence, source) for i in named]

    @functools.cached_property
    def clipped(self) -> dict[str, list[str]]:
        """Words that may be names cut short, by their first three letters."""
        found: dict[str, list[str]] = defaultdict(list)
        barred = BARRED | m.MEDICAL | m.EPONYM | m.PLACE
        for word, places in self.places.items():
            info = self.page.infos[places[0]]
            named = info.common < 9 or info.index >= 3
            if 3 <= len(word) <= 7 and named and not info.medical and not info.marks & barred:
                found[word[:3]].append(word)
        return found

    def misspellings(self, part: str) -> list[Candidate]:
        """Return places of words within one letter of a name, two for long names."""
        if len(part) < 4:
            return []
        found: list[Candidate] = []
        limit = 2 if len(part) >= 8 else 1
        words = self.strange.get(part[0], ())
        self.budget -= len(words)
        if self.budget < 0:
            return []
        for word in words:
            if abs(len(word) - len(part)) <= limit and word != part and word not in self.known:
                far = OSA.distance(word, part, score_cutoff=limit)
                if far <= limit:
                    found.extend(self.telling(word, "name", 0.75, "misspelling"))
        return found

    @functools.cached_property
    def strange(self) -> dict[str, list[str]]:
        """Words that are no ordinary or medical words, by their first letter."""
        found: dict[str, list[str]] = defaultdict(list)
        for word, places in itertools.islice(self.places.items(), MOST_WORDS + 2):
            info = self.page.infos[places[0]]
            strange = not info.common and not info.medical
            if len(word) > 3 and strange and not info.marks & (BARRED | m.MEDICAL):
                found[word[0]].append(word)
        return found


def is_thing(page: Page, i: int) -> bool:
    """Return True for a name used as an ordinary word: April 2023, Sugar 143, Christmas week, Long term."""
    after = page.word_at(i + 1)
    if after is None or page.lines[i + 1] != page.lines[i] or page.gap(i) != 1:
        return False
    if after.shape == "d":
        return after.low not in ("1", "2") and page.infos[i].index < 4
    return page.infos[i].index < 3 and names_a_thing(page, i)


def is_clipped(short: str, name: str) -> bool:
    """Return True for a name's start, alone or with the ending of a pet name: Ter, Nicky, Kayls for Kayleigh."""
    stem = short.rstrip("s") if len(short) > 4 else short
    for end in ("", "y", "ie", "i", "o", "a"):
        if stem.endswith(end) and len(stem) - len(end) >= 3:
            root = stem[: len(stem) - len(end)]
            if name.startswith(root) and len(name) > len(root) + (len(end) == 0):
                return True
            if len(root) > 3 and root[-1] == root[-2] and name.startswith(root[:-1]):
                return True
    return False


@functools.lru_cache(maxsize=4096)
def name_parts(text: str) -> tuple[str, ...]:
    """Return the words of a name in lower case, without initials and particles."""
    return tuple(w.lower() for w in TOKEN.findall(text) if w[0].isalpha() and len(w) > 1)


def related_forms(knowledge: Knowledge, part: str) -> tuple[str, ...]:
    """Return short and full forms of a first name."""
    return (*knowledge.short_forms.get(part, ()), *knowledge.formal.get(part, ()))


# -- which names of a document are the same person's -----------------------------------------------


#: People with a part of a name in common that are looked at, so that a long list of names stays linear.
MOST_HOLDERS = 50


def link_entities(text: str, knowledge: Knowledge, spans: list[Span]) -> list[Span]:
    """Return the spans with an entity on every name: full names first, then parts and short forms of them."""
    people: dict[str, tuple[str, ...]] = {}
    holders: dict[str, list[str]] = defaultdict(list)
    named: dict[tuple[str, ...], str] = {}
    parts_of = {
        k: name_parts(text[s.start : s.end]) for k, s in enumerate(spans) if s.kind in NAMES
    }
    linked = list(spans)
    for k in sorted(parts_of, key=lambda k: (-len(parts_of[k]), k)):
        parts = parts_of[k]
        entity = named.get(parts) or find_person(knowledge, parts, people, holders)
        if not entity:
            entity = f"p{len(people) + 1}"
            people[entity] = parts
            for part in parts:
                holders[part].append(entity)
        if parts:
            named[parts] = entity
        s = spans[k]
        linked[k] = Span(s.start, s.end, s.kind, s.certainty, s.source, entity)
    return linked


def find_person(
    knowledge: Knowledge,
    parts: tuple[str, ...],
    people: dict[str, tuple[str, ...]],
    holders: dict[str, list[str]],
) -> str:
    """Return the first person whose name holds all these parts, as such or as short forms."""
    if not parts:
        return ""
    # Whoever has all the parts is among those who have the rarest of them.
    rarest = min((holders.get(p, ()) for p in parts), key=len)
    for entity in rarest[:MOST_HOLDERS]:
        if all(p in people[entity] for p in parts):
            return entity
    for form in related_forms(knowledge, parts[0]):
        for entity in holders.get(form, ())[:MOST_HOLDERS]:
            known = people[entity]
            if all(p in known or set(related_forms(knowledge, p)) & set(known) for p in parts):
                return entity
    return ""


# -- the known record: its names, dates and numbers, in any usual form -----------------------------


#: What a field is, by words in its name; the first kind counts.
FIELDS = read_cues()["record"]


def field_kind(name: str, value: Any) -> str:
    """Return what kind of thing a field holds, by its name and value."""
    if isinstance(value, dt.date):
        return "date"
    low = name.lower()
    for kind, words in FIELDS.items():
        if any(w in low for w in words.split()) and not (kind == "id" and "name" in low):
            return kind
    return "other"


def search_record(page: Page, record: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield every place where a field of the record stands in the text."""
    for name, value in record.items():
        values = value if isinstance(value, (list, tuple, set)) else (value,)
        for one in values:
            if one is None or one == "":
                continue
            kind = field_kind(str(name), one)
            if kind == "date":
                yield from search_date(page, one)
            elif kind == "name":
                yield from search_name(page, str(one))
            else:
                yield from search_words(page, str(one), kind)


def search_name(page: Page, value: str) -> Iterator[Candidate]:
    """Yield the parts of a name, its short forms, and misspellings of it."""
    for part in name_parts(value):
        forms = set(related_forms(page.lexicon.knowledge, part))
        limit = 2 if len(part) >= 8 else 1 if len(part) >= 4 else 0
        for i, info in enumerate(page.infos):
            if info.shape not in "lCUM":
                continue
            strange = limit and not info.common and not info.medical and info.low[0] == part[0]
            if info.low == part:
                if info.shape != "l" or page.plain_case(i) or not info.common:
                    yield cut(page, i, i + 1, "name", 0.98, "known record", person=not info.common)
            elif info.low in forms and (
                page.capital(i) or (info.index >= 6 and page.plain_case(i))
            ):
                yield cut(page, i, i + 1, "nickname", 0.85, "known record")
            elif strange and OSA.distance(info.low, part, score_cutoff=limit) <= limit:
                yield cut(page, i, i + 1, "name", 0.85, "known record, misspelt")


def search_words(page: Page, value: str, kind: str) -> Iterator[Candidate]:
    """Yield places of a value, whatever its marks and spaces; and of the telling words of an address."""
    joined = "".join(w.lower() for w in words_of(value) if w[0].isalnum())
    if len(joined) < 3:
        return
    for i, info in enumerate(page.infos):
        if info.shape != "p" and joined.startswith(info.low):
            end = match_from(page, i, joined)
            if end:
                yield cut(page, i, end, kind, 0.97, "known record")


def match_from(page: Page, i: int, joined: str) -> int:
    """Return the end of tokens from i on that spell the letters and digits of ``joined``, or 0."""
    at, j = 0, i
    while j < page.size and at < len(joined) and j - i < 40:
        info = page.infos[j]
        if info.shape != "p":
            if not joined.startswith(info.low, at):
                return 0
            at += len(info.low)
        j += 1
    return j if at == len(joined) else 0


def search_date(page: Page, value: Any) -> Iterator[Candidate]:
    """Yield dates of the text that are the known one, however written."""
    known = read_date(page, value)
    if known is None:
        yield from search_words(page, str(value), "date")
        return
    pairs = {(known.day, known.month), (known.month, known.day)}
    for i, info in enumerate(page.infos):
        if info.shape == "d" and len(info.low) <= 4:
            place = (page.text, page.starts[i], page.pack)
            found = read_numeric(*place) or read_day_month(*place)
            if found and found.year % 100 == known.year % 100 and (found.day, found.month) in pairs:
                yield Candidate(page.starts[i], found.end, "date", 0.98, "known record")


def read_date(page: Page, value: Any) -> dt.date | None:
    """Return a date from a date or from text, or None."""
    if isinstance(value, dt.datetime):
        return value.date()
    if isinstance(value, dt.date):
        return value
    text = str(value).strip()
    found = read_numeric(text, 0, page.pack) or read_day_month(text, 0, page.pack)
    if found is None or not found.year:
        return None
    try:
        return dt.date(found.year, found.month, found.day)
    except ValueError:
        return None
