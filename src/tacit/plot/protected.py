"""Charts of protected plots: drawn from the public record alone, which holds no value of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.plot.chart import Chart
from tacit.plot.lines import DASHES, SHARES
from tacit.plot.parts import category, layer, list_parts, one_each, quantity, sheet, short_number
from tacit.plot.theme import AFTER, BEFORE, INK, INK_SOFT, PALETTE

Record = Mapping[str, Any]

WIDTH, HEIGHT = 520, 260
#: Fill between the ends of a band.
BAND = {"opacity": 0.18, "color": AFTER}
#: The line on which nothing differs, or chance alone decides.
CHANCE = {"type": "line", "color": BEFORE, "strokeDash": [5, 3]}


def draw(record: Record) -> Chart:
    """Return the chart of a protected plot."""
    from tacit.plot import protected_maps

    drawers: dict[str, Callable[[Record], Chart]] = {
        "histogram": histogram,
        "density": density,
        "quantiles": quantiles,
        "boxes": boxes,
        "qq": qq,
        "survival": survival,
        "roc": roc,
        "contours": protected_maps.contours,
        "hexbin": protected_maps.hexbin,
        "table": protected_maps.table,
    }
    return drawers[record["chart"]](record)


def subtitle(record: Record, *more: str) -> str:
    """Return what a reader must know: for study, or what protects."""
    said = f"protected with noise, rho = {record['rho']:.3g} for one {record['unit']}"
    if record["study"]:
        said = "for study: the seed was given, nothing is protected"
    return "; ".join(filter(None, [said, *more]))


def plot(
    record: Record,
    rows: Sequence[Any] | None,
    layers: Sequence[Any],
    *more: str,
    size: tuple[Any, Any] = (WIDTH, HEIGHT),
    **encoding: Any,
) -> dict[str, Any]:
    """Return the specification of a protected plot, whose heading says what protects."""
    return sheet(record["title"], subtitle(record, *more), rows, layers, size, **encoding)


def outside(record: Record) -> str:
    """Return the protected count of what lies beyond the ends of the plot, in words."""
    beyond = float(np.sum(record["outside"]))
    return f"about {max(beyond, 0):,.0f} outside" if beyond > record["band"] else ""


def same(field: str) -> dict[str, Any]:
    """Return the encoding of a number on an axis that another layer describes."""
    return {"field": field, "type": "quantitative"}


def histogram(record: Record) -> Chart:
    """Return bars with the interval of plus and minus two amplitudes, and a reference density where asked."""
    edges, values = record["breaks"], record["values"]
    shares = record["shares"]
    band = record["band"]
    rows = [
        {
            "from": a,
            "to": b,
            "middle": (a + b) / 2,
            "n": max(v, 0.0),
            "low": max(v - band, 0.0),
            "high": max(v + band, 0.0),
        }
        for a, b, v in zip(edges[:-1], edges[1:], values, strict=True)
    ]
    axis = {"axis": {"format": ".0%"}} if shares else {}
    layers: list[dict[str, Any]] = [
        layer(
            {"type": "bar", "color": AFTER, "opacity": 0.8},
            x=quantity("from", record["columns"][0], bin={"binned": True}, scale={"zero": False}),
            x2={"field": "to"},
            y=quantity("n", "share" if shares else "records", **axis),
        ),
        layer(
            {"type": "rule", "color": INK, "strokeWidth": 1.2},
            x=same("middle"),
            y=same("low"),
            y2={"field": "high"},
        ),
    ]
    more = "lines: plus and minus two amplitudes", "" if shares else outside(record)
    if record.get("reference"):
        layers.append(normal_curve(edges, values))
    spec = plot(record, rows, layers, *more)
    told = list_parts(
        f"{short_number(r['from'])} to {short_number(r['to'])}: {short_number(v)}"
        for r, v in zip(rows, values, strict=True)
    )
    return Chart(spec, f"{record['title']}. {told}.")


def normal_curve(edges: Sequence[float], values: Sequence[float]) -> dict[str, Any]:
    """Return the normal density with mean and spread of the published counts, in their units."""
    borders = np.asarray(edges)
    middles, widths = (borders[1:] + borders[:-1]) / 2, np.diff(borders)
    mass = np.maximum(np.asarray(values), 0.0)
    total = mass.sum() or 1.0
    mean = float(mass @ middles / total)
    sd = math.sqrt(max(float(mass @ (middles - mean) ** 2 / total), 1e-300))
    at = np.linspace(borders[0], borders[-1], 201)
    width = np.interp(at, middles, widths)
    curve = total * width * np.exp(-(((at - mean) / sd) ** 2) / 2) / (sd * math.sqrt(2 * math.pi))
    rows = [{"at": float(a), "normal": float(v)} for a, v in zip(at, curve, strict=True)]
    line = {"type": "line", "color": PALETTE[1], "strokeWidth": 2}
    return layer(line, rows, x=same("at"), y=same("normal"))


def density(record: Record) -> Chart:
    """Return the density line with its 95 per cent confidentiality band."""
    grid, values, band = record["grid"][0], record["values"], record["band"]
    floor = 0.0 if record["shares"] else -math.inf
    rows = [
        {"at": a, "f": v, "low": max(v - band, floor), "high": v + band}
        for a, v in zip(grid, values, strict=True)
    ]
    name = record["columns"][0]
    y = "density" if record["shares"] else "records per unit"
    across = {"scale": {"domain": [grid[0], grid[-1]], "nice": False}}
    layers = [
        layer(
            {"type": "area", **BAND},
            y=quantity("low", y, axis={"format": "~g", "tickCount": 5}),
            y2={"field": "high"},
        ),
        layer({"type": "line"}, y=quantity("f", y)),
    ]
    said = "band: where the line without noise lies with 95%"
    spec = plot(record, rows, layers, said, x=quantity("at", name, **across))
    peak = grid[int(np.argmax(values))]
    return Chart(spec, f"{record['title']}, highest at about {short_number(peak)}.")


def quantiles(record: Record) -> Chart:
    """Return the quantile function: points joined by lines."""
    rows = [
        {"p": p, "value": v, "text": short_number(v)}
        for p, v in zip(record["probabilities"], record["values"], strict=True)
    ]
    up = quantity("value", record["columns"][0], scale={"domain": record["range"], "nice": False})
    layers = [
        {"mark": {"type": "line", "color": BEFORE}},
        {"mark": {"type": "point", "size": 60}},
        layer(
            {"type": "text", "align": "left", "dx": 7, "dy": 10, "color": INK_SOFT},
            text={"field": "text"},
        ),
    ]
    spec = plot(record, rows, layers, x=quantity("p", "share of records below", **SHARES), y=up)
    told = list_parts(f"{r['p']:.0%} below {r['text']}" for r in rows)
    return Chart(spec, f"{record['title']}. {told}.")


def boxes(record: Record) -> Chart:
    """Return a box with whiskers for each group."""
    names = [n or record["columns"][0] for n in record["groups"]]
    rows = [
        {"group": n, **dict(zip(("low", "q1", "median", "q3", "high"), v, strict=True))}
        for n, v in zip(names, record["values"], strict=True)
    ]
    x = {"title": record["columns"][0], "scale": {"domain": record["range"], "nice": False}}
    share = record["probabilities"][0]
    end = {"type": "tick", "size": 12, "thickness": 1.4, "color": INK_SOFT}
    middle = {"type": "tick", "size": 24, "thickness": 2.4, "color": "white", "opacity": 1}
    layers = [
        layer(
            {"type": "rule", "strokeWidth": 1.4, "color": INK_SOFT},
            x=quantity("low", **x),
            x2={"field": "high"},
        ),
        layer(end, x=same("low")),
        layer(end, x=same("high")),
        layer(
            {"type": "bar", "size": 24, "color": AFTER, "opacity": 1},
            x=same("q1"),
            x2={"field": "q3"},
        ),
        layer(middle, x=same("median")),
    ]
    said = f"whiskers: {share:.0%} of records beyond each"
    down, size = category("group", None, names), (WIDTH, {"step": 46})
    spec = plot(record, rows, layers, said, size=size, y=down)
    told = list_parts(
        f"{r['group']}: median {short_number(r['median'])}, half between {short_number(r['q1'])} and {short_number(r['q3'])}"
        for r in rows
    )
    return Chart(spec, f"{record['title']}. {told}.")


def qq(record: Record) -> Chart:
    """Return quantiles against quantiles, with the line on which they would agree."""
    points = np.asarray(record["values"])
    rows = [{"x": float(a), "y": float(b)} for a, b in points]
    if record["normal"]:
        # Through the quartiles, as is the custom.
        q = [np.interp(p, record["probabilities"], points[:, 1]) for p in (0.25, 0.75)]
        slope = (q[1] - q[0]) / (2 * 0.6744897501960817)
        middle = (q[0] + q[1]) / 2
        ends = [points[0, 0], points[-1, 0]]
        line = [{"x": float(e), "y": float(middle + slope * e)} for e in ends]
    else:
        low, high = float(points.min()), float(points.max())
        line = [{"x": low, "y": low}, {"x": high, "y": high}]
    layers = [
        layer(CHANCE, line, x=same("x"), y=same("y")),
        layer(
            {"type": "point", "size": 34},
            rows,
            x=quantity("x", record["across"], scale={"zero": False}),
            y=quantity("y", f"quantiles of {record['columns'][0]}", scale={"zero": False}),
        ),
    ]
    spec = plot(record, None, layers, size=(380, 320))
    return Chart(spec, f"{record['title']} against {record['across']}, {len(rows)} quantiles.")


def survival(record: Record) -> Chart:
    """Return a curve in steps for each group, with the band of the noise."""
    names = [n or "all" for n in record["groups"]]
    rows = [
        {"group": n, "time": t, "s": s, "low": low, "high": high}
        for n, curve, lows, highs in zip(
            names, record["values"], record["low"], record["high"], strict=True
        )
        for t, s, low, high in zip(record["times"], curve, lows, highs, strict=True)
    ]
    several = len(names) > 1
    legend = {"legend": {"symbolType": "stroke", "symbolOpacity": 1} if several else None}
    colour = {**one_each("group", names), **legend}
    dash = {"strokeDash": {**one_each("group", names, DASHES), **legend}}
    up = quantity("s", "still there", **SHARES)
    step = {"interpolate": "step-after"}
    layers = [
        layer(
            {"type": "area", "opacity": 0.16, **step},
            y=quantity("low", "still there", **SHARES),
            y2={"field": "high"},
        ),
        layer({"type": "line", **step}, y=up, **dash),
    ]
    across = quantity("time", record["columns"][0])
    spec = plot(record, rows, layers, "band: the noise alone, 95%", x=across, color=colour)
    told = list_parts(
        f"{n}: {curve[-1]:.0%} at the end" for n, curve in zip(names, record["values"], strict=True)
    )
    return Chart(spec, f"{record['title']}. {told}.")


def roc(record: Record) -> Chart:
    """Return the curve, with the diagonal of pure chance and the area in words."""
    rows = [{"x": a, "y": b} for a, b in record["values"]]
    low, high = record["area_band"]
    text = f"area {record['area']:.2f} ({low:.2f} to {high:.2f} by the noise)"
    x = quantity("x", "false positive rate", **SHARES)
    y = quantity("y", "true positive rate", **SHARES)
    layers = [
        {"data": {"values": [{"x": 0, "y": 0}, {"x": 1, "y": 1}]}, "mark": CHANCE},
        {"data": {"values": rows}, "mark": {"type": "line", "point": {"size": 18}}},
    ]
    spec = plot(record, None, layers, text, size=(360, 340), x=x, y=y)
    return Chart(spec, f"{record['title']}, {text}.")
