"""Surface: a method's risk and utility over two of its parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.alternatives.rumap.points import Point
from tacit.arrays import Floats

if TYPE_CHECKING:
    from tacit.alternatives.rumap.result import RUMapResult
    from tacit.plot.chart import Chart


@dataclass(frozen=True)
class Surface:
    """Risk and utility of a method over two parameters; rows are ``y``, columns are ``x``."""

    method: str
    x: str
    y: str
    x_values: tuple[Any, ...]
    y_values: tuple[Any, ...]
    risk: Floats
    utility: Floats
    max_risk: float | None = None
    risk_label: str = "risk"
    utility_label: str = "utility"

    def plot(self) -> Chart:
        """Return two heat maps side by side, with the cells over the cap crossed out."""
        from tacit.plot.maps.ru_surface import surface_chart

        return surface_chart(self)


def surface_of(points: Sequence[Point], x: str, y: str, of: RUMapResult) -> Surface:
    """Lay the points of a method out on a grid of two parameters."""
    x_values = tuple(dict.fromkeys(format_axis_value(p.parameters.get(x)) for p in points))
    y_values = tuple(dict.fromkeys(format_axis_value(p.parameters.get(y)) for p in points))
    risk = np.full((len(y_values), len(x_values)), math.nan)
    utility = risk.copy()
    sign = 1 if of.higher_utility_is_better else -1
    for p in points:
        at = (
            y_values.index(format_axis_value(p.parameters.get(y))),
            x_values.index(format_axis_value(p.parameters.get(x))),
        )
        if p.has_result and (math.isnan(utility[at]) or sign * p.utility > sign * utility[at]):
            risk[at], utility[at] = p.risk, p.utility
    return Surface(
        points[0].method, x, y, x_values, y_values, risk, utility,
        of.max_risk, of.risk_label, of.utility_label,
    )  # fmt: skip


def format_axis_value(value: Any) -> Any:
    """Return a parameter's value as an axis can hold it."""
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
