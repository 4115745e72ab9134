"""A page: one text with its tokens, what is known of each, its lines, and how it uses capital letters.

What is known of words are marks and scores, worked out once for each word that occurs, and medical expressions of several.
"""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tacit.data.word_lists import read_list, read_pairs
from tacit.text.packs import Pack, load_pack
from tacit.text.reading import marks as m
from tacit.text.reading.words import strip_marks, tokenise

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


# -- medical expressions: where one stands, none of its words is a person --------------------------


#: The words of an expression after the first two, in lower case, without marks and the s of a possessive.
Phrase = tuple[str, ...]
#: Expressions by their first word and, without an s at its end, their second; the longest first.
Phrases = Mapping[str, Mapping[str, tuple[Phrase, ...]]]
#: What may stand between two words of an expression.
BETWEEN = frozenset("-‐‑–'’`´/.")
APOSTROPHES = frozenset("'’`´")


def sort_phrases(texts: Iterable[str]) -> Phrases:
    """Return expressions of two words or more, written with underscores, as they are looked up."""
    found: dict[str, dict[str, set[Phrase]]] = {}
    for text in texts:
        first, second, *rest = text.split("_")
        found.setdefault(first, {}).setdefault(second.rstrip("s"), set()).add(tuple(rest))

    def longest_first(rests: set[Phrase]) -> tuple[Phrase, ...]:
        return tuple(sorted(rests, key=lambda r: (-len(r), r)))

    return {a: {b: longest_first(rests) for b, rests in bs.items()} for a, bs in found.items()}


def cover_phrases(infos: Sequence[Word], phrases: Phrases) -> frozenset[int]:
    """Return the tokens that belong to an expression."""
    covered: set[int] = set()
    starts = [i for i, word in enumerate(infos) if word.marks & m.PHRASE]
    words = (word.low for word in infos) if starts else ()
    lows = [w if w.isascii() else strip_marks(w) for w in words]
    for i in starts:
        at = skip_marks(lows, i + 1)
        if at < len(lows):
            for rest in phrases[lows[i]].get(lows[at].rstrip("s"), ()):
                end = follow(lows, at + 1, rest)
                if end:
                    covered.update(range(i, end))
                    break
    return frozenset(covered)


def follow(lows: Sequence[str], at: int, rest: Phrase) -> int:
    """Return where an expression ends whose later words are expected from ``at`` on, or 0."""
    for word in rest:
        at = skip_marks(lows, at)
        if at >= len(lows) or lows[at].rstrip("s") != word.rstrip("s"):
            return 0
        at += 1
    return at


def skip_marks(lows: Sequence[str], at: int) -> int:
    """Return the next word, past hyphens, an apostrophe and the s after it."""
    last = min(at + 3, len(lows))
    while at < last and (lows[at] in BETWEEN or (lows[at] == "s" and lows[at - 1] in APOSTROPHES)):
        at += 1
    return at


# -- words -----------------------------------------------------------------------------------------


#: Words kept in memory, about 15 MB; beyond that the memory starts anew.
REMEMBERED = 50_000
#: Words longer than this are looked up by nothing.
LONGEST = 40
#: Marks of words that everybody uses, whatever the lists of words hold.
SPOKEN = m.SUFFIX | m.BORN | m.PHONE | m.NUMBER | m.DOSE | m.HEAD | m.TITLE | m.AGE
#: Words that begin or end addresses of the web in every language.
WEB = ("http", "https", "ftp", "www", "com", "org", "net", "edu", "gov", "uk", "info", "io", "eu")


K = TypeVar("K")
V = TypeVar("V")


@dataclass(slots=True, eq=False)
class Word:
    """One word as it is written: its form in lower case, its shape, marks and scores."""

    low: str
    #: l lower, C capitalised, U upper, I one capital, M mixed, d digits, p mark.
    shape: str
    marks: int = 0
    first: int = 0
    last: int = 0
    common: int = 0
    medical: bool = False
    sex: str = ""
    #: How much rather a name than an ordinary word, in powers of two.
    index: int = 0
    #: Path in the tree of words that stand in like places, as bits, the first the lowest; 0 for none.
    cluster: int = 0


