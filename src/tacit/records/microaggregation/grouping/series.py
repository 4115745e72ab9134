"""Microaggregation of series: groups of series of the same shape, published as their mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.arrays import Ints
from tacit.context import Progress, ignore_progress
from tacit.errors import Infeasible
from tacit.records.microaggregation.grouping.loss import group_means
from tacit.records.microaggregation.grouping.mdav_groups import mdav
from tacit.stats.series.panel import Normalisation, Panel, normalise


def series_groups(
    panel: Panel, k: int, how: Normalisation = "series_standard", tick: Progress = ignore_progress
) -> list[Ints]:
    """Return MDAV's groups of at least k records, for each series by itself, on normalised series."""
    if len(panel) < k:
        raise Infeasible(f"groups of {k} series need at least {k} records; lower k or add data")
    ready = normalise(panel, how)
    rng = np.random.default_rng(0)  # MDAV draws nothing
    return [mdav(ready.series(s), k, rng=rng, tick=tick) for s in range(panel.n_series)]


def microaggregated(
    panel: Panel,
    k: int,
    *,
    pieces: int = 1,
    how: Normalisation = "series_standard",
    tick: Progress = ignore_progress,
) -> Panel:
    """Return the panel with each series replaced by the mean of the raw series of its group.

    Each series is grouped by itself. With ``pieces`` every series is first cut into this many consecutive
    pieces, which are series of their own; the result has all of them.

    References
    ----------
    Nin, Torra (2006), Distance based re-identification for time series, analysis of distances, PSD 2006,
    LNCS 4302, 205-216; section 4.
    """
    cut = panel.pieces(pieces)
    values = cut.values.copy()
    for s, labels in enumerate(series_groups(cut, k, how, tick)):
        raw = cut.series(s)
        values[:, s, : raw.shape[1]] = group_means(raw, labels)[labels]
    return replace(cut, values=values)
