"""What is known of the people whom documents are about: a file of records, or a mapping."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.data.corpus import facts_of
from tacit.errors import InputError, UnreadableFile
from tacit.io.corpora.decode import existing

#: The column that says which document a record belongs to.
DOCUMENT = "document"


def read_records(source: Any) -> dict[str, dict[str, Any]]:
    """Return what is known by name of document."""
    if isinstance(source, Mapping):
        return {str(name): facts_of(record) for name, record in source.items()}
    if not isinstance(source, (str, Path)):
        raise InputError("what is known comes from a file, or is a mapping from document to facts")
    path = existing(source)
    if path.suffix.lower() == ".json":
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            raise UnreadableFile("the known records cannot be read as JSON") from None
        if isinstance(found, dict):
            return read_records(found)
        raise InputError("known records in JSON must be a mapping from document to {field: value}")
    from tacit.io.read import read

    table = read(path).to_arrow()
    if DOCUMENT not in table.column_names:
        raise InputError(f"the known records need a column {DOCUMENT!r} with the name of the text")
    names = table.column(DOCUMENT).to_pylist()
    if len(set(names)) < len(names):
        raise InputError(
            f"some of the known records share a {DOCUMENT!r}; put all that is known for a text into one record, with "
            "a column for each person"
        )
    return {
        str(row.pop(DOCUMENT)): {k: v for k, v in row.items() if v is not None}
        for row in table.to_pylist()
    }
