"""Normalising series: each by itself, or each point in time over all records."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from tacit.arrays import Floats
from tacit.errors import InputError, SdcWarning
from tacit.stats.series.panel import Panel

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
    a series that rises every year can come out falling. What is constant becomes zeros, with a warning;
    dividing by the maximum needs one above 0.
    """
    if how == "none":
        return panel
    if how == "series_max":
        return replace(panel, values=panel.values / largest(panel))
    by_series = how.startswith("series")
    if not by_series and not panel.even:
        raise InputError(
            "normalising by component needs series of equal length; resample them or normalise by series"
        )
    axis = 2 if by_series else 0
    x = panel.values
    low, high = extremes(x, axis)
    if how.endswith("range"):
        centre, scale = low, high - low
    else:
        centre, scale = moments(x, axis, ddof)
    # Equal values do not always have the standard deviation 0 in floating point.
    flat = low == high
    if flat.any():
        what = "a constant series" if by_series else "a point in time that is constant"
        warnings.warn(
            f"{how}: {what} became zeros and tells no records apart", SdcWarning, stacklevel=3
        )
    return replace(panel, values=np.where(flat, 0.0 * x, (x - centre) / np.where(flat, 1.0, scale)))


def largest(panel: Panel) -> Floats:
    """Return the maximum of each series, refusing what cannot be divided by."""
    top = extremes(panel.values, 2)[1]
    if (top <= 0).any():
        raise InputError(
            "series_max: a series has no value above 0, by which it could be divided; use series_range"
        )
    return top


def extremes(x: Floats, axis: int) -> tuple[Floats, Floats]:
    """Return the least and largest known value along an axis."""
    known = ~np.isnan(x)
    low = np.where(known, x, np.inf).min(axis=axis, keepdims=True)
    return low, np.where(known, x, -np.inf).max(axis=axis, keepdims=True)


def moments(x: Floats, axis: int, ddof: int) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the known values along an axis."""
    known = ~np.isnan(x)
    n = known.sum(axis=axis, keepdims=True)
    centre = np.where(known, x, 0.0).sum(axis=axis, keepdims=True) / np.maximum(n, 1)
    away = np.where(known, x - centre, 0.0)
    squares = (away**2).sum(axis=axis, keepdims=True)
    return centre, np.sqrt(squares / np.maximum(n - ddof, 1))
