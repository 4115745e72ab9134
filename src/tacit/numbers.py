"""Numbers for people, and values as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def format_number(value: Any) -> str:
    """Return a number for people: thousands apart, four significant digits, True as yes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "-" if math.isnan(value) else "infinite" if value > 0 else "-infinite"
        if value == int(value) and abs(value) < 1e15:
            return f"{int(value):,}"
        return f"{value:,.4f}" if abs(value) >= 1e-3 else f"{value:.3g}"
    if hasattr(value, "item"):
        return format_number(value.item())
    if isinstance(value, Mapping):
        return ", ".join(f"{k}: {format_number(v)}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(format_number(v) for v in value)
    return str(value)


def as_json_number(value: Any) -> Any:
    """Return a value as JSON can hold it."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Mapping):
        return {str(k): as_json_number(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json_number(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else format_number(value)
    return value
