"""Time series of records: containers, normalisation, distances, linkage and microaggregation."""

from __future__ import annotations

from tacit.series.distances import (
    Distance,
    Warping,
    all_distances,
    correlation,
    correlation_distance,
    dtw,
    minkowski,
    sts,
)
from tacit.series.linkage import SeriesLinks, link
from tacit.series.normalise import NORMALISATIONS, normalise
from tacit.series.panel import Panel, from_long

__all__ = [
    "NORMALISATIONS",
    "Distance",
    "Panel",
    "SeriesLinks",
    "Warping",
    "all_distances",
    "correlation",
    "correlation_distance",
    "dtw",
    "from_long",
    "link",
    "minkowski",
    "normalise",
    "sts",
]
