"""The picture of a sparse matrix: where its entries are, and the borders of its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from tacit.plot.chart import Chart
from tacit.plot.parts import layer, quantity, sheet
from tacit.plot.theme import AFTER, INK_SOFT, TRACK, WARNING

#: Rows or columns up to which each entry is drawn; larger matrices are drawn in this many bins per side.
FINE, BINS = 120, 96
#: The longer side of the picture.
SIDE = 420


def spy(
    matrix: sparse.csr_array,
    *,
    title: str,
    subtitle: str = "",
    row_bounds: Sequence[int] = (),
    column_bounds: Sequence[int] = (),
    words: str = "",
) -> Chart:
    """Return a picture with one mark per entry or bin, darker where more entries fall into it.

    ``row_bounds`` and ``column_bounds`` are drawn as lines before that row or column; ``words`` is
    added to the alternative text.
    """
    m, n = matrix.shape
    size = max(m, n, 1)
    width, height = max(60.0, SIDE * n / size), max(60.0, SIDE * m / size)
    rows = bin_entries(matrix)
    layers = [entries(rows, m, n), *lines(row_bounds, "y", m), *lines(column_bounds, "x", n)]
    below = subtitle or f"{m:,} rows, {n:,} columns, {matrix.nnz:,} entries"
    spec = {**sheet(title, below, None, layers, (width, height)), "view": {"stroke": TRACK}}
    alt = f"Picture of the entries of a matrix of {m:,} rows and {n:,} columns: {title}. {words}"
    return Chart(spec, alt.strip())


def bin_entries(matrix: sparse.csr_array) -> list[dict[str, float]]:
    """Return the squares to draw, with the share of each that is filled (on a scale of roots)."""
    m, n = matrix.shape
    high, wide = (s if s <= FINE else BINS for s in (m, n))
    coo = matrix.tocoo()
    i = coo.coords[0].astype(np.int64) * high // max(m, 1)
    j = coo.coords[1].astype(np.int64) * wide // max(n, 1)
    key, count = np.unique(i * wide + j, return_counts=True)
    share = np.sqrt(count / max(1, count.max(initial=1)))
    return [
        {
            "y": float(k // wide) * m / high,
            "y2": float(k // wide + 1) * m / high,
            "x": float(k % wide) * n / wide,
            "x2": float(k % wide + 1) * n / wide,
            "fill": round(0.25 + 0.75 * float(s), 2),
        }
        for k, s in zip(key.tolist(), share.tolist(), strict=True)
    ]


def entries(rows: list[dict[str, float]], m: int, n: int) -> dict[str, Any]:
    """Return the layer of the entries."""
    return layer(
        {"type": "rect", "color": AFTER},
        rows,
        x=make_position_axis("x", "column", n),
        x2={"field": "x2"},
        y=make_position_axis("y", "row", m),
        y2={"field": "y2"},
        opacity={"field": "fill", "type": "quantitative", "scale": None, "legend": None},
    )


def make_position_axis(channel: str, title: str, size: int) -> dict[str, Any]:
    """Return an axis over rows (downwards) or columns."""
    return quantity(
        channel,
        title,
        scale={"domain": [0, max(size, 1)], "nice": False, "reverse": channel == "y"},
        axis={"grid": False, "orient": "top" if channel == "x" else "left", "format": ",d"},
    )


def lines(bounds: Sequence[int], channel: str, size: int) -> list[dict[str, Any]]:
    """Return the lines between blocks; the last one, before the linking part, is drawn strongly."""
    inside = sorted({int(b) for b in bounds if 0 < b < size})
    if not inside:
        return []
    last = int(max(bounds))
    values = [{"at": b, "edge": b == last} for b in inside]
    return [
        {
            "data": {"values": values},
            "mark": {"type": "rule", "strokeWidth": 1.2},
            "encoding": {
                channel: {"field": "at", "type": "quantitative"},
                "color": {
                    "condition": {"test": "datum.edge", "value": WARNING},
                    "value": INK_SOFT,
                },
            },
        }
    ]
