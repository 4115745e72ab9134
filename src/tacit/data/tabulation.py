"""From microdata to a table, on the engine: all sub-totals and the largest contributors."""

from __future__ import annotations

from typing import Any

from tacit.data.microdata import Microdata
from tacit.data.table import Table


def tabulate(data: Microdata, dimensions: Any, value: str | None = None, **options: Any) -> Table:
    """Tabulate records."""
    raise NotImplementedError
