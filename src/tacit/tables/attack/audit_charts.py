"""Charts of an audit: how wide an attacker's intervals are, by cell or by code."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.plot.chart import Chart
from tacit.plot.families import bars, heading, short_number
from tacit.plot.theme import INK_SOFT, TRACK, WARNING

if TYPE_CHECKING:
    from tacit.tables.attack.audit import AuditResult

#: Codes of a dimension up to which a heat map can be read.
READABLE = 60
#: Bars at most.
BARS = 24
#: Relative widths from here on have one colour.
WIDEST = 2.0
TITLE = "Width of the attacker's intervals"
WORDS = "Interval width as a share of its middle"


def widths_chart(result: AuditResult) -> Chart:
    """Return a heat map for a two-way table that can be read, else bars."""
    if len(result.shape) == 2 and max(len(codes) for _, codes in result.shape) <= READABLE:
        return heat_map(result)
    return code_bars(result) if result.shape else class_bars(result)


def heat_map(result: AuditResult) -> Chart:
    """Return one square a cell: published ones pale, exposed ones framed."""
    from tacit.tables.attack.audit import relative_widths

    (y_name, y_codes), (x_name, x_codes) = result.shape
    rows: list[dict[str, Any]] = []
    spoken = []
    exposed = set(result.exposed)
    for codes, share, _ in relative_widths(result):
        endless = not np.isfinite(share)
        text = "no limit" if endless else f"{share:.0%}"
        rows.append(
            {
                "y": codes[0],
                "x": codes[1],
                "share": WIDEST if endless else min(share, WIDEST),
                "text": "∞" if endless else text,
                "bad": codes in exposed,
            }
        )
        spoken.append(f"{' x '.join(codes)} {text}{', exposed' if codes in exposed else ''}")
    small = len(x_codes) <= 14
    spec = {
        "title": heading(TITLE, f"{WORDS}; pale: published, framed: exposed"),
        "width": {"step": 46 if small else 16},
        "height": {"step": 26 if small else 16},
        "encoding": {
            "x": axis("x", x_name, x_codes),
            "y": axis("y", y_name, y_codes),
        },
        "layer": [
            {
                "data": {"values": [{"x": x, "y": y} for y in y_codes for x in x_codes]},
                "mark": {"type": "rect", "color": TRACK, "stroke": "white", "opacity": 0.5},
            },
            *hidden_layers(rows, small=small),
        ],
    }
    first = "; ".join(spoken[:12]) or "no cell is hidden"
    more = f"; and {len(spoken) - 12} more" if len(spoken) > 12 else ""
    return Chart(
        spec, f"Heat map of interval widths, {y_name} by {x_name}. {WORDS}: {first}{more}."
    )


def hidden_layers(rows: list[dict[str, Any]], *, small: bool) -> list[dict[str, Any]]:
    """Return the layers of the cells that are not known exactly."""
    if not rows:
        return []
    ink = {
        "condition": {"test": f"datum.share > {0.6 * WIDEST}", "value": "white"},
        "value": INK_SOFT,
    }
    colour = {
        "field": "share",
        "type": "quantitative",
        "title": "width",
        "scale": {"domain": [0, WIDEST], "scheme": "blues"},
        "legend": {"format": ".0%", "values": [0, 0.5, 1, 1.5, 2]},
    }
    square: dict[str, Any] = {
        "data": {"values": rows},
        "mark": {"type": "rect", "stroke": "white"},
        "encoding": {"color": colour},
    }
    frame: dict[str, Any] = {
        "data": {"values": [r for r in rows if r["bad"]]},
        "mark": {"type": "rect", "filled": False, "stroke": WARNING, "strokeWidth": 2.5},
    }
    words: dict[str, Any] = {
        "data": {"values": rows},
        "mark": {"type": "text", "fontSize": 10},
        "encoding": {"text": {"field": "text"}, "color": ink},
    }
    return [square, *([frame] if frame["data"]["values"] else []), *([words] if small else [])]


def axis(channel: str, name: str, codes: tuple[str, ...]) -> dict[str, Any]:
    """Return an axis of codes in the table's order."""
    return {
        "field": channel,
        "type": "nominal",
        "sort": list(codes),
        "scale": {"domain": list(codes)},
        "title": name,
        "axis": {"labelAngle": 0 if channel == "y" or len(codes) <= 10 else -45},
    }


def code_bars(result: AuditResult) -> Chart:
    """Return the middle width of the intervals under each code of each dimension."""
    from tacit.tables.attack.audit import relative_widths

    found: dict[tuple[int, str], list[float]] = {}
    for codes, share, _ in relative_widths(result):
        for i, code in enumerate(codes):
            found.setdefault((i, code), []).append(min(share, WIDEST))
    items = [
        (f"{result.shape[i][0]}: {code}", float(np.median(shares)))
        for (i, code), shares in sorted(found.items(), key=lambda item: np.median(item[1]))[:BARS]
    ]
    note = f"{WORDS}, median by code, narrowest first (2 stands for 2 and more)"
    return bars(items or [("no hidden cells", 0.0)], title=TITLE, x="", y="width", subtitle=note)


def class_bars(result: AuditResult) -> Chart:
    """Return how many intervals are how wide."""
    from tacit.tables.attack.audit import relative_widths

    shares = np.array([share for _, share, _ in relative_widths(result)])
    edges = [0.0, 1e-9, 0.1, 0.25, 0.5, 1.0, 2.0, np.inf]
    items = []
    for low, high in itertools.pairwise(edges):
        inside = (shares >= low) & ((shares < high) | (np.isinf(high) & (shares >= low)))
        name = (
            "exact"
            if high <= 1e-9
            else f"{short_number(low if low > 1e-9 else 0)} to "
            + ("no limit" if np.isinf(high) else short_number(high))
        )
        items.append((name, float(inside.sum())))
    return bars(items, title=TITLE, x=WORDS, y="cells")
