"""tacit: statistical disclosure control.

A **plan** of protection steps is applied to data; **risk** and **utility** are measured before and
after; the chosen plan becomes a **release** with a report, a ledger and a statement.

Names are imported when first used, so that ``import tacit`` is light.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from tacit.renamed import MovedModules, PublicModules

__version__ = "0.2.0"

_HOMES = {
    "read": "tacit.io.read",
    "read_texts": "tacit.io.corpora",
    "write_texts": "tacit.io.corpora.writing",
    "Microdata": "tacit.data.microdata",
    "Hierarchy": "tacit.data.hierarchy",
    "Dimension": "tacit.data.cells.dimension",
    "Table": "tacit.data.table",
    "Status": "tacit.data.cells.status",
    "Plan": "tacit.plan",
    "Release": "tacit.release.release",
    "RUMap": "tacit.alternatives.rumap",
    "Tiers": "tacit.alternatives.tiers",
    "UserGroup": "tacit.alternatives.tiers",
    "Corpus": "tacit.data.corpus",
    "Document": "tacit.data.corpus",
    "Span": "tacit.data.corpus",
    "verify": "tacit.release.verification",
    "compare": "tacit.alternatives.comparison.compare",
    "release_plots": "tacit.release.plots",
    "recommend": "tacit.alternatives.recommendation",
    "profile": "tacit.data.profiling.profile",
    "starting_plan": "tacit.data.profiling.profile",
    "preset_plan": "tacit.data.profiling.presets",
    "preset_notes": "tacit.data.profiling.presets",
    "get_engine": "tacit.engine",
    "Event": "tacit.events",
    "register": "tacit.registry",
    "show_values": "tacit.reveal",
    "Method": "tacit.spec",
    "Measure": "tacit.spec",
    "Result": "tacit.result",
    "SdcError": "tacit.errors",
    "SdcWarning": "tacit.errors",
}
_MODULES = {
    "census": "tacit.census",
    "channels": "tacit.records.channels",
    "errors": "tacit.errors",
    "estimate": "tacit.stats.correction",
    "examples": "tacit.examples",
    "framework": "tacit.tables.compare",
    "governance": "tacit.governance",
    "graphics": "tacit.graphics",
    "hierarchy": "tacit.hierarchy",
    "linkage": "tacit.records.linkage",
    "microaggregation": "tacit.records.microaggregation.grouping",
    "pram": "tacit.records.pram",
    "private": "tacit.private",
    "protect": "tacit.protect",
    "registry": "tacit.registry",
    "risk": "tacit.risk",
    "rumap": "tacit.alternatives.rumap",
    "series": "tacit.series",
    "stats": "tacit.stats",
    "tables": "tacit.tables",
    "text": "tacit.text",
    "utility": "tacit.utility",
}

__all__ = [*_HOMES, *_MODULES]  # noqa: PLE0604 - keys are strings


PublicModules.homes.update({f"tacit.{name}": home for name, home in _MODULES.items()})
if MovedModules not in sys.meta_path:
    sys.meta_path.insert(0, PublicModules)
    sys.meta_path.append(MovedModules)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name[:1].isupper():
        from tacit.registry import lookup_class

        found = lookup_class(name)
        if found is not None:
            return found
    from tacit.renamed import OLD_NAMES

    raise AttributeError(OLD_NAMES.get(name, f"module 'tacit' has no attribute {name!r}"))


def __dir__() -> list[str]:
    from tacit.registry import class_names

    return sorted([*__all__, *class_names()])