@dataclass(frozen=True)
class Knowledge:
    """The lists of one language, as dictionaries."""

    pack: Pack
    cues: dict[str, int]
    first: dict[str, str]
    last: dict[str, str]
    common: dict[str, str]
    medical: dict[str, str]
    drugs: dict[str, str]
    places: dict[str, str]
    place_words: dict[str, str]
    formal: dict[str, tuple[str, ...]]
    surname_sounds: dict[str, str]
    medical_sounds: dict[str, str]
    clusters: dict[str, str]
    #: Medical expressions of several words.
    phrases: Phrases

    @functools.cached_property
    def short_forms(self) -> dict[str, tuple[str, ...]]:
        """Short forms of first names, by the full one."""
        found: dict[str, tuple[str, ...]] = {}
        for short, names in self.formal.items():
            for name in names:
                found[name] = (*found.get(name, ()), short)
        return found


def remember(known: dict[K, V], key: K, value: V, most: int) -> None:
    """Keep a value, and forget all others when they are too many."""
    if len(known) >= most:
        known.clear()
    known[key] = value


@functools.lru_cache(maxsize=8)
def load_knowledge(language: str, folder: str = "") -> Knowledge:
    """Read the lists of a language, once."""
    pack = load_pack(language)

    def listed(name: str) -> dict[str, str]:
        return read_list(name, folder) if name in pack.lists else {}

    cues: dict[str, int] = {}
    marked = [(m.mark(name), words.split()) for name, words in pack.cues.items()]
    for bit, words in (*marked, (m.mark("url"), WEB), (m.MONTH, pack.months)):
        for word in words:
            cues[word] = cues.get(word, 0) | bit
    places = listed("places")
    clinical = listed("clinical")
    return Knowledge(
        pack,
        cues,
        {**listed("first_names"), **pack.first_names},
        {**listed("last_names"), **dict.fromkeys(pack.last_names.split(), "16")},
        {**listed("words"), **dict.fromkeys(pack.words.split(), "14")},
        {
            **{word: score for word, score in clinical.items() if score != "p"},
            **listed("medical"),
            **dict.fromkeys(pack.medical.split(), "m"),
            **dict.fromkeys(pack.eponyms.split(), "e"),
        },
        listed("drugs"),
        places,
        {p.partition("_")[0]: s for p, s in places.items()},
        read_pairs("diminutives", folder) if "diminutives" in pack.lists else {},
        listed("surname_sounds"),
        listed("medical_sounds"),
        listed("clusters"),
        sort_phrases(word for word, score in clinical.items() if score == "p"),
    )


