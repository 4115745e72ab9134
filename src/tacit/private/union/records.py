"""Records of a party as the protocol takes them: canonical identifiers, and rows of one size in blocks.

The canonical form of an identifier is Unicode NFKC, case folded, NFKC again, trimmed, runs of white space to one blank, dates
as ISO 8601; fields are joined by U+001F. It must be the same at every party: only equal forms match.
"""

from __future__ import annotations

import datetime as dt
import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.engine.blocks import ROW
from tacit.errors import InputError, require_columns
from tacit.private.parties.randomness import Randomness
from tacit.private.union.groups import Group

RULE = (
    "NFKC, casefold, NFKC, trim, white space to one blank; dates ISO 8601; fields joined by U+001F"
)
#: The length that marks a row which belongs to nobody.
DUMMY = 0xFFFF
LENGTH_BYTES = 2


@dataclass(frozen=True)
class Records:
    """One party's file, ready for the protocol."""

    #: One tuple of identifiers per record, one for each way of matching; None where a field is missing.
    identifiers: tuple[tuple[str | None, ...], ...]
    rows: tuple[Mapping[str, Any], ...]

    def __len__(self) -> int:
        return len(self.rows)


def make_records(
    table: Any, keys: Sequence[Sequence[str]], data: Sequence[str], who: str
) -> Records:
    """Split a table into identifiers and rows; refuse what cannot be matched without doubt.

    ``keys`` are the ways of matching, each a list of identifying columns; two records match when they agree on one of them.
    """
    rows = rows_of(table)
    columns = list(rows[0]) if rows else [*dict.fromkeys(c for k in keys for c in k), *data]
    require_columns((c for k in [*keys, data] for c in k), columns, f"the file of {who!r}")
    both = {c for k in keys for c in k} & set(data)
    if both:
        raise InputError(
            f"column {min(both)!r} is declared both as identifying and as data at {who!r}: decide which; data are shown to "
            "the initiator"
        )
    identifiers = tuple(tuple(canonical_identifier(row, key) for key in keys) for row in rows)
    if any(all(i is None for i in each) for each in identifiers):
        raise InputError(
            f"a record of {who!r} has no identifier: an identifying field is missing or empty. Complete it, or leave the record out."
        )
    for way in range(len(keys)):
        own = [each[way] for each in identifiers if each[way] is not None]
        if len(set(own)) < len(own):
            raise InputError(
                f"the file of {who!r} holds the same identifier more than once: remove duplicates first, with "
                "tacit.private.union.drop_duplicates"
            )
    return Records(identifiers, tuple({c: row[c] for c in data} for row in rows))


def drop_duplicates(table: Any, identifying: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of a table with the first of every canonical identifier kept."""
    kept: dict[str | None, dict[str, Any]] = {}
    for row in rows_of(table):
        kept.setdefault(canonical_identifier(row, identifying), row)
    return list(kept.values())


def rows_of(table: Any) -> list[dict[str, Any]]:
    """Return a table as a list of rows: a list of mappings, a mapping of columns, any frame, or Microdata."""
    if isinstance(table, Mapping):
        lengths = {len(v) for v in table.values()}
        if len(lengths) > 1:
            raise InputError("the columns of a table have different lengths")
        return [
            dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)
        ]
    if isinstance(table, list | tuple):
        if not all(isinstance(row, Mapping) and list(row) == list(table[0]) for row in table):
            raise InputError(
                "a table given as a list must hold mappings with the same columns in the same order"
            )
        return [dict(row) for row in table]
    # A number that is no number is missing.
    return [
        {k: None if isinstance(v, float) and v != v else v for k, v in row.items()}  # noqa: PLR0124
        for row in frame_of(table).rows(named=True)
    ]


def frame_of(table: Any) -> Any:
    """Return any frame, or Microdata, in memory and without the numbers of its records."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(getattr(table, "frame", table), pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect("pyarrow")
    if not isinstance(frame, nw.DataFrame):
        raise InputError(
            "a table must be a frame, microdata, a mapping of columns or a list of rows"
        )
    return frame.select([c for c in frame.columns if c != ROW])


def canonical_identifier(row: Mapping[str, Any], fields: Iterable[str]) -> str | None:
    """Return the canonical identifier of a row; None when a field is missing or empty."""
    parts = [canonical_field(row[f]) for f in fields]
    return None if not all(parts) else "\x1f".join(p or "" for p in parts)


def canonical_field(value: Any) -> str | None:
    """Return one field in canonical form."""
    if value is None:
        return None
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        value = value.date()
    if isinstance(value, dt.date | dt.datetime):
        value = value.isoformat()
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    text = unicodedata.normalize("NFKC", str(value)).casefold()
    return " ".join(unicodedata.normalize("NFKC", text).split())


# -- rows as blocks ----------------------------------------------------------------------------------


def row_bytes(row: Mapping[str, Any]) -> bytes:
    """Return a row as bytes; equal rows give equal bytes."""
    return json.dumps(row, default=write_value, ensure_ascii=False, separators=(",", ":")).encode()


def write_value(value: Any) -> Any:
    """Return dates and numbers of other libraries as JSON can hold them."""
    if isinstance(value, dt.date | dt.datetime | dt.time):
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def longest_row(rows: Iterable[Mapping[str, Any]]) -> int:
    """Return the bytes of the longest row."""
    return max((len(row_bytes(r)) for r in rows), default=1)


def blocks_per_row(group: Group, record_bytes: int) -> int:
    """Return how many blocks a row takes."""
    return -(-(record_bytes + LENGTH_BYTES) // group.room)


def encode_row(
    group: Group, row: Mapping[str, Any] | None, record_bytes: int, random: Randomness, who: str
) -> list[bytes]:
    """Return the blocks of a row, each with fresh salt; None is a row of nobody."""
    content = b"" if row is None else row_bytes(row)
    if len(content) > record_bytes or record_bytes >= DUMMY:
        raise InputError(
            f"a row of {who!r} is longer than the {record_bytes} bytes agreed: agree on more, or send fewer columns"
        )
    length = DUMMY if row is None else len(content)
    n_blocks = blocks_per_row(group, record_bytes)
    padded = (length.to_bytes(LENGTH_BYTES, "big") + content).ljust(n_blocks * group.room, b"\0")
    return [
        group.encode(random.draw(group.salt) + padded[i : i + group.room], random)
        for i in range(0, len(padded), group.room)
    ]


def decode_row(group: Group, blocks: Sequence[bytes]) -> dict[str, Any] | None:
    """Return the row of some blocks; None for a row of nobody."""
    content = b"".join(group.decode(b)[group.salt :] for b in blocks)
    length = int.from_bytes(content[:LENGTH_BYTES], "big")
    if length == DUMMY:
        return None
    try:
        row = json.loads(content[LENGTH_BYTES : LENGTH_BYTES + length])
    except ValueError:
        row = None
    if not isinstance(row, dict) or length > len(content) - LENGTH_BYTES:
        raise InputError(
            "a row that was received cannot be read: the other side may have used another version"
        )
    return row
