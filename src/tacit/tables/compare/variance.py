"""Variance of cell counts and of proportions between rows (sections 2.4 and 2.7)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.arrays import Flags, Floats, Ints


def average_variance(cells: Floats) -> float | None:
    r"""Return AV, the mean over rows of :math:`V_k = \frac{1}{n_k-1}\sum_c (D^k(c)-\bar D^k)^2`."""
    n = cells.shape[1]
    if n < 2:
        return None
    gap = cells - cells.mean(axis=1, keepdims=True)
    return float(np.einsum("ij,ij->", gap, gap) / (n - 1) / len(cells))


@dataclass(frozen=True)
class Between:
    """How a proportion varies between rows.

    Attributes
    ----------
    variance
        BV, around the pooled proportion; None with fewer than two rows.
    r2
        Share of the target's variance that the rows explain (SSB/SST of the analysis of variance).
    pooled
        The proportion over all rows.
    skipped
        Rows without any unit in the base.
    """

    variance: float | None
    r2: float | None
    pooled: float | None
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


def anova_r2(values: Floats, groups: Ints) -> float | None:
    """Return SSB/SST of a continuous variable over groups; None when it is constant."""
    n = np.bincount(groups)
    means = np.bincount(groups, values) / np.maximum(n, 1)
    mean = values.mean()
    total = float(((values - mean) ** 2).sum())
    return float((n * (means - mean) ** 2)[n > 0].sum() / total) if total > 0 else None
