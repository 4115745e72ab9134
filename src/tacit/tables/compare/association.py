"""Association and entropy before and after (section 2.5), and correlation for continuous data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats
from tacit.tables.compare.blocks import row_blocks


def percent_change(after: float | None, before: float | None) -> float | None:
    """Return 100 (after - before) / before; None where that is undefined."""
    if after is None or before is None or before == 0:
        return None
    return 100.0 * (after - before) / before


def pearson(cells: Floats) -> float | None:
    """Return Pearson's X2 of independence of rows and columns; empty lines are left out."""
    r, c = cells.sum(axis=1), cells.sum(axis=0)
    n = r.sum()
    if n == 0:
        return None
    # An empty line adds nothing: its gap is 0, whatever it is divided by.
    share = r / n
    total = 0.0
    for part in row_blocks(cells):
        expected = np.outer(share[part], c)
        gap = cells[part] - expected
        gap *= gap
        expected[expected == 0] = 1.0
        gap /= expected
        total += float(gap.sum())
    return total


def cramers_v(cells: Floats, chi2: float | None = None) -> float | None:
    r"""Return Cramér's V, :math:`\sqrt{(X^2/n) / \min(R-1, C-1)}`.

    The paper prints min(R-1)(C-1). R and C count the rows and columns that are not empty; with one of
    either, V is undefined. ``chi2`` is X2 where it is known already.
    """
    chi2 = pearson(cells) if chi2 is None else chi2
    least = min(int((cells.sum(axis=a) > 0).sum()) for a in (0, 1)) - 1
    if chi2 is None or least < 1:
        return None
    return float(np.sqrt(chi2 / cells.sum() / least))


@dataclass(frozen=True)
class Entropy:
    """The sum over rows of q log q (the minus sign cancels in the ratio), and the empty rows skipped."""

    value: float
    skipped: int


def entropy(cells: Floats) -> Entropy:
    r"""Return :math:`ENT = \sum_k\sum_c q\log q` with q the cell's share of its row; 0 log 0 = 0.

    Natural logarithms. The sum over cells is missing in print.
    """
    n = cells.sum(axis=1)
    used = n > 0
    # sum q log q = sum o log o / n - log n: one logarithm per cell, no matrix of shares.
    products = np.empty(len(cells))
    for part in row_blocks(cells):
        block = cells[part]
        logs = np.log(np.where(block > 0, block, 1.0))
        products[part] = np.einsum("ij,ij->i", block, logs)
    by_row = products[used] / n[used] - np.log(n[used])
    return Entropy(float(by_row.sum()), int((~used).sum()))


def correlation(x: Floats, y: Floats) -> float | None:
    """Return Pearson's correlation; None when either is constant."""
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale > 0 else None


def regression_r2(x: Floats, y: Floats) -> float | None:
    """Return R2 of the linear regression of y on the columns of x (with constant)."""
    design = np.column_stack([np.ones(len(y)), x])
    total = float(((y - y.mean()) ** 2).sum())
    if total == 0:
        return None
    coefficients, *_ = np.linalg.lstsq(design, y, rcond=None)
    return 1.0 - float(((y - design @ coefficients) ** 2).sum()) / total
