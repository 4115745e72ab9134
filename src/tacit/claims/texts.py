"""What checks of texts share: the texts of a corpus or of columns, block by block, and the forms of identifiers.

The patterns are plain and of their own: they know nothing of the detectors whose work they check. They run in RE2,
whose time grows with the length of the text and no faster.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import pyarrow as pa

#: Records that are looked at together.
BLOCK = 1 << 16
ROW = "__row__"

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
#: How identifiers are written, by form.
FORMS: Mapping[str, str] = {
    "email": r"[A-Za-z0-9._%+\-]+@[A-Za-z0-9\-]+\.[A-Za-z]",
    "url": r"(?i)\b(?:https?|ftp)://[^\s/]|\bwww\.[a-z0-9\-]+\.[a-z]",
    "phone": r"\(\d{3}\) ?\d{3}[\-. ]\d{4}\b|\b\d{3}[\-.]\d{3}[\-.]\d{4}\b",
    "ssn": r"\b\d{3}-\d{2}-\d{4}\b",
    "date": (
        r"\b\d{1,2}/\d{1,2}/(?:19|20)\d{2}\b|\b(?:19|20)\d{2}-(?:0[1-9]|1[0-2])-\d{2}\b"
        rf"|(?i)\b{MONTH}\.? \d{{1,2}}, (?:19|20)\d{{2}}\b|\b\d{{1,2}} {MONTH} (?:19|20)\d{{2}}\b"
    ),
}


def text_blocks(view: Any, columns: Sequence[str]) -> Iterator[pa.ChunkedArray]:
    """Yield the texts of a corpus, or of columns of a frame, in blocks."""
    if not isinstance(view, nw.LazyFrame):
        yield pa.chunked_array([pa.array([d.text for d in view.documents], pa.large_string())])
        return
    for table in record_blocks(view, columns):
        for column in columns:
            yield table.column(column).cast(pa.large_string())


def record_blocks(frame: nw.LazyFrame[Any], columns: Sequence[str]) -> Iterator[pa.Table]:
    """Yield some columns of a frame in blocks of records: a file need not fit into memory."""
    wanted = list(dict.fromkeys(columns))
    if ROW not in frame.collect_schema().names():
        yield frame.select(*wanted).collect("pyarrow").to_native()
        return
    ends = frame.select(nw.col(ROW).min().alias("low"), nw.col(ROW).max().alias("high"))
    low, high = ends.collect("pyarrow").row(0)
    if low is None:
        return
    for start in range(low, high + 1, BLOCK):
        rows = (nw.col(ROW) >= start) & (nw.col(ROW) < start + BLOCK)
        yield frame.filter(rows).select(*wanted).collect("pyarrow").to_native()
