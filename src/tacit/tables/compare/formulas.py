"""The formulas of the framework, section by section of the paper.

Rows are distributions k with n_k cells; o is an original and p a protected cell.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.arrays import Flags, Floats, Ints
from tacit.errors import InputError
from tacit.stats.small_cells import is_small
from tacit.tables.compare.distributions import Distributions

Zeros = Literal["skip", "add_half", "as_one"]

#: Cells that are worked on at a time.
BLOCK = 1 << 16
#: Whole numbers below this are ranked by counting.
COUNTABLE = 1 << 22


def row_blocks(cells: Floats) -> Iterator[slice]:
    """Yield the rows in blocks: sums over cells then run at the speed of the cache."""
    step = max(1, BLOCK // max(cells.shape[1], 1))
    for start in range(0, len(cells), step):
        yield slice(start, start + step)


# -- summary (2.1) -------------------------------------------------------------------------------------


def standard_error(cells: Floats) -> float | None:
    """Return the standard error of the average cell, s / sqrt(n) with the divisor n - 1 in s; None of a single cell."""
    return float(cells.std(ddof=1) / np.sqrt(cells.size)) if cells.size > 1 else None


def summary(table: Distributions, small: Collection[int] = (1, 2)) -> dict[str, float | None]:
    """Return the summary block: sizes, small cells, zeros, contributors and total information.

    Total information is the sum of the cells: the number of units of a frequency table, the sum of
    the values of a magnitude table.
    """
    cells = table.cells
    row_means, column_means = cells.mean(axis=1), cells.mean(axis=0)
    known = table.knows_units
    return {
        "rows": cells.shape[0],
        "columns": cells.shape[1],
        "cells": cells.size,
        "small_cells": int(is_small(table.units_behind(), small).sum()) if known else None,
        "zeros": int((cells == 0).sum()),
        "contributors": float(table.units_behind().sum()) if known else None,
        "total": float(cells.sum()),
        "average": float(cells.mean()),
        "standard_error": standard_error(cells),
        "smallest": float(cells.min()),
        "largest": float(cells.max()),
        "row_average_low": float(row_means.min()),
        "row_average_high": float(row_means.max()),
        "column_average_low": float(column_means.min()),
        "column_average_high": float(column_means.max()),
    }


def suppression(original: Distributions, protected: Distributions) -> dict[str, float | None]:
    """Return what is withheld: internal cells, margins, and the units and information in them."""
    mask = protected.hidden
    margins = [m for m in (protected.row_totals, protected.column_totals) if m is not None]
    units: float | None = 0.0
    if mask is not None:
        units = float(original.units_behind()[mask].sum()) if original.knows_units else None
    return {
        "suppressed_cells": 0 if mask is None else int(mask.sum()),
        "suppressed_margins": int(sum(np.isnan(m).sum() for m in margins)),
        "suppressed_contributors": units,
        "suppressed_information": 0.0 if mask is None else float(original.cells[mask].sum()),
    }


# -- distances (2.3) -----------------------------------------------------------------------------------


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


# -- variance of cells, and of proportions between rows (2.4 and 2.7) ----------------------------------


def average_variance(cells: Floats) -> float | None:
    r"""Return AV, the mean over rows of :math:`V_k = \frac{1}{n_k-1}\sum_c (D^k(c)-\bar D^k)^2`."""
    n = cells.shape[1]
    if n < 2:
        return None
    gap = cells - cells.mean(axis=1, keepdims=True)
    return float(np.einsum("ij,ij->", gap, gap) / (n - 1) / len(cells))


@dataclass(frozen=True)
class Between:
    """How a proportion varies between rows."""

    #: BV, around the pooled proportion; None with fewer than two rows.
    variance: float | None
    #: Share of the target's variance that the rows explain (SSB/SST of the analysis of variance).
    r2: float | None
    #: The proportion over all rows.
    pooled: float | None
    #: Rows without any unit in the base.
    skipped: int


def between_variance(
    cells: Floats, target: Flags, base: Flags | None = None, rows: Flags | None = None
) -> Between:
    r"""Return the variance of a target proportion between rows.

    :math:`P_k` is the share of the ``target`` columns among the ``base`` columns (all by default) of
    row k, P the same share pooled over rows (printed with a superscript k that it should not have), and
    :math:`BV = \frac{1}{n_r-1}\sum_k (P_k-P)^2`. ``rows`` says which rows to use; rows with an empty
    base have no proportion and are skipped.
    """
    hit = cells[:, target].sum(axis=1)
    size = cells.sum(axis=1) if base is None else cells[:, base].sum(axis=1)
    used = size > 0
    skipped = int((~used).sum())
    if rows is not None:
        used &= rows
    hit, size = hit[used], size[used]
    if not len(size):
        return Between(None, None, None, skipped)
    share, pooled = hit / size, float(hit.sum() / size.sum())
    gap = (share - pooled) ** 2
    total = float(size.sum()) * pooled * (1 - pooled)
    return Between(
        float(gap.sum() / (len(gap) - 1)) if len(gap) > 1 else None,
        float((size * gap).sum() / total) if total > 0 else None,
        pooled,
        skipped,
    )


# -- association and entropy (2.5), and correlation ----------------------------------------------------


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


# -- rankings (2.6) ------------------------------------------------------------------------------------


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


# -- has protection shifted the cells? Exact binomial, sign and signed rank tests (section 2.2) -----


#: Up to this many differences without ties the signed rank test is exact.
EXACT = 50


@dataclass(frozen=True)
class Binomial:
    """The exact binomial test of a rounding."""

    #: Cells with a residual other than 0.
    n: int
    #: Those moved to the nearest multiple of the base.
    to_nearest: int
    #: The share expected to move there where it is the same for all residuals (bases 2 and 3; for
    #: base 2 up and down are equally near and up-moves are tested), else None.
    p_nearest: float | None
    #: Two-sided; None when no cell could move.
    p_value: float | None
    #: By residual: cells, cells moved up, p-value of "up with probability residual/base".
    up: dict[int, tuple[int, int, float]]


def check_base(cells: Floats, base: int) -> None:
    """Refuse a base that rounds nothing, and cells that are not its multiples."""
    if base < 2:
        raise InputError("a rounding base must be at least 2")
    if np.any(remainder(cells, base)):
        raise InputError(
            f"the version is said to be rounded to base {base}, but some cells are no multiples of it"
        )


def remainder(cells: Floats, base: int) -> npt.NDArray[Any]:
    """Return what is left above a multiple of the base; by whole numbers where the cells are."""
    if cells.size and cells.max() < 2**31:
        whole = cells.astype(np.int32)
        if np.array_equal(whole, cells):
            return whole % np.int32(base)
    return cells % base


def binomial_test(original: Floats, rounded: Floats, base: int = 3) -> Binomial:
    """Test whether random rounding kept its probabilities.

    A count with residual s is rounded up with probability s/base. For base 3 the null hypothesis of
    the paper, p = 2/3, is that of moving to the *nearest* multiple, which is the same for both
    residuals (1 goes down, 2 goes up). For other bases up-moves are tested residual by residual, and
    the p-value is the smallest one times the number of residuals (Bonferroni).
    """
    from scipy.stats import binomtest

    check_base(rounded, base)
    residual = remainder(original, base)
    change = rounded - original
    nearest, n = 0, 0
    up = {}
    for size in range(1, base):
        moves = change[residual == size]
        ups = int((moves > 0).sum())
        closest = {m for m in (-size, base - size) if abs(m) == min(size, base - size)}
        nearest += sum(int((moves == m).sum()) for m in closest)
        n += len(moves)
        if len(moves):
            p_value = float(binomtest(ups, len(moves), size / base).pvalue)
            up[size] = (len(moves), ups, p_value)
    share = {2: 0.5, 3: 2 / 3}.get(base)
    overall: float | None = None
    if n and share is not None:
        moved = nearest if base == 3 else up[1][1]
        overall = float(binomtest(moved, n, share).pvalue)
    elif n:
        overall = min(1.0, len(up) * min(p for _, _, p in up.values()))
    return Binomial(n, nearest, share, overall, up)


class Test(NamedTuple):
    """Differences that are not 0, what the test counts of those above 0, and the p-value; None where there are none."""

    n: int
    statistic: float
    p_value: float | None


def sign_test(original: Floats, protected: Floats) -> Test:
    """Test whether as many cells went down as up (exact, two-sided; equal cells dropped)."""
    from scipy.stats import binomtest

    positive, negative = int((original > protected).sum()), int((original < protected).sum())
    n = positive + negative
    return Test(n, positive, float(binomtest(positive, n, 0.5).pvalue) if n else None)


def signed_rank_test(original: Floats, protected: Floats) -> Test:
    """Test by the sum of positive ranks whether the location of the cells has changed (zeros dropped, mid-ranks).

    Exact up to 50 differences without ties; else the normal approximation with its variance corrected
    for ties.
    """
    from scipy.stats import norm, wilcoxon

    difference = (original - protected).ravel()
    difference = difference[difference != 0]
    n = len(difference)
    if not n:
        return Test(0, 0.0, None)
    size = np.abs(difference)
    ranks, ties = midranks(size)
    w_plus = float(ranks[difference > 0].sum())
    if n <= EXACT and len(ties) == n:
        return Test(n, w_plus, float(wilcoxon(difference, method="exact").pvalue))
    t = ties.astype(np.float64)
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((t**3 - t).sum()) / 48
    z = (w_plus - n * (n + 1) / 4) / np.sqrt(variance)
    return Test(n, w_plus, float(2 * norm.sf(abs(z))))
