"""Risk: how much a release would disclose."""

from __future__ import annotations

from tacit.renamed import find_names

_HOMES = {
    "assumptions_of_kanonymity": "tacit.stats.decision",
    "average_k": "tacit.risk.register.k_map",
    "count_rules": "tacit.stats.decision",
    "linkage_table": "tacit.risk.linkage.reidentification",
    "name_metric": "tacit.stats.local_lattice",
    "name_sensitivity": "tacit.stats.decision",
    "precedes": "tacit.stats.decision",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__ = find_names("risk", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
