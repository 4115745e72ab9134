"""What the private union is compared with: a trusted third party, plain concatenation, and a union that shows all records.

References
----------
Kantarcioglu, Clifton (2004), Privacy-preserving distributed mining of association rules on horizontally partitioned
data, IEEE Trans. Knowledge and Data Engineering 16, 1026-1037.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from tacit.errors import WeakProtection
from tacit.private.parties.randomness import Randomness
from tacit.private.union.groups import group_named
from tacit.private.union.records import (
    canonical_identifier,
    decode_row,
    encode_row,
    longest_row,
    rows_of,
)


def unite_at_third_party(
    tables: Sequence[Any], identifying: Sequence[str], data: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the union that somebody who sees all files would make; the row of the first table wins."""
    merged: dict[str | None, dict[str, Any]] = {}
    for table in tables:
        for row in rows_of(table):
            merged.setdefault(canonical_identifier(row, identifying), {c: row[c] for c in data})
    return list(merged.values())


def concatenate(
    tables: Sequence[Any], identifying: Sequence[str], data: Sequence[str]
) -> list[dict[str, Any]]:
    """Return all rows of all tables, and warn that persons in several of them count several times."""
    rows = [row for table in tables for row in rows_of(table)]
    n_double = len(rows) - len({canonical_identifier(row, identifying) for row in rows})
    if n_double:
        warnings.warn(
            "files were put one after the other: persons who are in several of them count several times, which breaks "
            "the analysis of the whole",
            WeakProtection,
            stacklevel=2,
        )
    return [{c: row[c] for c in data} for row in rows]


def unite_openly(
    tables: Sequence[Any], data: Sequence[str], *, group: str = "ristretto255"
) -> list[dict[str, Any]]:
    """Return the union of rows by a commutative cipher as Kantarcioglu and Clifton do: everybody sees every row.

    Rows are compared as a whole, so that the same person with different values stays twice, and equal rows of different persons
    become one.
    """
    chosen, random = group_named(group), Randomness()
    files = [[{c: row[c] for c in data} for row in rows_of(t)] for t in tables]
    size = longest_row(row for file in files for row in file)
    keys = [chosen.draw_exponent(random) for _ in tables]
    # The same salt everywhere: equal rows must give equal ciphertexts here.
    salt = random.draw(16)
    union: dict[tuple[bytes, ...], None] = {}
    for file in files:
        for row in file:
            blocks = encode_row(chosen, row, size, Randomness(salt), "a party")
            for key in keys:
                blocks = [chosen.power(b, key) for b in blocks]
            union[tuple(blocks)] = None
    opened = []
    for row_blocks in random.shuffle(list(union)):
        blocks = list(row_blocks)
        for key in keys:
            blocks = [chosen.power(b, chosen.invert(key)) for b in blocks]
        opened.append(decode_row(chosen, blocks) or {})
    return opened
