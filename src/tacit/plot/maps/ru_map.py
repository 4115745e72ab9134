"""The risk-utility map as a chart: a named curve a method, settings along it, cap, frontier, reference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tacit.plot.chart import Chart
from tacit.plot.maps.ru_scales import (
    HEIGHT,
    WIDTH,
    ShownMap,
    by_method,
    is_drawable,
    scales_of,
    styles_of,
    trace_frontier_corners,
)
from tacit.plot.maps.ru_words import (
    alt_text,
    cap_spot,
    cap_words,
    draw_text,
    floor_words,
    label_layers,
    missing_words,
)
from tacit.plot.parts import layer, sheet, short_number
from tacit.plot.theme import INK, INK_SOFT, WARNING, WARNING_GROUND

if TYPE_CHECKING:
    from tacit.plot.maps.ru_scales import Place

FLOOR_GROUND = "#f1f3f5"
FRONTIER_COLOUR = "#b9c2cb"
#: The frontier, a limit, the data without masking, and the ring round the choice.
STAIRS = {
    "type": "line",
    "color": FRONTIER_COLOUR,
    "strokeWidth": 4,
    "opacity": 0.75,
    "clip": True,
    "strokeJoin": "round",
    "strokeCap": "round",
}
RULE = {"type": "rule", "strokeDash": [6, 4]}
POINT = {"type": "point", "stroke": INK, "strokeWidth": 1.75, "opacity": 1}
DIAMOND = {**POINT, "shape": "diamond", "filled": True, "fill": "white", "size": 110}
RING = {**POINT, "filled": False, "size": 260, "tooltip": None}


def ru_chart(
    points: Sequence[Place],
    *,
    risk_label: str,
    utility_label: str,
    cap: float | None = None,
    floor: float | None = None,
    frontier: Sequence[Place] | None = None,
    reference: Place | None = None,
    chosen: Place | None = None,
    curves: Mapping[str, Sequence[Place]] | None = None,
    log_risk: bool = False,
    higher_utility_is_better: bool = True,
    title: str = "Risk-utility map",
    subtitle: str = "",
    interactive: bool = False,
    size: tuple[int, int] | None = None,
) -> Chart:
    """Return the map of Duncan, Keller-McNulty and Stokes: utility to the right, risk upwards.

    A point without a place (NaN, an infinite risk, or 0 on a logarithmic axis) is not drawn, and the subtitle says so.
    What lies beyond ``cap`` (the largest risk allowed) and ``floor`` (the least utility) is shaded. The ``reference``, the
    data without masking, is a diamond with a dotted line at their utility; the ``chosen`` point gets a ring. ``curves``
    are the points that each method's line runs through, by default all of its points in their order. The axis of a
    distortion runs backwards, so that better is always to the right. ``interactive`` lets the reader zoom, pan and point
    at a curve (for pages; a picture looks the same); ``size`` is that of the plot area in pixels, and words are placed
    for it.
    """

    def drawable(some: Iterable[Place]) -> list[Place]:
        return [p for p in some if is_drawable(p, log_risk=log_risk)]

    drawn, edge = drawable(points), drawable(frontier or ())
    width, height = size or (WIDTH, HEIGHT)
    scales = scales_of(drawn, reference, cap, floor, log_risk, higher_utility_is_better)
    scales = replace(scales, width=width, height=height)
    through = by_method(points) if curves is None else curves
    lines = {m: drawable(some) for m, some in through.items()}
    shown = ShownMap(drawn, lines, edge, reference, chosen, cap, floor, scales, styles_of(points))
    labels = label_layers(shown)
    ring: list[dict[str, Any]] = []
    if chosen is not None and is_drawable(chosen, log_risk=log_risk):
        ring = [{"data": {"values": [row(chosen)]}, "mark": RING}]
    layers = [
        *zones(shown),
        *frontier_layer(shown),
        *line_layers(shown, interactive=interactive),
        *interval_layers(shown),
        *marker_layers(shown, risk_label, utility_label, interactive=interactive),
        *limit_layers(shown),
        *reference_layers(shown),
        *ring,
        *labels,
    ]
    less = "" if higher_utility_is_better else " (axis reversed: less is better)"
    axes = scales.encoding(risk_label, f"{utility_label}{less}")
    below = missing_words(points, drawn, log_risk=log_risk) or subtitle
    spec = sheet(title, below, None, layers, (width, height), **axes)
    return Chart(spec, alt_text(shown, title, risk_label, utility_label))


# -- layers --------------------------------------------------------------------------------------------


def row(point: Place, **more: Any) -> dict[str, Any]:
    """Return a point as a row of chart data."""
    return {
        "method": point.method,
        "setting": point.label,
        "risk": point.risk,
        "utility": point.utility,
        **more,
    }


def colours(shown: ShownMap) -> dict[str, Any]:
    """Return the colour of each method; there is a legend when a curve could not be named in place."""
    return {
        "field": "method",
        "type": "nominal",
        "scale": {"domain": list(shown.styles), "range": [c for c, _ in shown.styles.values()]},
        "legend": {"title": None} if shown.unnamed else None,
    }


def zones(shown: ShownMap) -> list[dict[str, Any]]:
    """Return the ground that cap and floor forbid."""
    s = shown.scales
    layers = []
    if shown.cap is not None and s.risk[1] > shown.cap:
        low = max(shown.cap, s.risk[0])
        layers.append(draw_ground(s.utility, (low, s.risk[1]), WARNING_GROUND))
    if shown.floor is not None:
        low, high = s.utility
        bad = (shown.floor, high) if s.reverse else (low, shown.floor)
        layers.append(draw_ground(bad, s.risk, FLOOR_GROUND))
    return layers


def draw_ground(
    utility: tuple[float, float], risk: tuple[float, float], colour: str
) -> dict[str, Any]:
    """Return a shaded rectangle."""
    box = {"utility": utility[0], "utility_end": utility[1], "risk": risk[0], "risk_end": risk[1]}
    return layer(
        {"type": "rect", "color": colour, "opacity": 0.75, "clip": True, "tooltip": None},
        [box],
        x2={"field": "utility_end"},
        y2={"field": "risk_end"},
    )


def frontier_layer(shown: ShownMap) -> list[dict[str, Any]]:
    """Return the frontier as a staircase: the least risk at which each utility can be had."""
    if len(shown.frontier) < 2:
        return []
    rows = [
        {"i": i, "utility": u, "risk": r}
        for i, (u, r) in enumerate(trace_frontier_corners(shown.frontier))
    ]
    return [layer(STAIRS, rows, order={"field": "i", "type": "quantitative"})]


def opacity(value: float, *, interactive: bool) -> dict[str, Any]:
    """Return an opacity; pointing at a curve dims the others."""
    if not interactive:
        return {"value": value}
    return {"condition": {"param": "method", "value": value, "empty": True}, "value": 0.2}


def line_layers(shown: ShownMap, *, interactive: bool = False) -> list[dict[str, Any]]:
    """Return one line per method."""
    rows = [
        row(p, i=i) for line in shown.lines.values() if len(line) > 1 for i, p in enumerate(line)
    ]
    if not rows:
        return []
    return [
        layer(
            {"type": "line", "strokeWidth": 2, "clip": True},
            rows,
            color=colours(shown),
            order={"field": "i", "type": "quantitative"},
            opacity=opacity(0.9, interactive=interactive),
        )
    ]


def interval_layers(shown: ShownMap) -> list[dict[str, Any]]:
    """Return confidence limits as thin crosses."""
    layers = []
    for name, across in (("risk", "y2"), ("utility", "x2")):
        rows = [
            {**row(p), name: limits[0], "end": limits[1]}
            for p in shown.points
            if (limits := getattr(p, f"{name}_interval"))
            and all(map(math.isfinite, limits))
            and (min(limits) > 0 or name == "utility" or not shown.scales.log_risk)
        ]
        if rows:
            layers.append(
                {
                    "data": {"values": rows},
                    "mark": {"type": "rule", "strokeWidth": 1, "opacity": 0.7, "clip": True},
                    "encoding": {across: {"field": "end"}, "color": colours(shown)},
                }
            )
    return layers


def marker_layers(
    shown: ShownMap, risk_label: str, utility_label: str, *, interactive: bool
) -> list[dict[str, Any]]:
    """Return a marker per point; pointing at one tells its numbers."""
    on_edge = {(p.method, p.label) for p in shown.frontier}
    rows = [
        row(
            p,
            frontier="yes" if (p.method, p.label) in on_edge else "no",
            risk_text=with_limits(p.risk, p.risk_interval),
            utility_text=with_limits(p.utility, p.utility_interval),
        )
        for p in shown.marked
    ]
    tips = [
        {"field": "method", "title": "method"},
        {"field": "setting", "title": "setting"},
        {"field": "risk_text", "title": risk_label},
        {"field": "utility_text", "title": utility_label},
        {"field": "frontier", "title": "on the frontier"},
    ]
    shapes = {"domain": list(shown.styles), "range": [s for _, s in shown.styles.values()]}
    drawn: dict[str, Any] = layer(
        {"type": "point", "filled": True, "size": 64, "clip": True},
        rows,
        color=colours(shown),
        shape={**colours(shown), "scale": shapes},
        stroke={"value": "white"},
        strokeWidth={"value": 1},
        opacity=opacity(1, interactive=interactive),
        tooltip=tips,
    )
    if interactive:
        select = {"type": "point", "fields": ["method"]}
        point_at = {**select, "on": "pointerover", "clear": "pointerout"}
        drawn["params"] = [
            {"name": "view", "select": "interval", "bind": "scales"},
            {"name": "method", "select": point_at},
        ]
    return [drawn]


def with_limits(value: float, limits: tuple[float, float] | None) -> str:
    """Return a number and its confidence limits."""
    text = short_number(value)
    return f"{text} ({short_number(limits[0])} to {short_number(limits[1])})" if limits else text


def limit_layers(shown: ShownMap) -> list[dict[str, Any]]:
    """Return the lines of cap and floor with their names."""
    s = shown.scales
    layers = []
    if shown.cap is not None and s.risk[0] <= shown.cap <= s.risk[1]:
        layers += [
            layer({**RULE, "color": WARNING, "strokeWidth": 1.5}, [{"risk": shown.cap}], x=None),
            draw_text(s, cap_spot(shown), cap_words(shown.cap), WARNING, dy=-8, align="right"),
        ]
    if shown.floor is not None:
        layers += [
            layer({**RULE, "color": INK_SOFT}, [{"utility": shown.floor}], y=None),
            draw_text(s, (s.x(shown.floor), 0), floor_words(shown), INK_SOFT, dx=6, dy=11),
        ]
    return layers


def reference_layers(shown: ShownMap) -> list[dict[str, Any]]:
    """Return the data without masking: a dotted line at their utility, a diamond where they lie."""
    ref = shown.reference
    if ref is None or not math.isfinite(ref.utility):
        return []
    layers: list[dict[str, Any]] = [
        layer(
            {"type": "rule", "color": INK_SOFT, "strokeDash": [1.5, 3]},
            [{"utility": ref.utility}],
            y=None,
        )
    ]
    if is_drawable(ref, log_risk=shown.scales.log_risk):
        tips = [{"field": "method", "title": "reference"}, {"field": "risk"}, {"field": "utility"}]
        layers.append(layer(DIAMOND, [row(ref)], tooltip=tips))
    return layers
