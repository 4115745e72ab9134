"""What outsiders know of the cells of a table before they compute: declared once, for methods, audits and checks.

They know the external bounds of the table. Of a table of counts they also know what its publication always shows:

- counts are whole numbers;
- a 0 is always published, so a hidden cell is at least 1, and a total at least the number of its parts that are not
  0, unless the table lets empty cells be hidden.

Which of the hidden cells are unsafe is not published, so that a rule's "unsafe cells lie below n" says nothing of any
one hidden cell. Nobody is taken to run the method again on every table that fits what is published.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tacit.arrays import Flags, Floats
from tacit.claims.view import CellView, TableView

#: Statuses of cells that are published in any case: those that must be, and empty ones.
PUBLISHED, EMPTY = 10, 13
#: The entry of ``extra`` by which part of a table tells what holds for all of it.
WHOLE_TABLE_HIDES_ZEROS = "hides_zeros"
#: Hidden cells up to which an attacker is taken to solve programs in whole numbers.
MOST_WHOLE = 2_000
#: Cells up to which the least of totals is found from their parts, by all relations.
MOST_SUMMED = 1_000_000
#: The knowledge in a sentence, for claims and reports.
ZEROS_SHOWN = (
    "outsiders know that hidden counts are whole numbers of at least 1, since a 0 is always published, and the stated "
    "external bounds"
)
ZEROS_HIDDEN = "outsiders know that hidden counts are whole numbers, that a hidden cell may be 0, and the stated external bounds"
BOUNDS_ONLY = "outsiders know no more of hidden cells than the stated external bounds"
NO_PROGRAMS = "outsiders use linear programs, and no programs in whole numbers"


def outsider_bounds(table: TableView) -> tuple[Floats, Floats]:
    """Return the least and the most that outsiders think possible of a cell whose value is not published."""
    low, high = np.asarray(table.lower, dtype=float), np.asarray(table.upper, dtype=float)
    if not has_whole_counts(table):
        return low, high
    low, high = np.ceil(low), np.floor(high)
    if hides_zeros(table):
        return low, high
    low = np.where(shows_zero(table) & (table.value >= 1), np.maximum(low, 1.0), low)
    return (low if len(low) > MOST_SUMMED else sum_least_parts(table, low)), high


def sum_least_parts(table: TableView, low: Floats) -> Floats:
    """Return the least of every cell, that of a total being no less than the least of its parts together."""
    m = sparse.csr_array(table.equations)
    plain = (m.min(axis=1).toarray().ravel() == -1) & (m.max(axis=1).toarray().ravel() == 1)
    below = sparse.csr_array(m < 0)
    rows = np.flatnonzero(plain & (np.diff(below.indptr) == 1))
    if not len(rows):
        return low
    total = below[rows].indices
    parts = sparse.csr_array(m[rows] > 0).astype(np.float64)
    while True:
        higher = low.copy()
        np.maximum.at(higher, total, parts @ low)
        # What a table is said to hold may contradict its values by hand; the truth is possible.
        higher = np.minimum(higher, np.maximum(low, table.value))
        if (higher == low).all():
            return low
        low = higher


def has_whole_counts(table: CellView) -> bool:
    """Return True for counts that are whole numbers: not those of weights."""
    return bool(table.frequency and (np.rint(table.value) == table.value).all())


def hides_zeros(table: TableView) -> bool:
    """Return True when a hidden cell may be 0: some empty cell is not published in any case."""
    if WHOLE_TABLE_HIDES_ZEROS in table.extra:
        return bool(table.extra[WHOLE_TABLE_HIDES_ZEROS])
    zero = (table.value == 0) & ~left_out(table)
    return bool((zero & (table.status != PUBLISHED) & (table.status < EMPTY)).any())


def shows_zero(table: TableView) -> Flags:
    """Return the cells whose value would be published as it is, were it 0.

    Not those that are left out whatever their value, nor those that are rounded or given noise.
    """
    plain = np.asarray(~left_out(table))
    if table.changed is None:
        return plain
    veiled = np.asarray(table.hidden)
    if table.interval is not None:
        veiled = veiled | ~np.isnan(np.asarray(table.interval)[:, 0])
    return plain & veiled


def left_out(table: TableView) -> Flags:
    """Return the cells that no publication of this table holds."""
    gone = table.extra.get("unpublished")
    return np.zeros(len(table.value), dtype=bool) if gone is None else np.asarray(gone, dtype=bool)


def solves_in_whole_numbers(table: TableView) -> bool:
    """Return True when attackers of hidden counts are taken to solve programs in whole numbers."""
    if table.changed is not None or not has_whole_counts(table):
        return False
    return int(np.count_nonzero(table.hidden)) <= MOST_WHOLE


def describe_outsiders(table: TableView) -> tuple[str, ...]:
    """Return what outsiders are taken to know of a table as published, one sentence each."""
    if not has_whole_counts(table):
        return (BOUNDS_ONLY,)
    known = ZEROS_HIDDEN if hides_zeros(table) else ZEROS_SHOWN
    return (known,) if solves_in_whole_numbers(table) else (known, NO_PROGRAMS)
