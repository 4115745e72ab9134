"""Frames of a linkage: links, agreement patterns, and how many links above each weight are right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from tacit.arrays import Floats
from tacit.records.linkage.fellegi_sunter import Model, Patterns, Zones
from tacit.records.linkage.nearest import Links
from tacit.records.linkage.series_attack import SeriesLinks

#: Points of a curve.
POINTS = 500


def link_curve(links: Links, correct: Floats, n: int) -> nw.DataFrame[Any]:
    """Return precision and recall of the links by their weight, ties in weight taken together."""
    linked = np.flatnonzero(links.nearest >= 0)
    order = linked[np.argsort(links.distance[linked], kind="stable")]
    weight, right = -links.distance[order], np.cumsum(correct[order])
    last = np.flatnonzero(np.append(np.diff(weight) != 0, True)) if len(order) else order
    if len(last) > POINTS:
        last = last[np.unique(np.linspace(0, len(last) - 1, POINTS).astype(np.int64))]
    count = last + 1
    table = {
        "weight": weight[last],
        "links": count,
        "correct": right[last],
        "precision": right[last] / count,
        "recall": right[last] / n,
    }
    return nw.from_native(pa.table(table), eager_only=True)


def link_frame(
    links: Links | SeriesLinks, measured: Mapping[str, Floats], correct: Floats, **more: Any
) -> nw.DataFrame[Any]:
    """Return the links, one row per record: positions in the two files count from 0."""
    columns = {"record": np.arange(len(links)), "link": links.nearest, **measured}
    columns |= {"ties": links.ties, "correct": correct, **more}
    return nw.from_native(pa.table(columns), eager_only=True)


def name_zones(weight: Floats, bounds: Zones) -> Any:
    """Return what pairs of some weights are by the decision rule."""
    rest = np.where(weight <= bounds.lower, "no link", "possible")
    return pa.array(np.where(weight >= bounds.upper, "link", rest))


def pattern_frame(
    columns: tuple[str, ...], patterns: Patterns, model: Model, bounds: Zones
) -> nw.DataFrame[Any]:
    """Return the patterns by decreasing weight."""
    order = bounds.order
    weight = model.pattern_weights(patterns.levels)[order]
    levels = patterns.levels[order]
    table = {c: pa.array(levels[:, f], mask=levels[:, f] < 0) for f, c in enumerate(columns)}
    table |= {
        "pairs": pa.array(patterns.counts[order]),
        "weight": pa.array(weight),
        "probability": pa.array(model.posterior(levels)),
        "false_match": pa.array(bounds.false_match),
        "false_nonmatch": pa.array(bounds.false_nonmatch),
        "zone": name_zones(weight, bounds),
    }
    return nw.from_native(pa.table(table), eager_only=True)
