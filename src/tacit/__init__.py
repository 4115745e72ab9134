"""tacit: statistical disclosure control.

A **plan** of protection steps is applied to data; **risk** and **utility** are measured before and
after; the chosen plan becomes a **release** with a report, a ledger and a statement.

Names are imported when first used, so that ``import tacit`` is light.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "read": "tacit.data.read",
    "Microdata": "tacit.data.microdata",
    "Hierarchy": "tacit.data.hierarchy",
    "Dimension": "tacit.data.dimension",
    "Table": "tacit.data.table",
    "Status": "tacit.data.status",
    "Plan": "tacit.plan",
    "Release": "tacit.release",
    "RUMap": "tacit.rumap",
    "Tiers": "tacit.tiers",
    "UserGroup": "tacit.tiers",
    "verify": "tacit.release",
    "compare": "tacit.utility.comparison",
    "compare_masking": "tacit.utility.masking_comparison",
    "compare_tables": "tacit.framework",
    "AdditiveNoiseMap": "tacit.rumap.additive_noise",
    "profile": "tacit.data.profile",
    "get_engine": "tacit.engine",
    "register": "tacit.registry",
    "Method": "tacit.spec",
    "Measure": "tacit.spec",
    "TableMethod": "tacit.spec",
    "TableMeasure": "tacit.spec",
    "Result": "tacit.result",
    "SdcError": "tacit.errors",
    "SdcWarning": "tacit.errors",
}
_MODULES = (
    "channels",
    "errors",
    "estimate",
    "framework",
    "governance",
    "hierarchy",
    "linkage",
    "microaggregation",
    "pram",
    "registry",
    "rumap",
    "series",
    "stats",
    "tables",
)

__all__ = [*_HOMES, *_MODULES]  # noqa: PLE0604 - keys are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name == "examples":
        return importlib.import_module("tacit.data.examples")
    if name in _MODULES:
        return importlib.import_module(f"tacit.{name}")
    if name[:1].isupper():
        from tacit.registry import lookup_class

        found = lookup_class(name)
        if found is not None:
            return found
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    from tacit.registry import class_names

    return sorted([*__all__, *class_names()])
