"""The trained voter: a conditional random field over the words of a text, shipped as a small model.

Its model knows nothing but generated letters (``scripts/train_crf.py``). It needs python-crfsuite, the extra ``text``;
without it, or for a language without a model, it has no vote.
"""

from __future__ import annotations

import bisect
import functools
import json
import lzma
import threading
from collections.abc import Collection
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tacit.text.model.features import load_describer
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
