"""Utility: what a release is still good for."""

from __future__ import annotations

from tacit.renamed import find_names

_HOMES = {
    "rank_techniques": "tacit.records.generalisation.entropy_distortion",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__ = find_names("utility", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
