"""Words in a string, as sets and sequences; and the words that a module looks for, from the file ``cues.toml``."""

from __future__ import annotations

import functools
import tomllib
import unicodedata
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
