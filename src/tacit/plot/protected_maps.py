"""Charts of protected plots over two axes: contours, hexagons and tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.arrays import Floats, Ints
from tacit.plot.chart import Chart
from tacit.plot.parts import category, heading, layer, list_parts, quantity, short_number
from tacit.plot.protected import HEIGHT, WIDTH, outside, plot, same, subtitle
from tacit.plot.theme import AFTER, INK, INK_SOFT

Record = Mapping[str, Any]

#: From nothing to most.
SCHEME = "yellowgreenblue"
#: Bars of a table at most; more cells are drawn as a map.
MOST_BARS = 60


def contours(record: Record) -> Chart:
    """Return classes of density as fields, with lines that enclose shares of the mass."""
    values = np.asarray(record["values"])
    x, y = (np.asarray(g) for g in record["grid"])
    classes = record["classes"]
    number = classify(values, classes)
    fields = list(runs(number, x, y))
    lines = [
        {"x": a, "y": b, "line": i, "order": k, "mass": f"{m:.0%}"}
        for m, level in zip(record["masses"], record["levels"], strict=True)
        for i, line in enumerate(mass_lines(values, x, y, level))
        for k, (a, b) in enumerate(line)
    ]
    names = [f"{m:.0%}" for m in record["masses"]]
    flat = {"nice": False, "zero": False}
    layers = [
        layer(
            {"type": "rect", "strokeWidth": 0.3},
            fields,
            x=quantity("a", record["columns"][0], scale={"domain": [x[0], x[-1]], **flat}),
            x2={"field": "b"},
            y=quantity("c", record["columns"][1], scale={"domain": [y[0], y[-1]], **flat}),
            y2={"field": "d"},
            color=colours("class of density", classes),
            stroke=colours("class of density", classes),
        ),
        layer(
            {"type": "line", "color": INK, "strokeWidth": 1.1, "clip": True},
            lines,
            x=same("x"),
            y=same("y"),
            order={"field": "order"},
            detail=[{"field": "line"}, {"field": "mass"}],
            strokeDash=category(
                "mass",
                "mass inside",
                names,
                scale={"domain": names, "range": dashes(len(names))},
                legend={"symbolType": "stroke", "symbolStrokeColor": INK},
            ),
        ),
    ]
    said = f"lines enclose {', '.join(names)} of the mass"
    spec = plot(record, None, layers, said, size=(460, 380))
    i, j = np.unravel_index(int(values.argmax()), values.shape)
    peak = (
        f"{record['columns'][0]} {short_number(x[i])}, {record['columns'][1]} {short_number(y[j])}"
    )
    return Chart(spec, f"Contour plot: {record['title']}, densest near {peak}.")


def colours(title: str, classes: int) -> dict[str, Any]:
    """Return the colours of classes, from light to dark."""
    return quantity(
        "class",
        title,
        scale={"scheme": {"name": SCHEME, "extent": [0, 0.95]}, "domain": [1, classes]},
        legend={"gradientLength": 140, "values": list(range(2, classes + 1, 2)), "format": "d"},
    )


def dashes(n: int) -> list[list[int]]:
    """Return dashes: the line that holds most is the most broken."""
    return [[1, 0], [6, 2], [4, 3], [2, 2], [1, 3]][:n] + [[1, 3]] * max(0, n - 5)


def mass_lines(
    values: Floats, x: Floats, y: Floats, level: float
) -> list[list[tuple[float, float]]]:
    """Return the lines at a level of the shares, without islands of a few points that the noise leaves."""
    shares = np.maximum(values, 0.0)
    total = shares.sum()
    found = contour_lines(shares / total if total else shares, x, y, level)
    longest = max(map(len, found), default=0)
    return [line for line in found if len(line) >= min(12, longest)]


def runs(number: Ints, x: Floats, y: Floats) -> Any:
    """Yield fields of one class: neighbours in a row are drawn as one; the lowest class is left white."""
    half = (x[1] - x[0]) / 2, (y[1] - y[0]) / 2
    for j in range(number.shape[1]):
        start = 0
        for value, group in itertools.groupby(number[:, j].tolist()):
            end = start + len(list(group)) - 1
            if value > 0:
                yield {
                    "a": max(float(x[start] - half[0]), float(x[0])),
                    "b": min(float(x[end] + half[0]), float(x[-1])),
                    "c": max(float(y[j] - half[1]), float(y[0])),
                    "d": min(float(y[j] + half[1]), float(y[-1])),
                    "class": value + 1,
                }
            start = end + 1


def hexbin(record: Record) -> Chart:
    """Return hexagons in the colours of their counts; those of which the noise may be all are left out."""
    (low, high), (bottom, top) = record["range"]
    width = 460
    radius = width / record["across"] / math.sqrt(3)
    rows = [
        {"x": x, "y": y, "n": n}
        for x, y, n in zip(*record["centres"], record["values"], strict=True)
        if n > record["band"]
    ]
    corner = [(math.sin(k * math.pi / 3), math.cos(k * math.pi / 3)) for k in range(6)]
    path = "M" + "L".join(f"{a:.5f},{b:.5f}" for a, b in corner) + "Z"
    flat = {"nice": False, "zero": False}
    pad = 1 / record["across"] / 2
    wide, deep = (high - low) * pad, (top - bottom) * pad
    below = "below two amplitudes not drawn"
    spec = {
        "title": heading(record["title"], subtitle(record, below, outside(record))),
        "data": {"values": rows},
        "width": round(width * (1 + 2 * pad)),
        "height": round(width * (1 + 2 * pad)),
        "mark": {
            "type": "point",
            "shape": path,
            # Vega scales a path by the root of the size over two.
            "size": (2 * radius) ** 2,
            "filled": True,
            "opacity": 1,
            "strokeWidth": 0,
        },
        "encoding": {
            "x": quantity(
                "x", record["columns"][0], scale={"domain": [low - wide, high + wide], **flat}
            ),
            "y": quantity(
                "y", record["columns"][1], scale={"domain": [bottom - deep, top + deep], **flat}
            ),
            "color": quantity(
                "n",
                "records",
                scale={"scheme": {"name": SCHEME, "extent": [0.1, 0.95]}, "domainMin": 0},
                legend={"gradientLength": 160, "tickCount": 3},
            ),
        },
    }
    dense = max(rows, key=lambda r: r["n"], default=None)
    told = (
        f"densest near {short_number(dense['x'])}, {short_number(dense['y'])}"
        if dense
        else "nothing stands out of the noise"
    )
    return Chart(spec, f"{record['title']}: {told}.")


def table(record: Record) -> Chart:
    """Return bars for one column, and a map of counts for two or three."""
    values = np.asarray(record["values"])
    names = record["categories"]
    if values.ndim == 1:
        return table_bars(record, values, names[0])
    rows = [
        {
            "row": names[0][place[0]],
            "column": names[1][place[1]],
            "panel": names[2][place[2]] if values.ndim == 3 else "",
            "n": max(float(v), 0.0),
            "text": f"{v:,.0f}",
        }
        for place, v in np.ndenumerate(values)
    ]
    high = max(float(values.max()), 1.0)
    x = category("column", record["columns"][1], names[1], axis={"labelAngle": 0, "orient": "top"})
    fill = {"scheme": {"name": "blues", "extent": [0, 0.8]}, "domain": [0, high]}
    white = {"test": f"datum.n > {0.6 * high}", "value": "white"}
    ink = {"condition": white, "value": INK}
    inner = {
        "width": {"step": 64},
        "height": {"step": 26},
        "encoding": {"x": x, "y": category("row", record["columns"][0], names[0])},
        "layer": [
            layer("rect", color=quantity("n", "records", scale=fill, legend=None)),
            layer({"type": "text"}, text={"field": "text"}, color=ink),
        ],
    }
    said = heading(record["title"], subtitle(record, f"plus and minus {record['band']:.3g}"))
    spec: dict[str, Any] = {"title": said, "data": {"values": rows}}
    if values.ndim == 3:
        panels = category("panel", record["columns"][2], names[2])
        spec |= {"facet": {"row": panels}, "spec": inner}
    else:
        spec |= inner
    told = list_parts(f"{r['row']}, {r['column']} {r['panel']}: {r['text']}" for r in rows)
    return Chart(spec, f"{record['title']}. {told}.")


def table_bars(record: Record, values: Floats, names: list[str]) -> Chart:
    """Return a bar for each category, with the interval of two amplitudes."""
    band = record["band"]
    rows = [
        {
            "name": n,
            "n": max(float(v), 0.0),
            "low": max(float(v) - band, 0.0),
            "high": max(float(v) + band, 0.0),
        }
        for n, v in zip(names, values, strict=True)
    ]
    rule = {"type": "rule", "color": INK_SOFT, "strokeWidth": 1.4}
    layers = [
        layer({"type": "bar", "color": AFTER, "opacity": 0.8}, x=quantity("n", "records")),
        layer(rule, x=same("low"), x2={"field": "high"}),
    ]
    size = (WIDTH, {"step": 26} if len(rows) <= MOST_BARS else HEIGHT)
    down = category("name", record["columns"][0], names)
    spec = plot(record, rows, layers, "lines: plus and minus two amplitudes", size=size, y=down)
    told = list_parts(f"{n}: {v:,.0f}" for n, v in zip(names, values, strict=True))
    return Chart(spec, f"{record['title']}. {told}.")


# -- values on a grid in classes, and the lines along which they cross a level ---------------------------

#: A crossing: the corner of the grid where its edge starts, and the axis along which the edge runs.
Edge = tuple[int, int, int]


def classify(values: Floats, classes: int) -> Ints:
    """Return the class 0, 1, ... of each value: equal parts from 0 to the largest."""
    positive = np.maximum(values, 0.0)
    parts = positive / (positive.max() or 1.0) * classes
    return np.minimum(parts.astype(np.int64), classes - 1)


def contour_lines(
    values: Floats, x: Floats, y: Floats, level: float
) -> list[list[tuple[float, float]]]:
    """Return the lines along which values, at points x by y, cross a level (marching squares)."""
    above = values > level
    links: dict[Edge, list[Edge]] = {}

    def join(one: Edge, two: Edge) -> None:
        links.setdefault(one, []).append(two)
        links.setdefault(two, []).append(one)

    corner = above[:-1, :-1] * 1 + above[1:, :-1] * 2 + above[1:, 1:] * 4 + above[:-1, 1:] * 8
    for i, j in zip(*np.nonzero((corner > 0) & (corner < 15)), strict=True):
        a, b, c, d = above[i, j], above[i + 1, j], above[i + 1, j + 1], above[i, j + 1]
        # Edges: along x below and above (0), along y left and right (1).
        south, north, west, east = (i, j, 0), (i, j + 1, 0), (i, j, 1), (i + 1, j, 1)
        crossed = [
            e
            for e, cut in ((south, a != b), (east, b != c), (north, c != d), (west, d != a))
            if cut
        ]
        if len(crossed) == 2:
            join(*crossed)
        else:
            middle = values[i : i + 2, j : j + 2].mean() > level
            beside, across = (east, west) if bool(a) == bool(middle) else (west, east)
            join(south, beside)
            join(north, across)

    def place(edge: Edge) -> tuple[float, float]:
        i, j, along = edge
        k, m = (i + 1, j) if along == 0 else (i, j + 1)
        share = (level - values[i, j]) / (values[k, m] - values[i, j])
        return float(x[i] + share * (x[k] - x[i])), float(y[j] + share * (y[m] - y[j]))

    lines = []
    starts = [e for e, others in links.items() if len(others) == 1] + list(links)
    for start in starts:
        if not links.get(start):
            continue
        line, here = [place(start)], start
        while links.get(here):
            there = links[here].pop()
            links[there].remove(here)
            line.append(place(there))
            here = there
        lines.append(line)
    return lines
