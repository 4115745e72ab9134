"""A page: a text that is being written, with what identifies people and what must stay marked as it is written."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import replace

from letters.template import Step
from tacit.data.corpus import Document, Span

Filler = Callable[["Page"], None]


class Page:
    """One text being written."""

    def __init__(
        self,
        rng: random.Random,
        rules: Mapping[str, tuple[Step, ...]],
        fillers: Mapping[str, Filler],
    ) -> None:
        self.rng = rng
        self.random = rng.random
        self.rules = rules
        self.fillers = fillers
        self.parts: list[str] = []
        self.length = 0
        self.gold: list[Span] = []
        self.kept: list[tuple[int, int]] = []

    def add(self, text: str) -> None:
        """Write text that nobody marks."""
        self.parts.append(text)
        self.length += len(text)

    def mark(self, text: str, kind: str, entity: str = "", style: str = "") -> None:
        """Write text that identifies somebody."""
        begun = self.length
        self.add(text)
        self.gold.append(Span(begun, self.length, kind, 1.0, style, entity))

    def fill(self, name: str) -> None:
        """Write a production of a rule, or what the document's people supply under this name."""
        steps = self.rules.get(name)
        if steps is not None:
            steps[int(self.random() * len(steps))](self)
        else:
            self.fillers[name](self)

    def finish(self, name: str, look: str) -> Document:
        """Return the document, its letters and lines changed as its look asks."""
        text = "".join(self.parts)
        gold, kept = self.gold, self.kept
        if look in {"lower", "caps"}:
            style = "lower case" if look == "lower" else "all caps"
            gold = [replace(g, source=style) if g.kind == "name" else g for g in gold]
        if look == "lower":
            text = same_length(text, text.lower(), str.lower)
        elif look == "caps":
            text = same_length(text, text.upper(), str.upper)
        elif look == "broken":
            text = break_lines(text, self.rng)
        starts = [g.start for g in gold]
        # What identifies somebody does not stay, even inside an expression that would (ages over 89).
        keep = [Span(a, b, "other") for a, b in kept if b > a and not meets(gold, starts, a, b)]
        if look == "crlf":
            text, gold, keep = with_carriage_returns(text, gold, keep)
        return Document(name, text, tuple(gold), tuple(keep))


def meets(spans: list[Span], starts: list[int], a: int, b: int) -> bool:
    """Whether one of the spans, in order, overlaps the characters a up to b."""
    i = bisect_right(starts, b - 1)
    return i > 0 and spans[i - 1].end > a


def same_length(text: str, changed: str, change: Callable[[str], str]) -> str:
    """Return text in another case, leaving the few letters alone that would become two."""
    if len(changed) == len(text):
        return changed
    return "".join(c if len(change(c)) != 1 else change(c) for c in text)


def break_lines(text: str, rng: random.Random) -> str:
    """Break lines at a narrow width and, here and there, in places of no sense: as scanners do."""
    marks = list(text)
    width, column = rng.randint(34, 68), 0
    for i, mark in enumerate(marks):
        column = 0 if mark == "\n" else column + 1
        if mark == " " and (column >= width or rng.random() < 0.02):
            marks[i] = "\n"
            column = 0
    return "".join(marks)


def with_carriage_returns(
    text: str, gold: list[Span], keep: list[Span]
) -> tuple[str, list[Span], list[Span]]:
    """Write CRLF for every line end and move the spans along."""
    ends = [i for i, mark in enumerate(text) if mark == "\n"]

    def moved(spans: list[Span]) -> list[Span]:
        return [
            Span(
                s.start + bisect_right(ends, s.start - 1),
                s.end + bisect_right(ends, s.end - 1),
                s.kind,
                s.certainty,
                s.source,
                s.entity,
            )
            for s in spans
        ]

    return text.replace("\n", "\r\n"), moved(gold), moved(keep)
