"""A table as a frame and as text: everything known of its cells, or what may be given away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from tacit.arrays import Ints
from tacit.data.cells.status import Status
from tacit.data.decimals import decimals_shown

if TYPE_CHECKING:
    from tacit.data.cells.dimension import Dimension
    from tacit.data.table import Table


def frame_of(table: Table) -> nw.DataFrame[Any]:
    """Return every cell with everything known of it. Confidential: keep it inside."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        **table.columns_of_codes(),
        table.response: table.value,
        "count": table.count,
        "status": [Status(int(s)).word for s in table.status],
        "published": pa.array(table.published, from_pandas=True),
        "lower_level": table.lower_level,
        "upper_level": table.upper_level,
        "sliding_level": table.sliding_level,
    }
    return nw.from_native(pa.table(columns), eager_only=True)


def published_columns(table: Table, hidden: str = "x", empty: str = "-") -> dict[str, Any]:
    """Return what is published of every cell as columns: codes, value, interval, mark."""
    columns: dict[str, Any] = {**table.columns_of_codes(), table.response: table.published}
    if table.interval is not None:
        columns["low"], columns["high"] = table.interval.T
    blank = np.where(table.marked_empty, empty, "")
    return {**columns, "mark": np.where(table.hidden, hidden, blank).tolist()}


def released_frame(table: Table) -> nw.DataFrame[Any]:
    """Return what may be given away: codes, published value (or interval), and a mark."""
    import pyarrow as pa

    columns = published_columns(table).items()
    whole = pa.table({n: pa.array(v, from_pandas=True) for n, v in columns})
    return nw.from_native(whole.take(pa.array(written_cells(table))), eager_only=True)


def tally(table: Table) -> dict[str, int]:
    """Return how many cells have each status."""
    ids, n = np.unique(table.status, return_counts=True)
    return {Status(int(i)).word: int(k) for i, k in zip(ids, n, strict=True)}


def table_text(table: Table) -> str:
    """Return a table in words, small ones with their cells."""
    by = " x ".join(f"{d.name} ({len(d)})" for d in table.dimensions) or "equations"
    head = f"Table of {table.response} by {by}: {len(table):,} cells"
    states = ", ".join(f"{n:,} {word}" for word, n in tally(table).items())
    lines = [head, states]
    if table.is_product and len(table.shape) <= 2 and len(table) <= 400:
        lines.append(grid_text(table))
    return "\n".join(lines)


def grid_text(table: Table) -> str:
    """Return a small one- or two-way table as text; hidden cells are x, empty ones -, others not there."""
    form = f",.{decimals_shown(table.published)}f"
    shown = np.array(
        [
            "" if u else "x" if h else "-" if e else f"{v:{form}}"
            for v, h, e, u in zip(
                table.published, table.hidden, table.marked_empty, table.unpublished, strict=True
            )
        ],
        dtype=object,
    ).reshape(table.shape if len(table.shape) == 2 else (1, -1))
    rows = table.dimensions[0].codes if len(table.shape) == 2 else ("",)
    body = [
        ["", *table.dimensions[-1].codes],
        *([r, *line] for r, line in zip(rows, shown, strict=True)),
    ]
    widths = [max(len(str(line[i])) for line in body) for i in range(len(body[0]))]
    return "\n".join(
        "  ".join(
            str(x).ljust(w) if i == 0 else str(x).rjust(w)
            for i, (x, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in body
    )


# -- the order in which cells are written: one sorted by value tells which hidden cell is larger -----
#
# Codes stand as their classification lists them. Where a dimension without levels runs up or down with the values of a line
# that has a hidden cell, its codes are written in their own order instead.


#: In ``extra`` of a table about to be written: no order that tells values is kept.
BY_CODE = "written_by_code"
#: Fewer different values in a line run up or down too often by chance.
FEWEST = 4


def code_orders(table: Table) -> list[Ints]:
    """Return, for each dimension, its codes in the order in which they are written."""
    asked = bool(table.extra.get(BY_CODE))
    return [
        by_code(d) if asked and tells_values(table, axis) else np.arange(len(d))
        for axis, d in enumerate(table.dimensions)
    ]


def written_cells(table: Table) -> Ints:
    """Return the cells that are part of the publication, in the order in which they are written."""
    shown = np.flatnonzero(~table.unpublished)
    if not table.extra.get(BY_CODE) or not table.dimensions:
        return shown
    ranks = [
        np.argsort(order)[table.places[shown, i]] for i, order in enumerate(code_orders(table))
    ]
    return shown[np.lexsort(ranks[::-1])]


def tells_values(table: Table, axis: int) -> bool:
    """Return True when codes of one level stand in the order of the values of a line with a hidden cell."""
    dimension = table.dimensions[axis]
    if not dimension.is_flat or len(dimension.roots) != 1 or not table.hidden.any():
        return False
    below = np.flatnonzero(table.places[:, axis] != dimension.total)
    others = np.delete(table.places[below], axis, axis=1)
    _, line = np.unique(others, axis=0, return_inverse=True)
    order = np.lexsort((table.places[below, axis], line.ravel()))
    cells, line = below[order], line.ravel()[order]
    value, starts = table.value[cells], np.flatnonzero(np.diff(line, prepend=-1))
    inside = np.append(line[1:] == line[:-1], False)
    step = np.append(np.diff(value), 0.0) * inside
    up, down, moves, secret = (
        np.add.reduceat(x.astype(np.int64), starts)
        for x in (step > 0, step < 0, step != 0, table.hidden[cells])
    )
    return bool(((moves >= FEWEST - 1) & ((up == 0) | (down == 0)) & (secret > 0)).any())


def by_code(dimension: Dimension) -> Ints:
    """Return the codes of a dimension without levels in their own order, the total where it is."""
    found = np.arange(len(dimension))
    below = found[found != dimension.total]
    found[below] = sorted(below, key=lambda i: by_numbers(dimension.codes[i]))
    return found


def by_numbers(code: str) -> list[tuple[int, int, str]]:
    """Return what puts codes in order, with numbers in them by size: ``5-9`` before ``10-14``."""
    parts = re.findall(r"[0-9]+|[^0-9]+", code)
    return [(0, int(p), "") if p[0] in "0123456789" else (1, 0, p) for p in parts]
