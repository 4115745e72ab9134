"""Words and tokens: one pass over a text, words in a string as sets, and what a module looks for, from the file ``cues.toml``."""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

CUES = Path(__file__).with_name("cues.toml")


class Cues:
    """The words of one table of the file; each set is an attribute."""

    def __init__(self, sets: dict[str, str]) -> None:
        vars(self).update({name: words(text) for name, text in sets.items()})

    def __getattr__(self, name: str) -> frozenset[str]:
        """Refuse a name that the file does not have."""
        raise AttributeError(f"no words {name!r}")


def cues(name: str) -> Cues:
    """Return the sets of words of one table."""
    return Cues(read_cues()[name])


@functools.cache
def read_cues() -> MappingProxyType[str, dict[str, str]]:
    """Read the file, once."""
    return MappingProxyType(tomllib.loads(CUES.read_text(encoding="utf-8")))


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def listed(text: str) -> tuple[str, ...]:
    """Return the words of a text in their order."""
    return tuple(text.split())


def strip_marks(low: str) -> str:
    """Return a word without accents: é as e."""
    parts = unicodedata.normalize("NFD", low)
    return "".join(c for c in parts if not unicodedata.combining(c))


#: A run of letters (with combining marks), a run of digits, or one other character that is not white space.
TOKEN = re.compile(r"[^\W\d_][^\W\d_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W\d_]*)*+|\d+|[^\w\s]|_")


@dataclass(frozen=True)
class Tokens:
    """The tokens of one text, as parallel lists."""

    text: str
    words: list[str]
    starts: list[int]
    ends: list[int]

    def __len__(self) -> int:
        return len(self.words)


def tokenise(text: str) -> Tokens:
    """Cut a text into tokens, in linear time."""
    matches = list(TOKEN.finditer(text))
    return Tokens(
        text,
        [m[0] for m in matches],
        [m.start() for m in matches],
        [m.end() for m in matches],
    )


def words_of(text: str) -> Iterator[str]:
    """Yield the tokens of a text without their places, one at a time."""
    return (m[0] for m in TOKEN.finditer(text))
