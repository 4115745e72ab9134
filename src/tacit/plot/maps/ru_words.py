"""Words on and about a risk-utility map: names of curves and settings, and the map told aloud."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.plot.maps.ru_scales import (
    Scales,
    ShownMap,
    by_method,
    is_chosen,
    is_drawable,
    trace_frontier_corners,
)
from tacit.plot.parts import SPOKEN, layer, short_number
from tacit.plot.place import Canvas, Placed, Spot, text_width
from tacit.plot.theme import INK, INK_SOFT

if TYPE_CHECKING:
    from tacit.plot.maps.ru_scales import Place

FRONTIER_INK = "#7b8793"


def label_layers(shown: ShownMap) -> list[dict[str, Any]]:
    """Return the names of curves and settings, none on top of another."""
    canvas = mark_occupied_area(shown)
    s = shown.scales
    layers = special_labels(shown, canvas)
    for method, points in by_method(shown.points).items():
        spots = name_spots(shown.lines.get(method) or points, s)
        found = canvas.place(method, spots, size=14.5, gaps=(10, 16, 24, 34, 46))
        if found is None:
            shown.unnamed.append(method)
        else:
            style = {"fontWeight": "bold", "fontSize": 12.5}
            colour = shown.styles[method][0]
            layers += draw_single_label(s, spots[found[0]], found[1], colour, **style)
    first = {(p.method, p.label) for p in shown.frontier}
    for p in sorted(shown.marked, key=lambda p: (p.method, p.label) not in first):
        if p.label and not is_chosen(shown, p):
            found = canvas.place(p.label, [s.at(p)], clutter=5)
            if found:
                layers += draw_single_label(s, s.at(p), found[1], INK_SOFT, fontSize=10)
    return layers


def mark_occupied_area(shown: ShownMap) -> Canvas:
    """Return the plot area with markers, lines and limits on it."""
    s = shown.scales
    canvas = Canvas(s.width, s.height)
    for p in shown.marked:
        canvas.mark(s.at(p))
    for line in shown.lines.values():
        canvas.line([s.at(p) for p in line])
    canvas.line([(s.x(u), s.y(r)) for u, r in trace_frontier_corners(shown.frontier)])
    for p in shown.points:
        for limits, axis in ((p.utility_interval, "x"), (p.risk_interval, "y")):
            if limits and all(map(math.isfinite, limits)) and (min(limits) > 0 or not s.log_risk):
                x, y = s.at(p)
                ends = [(s.x(v), y) if axis == "x" else (x, s.y(v)) for v in limits]
                canvas.line(ends)
    if shown.cap is not None and s.risk[0] <= shown.cap <= s.risk[1]:
        y, width = s.y(shown.cap), text_width(cap_words(shown.cap), 11)
        end = cap_spot(shown)[0]
        canvas.hard.append((end - width - 4, y - 15, end + 4, y))
        canvas.line([(0, y), (s.width, y)], hard=True)
    if shown.floor is not None:
        x, width = s.x(shown.floor), text_width(floor_words(shown), 11)
        canvas.hard.append((x, 2, x + 10 + width, 18))
        canvas.line([(x, 0), (x, s.height)], hard=True)
    if shown.reference is not None and math.isfinite(shown.reference.utility):
        x = s.x(shown.reference.utility)
        canvas.line([(x, 0), (x, s.height)], hard=True)
    return canvas


def special_labels(shown: ShownMap, canvas: Canvas) -> list[dict[str, Any]]:
    """Return the words at the reference and at the chosen point."""
    s = shown.scales
    layers: list[dict[str, Any]] = []
    ref = shown.reference
    if ref is not None and math.isfinite(ref.utility):
        inside = is_drawable(ref, log_risk=s.log_risk)
        at = s.at(ref) if inside else (s.x(ref.utility), 10.0)
        if inside:
            canvas.mark(at, 7)
        text = "no masking" if inside or not math.isinf(ref.risk) else "no masking (risk infinite)"
        found = canvas.place(text, [at], size=11, gaps=(9, 14, 20, 27), own=0)
        if found:
            layers += draw_single_label(s, at, found[1], INK, fontStyle="italic", fontSize=11)
    if shown.chosen is not None and is_drawable(shown.chosen, log_risk=s.log_risk):
        at = s.at(shown.chosen)
        canvas.mark(at, 9)
        text = f"chosen: {shown.chosen.label}" if shown.chosen.label else "chosen"
        found = canvas.place(text, [at], size=11.5, gaps=(12, 18, 26), own=9)
        if found:
            layers += draw_single_label(s, at, found[1], INK, fontWeight="bold", fontSize=11)
    if len(shown.frontier) > 1:
        corners = [(s.x(u), s.y(r)) for u, r in trace_frontier_corners(shown.frontier)]
        spots = [((a + c) / 2, (b + d) / 2) for (a, b), (c, d) in itertools.pairwise(corners)]
        spots.sort(key=lambda at: abs(at[0] - s.width / 2))
        found = canvas.place("frontier", spots, size=10.5, gaps=(10, 15), own=4)
        if found:
            layers += draw_single_label(s, spots[found[0]], found[1], FRONTIER_INK, fontSize=10.5)
    return layers


def name_spots(line: Sequence[Place], scales: Scales) -> list[Spot]:
    """Return where the name of a curve may stand: its ends first, then along it."""
    spots = [scales.at(p) for p in line]
    ends = [spots[0], spots[-1]]
    # The end of higher utility is where the eye comes from.
    ends.sort(key=lambda s: -s[0])
    return [*ends, *spots[1:-1]]


def draw_single_label(
    scales: Scales, at: Spot, placed: Placed, colour: str, **mark: Any
) -> list[dict[str, Any]]:
    """Return one label as layers: a white halo, which keeps it legible on lines, and the text."""
    place = {"dx": placed.dx, "dy": placed.dy, "align": placed.align, "baseline": "middle", **mark}
    halo = {"stroke": "white", "strokeWidth": 3, "strokeOpacity": 0.85, "strokeJoin": "round"}
    return [
        draw_text(scales, at, placed.text, "white", **place, **halo),
        draw_text(scales, at, placed.text, colour, **place),
    ]


def draw_text(scales: Scales, at: Spot, text: str, colour: str, **mark: Any) -> dict[str, Any]:
    """Return a text at a place; it stays with the place when the reader zooms."""
    utility, risk = scales.back(at)
    plain = {"type": "text", "align": "left", "fontSize": 11, "clip": True, "tooltip": None}
    return layer(
        {**plain, "color": colour, **mark},
        [{"text": text, "utility": utility, "risk": risk}],
        text={"field": "text"},
    )


def cap_spot(shown: ShownMap) -> Spot:
    """Return where the name of the cap ends: at the right, where high utility at low risk is rare."""
    assert shown.cap is not None
    s, ref = shown.scales, shown.reference
    end = s.width - 6.0
    if ref is not None and math.isfinite(ref.utility) and s.x(ref.utility) > s.width / 2:
        end = min(end, s.x(ref.utility) - 8)
    return end, s.y(shown.cap)


def cap_words(cap: float) -> str:
    """Return the name of the cap."""
    return f"largest risk allowed {short_number(cap)}"


def floor_words(shown: ShownMap) -> str:
    """Return the name of the floor."""
    assert shown.floor is not None
    what = "largest distortion" if shown.scales.reverse else "least utility"
    return f"{what} allowed {short_number(shown.floor)}"


def missing_words(points: Sequence[Place], drawn: Sequence[Place], *, log_risk: bool) -> str:
    """Say how many points have no place on the axes."""
    n = len(points) - len(drawn)
    if not n:
        return ""
    odd = "without a result or with infinite" + (" or zero" if log_risk else "")
    return f"{n} of {len(points)} candidates {odd} risk {'is' if n == 1 else 'are'} not drawn"


def alt_text(shown: ShownMap, title: str, risk_label: str, utility_label: str) -> str:
    """Return the map in words."""
    parts = [f"{title}: {risk_label} (vertical) against {utility_label} (horizontal)."]
    for method, points in by_method(shown.points).items():
        first, last = points[0], points[-1]
        parts.append(
            f"{method}, {len(points)} setting{'s' if len(points) > 1 else ''}, from {describe_point(first)}"
            + (f" to {describe_point(last)}." if len(points) > 1 else ".")
        )
    if shown.cap is not None:
        parts.append(f"Largest risk allowed: {short_number(shown.cap)}.")
    if shown.floor is not None:
        parts.append(f"{floor_words(shown).capitalize()}.")
    if shown.frontier:
        listed = "; ".join(f"{p.method} {p.label}".strip() for p in shown.frontier[:SPOKEN])
        parts.append(f"On the frontier: {listed}.")
    if shown.chosen is not None:
        parts.append(f"Chosen: {shown.chosen.method} {describe_point(shown.chosen)}.")
    if shown.reference is not None:
        parts.append(f"Without masking: utility {short_number(shown.reference.utility)}.")
    return " ".join(parts)


def describe_point(point: Place) -> str:
    """Return a setting with its coordinates."""
    where = f"risk {short_number(point.risk)}, utility {short_number(point.utility)}"
    return f"{point.label} ({where})" if point.label else where
