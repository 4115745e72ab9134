"""JSON lines: one document a line, an object with ``text`` and perhaps ``name``, ``spans``, ``keep`` and ``record``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tacit.data.corpus import Document, facts_of
from tacit.errors import UnreadableFile
from tacit.io.corpora.decode import read_text, shown
from tacit.io.corpora.gold import spans_of
from tacit.io.formats import FileFormat

FORMAT = FileFormat("corpus", reads=(".jsonl", ".ndjson"), rank=2)


def read(file: Path, name: str, encoding: str) -> Iterator[Document]:
    """Yield the document of each line."""
    stem = Path(name).with_suffix("").as_posix()
    for number, line in enumerate(read_text(file, encoding).split("\n"), 1):
        if line.strip():
            yield document_of(
                parse(line, file, number), f"{stem}-{number}", f"line {number} of {shown(file)}"
            )


def parse(line: str, file: Path, number: int) -> dict[str, Any]:
    """Return the object of a line."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        raise UnreadableFile(
            f"line {number} of {shown(file)} is no document: each line must be an object with a 'text', "
            'such as {"text": "..."}'
        )
    return found


def document_of(found: dict[str, Any], name: str, where: str) -> Document:
    """Return the document that an object describes."""
    text, spans = found["text"], found.get("spans", found.get("gold"))
    named = (found.get("name"), found.get("id"), name)
    return Document(
        str(next(n for n in named if n is not None)),
        text,
        gold=None if spans is None else spans_of(spans, text, where),
        keep=spans_of(found.get("keep") or (), text, where),
        record=facts_of(found.get("record") or {}, where),
    )
