"""Treatments: what is put in the place of a span, by its kind and the mode.

Invented words are pronounceable, of no list, and the same for the same key and original; names and places are made of them.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.data.corpus import Span
from tacit.text.board import NAMES
from tacit.text.dates import calendar_spans, holiday, move_word, shift, to_month
from tacit.text.memory import name_parts, related_forms
from tacit.text.reading import marks as m
from tacit.text.reading.page import Knowledge, Lexicon, load_lexicon
from tacit.text.reading.words import TOKEN, cues, listed, tokenise

if TYPE_CHECKING:
    from tacit.text.engine import Settings

#: What stands for a masked span, whatever its length.
MASK = "****"
#: Dates move by at most half a year, and never by nothing.
FURTHEST = 182


def pieces_of(
    text: str, spans: Sequence[Span], settings: Settings, key: bytes
) -> Iterator[tuple[str, str]]:
    """Yield the new text in pieces: what stands in place of a span with its kind, what is as it was without one."""
    at = 0
    if settings.mode != "list" and spans:
        writer = Writer(text, spans, settings, key)
        for span in sorted([*spans, *writer.calendar]):
            if span.start >= at:
                yield text[at : span.start], ""
                # The stop after a month may end the sentence.
                stop = span.kind == "date" and text[span.end - 1] == "."
                at = span.end - stop
                yield writer.write(replace(span, end=at)), span.kind
    yield text[at:], ""


class Writer:
    """Writes replacements for the spans of one document."""

    def __init__(self, text: str, spans: Sequence[Span], settings: Settings, key: bytes) -> None:
        self.text = text
        self.settings = settings
        self.lexicon = load_lexicon(settings.language, settings.lists)
        self.numbers: dict[str, dict[str, int]] = {}
        self.calendar: list[Span] = []
        if settings.mode != "substitute":
            return
        present = frozenset(
            w.lower() for s in spans for w in TOKEN.findall(text[s.start : s.end]) if w[0].isalpha()
        )
        self.inventor = Inventor(key, self.lexicon.knowledge, present)
        self.people = People(text, spans, self.lexicon, self.inventor)
        digest = self.inventor.digest("days")
        days = int.from_bytes(digest[:4]) % FURTHEST + 1
        self.days = days if digest[4] % 2 else -days
        self.calendar = calendar_spans(
            text, spans, self.lexicon.knowledge.pack, shifted=settings.dates == "shift"
        )

    def write(self, span: Span) -> str:
        """Return what stands for one span."""
        original = self.text[span.start : span.end]
        if self.settings.mode == "mask":
            return MASK
        if self.settings.mode == "tag":
            return self.tag(span, original)
        made = self.substitute(span.kind, original)
        # A month or a season may move to itself: then it tells nothing.
        moved = span.kind == "date" and move_word(original, 0, self.lexicon.knowledge.pack)
        return made if made != original or moved else ""

    def tag(self, span: Span, original: str) -> str:
        """Return the kind and a number that the same person or thing keeps: [NAME 1]."""
        kind = "name" if span.kind == "nickname" else span.kind
        numbers = self.numbers.setdefault(kind, {})
        which = span.entity or " ".join(original.lower().split())
        return f"[{kind.upper()} {numbers.setdefault(which, len(numbers) + 1)}]"

    def substitute(self, kind: str, original: str) -> str:
        """Return an alternative of the same kind; nothing for what is of no known kind."""
        if kind in ("name", "nickname"):
            return self.people.replace(original)
        if kind == "date":
            pack = self.lexicon.knowledge.pack
            if self.settings.dates == "month":
                return holiday(original, pack) or to_month(original, pack)
            return move_word(original, self.days, pack) or shift(original, self.days, pack)
        if kind == "address":
            return replace_address(original, self.lexicon, self.inventor)
        if kind in ("hospital", "employer", "organisation"):
            return replace_thing(original, self.lexicon, self.inventor)
        if kind in ("phone", "id"):
            return self.inventor.digits(original, kind)
        if kind == "email":
            return f"{self.inventor.word(original.lower(), 'u')}@example.org"
        if kind == "url":
            return f"https://example.org/{self.inventor.word(original.lower(), 'u')}"
        if kind == "age":
            return self.lexicon.knowledge.pack.ninety
        return ""


class People:
    """The parts of names in one document and what they become."""

    def __init__(
        self, text: str, spans: Iterable[Span], lexicon: Lexicon, inventor: Inventor
    ) -> None:
        self.lexicon = lexicon
        self.inventor = inventor
        self.uses: dict[str, str] = {}
        self.done: dict[str, str] = {}
        for span in sorted(spans, key=lambda s: s.start - s.end):
            if span.kind in NAMES:
                name = text[span.start : span.end]
                self.learn(name_parts(name), ", " in name)

    def learn(self, parts: tuple[str, ...], turned: bool) -> None:
        """Decide for new parts of a name whether they are first or last names; the longest names come first."""
        ordered = (*parts[1:], parts[0]) if turned and len(parts) > 1 else parts
        for place, part in enumerate(ordered):
            if part in self.uses:
                continue
            word = self.lexicon(part)
            last = word.last > word.first + 1 or not word.first
            if len(ordered) > 1:
                last = place == len(ordered) - 1
            self.uses[part] = "last" if last else word.sex or "u"

    def replace(self, text: str) -> str:
        """Return the invented name for a name as it is written."""
        known = self.done.get(text)
        if known is None:
            known = self.done[text] = TOKEN.sub(lambda found: self.replace_word(found[0]), text)
        return known

    def replace_word(self, word: str) -> str:
        """Return what one word of a name becomes."""
        if not word[0].isalpha():
            return self.inventor.digits(word, "name") if word.isdecimal() else word
        low = word.lower()
        if len(low) == 1:
            if low == "s":
                return word
            letter = "abcdefghjklmnprstvw"[self.inventor.digest("initial", low)[0] % 19]
            return like_case(letter, word) if word.islower() else letter.upper()
        use = self.uses.get(low, "u")
        for full in related_forms(self.lexicon.knowledge, low):
            if self.uses.get(full, "last") != "last" and len(full) > len(low):
                whole = self.inventor.word(full, self.uses[full])
                # The start of the invented name is its short form, never the original itself.
                size = 4 if whole[:3].endswith(("th", "sh")) else 3
                return like_case(whole[: size + (whole[:size] == low)], word)
        return like_case(self.inventor.word(low, use), word)


CUES = cues("places")
PROPER = cues("proper")


ZIP = re.compile(r"(?<!\d)(\d{3})\d{2}(?:-\d{4})?(?!\d)")
UK = re.compile(
    r"(?<![A-Za-z0-9])([A-Z]{1,2})\d[A-Z\d]?[ ]{0,2}\d[A-Z]{2}(?![A-Za-z0-9])", re.IGNORECASE
)
KEPT = m.STREET | m.UNIT | m.BOX | m.SAINT
THINGS = m.HOSPITAL | m.COMPANY | m.CLUB | m.SAINT


def replace_address(text: str, lexicon: Lexicon, inventor: Inventor) -> str:
    """Return an invented address: ZIP to three digits and 00, postcode to its area, state kept."""
    made, at = [], 0
    marks = sorted([*ZIP.finditer(text), *UK.finditer(text)], key=lambda f: f.start())
    german = lexicon.knowledge.pack.language == "de"
    for found in marks:
        if found.start() < at:
            continue
        leading = found.re is ZIP and found.start() == 0 and not german
        if leading and found.end() < len(text) - 3:
            continue
        made.append(replace_words(text[at : found.start()], lexicon, inventor, KEPT | m.STATE))
        if found.re is UK:
            made.append(found[1].upper())
        else:
            made.append("00000" if found[1] in CUES.restricted and not german else f"{found[1]}00")
        at = found.end()
    made.append(replace_words(text[at:], lexicon, inventor, KEPT | m.STATE))
    return "".join(made)


def replace_thing(text: str, lexicon: Lexicon, inventor: Inventor) -> str:
    """Return an invented hospital, firm or club: St. John's Hospital becomes St. Alder's Hospital."""
    return replace_words(text, lexicon, inventor, THINGS)


def replace_words(text: str, lexicon: Lexicon, inventor: Inventor, kept: int) -> str:
    """Return a text whose words are invented, but for words that carry a kept mark and small words."""
    tokens = tokenise(text)
    made, at = [], 0
    changed = False
    last = len(tokens.words) - 1
    tokens_at = zip(tokens.words, tokens.starts, tokens.ends, strict=True)
    for place, (word, start, end) in enumerate(tokens_at):
        made.append(text[at:start])
        at = end
        low = word.lower()
        if word.isdecimal():
            made.append(inventor.digits(word, "house"))
            changed = True
        elif not word[0].isalpha() or is_kept(word, lexicon, kept, place, last, changed):
            made.append(word)
        else:
            made.append(like_case(inventor.word(low, "last"), word))
            changed = True
    made.append(text[at:])
    return "".join(made)


def is_kept(word: str, lexicon: Lexicon, kept: int, place: int, last: int, changed: bool) -> bool:
    """Return True for a small or generic word: a compass point, the street's or firm's word at the end, a state, Saint at the start."""
    marks, low = lexicon(word).marks, word.lower()
    if low in PROPER.small or low == "s" or (len(low) <= 4 and low in CUES.compass):
        return True
    if marks & m.SAINT & kept and place == 0 and last > 0:
        return True
    if marks & m.STATE & kept:
        return word.isupper() or place > 0
    return bool(marks & kept & ~m.SAINT) and (
        changed or (place == 0 and bool(marks & (m.UNIT | m.BOX | m.CLUB | m.HOSPITAL)))
    )


ONSETS = listed(
    "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl l m n p pl pr r s sh sl st t th tr v w z"
)
VOWELS = listed("a e i o u a e o ai ea ou")
MIDDLES = listed("b d f g l m n r s t v ld lm ln nd ng rd rl rm rn sk st th rk lb nt")
ENDS = {
    "f": listed("a ia elle ina eth ela ora isa ena"),
    "m": listed("an or ard el in os ric en ald"),
    "u": listed("el en is er in ey an"),
    "last": listed(
        "ham ton ley wick den by ford well man ner ling son mer ster dale worth combe er ens"
    ),
}
#: Tries before a number is hung on: never seen to be needed.
TRIES = 200
#: Words within a phone number that stand for no letters of it.
EXTENSION = re.compile(r"\b(?:ext|extn|extension|x|dw|durchwahl|or|and|tel|fax)\b", re.IGNORECASE)


class Inventor:
    """Makes words from a key; remembers what it made in one document, so that two originals never share one."""

    def __init__(self, key: bytes, knowledge: Knowledge, present: frozenset[str]) -> None:
        self.key = key
        self.knowledge = knowledge
        #: Words of the text in lower case: no invented word is one of them, or holds one of four letters or more.
        self.present = present
        self.made: dict[tuple[str, str], str] = {}
        self.owners: dict[str, str] = {}

    def digest(self, *parts: str) -> bytes:
        """Return bytes that only the key's owner can compute."""
        return hmac.digest(self.key, "\x1f".join(parts).encode(), "sha256")

    def word(self, original: str, use: str) -> str:
        """Return the invented word for an original in lower case, as first name (f, m, u) or last name."""
        known = self.made.get((use, original))
        if known is not None:
            return known
        for turn in range(TRIES):
            word = spell(self.digest(use, original, str(turn)), use)
            if self.is_free(word, original):
                break
        else:
            word = f"{word}q"
        self.made[use, original] = word
        self.owners[word] = original
        return word

    def is_free(self, word: str, original: str) -> bool:
        """Return True for a word of no list and of no person in this text."""
        known = self.knowledge
        lists = (known.first, known.last, known.common, known.medical, known.drugs, known.places)
        listed = any(word in words for words in lists)
        if listed or word in self.present or self.owners.get(word, original) != original:
            return False
        return not (len(original) > 2 and (original in word or word in original))

    def digits(self, original: str, use: str) -> str:
        """Return a text of the same pattern: digits for digits, letters for letters, marks as they are."""
        kept = {i for found in EXTENSION.finditer(original) for i in range(*found.span())}
        # What is drawn again and again is short, so that a long run of digits takes linear time.
        drawn = original if len(original) <= 64 else self.digest(use, original).hex()
        for turn in range(TRIES):
            stream = self.stream(use, drawn, str(turn))
            made = []
            for place, c in enumerate(original):
                if place in kept and use == "phone":
                    made.append(c)
                elif c.isdigit():
                    first = place == 0 or not original[place - 1].isdigit()
                    n = next(stream)
                    lead = "0" if c == "0" else str(n % 9 + 1)
                    made.append(lead if first else str(n % 10))
                elif c.isalpha():
                    letter = "ABCDEFGHJKLMNPRSTUVWXYZ"[next(stream) % 23]
                    made.append(letter if c.isupper() else letter.lower())
                else:
                    made.append(c)
            result = "".join(made)
            if result != original:
                break
        return result

    def stream(self, *parts: str) -> Iterator[int]:
        """Yield bytes without end."""
        turn = 0
        while True:
            yield from self.digest("stream", *parts, str(turn))
            turn += 1


def spell(seed: bytes, use: str) -> str:
    """Return a pronounceable word of two or three syllables from bytes."""
    onset = ONSETS[seed[0] % len(ONSETS)]
    vowel = VOWELS[seed[1] % len(VOWELS)]
    middle = MIDDLES[seed[2] % len(MIDDLES)]
    more = ""
    if seed[3] % 3 == 0 or (use == "last" and seed[3] % 2):
        more = VOWELS[seed[4] % 5] + MIDDLES[seed[5] % 11]
    ends = ENDS[use]
    return onset + vowel + middle + more + ends[seed[6] % len(ends)]


def like_case(word: str, original: str) -> str:
    """Return a word in the case of the original: MOSS, Moss, moss."""
    if original.isupper() and len(original) > 1:
        return word.upper()
    return word.capitalize() if original[:1].isupper() else word
