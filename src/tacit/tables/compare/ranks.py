"""Changes in the ranking of cells (section 2.6)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats, Ints

#: Whole numbers below this are ranked by counting.
COUNTABLE = 1 << 22
#: Cells that are sorted at a time.
BLOCK = 1 << 16


def compact_integers(values: Floats) -> npt.NDArray[np.generic]:
    """Return small whole numbers in 16 bits, which sort by radix; others as they are."""
    if values.size and values.max() < 65536:
        narrow = values.astype(np.uint16)
        if np.array_equal(narrow, values):
            return narrow
    return values


def rank_changes(original: Floats, protected: Floats, n_groups: int = 20) -> Floats:
    r"""Return RC, the percentage of cells along the last axis whose rank group has changed.

    :math:`RC = 100\,\frac1n\sum_c I(v_o(c) \ne v_p(c))`. Cells are ranked from 0 in ascending order,
    original ties by position and protected ties by original rank, so that an unchanged table has no
    changes; the group is rank * G // n. The paper's "groupings of size 10 or 20" are read as the number
    of groups, since its results speak of the 20 groupings.
    """
    n = original.shape[-1]
    order = np.argsort(compact_integers(original), axis=-1, kind="stable")
    # In original order, the place of a cell is its original rank.
    rank = np.argsort(
        np.take_along_axis(compact_integers(protected), order, -1), axis=-1, kind="stable"
    )
    group = (np.arange(n) * n_groups // max(n, 1)).astype(np.int32)
    return np.asarray(100.0 * (group[rank] != group).mean(axis=-1))


def all_cells_change(original: Floats, protected: Floats, n_groups: int = 20) -> float:
    """Return RC over all cells of the table as one list, row by row."""
    return float(rank_changes(original.ravel(), protected.ravel(), n_groups))


def column_changes(original: Floats, protected: Floats, n_groups: int = 20) -> Floats:
    """Return RC of each column, its cells ranked over the rows."""
    pieces = []
    # Some columns at a time: many short ones together, a long one by itself.
    step = max(1, BLOCK // max(len(original), 1))
    for start in range(0, original.shape[1], step):
        o, p = (np.ascontiguousarray(t[:, start : start + step].T) for t in (original, protected))
        pieces.append(rank_changes(o, p, n_groups))
    return np.concatenate(pieces)


def spearman(x: Floats, y: Floats) -> float | None:
    """Return Spearman's rank correlation (mid-ranks); None when either is constant."""
    from tacit.tables.compare.association import correlation

    return correlation(midranks(x.ravel())[0], midranks(y.ravel())[0])


def midranks(values: Floats) -> tuple[Floats, Ints]:
    """Return ranks from 1 with ties at their average, and the sizes of the sets of ties."""
    if values.size and values.max() < COUNTABLE and values.min() >= 0:
        codes = values.astype(np.int64)
        if np.array_equal(codes, values):
            count = np.bincount(codes)
            end = np.cumsum(count)
            return (end - (count - 1) / 2.0)[codes], count[count > 0]
    _, codes, count = np.unique(values, return_inverse=True, return_counts=True)
    end = np.cumsum(count)
    return (end - (count - 1) / 2.0)[codes.ravel()], count.astype(np.int64)
