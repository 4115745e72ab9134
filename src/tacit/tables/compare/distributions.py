"""Tables laid out as distributions (rows) over cells (columns), all versions alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.engine.codes import dense_ids
from tacit.errors import InputError
from tacit.tables.compare.entries import Entries
from tacit.tables.compare.layout import (
    Declared,
    Layout,
    Side,
    declared_side,
    full_side,
    observed_side,
)

Rule = Literal["zero", "row_average", "weighted_row_average"]
RULES: tuple[Rule, ...] = ("zero", "row_average", "weighted_row_average")

#: Largest table that is laid out in memory.
MOST_CELLS = 200_000_000


@dataclass(frozen=True, eq=False)
class Distributions:
    """One version of a table."""

    #: What rows and columns stand for.
    layout: Layout
    #: Internal cells, rows by columns; where a cell is withheld, 0.
    cells: Floats
    #: Which cells are withheld; None: none.
    hidden: Flags | None = None
    #: Margins as published, which need not add up; NaN is a withheld margin. None: not published.
    row_totals: Floats | None = None
    column_totals: Floats | None = None
    #: How many stand behind each cell, where that is known and cells are not counts.
    units: Floats | None = None
    #: Whether the cells are counts, each unit counting one.
    counts: bool = True

    @property
    def knows_units(self) -> bool:
        """Return True when the units behind each cell are known."""
        return self.counts or self.units is not None

    def units_behind(self) -> Floats:
        """Return the units behind each cell: its count, or its contributors."""
        if self.units is not None:
            return self.units
        if not self.counts:
            raise InputError(
                "a magnitude table needs the number of contributors to each cell for this: "
                "give contributors="
            )
        return self.cells


def from_array(
    given: npt.ArrayLike, rows: Declared | None = None, columns: Declared | None = None
) -> Distributions:
    """Return distributions from an array of internal cells (NaN: withheld); one axis is one row."""
    cells, hidden = as_cells(given, "cells")
    layout = Layout(
        declared_side(rows, cells.shape[0], "row"), declared_side(columns, cells.shape[1], "column")
    )
    return Distributions(layout, cells, hidden)


def reshape_to_layout(given: npt.ArrayLike, layout: Layout) -> Distributions:
    """Return an array of internal cells in a layout that is known."""
    cells, hidden = as_cells(given, "cells")
    if cells.shape != layout.shape:
        raise InputError(
            f"the tables differ in shape: {cells.shape[0]:,} by {cells.shape[1]:,} against "
            f"{layout.shape[0]:,} by {layout.shape[1]:,}"
        )
    return Distributions(layout, cells, hidden)


def as_cells(given: npt.ArrayLike, what: str) -> tuple[Floats, Flags | None]:
    """Return values as a matrix with 0 where they are NaN, and where that is."""
    try:
        values = np.atleast_2d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"the {what} of a table must be numbers") from None
    if values.ndim != 2:
        values = values.reshape(values.shape[0], -1)
    if not values.size:
        raise InputError("the table has no cells")
    low = values.min()
    withheld = np.isnan(values) if np.isnan(low) else None
    if withheld is not None:
        values = np.where(withheld, 0.0, values)
        low = values.min()
    if low < 0:
        raise InputError(f"the {what} of a table must not be negative")
    if not np.isfinite(values.max()):
        raise InputError(f"the {what} of a table must be finite numbers")
    return values, withheld


# -- one layout for several sources ------------------------------------------------------------------


def lay_out(
    sources: Sequence[Entries], rows: Sequence[str], columns: Sequence[str]
) -> list[Distributions]:
    """Return the cells of several sources, all with the same rows and columns.

    Rows are the combinations that occur in any source. So are columns; for records they are all
    combinations of the categories that occur.
    """
    categories = {n: common_categories(sources, n) for n in (*rows, *columns)}
    codes = [recode(s, categories) for s in sources]
    records = all(s.records for s in sources)
    down = side_over(rows, codes, categories)
    across = (
        full_side({n: categories[n] for n in columns} or {"all": ("all",)})
        if records
        else side_over(columns, codes, categories)
    )
    size = len(down) * len(across)
    if not size:
        nothing = "the data have no records to tabulate"
        raise InputError(nothing if records else "the table has nothing but totals")
    if size > MOST_CELLS:
        raise InputError(
            "the table would have more cells than can be laid out; use fewer variables, or generalise them"
        )
    layout = Layout(down, across)
    return [fill(s, own, layout, rows, columns) for s, own in zip(sources, codes, strict=True)]


def common_categories(sources: Sequence[Entries], name: str) -> tuple[str, ...]:
    """Return the categories of a variable that occur: those of the first source, then what others add."""
    seen: dict[str, None] = {}
    for source in sources:
        at = source.names.index(name)
        used = np.bincount(source.codes[at], minlength=len(source.categories[at])) > 0
        total = source.totals[at]
        seen |= {
            c: None for c, u in zip(source.categories[at], used, strict=True) if u and c != total
        }
    return tuple(seen)


def recode(source: Entries, categories: dict[str, tuple[str, ...]]) -> dict[str, Ints]:
    """Return the codes of each variable in the common categories; -1 is the total."""
    found = {}
    for name, known in categories.items():
        at = source.names.index(name)
        place = {label: i for i, label in enumerate(known)}
        own = np.array([place.get(c, -1) for c in source.categories[at]], dtype=np.int64)
        found[name] = own[source.codes[at]]
    return found


def side_over(
    names: Sequence[str],
    codes: Sequence[dict[str, Ints]],
    categories: dict[str, tuple[str, ...]],
) -> Side:
    """Return the combinations of some variables that occur in any source, totals left aside."""
    every = [np.concatenate([own[n] for own in codes]) for n in names]
    ground = np.all([c >= 0 for c in every], axis=0) if every else np.ones(1, dtype=bool)
    kept = [c[ground] for c in every]
    return observed_side(names, kept, [categories[n] for n in names], int(ground.sum()))[0]


def lines_of(side: Side, names: Sequence[str], codes: dict[str, Ints], n: int) -> Ints:
    """Return the line of each entry; -1 at the total of all variables, -2 at that of some."""
    if not names:
        return np.zeros(n, dtype=np.int64)
    sizes = [len(c) for c in side.categories]
    own = [codes[name] for name in names]
    at_total = np.stack([c < 0 for c in own])
    joint = [np.concatenate([s, np.maximum(c, 0)]) for s, c in zip(side.codes, own, strict=True)]
    ids, n_ids = dense_ids(joint, sizes)
    line_of_id = np.full(n_ids, -2, dtype=np.int64)
    line_of_id[ids[: len(side)]] = np.arange(len(side))
    lines = line_of_id[ids[len(side) :]]
    lines[at_total.any(axis=0)] = -2
    lines[at_total.all(axis=0)] = -1
    return lines


def fill(
    source: Entries,
    codes: dict[str, Ints],
    layout: Layout,
    rows: Sequence[str],
    columns: Sequence[str],
) -> Distributions:
    """Put the entries of one source into the layout."""
    n = len(source.value)
    i = lines_of(layout.rows, rows, codes, n)
    j = lines_of(layout.columns, columns, codes, n)
    if not source.records:
        require_lines(i, len(layout.rows), "row")
        require_lines(j, len(layout.columns), "column")
    ground = (i >= 0) & (j >= 0)
    ids = i[ground] * layout.shape[1] + j[ground]
    if len(ids) and np.bincount(ids).max() > 1:
        raise InputError("a cell of the table is listed twice")
    cells = np.zeros(math.prod(layout.shape))
    cells[ids] = source.value[ground]
    values, hidden = as_cells(cells.reshape(layout.shape), "cells")
    units: Floats | None = None
    if source.units is not None:
        units = np.zeros(layout.shape)
        units.ravel()[ids] = source.units[ground]
    return Distributions(
        layout,
        values,
        hidden,
        margin_of(i, (j == -1) & (i >= 0), source.value, len(layout.rows)),
        margin_of(j, (i == -1) & (j >= 0), source.value, len(layout.columns)),
        units,
        counts=source.units is None,
    )


def require_lines(lines: Ints, n: int, what: str) -> None:
    """Refuse a table that lacks lines which another has."""
    if len(np.unique(lines[lines >= 0])) < n:
        raise InputError(f"the tables differ in their {what} labels; compare tables of one layout")


def margin_of(lines: Ints, chosen: Flags, value: Floats, n: int) -> Floats | None:
    """Return a published margin, or None when none is published."""
    if not chosen.any():
        return None
    margin = np.full(n, np.nan)
    margin[lines[chosen]] = value[chosen]
    return margin


# -- what a user would put in place of suppressed cells (section 2.1) --------------------------------


def fill_suppressed(
    table: Distributions, rule: Rule | None, along: Literal["rows", "columns"] = "rows"
) -> Floats:
    """Return the cells of a table with suppressed ones imputed; ``along`` columns transposes."""
    if table.hidden is None or not table.hidden.any():
        return table.cells
    if rule is None:
        raise InputError(
            f"the table has suppressed cells: choose impute= {', '.join(RULES)}, as its users would"
        )
    cells, mask = table.cells, table.hidden
    own, across = table.row_totals, table.column_totals
    if along == "columns":
        return impute_rows(cells.T, mask.T, rule, across, own).T
    return impute_rows(cells, mask, rule, own, across)


def impute_rows(
    cells: Floats,
    suppressed: Flags,
    rule: Rule,
    row_totals: Floats | None = None,
    column_totals: Floats | None = None,
) -> Floats:
    r"""Return cells with those suppressed in each row replaced.

    With z = 1 where a cell is suppressed and m_k. the published total of row k, the information lost
    is :math:`l_k = m_{k.} - \sum_j m_{kj}(1 - z_{kj})`, at least 0. ``zero`` puts 0;
    ``row_average`` puts :math:`l_k / \sum_j z_{kj}`; ``weighted_row_average`` puts
    :math:`l_k w_j / \sum_j w_j z_{kj}`, where :math:`w_j` is the average cell of column j. Both keep
    the row total. A margin that is itself withheld is taken as 1. The paper prints
    :math:`w_j = m_{.j}/J`; an average over K rows needs the divisor K, but the constant cancels, so the
    column margins serve as weights. Where all weights of a row are 0 the simple average is used.
    """
    known = np.where(suppressed, 0.0, cells)
    if rule == "zero":
        return known
    if row_totals is None:
        raise InputError(
            f"impute={rule!r} spreads what is missing from the published totals of the rows: "
            "give a version with its totals, or use impute='zero'"
        )
    lost = np.maximum(np.where(np.isnan(row_totals), 1.0, row_totals) - known.sum(axis=1), 0.0)
    weight = suppressed.astype(np.float64)
    if rule == "weighted_row_average":
        if column_totals is None:
            raise InputError(
                "impute='weighted_row_average' weighs by the published totals of the columns: "
                "give a version with its totals, or use impute='row_average'"
            )
        heavy = weight * np.where(np.isnan(column_totals), 1.0, column_totals)
        weight = np.where(heavy.sum(axis=1, keepdims=True) > 0, heavy, weight)
    base = weight.sum(axis=1)
    share = weight * np.divide(lost, base, out=np.zeros_like(lost), where=base > 0)[:, None]
    return np.where(suppressed, share, known)
