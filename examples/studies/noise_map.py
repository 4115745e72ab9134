"""The R-U map of additive noise as a chart: one curve per task, lines for the cap and for no masking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.plot.chart import Chart
from tacit.plot.parts import heading, layer, one_each, short_number
from tacit.plot.theme import INK_SOFT, WARNING

WIDTH, HEIGHT = 520, 340
DASHES = ([1, 0], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4])


@dataclass(frozen=True)
class Curve:
    """One task's curve, its utility without masking, and a marked point (utility, risk)."""

    label: str
    lambda_squared: Sequence[float]
    utility: Sequence[float]
    risk: Sequence[float]
    unmasked: float
    mark: tuple[float, float] | None = None


def noise_chart(
    curves: Sequence[Curve],
    *,
    x: str,
    y: str,
    cap: float | None = None,
    mark: float | None = None,
    log: bool = True,
    title: str = "",
) -> Chart:
    """Return the chart; multipliers of infinite risk are left out, with a note."""
    rows = [row for curve in curves for row in curve_rows(curve, log=log)]
    dropped = sum(len(c.lambda_squared) for c in curves) - len(rows)
    words = [
        "dashed vertical: no masking",
        "dashed horizontal: cap on risk" if cap else "",
        f"rings: λ² = {mark:g}" if mark is not None else "",
        "λ² = 0 has infinite risk and is not drawn" if dropped else "",
    ]
    axes = axes_of(rows, cap, x, y, log=log)
    names = [c.label for c in curves]
    colour = one_each("task", names)
    colour["legend"] = {"labelLimit": 420, "columns": 2, "symbolType": "stroke", "symbolSize": 200}
    line = layer(
        {"type": "line"},
        rows,
        **axes,
        color=colour,
        strokeDash=one_each("task", names, DASHES),
        order={"field": "l2", "type": "quantitative"},
    )
    spec = {
        "title": heading(title, "; ".join(w for w in words if w)),
        "width": WIDTH,
        "height": HEIGHT,
        "layer": [
            *unmasked_layers(curves, axes, colour),
            *cap_layers(cap, rows, axes),
            line,
            *multiplier_layers(rows, axes),
            *mark_layers(curves, mark, axes, colour),
        ],
    }
    return Chart(spec, describe_noise_map(curves, title, x, y, cap))


def curve_rows(curve: Curve, *, log: bool) -> list[dict[str, Any]]:
    """Return the points of a curve that can be drawn."""
    return [
        {"task": curve.label, "l2": l2, "utility": u, "risk": r}
        for l2, u, r in zip(curve.lambda_squared, curve.utility, curve.risk, strict=True)
        if math.isfinite(r) and math.isfinite(u) and (r > 0 or not log)
    ]


def axes_of(
    rows: Sequence[dict[str, Any]], cap: float | None, x: str, y: str, *, log: bool
) -> dict[str, Any]:
    """Return the axes of utility and risk."""
    risks = [r["risk"] for r in rows] + ([cap] if cap else [])
    scale: dict[str, Any] = {"zero": True}
    axis: dict[str, Any] = {"format": "~g", "tickCount": 20 if log else 5}
    if log and risks:
        low, high = min(risks), max(risks)
        # A single risk still needs an axis of some length.
        low, high = (low / 1.5, high * 1.5) if low == high else (low, high)
        scale = {"type": "log", "domain": [low, high], "nice": False}
        axis["values"] = one_two_five(low, high)
    return {
        "x": {
            "field": "utility",
            "type": "quantitative",
            "title": f"{x} →",
            "scale": {"zero": False, "nice": True},
        },
        "y": {"field": "risk", "type": "quantitative", "title": y, "scale": scale, "axis": axis},
    }


