"""What microaggregation costs: sums of squares within and between groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from tacit.arrays import Floats, Ints

#: Hears how far the work is, and may stop it.
Tick = Callable[[str, float | None], None]


@dataclass(frozen=True)
class Loss:
    """SST = SSE + SSA.

    Attributes
    ----------
    within
        SSE, the sum of squared distances of records to their group's mean.
    total
        SST, the sum of squared distances to the overall mean.
    """

    within: float
    total: float

    @property
    def percent(self) -> float:
        """Return 100 SSE / SST; 0 when all records are alike."""
        return 100.0 * self.within / self.total if self.total > 0 else 0.0


def loss(x: Floats, labels: Ints) -> Loss:
    """Return the loss of a grouping."""
    within = float(((x - group_means(x, labels)[labels]) ** 2).sum())
    return Loss(within, float(((x - x.mean(axis=0)) ** 2).sum()) if len(x) else 0.0)


def group_sizes(labels: Ints) -> Ints:
    """Return the number of records in each group."""
    return np.bincount(labels).astype(np.int64)


def group_means(x: Floats, labels: Ints, weights: Floats | None = None) -> Floats:
    """Return the (weighted) mean of each group, one row per group."""
    n_groups = int(labels.max()) + 1 if len(labels) else 0
    mass = np.bincount(labels, weights=weights, minlength=n_groups)
    # Summed about the overall mean: large offsets would eat the digits of small differences.
    centre = x.mean(axis=0) if len(x) else np.zeros(x.shape[1])
    sums = np.column_stack(
        [
            np.bincount(labels, weights=d if weights is None else weights * d, minlength=n_groups)
            for d in (x - centre).T
        ]
    )
    return sums / mass[:, None] + centre


def parts_of(labels: Ints) -> list[Ints]:
    """Return the records of each label, in record order."""
    order = np.argsort(labels, kind="stable")
    return list(np.split(order, np.flatnonzero(np.diff(labels[order])) + 1))


def number_through(n: int, parts: Iterable[Ints], found: Iterable[Ints]) -> Ints:
    """Return the labels of n records from those of their parts, each numbered after the one before."""
    labels = np.full(n, -1, dtype=np.int64)
    first = 0
    for part, ids in zip(parts, found, strict=True):
        labels[part] = ids + first
        first += int(ids.max()) + 1
    return labels
