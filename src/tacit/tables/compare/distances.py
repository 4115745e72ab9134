"""Distances between original and protected distributions (section 2.3).

Rows are distributions k with n_k cells; o is an original and p a protected cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tacit.arrays import Floats
from tacit.tables.compare.blocks import row_blocks

Zeros = Literal["skip", "add_half", "as_one"]


def hellinger(original: Floats, protected: Floats) -> float:
    r"""Return HD, :math:`\frac{1}{n_r}\sum_k \sqrt{\sum_c \frac12(\sqrt{p}-\sqrt{o})^2}`, on counts."""
    return float(hellinger_by_row(original, protected).mean())


def hellinger_by_row(original: Floats, protected: Floats) -> Floats:
    """Return Hellinger's distance of each row, on counts."""
    squares = np.empty(len(original))
    for part in row_blocks(original):
        gap = np.sqrt(protected[part])
        gap -= np.sqrt(original[part])
        squares[part] = np.einsum("ij,ij->i", gap, gap)
    return np.sqrt(0.5 * squares)


def average_absolute(original: Floats, protected: Floats) -> float:
    r"""Return AAD, :math:`\frac{1}{n_r}\sum_k \frac{1}{n_k}\sum_c |p-o|`."""
    total = sum(
        float(np.abs(protected[part] - original[part]).sum()) for part in row_blocks(original)
    )
    return total / original.size


@dataclass(frozen=True)
class RelativeDistance:
    """RAD, the cells left out because the original is empty, and those of them that became positive."""

    value: float
    skipped: int
    from_zero: int


def relative_absolute(
    original: Floats, protected: Floats, zeros: Zeros = "skip"
) -> RelativeDistance:
    r"""Return RAD, :math:`\frac{1}{n_r}\sum_k\sum_c |p-o|/o`.

    As printed it divides by zero for empty cells, a third of the paper's own table. ``skip`` leaves
    them out and counts them; ``add_half`` divides every cell by o + 1/2; ``as_one`` lets an empty cell
    that became p count p.
    """
    total, n_empty, from_zero = 0.0, 0, 0
    for part in row_blocks(original):
        o, p = original[part], protected[part]
        empty = o == 0
        gap = np.abs(p - o)
        gap /= o + 0.5 if zeros == "add_half" else np.where(empty, 1.0, o)
        if zeros == "skip":
            gap[empty] = 0.0
        total += float(gap.sum())
        n_empty += int(empty.sum())
        from_zero += int((empty & (p > 0)).sum())
    skipped = n_empty if zeros == "skip" else 0
    return RelativeDistance(total / len(original), skipped, from_zero)


@dataclass(frozen=True)
class TotalDistance:
    """RAT as printed (a sum) and as a mean, AT, and the rows left out because their total is 0."""

    rat_sum: float
    rat_mean: float | None
    at: float
    skipped: int


def totals(original: Floats, protected: Floats) -> TotalDistance:
    r"""Return the distances of totals N_k, one a row.

    :math:`RAT = \sum_k |N_p-N_o|/N_o`, printed without the divisor n_r, and therefore given as sum and as
    mean over the rows that have a total; :math:`AT = \frac{1}{n_r}\sum_k |N_p-N_o|`. A total that is
    withheld (NaN) is left out of both.
    """
    shown = ~np.isnan(protected)
    original, protected = original[shown], protected[shown]
    gap = np.abs(protected - original)
    used = original > 0
    relative = gap[used] / original[used]
    return TotalDistance(
        float(relative.sum()),
        float(relative.mean()) if used.any() else None,
        float(gap.mean()) if len(gap) else 0.0,
        int((~used).sum()),
    )
