"""Utility: what a release is still good for."""

from __future__ import annotations

from tacit.public import publish

_HOMES = {
    "rank_techniques": "tacit.records.generalisation.entropy_distortion",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__, __dir__ = publish("utility", _HOMES)
