"""Time series of records: containers, normalisation, distances, linkage and microaggregation.

The names are found in the packages where the algorithms live, and imported when first used.
"""

from __future__ import annotations

from tacit.public import publish

_HOMES = {
    "Advice": "tacit.records.linkage.series_linkage",
    "Distance": "tacit.stats.series.distances",
    "NORMALISATIONS": "tacit.stats.series.panel",
    "Panel": "tacit.stats.series.panel",
    "SeriesAttack": "tacit.records.linkage.series_attack",
    "SeriesLinks": "tacit.records.linkage.series_attack",
    "Warping": "tacit.stats.series.distances",
    "advise": "tacit.records.linkage.series_linkage",
    "all_distances": "tacit.stats.series.distances",
    "attack": "tacit.records.linkage.series_attack",
    "correlation": "tacit.stats.series.distances",
    "correlation_distance": "tacit.stats.series.distances",
    "dtw": "tacit.stats.series.distances",
    "edit_distance": "tacit.stats.series.distances",
    "from_long": "tacit.stats.series.panel",
    "hamming": "tacit.stats.series.distances",
    "least_ratio": "tacit.stats.series.distances",
    "link": "tacit.records.linkage.series_attack",
    "microaggregated": "tacit.records.microaggregation.microaggregate_series",
    "minkowski": "tacit.stats.series.distances",
    "normalise": "tacit.stats.series.panel",
    "paired_distances": "tacit.stats.series.distances",
    "series_groups": "tacit.records.microaggregation.microaggregate_series",
    "side_by_side": "tacit.plot.series",
    "sts": "tacit.stats.series.distances",
    "warping_path": "tacit.plot.series",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - keys are strings
__getattr__, __dir__ = publish("series", _HOMES)
