"""What is known of the people whom documents are about: a file of records, or a mapping."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tacit.errors import InputError, UnreadableFile
from tacit.io.corpora.decode import existing

#: The column that says which document a record belongs to.
DOCUMENT = "document"


def read_records(source: Any) -> dict[str, dict[str, Any]]:
    """Return what is known by name of document."""
    if isinstance(source, Mapping):
        return {str(name): dict(record) for name, record in source.items()}
    path = existing(source)
    if path.suffix.lower() == ".json":
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            raise UnreadableFile("the known records cannot be read as JSON") from None
        if isinstance(found, dict) and all(isinstance(v, dict) for v in found.values()):
            return found
        raise InputError("known records in JSON must be a mapping from document to {field: value}")
    from tacit.io.read import read

    table = read(path).to_arrow()
    if DOCUMENT not in table.column_names:
        raise InputError(f"the known records need a column {DOCUMENT!r} with the name of the text")
    return {
        str(row.pop(DOCUMENT)): {k: v for k, v in row.items() if v is not None}
        for row in table.to_pylist()
    }
