"""Points of a risk-utility map: one setting of one method, and where it came to lie; as rows of a table too."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from tacit.result import as_json_number, format_number

Interval = tuple[float, float]


@dataclass(frozen=True)
class Point:
    """One candidate on the map.

    Attributes
    ----------
    method
        The curve that the point belongs to.
    label
        The setting in words, short enough to stand beside the point: ``0.1`` or ``k = 5``.
    parameters
        What varies along the curve, by name.
    risk, utility
        The coordinates; means over replicates. Risk may be infinite, and both are NaN where there is
        no result.
    risk_interval, utility_interval
        Confidence limits over replicates, where there are several.
    replicates
        How many runs the coordinates are the mean of.
    seconds
        Time of all runs together.
    reason
        Why there is no result; empty where there is one.
    detail
        Further numbers, such as each of several measures by name.
    """

    method: str
    label: str
    parameters: Mapping[str, Any]
    risk: float
    utility: float
    risk_interval: Interval | None = None
    utility_interval: Interval | None = None
    replicates: int = 1
    seconds: float = 0.0
    reason: str = ""
    detail: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("parameters", "detail"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @property
    def name(self) -> str:
        """Return method and setting: ``noise 0.1``."""
        return f"{self.method} {self.label}".strip()

    @property
    def has_result(self) -> bool:
        """Return True when the point has a place on the map."""
        return not (self.reason or math.isnan(self.risk) or math.isnan(self.utility))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "parameters": dict(self.parameters), "detail": dict(self.detail)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


def list_varying_parameters(points: Sequence[Point]) -> tuple[str, ...]:
    """Return the parameters that differ between the points of a method, in the order declared."""
    names = dict.fromkeys(name for point in points for name in point.parameters)
    return tuple(
        name for name in names if len({repr(point.parameters.get(name)) for point in points}) > 1
    )


# -- as a table ----------------------------------------------------------------------------------------


def row_of(point: Point, status: str) -> dict[str, Any]:
    """Return a point as a row."""
    low_r, high_r = point.risk_interval or (None, None)
    low_u, high_u = point.utility_interval or (None, None)
    return {
        "method": point.method,
        "label": point.label,
        "parameters": json.dumps(
            as_json_number(dict(point.parameters)), ensure_ascii=False, default=str
        ),
        "risk": point.risk if point.has_result else None,
        "risk_low": low_r,
        "risk_high": high_r,
        "utility": point.utility if point.has_result else None,
        "utility_low": low_u,
        "utility_high": high_u,
        "replicates": point.replicates,
        "seconds": round(point.seconds, 4),
        "status": status,
        "detail": dict(point.detail),
        "reason": point.reason,
    }


def table_of(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows as an Arrow table with stable types."""
    names = list(rows[0]) if rows else ["method", "label", "risk", "utility", "status"]
    types = {
        **dict.fromkeys(
            ["method", "label", "setting", "parameters", "status", "reason"], pa.string()
        ),
        **dict.fromkeys(["rank", "replicates", "records"], pa.int64()),
    }
    return pa.table(
        {n: pa.array([r.get(n) for r in rows], types.get(n, pa.float64())) for n in names}
    )


def with_interval(value: float, interval: Interval | None) -> str:
    """Return a number with its half-width: ``0.1234 ± 0.0021``."""
    text = format_number(float(value))
    if interval is None:
        return text
    half = (interval[1] - interval[0]) / 2
    return f"{text} ± {format_number(float(half))}" if math.isfinite(half) else text
