"""Several protected versions side by side: changes in percent, and how far single rows moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.plot.chart import Chart
from tacit.plot.families import heading
from tacit.plot.theme import PALETTE


def colours(names: list[str]) -> dict[str, Any]:
    """Return one colour a version."""
    shades = [PALETTE[i % len(PALETTE)] for i in range(len(names))]
    return {
        "field": "version",
        "type": "nominal",
        "title": None,
        "sort": names,
        "scale": {"domain": names, "range": shades},
    }


def percent_changes(changes: Mapping[str, Mapping[str, float]]) -> Chart:
    """Return changes in percent side by side: by measure, then by version."""
    names = list(dict.fromkeys(name for found in changes.values() for name in found))
    values = [
        {"measure": measure, "version": name, "change": change}
        for measure, found in changes.items()
        for name, change in found.items()
    ]
    spec = {
        "title": heading("Change against the original", "percent; left of 0: less than it was"),
        "data": {"values": values},
        "width": 420,
        "height": {"step": 14},
        "encoding": {
            "y": {"field": "measure", "type": "nominal", "sort": None, "title": None},
            "yOffset": {"field": "version", "sort": names},
            "x": {"field": "change", "type": "quantitative", "title": "change, %"},
            "color": colours(names),
        },
        "layer": [
            {"mark": "bar"},
            {"mark": {"type": "rule", "strokeWidth": 1}, "encoding": {"x": {"datum": 0}, "y": None, "yOffset": None, "color": {"value": "#4a5662"}}},
        ],
    }  # fmt: skip
    shown = "; ".join(f"{v['version']} {v['measure']} {v['change']:.2f} %" for v in values)
    return Chart(spec, f"Change against the original. {shown}.")


def row_spread(by_row: Mapping[str, Any]) -> Chart:
    """Return, for each version, the distribution of the rows' distances as a line."""
    names = list(by_row)
    top = max([float(v.max()) for v in by_row.values()] + [1e-9])
    edges = np.linspace(0, top, 31)
    values = []
    for name, loss in by_row.items():
        count, _ = np.histogram(loss, edges)
        values += [
            {"version": name, "from": float(a), "to": float(b), "share": float(c / len(loss))}
            for a, b, c in zip(edges[:-1], edges[1:], count, strict=True)
        ]
    spec = {
        "title": heading("Rows by their distance from the original", ""),
        "data": {"values": values},
        "width": 560,
        "height": 180,
        "mark": {"type": "area", "interpolate": "step-after", "opacity": 0.35, "line": True},
        "encoding": {
            "x": {"field": "from", "type": "quantitative", "title": "Hellinger's distance of the row"},
            "y": {"field": "share", "type": "quantitative", "stack": None, "title": "share of rows", "axis": {"format": ".0%"}},
            "color": colours(names),
        },
    }  # fmt: skip
    shown = "; ".join(
        f"{name}: median {float(np.median(v)):.3g}, largest {float(v.max()):.3g}"
        for name, v in by_row.items()
    )
    return Chart(spec, f"Rows by their distance from the original. {shown}.")
