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
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal

from tacit.data.corpus import Corpus, Document
from tacit.errors import InputError
from tacit.examples.writing import families, medicine
from tacit.examples.writing.case import Case
from tacit.examples.writing.page import Page
from tacit.examples.writing.template import Step, compile_rules

Split = Literal["train", "calibrate", "test"]
SPLITS: tuple[Split, ...] = ("train", "calibrate", "test")


@dataclass(frozen=True)
class Family:
    """Documents of one sort."""

    name: str
    split: Split
    #: Countries whose habits the documents follow, one each.
    countries: tuple[str, ...]
    language: str
    looks: Mapping[str, float]
    rules: Mapping[str, tuple[Step, ...]]
    title: str

    def write(self, seed: int, number: int) -> Document:
        """Write one document."""
        rng = random.Random(f"{seed}/{self.name}/{number}")  # noqa: S311  # made-up text, no secret
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
    return {
        f.name: f for f in map(load_family, sorted(m.name for m in iter_modules(families.__path__)))
    }


def load_family(name: str) -> Family:
    """Read one family from its file."""
    module = import_module(f"{families.__name__}.{name}")
    language = getattr(module, "LANGUAGE", "en")
    shared = medicine.RULES if language == "en" else {}
    return Family(
        name=name,
        split=module.SPLIT,
        countries=(module.COUNTRY,) if isinstance(module.COUNTRY, str) else module.COUNTRY,
        language=language,
        looks=getattr(
            module, "LOOKS", {"as written": 0.93, "crlf": 0.03, "caps": 0.02, "lower": 0.02}
        ),
        rules=compile_rules({**shared, **module.RULES}),
        title=(module.__doc__ or name).strip().splitlines()[0].rstrip("."),
    )


def choose_families(
    families: Sequence[str] | None = None, split: str | None = None, language: str | None = "en"
) -> list[Family]:
    """Return the families asked for, in the order of their names."""
    known = all_families()
    if families is not None:
        unknown = [f for f in families if f not in known]
        if unknown:
            raise InputError(f"There is no family {unknown[0]!r}; choose from {', '.join(known)}.")
        chosen = [known[f] for f in families]
    else:
        chosen = [f for f in known.values() if language is None or f.language == language]
    if split is not None and split not in SPLITS:
        raise InputError(f"There is no split {split!r}; choose from {', '.join(SPLITS)}.")
    chosen = [f for f in chosen if split is None or f.split == split]
    if not chosen:
        raise InputError("No family is left: ask for another split, language or list of families.")
    return chosen


def write_letters(
    n: int,
    seed: int = 1,
    families: Sequence[str] | None = None,
    split: str | None = None,
    language: str | None = "en",
) -> Corpus:
    """Return n documents, taken from the families in turn."""
    if n < 0:
        raise InputError("The number of documents must not be negative.")
    chosen = choose_families(families, split, language)
    documents = tuple(chosen[i % len(chosen)].write(seed, i // len(chosen)) for i in range(n))
    return Corpus(documents, source="examples")
