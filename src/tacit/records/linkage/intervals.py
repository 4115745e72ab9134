"""Interval disclosure: how wide an interval around the released value must be to hold the original one."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tacit.arrays import Floats, Ints

#: Values this close (as a share of the column's largest) to the end of an interval are inside.
ROUNDING = 1e-12


def widths_in_sd(before: Floats, after: Floats, spread: Floats) -> Floats:
    """Return |before - after| in standard deviations.

    What is missing in the release is infinitely far; what is missing in the original is NaN.
    """
    gap = np.abs(before - after) - edges(before, after)
    near = gap <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        width = np.where(near, 0.0, gap / spread)
    return unknown_apart(width, before, after)


def widths_in_ranks(before: Floats, after: Floats) -> Floats:
    """Return how many ranks, in percent of all, the original lies away from the released value.

    The window of w ranks around a record's released value runs from the released value w ranks below to
    the one w ranks above, and ends at the smallest and largest one; equal values share their ranks. An
    original beyond the smallest or largest released value is infinitely far.
    """
    out = np.full(before.shape, np.inf)
    for j, edge in enumerate(edges(before, after)):
        known = np.isfinite(after[:, j])
        own, x = after[known, j], before[known, j]
        values = np.sort(own)
        n = len(values)
        below = find_insert_positions(values, x, edge, "right") - 1
        above = find_insert_positions(values, x, -edge, "left")
        down = find_insert_positions(values, own, 0.0, "left") - np.where(
            below >= 0, below, -np.inf
        )
        up = np.where(above < n, above, np.inf) - (
            find_insert_positions(values, own, 0.0, "right") - 1
        )
        out[known, j] = np.maximum(np.maximum(down, up), 0.0) * 100.0 / max(n, 1)
    return unknown_apart(out, before, after)


def find_insert_positions(
    values: Floats, x: Floats, edge: float, side: Literal["left", "right"]
) -> Ints:
    """Return where x + edge would stand among sorted values; in order, which is kinder to memory."""
    order = np.argsort(x)
    out = np.empty(len(x), dtype=np.int64)
    out[order] = np.searchsorted(values, x[order] + edge, side=side)
    return out


def unknown_apart(width: Floats, before: Floats, after: Floats) -> Floats:
    """Return widths with missing releases infinitely far and missing originals NaN."""
    width = np.where(np.isfinite(after), width, np.inf)
    return np.where(np.isfinite(before), width, np.nan)


def shares_within(needed: Floats, width: float) -> tuple[float, Floats]:
    """Return the share of records inside on all columns, and by column.

    What is missing in the original cannot be disclosed: such values are left out.
    """
    known = ~np.isnan(needed)
    some = known.any(axis=1)
    inside = needed <= width * (1 + ROUNDING)
    together = (inside | ~known).all(axis=1) & some
    columns = inside.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return float(together.sum() / max(int(some.sum()), 1)), columns


def edges(before: Floats, after: Floats) -> Floats:
    """Return the differences that are taken for rounding, by column."""
    sizes = [
        np.where(np.isfinite(x), np.abs(x), 0.0).max(axis=0, initial=0.0) for x in (before, after)
    ]
    return ROUNDING * np.maximum(*sizes)
