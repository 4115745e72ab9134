"""Charts as reports need them: without their title, narrow for a telephone, readable in the dark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from tacit.plot.chart import Chart
from tacit.plot.svg import inline, size_of
from tacit.plot.theme import DARK, THEME
from tacit.report.document import DataTable, Figure, Paragraph, Section
from tacit.result import format_number

#: A drawing wider than the first is drawn again to fit the second, in pixels.
WIDE, NARROW = 420, 352
#: The inner part of a chart is never drawn narrower than this.
LEAST = 150
#: The plot area of a map on a narrow screen: words must find their place in it.
MAP_SIZE = (290, 320)
#: Drawings whose colours follow the reader's.
SHADED = "figure:not(.paper) svg"
SPARE: dict[str, Any] = {
    "axis": {**THEME["axis"], "labelLimit": 104},
    "legend": {**THEME["legend"], "columns": 2, "labelLimit": 120},
}


@dataclass(frozen=True)
class Captioned:
    """A chart with its title taken out of the drawing, to be set as text."""

    chart: Chart
    title: str
    subtitle: str


def without_title(chart: Chart) -> Captioned:
    """Take the title out of the drawing: text wraps, is searched, and follows the reader's colours."""
    spec = {k: v for k, v in chart.spec.items() if k != "title"}
    given = chart.spec.get("title", "")
    told = given if isinstance(given, Mapping) else {"text": given}
    return Captioned(
        Chart(spec, chart.alt), line(told.get("text", "")), line(told.get("subtitle", ""))
    )


def line(text: Any) -> str:
    """Return a title of one or several lines as one."""
    return " ".join(text) if isinstance(text, list | tuple) else str(text or "")


@dataclass
class Drawing:
    """Draws charts into one page, each with identifiers of its own."""

    drawn: int = 0

    def __call__(self, figure: Figure) -> dict[str, Any]:
        """Return what a page needs of a figure: drawings by width, title, and how to treat the dark."""
        found = without_title(figure.chart)
        wide = self.draw(found.chart)
        if figure.narrow is not None:
            narrow: Chart | None = without_title(figure.narrow).chart
        else:
            narrow = None if figure.small else narrow_chart(found.chart, size_of(wide)[0])
        return {
            "title": found.title,
            "subtitle": found.subtitle,
            "wide": wide,
            "narrow": None if narrow is None else self.draw(narrow),
            "paper": needs_paper(found.chart.spec),
        }

    def draw(self, chart: Chart) -> Any:
        """Return one drawing as inline SVG."""
        self.drawn += 1
        return inline(chart, f"c{self.drawn}-")


def narrow_chart(chart: Chart, drawn: float) -> Chart | None:
    """Return the chart for a narrow screen; None when it fits anyway or has no width of its own."""
    width = chart.spec.get("width")
    if drawn <= WIDE or not isinstance(width, int | float):
        return None
    inner = max(LEAST, width - (drawn - NARROW))
    spec = relax_labels({**chart.spec, "width": inner})
    return Chart({**spec, "config": {**THEME, **chart.spec.get("config", {}), **SPARE}}, chart.alt)


def relax_labels(spec: Any) -> Any:
    """Return a chart's parts with slanted names below columns, and no numbers above them."""
    if isinstance(spec, list):
        return [relax_labels(part) for part in spec]
    if not isinstance(spec, Mapping):
        return spec
    made = {k: relax_labels(v) for k, v in spec.items() if k != "data"}
    if "data" in spec:
        made["data"] = spec["data"]
    if "layer" in made and stands_on_names(spec.get("encoding", {}).get("x", {})):
        made["layer"] = [part for part in made["layer"] if mark_of(part) != "text"]
    across = made.get("x")
    if stands_on_names(across):
        axis = across.get("axis")
        if axis is not None or "axis" not in across:
            made["x"] = {**across, "axis": {**(axis or {}), "labelAngle": -50}}
    return made


def stands_on_names(across: Any) -> TypeGuard[Mapping[str, Any]]:
    """Return True when columns stand on names."""
    return isinstance(across, Mapping) and across.get("type") in ("nominal", "ordinal")


def mark_of(spec: Mapping[str, Any]) -> str:
    """Return the type of a layer's mark."""
    mark = spec.get("mark", "")
    return str(mark.get("type", "")) if isinstance(mark, Mapping) else str(mark)


def needs_paper(spec: Any) -> bool:
    """Return True for a chart of shaded cells: its words were chosen for light cells, so it keeps white paper."""
    if isinstance(spec, Mapping):
        return mark_of(spec) == "rect" or any(
            needs_paper(v) for k, v in spec.items() if k not in ("data", "config")
        )
    return isinstance(spec, list) and any(needs_paper(part) for part in spec)


def dark_rules() -> Iterator[str]:
    """Yield the style rules that give drawings their colours on a dark ground."""
    for light, dark in DARK.items():
        yield f'{SHADED} [fill="{light}"]{{fill:{dark}}}{SHADED} [stroke="{light}"]{{stroke:{dark}}}\n'


def embed_chart(spec: Mapping[str, Any]) -> str:
    """Return a chart as JSON for a script element: nothing in it can end the element."""
    return json.dumps(spec).replace("<", "\\u003c").replace("&", "\\u0026")


def plots_section(plots: Sequence[Any]) -> Section | None:
    """Return the protected plots of a release, for any audience: they hold protected values alone."""
    parts = []
    for plot in plots:
        numbers = [(name, format_number(v)) for name, v in plot.labelled().items()]
        table = DataTable.of(["number", "value"], numbers, "Noise and privacy of this plot")
        told = (Figure(plot.plot()), Paragraph(plot.explanation), table)
        parts.append(Section(plot.title, told))
    return Section("Protected plots", tuple(parts), "plots") if parts else None
