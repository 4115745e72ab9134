"""Normalising series: each by itself, or each point in time over all records."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from tacit.errors import Approximate, InputError
from tacit.series.panel import Panel
from tacit.stats.moments import Floats

Normalisation = Literal[
    "series_standard",
    "series_range",
    "series_max",
    "component_standard",
    "component_range",
    "none",
]
NORMALISATIONS: tuple[str, ...] = get_args(Normalisation)


def normalise(panel: Panel, how: Normalisation, *, ddof: int = 0) -> Panel:
    """Return a panel normalised.

    ``series_*`` use each series' own mean and standard deviation, range or maximum, so that its shape is
    kept. ``component_*`` treat every point in time as a variable over the records, which changes shapes:
    a series that rises every year can come out falling. A constant series becomes zeros, with a warning.
    """
    match how:
        case "none":
            return panel
        case "series_standard":
            centre, scale = moments(panel.values, 2, ddof)
        case "series_range":
            centre = np.nanmin(panel.values, axis=2, keepdims=True)
            scale = np.nanmax(panel.values, axis=2, keepdims=True) - centre
        case "series_max":
            scale = np.nanmax(panel.values, axis=2, keepdims=True)
            if (scale == 0).any():
                raise InputError(
                    "series_max: a series has the maximum 0, by which nothing can be divided"
                )
            return replace(panel, values=panel.values / scale)
        case _ if not panel.equal:
            raise InputError(
                "normalising by component needs series of equal length; resample them or normalise by series"
            )
        case "component_standard":
            centre, scale = moments(panel.values, 0, ddof)
        case _:
            centre = panel.values.min(axis=0, keepdims=True)
            scale = panel.values.max(axis=0, keepdims=True) - centre
    if (scale == 0).any():
        warnings.warn(
            f"{how}: what is constant became zeros and says nothing about a record",
            Approximate,
            stacklevel=3,
        )
    return replace(panel, values=(panel.values - centre) / np.where(scale > 0, scale, 1.0))


def moments(values: Floats, axis: int, ddof: int) -> tuple[Floats, Floats]:
    """Return mean and standard deviation along an axis; exactly 0 where all values are equal."""
    centre = np.nanmean(values, axis=axis, keepdims=True)
    scale = np.nanstd(values, axis=axis, keepdims=True, ddof=ddof)
    flat = np.nanmax(values, axis=axis, keepdims=True) == np.nanmin(
        values, axis=axis, keepdims=True
    )
    return centre, np.where(flat, 0.0, scale)
