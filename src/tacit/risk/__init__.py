"""Risk: how much a release would disclose."""

from __future__ import annotations

from tacit.renamed import find_names

_HOMES = {
    "average_k": "tacit.risk.register.k_map",
    "linkage_table": "tacit.risk.linkage.reidentification",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__ = find_names("risk", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
