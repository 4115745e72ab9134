"""The catalogue of kinds: what every Spec is called, is for and lives in, without importing any.

The registry holds classes, and a class costs the import of its file and of all that the file uses. Listing
the kinds, finding the file of one, or suggesting what was meant needs none of that: the facts lie in
``catalogue.json``, written by ``scripts/generate`` from the registry itself and checked by a test to
be fresh.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_suffix(".json")


class Entry(NamedTuple):
    """One kind: its class and file, its family, whether it protects or looks, where it runs."""

    kind: str
    name: str
    module: str
    family: str
    verb: str
    runs_on: str
    title: str


@functools.cache
def entries() -> dict[str, Entry]:
    """Return every kind that the package brings, sorted by kind."""
    rows = json.loads(FILE.read_text(encoding="utf-8"))
    return {row["kind"]: Entry(**row) for row in rows}


def describe_spec(kind: str, cls: Any) -> Entry:
    """Return the catalogue's entry of one Spec."""
    verb = "apply" if hasattr(cls, "apply") else "measure"
    return Entry(kind, cls.__name__, cls.__module__, cls.family, verb, cls.runs_on, cls.title())
