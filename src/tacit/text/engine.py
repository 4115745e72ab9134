"""The engine behind Scrub: find what identifies people in one text, and put something else in its place.

It knows nothing of corpora, files or plans: a text goes in, spans or a text come out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.data.corpus import Span

Mode = Literal["substitute", "tag", "mask", "list"]
#: A site's own tagger: a text in, spans out. Its certainties count as one more voter on the board.
Tagger = Callable[[str], Iterable[Span]]


@dataclass(frozen=True)
class Settings:
    """How to look and what to do with what is found; the fields of Scrub, already checked."""

    threshold: float = 0.8
    reduction: bool = False
    strict: bool = False
    language: str = "en"
    mode: Mode = "substitute"
    #: "month" leaves month and year; "shift" moves all dates of one person by the same days.
    dates: Literal["month", "shift"] = "month"
    #: Kinds that are looked for; all when empty.
    kinds: tuple[str, ...] = ()
    #: Words that reviewers accepted (always found, by kind) and rejected (never found).
    accepted: Mapping[str, str] | None = None
    rejected: frozenset[str] = frozenset()
    taggers: tuple[Tagger, ...] = ()


@dataclass(frozen=True)
class Found:
    """What was found in one text: accepted spans, those below the threshold, and warnings about the narrative."""

    spans: tuple[Span, ...]
    uncertain: tuple[Span, ...] = ()
    warnings: tuple[str, ...] = ()


def find_spans(text: str, settings: Settings, record: Mapping[str, Any] | None = None) -> Found:
    """Find what identifies people in a text; fields of a known record are searched in it too."""
    raise NotImplementedError


def replace_spans(text: str, found: Found, settings: Settings, key: bytes) -> str:
    """Return the text with every accepted span replaced; equal keys give equal replacements.

    One person has one replacement in a document; with the same key in every document.
    """
    raise NotImplementedError
