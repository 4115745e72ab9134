"""Letters and notes about people who do not exist, written beforehand and packed beside this module.

The repository's ``examples/letters`` writes them, and as many more as are wanted.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from tacit.data.corpus import Corpus, Document, Span
from tacit.errors import InputError

PACKED = Path(__file__).with_name("letters.json.xz")
Split = Literal["train", "calibrate", "test"]
SPLITS: tuple[Split, ...] = ("train", "calibrate", "test")


class Sort(Protocol):
    """Documents of one sort: a family that is packed, or one that is written."""

    @property
    def split(self) -> str:
        """Return the split that it belongs to."""

    @property
    def language(self) -> str:
        """Return the language of its texts."""


S = TypeVar("S", bound=Sort)


@dataclass(frozen=True)
class Family:
    """Packed documents of one sort."""

    name: str
    split: Split
    language: str
    #: Text, gold, keep and record of each document.
    letters: Sequence[Sequence[Any]]

    def order(self, seed: int) -> Sequence[int]:
        """Return the order in which a seed takes the documents: as they lie for 1, drawn for any other."""
        order = list(range(len(self.letters)))
        if seed != 1:
            random.Random(f"{seed}/{self.name}").shuffle(order)  # noqa: S311  # made-up text, no secret
        return order

    def document(self, number: int) -> Document:
        """Return one document."""
        text, gold, keep, record = self.letters[number]
        return Document(
            f"{self.name}-{number:06d}",
            text,
            tuple(Span(a, b, kind, 1.0, source, who) for a, b, kind, source, who in gold),
            tuple(Span(a, b, "other") for a, b in keep),
            record,
        )


@cache
def all_families() -> Mapping[str, Family]:
    """Return the families by name."""
    packed = json.loads(lzma.decompress(PACKED.read_bytes()))
    return {name: Family(name, **family) for name, family in packed.items()}


def choose_families(
    known: Mapping[str, S], names: Sequence[str] | None, split: str | None, language: str | None
) -> list[S]:
    """Return the families asked for, in the order of their names."""
    if names is not None:
        unknown = [f for f in names if f not in known]
        if unknown:
            raise InputError(f"There is no family {unknown[0]!r}; choose from {', '.join(known)}.")
        chosen = [known[f] for f in names]
    else:
        chosen = [f for f in known.values() if language is None or f.language == language]
    if split is not None and split not in SPLITS:
        raise InputError(f"There is no split {split!r}; choose from {', '.join(SPLITS)}.")
    chosen = [f for f in chosen if split is None or f.split == split]
    if not chosen:
        raise InputError("No family is left: ask for another split, language or list of families.")
    return chosen


def take_letters(
    n: int, seed: int, families: Sequence[str] | None, split: str | None, language: str | None
) -> Corpus:
    """Return n documents, taken from the families in turn."""
    require_number(n)
    chosen = choose_families(all_families(), families, split, language)
    there = len(chosen) * min(len(f.letters) for f in chosen)
    if n > there:
        raise InputError(
            f"There are {there} letters of this choice, and {n} were asked for; more can be written from a checkout of "
            "the repository, with examples/letters."
        )
    orders = [f.order(seed) for f in chosen]
    taken = (divmod(i, len(chosen)) for i in range(n))
    return Corpus(
        tuple(chosen[which].document(orders[which][turn]) for turn, which in taken),
        source="examples",
    )


def require_number(n: int) -> None:
    """Refuse a negative number of documents."""
    if n < 0:
        raise InputError("The number of documents must not be negative.")
