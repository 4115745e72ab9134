"""Descriptions of columns as plain data, for files that can carry a codebook."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any

from tacit.data.roles import Column


def to_json(columns: Mapping[str, Column]) -> str | None:
    """Return what is known about columns as JSON, or None when nothing is."""
    described = {
        name: {
            "label": c.label,
            "labels": [[as_json_value(code), text] for code, text in c.labels.items()],
            "missing": [as_json_value(code) for code in c.missing],
            "format": {key: as_json_value(value) for key, value in c.format.items()},
        }
        for name, c in columns.items()
        if c.label or c.labels or c.missing or c.format
    }
    return json.dumps(described) if described else None


def from_json(text: str | bytes) -> dict[str, Column]:
    """Return columns from JSON; a description that is not ours is left aside."""
    try:
        described = json.loads(text)
        return {
            name: Column(
                name,
                label=d.get("label", ""),
                labels=dict(d.get("labels", ())),
                missing=tuple(d.get("missing", ())),
                format=d.get("format", {}),
            )
            for name, d in described.items()
        }
    except (ValueError, TypeError, AttributeError):
        return {}


def as_json_value(value: Any) -> Any:
    """Return a value as JSON holds it; dates become ISO text."""
    if isinstance(value, Mapping):
        return {str(k): as_json_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [as_json_value(v) for v in value]
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value
