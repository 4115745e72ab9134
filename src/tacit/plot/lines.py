"""Lines: one for each series over a number; steps, panels, intervals and histograms of the same make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.plot.chart import Chart
from tacit.plot.parts import (
    category,
    heading,
    layer,
    list_parts,
    one_each,
    quantity,
    sheet,
    short_number,
)
from tacit.plot.theme import AFTER, BEFORE, GRID, INK, PALETTE, WARNING

#: Dashes beside the colours, so that lines differ in grey print too.
DASHES = ([1, 0], [5, 3], [2, 2], [8, 3, 2, 3])
#: The options of an axis of shares from 0 to 100 per cent.
SHARES: Mapping[str, Any] = {"scale": {"domain": [0, 1]}, "axis": {"format": ".0%"}}
#: Points drawn with a mark at most.
MARKED = 60


def lines(
    points: Iterable[tuple[str, Any, float]],
    *,
    title: str,
    x: str,
    y: str,
    subtitle: str = "",
    by: str = "",
    alt: str = "",
    bold: str = "",
    colours: Sequence[str] = PALETTE,
    dashed: bool = False,
    steps: bool = False,
    marked: bool = False,
    x_axis: Mapping[str, Any] | None = None,
    y_axis: Mapping[str, Any] | None = None,
    height: int = 240,
) -> Chart:
    """Return one line for each series; points are (series, x, y).

    ``by`` is the title of the legend, ``bold`` the series drawn strongly, in the colour of the text; more series than
    colours are grey. ``x_axis`` and ``y_axis`` are options of the axes: ``scale``, ``axis``.
    """
    rows: list[dict[str, Any]] = [{"series": s, "x": a, "y": b} for s, a, b in points]
    names = list(dict.fromkeys(r["series"] for r in rows))
    plain = [n for n in names if n != bold]
    many = len(plain) > len(colours)
    shades = {n: BEFORE if many else colours[i] for i, n in enumerate(plain)} | {bold: INK}
    colour = one_each("series", names, [shades[n] for n in names] or [AFTER])
    colour |= {
        "title": by or None,
        "legend": {"symbolType": "stroke", "columns": 4} if len(names) > 1 and not many else None,
    }
    dash = (
        {"strokeDash": {**one_each("series", names, DASHES), "title": by or None}} if dashed else {}
    )
    line: dict[str, Any] = {
        "type": "line",
        **({"interpolate": "step-after"} if steps else {}),
        **({"point": {"size": 28}} if marked and len(rows) <= MARKED else {}),
    }
    kinds: list[tuple[list[str], dict[str, Any]]] = [
        (plain, {"strokeWidth": 1.3 if bold else 2}),
        ([bold], {"strokeWidth": 3, "point": {"size": 40, "color": INK}}),
    ]
    layers: list[dict[str, Any]] = [
        {
            "transform": [{"filter": {"field": "series", "oneOf": some}}],
            "mark": {**line, **style},
            "encoding": {"color": colour, **dash},
        }
        for some, style in kinds
        if set(some) & set(names)
    ]
    axes = {"x": quantity("x", x, **(x_axis or {})), "y": quantity("y", y, **(y_axis or {}))}
    spec = sheet(title, subtitle, rows, layers, (500, height), **axes)
    return Chart(spec, alt or f"Line chart: {title}.")


def panels(
    points: Iterable[tuple[str, float, float]],
    *,
    title: str,
    subtitle: str,
    x: str,
    y: str,
    alt: str,
    ordinal: bool = False,
) -> Chart:
    """Return one panel below the other: bars of whole numbers, or an area in steps."""
    rows: list[dict[str, Any]] = [{"panel": p, "x": a, "y": b} for p, a, b in points]
    names = list(dict.fromkeys(r["panel"] for r in rows))
    header = {
        "labelAngle": 0,
        "labelOrient": "top",
        "labelAnchor": "start",
        "labelAlign": "left",
        "labelFontSize": 11,
        "labelPadding": 4,
    }
    area = {"type": "area", "interpolate": "step", "color": AFTER}
    spec = {
        "title": heading(title, subtitle),
        "data": {"values": rows},
        "facet": {"row": category("panel", None, names, header=header)},
        "spacing": 12,
        "spec": {
            "width": 480,
            "height": 80,
            "mark": "bar" if ordinal else area,
            "encoding": {
                "x": {"field": "x", "type": "ordinal", "title": x, "axis": {"labelAngle": 0}}
                if ordinal
                else quantity("x", x),
                "y": quantity("y", y, axis={"tickCount": 3, "format": "~g"}),
            },
        },
    }
    return Chart(spec, alt)


def extrapolation(
    points: Iterable[tuple[str, float, float, str]], *, title: str, subtitle: str, x: str, alt: str
) -> Chart:
    """Return a small panel for each estimate: simulated points, and where their line leads."""
    rows: list[dict[str, Any]] = [
        {"panel": p, "x": a, "y": b, "what": what} for p, a, b, what in points
    ]
    names = list(dict.fromkeys(r["panel"] for r in rows))
    kinds = one_each("what", ["simulated", "extrapolated"], [BEFORE, AFTER])
    spec = {
        "title": heading(title, subtitle),
        "data": {"values": rows},
        "facet": category("panel", None, names),
        "columns": 3,
        "spec": {
            "width": 170,
            "height": 150,
            "encoding": {
                "x": quantity("x", x),
                "y": quantity("y", "estimate", scale={"zero": False}),
            },
            "layer": [
                {"mark": {"type": "line", "strokeDash": [3, 3], "color": "#8a94a0"}},
                layer({"type": "point", "filled": True, "size": 60}, color=kinds),
            ],
        },
        "resolve": {"scale": {"y": "independent"}},
    }
    return Chart(spec, alt)


def intervals(
    rows: Iterable[tuple[str, str, float, float, float]],
    *,
    title: str,
    x: str,
    subtitle: str = "",
    colours: Sequence[str] = PALETTE,
    alt: str = "",
) -> Chart:
    """Return points with their intervals: name, series, lower end, point, upper end."""
    values: list[dict[str, Any]] = [
        {"name": n, "series": s, "low": low, "at": at, "high": high} for n, s, low, at, high in rows
    ]
    series = list(dict.fromkeys(v["series"] for v in values))
    layers = [
        layer(
            {"type": "rule", "strokeWidth": 2},
            x=quantity("low", x, scale={"zero": False}),
            x2={"field": "high"},
        ),
        layer({"type": "point", "filled": True, "size": 50, "opacity": 1}, x=quantity("at", x)),
    ]
    grid = {"grid": True, "gridColor": GRID}
    axes = {
        "y": category("name", scale={"paddingInner": 0.3}, axis=grid),
        "yOffset": {"field": "series", "sort": series},
        "color": one_each("series", series, colours),
    }
    spec = sheet(title, subtitle, values, layers, (420, {"step": 18}), **axes)
    shown = list_parts(f"{v['name']}, {v['series']} {short_number(v['at'])}" for v in values)
    return Chart(spec, alt or f"{title}. {shown}.")


def histogram(
    counts: Mapping[str, Sequence[float] | Floats],
    edges: Sequence[float] | Floats,
    *,
    title: str,
    x: str,
    y: str,
    alt: str,
    subtitle: str = "",
    mark: tuple[float, str] | None = None,
    colours: Sequence[str] = PALETTE,
    shares: bool = False,
    x_axis: Mapping[str, Any] | None = None,
) -> Chart:
    """Return bars of the numbers between edges, overlaid for several series; ``mark`` is a line at a value."""
    rows = [
        {"series": name, "from": float(a), "to": float(b), "n": float(n)}
        for name, found in counts.items()
        for a, b, n in zip(edges[:-1], edges[1:], found, strict=True)
    ]
    several = len(counts) > 1
    along = {"bin": {"binned": True}, "scale": {"zero": False}, **(x_axis or {})}
    colour = {"color": one_each("series", list(counts), colours)} if several else {}
    bars: dict[str, Any] = layer(
        {"type": "bar", **({"opacity": 0.55} if several else {})},
        rows,
        x=quantity("from", x, **along),
        x2={"field": "to"},
        y=quantity("n", y, stack=None, **({"axis": {"format": ".0%"}} if shares else {})),
        **colour,
    )
    layers = [bars, *(line_at(*mark) if mark else [])]
    return Chart(sheet(title, subtitle, None, layers, (480, 220)), alt)


def line_at(at: float, text: str) -> list[dict[str, Any]]:
    """Return a vertical line at a value, with a word beside it."""
    rows = [{"at": at, "text": text}]
    x = {"field": "at", "type": "quantitative"}
    if not text:
        return [layer({"type": "rule", "strokeDash": [4, 3]}, rows, x=x)]
    words = {"type": "text", "align": "left", "dx": 5, "color": WARNING, "y": 8}
    return [
        layer({"type": "rule", "color": WARNING, "strokeWidth": 2}, rows, x=x),
        layer(words, rows, x=x, text={"field": "text"}),
    ]


def count_bins(values: Floats, bins: int | None = None) -> tuple[Floats, Floats]:
    """Return counts and edges of a histogram of the finite values; about root n bins unless told."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        finite = np.zeros(1)
    found, edges = np.histogram(finite, bins=bins or min(30, max(5, int(np.sqrt(len(finite))))))
    return found.astype(np.float64), edges
