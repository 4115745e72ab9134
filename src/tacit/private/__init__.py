"""Computing on data that may not meet: retrieval, union and regression across owners.

Every protocol is written as **roles** (:mod:`tacit.private.parties.roles`): what one party sends and waits for, in order.
The same roles run together in one process, for study, and each in its own process over mutual TLS.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.private import regression, retrieval, union

__all__ = ["regression", "retrieval", "union"]


def __getattr__(name: str) -> Any:
    """Import a part when it is asked for."""
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
