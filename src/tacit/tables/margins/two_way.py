"""Bounds and disclosure in a two-way table of which only the totals are published.

All sets are kept as lines (whole rows, whole columns, parts of one line) and spelled out only when
asked for, so that a million rows by a million columns take no more than the totals do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError

Kind = Literal["existence", "upward", "downward", "approximation"]

NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Margins:
    """The row and column totals of a table whose cells are not negative.

    Attributes
    ----------
    rows, columns
        The totals.
    total
        The grand total.
    tolerance
        Differences up to this count as none (0 for whole numbers).
    """

    rows: Floats
    columns: Floats
    total: float
    tolerance: float = 0.0

    @classmethod
    def of(cls, rows: npt.ArrayLike, columns: npt.ArrayLike) -> Margins:
        """Check totals: not negative, complete, of equal sums."""
        r, c = np.asarray(rows, dtype=np.float64), np.asarray(columns, dtype=np.float64)
        if r.ndim != 1 or c.ndim != 1 or not len(r) or not len(c):
            raise InputError("row and column totals are two lists with at least one number each")
        if np.isnan(r).any() or np.isnan(c).any() or not np.isfinite(r.sum() + c.sum()):
            raise InputError("a row or column total is missing")
        if (r < 0).any() or (c < 0).any():
            raise InputError("row and column totals must not be negative")
        one, two = float(r.sum()), float(c.sum())
        if abs(one - two) > 1e-9 * max(1.0, one, two):
            raise InputError(f"the row totals add up to {one:g} and the column totals to {two:g}")
        whole = not (np.mod(r, 1).any() or np.mod(c, 1).any())
        return cls(r, c, one, 0.0 if whole else 1e-9 * max(1.0, one))

    def bounds(self, i: npt.ArrayLike, j: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Return the sharp bounds of cells: max(0, R + C - T) and min(R, C)."""
        r, c = self.rows[np.asarray(i)], self.columns[np.asarray(j)]
        return np.maximum(0.0, r + c - self.total), np.minimum(r, c)

    def all_bounds(self) -> tuple[Floats, Floats]:
        """Return the bounds of every cell as two arrays."""
        i, j = np.ix_(np.arange(len(self.rows)), np.arange(len(self.columns)))
        return self.bounds(i, j)


@dataclass(frozen=True, eq=False)
class Disclosed:
    """A set of cells as lines."""

    shape: tuple[int, int]  # rows and columns of the table
    rows: Ints = field(default_factory=lambda: NONE)  # lines of which every cell is in the set
    columns: Ints = field(default_factory=lambda: NONE)
    #: Cells of one line beside them, as pairs (row, column).
    part: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

    def __len__(self) -> int:
        m, n = self.shape
        r, c = len(self.rows), len(self.columns)
        inside = np.isin(self.part[:, 0], self.rows) | np.isin(self.part[:, 1], self.columns)
        return r * n + c * m - r * c + int((~inside).sum())

    def __iter__(self) -> Iterator[tuple[int, int]]:
        m, n = self.shape
        full_rows, full_columns = set(self.rows.tolist()), set(self.columns.tolist())
        yield from itertools.product(sorted(full_rows), range(n))
        for i in range(m) if full_columns else ():
            if i not in full_rows:
                yield from ((i, j) for j in sorted(full_columns))
        for i, j in self.part.tolist():
            if i not in full_rows and j not in full_columns:
                yield i, j

    def mask(self) -> Flags:
        """Return the set as an array of flags; only for tables that fit in memory."""
        flags = np.zeros(self.shape, dtype=bool)
        flags[self.rows] = True
        flags[:, self.columns] = True
        flags[self.part[:, 0], self.part[:, 1]] = True
        return flags

    def words(self) -> str:
        """Return the geometry in a phrase."""
        parts = []
        if len(self.rows):
            parts.append(f"{len(self.rows):,} whole rows")
        if len(self.columns):
            parts.append(f"{len(self.columns):,} whole columns")
        if len(self.part):
            one_row = len(np.unique(self.part[:, 0])) == 1
            line = "row" if one_row else "column"
            where = int(self.part[0, 0] if one_row else self.part[0, 1])
            parts.append(f"{len(self.part):,} cells of {line} {where}")
        return " and ".join(parts) or "no cell"


def raised(margins: Margins, threshold: float = 0.0) -> Disclosed:
    """Return the cells whose lower bound is above the threshold (existence when it is 0).

    Procedure 1 of Lu, Li and Wu (2006): such cells lie in one row or in one column, that of the
    largest total.
    """
    m, n = len(margins.rows), len(margins.columns)
    i, j = int(np.argmax(margins.rows)), int(np.argmax(margins.columns))
    limit = margins.total + threshold + margins.tolerance
    if margins.rows[i] + margins.columns[j] <= limit:
        return Disclosed((m, n))
    in_row = np.flatnonzero(margins.rows[i] + margins.columns > limit)
    part = np.stack([np.full(len(in_row), i), in_row], axis=1)
    if len(in_row) == 1:
        in_column = np.flatnonzero(margins.rows + margins.columns[in_row[0]] > limit)
        if len(in_column) > 1:
            part = np.stack([in_column, np.full(len(in_column), in_row[0])], axis=1)
    return Disclosed((m, n), part=part.astype(np.int64))


