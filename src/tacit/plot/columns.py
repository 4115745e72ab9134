"""One column before and after, small enough to stand beside others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.families import WHEN
from tacit.plot.parts import SPOKEN, heading
from tacit.plot.theme import THEME

SMALL_WIDTH = 150


def column_chart(name: str, bins: Sequence[tuple[str, float, float]]) -> Chart:
    """Return paired bars of shares before and after; ``bins`` are (label, before, after)."""
    rows = [
        {"value": label, "when": when, "share": share}
        for label, before, after in bins
        for when, share in (("before", before), ("after", after))
    ]
    spec: dict[str, Any] = {
        "title": heading(name, ""),
        "data": {"values": rows},
        "width": SMALL_WIDTH,
        "height": {"step": 9},
        "mark": "bar",
        "encoding": {
            "y": {
                "field": "value",
                "type": "nominal",
                "sort": [b[0] for b in bins],
                "title": None,
                "axis": {"labelLimit": 90},
                "scale": {"paddingInner": 0.25},
            },
            "yOffset": {"field": "when", "sort": ["before", "after"]},
            "x": {
                "field": "share",
                "type": "quantitative",
                "title": None,
                "axis": {"format": ".0%", "tickCount": 3},
            },
            "color": WHEN,
        },
        "config": {**THEME, "padding": {"left": 1, "top": 2, "right": 14, "bottom": 2}},
    }
    shown = "; ".join(f"{b[0]} {b[1]:.0%} before, {b[2]:.0%} after" for b in bins[:SPOKEN])
    return Chart(spec, f"Shares of {name} before and after. {shown}.")
