"""The chapters and blocks of the International Classification of Diseases.

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

from pathlib import Path
from typing import NamedTuple


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


ICD10 = read_chapters(10)
#: Categories of the clinical modification that do not sort into the block they belong to.
ICD10_STRAYS = {"C4A": "C43-C44", "M1A": "M05-M14", "O9A": "O94-O99", "Z3A": "Z30-Z39"}
ICD9 = read_chapters(9)
