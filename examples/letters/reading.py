"""The one reader of the files beside this package: families and words, in headed sections.

Lines at the margin are facts (``split: train``) at the top, and after them the heads of sections. What belongs to a head
stands below it, four spaces in. A ``#`` at the margin begins a remark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
FAMILIES, WORDS = HERE / "families", HERE / "words"
#: Stands for a production that writes nothing.
NOTHING = "(nothing)"


@dataclass(frozen=True)
class Sheet:
    """What a file says."""

    facts: dict[str, str] = field(default_factory=dict)
    sections: dict[str, list[str]] = field(default_factory=dict)

    def rules(self) -> dict[str, list[str]]:
        """Return the sections as rules: a production on each line."""
        return {
            head: ["" if line == NOTHING else line for line in lines]
            for head, lines in self.sections.items()
        }

    def lists(self) -> dict[str, list[str]]:
        """Return the sections as lists of words, which commas and line ends separate."""
        return {head: split_words(lines) for head, lines in self.sections.items()}


def read_sheet(file: Path) -> Sheet:
    """Read a file."""
    sheet, head = Sheet(), ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text, place = line.strip(), f"{file.name}, line {number}"
        if not text or line.startswith("#"):
            continue
        if line.startswith("    "):
            if not head:
                raise ValueError(f"{place}: there is no head above")
            sheet.sections[head].append(text)
        elif line[0].isspace():
            raise ValueError(f"{place}: what belongs to a head stands four spaces in")
        elif not head and ": " in text:
            fact, _, value = text.partition(": ")
            sheet.facts[fact] = value
        elif text in sheet.sections:
            raise ValueError(f"{place}: {text!r} is a head for the second time")
        else:
            head = text
            sheet.sections[head] = []
    if empty := [h for h, lines in sheet.sections.items() if not lines]:
        raise ValueError(f"{file.name}: nothing stands below {empty[0]!r}")
    return sheet


def read_words(name: str) -> dict[str, list[str]]:
    """Return the lists of a file of words."""
    return read_sheet(WORDS / f"{name}.txt").lists()


def split_words(lines: Iterable[str]) -> list[str]:
    """Return what stands between commas and line ends."""
    return [word.strip() for line in lines for word in line.split(",")]


def read_shares(text: str) -> Mapping[str, float]:
    """Return the shares of ``as written 0.7, caps 0.3``."""
    pairs = (part.rsplit(maxsplit=1) for part in text.split(","))
    return {name.strip(): float(share) for name, share in pairs}
