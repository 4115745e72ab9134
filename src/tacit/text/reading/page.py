"""A page: one text with its tokens, what is known of each, its lines, and how it uses capital letters."""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_left

from tacit.text.packs import Pack
from tacit.text.reading.lexicon import Lexicon, Word, cover_phrases
from tacit.text.reading.words import tokenise

#: No detector looks further than this many tokens, so that the work stays linear.
REACH = 24
#: Marks that end a sentence.
ENDS = frozenset(".!?:;•*-–")


#: A date whose day comes second, as in America: 4/28/21.
MONTH_FIRST = re.compile(r"(?<![\d/])\d{1,2}/(?:1[3-9]|2\d|3[01])/\d{2}")


class Page:
    """One text, read once."""

    def __init__(self, text: str, lexicon: Lexicon) -> None:
        tokens = tokenise(text)
        self.text = text
        self.lexicon = lexicon
        self.pack: Pack = lexicon.knowledge.pack
        self.words = tokens.words
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.tokens = tokens
        self.size = len(tokens.words)
        known = lexicon.words.get
        self.infos: list[Word] = [known(w) or lexicon(w) for w in tokens.words]
        self.known = cover_phrases(self.infos, lexicon.knowledge.phrases)
        self.lines = self.count_lines()
        self.caps_lines = self.find_caps_lines()
        self.lower = self.is_lower()

    def count_lines(self) -> list[int]:
        """Return the line of each token."""
        lines = []
        find = self.text.find
        line, following = 0, find("\n")
        if following < 0:
            return [0] * self.size
        for start in self.starts:
            while 0 <= following < start:
                line += 1
                following = find("\n", following + 1)
            lines.append(line)
        return lines

    def find_caps_lines(self) -> frozenset[int]:
        """Return the lines that are written in capital letters."""
        upper: dict[int, int] = {}
        other: dict[int, int] = {}
        for info, line in zip(self.infos, self.lines, strict=True):
            if info.shape in "UlCM":
                counts = upper if info.shape == "U" else other
                counts[line] = counts.get(line, 0) + 1
        least = 1 if sum(upper.values()) > 4 * sum(other.values()) else 3
        return frozenset(k for k, n in upper.items() if n > 3 * other.get(k, 0) and n >= least)

    def is_lower(self) -> bool:
        """Return True for a text whose sentences begin without capital letters."""
        infos = self.infos
        worded = (i for i, info in enumerate(infos) if info.shape in "lC")
        begun = (i for i in worded if self.opens_line(i) or infos[i - 1].low in ".!?")
        first = [infos[i].shape for i in itertools.islice(begun, 401)]
        if not first:
            # One long line that begins with a mark: a transcript, a message.
            return not any(info.shape in "CU" for info in infos[:400]) and bool(infos)
        return 2 * first.count("l") > len(first)

    @functools.cached_property
    def month_first(self) -> bool:
        """True for a text with a date whose month stands before its day."""
        return MONTH_FIRST.search(self.text) is not None

    def gap(self, i: int) -> int:
        """Return how many characters lie between token i and the next."""
        return self.starts[i + 1] - self.ends[i]

    def tokens_in(self, start: int, end: int) -> range:
        """Return the tokens that begin within some characters."""
        return range(bisect_left(self.starts, start), bisect_left(self.starts, end))

    def word_at(self, i: int) -> Word | None:
        """Return what is known of token i, or None outside the text."""
        return self.infos[i] if 0 <= i < self.size else None

    def low(self, i: int) -> str:
        """Return token i in lower case, or nothing outside the text."""
        return self.infos[i].low if 0 <= i < self.size else ""

    def marks(self, i: int) -> int:
        """Return the marks of token i, 0 outside the text."""
        return self.infos[i].marks if 0 <= i < self.size else 0

    def together(self, i: int, j: int) -> bool:
        """Return True when tokens i and j stand on one line, at most ``REACH`` tokens apart."""
        within = -REACH < i - j < REACH and 0 <= i < self.size and 0 <= j < self.size
        return within and self.lines[i] == self.lines[j]

    def joined(self, i: int) -> bool:
        """Return True when nothing lies between token i and the next."""
        return i + 1 < self.size and self.starts[i + 1] == self.ends[i]

    def near(self, i: int, j: int) -> Word | None:
        """Return what is known of token j where it stands on the line of token i and near it, else None."""
        return self.infos[j] if self.together(i, j) else None

    def opens_line(self, i: int) -> bool:
        """Return True for the first token of a line."""
        return i == 0 or self.lines[i - 1] != self.lines[i]

    def ends_line(self, j: int) -> bool:
        """Return True when nothing stands on the line after token j - 1."""
        return j >= self.size or self.lines[j] != self.lines[j - 1]

    def apart(self, j: int) -> bool:
        """Return True for more than a blank between token j and the one before it."""
        return self.starts[j] - self.ends[j - 1] > 1

    def possessive(self, i: int) -> bool:
        """Return True for an apostrophe at token i with an s after it."""
        return self.low(i) in ("'", "’") and self.low(i + 1) == "s"

    def is_letter(self, i: int) -> bool:
        """Return True for one letter."""
        return 0 <= i < self.size and len(self.infos[i].low) == 1 and self.infos[i].shape in "Il"

    def marked(self, start: int, stop: int, marks: int) -> bool:
        """Return True when one of the tokens from start up to, without, stop carries one of the marks."""
        return any(self.marks(k) & marks for k in range(start, stop))

    def starts_sentence(self, i: int) -> bool:
        """Return True for the first word of a sentence or line."""
        if i == 0 or self.lines[i] != self.lines[i - 1]:
            return True
        before = self.infos[i - 1]
        return before.low in ENDS or (before.shape == "p" and i == 1)

    def plain_case(self, i: int) -> bool:
        """Return True where capital letters tell nothing: a line of capitals, or a text without them."""
        return self.lower or self.lines[i] in self.caps_lines

    def capital(self, i: int) -> bool:
        """Return True for a word whose capital letter means something: neither all in capitals nor none."""
        info = self.infos[i]
        if info.shape in "CM":
            return True
        return info.shape == "U" and len(info.low) > 1 and self.lines[i] not in self.caps_lines

    def skip_dot(self, i: int) -> int:
        """Return the token after an optional full stop at i."""
        return i + 1 if self.low(i) == "." else i