def one_two_five(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten in an interval; the powers alone when it is long."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) <= 5 else (1,)
    found = [float(f"{digit}e{power}") for power in powers for digit in digits]
    return [v for v in found if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]


def unmasked_layers(
    curves: Sequence[Curve], axes: dict[str, Any], colour: Any
) -> list[dict[str, Any]]:
    """Return a line for the utility without masking: in the task's colour, grey where tasks share it."""
    values = [short_number(c.unmasked) for c in curves]
    own = [c for c, v in zip(curves, values, strict=True) if values.count(v) == 1]
    shared = [c for c in curves if c not in own]
    mark = {"type": "rule", "strokeDash": [4, 4]}
    return [
        layer(
            mark | style,
            [{"utility": c.unmasked, "task": c.label} for c in group],
            x=axes["x"],
            **encoding,
        )
        for group, style, encoding in (
            (own, {}, {"color": colour}),
            (shared, {"color": INK_SOFT}, {}),
        )
        if group
    ]


def multiplier_layers(rows: Sequence[dict[str, Any]], axes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return lambda^2 as a scale on the right: all curves have the same risk at the same multiplier."""
    risk = {r["l2"]: r["risk"] for r in rows}
    if not risk:
        return []
    low, high = min(risk), max(risk)
    wanted = one_two_five(low, high) or [low]
    # The nearest drawn multiplier stands in where the round one is none of them.
    near = {v: min(risk, key=lambda l2: abs(math.log(l2 / v))) for v in wanted}
    ticks = [
        {"risk": risk[l2], "text": f"λ² = {v:g}"}
        for v, l2 in near.items()
        if abs(l2 / v - 1) < 0.03
    ]
    return [
        layer(
            {
                "type": "text",
                "align": "left",
                "dx": 8,
                "fontSize": 10,
                "color": INK_SOFT,
                "clip": False,
            },
            ticks,
            x={"value": WIDTH},
            y=axes["y"],
            text={"field": "text"},
        )
    ]


def cap_layers(
    cap: float | None, rows: Sequence[dict[str, Any]], axes: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the line of the largest tolerable risk."""
    if cap is None or not rows:
        return []
    left = min(r["utility"] for r in rows)
    base = {"data": {"values": [{"risk": cap, "utility": left, "text": f"cap {cap:.3g}"}]}}
    return [
        {
            **base,
            "mark": {"type": "rule", "color": WARNING, "strokeDash": [6, 4]},
            "encoding": {"y": axes["y"]},
        },
        {
            **base,
            "mark": {"type": "text", "color": WARNING, "align": "left", "dy": -7},
            "encoding": {**axes, "text": {"field": "text"}},
        },
    ]


def mark_layers(
    curves: Sequence[Curve], mark: float | None, axes: dict[str, Any], colour: Any
) -> list[dict[str, Any]]:
    """Return a ring on every curve at the marked multiplier, with its utility."""
    rings = [
        {"task": c.label, "utility": c.mark[0], "risk": c.mark[1], "text": short_number(c.mark[0])}
        for c in curves
        if c.mark is not None and math.isfinite(c.mark[1])
    ]
    if not rings or mark is None:
        return []
    base = {"data": {"values": rings}}
    return [
        {
            **base,
            "mark": {"type": "point", "filled": False, "size": 120, "strokeWidth": 2, "opacity": 1},
            "encoding": {**axes, "color": colour},
        },
        {
            **base,
            "mark": {"type": "text", "align": "left", "dx": 9, "dy": 12, "fontWeight": 600},
            "encoding": {**axes, "color": colour, "text": {"field": "text"}},
        },
    ]


def describe_noise_map(
    curves: Sequence[Curve], title: str, x: str, y: str, cap: float | None
) -> str:
    """Return the chart in words."""
    parts = [
        f"{c.label}: utility from {short_number(max(c.utility))} at λ² = {min(c.lambda_squared):g} down to "
        f"{short_number(min(c.utility))} at {max(c.lambda_squared):g}, {short_number(c.unmasked)} without masking"
        for c in curves
    ]
    limit = f" The cap on risk is {short_number(cap)}." if cap else ""
    return f"{title}. Horizontal: {x}; vertical: {y}. {'; '.join(parts)}.{limit}"
