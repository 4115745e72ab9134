"""What analysts do with protected data: weighting, extrapolation and other corrections; ``tacit.estimate``."""

from __future__ import annotations

from tacit.public import publish

_HOMES = {
    "corrected_regression": "tacit.stats.correction.misclassification",
    "errors_in_variables": "tacit.stats.correction.simex_fit",
    "estimate_probabilities": "tacit.stats.correction.retention",
    "hajek_mean": "tacit.stats.correction.retention",
    "horvitz_thompson_total": "tacit.stats.correction.retention",
    "linear_simex": "tacit.stats.correction.simex_fit",
    "mc_simex": "tacit.stats.correction.misclassification",
    "misclassified_regression": "tacit.stats.correction.misclassification",
    "retention_probability": "tacit.stats.correction.retention",
    "simex": "tacit.stats.correction.simex_fit",
    "trim_weights": "tacit.stats.correction.retention",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__, __dir__ = publish("estimate", _HOMES)
