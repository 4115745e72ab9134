"""A column of texts: each record is a document, and other columns are what is known of its person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from tacit.data.corpus import Corpus, Document
from tacit.data.microdata import Microdata
from tacit.errors import InputError
from tacit.io.frames import require_columns


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
