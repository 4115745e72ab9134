"""What the trained voter looks at: each word as it is written and listed, and the words around it.

Everything about a word by itself is worked out once for each word that occurs and kept as bytes, as the library takes
them; a token then costs a few joins.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache

from tacit.text.reading import marks as m
from tacit.text.reading.lexicon import LONGEST, Lexicon, Word, load_lexicon, remember
from tacit.text.reading.words import Tokens

#: Marks by the letter that stands for them in a word's class of cues.
CUES = (
    ("t", m.TITLE), ("s", m.SUFFIX), ("h", m.HEADER), ("g", m.GREETING), ("z", m.CLOSING), ("r", m.RELATION), ("o", m.ROLE), ("c", m.CALLED),
    ("m", m.MONTH), ("w", m.WEEKDAY), ("b", m.BORN), ("S", m.STREET), ("u", m.UNIT), ("x", m.BOX), ("e", m.STATE), ("L", m.LIVES),
    ("p", m.PHONE), ("n", m.NUMBER), ("H", m.HOSPITAL), ("C", m.COMPANY), ("k", m.WORKS), ("l", m.CLUB), ("a", m.AGE), ("X", m.HEAD),
    ("d", m.DOSE), ("q", m.STOP), ("v", m.PARTICLE), ("A", m.SAINT), ("W", m.WARD), ("P", m.PREPOSITION),
)  # fmt: skip
#: Cues that reach over a few words: "Dr. A. B. Name", "wife, whose name is Name".
REACHING = m.any_of("title relation called header greeting phone number born works lives")
REACH = 4
#: All cues, to look up what they spell by a word's marks.
ANY_CUE = sum(bit for _, bit in CUES)
#: Words, and shapes of three in a row, kept in memory, about 50 MB; beyond that the memory starts anew.
REMEMBERED = 30_000


class Shaped:
    """A word together with its shape, which tells more or less by the line it stands in."""

    __slots__ = ("described", "head", "shape", "tail", "whole")

    def __init__(self, shape: bytes, kind: Kind) -> None:
        self.shape = shape
        self.described = shape + kind.listed
        self.whole = b"z=" + self.described
        self.head = b"j=" + self.described + b"|"
        self.tail = kind.cue + shape


class Kind:
    """One word's own features, and what it says to its neighbours."""

    __slots__ = (
        "after",
        "after2",
        "before",
        "before2",
        "cue",
        "cue_head",
        "head",
        "list_head",
        "listed",
        "own",
        "plainly",
        "reach",
        "shape",
        "shaped",
    )

    def __init__(self, text: str, word: Word) -> None:
        cue = spell_cues(word.marks & ANY_CUE)
        listed = list_class(word)
        is_word = word.shape in "lCUMI"
        shape = word.shape if is_word else text if word.shape == "p" else number_shape(text)
        # A word by itself counts where it is ordinary; a name counts by what the lists say of it.
        low = word.low if is_word and (word.common >= 6 or cue) and word.index < 5 else ""
        self.shape = shape.encode()
        self.cue = cue.encode()
        self.listed = (listed + cue).encode()
        # Halves of the features of two words, so that a token costs one join for each.
        self.cue_head = b"i=" + self.cue + b"|"
        self.list_head = b"k=" + self.listed + b"|"
        self.shaped = Shaped(self.shape, self)
        self.plainly: Shaped | None = None if is_word else self.shaped
        own = [f"w={low or cue}", f"l={listed}"]
        if is_word and len(word.low) > 1:
            own.append(f"s={word.low[-3:]}")
        path = word.cluster
        if path:
            own += [f"c={path & 1023}", f"C={path & 63}"]
        self.own = [f.encode() for f in own]
        near = low or cue + listed + ("" if is_word else shape)
        self.before = [f"+1{near}".encode()]
        self.after = [f"-1{near}".encode()]
        if low and cue:
            self.before.append(f"+C{cue}".encode())
            self.after.append(f"-C{cue}".encode())
        if path:
            self.before.append(f"+c{path & 1023}".encode())
            self.after.append(f"-c{path & 1023}".encode())
        far = cue or (f"#{path & 255}" if path else low or shape)
        self.before2 = f"+2{far}".encode()
        self.after2 = f"-2{far}".encode()
        self.reach = f"r={cue}".encode() if word.marks & REACHING else b""
        self.head = f"h={low or cue}".encode()

    def plain_shaped(self) -> Shaped:
        """Return the word where capital letters tell nothing; worked out when first needed."""
        if self.plainly is None:
            self.plainly = Shaped(b"a", self)
        return self.plainly


@cache
def spell_cues(marks: int) -> str:
    """Return the letters of the cues that a word is."""
    return "".join(letter for letter, bit in CUES if marks & bit)


