"""Statistics on plain arrays, shared by protection, risk and utility: no data model, no engine."""

from __future__ import annotations

from tacit.renamed import find_names

_HOMES = {
    "corrected_moments": "tacit.records.noise.draws",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__ = find_names("stats", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
