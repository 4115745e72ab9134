"""File formats, declared once: reading, released formats, options of the shell and errors follow from one list.

A format is one module with ``FORMAT = FileFormat(...)`` and what it declares: ``read`` and, where it can be written,
``write``. The modules of ``tacit.io`` are listed in ``formats.json``, written by ``scripts/generate``, so that nothing
is imported before it is needed. Third parties name a module in the entry-point group ``tacit.formats``.
"""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from tacit.errors import InputError

FILE = Path(__file__).with_name("formats.json")


@dataclass(frozen=True)
class FileFormat:
    """What is known of a format without importing its module.

    Attributes
    ----------
    holds
        The kind of data: records, table or corpus.
    reads
        The endings of files that are read, such as ``.csv``.
    writes
        The names under which a release is written in it, such as ``csv``.
    rank
        The place in lists; the first format that is written is the usual one.
    reader
        The function that reads, from the module; or its full path.
    beside
        Ending of a data file to the ending of the description that is written beside it.
    strips_titles
        Endings of files whose titles are read without blanks at their ends.
    sees_types
        True when reading takes care of missing codes and forced types itself.
    module
        Where the format is declared; filled in by the list.
    """

    holds: str
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    rank: int = 100
    reader: str = "read"
    beside: Mapping[str, str] = field(default_factory=dict)
    strips_titles: tuple[str, ...] = ()
    sees_types: bool = False
    module: str = ""

    def load(self) -> Any:
        """Return the module."""
        return importlib.import_module(self.module)

    def load_reader(self) -> Any:
        """Return the function that reads."""
        home, _, name = self.reader.rpartition(".")
        return getattr(importlib.import_module(home or self.module), name)


@functools.cache
def file_formats() -> tuple[FileFormat, ...]:
    """Return every format in the order of lists; those of third parties last unless they say otherwise."""
    listed = json.loads(FILE.read_text(encoding="utf-8"))
    own: list[dict[str, Any]] = [
        {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()} for entry in listed
    ]
    others = [declared_in(entry.value) for entry in entry_points(group="tacit.formats")]
    return tuple(sorted([*(FileFormat(**entry) for entry in own), *others], key=lambda f: f.rank))


def declared_in(module: str) -> FileFormat:
    """Return the format that a module declares; refuse one that lacks what it declares."""
    loaded = importlib.import_module(module)
    found = getattr(loaded, "FORMAT", None)
    if not isinstance(found, FileFormat):
        raise InputError(
            f"the module {module} declares no file format: give it FORMAT = FileFormat(...)"
        )
    made = FileFormat(**{**asdict(found), "module": module})
    if made.reads:
        made.load_reader()
    return made


def by_ending(holds: str) -> dict[str, FileFormat]:
    """Return the formats in which data of a kind are read, by ending."""
    return {e: f for f in file_formats() if f.holds == holds for e in f.reads}


def writable(holds: str) -> tuple[str, ...]:
    """Return the formats in which data of a kind are released, the usual one first."""
    return tuple(name for f in file_formats() if f.holds == holds for name in f.writes)