def list_class(word: Word) -> str:
    """Return what the lists say, in a few letters: how usual as a first name, surname and word, and medicine."""
    if word.shape in "dp":
        return ""
    kinds = (("D", m.DRUG), ("E", m.EPONYM), ("M", m.MEDICAL))
    medicine = next((letter for letter, bit in kinds if word.marks & bit), "")
    place = "P" if word.marks & m.PLACE else ""
    return f"{level(word.first)}{level(word.last)}{level(word.common)}{lean(word)}{medicine}{place}"


def level(score: int) -> str:
    """Return a score of a list (the binary logarithm of a count) in four steps."""
    return "0" if score <= 0 else "1" if score < 9 else "2" if score < 13 else "3"


def lean(word: Word) -> str:
    """Return whether a word that is both is rather a name than a word."""
    if not word.common or not (word.first or word.last):
        return ""
    return "-" if word.index < 0 else "=" if word.index < 4 else "+"


def number_shape(text: str) -> str:
    """Return what a number may be: a day, a month, a year, or so many digits."""
    n = len(text)
    if n <= 2:
        value = int(text)
        return "d12" if 0 < value <= 12 else "d31" if 0 < value <= 31 else "d99"
    if n == 4 and text[:2] in {"19", "20"}:
        return "dy"
    return f"d{min(n, 8)}"


class Describer:
    """Turns tokens into features; one for each language."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.kinds: dict[str, Kind] = {}
        self.edge = Kind("\n", Word("", "p"))
        self.begin, self.end = Shaped(b"^", self.edge), Shaped(b"$", self.edge)
        self.triples: dict[tuple[bytes, bytes, bytes], bytes] = {}

    def kind(self, text: str) -> Kind:
        """Return what is known of a word."""
        found = self.kinds.get(text)
        if found is None:
            found = Kind(text, self.lexicon(text))
            if len(text) <= LONGEST:
                remember(self.kinds, text, found, REMEMBERED)
        return found

    def describe(self, tokens: Tokens, known: Collection[int] = ()) -> list[list[bytes]]:
        """Return the features of each token; ``known`` are those of medical expressions of several words."""
        words = tokens.words
        cached = self.kinds.get
        kinds = [cached(w) or self.kind(w) for w in words]
        lines = line_starts(tokens)
        plain = plain_lines(tokens, lines)
        edge = self.edge
        shapes = [k.plain_shaped() if p else k.shaped for k, p in zip(kinds, plain, strict=True)]
        triples = self.triples
        neighbours = zip(
            (edge, edge, *kinds[:-2]), (edge, *kinds[:-1]), kinds, (*kinds[1:], edge), (*kinds[2:], edge, edge),
            (self.begin, *shapes[:-1]), shapes, (*shapes[1:], self.end), lines, (*lines[1:], True),
            strict=False,
        )  # fmt: skip
        result = []
        head, since, reach = edge.head, REACH, b""
        for back2, back, own, on, on2, shape_back, shape, shape_on, first, last in neighbours:
            described = shape.described
            key = (shape_back.shape, shape.shape, shape_on.shape)
            triple = triples.get(key)
            if triple is None:
                triple = b"y=" + b"|".join(key)
                remember(triples, key, triple, REMEMBERED)
            features = [
                triple,
                shape.whole,
                back.cue_head + described,
                shape.head + shape_on.tail,
                back.list_head + own.listed,
                on2.before2,
                back2.after2,
                *own.own,
                *back.after,
                *on.before,
            ]
            if first:
                head = own.head
                since = REACH
                features.append(b"first" + shape.shape)
            features.append(head)
            if last:
                features.append(b"last" + shape.shape)
            if since < REACH:
                features.append(reach)
                since += 1
            if own.reach:
                since, reach = 0, own.reach
            result.append(features)
        for i in known:
            result[i].append(b"phrase")
        return result


def line_starts(tokens: Tokens) -> list[bool]:
    """Return which tokens stand first in their line."""
    starts = [False] * len(tokens.words)
    find = tokens.text.find
    following = find("\n")
    for i, start in enumerate(tokens.starts):
        if 0 <= following < start:
            starts[i] = True
            following = find("\n", start)
    if starts:
        starts[0] = True
    return starts


def plain_lines(tokens: Tokens, starts: list[bool]) -> list[bool]:
    """Return the tokens whose capital letters tell nothing: in lines of capitals, or in texts without any."""
    text = tokens.text
    words = tokens.words
    n = len(words)
    if text.islower():
        return [True] * n
    capitals = sum(1 for w in words if w[0].isupper())
    if capitals * 25 < n:
        return [True] * n
    plain = [False] * n
    begun = 0
    for i in range(1, n + 1):
        if i == n or starts[i]:
            line = text[tokens.starts[begun] : tokens.ends[i - 1]]
            if line.isupper() and i - begun > 1:
                plain[begun:i] = [True] * (i - begun)
            begun = i
    return plain


@lru_cache(maxsize=4)
def load_describer(language: str) -> Describer:
    """Return the describer of a language; its memory is shared by all texts of a process."""
    return Describer(load_lexicon(language))
