"""One pass over a text: its words, numbers and marks, with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: A run of letters (with combining marks), a run of digits, or one other character that is not white space.
TOKEN = re.compile(r"[^\W\d_][^\W\d_\u0300-\u036f]*(?:[\u0300-\u036f]+[^\W\d_]*)*|\d+|[^\w\s]|_")


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
        [m.group() for m in matches],
        [m.start() for m in matches],
        [m.end() for m in matches],
    )
