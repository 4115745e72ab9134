"""Protection: methods that change microdata."""

from __future__ import annotations

from tacit.public import publish

_HOMES = {
    "Session": "tacit.records.suppression.mu_argus",
    "k_for_level": "tacit.records.generalisation.datafly",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__, __dir__ = publish("protect", _HOMES)
