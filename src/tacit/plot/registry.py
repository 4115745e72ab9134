"""Charts by name: those of a result itself, and those that packages add for the measures they choose.

A chart is a function from a Result to a Chart, under ``@chart_for(kind, ...)``, and has the function's name. Packages
name the module in the entry-point group ``tacit.charts``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from typing import Any

from tacit.errors import InputError, near_match
from tacit.plot.chart import Chart
from tacit.registry import lookup

Drawer = Callable[[Any], Chart]

#: Kind of measure to name of chart to the function that draws it.
_added: dict[str, dict[str, Drawer]] = {}


def chart_for(*kinds: str) -> Callable[[Drawer], Drawer]:
    """Add a chart to the results of measures of some kinds."""

    def add(draw: Drawer) -> Drawer:
        for kind in kinds:
            if _added.setdefault(kind, {}).setdefault(draw.__name__, draw) is not draw:
                raise InputError(f"{kind!r} has another chart called {draw.__name__!r} already")
        return draw

    return add


def added_charts(result: Any) -> dict[str, Chart]:
    """Return the charts that packages add to a result, by name."""
    load_third_parties()
    return {name: draw(result) for name, draw in _added.get(result.kind, {}).items()}


def named_charts(result: Any, own: Iterable[Chart]) -> dict[str, Chart]:
    """Return every chart of a result: its own are called chart, chart_2 and so on, the default first."""
    names = (f"chart_{i}" if i > 1 else "chart" for i in range(1, 1000))
    return {**dict(zip(names, own, strict=False)), **added_charts(result)}


def pick_chart(charts: dict[str, Chart], name: str) -> Chart:
    """Return the chart of that name, or say which there are."""
    found = name.replace("-", "_")
    if found not in charts:
        hint = near_match(found, charts)
        raise InputError(f"no chart {name!r}; there is {', '.join(charts)}. {hint}".strip())
    return charts[found]


@functools.cache
def load_third_parties() -> None:
    """Import every module of the entry-point group ``tacit.charts``, once."""
    for entry in entry_points(group="tacit.charts"):
        entry.load()
    for kind in _added:
        lookup(kind)  # a misspelt kind is said, and not a chart that is never seen
