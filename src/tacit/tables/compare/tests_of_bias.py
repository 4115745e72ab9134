"""Has protection shifted the cells? Exact binomial, sign and signed rank tests (section 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.arrays import Floats
from tacit.errors import InputError
from tacit.tables.compare.formulas import midranks

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
