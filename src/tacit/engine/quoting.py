"""The records of separated text, counted apart from any parser.

A quote that is never closed makes a parser swallow the rest of the file as one field, silently. So the
quotes of a file are checked, and its records counted, by a scanner of its own; a parser that finds another
number of records is not believed. Blocks of bytes are scanned as arrays; only a file whose quotes stand in
unusual places is read field by field.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tacit.arrays import Ints
from tacit.errors import UnreadableFile

Bytes = npt.NDArray[np.uint8]

BLOCK = 1 << 24
LF, CR = 10, 13
BOM = b"\xef\xbb\xbf"
#: What text of two bytes per character begins with.
WIDE_MARKS = {b"\xff\xfe", b"\xfe\xff"}


@dataclass
class Scan:
    """What is known after the blocks so far."""

    quotes: int = 0
    records: int = 0
    blank: int = 0
    leading: int = 0
    #: Bytes of the line that the next block goes on with.
    length: int = 0
    last: int = LF


class Unusual(Exception):
    """Quotes stand where only a scanner of single fields can tell what they mean."""


def count_records(
    path: Path, *, separator: str, quote: str, encoding: str, single: bool = False
) -> int | None:
    """Return the records of a text file, its header included; None where bytes are not characters.

    With an empty ``quote`` quotes are characters like others; one that is not closed is refused. With ``single`` the file has
    one column: a blank line is then a record, but not before the first one.
    """
    marks = encoded_marks(separator, quote, encoding)
    with path.open("rb") as file:
        wide = file.read(2) in WIDE_MARKS
    if marks is None or wide:
        return None
    try:
        found = scan_blocks(path, *marks)
    except Unusual:
        found = scan_fields(path, *marks)
    return found.records + (found.blank - found.leading if single else 0)


def encoded_marks(separator: str, quote: str, encoding: str) -> tuple[int, int | None] | None:
    """Return separator and quote as bytes, or None where a character can hold the byte of another."""
    probe = '\r\n",;'
    try:
        plain = probe.encode(encoding) == probe.encode("ascii")
        parts = separator.encode(encoding), quote.encode(encoding)
    except (UnicodeError, LookupError):
        return None
    safe = re.match(r"(?i)utf-?8|latin|iso-?8859|cp12|windows-12|ascii|us-ascii", encoding)
    if not plain or not safe or len(parts[0]) != 1 or len(parts[1]) > 1:
        return None
    return parts[0][0], parts[1][0] if parts[1] else None


def blocks_of(path: Path) -> Iterator[tuple[Bytes, int]]:
    """Yield blocks of a file, each with the byte that follows it; a line end follows the last."""
    with path.open("rb") as file:
        block = file.read(BLOCK).removeprefix(BOM)
        while block:
            following = file.read(BLOCK)
            yield np.frombuffer(block, dtype=np.uint8), following[0] if following else LF
            block = following


def scan_blocks(path: Path, separator: int, quote: int | None) -> Scan:
    """Return the scan of a file whose quotes all open or close a field or stand doubled inside one."""
    state = Scan()
    for block, following in blocks_of(path):
        scan_block(block, following, separator, quote, state)
    if state.quotes % 2:
        raise make_unclosed_error(path)
    if state.length:
        state.records += 1
    return state


def scan_block(
    block: Bytes, following: int, separator: int, quote: int | None, state: Scan
) -> None:
    """Add one block to the scan."""
    quotes = np.flatnonzero(block == quote) if quote is not None else np.zeros(0, dtype=np.int64)
    if len(quotes):
        check_places(block, following, separator, quotes, state)
    ends = np.flatnonzero(block == LF)
    returns = np.flatnonzero(block == CR)
    if len(returns):
        after = np.where(returns + 1 < len(block), block[(returns + 1) % len(block)], following)
        ends = np.sort(np.concatenate([ends, returns[after != LF]]))
    if len(quotes) or state.quotes % 2:
        outside = (state.quotes + np.searchsorted(quotes, ends)) % 2 == 0
        ends = ends[outside]
    count_lines(block, ends, state)
    state.quotes += len(quotes)
    state.last = int(block[-1])


def check_places(block: Bytes, following: int, separator: int, quotes: Ints, state: Scan) -> None:
    """Check that an opening quote begins a field, and that a closing one ends it."""
    opened = state.quotes % 2
    opening, closing = quotes[opened::2], quotes[1 - opened :: 2]
    # The two quotes of a doubled one close and open the field again.
    parts_fields = np.zeros(256, dtype=bool)
    parts_fields[[separator, LF, CR, block[quotes[0]]]] = True
    before = block[opening - 1]
    if len(opening) and opening[0] == 0:
        before[0] = state.last
    inside = closing[: len(closing) - int(len(closing) > 0 and closing[-1] + 1 == len(block))]
    after = block[inside + 1]
    if len(inside) < len(closing) and not parts_fields[following]:
        raise Unusual
    if not bool(parts_fields[before].all() and parts_fields[after].all()):
        raise Unusual


def count_lines(block: Bytes, ends: Ints, state: Scan) -> None:
    """Count the lines that end in a block; a line without any byte is blank."""
    if not len(ends):
        state.length += len(block)
        return
    starts = np.concatenate([[-state.length], ends[:-1] + 1])
    length = ends - starts
    inside = ends > 0
    returned = np.zeros(len(ends), dtype=bool)
    returned[inside] = (block[ends[inside]] == LF) & (block[ends[inside] - 1] == CR)
    returned[~inside] = (block[0] == LF) & (state.last == CR) & (state.length > 0)
    blank = length - returned == 0
    if not state.records:
        filled = np.flatnonzero(~blank)
        state.leading += int(filled[0]) if len(filled) else len(blank)
    state.blank += int(blank.sum())
    state.records += int((~blank).sum())
    state.length = len(block) - int(ends[-1]) - 1


def scan_fields(path: Path, separator: int, quote: int | None) -> Scan:
    """Return the scan of a file field by field; a quote inside a field without quotes is a character."""
    assert quote is not None
    content = path.read_bytes().removeprefix(BOM)
    sep, mark = (re.escape(bytes([b])) for b in (separator, quote))
    # Text behind a closing quote is let through where no line end stands in between.
    field = re.compile(
        rb"(?:%(q)s(?:[^%(q)s]|%(q)s%(q)s)*+%(q)s"
        rb"|%(q)s(?:[^%(q)s\r\n]|%(q)s%(q)s)*+%(q)s[^%(s)s\r\n]*+"
        rb"|[^%(q)s%(s)s\r\n][^%(s)s\r\n]*+|)(%(s)s|\r\n|\n|\r|\Z)" % {b"q": mark, b"s": sep}
    )
    state, at, begun = Scan(), 0, 0
    while at < len(content):
        found = field.match(content, at)
        if found is None:
            raise make_unclosed_error(path, state.records + state.blank + 1)
        at = found.end()
        if found.group(1) == bytes([separator]):
            continue
        if found.start(1) == begun:
            state.blank += 1
            state.leading += not state.records
        else:
            state.records += 1
        begun = at
    if begun < len(content):
        state.records += 1
    return state


def make_unclosed_error(path: Path, record: int | None = None) -> UnreadableFile:
    """Return the error for quotes that do not close."""
    where = "" if record is None else f" in record {record:,}"
    return UnreadableFile(
        f"{path.name!r} has a quote{where} that is not closed, so that records would be lost. "
        "Mend the file, or read quotes as characters with quote=''."
    )
