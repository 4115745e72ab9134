"""The trained voter: a conditional random field over the words of a text, shipped as a small model.

Its model knows nothing but generated letters (``scripts/train_crf.py``). It needs python-crfsuite, the extra ``text``;
without it, or for a language without a model, it has no vote. It looks at each word as it is written and listed, and at the words
around it: everything about a word by itself is worked out once for each word that occurs and kept as bytes, as the library
takes them; a token then costs a few joins.
"""

from __future__ import annotations

import bisect
import functools
import json
import lzma
import threading
from collections.abc import Collection
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tacit.text.reading import marks as m
from tacit.text.reading.page import LONGEST, Lexicon, Word, load_lexicon, remember
from tacit.text.reading.words import Tokens

MODELS = Path(__file__).with_name("models")
#: Labels of the model by kind of span; several kinds may share one.
LABELS = {
    "name": "N",
    "nickname": "N",
    "date": "D",
    "address": "A",
    "phone": "P",
    "id": "I",
    "email": "E",
    "url": "E",
    "hospital": "H",
    "employer": "F",
    "organisation": "C",
}
#: The first kind of each label.
KINDS = {label: kind for kind, label in reversed(LABELS.items())}
OUTSIDE = "O"
#: A token less likely than this to be part of anything is not spoken of.
LEAST = 0.08
#: Tokens on either side of this are never in one span.
SURE = 0.5

ROMAN = frozenset(("II", "III", "IV", "VI", "VII", "VIII", "IX", "XI", "XII"))
HERE = threading.local()

Vote = tuple[int, int, str, float]


def vote(tokens: Tokens, language: str = "en", known: Collection[int] = ()) -> list[Vote] | None:
    """Return spans as start, end, kind and calibrated certainty; None when there is nobody to ask."""
    found = raw_votes(tokens, language, known)
    if found is None:
        return None
    return [(a, b, kind, calibrate(f"crf {kind}", p)) for a, b, kind, p in found]


def raw_votes(
    tokens: Tokens, language: str = "en", known: Collection[int] = ()
) -> list[Vote] | None:
    """Return spans with the model's own probability, that of the least certain of their words."""
    tagger = load_tagger(language)
    if tagger is None:
        return None
    if not tokens.words:
        return []
    tagger.set(load_describer(language).describe(tokens, known))
    return gather(tokens, tagger, [label for label in tagger.labels() if label != OUTSIDE])


def gather(tokens: Tokens, tagger: Any, labels: list[str]) -> list[Vote]:
    """Put neighbouring tokens of one label and like certainty together."""
    marginal = tagger.marginal
    votes: list[Vote] = []
    begun, current, lowest, sure = 0, "", 1.0, False
    n = len(tokens.words)
    for i in range(n + 1):
        inside = 1.0 - marginal(OUTSIDE, i) if i < n else 0.0
        label = likeliest(marginal, labels, i, inside, current) if inside >= LEAST else ""
        is_sure = inside >= SURE
        if current and (label != current or is_sure != sure):
            add_vote(votes, tokens, begun, i, current, lowest)
            current = ""
        if label and not current:
            begun, current, lowest, sure = i, label, inside, is_sure
        elif label:
            lowest = min(lowest, inside)
    return votes


def likeliest(marginal: Any, labels: list[str], i: int, inside: float, guess: str) -> str:
    """Return the likeliest label of a token that is inside with some probability; the last one is tried first."""
    best, most = "", -1.0
    for label in (guess, *labels) if guess else labels:
        p = marginal(label, i)
        if p > most:
            best, most = label, p
            if p + p > inside:
                break
    return best


def add_vote(
    votes: list[Vote], tokens: Tokens, i: int, j: int, label: str, certainty: float
) -> None:
    """Add tokens i up to, without, j, less the marks at their ends."""
    words = tokens.words
    while i < j and not words[i][0].isalnum() and words[i] not in "(+#":
        i += 1
    while j > i and not words[j - 1][0].isalnum() and words[j - 1] not in ").":
        j -= 1
    if j > i and is_plausible(label, words[i:j]):
        kind = "url" if label == "E" and "@" not in words[i:j] else KINDS[label]
        votes.append((tokens.starts[i], tokens.ends[j - 1], kind, certainty))


def is_plausible(label: str, words: list[str]) -> bool:
    """Return whether words can be what the label says: a number has digits, a date a day, a name letters."""
    if label == "D":
        return has_day(words)
    if label in "IP":
        return sum(len(w) for w in words if w[0].isdecimal()) >= 2
    if label == "N":
        return any(w[0].isalpha() and w not in ROMAN for w in words)
    return any(w[0].isalnum() for w in words)


def has_day(words: list[str]) -> bool:
    """Return whether a date names a day: not month and year, a time, or a score such as 25/30."""
    numbers = [w for w in words if w[0].isdecimal()]
    if any(len(w) >= 3 and w[0].isalpha() for w in words):
        return any(len(w) < 3 for w in numbers) or not numbers
    if len(numbers) == 1:
        return len(numbers[0]) in {6, 8}
    if len(numbers) != 2:
        return bool(numbers)
    if "." in words and "/" not in words:
        return False  # 14.2 is a value
    a, b = int(numbers[0]), int(numbers[1])
    return (1 <= a <= 12 and 1 <= b <= 31) or (1 <= b <= 12 and 1 <= a <= 31)


@lru_cache(maxsize=4)
def read_model(language: str) -> bytes | None:
    """Return the model of a language, or None without one or without the library."""
    path = model_path(language)
    if not path.exists() or find_spec("pycrfsuite") is None:
        return None
    return lzma.decompress(path.read_bytes())


def load_tagger(language: str) -> Any:
    """Return a tagger for this thread alone, since it remembers its text; None where nobody can be asked."""
    model = read_model(language)
    if model is None:
        return None
    # The tagger reads the bytes where they lie: they are kept beside it, and another model means another tagger.
    known: dict[str, tuple[bytes, Any]] = HERE.__dict__.setdefault("taggers", {})
    if language not in known or known[language][0] is not model:
        import pycrfsuite

        tagger = pycrfsuite.Tagger()
        tagger.open_inmemory(model)
        known[language] = (model, tagger)
    return known[language][1]


def model_path(language: str, folder: Path = MODELS) -> Path:
    """Return where the model of a language lies, if there is one."""
    return folder / f"{language}.crfsuite.xz"


TABLE = Path(__file__).with_name("calibration.json")


@functools.cache
def read_table() -> dict[str, tuple[list[float], list[float]]]:
    """Return the knots of each voter; a voter without any is taken at its word."""
    raw = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    return {
        voter: ([float(a) for a, _ in knots], [float(b) for _, b in knots])
        for voter, knots in raw.get("voters", {}).items()
    }


def calibrate(voter: str, certainty: float) -> float:
    """Return the calibrated certainty, linear between the knots."""
    knots = read_table().get(voter)
    if not knots or not knots[0]:
        return certainty
    xs, ys = knots
    k = bisect.bisect_right(xs, certainty)
    if k == 0:
        return ys[0]
    if k == len(xs):
        return ys[-1]
    share = (certainty - xs[k - 1]) / (xs[k] - xs[k - 1])
    return ys[k - 1] + share * (ys[k] - ys[k - 1])


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
