"""Protection: methods that change microdata."""

from __future__ import annotations

from tacit.renamed import find_names

_HOMES = {
    "Session": "tacit.records.suppression.mu_argus",
    "k_for_level": "tacit.records.generalisation.datafly",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__ = find_names("protect", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
