"""Diagnosis codes: the International Classification of Diseases, ninth and tenth revision.

Only the structure is held: chapter numbers, titles and code ranges. ICD-10 follows the WHO edition of
2010, whose ranges hold those of later editions; a chapter's range is widened where the United States'
clinical modification adds categories. ICD-9 follows the last edition of ICD-9-CM (2014).

References
----------
World Health Organization (2011), International Statistical Classification of Diseases and Related
Health Problems, 10th Revision, 2010 edition, Volume 1.
National Center for Health Statistics (2011), ICD-9-CM, 6th edition, Volume 1.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from tacit.data.hierarchy import Hierarchy, PlainRule, ground_label
from tacit.errors import HierarchyError
from tacit.reveal import reveal

LEVEL_NAMES = ("code", "subcategory", "category", "block", "chapter", "suppressed")


CODE10 = re.compile(r"([A-Z][0-9][0-9A-Z])\.?([0-9A-Z]{0,4})")
CODE9 = re.compile(r"([0-9]{3}|V[0-9]{2})\.?([0-9]{0,2})|(E[0-9]{3})\.?([0-9]?)")
#: Categories that were read as numbers and lost their leading zeros: 38.9 is 038.9, and 8 is 008.
SHORT9 = re.compile(r"([0-9]{1,2})(?:\.([0-9]{0,2}))?")


class Chapter(NamedTuple):
    """A chapter: its number, range of categories, title and blocks (ranges parted by blanks)."""

    number: str
    first: str
    last: str
    title: str
    blocks: str


def read_chapters(version: int) -> tuple[Chapter, ...]:
    """Return the chapters of a revision, in their order."""
    text = Path(__file__).with_name("icd.txt").read_text(encoding="utf-8")
    lines = (line.split("\t") for line in text.splitlines())
    return tuple(Chapter(*rest) for first, *rest in lines if first == str(version))


TABLES = {9: read_chapters(9), 10: read_chapters(10)}
#: Categories of the clinical modification that do not sort into the block they belong to.
ICD10_STRAYS = {"C4A": "C43-C44", "M1A": "M05-M14", "O9A": "O94-O99", "Z3A": "Z30-Z39"}


@dataclass(frozen=True)
class Icd(PlainRule):
    """Diagnoses: code, subcategory, category, block, chapter, suppressed."""

    kind: ClassVar[str] = "icd"

    version: int
    titles: bool = False
    other: str | None = None

    def build(self, values: Sequence[Any]) -> Hierarchy:
        """Return the hierarchy of the codes."""
        texts = [ground_label(v) for v in values]
        above = [self._above(text) for text in texts]
        unknown = [t for t, a in zip(texts, above, strict=True) if a is None]
        if unknown and self.other is None:
            raise HierarchyError(
                f"icd({self.version}): {len(unknown)} of {len(texts)} different values are not codes of "
                f"ICD-{self.version}. Check the version, or give them a class of their own with other='other'. "
                + reveal(f"Values that are no codes of ICD-{self.version}", unknown)
            )
        stray = (str(self.other),) * 4
        columns = list(
            zip(*((t, *(a or stray)) for t, a in zip(texts, above, strict=True)), strict=True)
        )
        return Hierarchy.from_columns(columns or [()] * 5, names=LEVEL_NAMES)

    def _above(self, text: str) -> tuple[str, str, str, str] | None:
        category, rest = parse(text, self.version) or ("", "")
        found = block_of(category, self.version)
        if found is None:
            return None
        block, chapter = found
        subcategory = f"{category}.{rest[0]}" if rest else category
        label = f"{chapter.number} {chapter.title}" if self.titles else chapter.number
        return subcategory, category, block, label


def icd(version: int = 10, *, titles: bool = False, other: str | None = None) -> Icd:
    """Return the rule for diagnosis codes.

    ``I21.4`` goes to the subcategory I21.4, the category I21, the block I20-I25, the chapter IX and the
    top. Codes may be written with or without the dot, in either case.

    Parameters
    ----------
    version
        10 for ICD-10 (WHO; national modifications keep its blocks), 9 for ICD-9-CM.
    titles
        Whether chapters are labelled with their title as well as their number.
    other
        Label for values that are not codes; without it they are refused. A category that lies in a
        chapter but in none of its blocks is a block of its own.
    """
    if version not in TABLES:
        raise HierarchyError("icd: version is 9 (ICD-9-CM) or 10 (ICD-10)")
    return Icd(version, titles, other)


def parse(text: str, version: int) -> tuple[str, str] | None:
    """Return the category and what follows it, or None if the text has not the form of a code."""
    # WHO marks etiology and manifestation with a dagger or plus and an asterisk, and open codes with
    # a hyphen; the marks are no part of the code.
    bare = text.strip().upper().rstrip("†*+!#-").rstrip(".")
    if version == 10:
        match = CODE10.fullmatch(bare)
        return (match[1], match[2]) if match else None
    match = CODE9.fullmatch(bare)
    if match:
        return match[1] or match[3], match[2] or match[4] or ""
    match = SHORT9.fullmatch(bare)
    return (match[1].zfill(3), match[2] or "") if match else None


def block_of(category: str, version: int) -> tuple[str, Chapter] | None:
    """Return the block and chapter of a category, or None if it lies in no chapter."""
    inside = (c for c in TABLES[version] if c.first <= category <= c.last)
    chapter = next((c for c in inside if len(category) == len(c.first)), None)
    if chapter is None:
        return None
    if version == 10 and category in ICD10_STRAYS:
        return ICD10_STRAYS[category], chapter
    firsts, lasts, names = blocks(chapter)
    at = bisect.bisect_right(firsts, category) - 1
    return (names[at] if at >= 0 and category <= lasts[at] else category), chapter


@functools.cache
def blocks(chapter: Chapter) -> tuple[list[str], list[str], list[str]]:
    """Return the first and last categories and the names of a chapter's blocks, in order."""
    names = chapter.blocks.split()
    ends = [name.partition("-") for name in names]
    return [first for first, _, _ in ends], [last or first for first, _, last in ends], names
