"""Files: one module a family of formats, found by the file's ending.

A format module has ``read(path, options, engine) -> Loaded`` and, where the format can be written,
``write(data, path, options)``. ``FORMATS`` names the module of each ending, so that nothing is
imported before it is needed.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import narwhals.stable.v2 as nw

from tacit.data.roles import Column
from tacit.engine.base import Engine
from tacit.errors import UnreadableFile, near_match

FORMATS: Mapping[str, str] = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".parquet": "parquet",
}

#: Formats a release can be written in.
WRITABLE: tuple[str, ...] = ("csv", "parquet")


@dataclass(frozen=True)
class Options:
    """How to read a file, where its ending does not say all.

    Attributes
    ----------
    separator, quote, encoding, header
        For separated text; the separator is guessed from the first line when not given.
    missing
        Texts or codes that stand for a missing answer and become null on reading.
    types
        Types to force by column: ``text``, ``integer``, ``number``, ``date``.
    sheet
        Name of an Excel sheet (by default the first).
    metadata
        Path of a mu-ARGUS ``.rda`` file.
    query
        SQL to run on a database.
    """

    separator: str | None = None
    quote: str = '"'
    encoding: str = "utf-8"
    header: bool = True
    missing: tuple[str, ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    sheet: str | None = None
    metadata: str | None = None
    query: str | None = None


@dataclass(frozen=True)
class Loaded:
    """A frame on the engine, with the row number, and what the file says about its columns.

    ``roles`` holds roles that the file itself declares (mu-ARGUS metadata do).
    """

    frame: nw.LazyFrame[Any]
    columns: Mapping[str, Column] = field(default_factory=dict)
    roles: Mapping[str, Any] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)


class Format(Protocol):
    """What a format module gives."""

    def read(self, path: Path, options: Options, engine: Engine) -> Loaded:
        """Read a file."""
        ...

    def write(self, data: Any, path: Path, options: Options) -> None:
        """Write a file."""
        ...


def format_of(path: Path) -> Format:
    """Return the module for a file's ending, or say which endings are known."""
    ending = path.suffix.lower()
    if path.is_dir() or (not ending and any(path.glob("*.parquet"))):
        ending = ".parquet"
    if ending not in FORMATS:
        hint = near_match(ending, FORMATS)
        raise UnreadableFile(
            f"cannot tell the format of {path.name!r} from its ending. {hint + ' ' if hint else ''}"
            f"Known endings: {', '.join(FORMATS)}."
        )
    return importlib.import_module(f"tacit.data.files.{FORMATS[ending]}")  # type: ignore[return-value]


def require_file(path: Path) -> None:
    """Say in one sentence why a file cannot be read."""
    if not path.exists():
        near = near_match(path.name, [p.name for p in path.parent.glob("*")] if path.parent.is_dir() else [])
        raise UnreadableFile(f"no file {str(path)!r}. {near}".strip())
    if path.is_file() and path.stat().st_size == 0:
        raise UnreadableFile(f"the file {path.name!r} is empty")
