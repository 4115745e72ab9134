"""The map of a two-way table: which cells are published, which are hidden, which are empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.plot.chart import Chart
from tacit.plot.parts import heading
from tacit.plot.theme import AFTER, TRACK

PUBLISHED, HIDDEN, EMPTY, CHANGED = "published", "hidden", "empty", "changed"
COLOURS = {PUBLISHED: "#dbe7f2", CHANGED: "#f3c98b", HIDDEN: AFTER, EMPTY: "#ffffff"}


def pattern_map(
    words: npt.NDArray[np.object_],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    names: tuple[str, str],
) -> Chart:
    """Return a map with one square per cell; ``words`` says published, hidden, changed or empty."""
    present = [w for w in COLOURS if (words == w).any()]
    values = [
        {"row": f"{i:05d}", "column": f"{j:05d}", "r": r, "c": c, "what": str(words[i, j])}
        for i, r in enumerate(rows)
        for j, c in enumerate(columns)
    ]
    step = 18 if max(len(rows), len(columns)) <= 40 else 12
    spec: dict[str, Any] = {
        "title": heading(title, ""),
        "data": {"values": values},
        "width": {"step": step},
        "height": {"step": step},
        "mark": {"type": "rect", "stroke": TRACK, "strokeWidth": 1},
        "encoding": {
            "y": axis("row", rows, names[0]),
            "x": axis("column", columns, names[1], turned=True),
            "color": {
                "field": "what",
                "type": "nominal",
                "title": None,
                "scale": {"domain": present, "range": [COLOURS[w] for w in present]},
                "legend": {"symbolStrokeColor": TRACK, "orient": "bottom"},
            },
        },
    }
    told = ", ".join(f"{int((words == w).sum()):,} {w}" for w in present)
    return Chart(spec, f"Map of {len(rows)} by {len(columns)} cells: {title}. {told}.")


def axis(field: str, labels: Sequence[str], title: str, *, turned: bool = False) -> dict[str, Any]:
    """Return an axis of codes in table order (codes may repeat as text, positions do not)."""
    listed = [str(label) for label in labels]
    return {
        "field": field,
        "type": "ordinal",
        "title": title,
        "axis": {
            "labelExpr": f"{listed!r}[toNumber(datum.value)]".replace("'", '"')
            if not any('"' in x or "'" in x or "\\" in x for x in listed)
            else "datum.value",
            "labelAngle": -90 if turned else 0,
            "labelAlign": "left" if turned else "right",
            "labelBaseline": "middle",
            "labelLimit": 140,
            "labelFontSize": 10 if len(listed) <= 40 else 9,
            **({"orient": "top"} if turned else {}),
        },
    }
