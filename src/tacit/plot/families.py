"""Chart families shared by many results: bars, before and after, histograms of class sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.theme import AFTER, BEFORE


def bars(items: Iterable[tuple[str, float]], *, title: str, x: str, y: str, subtitle: str = "") -> Chart:
    """Return one horizontal bar a named number."""
    rows = [{"name": name, "value": value} for name, value in items]
    spec = {
        "title": heading(title, subtitle),
        "data": {"values": rows},
        "width": 420,
        "height": {"step": 24},
        "encoding": {
            "y": {"field": "name", "type": "nominal", "sort": None, "title": x or None},
            "x": {"field": "value", "type": "quantitative", "title": y},
        },
        "layer": [
            {"mark": {"type": "bar", "height": {"band": 0.7}}},
            {"mark": {"type": "text", "align": "left", "dx": 4}, "encoding": {"text": {"field": "value", "type": "quantitative", "format": ",.4~g"}}},
        ],
    }
    shown = "; ".join(f"{r['name']} {r['value']:g}" for r in rows[:12])
    return Chart(spec, f"Bar chart: {title}. {shown}.")


def before_after(items: Iterable[tuple[str, float, float]], *, title: str, y: str, subtitle: str = "") -> Chart:
    """Return paired bars: each named number before and after protection."""
    rows: list[dict[str, Any]] = []
    for name, before, after in items:
        rows += [{"name": name, "when": "before", "value": before}, {"name": name, "when": "after", "value": after}]
    spec = {
        "title": heading(title, subtitle),
        "data": {"values": rows},
        "width": 420,
        "height": {"step": 16},
        "encoding": {
            "y": {"field": "name", "type": "nominal", "sort": None, "title": None},
            "yOffset": {"field": "when", "sort": ["before", "after"]},
            "x": {"field": "value", "type": "quantitative", "title": y},
            "color": {"field": "when", "sort": ["before", "after"], "scale": {"domain": ["before", "after"], "range": [BEFORE, AFTER]}, "title": None},
        },
        "layer": [
            {"mark": {"type": "bar"}},
            {"mark": {"type": "text", "align": "left", "dx": 4, "color": "#3a4653"}, "encoding": {"text": {"field": "value", "type": "quantitative", "format": ",.4~g"}, "color": {"value": "#3a4653"}}},
        ],
    }
    shown = "; ".join(f"{r['name']} {r['when']} {r['value']:g}" for r in rows[:12])
    return Chart(spec, f"Bars before and after: {title}. {shown}.")


SIZE_BINS: Sequence[tuple[str, int, int | None]] = (
    ("1", 1, 1), ("2", 2, 2), ("3", 3, 3), ("4", 4, 4), ("5-9", 5, 9), ("10-19", 10, 19),
    ("20-49", 20, 49), ("50-99", 50, 99), ("100-999", 100, 999), ("1000+", 1000, None),
)


def size_bins(sizes: Mapping[int, int]) -> list[tuple[str, int, int]]:
    """Return (label, classes, records) for the usual bins of class sizes."""
    rows = []
    for label, low, high in SIZE_BINS:
        inside = {s: n for s, n in sizes.items() if s >= low and (high is None or s <= high)}
        rows.append((label, sum(inside.values()), sum(s * n for s, n in inside.items())))
    return rows


def class_sizes(sizes: Mapping[int, int], *, k: int | None = None, title: str = "Records by class size", subtitle: str = "") -> Chart:
    """Return how many records stand in classes of each size; sizes below ``k`` in the warning colour."""
    rows = [
        {"size": label, "records": records, "classes": classes, "below": bool(k and low < k)}
        for (label, classes, records), (_, low, _) in zip(size_bins(sizes), SIZE_BINS, strict=True)
    ]
    spec = {
        "title": heading(title, subtitle),
        "data": {"values": rows},
        "width": 460,
        "height": 220,
        "encoding": {
            "x": {"field": "size", "type": "nominal", "sort": None, "title": "records that share the same key values (class size)", "axis": {"labelAngle": 0}},
            "y": {"field": "records", "type": "quantitative", "title": "records"},
        },
        "layer": [
            {"mark": "bar", "encoding": {"color": {"condition": {"test": "datum.below", "value": "#c4373b"}, "value": AFTER}}},
            {"mark": {"type": "text", "dy": -6, "fontSize": 10}, "encoding": {"text": {"field": "records", "type": "quantitative", "format": ","}}},
        ],
    }
    shown = "; ".join(f"size {r['size']}: {r['records']} records" for r in rows if r["records"])
    return Chart(spec, f"{title}. {shown}.")


def heading(title: str, subtitle: str) -> dict[str, Any]:
    """Return a Vega-Lite title."""
    return {"text": title, **({"subtitle": subtitle} if subtitle else {})}
