"""A writer of letters and notes about people who do not exist, with what identifies them marked.

Every document is made from the seed, its family and its number alone. Families (discharge summaries, referral letters,
nursing notes and so on) are the files of ``families``: each is a set of templates, belongs to one split and one
language, and says how its texts look. A text of a test family shares neither its wording nor all of its names with
anything in the training families.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import cast

from letters import medicine
from letters.case import Case
from letters.page import Page
from letters.reading import FAMILIES, read_shares, read_sheet
from letters.template import Step, compile_rules
from tacit.data.corpus import Corpus, Document
from tacit.examples.letters import Split, choose_families, require_number

#: How texts look where the family does not say.
LOOKS = "as written 0.93, crlf 0.03, caps 0.02, lower 0.02"


@dataclass(frozen=True)
class Family:
    """Documents of one sort."""

    name: str
    title: str
    split: Split
    #: Countries whose habits the documents follow, in turn.
    countries: tuple[str, ...]
    language: str
    looks: Mapping[str, float]
    rules: Mapping[str, tuple[Step, ...]]

    def write(self, seed: int, number: int) -> Document:
        """Write one document."""
        rng = random.Random(f"{seed}/{self.name}/{number}")  # made-up text, no secret
        country = self.countries[number % len(self.countries)]
        case = Case(rng, self.split, country)
        page = Page(rng, self.rules, case.fillers())
        page.fill("start")
        looks = list(self.looks)
        look = rng.choices(looks, list(self.looks.values()))[0] if len(looks) > 1 else looks[0]
        return replace(page.finish(f"{self.name}-{number:06d}", look), record=case.record())


@cache
def all_families() -> Mapping[str, Family]:
    """Return the families by name."""
    return {file.stem: read_family(file) for file in sorted(FAMILIES.glob("*.txt"))}


def read_family(file: Path) -> Family:
    """Read one family from its file."""
    sheet = read_sheet(file)
    language = sheet.facts.get("language", "en")
    shared = medicine.RULES if language == "en" else {}
    return Family(
        name=file.stem,
        title=sheet.facts["title"],
        split=cast(Split, sheet.facts["split"]),
        countries=tuple(sheet.facts["countries"].split(", ")),
        language=language,
        looks=read_shares(sheet.facts.get("looks", LOOKS)),
        rules=compile_rules({**shared, **sheet.rules()}),
    )


def write_letters(
    n: int,
    seed: int = 1,
    families: Sequence[str] | None = None,
    split: str | None = None,
    language: str | None = "en",
) -> Corpus:
    """Return n documents, taken from the families in turn; the arguments are those of ``tacit.examples.letters``."""
    require_number(n)
    chosen = choose_families(all_families(), families, split, language)
    documents = tuple(chosen[i % len(chosen)].write(seed, i // len(chosen)) for i in range(n))
    return Corpus(documents, source="examples")
