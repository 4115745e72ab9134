"""Separated text, parsed once and alike for every engine.

Engines disagree about blank lines, stray quotes and mixed line ends, and their messages quote lines of
the file. So Arrow parses the text, in one go or batch by batch, and the engine takes what it gives.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from tacit.engine.blocks import ROW
from tacit.engine.quoting import count_records
from tacit.errors import InputError, UnreadableFile

#: Bytes parsed in one go; a record must fit. Larger records are tried again with the largest block.
BLOCK = 1 << 22
LARGEST_BLOCK = (1 << 31) - 1

#: Bytes parsed in one go of a file that is streamed.
STREAM_BLOCK = 1 << 24


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


@dataclass(frozen=True)
class Form:
    """How a text file is written."""

    path: Path
    names: tuple[str, ...]
    separator: str
    quote: str
    header: bool
    encoding: str

    def parse(self) -> pa.Table:
        """Return the file with every field as a string; empty is null; a ragged line is an error."""
        for block in (BLOCK, min(LARGEST_BLOCK, max(BLOCK + 1, self.path.stat().st_size + 1))):
            bad: list[int] = []
            try:
                table = pa_csv.read_csv(self.path, *self.options(block, bad))
            except (UnicodeError, LookupError, pa.ArrowInvalid) as error:
                if "straddl" in str(error) and block == BLOCK:
                    continue
                if self.is_empty(error):
                    return self.schema.empty_table()
                raise self.refusal(error) from None
            self.refuse_ragged(bad)
            break
        self.require_every_record(table.num_rows)
        return table

    def stream(self) -> pa.RecordBatchReader:
        """Return the same records as :meth:`parse`, batch by batch."""
        bad: list[int] = []

        def batches() -> Iterator[pa.RecordBatch]:
            n = 0
            try:
                for batch in pa_csv.open_csv(self.path, *self.options(STREAM_BLOCK, bad)):
                    n += batch.num_rows
                    yield batch
            except (UnicodeError, LookupError, pa.ArrowInvalid) as error:
                raise self.refusal(error) from None
            self.refuse_ragged(bad)
            self.require_every_record(n)

        return pa.RecordBatchReader.from_batches(self.schema, batches())

    @property
    def schema(self) -> pa.Schema:
        """Return the columns, all of them text."""
        return pa.schema([(n, pa.string()) for n in self.names])

    def options(
        self, block: int, bad: list[int]
    ) -> tuple[pa_csv.ReadOptions, pa_csv.ParseOptions, pa_csv.ConvertOptions]:
        """Return the parser's options; ``bad`` gets the number of fields of each ragged line."""

        def skip(row: Any) -> str:
            bad.append(row.actual_columns)
            return "skip"

        with self.path.open(encoding=self.encoding, errors="replace") as file:
            blank = itertools.takewhile(lambda line: not line.strip("\ufeff\r\n"), file)
            blank_lines = sum(1 for _ in blank)
        reading = pa_csv.ReadOptions(
            column_names=list(self.names),
            skip_rows=blank_lines,
            skip_rows_after_names=int(self.header),
            block_size=block,
            encoding="utf8" if is_utf8(self.encoding) else self.encoding,
        )
        parsing = pa_csv.ParseOptions(
            delimiter=self.separator,
            quote_char=self.quote or False,
            double_quote=True,
            escape_char=False,
            newlines_in_values=bool(self.quote),
            # In a file of one column a blank line is a missing value, elsewhere it is nothing.
            ignore_empty_lines=len(self.names) > 1,
            invalid_row_handler=skip,
        )
        converting = pa_csv.ConvertOptions(
            column_types={n: pa.string() for n in self.names},
            null_values=[""],
            strings_can_be_null=True,
        )
        return reading, parsing, converting

    def is_empty(self, error: Exception) -> bool:
        """Return True when the file has no records at all."""
        return "Empty CSV" in str(error) or (self.header and only_header(self.path, self.encoding))

    def refusal(self, error: Exception) -> InputError:
        """Return the error for a file that cannot be read."""
        coded = not isinstance(error, pa.ArrowInvalid) or "UTF8" in str(error)
        if coded or "UTF-8" in str(error):
            return not_encoded(self.path, self.encoding)
        return UnreadableFile(f"{self.path.name!r} is not well-formed separated text")

    def require_every_record(self, n: int) -> None:
        """Refuse a file of which other records were understood than were counted."""
        require_every_record(
            self.path,
            n + int(self.header),
            separator=self.separator,
            quote=self.quote,
            encoding=self.encoding,
            single=len(self.names) == 1,
        )

    def refuse_ragged(self, bad: Sequence[int]) -> None:
        """Refuse lines with another number of fields."""
        if bad:
            raise make_ragged_error(self.path, len(bad), len(self.names), bad[0])


def number_rows(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Add the column ROW: 0, 1, ... in the order of reading."""
    schema = reader.schema.append(pa.field(ROW, pa.int64()))

    def numbered() -> Iterator[pa.RecordBatch]:
        start = 0
        for batch in reader:
            rows = pa.array(np.arange(start, start + batch.num_rows, dtype=np.int64))
            start += batch.num_rows
            yield pa.RecordBatch.from_arrays([*batch.columns, rows], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, numbered())


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


def only_header(path: Path, encoding: str) -> bool:
    """Return True when the file is one line without an end."""
    with path.open(encoding=encoding, errors="replace") as file:
        lines = list(itertools.islice((line for line in file if line.strip()), 2))
    return len(lines) == 1 and not lines[0].endswith("\n")


def make_ragged_error(
    path: Path, n_lines: int, expected: int, got: int | None = None
) -> UnreadableFile:
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
