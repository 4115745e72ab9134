"""Tables: reading, building, judging, protecting, attacking and writing them.

The methods themselves (``PPercent``, ``SuppressExact``, ``ControlledRounding``, ``Audit``, ...) are
found at the top of the package, as ``tacit.PPercent``; here are the functions around them.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "link": "tacit.data.linked",
    "split": "tacit.data.linked",
    "tabulate": "tacit.data.tabulation",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'tacit.tables' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
