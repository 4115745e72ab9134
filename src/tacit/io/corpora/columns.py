"""Texts and facts from columns: each record is a document, and what is known of its person comes from a file or other columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from tacit.data.corpus import Corpus, Document, facts_of
from tacit.data.microdata import Microdata
from tacit.errors import InputError, UnreadableFile, require_columns
from tacit.io.corpora.decode import existing


def read_columns(
    source: Any, text: str | None, name: str | None, record: Any, options: Mapping[str, Any]
) -> Corpus:
    """Read a file with columns, or a database, and take one column as documents."""
    from tacit.io.read import read

    given = {k: v for k, v in options.items() if v is not None}
    return from_microdata(read(source, **given), text, name, record)


def from_microdata(data: Microdata, text: str | None, name: str | None, record: Any) -> Corpus:
    """Return the texts of a column; empty ones are left out."""
    if text is None:
        raise InputError("name the column that holds the texts: read_texts(..., text='note')")
    known = columns_of(record)
    wanted = list(dict.fromkeys((text, *([name] if name else ()), *known)))
    require_columns(wanted, data.columns, "the data")
    if data.frame.collect_schema()[text] != nw.String:
        raise InputError(f"column {text!r} does not hold text")
    table = data.to_arrow(wanted)
    rows = {c: table.column(c).to_pylist() for c in table.column_names}
    width = len(str(table.num_rows))
    documents = [
        Document(
            str(rows[name][i]) if name else f"{i + 1:0{width}d}",
            value,
            record={c: rows[c][i] for c in known if rows[c][i] is not None},
        )
        for i, value in enumerate(rows[text])
        if value is not None
    ]
    if name and (len({d.name for d in documents}) < len(documents) or None in rows[name]):
        raise InputError(
            f"the column {name!r} does not name documents: some share a name or have none"
        )
    return Corpus(tuple(documents), data.source)


def columns_of(record: Any) -> tuple[str, ...]:
    """Return the columns that are known, given as one name or several."""
    if record is None:
        return ()
    if isinstance(record, str):
        return (record,)
    if isinstance(record, Sequence) and all(isinstance(c, str) for c in record):
        return tuple(record)
    raise InputError(
        "for a source with columns, record= names the columns that are searched in the text"
    )


# -- what is known of the people whom documents are about ------------------------------------------


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
