"""One pass over a text: its words, numbers and marks, with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
