"""The house theme: one font stack, one palette that survives grey printing and colour blindness."""

from __future__ import annotations

from typing import Any

#: Blue, orange, green, purple, red, grey: distinct in hue and in lightness.
PALETTE = ("#1f5a91", "#e08214", "#2a8a57", "#7b4fa3", "#c4373b", "#7f7f7f")
BEFORE, AFTER = "#b0b7bf", PALETTE[0]
FONT = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"

THEME: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "view": {"stroke": None},
    "range": {"category": list(PALETTE)},
    "bar": {"color": AFTER},
    "line": {"color": AFTER, "strokeWidth": 2},
    "point": {"color": AFTER, "filled": True, "size": 60},
    "title": {"anchor": "start", "fontSize": 14, "fontWeight": 600, "color": "#1c2733", "subtitleColor": "#55606b", "subtitleFontSize": 12, "offset": 12},
    "axis": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": 500, "titleColor": "#3a4653", "labelColor": "#3a4653", "gridColor": "#e7eaee", "domainColor": "#9aa5b1", "tickColor": "#9aa5b1", "titlePadding": 8},
    "legend": {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": 500, "orient": "top", "symbolType": "square"},
}
