"""Templates: a small language in which the families of documents are written.

=================  ==========================================================================
``[a|b|c]``        one of them; ``[a|]`` is a or nothing
``{word}``         a rule of the family or of medicine, or something about the document's people
``{n:3-15}``       a whole number; ``{x:0.5-2.3}`` one with a decimal
``{2-4*clause}``   two to four different productions of a rule, with spaces between them
``{3-6/line}``     the same on lines of their own
``<...>``          text that must stay as it is
=================  ==========================================================================

``\\n`` ends a line, ``\\t`` is a tab, and ``\\s`` a space where a line of the file would lose it; before any other
character a backslash takes it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from letters.page import Page

Step = Callable[["Page"], None]

NUMBER = re.compile(r"([nx]):([\d.]+)-([\d.]+)")
ESCAPES = {"n": "\n", "t": "\t", "s": " "}
REPEAT = re.compile(r"(\d)-(\d)([*/])(\w+)")


def compile_rules(rules: Mapping[str, Sequence[str]]) -> dict[str, tuple[Step, ...]]:
    """Return the productions of each rule, ready to be written on a page."""
    return {name: tuple(compile_template(t) for t in texts) for name, texts in rules.items()}


def compile_template(text: str) -> Step:
    """Return the function that writes a template on a page."""
    return sequence(text, 0, "")[0]


def sequence(text: str, at: int, until: str) -> tuple[Step, int]:
    """Compile up to one of the characters ``until``, which is left for the caller."""
    steps: list[Step] = []
    plain: list[str] = []

    def flush() -> None:
        if plain:
            steps.append(write("".join(plain)))
            plain.clear()

    while at < len(text) and text[at] not in until:
        mark = text[at]
        if mark == "\\":
            plain.append(ESCAPES.get(text[at + 1], text[at + 1]))
            at += 2
        elif mark == "[":
            flush()
            choices: list[Step] = []
            while True:
                step, at = sequence(text, at + 1, "|]")
                choices.append(step)
                if text[at] == "]":
                    break
            steps.append(choose(tuple(choices)))
            at += 1
        elif mark == "<":
            flush()
            step, at = sequence(text, at + 1, ">")
            steps.append(keep(step))
            at += 1
        elif mark == "{":
            flush()
            end = text.index("}", at)
            steps.append(slot(text[at + 1 : end]))
            at = end + 1
        else:
            plain.append(mark)
            at += 1
    flush()
    return (steps[0] if len(steps) == 1 else in_turn(tuple(steps))), at


def write(plain: str) -> Step:
    """Write plain text."""
    return lambda page: page.add(plain)


def in_turn(steps: tuple[Step, ...]) -> Step:
    """One after the other."""

    def run(page: Page) -> None:
        for step in steps:
            step(page)

    return run


def choose(steps: tuple[Step, ...]) -> Step:
    """One of them, each as likely."""
    n = len(steps)
    return lambda page: steps[int(page.random() * n)](page)


def keep(step: Step) -> Step:
    """Mark what is written as text that must stay."""

    def run(page: Page) -> None:
        begun = page.length
        step(page)
        page.kept.append((begun, page.length))

    return run


def slot(name: str) -> Step:
    """Write a number, several productions, one production, or something about the people."""
    if found := NUMBER.fullmatch(name):
        kind, low, high = found.groups()
        if kind == "n":
            first, n = int(low), int(high) - int(low) + 1
            return lambda page: page.add(str(first + int(page.random() * n)))
        least, width = float(low), float(high) - float(low)
        digits = len(low.partition(".")[2]) or 1
        return lambda page: page.add(f"{least + page.random() * width:.{digits}f}")
    if found := REPEAT.fullmatch(name):
        fewest, most, mark, rule = found.groups()
        between = " " if mark == "*" else "\n"
        return several(rule, int(fewest), int(most), between)
    return lambda page: page.fill(name)


def several(rule: str, fewest: int, most: int, between: str) -> Step:
    """Write different productions of a rule."""

    def run(page: Page) -> None:
        steps = page.rules[rule]
        wanted = min(fewest + int(page.random() * (most - fewest + 1)), len(steps))
        for i, step in enumerate(page.rng.sample(steps, wanted)):
            if i:
                page.add(between)
            step(page)

    return run
