"""Separated text, parsed once and alike for every engine.

Engines disagree about blank lines, stray quotes and mixed line ends, and their messages quote lines of
the file. So text that fits in memory is parsed by Arrow, and the table is handed to the engine.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from tacit.engine.quoting import count_records
from tacit.errors import InputError, UnreadableFile

#: Bytes parsed in one go; a record must fit. Larger records are tried again with the largest block.
BLOCK = 1 << 22
LARGEST_BLOCK = (1 << 31) - 1


def is_utf8(encoding: str) -> bool:
    """Return True for UTF-8 under any of its names."""
    return encoding.lower().replace("_", "-") in {"utf-8", "utf8", "utf-8-sig"}


def records(path: Path, separator: str, quote: str, encoding: str, n: int) -> list[list[str]]:
    """Return the first records that are not blank, read by Python's own parser."""
    style: dict[str, Any] = (
        {"quotechar": quote, "quoting": csv.QUOTE_MINIMAL} if quote else {"quoting": csv.QUOTE_NONE}
    )
    codec = "utf-8-sig" if is_utf8(encoding) else encoding
    try:
        with path.open(encoding=codec, newline="") as file:
            rows = csv.reader(file, delimiter=separator, **style)
            return list(itertools.islice((row for row in rows if row), n))
    except (UnicodeError, LookupError):
        raise not_encoded(path, encoding) from None
    except csv.Error:
        raise UnreadableFile(
            f"{path.name!r} does not begin with a line of separated text"
        ) from None


def parse(
    path: Path, names: Sequence[str], *, separator: str, quote: str, header: bool, encoding: str
) -> pa.Table:
    """Return a text file with every field as a string; empty is null; a ragged line is an error."""
    bad: list[int] = []

    def skip(row: Any) -> str:
        bad.append(row.actual_columns)
        return "skip"

    parsing = pa_csv.ParseOptions(
        delimiter=separator,
        quote_char=quote or False,
        double_quote=True,
        escape_char=False,
        newlines_in_values=bool(quote),
        # In a file of one column a blank line is a missing value, elsewhere it is nothing.
        ignore_empty_lines=len(names) > 1,
        invalid_row_handler=skip,
    )
    converting = pa_csv.ConvertOptions(
        column_types={n: pa.string() for n in names}, null_values=[""], strings_can_be_null=True
    )
    for block in (BLOCK, min(LARGEST_BLOCK, max(BLOCK + 1, path.stat().st_size + 1))):
        bad.clear()
        reading = pa_csv.ReadOptions(
            column_names=list(names),
            skip_rows=blank_lines(path, encoding),
            skip_rows_after_names=int(header),
            block_size=block,
            encoding="utf8" if is_utf8(encoding) else encoding,
        )
        try:
            table = pa_csv.read_csv(path, reading, parsing, converting)
        except (UnicodeError, LookupError):
            raise not_encoded(path, encoding) from None
        except pa.ArrowInvalid as error:
            reason = str(error)
            if "straddl" in reason and block == BLOCK:
                continue
            if "UTF8" in reason or "UTF-8" in reason:
                raise not_encoded(path, encoding) from None
            if "Empty CSV" in reason or (header and only_header(path, encoding)):
                return pa.table({n: pa.array([], pa.string()) for n in names})
            raise UnreadableFile(f"{path.name!r} is not well-formed separated text") from None
        break
    if bad:
        raise ragged(path, len(bad), len(names), bad[0])
    require_every_record(
        path,
        table.num_rows + int(header),
        separator=separator,
        quote=quote,
        encoding=encoding,
        single=len(names) == 1,
    )
    return table


def require_every_record(
    path: Path, n_records: int, *, separator: str, quote: str, encoding: str, single: bool
) -> None:
    """Refuse a file of which a parser found another number of records than were counted in it."""
    counted = count_records(
        path, separator=separator, quote=quote, encoding=encoding, single=single
    )
    if counted is not None and counted != n_records:
        raise UnreadableFile(
            f"{path.name!r} holds {counted:,} records, and {n_records:,} were understood. Check the quotes "
            "and the line ends."
        )


def blank_lines(path: Path, encoding: str) -> int:
    """Return how many blank lines stand before the first record."""
    with path.open(encoding=encoding, errors="replace") as file:
        return sum(1 for _ in itertools.takewhile(lambda line: not line.strip("\ufeff\r\n"), file))


def only_header(path: Path, encoding: str) -> bool:
    """Return True when the file is one line without an end."""
    with path.open(encoding=encoding, errors="replace") as file:
        lines = list(itertools.islice((line for line in file if line.strip()), 2))
    return len(lines) == 1 and not lines[0].endswith("\n")


def ragged(path: Path, n_lines: int, expected: int, got: int | None = None) -> UnreadableFile:
    """Return the error for lines with too many or too few fields; the lines are not quoted."""
    lines = "1 line has" if n_lines == 1 else f"{n_lines:,} lines have"
    example = "" if got is None else f" (the first has {got})"
    return UnreadableFile(
        f"in {path.name!r}, {lines} another number of fields than the {expected} of the first line{example}. "
        "Check the separator and the quotes."
    )


def not_encoded(path: Path, encoding: str) -> InputError:
    """Return the error for bytes that are not text of that encoding."""
    return UnreadableFile(
        f"{path.name!r} is not {encoding} text. Say how it is encoded, e.g. encoding='latin-1'."
    )
