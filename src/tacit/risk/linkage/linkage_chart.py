"""A map of shares: rows, columns and a number in each field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.families import SPOKEN, heading
from tacit.plot.theme import INK, TRACK


def share_map(
    cells: Sequence[tuple[str, str, float]],
    columns: Sequence[str],
    *,
    title: str,
    subtitle: str,
    x: str,
    y: str,
    apart: str = "",
) -> Chart:
    """Return a heat map of shares from (row, column, share), columns in the order given.

    The column ``apart`` is of another kind and stays grey.
    """
    rows = [
        {"row": r, "column": c, "share": s, "text": percent(s), "apart": c == apart}
        for r, c, s in cells
    ]
    top = max([s for _, c, s in cells if c != apart], default=0.0) or 1.0
    across: dict[str, Any] = {
        "field": "column",
        "type": "nominal",
        "sort": list(columns),
        "title": x or None,
        "axis": {"labelAngle": 0, "orient": "top", "labelLimit": 120, "domain": False},
    }
    down: dict[str, Any] = {
        "field": "row",
        "type": "nominal",
        "sort": list(dict.fromkeys(r for r, _, _ in cells)),
        "title": y or None,
        "axis": {"domain": False},
    }
    dark = f"!datum.apart && datum.share > {0.55 * top}"
    ink = {"condition": {"test": dark, "value": "white"}, "value": INK}
    spec = {
        "title": heading(title, subtitle),
        "data": {"values": rows},
        "width": {"step": 108},
        "height": {"step": 28},
        "encoding": {"x": across, "y": down},
        "layer": [
            {
                "mark": {"type": "rect", "stroke": "white", "strokeWidth": 1.5},
                "encoding": {
                    "color": {
                        "condition": {"test": "datum.apart", "value": TRACK},
                        "field": "share",
                        "type": "quantitative",
                        "legend": None,
                        "scale": {"scheme": "orangered", "domain": [0, top], "clamp": True},
                    }
                },
            },
            {"mark": {"type": "text"}, "encoding": {"text": {"field": "text"}, "color": ink}},
        ],
    }
    shown = "; ".join(f"{r['row']}, {r['column']}: {r['text']}" for r in rows[: 3 * SPOKEN])
    return Chart(spec, f"{title}. {shown}.")


def percent(share: float) -> str:
    """Return a share as percent, with digits where it is small."""
    return (
        f"{share:.0%}"
        if share >= 0.0995 or share == 0
        else f"{share:.1%}"
        if share >= 0.001
        else "<0.1%"
    )
