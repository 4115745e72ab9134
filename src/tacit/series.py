"""Time series of records: containers, normalisation, distances, linkage and microaggregation.

The names are found in the packages where the algorithms live, and imported when first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "NORMALISATIONS": "tacit.stats.series.normalise",
    "Advice": "tacit.risk.linkage.series_advice",
    "Distance": "tacit.stats.series.distances",
    "Panel": "tacit.stats.series.panel",
    "SeriesAttack": "tacit.risk.linkage.series_attack",
    "SeriesLinks": "tacit.risk.linkage.series_attack",
    "Warping": "tacit.stats.series.distances",
    "advise": "tacit.risk.linkage.series_advice",
    "all_distances": "tacit.stats.series.distances",
    "attack": "tacit.risk.linkage.series_attack",
    "correlation": "tacit.stats.series.distances",
    "correlation_distance": "tacit.stats.series.distances",
    "dtw": "tacit.stats.series.distances",
    "edit_distance": "tacit.stats.series.sequences",
    "from_long": "tacit.stats.series.panel",
    "hamming": "tacit.stats.series.sequences",
    "least_ratio": "tacit.stats.series.distances",
    "link": "tacit.risk.linkage.series_attack",
    "microaggregated": "tacit.protect.microaggregate.grouping.series",
    "minkowski": "tacit.stats.series.distances",
    "normalise": "tacit.stats.series.normalise",
    "paired_distances": "tacit.stats.series.distances",
    "series_groups": "tacit.protect.microaggregate.grouping.series",
    "sts": "tacit.stats.series.distances",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    from tacit.renamed import no_attribute

    raise no_attribute("series", name)
