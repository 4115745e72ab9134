"""Time series of records: containers, normalisation, distances, linkage and microaggregation."""

from __future__ import annotations

from tacit.series.advice import Advice, advise
from tacit.series.distances import (
    Distance,
    Warping,
    all_distances,
    correlation,
    correlation_distance,
    dtw,
    least_ratio,
    minkowski,
    paired_distances,
    sts,
)
from tacit.series.experiment import DISTANCES, Comparison, compare_distances
from tacit.series.linkage import SeriesAttack, SeriesLinks, attack, link
from tacit.series.microaggregate import microaggregated, series_groups
from tacit.series.normalise import NORMALISATIONS, normalise
from tacit.series.panel import Panel, from_long
from tacit.series.sequences import edit_distance, hamming

__all__ = [
    "DISTANCES",
    "NORMALISATIONS",
    "Advice",
    "Comparison",
    "Distance",
    "Panel",
    "SeriesAttack",
    "SeriesLinks",
    "Warping",
    "advise",
    "all_distances",
    "attack",
    "compare_distances",
    "correlation",
    "correlation_distance",
    "dtw",
    "edit_distance",
    "from_long",
    "hamming",
    "least_ratio",
    "link",
    "microaggregated",
    "minkowski",
    "normalise",
    "paired_distances",
    "series_groups",
    "sts",
]
