"""The report of a table: what is published, what is hidden, and, for the board, what it cost.

The public one shows what the released file shows. It tells neither unsafe cells from secondary ones nor changed values
from true ones, and no figure that was reckoned with true values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tacit.data.table import Table
from tacit.plot.families import bars
from tacit.plot.pattern import CHANGED, EMPTY, HIDDEN, PUBLISHED, pattern_map
from tacit.report import document as doc
from tacit.report import words
from tacit.report.view import View, view_class
from tacit.result import format_number

#: A table is printed in the report when it has at most this many rows and columns.
MOST_ROWS, MOST_COLUMNS = 60, 24


class TableView(View):
    """The facts of a released table."""

    judged_on = "the full table"

    @property
    def table(self) -> Table:
        """Return the protected table."""
        table: Table = self.release.data
        return table

    # -- the first page --------------------------------------------------------------------------

    def tiles(self, *, public: bool) -> list[doc.Tile]:
        """Return the few numbers at the top; how many cells were moved is not for the public."""
        table = self.table
        full, hidden = int((~table.marked_empty).sum()), int(table.hidden.sum())
        share = words.percent(hidden / full) if full else ""
        shown = [
            doc.Tile(
                format_number(len(table)), "cells", f"{format_number(len(table) - full)} empty"
            ),
            doc.Tile(format_number(hidden), "hidden", share),
        ]
        if table.changed is not None and not public:
            moved = int(is_moved(table).sum())
            shown.append(doc.Tile(format_number(moved), "published with another value"))
        if table.interval is not None:
            n = int(np.isfinite(table.interval).all(axis=1).sum())
            shown.append(doc.Tile(format_number(n), "published as an interval"))
        return shown

    def size(self) -> str:
        """Return what is released, in sentences."""
        names = [d.name for d in self.table.dimensions]
        by = words.join_column_names(names) if names else "its equations"
        return f"{self.table.response} by {by}: {len(self.table):,} cells."

    def lost(self) -> list[str]:
        """Return what is hidden or changed, and the shares that utility measures give."""
        table = self.table
        full = max(int((~table.marked_empty).sum()), 1)
        told = []
        if table.hidden.any():
            hidden = int(table.hidden.sum())
            told.append(
                f"{hidden:,} cells are hidden, {words.percent(hidden / full)} of those with content."
            )
        if table.changed is not None:
            told.append(f"{int(is_moved(table).sum()):,} cells are published with another value.")
        return told + [
            f"{result.title}: {label} {format_number(value)}."
            for result in self.release.utility.after.values()
            for label, value in result.numbers.items()
            if "share" in label
        ]

    def limits(self) -> list[str]:
        """Return what the release does not promise."""
        found = []
        if self.table.hidden.any():
            found.append(
                "Outsiders who know more of hidden cells than was assumed, or who pool what they know of "
                "their own contributions, can narrow the intervals."
            )
        if self.table.changed is not None:
            found.append(
                "Values were changed on purpose. Differences and ratios of small cells can be far from the "
                "truth; totals were kept as close as the method allows."
            )
        found.append(
            "Another table from the same records can be combined with this one. Protection must then be "
            "proven on both together."
        )
        return found

    # -- for the public --------------------------------------------------------------------------

    def opening(self) -> Sequence[doc.Section | None]:
        """Return the table as published, and the map of it."""
        dimensions = doc.DataTable.of(
            ["dimension", *doc.numbers("codes"), "shape"],
            [(d.name, len(d), shape_words(d)) for d in self.table.dimensions],
            f"{self.table.response} by these dimensions",
        )
        published = grid(self.table)
        blocks: list[doc.Block] = [dimensions, *([published] if published else [])]
        drawn = picture(self.table, public=True)
        return [
            doc.Section("The table", (*blocks, *([doc.Figure(drawn)] if drawn else [])), "table")
        ]

    def public_blocks(self) -> Sequence[doc.Section | None]:
        """Return which measures stay with the data holder: a table holds its true values, and they look at them."""
        return [self.withheld_section()]

    def check_blocks(self) -> list[doc.Block]:
        """Return how the release is checked."""
        return [
            doc.Paragraph(
                (
                    "The file ",
                    doc.Mark("manifest.json", "code"),
                    (
                        " beside this report lists the SHA-256 of every file. The data holder, who has the "
                        "confidential folder, can recompute the claims on the full table and run the plan "
                        "again:"
                    ),
                )
            ),
            doc.Code("tacit verify ."),
        ]

    # -- for the board ---------------------------------------------------------------------------

    def board_blocks(self) -> Sequence[doc.Section | None]:
        """Return the cells by status and level, what each code lost, and every measure."""
        codes = [code_table(self.table, i) for i in range(len(self.table.dimensions))]
        return [
            self.status_section(),
            self.riskiest_section(),
            doc.section("Codes before and after", *codes, key="columns"),
            *self.measured_blocks(public=False),
        ]

    def status_section(self) -> doc.Section:
        """Return how many cells have which status, before and after protection."""
        old, new = self.release.original.tally(), self.table.tally()
        rows = [(s, old.get(s, 0), new.get(s, 0)) for s in dict.fromkeys([*old, *new])]
        table = doc.DataTable.of(
            ["status", *doc.numbers("before", "after")],
            rows,
            "Cells by status, after the rules and after protection",
        )
        return doc.Section(
            "Suppressed and changed",
            (table, doc.Figure(picture(self.table, public=False))),
            "suppressed",
        )

    def riskiest_section(self) -> doc.Section | None:
        """Return the levels of the table with most unsafe cells."""
        judged = self.release.original
        # A table that was recoded has other cells than the one that was judged.
        unsafe = (judged if len(judged) == len(self.table) else self.table).primary
        full = ~self.table.empty
        rows = []
        for name, cells in by_levels(self.table):
            n = int((cells & full).sum())
            bad = int((cells & unsafe).sum())
            if bad:
                hidden = int((cells & self.table.hidden).sum())
                rows.append((name, n, bad, hidden, bad / max(n, 1)))
        if not rows:
            return None
        rows.sort(key=lambda row: -row[-1])
        table = doc.DataTable.of(
            [
                "levels",
                *doc.numbers("cells", "unsafe", "hidden"),
                doc.Column("share unsafe", "percent"),
            ],
            rows,
            "Unsafe and hidden cells by combination of levels; level 0 is the total of a dimension",
        )
        return doc.Section("Riskiest combinations", (table,), "combinations")


view_class.register(Table, lambda _: TableView)


# -- cells ---------------------------------------------------------------------------------------------


def is_moved(table: Table) -> Any:
    """Return which cells are published with another value."""
    if table.changed is None:
        return np.zeros(len(table), dtype=bool)
    return np.abs(np.nan_to_num(table.changed - table.value)) > 0


def shape_words(dimension: Any) -> str:
    """Return the shape of a dimension in words."""
    if dimension.is_flat:
        return "codes and their total"
    if dimension.is_tree:
        return f"a tree of depth {int(dimension.depth.max())}"
    return "several groupings of the same codes"


def state_words(table: Table, *, public: bool) -> Any:
    """Return what became of each cell, in a word; which values were changed is not for the public."""
    state = np.full(len(table), PUBLISHED, dtype=object)
    if not public:
        state[is_moved(table)] = CHANGED
    state[table.marked_empty if public else table.empty] = EMPTY
    state[table.hidden] = HIDDEN
    return state


def picture(table: Table, *, public: bool) -> Any:
    """Return the map of a two-way table, or the hidden or changed cells by level of a larger one; None without any."""
    state = state_words(table, public=public)
    if table.is_product and len(table.shape) == 2 and max(table.shape) <= 80:
        rows, columns = table.dimensions
        return pattern_map(
            state.reshape(table.shape),
            rows.codes,
            columns.codes,
            title="What is published",
            names=(rows.name, columns.name),
        )
    level = np.zeros(len(table), dtype=np.int64)
    for i, d in enumerate(table.dimensions):
        level += d.depth[table.places[:, i]]
    by_change = table.changed is not None and not public
    marked, what = (state == CHANGED, "changed") if by_change else (table.hidden, "hidden")
    if public and not marked.any():
        return None
    return bars(
        [(str(v), float((marked & (level == v)).sum())) for v in np.unique(level)],
        title=f"Cells {what} by level",
        x="level (0 is the grand total)",
        y="cells",
    )


def by_levels(table: Table) -> Iterator[tuple[str, Any]]:
    """Yield each combination of levels of the dimensions with its cells."""
    if not table.dimensions:
        return
    depth = np.stack([d.depth[table.places[:, i]] for i, d in enumerate(table.dimensions)], axis=1)
    for levels in np.unique(depth, axis=0):
        pairs = zip(table.dimensions, levels, strict=True)
        yield ", ".join(f"{d.name} {int(at)}" for d, at in pairs), (depth == levels).all(axis=1)


def code_table(table: Table, i: int, most: int = 25) -> doc.DataTable:
    """Return the codes of a dimension by the share of their cells that is hidden or changed."""
    dimension = table.dimensions[i]
    touched, full = table.hidden | is_moved(table), ~table.empty
    rows = []
    for at, code in enumerate(dimension.codes):
        cells = (table.places[:, i] == at) & full
        n, lost = int(cells.sum()), int((cells & touched).sum())
        if n:
            rows.append((label(dimension, code), n, lost, lost / n))
    rows.sort(key=lambda row: -row[-1])
    cut = "" if len(rows) <= most else f"; the {most} that lost most of {len(rows)}"
    return doc.DataTable.of(
        [
            dimension.name,
            *doc.numbers("cells", "hidden or changed"),
            doc.Column("share", "percent"),
        ],
        rows[:most],
        f"Codes of {dimension.name}{cut}",
    )


# -- the published table -------------------------------------------------------------------------------


def grid(table: Table) -> doc.DataTable | None:
    """Return a small one- or two-way table as published."""
    if not table.is_product or len(table.shape) > 2:
        return None
    array = table.to_array()
    array = array if array.ndim == 2 else array.reshape(1, -1)
    if array.shape[0] > MOST_ROWS or array.shape[1] > MOST_COLUMNS:
        return None
    two = len(table.shape) == 2
    depth = table.dimensions[0].depth if two else [0]
    empty = table.marked_empty.reshape(array.shape)
    names = table.dimensions[0].codes if two else (table.response,)
    ends = None if table.interval is None else table.interval.reshape(*array.shape, 2)
    rows = []
    for i, code in enumerate(names):
        cells: list[doc.Cell] = [
            cell_words(array[i, j], bool(empty[i, j]), None if ends is None else ends[i, j])
            for j in range(array.shape[1])
        ]
        name = label(table.dimensions[0], code) if two else code
        rows.append(doc.Row((name, *cells), strong=int(depth[i]) == 0, indent=int(depth[i])))
    return doc.DataTable.of(
        [table.dimensions[0].name if two else "", *doc.numbers(*table.dimensions[-1].codes)],
        rows,
        f"{table.response} as published: x is hidden, - is empty",
    )


def label(dimension: Any, code: str) -> str:
    """Return a code with its longer name, if it has one."""
    name = dimension.labels.get(code)
    return f"{code} {name}" if name and name != code else code


def cell_words(value: float, empty: bool, interval: Any) -> str | doc.Mark:
    """Return what is published of one cell."""
    if np.isnan(value):
        if interval is not None and np.isfinite(interval).all():
            return f"{format_number(float(interval[0]))} to {format_number(float(interval[1]))}"
        return doc.Mark("x", "flag")
    return "-" if empty else f"{value:,.10g}"
