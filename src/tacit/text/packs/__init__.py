"""Language packs: the words of a language that the detectors look for, as data.

A pack is a module of this folder with one :class:`Pack`, named ``PACK``; the module is named after the language. The detectors know no
language: they know marks such as "title" or "street", and the pack says which words carry them.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from tacit.errors import InvalidParameter, near_match


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
    tags: Mapping[str, str] = field(default_factory=dict)


@functools.cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a pack."""
    return tuple(sorted(m.name for m in pkgutil.iter_modules(__path__) if len(m.name) == 2))


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
    pack: Pack = importlib.import_module(f"tacit.text.packs.{base}").PACK
    return pack
