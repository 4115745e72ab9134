"""Names become invented names: the same part of a name always the same, short forms cut from the full one."""

from __future__ import annotations

from collections.abc import Iterable

from tacit.data.corpus import Span
from tacit.text.board import NAMES
from tacit.text.memory import name_parts, related_forms
from tacit.text.reading.lexicon import Lexicon
from tacit.text.reading.tokens import TOKEN
from tacit.text.replace.invent import Inventor, like_case


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
            known = self.done[text] = self.replace_words(text)
        return known

    def replace_words(self, text: str) -> str:
        """Return a name word by word."""
        return TOKEN.sub(lambda found: self.replace_word(found[0]), text)

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
                return like_case(shorten(whole, low), word)
        return like_case(self.inventor.word(low, use), word)


def shorten(word: str, original: str) -> str:
    """Return the start of an invented name as its short form, never the original itself."""
    size = 4 if word[:3].endswith(("th", "sh")) else 3
    short = word[:size]
    return short if short != original else word[: size + 1]
