"""Original against masked numbers: scatter, two columns at once, ellipses, densities, deciles.

Functions of plain arrays. Scatter plots show values of records, thinned but true: keep them inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError
from tacit.plot.chart import Chart
from tacit.plot.parts import diagonal, heading, layer, one_each, quantity, sheet
from tacit.plot.theme import AFTER, GRID, INK_SOFT, PALETTE, WARNING

SIDE = 320
#: Points drawn of each file at most; every so-manieth record in the order of the original values.
POINTS = 1500
#: Points of a density curve, and of the outline of an ellipse.
GRID_POINTS, OUTLINE = 200, 120
#: Share of the values left outside a density curve's axis, half at each end.
OUTSIDE = 0.01
FILES = ("original", "masked")
DOTS = {"type": "point", "filled": True, "opacity": 0.45}
COLOUR = one_each("file", FILES, legend={"symbolType": "stroke"})
DASH = one_each("file", FILES, [[1, 0], [5, 3]], legend={"symbolType": "stroke"})


def scatter(
    original: Floats, masked: Floats, *, name: str, title: str = "", subtitle: str = ""
) -> Chart:
    """Return masked values over original ones; unchanged values lie on the line."""
    known = np.isfinite(original) & np.isfinite(masked)
    x, y = original[known], masked[known]
    require(x, 1)
    at = thin_points(x)
    low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
    rows = [{"x": float(a), "y": float(b)} for a, b in zip(x[at], y[at], strict=True)]
    dots = layer(
        {**DOTS, "size": 14},
        rows,
        x=axis("x", f"{name}, original", low, high),
        y=axis("y", f"{name}, masked", low, high),
    )
    head = title or f"{name}: masked against original"
    spec = sheet(head, subtitle, None, [diagonal(low, high), dots], (SIDE, SIDE))
    r = correlations(np.column_stack([x, y]))[0, 1]
    share = float((x == y).mean())
    return Chart(
        spec,
        f"Scatter plot of {name}: masked over original values of {len(x):,} records, {share:.0%} unchanged, "
        f"correlation {r:.3f}.",
    )


def draw_fitted_points(
    x: Floats,
    y: Floats,
    marked: Flags,
    *,
    line: tuple[float, float],
    names: tuple[str, str],
    kinds: tuple[str, str],
    title: str,
    subtitle: str,
    alt: str,
) -> Chart:
    """Return points in two kinds (``marked`` are of the second) and a line, intercept and slope."""
    at = np.argsort(x, kind="stable")[space_evenly(len(x))]
    rows = [{"x": float(x[i]), "y": float(y[i]), "kind": kinds[bool(marked[i])]} for i in at]
    a, b = line
    ends = [{"x": float(v), "y": float(a + b * v)} for v in (x.min(), x.max())] if rows else []
    colour = one_each("kind", kinds, [AFTER, WARNING])
    shown = {"data": {"values": ends if np.isfinite(b) else []}}
    layers = [
        layer({"type": "point", "size": 22, "opacity": 0.7}, rows, color=colour),
        {**shown, "mark": {"type": "line", "color": INK_SOFT}},
    ]
    axes = {"x": quantity("x", names[0]), "y": quantity("y", names[1])}
    return Chart(sheet(title, subtitle, None, layers, (420, 300), **axes), alt)


def two_columns(
    original: Floats,
    masked: Floats,
    *,
    names: Sequence[str],
    title: str = "",
    subtitle: str = "",
) -> Chart:
    """Return two columns over each other, the original file and the masked one side by side; records need not match."""
    files = [complete(original[:, :2]), complete(masked[:, :2])]
    low = np.minimum(*(f.min(axis=0) for f in files))
    high = np.maximum(*(f.max(axis=0) for f in files))
    panels = [
        {
            "title": {"text": label, "fontSize": 12, "fontWeight": 400, "anchor": "middle"},
            "width": SIDE - 60,
            "height": SIDE - 60,
            "data": {"values": points(f)},
            "mark": {**DOTS, "size": 12, "color": PALETTE[i]},
            "encoding": {
                "x": axis("x", names[0], float(low[0]), float(high[0])),
                "y": axis("y", names[1], float(low[1]), float(high[1])),
            },
        }
        for i, (label, f) in enumerate(zip(FILES, files, strict=True))
    ]
    spec = {
        "title": heading(title or f"{names[1]} over {names[0]}", subtitle),
        "hconcat": panels,
        "spacing": 30,
    }
    r = [correlations(f)[0, 1] for f in files]
    return Chart(
        spec,
        f"Scatter plots of {names[1]} over {names[0]}: correlation {r[0]:.3f} in the original, {r[1]:.3f} masked.",
    )


def ellipses(
    original: Floats,
    masked: Floats,
    *,
    names: Sequence[str],
    share: float = 0.975,
    correlation: bool = False,
    title: str = "",
    subtitle: str = "",
) -> Chart:
    """Return the covariance ellipse of each pair of columns in both files.

    The ellipse holds ``share`` of normal data with the file's means and covariances. With
    ``correlation`` columns are first standardised in each file, which leaves the shape alone.
    """
    files = [complete(original), complete(masked)]
    for f in files:
        require(f, 2)
    if correlation:
        files = [standard(f) for f in files]
    p = len(names)
    if p < 2:
        raise InputError("ellipses need at least two columns")
    side = max(90, min(SIDE, 560 // (p - 1)))
    blank = {"width": side, "height": side, **layer({"type": "point", "opacity": 0}, [])}
    rows = [
        {
            "hconcat": [
                panel(files, i, j, names, side, share) if i < j else blank for i in range(p - 1)
            ]
        }
        for j in range(1, p)
    ]
    what = "Correlation" if correlation else "Covariance"
    body: dict[str, Any] = {"vconcat": rows} if p > 2 else panel(files, 0, 1, names, side, share)
    spec = {
        **body,
        "title": heading(
            title or f"{what} ellipses, original and masked",
            subtitle
            or f"{100 * share:g} % of normal data lie within"
            + ("; columns standardised in each file" if correlation else ""),
        ),
    }
    old, new = (correlations(f) for f in files)
    spoken = [
        f"{names[i]} and {names[j]} {old[i, j]:.2f} and {new[i, j]:.2f}"
        for j in range(p)
        for i in range(j)
    ]
    return Chart(
        spec, f"{what} ellipses. Correlations, original and masked: {'; '.join(spoken[:12])}."
    )


def densities(
    original: Floats,
    masked: Floats,
    *,
    name: str,
    weights: Floats | None = None,
    masked_weights: Floats | None = None,
    title: str = "",
    subtitle: str = "",
) -> Chart:
    """Return the (weighted) density of a column in both files, by a Gaussian kernel."""
    sides = [known_values(original, weights), known_values(masked, masked_weights)]
    edges = [quantiles(v, w, [OUTSIDE / 2, 1 - OUTSIDE / 2]) for v, w in sides]
    low, high = float(min(e[0] for e in edges)), float(max(e[1] for e in edges))
    if low == high:
        low, high = low - 0.5, high + 0.5
    at = np.linspace(low, high, GRID_POINTS)
    rows = [
        {"file": label, "x": float(x), "density": float(d)}
        for label, (v, w) in zip(FILES, sides, strict=True)
        for x, d in zip(at, density(v, w, at), strict=True)
    ]
    spec = {
        "title": heading(title or f"Density of {name}", subtitle),
        "width": 480,
        "height": 220,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": axis("x", name, low, high),
            "y": quantity("density", "density", axis={"labels": False, "tickCount": 4}),
            "color": COLOUR,
            "strokeDash": DASH,
        },
    }
    shown = "; ".join(
        f"{label}: quartiles " + ", ".join(f"{q:.4g}" for q in quantiles(v, w, [0.25, 0.5, 0.75]))
        for label, (v, w) in zip(FILES, sides, strict=True)
    )
    return Chart(spec, f"Density of {name} in both files. {shown}.")


def deciles(
    original: Floats,
    masked: Floats,
    *,
    name: str,
    weights: Floats | None = None,
    masked_weights: Floats | None = None,
    title: str = "",
    subtitle: str = "",
) -> Chart:
    """Return the (weighted) deciles of the masked column over those of the original."""
    steps = np.arange(1, 10) / 10
    old = quantiles(*known_values(original, weights), steps)
    new = quantiles(*known_values(masked, masked_weights), steps)
    low, high = float(min(old[0], new[0])), float(max(old[-1], new[-1]))
    rows = [
        {"x": float(a), "y": float(b), "label": f"{i}"}
        for i, (a, b) in enumerate(zip(old, new, strict=True), start=1)
    ]
    numbered = {
        "data": {"values": rows},
        "encoding": {
            "x": axis("x", f"{name}, deciles of the original", low, high),
            "y": axis("y", f"{name}, deciles of the masked file", low, high),
        },
        "layer": [
            {"mark": {"type": "point", "filled": True, "size": 55}},
            layer({"type": "text", "dx": -9, "dy": -7, "color": INK_SOFT}, text={"field": "label"}),
        ],
    }
    head, below = title or f"Deciles of {name}", subtitle or "on the line: as in the original"
    spec = sheet(head, below, None, [diagonal(low, high), numbered], (SIDE, SIDE))
    shown = "; ".join(f"{r['label']}: {r['x']:.4g} and {r['y']:.4g}" for r in rows)
    return Chart(spec, f"Deciles of {name}, original and masked. {shown}.")


# -- numbers ---------------------------------------------------------------------------------------


def quantiles(values: Floats, weights: Floats, shares: Sequence[float] | Floats) -> Floats:
    """Return weighted quantiles: linear between the mid-points of the records' shares."""
    order = np.argsort(values, kind="stable")
    v, w = values[order], weights[order]
    middle = (np.cumsum(w) - 0.5 * w) / w.sum()
    return np.asarray(np.interp(shares, middle, v))


