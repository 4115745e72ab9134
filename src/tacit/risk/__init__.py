"""Risk: how much a release would disclose."""

from __future__ import annotations

from tacit.public import publish

_HOMES = {
    "assumptions_of_kanonymity": "tacit.records.decision.sensitivity",
    "average_k": "tacit.records.register.k_map",
    "count_rules": "tacit.records.decision.sensitivity",
    "linkage_table": "tacit.records.linkage.reidentification",
    "name_metric": "tacit.records.samples.local_lattice",
    "name_sensitivity": "tacit.records.decision.sensitivity",
    "precedes": "tacit.records.decision.sensitivity",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__, __dir__ = publish("risk", _HOMES)
