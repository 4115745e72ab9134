"""Charts as part of a page: inline SVG, labelled, with nothing that refers outside."""

from __future__ import annotations

import html
import re

from markupsafe import Markup

from tacit.plot.chart import Chart

ROOT = re.compile(r"<svg\b[^>]*>")
SIZE = re.compile(r'\b(width|height)="([\d.]+)"')
IDENTIFIER = re.compile(r'\bid="([^"]+)"')


def inline(chart: Chart, prefix: str) -> Markup:
    """Return a chart as SVG for a page that holds several.

    Identifiers are the prefix and a number, so that no chart uses another's clip paths and none depends on
    how many charts were drawn before; the name spaces, which HTML does not need, are left out; the alternative
    text is the title of the image.
    """
    text = chart.svg_or_note()
    for i, name in enumerate(dict.fromkeys(IDENTIFIER.findall(text))):
        text = text.replace(f'id="{name}"', f'id="{prefix}{i}"').replace(
            f"url(#{name})", f"url(#{prefix}{i})"
        )
    found = ROOT.search(text)
    assert found, "a chart is drawn as SVG"
    width, height = size_of(found.group())
    alt = html.escape(chart.alt, quote=True)
    root = (
        f'<svg class="chart" role="img" aria-label="{alt}" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}"><title>{alt}</title>'
    )
    # Labels of single marks go: the title says it all.
    body = re.sub(r'\s(?:aria-[\w-]+|role)="[^"]*"', "", text[found.end() :])
    # Safe: drawn by our own renderer, which escapes the texts of the chart.
    return Markup(root + body)  # noqa: S704


def size_of(text: str) -> tuple[float, float]:
    """Return the width and height of a drawing, in pixels."""
    found = ROOT.search(text)
    sides = dict(SIZE.findall(found.group())) if found else {}
    return float(sides.get("width", 0)), float(sides.get("height", 0))
