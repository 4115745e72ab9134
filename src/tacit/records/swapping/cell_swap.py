"""Microaggregated swapping of one weighted variable in one cell, on arrays."""

from __future__ import annotations

import numpy as np

from tacit.arrays import Floats, Ints


def microaggregated_swap(y: Floats, w: Floats, permutation: Ints) -> Floats:
    """Return the masked values of a cell.

    The weights, sorted by y, are permuted: element i moves to position ``permutation[i]`` (counted from
    0; only this reading gives the printed example). The weighted distribution of y is cut into groups of
    the permuted weights and the record at sorted position i gets the mean of the group to which its
    weight went. With C and S the cumulated weights and weighted values and I the line through the
    points (C, S), a group that ends at D after one that ended at D' has the mean (I(D) - I(D')) / (D - D').
    """
    order = np.argsort(y, kind="stable")
    ys, ws = y[order], w[order]
    moved = np.empty_like(ws)
    moved[permutation] = ws
    # Values about their middle: the sums then keep the digits that the means need.
    centre = float(np.average(ys, weights=ws))
    passed = np.concatenate([[0.0], np.cumsum(ws)])
    sums = np.concatenate([[0.0], np.cumsum(ws * (ys - centre))])
    ends = np.concatenate([[0.0], np.cumsum(moved)])
    ends[-1] = passed[-1]
    means = np.diff(np.interp(ends, passed, sums)) / moved + centre
    out = np.empty_like(ys)
    out[order] = np.clip(means, ys[0], ys[-1])[permutation]
    return out


def largest_shares(y: Floats, w: Floats, permutation: Ints) -> Floats:
    """Return for each group of a swapped cell the largest share of it that one record's weight makes up.

    A group that one record fills (share 1) gives out that record's own value, to whoever got it.
    """
    order = np.argsort(y, kind="stable")
    ws = w[order]
    moved = np.empty_like(ws)
    moved[permutation] = ws
    passed, ends = (np.concatenate([[0.0], np.cumsum(v)]) for v in (ws, moved))
    ends[-1] = passed[-1]
    # Pieces between neighbouring ends of either kind lie in one record and in one group.
    cuts = np.unique(np.concatenate([passed, ends]))
    middle = (cuts[1:] + cuts[:-1]) / 2
    group = np.clip(np.searchsorted(ends, middle, side="right") - 1, 0, len(ws) - 1)
    largest = np.zeros(len(ws))
    np.maximum.at(largest, group, np.diff(cuts))
    return np.minimum(largest / moved, 1.0)
