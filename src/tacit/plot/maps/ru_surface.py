"""Risk and utility of a method over two of its parameters, as heat maps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tacit.plot.chart import Chart
from tacit.plot.parts import SPOKEN, category, heading, layer, short_number
from tacit.plot.theme import INK

if TYPE_CHECKING:
    from tacit.alternatives.rumap.surface import Surface

#: The mark of a cell over the cap.
CROSS = {"type": "text", "text": "×", "dx": 22, "dy": -9, "fontSize": 13, "fontWeight": "bold"}


def surface_chart(grid: Surface) -> Chart:
    """Return risk and utility over two parameters as heat maps; cells over the cap are crossed."""
    rows: list[dict[str, Any]] = [
        {
            "x": str(x),
            "y": str(y),
            "risk": number_or_none(grid.risk[j, i]),
            "utility": number_or_none(grid.utility[j, i]),
            "over": bool(grid.max_risk is not None and grid.risk[j, i] > grid.max_risk),
        }
        for j, y in enumerate(grid.y_values)
        for i, x in enumerate(grid.x_values)
    ]
    panels = [
        draw_heat_map(rows, grid, "risk", grid.risk_label, "oranges"),
        draw_heat_map(rows, grid, "utility", grid.utility_label, "blues"),
    ]
    cap = f"crossed: risk above {short_number(grid.max_risk)}" if grid.max_risk is not None else ""
    title = f"{grid.method} by {grid.x} and {grid.y}"
    spec = {
        "title": heading(title, cap),
        "data": {"values": rows},
        "hconcat": panels,
        "resolve": {"scale": {"color": "independent"}},
    }
    shown = "; ".join(
        f"{grid.x} {r['x']}, {grid.y} {r['y']}: risk {spoken_number(r['risk'])}, "
        f"utility {spoken_number(r['utility'])}"
        for r in rows[: 2 * SPOKEN]
    )
    return Chart(spec, f"{title}. {shown}.")


def draw_heat_map(
    rows: Sequence[Mapping[str, Any]], grid: Surface, name: str, label: str, scheme: str
) -> dict[str, Any]:
    """Return one heat map with its numbers."""
    known = [r[name] for r in rows if r[name] is not None]
    half = (min(known, default=0) + max(known, default=0)) / 2
    ink = {"condition": {"test": f"datum.{name} > {half}", "value": "white"}, "value": INK}
    number = {"field": name, "type": "quantitative"}
    return {
        "title": {"text": label, "fontSize": 12, "fontWeight": 400},
        "width": {"step": 58},
        "height": {"step": 34},
        "encoding": {
            "x": category("x", grid.x, list(map(str, grid.x_values)), axis={"labelAngle": 0}),
            "y": category("y", grid.y, list(map(str, grid.y_values))),
        },
        "layer": [
            layer(
                {"type": "rect", "stroke": "white", "strokeWidth": 1.5},
                color={**number, "legend": None, "scale": {"scheme": scheme}},
            ),
            layer({"type": "text", "fontSize": 11}, text={**number, "format": ".3~g"}, color=ink),
            {"transform": [{"filter": "datum.over"}], **layer(CROSS, color=ink)},
        ],
    }


def number_or_none(value: float) -> float | None:
    """Return a number as a chart can hold it."""
    return float(value) if math.isfinite(value) else None


def spoken_number(value: float | None) -> str:
    """Return a number in words."""
    return "unknown" if value is None else short_number(value)
