"""Treatments: what is put in the place of a span, by its kind and the mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.data.corpus import Span
from tacit.text.dates import calendar_spans, holiday, move_word, shift, to_month
from tacit.text.reading.lexicon import load_lexicon
from tacit.text.reading.words import TOKEN
from tacit.text.replace.invent import Inventor, People, replace_address, replace_thing

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
