"""A table as a frame and as text: everything known of its cells, or what may be given away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from tacit.data.cells.status import Status
from tacit.data.cells.written_order import written_cells
from tacit.data.decimals import decimals_shown

if TYPE_CHECKING:
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


def released_frame(table: Table) -> nw.DataFrame[Any]:
    """Return what may be given away: codes, published value (or interval), and a mark."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        **table.columns_of_codes(),
        table.response: pa.array(table.published, from_pandas=True),
    }
    if table.interval is not None:
        columns["low"] = pa.array(table.interval[:, 0], from_pandas=True)
        columns["high"] = pa.array(table.interval[:, 1], from_pandas=True)
    columns["mark"] = np.where(table.hidden, "x", np.where(table.marked_empty, "-", "")).tolist()
    shown = pa.table(columns).take(pa.array(written_cells(table)))
    return nw.from_native(shown, eager_only=True)


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