def capped(margins: Margins, threshold: float) -> Disclosed:
    """Return the cells whose upper bound is below the threshold: whole lines (Procedure 2)."""
    limit = threshold - margins.tolerance
    return Disclosed(
        (len(margins.rows), len(margins.columns)),
        rows=np.flatnonzero(margins.rows < limit),
        columns=np.flatnonzero(margins.columns < limit),
    )


def narrow(margins: Margins, threshold: float) -> Disclosed:
    """Return the cells whose bounds are closer than the threshold (Procedure 3).

    An existence cell has the width T - max(R, C); all others have the width min(R, C).
    """
    lines = capped(margins, threshold)
    cells = raised(margins).part
    if len(cells):
        largest = np.maximum(margins.rows[cells[:, 0]], margins.columns[cells[:, 1]])
        cells = cells[margins.total - largest < threshold - margins.tolerance]
    return Disclosed(lines.shape, lines.rows, lines.columns, cells)


def classify_cells_directly(
    low: Floats, high: Floats, thresholds: Mapping[str, npt.ArrayLike], tolerance: float
) -> dict[str, Flags]:
    """Return the four sets by looking at every cell; thresholds may differ from cell to cell."""
    return {
        "existence": low > tolerance,
        "upward": low > np.asarray(thresholds["upward"]) + tolerance,
        "downward": high < np.asarray(thresholds["downward"]) - tolerance,
        "approximation": high - low < np.asarray(thresholds["approximation"]) - tolerance,
    }


def smallest_base(
    margins: Margins, kind: Kind, threshold: float, *, most: int = 1000
) -> int | None:
    """Return the smallest base such that no cell is disclosed however the totals are rounded to it.

    Each total is published as the multiple of the base below or above it, so that it is known to within less than one
    base of what is published. The bounds that follow for a cell are those of a flow with limits on rows, columns and the
    grand total (Hoffman's circulation theorem); each is taken at the worst rounding for it. For "approximation" the two
    bounds of a cell are taken at the worst rounding of each, which no single rounding may reach: a smaller base can do.
    """
    for base in range(1, most + 1):
        lower, upper = worst_bounds(margins, base)
        if kind in ("existence", "upward"):
            limit = (threshold if kind == "upward" else 0.0) + margins.tolerance
            free = all(term.largest() <= limit for term in lower)
        elif kind == "downward":
            free = all(term.smallest() >= threshold - margins.tolerance for term in upper)
        else:
            widths = (u.minus(low) for u in upper for low in lower)
            free = all(w.smallest() >= threshold - margins.tolerance for w in widths)
        if free:
            return base
    return None


@dataclass(frozen=True, eq=False)
class Term:
    """One bound of every cell, as a number of its row plus a number of its column."""

    row: Floats
    column: Floats

    def largest(self) -> float:
        """Return its largest value over all cells."""
        return float(self.row.max() + self.column.max())

    def smallest(self) -> float:
        """Return its smallest value over all cells."""
        return float(self.row.min() + self.column.min())

    def minus(self, other: Term) -> Term:
        """Return the difference, cell by cell."""
        return Term(self.row - other.row, self.column - other.column)


def worst_bounds(margins: Margins, base: int) -> tuple[list[Term], list[Term]]:
    """Return the lower bounds of a cell, of which the largest counts, and the upper ones, of which the smallest does.

    A set of nodes of the network rows -> columns with source and sink gives a bound for the cell (i, j) when no other cell
    enters it: all rows but i and the column j for lower bounds; the row i alone, or all columns but j, for upper ones. Source
    and sink may be in it or not.
    """
    # Whole totals are at most base - 1 away from what is published.
    away = base - 1 if not margins.tolerance else float(base)

    def at_least(x: Floats | float) -> Floats:
        return np.maximum(np.ceil(np.asarray(x) / base) * base - away, 0.0)

    def at_most(x: Floats | float) -> Floats:
        return np.asarray(np.floor(np.asarray(x) / base) * base + away)

    r_low, r_high = at_least(margins.rows), at_most(margins.rows)
    c_low, c_high = at_least(margins.columns), at_most(margins.columns)
    t_low, t_high = float(at_least(margins.total)), float(at_most(margins.total))
    no_row, no_column = np.zeros(len(r_low)), np.zeros(len(c_low))
    rows, columns = float(r_high.sum()), float(c_high.sum())
    lower = [
        Term(no_row, no_column),
        Term(r_low, c_high - columns),
        Term(r_high - rows, c_low),
        Term(r_low, c_low - t_high),
        Term(r_high - rows, c_high - columns + t_low),
    ]
    others_r, others_c = r_low.sum() - r_low, c_low.sum() - c_low
    upper = [
        Term(r_high, no_column),
        Term(no_row, c_high),
        Term(t_high - others_r, no_column),
        Term(no_row, t_high - others_c),
        Term(columns - others_r, no_column),
        Term(no_row, rows - others_c),
        Term(r_high + columns - t_low, no_column),
        Term(no_row, c_high + rows - t_low),
    ]
    return lower, upper
