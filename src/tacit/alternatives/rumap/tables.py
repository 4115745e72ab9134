"""A map as a table: rows, Arrow, and numbers for readers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tacit.alternatives.rumap.points import Point
from tacit.result import as_json_number, format_number


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
    texts = {"method", "label", "parameters", "status", "reason"}
    return pa.table(
        {
            n: pa.array(
                [r.get(n) for r in rows],
                pa.string() if n in texts else pa.int64() if n == "replicates" else pa.float64(),
            )
            for n in names
        }
    )


def with_interval(value: float, interval: tuple[float, float] | None) -> str:
    """Return a number with its half-width: ``0.1234 ± 0.0021``."""
    text = format_number(float(value))
    if interval is None:
        return text
    half = (interval[1] - interval[0]) / 2
    return f"{text} ± {format_number(float(half))}" if math.isfinite(half) else text