def density(values: Floats, weights: Floats, at: Floats) -> Floats:
    """Return a Gaussian kernel density at an even grid; values are first counted into its cells.

    The bandwidth is Silverman's, from the smaller of standard deviation and quartile distance, and not
    below one cell.
    """
    step = at[1] - at[0]
    share = weights / weights.sum()
    mean = share @ values
    sd = float(np.sqrt(share @ (values - mean) ** 2))
    low, high = quantiles(values, weights, [0.25, 0.75])
    spread = min(sd, (high - low) / 1.349) if high > low else sd
    n = 1.0 / float((share**2).sum())
    width = max(0.9 * spread * n**-0.2, step)
    # Room on both sides, so that values beyond the axis still spread into it.
    room = int(np.ceil(4 * width / step))
    cells = np.round((values - at[0]) / step).astype(np.int64) + room
    inside = (cells >= 0) & (cells < len(at) + 2 * room)
    counts = np.bincount(cells[inside], weights=share[inside], minlength=len(at) + 2 * room)
    offsets = np.arange(-room, room + 1) * step
    kernel = np.exp(-0.5 * (offsets / width) ** 2) / (width * np.sqrt(2 * np.pi))
    return np.asarray(np.convolve(counts, kernel, mode="valid"))


def outline(points: Floats, share: float) -> Floats:
    """Return the outline of the ellipse that holds a share of normal data with these moments."""
    centre = points.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(points, rowvar=False))
    # Quantile of the chi-squared distribution with 2 degrees of freedom.
    radius = np.sqrt(-2.0 * np.log(1.0 - share))
    angle = np.linspace(0.0, 2.0 * np.pi, OUTLINE)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(centre + radius * circle * np.sqrt(np.clip(values, 0.0, None)) @ vectors.T)


