"""Charts of time series: raw against normalised ones, a warping path, shares of records found.

Functions of plain arrays. The first two show values of records: keep them inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.plot.chart import Chart
from tacit.plot.parts import (
    SPOKEN,
    category,
    diagonal,
    heading,
    layer,
    one_each,
    quantity,
    sheet,
    short_number,
)
from tacit.plot.theme import GRID, PALETTE

SIDE = 300
#: Lines told apart by colour and name; more are drawn thin and alike.
NAMED = len(PALETTE)
#: Series drawn at most.
DRAWN = 60


def side_by_side(
    versions: Mapping[str, Floats],
    *,
    names: Sequence[str] = (),
    times: Sequence[float] = (),
    title: str = "Series, raw and normalised",
    subtitle: str = "",
) -> Chart:
    """Return the same series in several versions side by side: raw, normalised by component, by series.

    Parameters
    ----------
    versions
        One array (series x time) a version, by name; the same series in each.
    names
        Names of the series; up to six are told apart by colour.
    times
        The time of each position; 1, 2, ... when none are given.
    title, subtitle
        The heading.
    """
    shape = {np.shape(v) for v in versions.values()}
    if len(shape) != 1 or len(next(iter(shape))) != 2:
        raise InputError("side_by_side needs versions of the same series, each as series x time")
    n, length = next(iter(shape))
    at = list(times) or list(range(1, length + 1))
    labels = list(names) or [str(i + 1) for i in range(n)]
    if len(at) != length or len(labels) != n:
        raise InputError(
            "side_by_side needs one name for each series and one time for each position"
        )
    shown = np.unique(np.linspace(0, n - 1, min(n, DRAWN)).astype(np.int64))
    # Domains are given, so that every panel keeps its own scale.
    panels = [
        panel(name, np.asarray(values)[shown], [labels[i] for i in shown], at)
        for name, values in versions.items()
    ]
    spec = {
        "title": heading(title, subtitle),
        "hconcat": panels,
        "spacing": 26,
        "resolve": {"scale": {"color": "shared", "y": "independent"}},
    }
    said = "; ".join(
        f"{name}: from {short_number(float(np.nanmin(v)))} to {short_number(float(np.nanmax(v)))}"
        for name, v in versions.items()
    )
    return Chart(spec, f"{title}: {n} series of {length} points, {len(versions)} versions. {said}.")


def panel(
    name: str, values: Floats, labels: Sequence[str], times: Sequence[float]
) -> dict[str, Any]:
    """Return one panel of lines."""
    rows = [
        {"series": label, "time": float(t), "value": float(y)}
        for label, line in zip(labels, values, strict=True)
        for t, y in zip(times, line, strict=True)
        if np.isfinite(y)
    ]
    few = len(labels) <= NAMED
    legend = {"symbolType": "stroke", "labelLimit": 200} if few else None
    colour = category("series", None, labels, legend=legend)
    lines: dict[str, Any] = {"detail": {"field": "series"}}
    return {
        "title": caption(name),
        "width": SIDE - 40,
        "height": SIDE - 80,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2 if few else 1, "opacity": 1.0 if few else 0.4},
        "encoding": {
            "x": time_axis("time", times),
            "y": quantity("value", scale={"zero": False}),
            **({"color": colour} if few else lines),
        },
    }


def caption(text: str) -> dict[str, Any]:
    """Return the title of one panel among several, at the same height in all of them."""
    return {
        "text": text,
        "fontSize": 12,
        "fontWeight": 400,
        "anchor": "middle",
        "frame": "group",
        "offset": 10,
    }


def time_axis(field: str, times: Sequence[float]) -> dict[str, Any]:
    """Return an axis of times; whole ones are printed without decimals or thousands."""
    whole = all(float(t).is_integer() for t in times)
    return quantity(
        field,
        scale={"domain": [float(min(times)), float(max(times))], "nice": False},
        axis={"format": "d" if whole else "~g", "tickMinStep": 1 if whole else 0, "grid": False},
    )


def warping_path(
    x: Sequence[float],
    v: Sequence[float],
    path: Sequence[tuple[int, int]],
    *,
    names: tuple[str, str] = ("x", "v"),
    cost: float | None = None,
    title: str = "Warping path",
) -> Chart:
    """Return the aligned positions of two series in the matrix of their squared differences.

    ``path`` holds pairs of positions that count from 0. The diagonal would be the Euclidean distance.
    """
    gap = np.subtract.outer(np.asarray(x, dtype=np.float64), np.asarray(v, dtype=np.float64)) ** 2
    cells = [
        {"v": j + 1, "x": i + 1, "gap": float(np.sqrt(gap[i, j]))}
        for i in range(len(x))
        for j in range(len(v))
    ]
    steps = [{"v": j + 1, "x": i + 1, "step": k} for k, (i, j) in enumerate(path)]
    side = max(8, min(26, 380 // max(len(x), len(v))))
    said = f"{len(path)} steps" + ("" if cost is None else f", cost {short_number(cost)}")
    axes = {"x": position("v", len(v), names[1]), "y": position("x", len(x), names[0])}
    point = {"color": PALETTE[1], "size": max(20, side)}
    layers = [
        layer(
            {"type": "rect", "width": side - 1, "height": side - 1},
            cells,
            **axes,
            color=quantity("gap", legend=None, scale={"range": ["#f7f9fb", "#8fa6bd"]}),
        ),
        diagonal(1, min(len(x), len(v)), "v", "x", (4, 4)),
        layer(
            {"type": "line", "color": PALETTE[1], "strokeWidth": 2.5, "point": point},
            steps,
            **axes,
            order={"field": "step"},
        ),
    ]
    size = (side * len(v), side * len(x))
    spec = sheet(title, f"{said}; darker: larger difference", None, layers, size)
    level = sum(i == j for i, j in path)
    return Chart(
        spec,
        f"{title} of {names[0]} ({len(x)} points) and {names[1]} ({len(v)} points): {said}, {level} of them "
        "on the diagonal.",
    )


def position(field: str, size: int, name: str) -> dict[str, Any]:
    """Return an axis of positions 1, 2, ..."""
    return quantity(
        field,
        f"position in {name}",
        scale={"domain": [0.5, size + 0.5], "nice": False},
        axis={"grid": False, "tickMinStep": 1, "format": "d"},
    )


def share_lines(rows: Sequence[Mapping[str, Any]], *, records: int) -> Chart:
    """Return the share of records found over the group size, one line per distance.

    Rows hold ``distance``, ``series`` (how many per record), ``k`` and ``share``; one panel per number of
    series.
    """
    names = list(dict.fromkeys(r["distance"] for r in rows))
    ks = sorted({r["k"] for r in rows})
    top = max([r["share"] for r in rows], default=1.0) or 1.0
    legend = {"symbolType": "stroke", "orient": "right", "direction": "vertical"}
    dashes = [[1, 0] if i < len(PALETTE) else [5, 3] for i in range(max(len(names), 1))]
    encoding = {
        "x": {
            "field": "k",
            "type": "ordinal",
            "sort": ks,
            "title": "records in a group (k)",
            "axis": {"labelAngle": 0},
        },
        "y": quantity(
            "share",
            "share of records found",
            scale={"domain": [0, top]},
            axis={"format": ".0%", "gridColor": GRID},
        ),
        "color": one_each("distance", names, legend=legend),
        "strokeDash": one_each("distance", names, dashes, legend=legend),
    }
    panels = []
    for n in dict.fromkeys(r["series"] for r in rows):
        here = [
            {"distance": r["distance"], "k": r["k"], "share": r["share"]}
            for r in rows
            if r["series"] == n
        ]
        panels.append(
            {
                "title": caption(f"{n} series" if n > 1 else "one series"),
                "width": SIDE - 40,
                "height": SIDE - 80,
                "data": {"values": here},
                "mark": {"type": "line", "point": True},
                "encoding": encoding,
            }
        )
    title = "Records found after microaggregation"
    spec = {
        "title": heading(title, f"{records:,} records, by the distance that the intruder uses"),
        "hconcat": panels,
        "spacing": 30,
    }
    said = "; ".join(
        f"{r['distance']}, {r['series']} series, k = {r['k']}: {r['share']:.0%}"
        for r in rows[:SPOKEN]
    )
    return Chart(spec, f"{title}. {said}.")
