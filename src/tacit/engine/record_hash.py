"""One number for all values of a record, by which records are found again without keeping their values."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tacit.arrays import Flags
from tacit.engine.coded import encode

Hashes = npt.NDArray[np.uint64]
#: An odd multiplier: order of columns matters, and nothing is lost.
FACTOR = np.uint64(0x9E3779B97F4A7C15)


def hash_records(table: pa.Table) -> Hashes:
    """Return a 64-bit number for each record of a table; equal records have equal numbers."""
    out = np.zeros(table.num_rows, dtype=np.uint64)
    for name in table.column_names:
        coded = encode(table.column(name))
        known = np.array([hash_value(v) for v in coded.values.to_pylist()], dtype=np.uint64)
        each = np.append(known, np.uint64(hash_value(None)))[coded.codes]
        with np.errstate(over="ignore"):
            out = (out ^ each) * FACTOR
            out ^= out >> np.uint64(29)
    return out


def hash_value(value: Any) -> int:
    """Return a number for one value: whole and decimal numbers alike."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = repr(float(value))
    else:
        text = "\0" if value is None else str(value)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def find_uniques(table: pa.Table) -> tuple[Hashes, Flags]:
    """Return the number of each record, and which records are like no other."""
    hashes = hash_records(table)
    _, place, count = np.unique(hashes, return_inverse=True, return_counts=True)
    return hashes, (count == 1)[place.ravel()]
