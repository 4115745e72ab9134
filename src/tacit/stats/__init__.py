"""Statistics on plain arrays, shared by protection, risk and utility: no data model, no engine."""

from __future__ import annotations

from tacit.public import publish

_HOMES = {
    "corrected_moments": "tacit.records.noise.multiplicative_noise",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__, __dir__ = publish("stats", _HOMES)
