"""Original and released numbers side by side, for measures that compare them record by record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats, Ints
from tacit.data.microdata import Microdata
from tacit.data.values import as_numbers, read_numeric_column
from tacit.engine.base import ROW
from tacit.engine.coded import Coded
from tacit.engine.memory import count_ids, held_codes, held_table
from tacit.errors import ColumnNotFound, InputError

#: Records, about, that two files are compared by first where there are more of them on an engine.
LOOKED_AT = 100_000


@dataclass(frozen=True)
class Pairs:
    """Numeric columns of two files: all records of each, and where the shared ones stand."""

    #: before, after: one row per record, one column per column; NaN where missing.
    before: Floats
    after: Floats
    #: old, new: positions of the records that are in both files, in ``before`` and in ``after``.
    old: Ints
    new: Ints


def pairs(original: Microdata, released: Microdata, columns: Sequence[str], kind: str) -> Pairs:
    """Return the numbers of some columns in both files, linked by record."""
    refuse_lost_links(original, released, kind)
    old = original.to_arrow(columns, with_row=True)
    new = released.to_arrow(columns, with_row=True)
    at_old, at_new = shared_positions(old.column(ROW).to_numpy(), new.column(ROW).to_numpy())
    return Pairs(matrix(old, columns), matrix(new, columns), at_old, at_new)


def links_lost(original: Microdata, released: Microdata) -> bool:
    """Return True when the records were given new row numbers since the original."""
    return any(a.details.get("links_lost") for a in released.history[len(original.history) :])


def refuse_lost_links(original: Microdata, released: Microdata, kind: str) -> None:
    """Refuse a release whose records no longer are those of the original in order."""
    if links_lost(original, released):
        raise InputError(
            f"{kind}: the records were put in random order, so they cannot be compared with the original. Measure before that step."
        )


def shared_positions(old: Ints, new: Ints) -> tuple[Ints, Ints]:
    """Return where the numbers that stand in both arrays are found; both are ascending, none is there twice."""
    if np.array_equal(old, new):
        everyone = np.arange(len(old))
        return everyone, everyone
    at = np.searchsorted(old, new)
    found = at < len(old)
    found[found] = old[at[found]] == new[found]
    return at[found], np.flatnonzero(found)


def thin_out(original: Microdata, released: Microdata) -> tuple[Microdata, Microdata]:
    """Return both as they are, or of a large file on an engine one record in so many, the same in both."""
    every = len(original) // LOOKED_AT
    if every < 2 or all(held_table(d.frame) is not None for d in (original, released)):
        return original, released
    chosen = nw.col(ROW) % every == 0
    one, other = (d.with_frame(d.frame.filter(chosen)) for d in (original, released))
    return one, other


def has_twins(table: pa.Table) -> bool:
    """Return True when a record, known by its number, stands in an ordered table twice."""
    rows = table.column(ROW).to_numpy()
    return len(rows) > 1 and bool((rows[1:] == rows[:-1]).any())


def held_tables(original: Microdata, released: Microdata) -> tuple[pa.Table, pa.Table] | None:
    """Return both tables when they are in memory, and no record is there twice."""
    old, new = held_table(original.frame), held_table(released.frame)
    if old is None or new is None or has_twins(old) or has_twins(new):
        return None
    return old, new


@dataclass(frozen=True)
class ValuePairs:
    """How often each original value was released as each value; codes of both, and the counts.

    ``removed`` holds how often each original code, null's last, belongs to a record that is gone.
    """

    old: Coded
    new: Coded
    n: Ints
    removed: Ints


def pair_values(
    original: Microdata, released: Microdata, columns: Sequence[str]
) -> tuple[int, dict[str, ValuePairs]] | None:
    """Return how many records are in both files, and how their values changed; None when not in memory.

    A column that was not released has no new values.
    """
    tables = held_tables(original, released)
    if tables is None:
        return None
    old = held_codes(original.frame, columns)
    kept = [c for c in columns if c in released.columns]
    new = held_codes(released.frame, kept)
    if old is None or new is None:
        return None
    after = dict(zip(kept, new, strict=True))
    at_old, at_new = shared_positions(*(t.column(ROW).to_numpy() for t in tables))
    nothing = Coded(np.zeros(tables[1].num_rows, dtype=np.int32), pa.array([], pa.string()))
    return len(at_old), {
        c: pair_codes(coded, after.get(c, nothing), at_old, at_new)
        for c, coded in zip(columns, old, strict=True)
    }


def pair_codes(old: Coded, new: Coded, at_old: Ints, at_new: Ints) -> ValuePairs:
    """Count the pairs of codes of the records that are in both files."""
    ids, n = count_ids(
        old.codes[at_old].astype(np.int64) * new.size + new.codes[at_new], old.size * new.size
    )
    kept = np.bincount(old.codes[at_old], minlength=old.size)
    removed = np.bincount(old.codes, minlength=old.size) - kept
    before, after = (part.astype(np.int32) for part in divmod(ids, new.size))
    return ValuePairs(Coded(before, old.values), Coded(after, new.values), n, removed)


def matrix(table: pa.Table, columns: Sequence[str]) -> Floats:
    """Return columns of a table as an array with NaN where missing."""
    out = np.empty((table.num_rows, len(columns)))
    for i, c in enumerate(columns):
        out[:, i] = as_numbers(table.column(c), c).floats
    return out


def shared_numeric(
    original: Microdata, released: Microdata, asked: Sequence[str] = ()
) -> list[str]:
    """Return the numeric columns that original and release share, not the weight; refuse others asked for."""
    old, new = original.frame.collect_schema(), released.frame.collect_schema()
    shared = [
        c
        for c in original.columns
        if c in released.columns
        and c != original.weight
        and old[c].is_numeric()
        and new[c].is_numeric()
    ]
    absent = [c for c in asked if c not in shared]
    if absent:
        raise ColumnNotFound(absent, shared, "the numeric columns of original and release")
    return shared


def weights_of(data: Microdata) -> Floats:
    """Return the survey weights in record order; ones when none are declared."""
    if data.weight is None:
        return np.ones(len(data))
    column = read_numeric_column(data, data.weight)
    weights = column.values.astype(np.float64)
    if len(weights) and (not column.known.all() or (weights < 0).any() or weights.sum() <= 0):
        raise InputError(
            f"the weight column {data.weight!r} must be complete, without negative numbers, and not all 0"
        )
    return weights