class Lexicon:
    """Words by how they are written, with what the lists say."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.words: dict[str, Word] = {}

    def __call__(self, word: str) -> Word:
        """Return what is known of a word, as it is written."""
        found = self.words.get(word)
        if found is None:
            found = self.describe(word)
            if len(word) <= LONGEST:
                remember(self.words, word, found, REMEMBERED)
        return found

    def describe(self, text: str) -> Word:
        """Look a word up in every list."""
        word = Word(text.lower(), shape_of(text))
        if word.shape == "d":
            word.marks = m.DIGIT | digit_marks(text)
            return word
        if word.shape == "p":
            sign = m.AT if text == "@" else m.SLASH if text in "/-–—" else 0
            word.marks = m.BRACKET if text in "(\"“'‘’" else sign
            return word
        if len(text) > LONGEST:
            return word
        self.look_up(word)
        return word

    def look_up(self, word: Word) -> None:
        """Fill in marks and scores of a word of letters."""
        known = self.knowledge
        low = word.low if word.low.isascii() else strip_marks(word.low)
        word.marks = known.cues.get(word.low, 0) or known.cues.get(low, 0)
        word.cluster = int(known.clusters.get(word.low) or known.clusters.get(low) or 0)
        if word.shape in "CMUI":
            upper = m.UPPER if word.shape == "U" else 0
            word.marks |= m.CAPITAL | upper | (m.SHORT if len(low) < 3 else 0)
        if len(low) < 2:
            if word.shape == "l":
                word.marks |= m.LETTER
            return
        first = known.first.get(word.low) or known.first.get(low)
        if first:
            word.marks |= m.FIRST
            word.sex, word.first = first[0], int(first[1:])
        last = known.last.get(word.low) or known.last.get(low)
        if last:
            word.marks |= m.LAST
            word.last = int(last)
        # Naïve is an ordinary word, Mỹ is a name.
        common = known.common.get(word.low) or (known.common.get(low) if len(low) > 3 else None)
        if common:
            word.marks |= m.COMMON
            word.common = int(common)
        self.look_up_ends(word)
        if low in known.place_words:
            word.marks |= m.PLACE
        if word.common <= 10 and (word.first >= 11 or word.last >= 13):
            # Clive is a plant too, but hardly ever.
            word.common = 0
            word.marks &= ~m.COMMON
        if word.marks & (m.STOP | m.MONTH | m.WEEKDAY):
            word.common = max(word.common, 14)
        elif word.marks & SPOKEN and not word.common:
            word.common = 11
        word.index = max(word.first, word.last) - word.common
        self.look_up_medicine(word, low)
        if word.marks == m.CAPITAL:
            word.marks |= m.STRANGE
        if (first or last) and (word.shape != "l" or word.index >= 3):
            word.marks |= m.NAMED

    def look_up_medicine(self, word: Word, low: str) -> None:
        """Mark diseases, eponyms and drugs."""
        known = self.knowledge
        if low in known.phrases:
            word.marks |= m.PHRASE
        medical = known.medical.get(word.low) or known.medical.get(low)
        if medical == "m" and word.common >= 13:
            medical = None  # the titles of diseases hold "from" and "other" too
        if medical == "a" and word.shape not in "UM":
            medical = None  # an abbreviation is written in capitals
        if medical == "t" and word.index >= 4:
            medical = None  # Sara is a name, though Sara Stedy is none
        if medical == "a" and max(word.first, word.last) >= 12:
            medical = None
        unnamed = not word.first and not word.last
        if medical == "e":
            word.marks |= m.EPONYM
        elif medical or low in known.drugs or (unnamed and low.endswith(known.pack.medical_ends)):
            word.marks |= m.MEDICAL
            word.medical = medical == "a" or (word.index < 4 and max(word.first, word.last) < 15)
        if low in known.drugs:
            word.marks |= m.DRUG

    def look_up_ends(self, word: Word) -> None:
        """Mark words that are streets, hospitals or firms by how they end."""
        pack = self.knowledge.pack
        kinds = (pack.street_ends, m.STREET), (pack.hospital_ends, m.HOSPITAL)
        for ends, bit in (*kinds, (pack.company_ends, m.COMPANY)):
            if ends and word.low.endswith(ends) and len(word.low) > 6:
                word.marks |= bit

    def sounds_like_surname(self, low: str) -> float:
        """Return the mean log-odds of a surname against a word, by letter triples."""
        return mean_odds(low, self.knowledge.surname_sounds)

    def sounds_medical(self, low: str) -> float:
        """Return the mean log-odds of a medical term against other words."""
        return mean_odds(low, self.knowledge.medical_sounds)


def load_lexicon(language: str, folder: str = "") -> Lexicon:
    """Return the lexicon of a language; its memory is shared by all texts of a process."""
    return shared_lexicon(language, folder)


@functools.lru_cache(maxsize=8)
def shared_lexicon(language: str, folder: str) -> Lexicon:
    """Return one lexicon, however it was asked for."""
    return Lexicon(load_knowledge(language, folder))


def digit_marks(text: str) -> int:
    """Return the marks of a number by how many digits it has."""
    size = len(text)
    marks = m.FEW if size <= 4 else m.FIVE if size == 5 else 0
    if size in (3, 10):
        marks |= m.GROUP
    if size in (2, 3) and text.isascii() and 90 <= int(text) <= 125:
        marks |= m.AGED
    return marks


def mean_odds(low: str, table: dict[str, str]) -> float:
    """Return the mean of a table's values over the letter triples of a word, in natural logs."""
    if not table or not low:
        return 0.0
    padded = f"^{low}$"
    count = len(padded) - 2
    return sum(int(table.get(padded[i : i + 3], 0)) for i in range(count)) / (10 * count)


def shape_of(text: str) -> str:
    """Return the shape of a token, in one letter."""
    if text[0].isdecimal():
        return "d"
    if not text[0].isalpha():
        return "p"
    if text.islower() or not (text[0].isupper() or text[0].istitle()):
        return "l" if text == text.lower() else "M"
    if len(text) == 1:
        return "I"
    return "U" if text.isupper() else "C" if text[1:] == text[1:].lower() else "M"
