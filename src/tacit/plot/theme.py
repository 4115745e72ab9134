"""The house theme: one font stack, one palette that survives grey printing and colour blindness."""

from __future__ import annotations

from typing import Any

#: Blue, orange, green, purple, red, grey: distinct in hue and in lightness.
PALETTE = ("#1f5a91", "#e08214", "#2a8a57", "#7b4fa3", "#c4373b", "#7f7f7f", "#8c5a2b", "#1b9aaa")
BEFORE, AFTER = "#a9b4c0", PALETTE[0]
#: What falls short of a requirement, as a bar and as the ground behind bars.
WARNING, WARNING_GROUND = "#b3332f", "#fbeceb"
#: What is empty: the part of a track that is not filled.
TRACK = "#e3e8ed"
INK, INK_SOFT, GRID = "#1c2733", "#4a5662", "#e7eaee"
FONT = "Inter, 'Helvetica Neue', Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

THEME: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "padding": {"left": 1, "top": 4, "right": 12, "bottom": 4},
    "view": {"stroke": None},
    "range": {"category": list(PALETTE)},
    "bar": {"color": AFTER},
    "line": {"color": AFTER, "strokeWidth": 2},
    "point": {"color": AFTER, "filled": True, "size": 60},
    "rule": {"color": INK_SOFT},
    "text": {"color": INK, "fontSize": 11},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "fontSize": 14,
        "fontWeight": 600,
        "color": INK,
        "subtitleColor": INK_SOFT,
        "subtitleFontSize": 12,
        "subtitlePadding": 4,
        "offset": 14,
    },
    "axis": {
        "labelFontSize": 11,
        "labelColor": INK,
        "labelLimit": 260,
        "titleFontSize": 11,
        "titleFontWeight": 400,
        "titleColor": INK_SOFT,
        "titlePadding": 8,
        "gridColor": GRID,
        "domainColor": "#9aa5b1",
        "tickColor": "#9aa5b1",
        "tickSize": 4,
    },
    "axisBand": {"grid": False, "ticks": False, "labelPadding": 6},
    "axisQuantitative": {"domain": False, "ticks": False, "tickCount": 5},
    "legend": {
        "labelFontSize": 11,
        "labelColor": INK,
        "titleFontSize": 11,
        "titleFontWeight": 400,
        "orient": "top",
        "direction": "horizontal",
        "symbolType": "square",
        "offset": 6,
    },
}

#: What each light colour becomes on a dark ground: ink and grid change places, hues grow lighter.
DARK: dict[str, str] = {
    "white": "#161c23",
    "#ffffff": "#161c23",
    INK: "#e4eaf0",
    INK_SOFT: "#aab6c2",
    GRID: "#2b3642",
    TRACK: "#33404d",
    BEFORE: "#6d7b89",
    WARNING: "#f28b82",
    WARNING_GROUND: "#3a2526",
    "#9aa5b1": "#5f6d7a",
    "#b9c2cb": "#4a5763",
    "#f1f3f5": "#232c35",
    "#f4f5f7": "#1f2830",
    "#f7f9fb": "#1b232b",
    "#7b8793": "#93a0ad",
    "#8fa6bd": "#6b8299",
    "#3a4653": "#c3ced9",
    **dict(
        zip(
            PALETTE,
            (
                "#62a5e3",
                "#f0a04b",
                "#4fc088",
                "#b790dc",
                "#f0807f",
                "#a6a6a6",
                "#cb9766",
                "#42c3d3",
            ),
            strict=True,
        )
    ),
}
