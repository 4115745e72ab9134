"""Language packs: the words of a language that the detectors look for, as data.

A pack is a file of this folder, named after the language, with the fields of a :class:`Pack`; words are separated by blanks. The
detectors know no language: they know marks such as "title" or "street", and the pack says which words carry them.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tacit.errors import InvalidParameter, near_match

OWN = Path(__file__).parent
#: Fields that are sequences of words.
SEQUENCES = ("month_names", "lists", "street_ends", "hospital_ends", "company_ends", "medical_ends")


@dataclass(frozen=True)
class Pack:
    """The words of one language."""

    language: str
    #: Words in lower case by the name of their mark (see ``tacit.text.reading.marks``), separated by spaces.
    cues: Mapping[str, str]
    #: Months by word, 1 to 12.
    months: Mapping[str, int]
    #: Names of the month in full, for dates that are rewritten.
    month_names: tuple[str, ...]
    #: Words of medicine beside the bundled list, and people after whom things in medicine are named.
    medical: str = ""
    eponyms: str = ""
    #: First names with their sex, surnames, and words that are no names, beside the bundled lists.
    first_names: Mapping[str, str] = field(default_factory=dict)
    last_names: str = ""
    words: str = ""
    #: Bundled lists that hold for this language.
    lists: tuple[str, ...] = ()
    #: Ends of words that make streets, hospitals and firms in one word: "Hauptstraße".
    street_ends: tuple[str, ...] = ()
    hospital_ends: tuple[str, ...] = ()
    company_ends: tuple[str, ...] = ()
    medical_ends: tuple[str, ...] = ()
    #: Nouns begin with a capital letter, which then says little.
    nouns_capital: bool = False
    #: The day comes first in 03/04/2010.
    day_first: bool = False
    #: What follows a postcode of this language, at a place's start.
    postcode: re.Pattern[str] | None = None
    ninety: str = "90 or older"


@functools.cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a pack."""
    return tuple(sorted(file.stem for file in OWN.glob("*.toml")))


@functools.cache
def load_pack(language: str) -> Pack:
    """Return the pack of a language, or say which there are."""
    base = language.lower().replace("_", "-").partition("-")[0]
    if base not in languages():
        hint = near_match(base, languages())
        raise InvalidParameter(
            f"no language pack {language!r}. {hint or ''}".strip()
            + f" There are: {', '.join(languages())}."
        )
    return read_pack(base, tomllib.loads((OWN / f"{base}.toml").read_text(encoding="utf-8")))


def read_pack(language: str, given: dict[str, Any]) -> Pack:
    """Return a pack from what its file holds."""
    made: dict[str, Any] = {name: tuple(given[name].split()) for name in SEQUENCES if name in given}
    months = [(w, number) for number, ws in enumerate(given["months"], 1) for w in ws.split()]
    firsts = [(w, score) for score, ws in given.get("first_names", {}).items() for w in ws.split()]
    made |= {"language": language, "months": dict(months), "first_names": dict(firsts)}
    made |= {name: " ".join(given[name].values()) for name in ("medical", "eponyms")}
    made["postcode"] = re.compile(given["postcode"]) if "postcode" in given else None
    return Pack(**given | made)
