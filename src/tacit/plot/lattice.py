"""A generalisation lattice as a chart: every choice of levels by its height and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.parts import WIDTH, layer, one_each, quantity, sheet, short_number
from tacit.plot.theme import AFTER, BEFORE, INK

#: More nodes than this are thinned out, height by height; the best of each height stay.
DRAWN = 700

RING = {"type": "point", "filled": False, "size": 190, "stroke": INK, "strokeWidth": 2}

#: Height, value, safe, chosen.
Row = tuple[int, float, bool, bool]


def draw_lattice(rows: Sequence[Row], *, keys: Sequence[str], value: str, nodes: int) -> Chart:
    """Return nodes by the sum of their levels and their value; safe ones filled, the best ringed."""
    shown = thin_out(rows)
    points: list[dict[str, Any]] = [
        {"height": h, "value": v, "state": "safe" if safe else "not safe", "best": best}
        for h, v, safe, best in shown
    ]
    states = ["safe", "not safe"]
    safe = sum(row[2] for row in rows)
    some = "" if len(rows) == nodes else f" of {nodes:,} in all"
    subtitle = f"{len(rows):,} nodes{some}, {safe:,} of them safe, the best ringed; levels of {', '.join(keys)}"
    if len(shown) < len(rows):
        subtitle += f"; {len(shown):,} are drawn"
    best = next((p for p in points if p["best"]), None)
    layers = [
        layer(
            {"type": "point", "filled": True, "size": 34, "opacity": 0.75},
            color=one_each("state", states, (AFTER, BEFORE)),
            shape=one_each("state", states, ("circle", "cross")),
        ),
        {"transform": [{"filter": "datum.best"}], "mark": RING},
    ]
    axes = {
        "x": quantity("height", "sum of the levels of all keys", scale={"nice": False}),
        "y": quantity("value", value),
    }
    title = "Lattice of generalisations"
    spec = sheet(title, subtitle[:110], points, layers, (WIDTH, 300), **axes)
    told = (
        f" The best costs {short_number(best['value'])} at height {best['height']}." if best else ""
    )
    return Chart(spec, f"{title}: {subtitle}.{told}")


def thin_out(rows: Sequence[Row]) -> list[Row]:
    """Return at most some hundred nodes: from every height the best, and others evenly by value."""
    if len(rows) <= DRAWN:
        return list(rows)
    groups: dict[tuple[int, bool], list[Row]] = {}
    for row in sorted(rows, key=lambda r: r[1]):
        groups.setdefault((row[0], row[2]), []).append(row)
    each = max(2, DRAWN // len(groups))
    kept = []
    for group in groups.values():
        step = max(1, -(-len(group) // each))
        kept += [r for i, r in enumerate(group) if i % step == 0 or r[3]]
    return kept