def correlations(x: Floats) -> Floats:
    """Return the correlations of the columns; 0 where a column is constant."""
    z = standard(x) if len(x) > 1 else 0.0 * x
    return np.asarray(z.T @ z / max(len(x) - 1, 1))


def known_values(values: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the values that are known and count, with their weights."""
    w = np.ones(len(values)) if weights is None else weights
    known = np.isfinite(values) & (w > 0)
    require(values[known], 1)
    return values[known], w[known]


def complete(x: Floats) -> Floats:
    """Return the records without a missing value."""
    rows = x[np.isfinite(x).all(axis=1)]
    require(rows, 1)
    return np.asarray(rows)


def require(x: Floats, least: int) -> None:
    """Refuse too few records."""
    if len(x) < least:
        raise InputError(f"the chart needs {least} or more records without missing values")


def space_evenly(n: int) -> Ints:
    """Return at most POINTS evenly spaced places among n."""
    return np.unique(np.linspace(0, max(n - 1, 0), min(n, POINTS)).astype(np.int64))[:n]


def thin_points(x: Floats) -> Ints:
    """Return positions of at most POINTS values, evenly spaced by rank, both extremes among them."""
    order = np.argsort(x, kind="stable")
    if len(x) <= POINTS:
        return np.asarray(order)
    return np.asarray(order[np.linspace(0, len(x) - 1, POINTS).round().astype(np.int64)])


# -- parts -----------------------------------------------------------------------------------------


def points(x: Floats) -> list[dict[str, float]]:
    """Return some records as points."""
    return [{"x": float(a), "y": float(b)} for a, b in x[thin_points(x[:, 0])]]


def axis(field: str, title: str, low: float, high: float) -> dict[str, Any]:
    """Return a quantitative axis with a little room at both ends."""
    room = 0.04 * (high - low) or 0.5
    return quantity(
        field,
        title,
        scale={"domain": [low - room, high + room], "nice": False, "zero": False},
        axis={"tickCount": 5, "format": "~s" if max(abs(low), abs(high)) >= 1e5 else ",.6~r"},
    )


def panel(
    files: Sequence[Floats], i: int, j: int, names: Sequence[str], side: int, share: float
) -> dict[str, Any]:
    """Return the ellipses of two columns in both files."""
    lines = [outline(f[:, [i, j]], share) for f in files]
    low = np.minimum(*(line.min(axis=0) for line in lines))
    high = np.maximum(*(line.max(axis=0) for line in lines))
    rows = [
        {"file": label, "order": k, "x": float(x), "y": float(y)}
        for label, line in zip(FILES, lines, strict=True)
        for k, (x, y) in enumerate(line)
    ]
    last, first = j == len(names) - 1, i == 0
    where = {
        "x": axis("x", names[i] if last else "", float(low[0]), float(high[0])),
        "y": axis("y", names[j] if first else "", float(low[1]), float(high[1])),
    }
    for channel in where.values():
        channel["title"] = channel["title"] or None
        channel["axis"] |= {"tickCount": 3 if side < 200 else 5, "gridColor": GRID}
    return {
        "width": side,
        "height": side,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            **where,
            "order": {"field": "order", "type": "quantitative"},
            "color": COLOUR,
            "strokeDash": DASH,
        },
    }


def standard(x: Floats) -> Floats:
    """Return the columns with mean 0 and standard deviation 1."""
    sd = x.std(axis=0, ddof=1)
    return np.asarray((x - x.mean(axis=0)) / np.where(sd > 0, sd, 1.0))
